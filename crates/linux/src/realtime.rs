//! A thread that runs before all others on its cpu, when a moment of the system's real-time clock has come: as the
//! interrupt of a network card does.

use core::marker::PhantomData;
use core::mem::zeroed;
use core::num::NonZeroU64;
use core::time::Duration;
use rustix::thread::{ClockId, clock_nanosleep_absolute, set_current_timer_slack};
use rustix::time::Timespec;
use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

/// Keeps this thread at real-time priority (`SCHED_FIFO`, lowest level) until it is dropped.
#[derive(Debug)]
pub struct RealTime {
    /// The drop concerns the thread that made it.
    _not_send: PhantomData<*const ()>,
}

impl RealTime {
    /// Raises this thread's priority. It must not run for long: nothing else runs on its cpu meanwhile. Its sleeps end
    /// without slack from now on, with the priority or without.
    ///
    /// # Errors
    /// Without the capability `CAP_SYS_NICE`, or where the thread's group may not have such threads.
    pub fn begin() -> io::Result<Self> {
        // Threads of real-time priority have none; a refusal leaves the usual 50 µs.
        let _ = set_current_timer_slack(NonZeroU64::new(1));
        set(libc::SCHED_FIFO, 1).map(|()| Self { _not_send: PhantomData })
    }
}

impl Drop for RealTime {
    fn drop(&mut self) {
        // Lowering a priority needs no privilege.
        let _ = set(libc::SCHED_OTHER, 0);
    }
}

/// Lets this thread, and those that it starts from now on, give way to every other thread of its cpu (`SCHED_IDLE`). A thread
/// without privilege cannot take that back.
///
/// # Errors
/// If the kernel refuses it.
pub fn give_way() -> io::Result<()> {
    set(libc::SCHED_IDLE, 0)
}

fn set(policy: i32, priority: i32) -> io::Result<()> {
    // SAFETY: all of `sched_param` may be zero.
    let mut parameters: libc::sched_param = unsafe { zeroed() };
    parameters.sched_priority = priority;
    // SAFETY: 0 is this thread, and the kernel reads the parameters during the call.
    match unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The time since 1970, as the kernel stamps datagrams.
#[must_use]
pub fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The time since `start`, negative before it, in nanoseconds.
#[must_use]
pub fn nanos_since(start: Duration) -> f64 {
    nanos_between(start, now())
}

/// The time from `start` to `end`, negative if that is earlier, in nanoseconds.
#[must_use]
pub fn nanos_between(start: Duration, end: Duration) -> f64 {
    // A number of nanoseconds since 1970 is no exact `f64`; the difference is one.
    (end.as_nanos() as i128 - start.as_nanos() as i128) as f64
}

/// Sleeps until `moment` (since 1970) has come. Threads of real-time priority wake without slack.
pub fn sleep_until(moment: Duration) {
    let Ok(moment) = Timespec::try_from(moment) else { return };
    // A signal ends it early.
    while clock_nanosleep_absolute(ClockId::Realtime, &moment) == Err(rustix::io::Errno::INTR) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_ends_after_its_moment_and_priority_is_given_back() {
        let policy = || {
            // SAFETY: 0 is this thread.
            unsafe { libc::sched_getscheduler(0) }
        };
        assert_eq!(policy(), libc::SCHED_OTHER);
        let raised = RealTime::begin();
        match &raised {
            Ok(_) => assert_eq!(policy(), libc::SCHED_FIFO),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
        }
        let moment = now() + Duration::from_millis(2);
        sleep_until(moment);
        assert!(now() >= moment);
        sleep_until(moment);
        drop(raised);
        assert_eq!(policy(), libc::SCHED_OTHER);
        let inherited = std::thread::spawn(move || {
            give_way().expect("it needs no privilege");
            std::thread::spawn(policy).join()
        });
        let inherited = inherited.join().expect("it ends").expect("it ends");
        assert_eq!((inherited, policy()), (libc::SCHED_IDLE, libc::SCHED_OTHER));
    }
}
