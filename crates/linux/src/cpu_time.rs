//! Processor time: how long threads have run, whatever else the machine did meanwhile.

use rustix::time::{ClockId, Timespec, clock_gettime};
use warmcore_units::Nanos;

/// The time for which the calling thread has run since it began.
#[must_use]
pub fn of_this_thread() -> Nanos {
    nanos(clock_gettime(ClockId::ThreadCPUTime))
}

/// The time for which all threads of this process have run since it began, those that have ended
/// included. Threads that run at once count each.
#[must_use]
pub fn of_this_process() -> Nanos {
    nanos(clock_gettime(ClockId::ProcessCPUTime))
}

fn nanos(time: Timespec) -> Nanos {
    Nanos(time.tv_sec as f64 * 1e9 + time.tv_nsec as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_thread_that_sleeps_does_not_run() {
        let before = of_this_thread();
        std::thread::sleep(Duration::from_millis(20));
        assert!(of_this_thread() - before < Nanos(20e6));
    }

    #[test]
    fn the_process_has_run_for_what_a_thread_of_it_has() {
        let before = of_this_process();
        let thread = std::thread::spawn(|| {
            while of_this_thread() < Nanos(2e6) {
                core::hint::spin_loop();
            }
        });
        thread.join().unwrap();
        assert!(of_this_process() - before >= Nanos(2e6));
    }
}
