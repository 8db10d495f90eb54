//! Work without the interpreter's lock that Ctrl-C ends.

use crate::failure::Failure;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often signals are looked for.
const GLANCE: Duration = Duration::from_millis(50);

/// Does `work` on the threads of this process. A process that was forked, as those of `multiprocessing` may be, has none of its
/// parent's threads and would wait for them for ever: it makes its own.
///
/// # Errors
/// Those of `work`, and if there can be no threads.
pub(crate) fn on_threads<T: Send>(work: impl FnOnce() -> Result<T, Failure> + Send) -> Result<T, Failure> {
    static POOL: Mutex<Option<(u32, &ThreadPool)>> = Mutex::new(None);
    let pool = {
        let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
        match *pool {
            Some((process, pool)) if process == std::process::id() => pool,
            _ => {
                let made =
                    ThreadPoolBuilder::new().build().map_err(|error| Failure::Broken(error.to_string()))?;
                // Kept as long as the process, as rayon keeps its own.
                let made: &ThreadPool = Box::leak(Box::new(made));
                *pool = Some((std::process::id(), made));
                made
            }
        }
    };
    pool.install(work)
}

/// Does `work` on another thread while this one looks for signals; other threads of Python run meanwhile.
///
/// `work` is given a flag that is set when it shall end; then what it returns is dropped.
///
/// # Errors
/// Those of `work`; [`Failure::Interrupted`] with what a signal's handler raised.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(Arc<AtomicBool>) -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    interruptible_watched(py, work, |_| Ok(()))
}

/// As [`interruptible`], and calls `watch` on this thread now and then, and once more when `work` is done.
///
/// # Errors
/// As [`interruptible`]; what `watch` raised ends `work` too.
pub(crate) fn interruptible_watched<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(Arc<AtomicBool>) -> Result<T, Failure> + Send,
    watch: impl Fn(Python<'_>) -> PyResult<()> + Sync,
) -> Result<T, Failure> {
    let look = || Python::attach(|py| py.check_signals().and_then(|()| watch(py))).err();
    py.detach(|| {
        let stop = Arc::new(AtomicBool::new(false));
        let (done, result) = channel();
        thread::scope(|scope| {
            let flag = Arc::clone(&stop);
            // Nobody waits any more if the interpreter is about to end.
            scope.spawn(move || drop(done.send(work(flag))));
            let mut raised = None;
            loop {
                match result.recv_timeout(GLANCE) {
                    Ok(_) if raised.is_some() => return Err(Failure::Interrupted(raised)),
                    Ok(Ok(done)) => {
                        let raised = Python::attach(&watch).err();
                        return raised.map_or(Ok(done), |raised| Err(Failure::Interrupted(Some(raised))));
                    }
                    Ok(Err(failure)) => return Err(failure),
                    Err(RecvTimeoutError::Timeout) if raised.is_none() => {
                        raised = look();
                        stop.store(raised.is_some(), Ordering::Relaxed);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(Failure::Broken(
                            "the simulation ended by a panic: a defect of warmcore".to_owned(),
                        ));
                    }
                }
            }
        })
    })
}
