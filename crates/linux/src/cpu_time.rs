//! The processor time that a thread or process has used.

use crate::usage;
use rustix::time::{ClockId, Timespec, clock_gettime};
use warmcore_units::Nanos;

/// Returns the processor time of the calling thread since it started.
#[must_use]
pub fn of_this_thread() -> Nanos {
    nanos(clock_gettime(ClockId::ThreadCPUTime))
}

/// Returns the processor time of all threads of this process since it started, including threads that
/// have ended. Threads that run at the same time each count.
#[must_use]
pub fn of_this_process() -> Nanos {
    nanos(clock_gettime(ClockId::ProcessCPUTime))
}

/// Returns the processor time of all threads of the process `pid` since it started, including threads that have ended; `None`
/// if there is no such process.
#[must_use]
pub fn of_process(pid: u32) -> Option<Nanos> {
    usage::of_process(pid).map(|time| Nanos(time.as_secs_f64() * 1e9))
}

fn nanos(time: Timespec) -> Nanos {
    Nanos(time.tv_sec as f64 * 1e9 + time.tv_nsec as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn sleep_takes_no_processor_time() {
        let before = of_this_thread();
        std::thread::sleep(Duration::from_millis(20));
        assert!(of_this_thread() - before < Nanos(20e6));
    }

    #[test]
    fn the_time_of_a_thread_counts_for_its_process() {
        let before = of_this_process();
        let thread = std::thread::spawn(|| {
            while of_this_thread() < Nanos(2e6) {
                core::hint::spin_loop();
            }
        });
        thread.join().unwrap();
        assert!(of_this_process() - before >= Nanos(2e6));
    }

    #[test]
    fn the_time_of_another_process_is_read() {
        let own = of_process(std::process::id()).unwrap();
        assert!(own > Nanos::ZERO && own <= of_this_process());
        let mut child = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let began = std::time::Instant::now();
        while of_process(child.id()).is_none_or(|time| time < Nanos(5e6)) {
            assert!(began.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(of_process(child.id()), None);
    }
}
