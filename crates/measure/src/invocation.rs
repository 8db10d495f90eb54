//! What it costs to get a processor's attention: to interrupt one that computes, and to wake up one that sleeps (Falsafi
//! 1998, §3.2: the overheads of a multiplexed policy).

use crate::clock::{self, Ticks, Timer};
use crate::error::RunError;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::OnceLock;
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use warmcore_linux::interruption::Interrupter;
use warmcore_linux::pin_to;
use warmcore_stats::Interval;
use warmcore_units::{CpuId, Estimate, Nanos};

/// Each figure is the mean over so many batches, and its half-width that over them.
const BATCHES: usize = 10;
/// Interrupts in a batch.
const INTERRUPTS: usize = 100;
/// Time between two of them, so that none waits for the one before.
const APART: Duration = Duration::from_micros(30);
/// Round trips of wake-ups in a batch.
const ROUNDS: usize = 50;
/// A step of the computing thread that takes so many times the shortest one was interrupted.
const INTERRUPTED: Ticks = 4;
/// An experiment that takes longer is given up: the other thread does not run.
const LIMIT: Duration = Duration::from_secs(5);

/// The costs between two processors.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct InvocationCosts {
    /// What an interrupt takes from the computing processor; `None` if the kernel sends none for us, or none was seen.
    pub interrupt: Option<Estimate<Nanos>>,
    /// From waking up a sleeping thread on the other processor until it runs.
    pub wake_up: Estimate<Nanos>,
}

/// Measures both costs between `cpus`, in less than a second.
///
/// # Errors
/// If a thread cannot be made or pinned there, `stop` is set, or a processor is too busy with other work.
pub fn invocation_costs(
    cpus: [CpuId; 2],
    timer: &Timer,
    stop: &AtomicBool,
) -> Result<InvocationCosts, RunError> {
    let wake_up = estimate(timer, &wake_ups(cpus, stop)?);
    Ok(InvocationCosts { interrupt: interrupt(cpus, timer, stop)?, wake_up })
}

fn interrupt(
    cpus: [CpuId; 2],
    timer: &Timer,
    stop: &AtomicBool,
) -> Result<Option<Estimate<Nanos>>, RunError> {
    let Some(interrupter) = Interrupter::new() else { return Ok(None) };
    let mut batches = Vec::with_capacity(BATCHES);
    for _ in 0..BATCHES {
        let Some(median) = interrupts(cpus, interrupter, stop)? else { return Ok(None) };
        batches.push(median);
    }
    Ok(Some(estimate(timer, &batches)))
}

fn estimate(timer: &Timer, batches: &[f64]) -> Estimate<Nanos> {
    let nanos: Vec<f64> = batches.iter().map(|ticks| timer.nanos(*ticks).0).collect();
    let Interval { mean, half_width, .. } = Interval::from_observations(&nanos);
    Estimate::new(Nanos(mean), Nanos(half_width))
}

/// The median time that an interrupt takes from a thread that does nothing but read the clock; `None` if none was seen.
fn interrupts(
    cpus: [CpuId; 2],
    interrupter: Interrupter,
    stop: &AtomicBool,
) -> Result<Option<f64>, RunError> {
    let computes = AtomicBool::new(false);
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let computing = scope.spawn(|| {
            let _pinned = pin_to(cpus[1])?;
            computes.store(true, Ordering::Release);
            Ok(longest_steps(&ended))
        });
        let sent = send(cpus[0], interrupter, &computes, stop);
        ended.store(true, Ordering::Release);
        let steps = computing.join().unwrap_or(Err(RunError::Panicked));
        sent.and(steps)
    })
}

/// Sends the interrupts of a batch once the other thread computes.
fn send(
    cpu: CpuId,
    interrupter: Interrupter,
    computes: &AtomicBool,
    stop: &AtomicBool,
) -> Result<(), RunError> {
    let _pinned = pin_to(cpu)?;
    let began = Instant::now();
    while !computes.load(Ordering::Acquire) {
        check_wait(0, began, stop)?;
        thread::yield_now();
    }
    for _ in 0..INTERRUPTS {
        let next = Instant::now() + APART;
        interrupter.interrupt();
        while Instant::now() < next {
            core::hint::spin_loop();
        }
    }
    Ok(())
}

/// Reads the clock until `ended`. Returns the median of the steps that took much longer than the shortest, less that one;
/// `None` if none did.
fn longest_steps(ended: &AtomicBool) -> Option<f64> {
    let mut steps: Vec<Ticks> = Vec::with_capacity(4 * INTERRUPTS);
    let mut shortest = Ticks::MAX;
    let mut last = clock::now();
    while !ended.load(Ordering::Relaxed) {
        let now = clock::now();
        let step = now - last;
        shortest = shortest.min(step);
        if step > INTERRUPTED * shortest && steps.len() < steps.capacity() {
            steps.push(step - shortest);
        }
        last = now;
    }
    steps.retain(|step| *step > (INTERRUPTED - 1) * shortest);
    steps.sort_unstable();
    steps.get(steps.len() / 2).map(|median| *median as f64)
}

/// Half the time of a round trip between two threads that sleep while it is the other's turn, by batch.
fn wake_ups(cpus: [CpuId; 2], stop: &AtomicBool) -> Result<Vec<f64>, RunError> {
    let turn = AtomicUsize::new(0);
    let threads: [OnceLock<Thread>; 2] = [OnceLock::new(), OnceLock::new()];
    let play = |me: usize| -> Result<Vec<f64>, RunError> {
        let _pinned = pin_to(cpus[me])?;
        threads[me].get_or_init(thread::current);
        let began = Instant::now();
        let mut batches = Vec::with_capacity(BATCHES);
        let mut start = clock::now();
        for step in 0..2 * ROUNDS * BATCHES {
            if step % 2 == me {
                while turn.load(Ordering::Acquire) != step {
                    check_wait(step, began, stop)?;
                    // Who has no name yet cannot be woken up by it.
                    thread::park_timeout(Duration::from_millis(10));
                }
                turn.store(step + 1, Ordering::Release);
                threads[1 - me].get().inspect(|other| other.unpark());
            }
            if me == 0 && (step + 1) % (2 * ROUNDS) == 0 {
                let end = clock::now();
                batches.push((end - start) as f64 / (2 * ROUNDS) as f64);
                start = end;
            }
        }
        Ok(batches)
    };
    thread::scope(|scope| {
        let second = scope.spawn(|| play(1));
        let first = scope.spawn(|| play(0));
        let first = first.join().unwrap_or(Err(RunError::Panicked));
        second.join().unwrap_or(Err(RunError::Panicked)).and(first)
    })
}

/// Ends a wait of the thread in `phase` since `began` that is asked to stop, or takes too long.
fn check_wait(phase: usize, began: Instant, stop: &AtomicBool) -> Result<(), RunError> {
    if stop.load(Ordering::Relaxed) {
        return Err(RunError::Interrupted);
    }
    let waited = began.elapsed();
    if waited > LIMIT { Err(RunError::PartnerLost { phase: phase as u64, waited }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_linux::affinity::mask;

    #[test]
    fn attention_costs_between_10_ns_and_10_ms() {
        let allowed = mask().unwrap().iter().collect::<Vec<_>>();
        let [first, second, ..] = allowed[..] else { return };
        let timer = Timer::calibrate();
        let costs = invocation_costs([first, second], &timer, &AtomicBool::new(false)).unwrap();
        println!("{costs:?}");
        for cost in [Some(costs.wake_up), costs.interrupt].into_iter().flatten() {
            assert!((10.0..1e7).contains(&cost.mean.0), "{costs:?}");
        }
    }
}
