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
/// With fewer batches in which an interrupt was seen, nothing is said.
const LEAST_BATCHES: usize = 5;
/// So many are tried.
const MOST_BATCHES: usize = 10 * BATCHES;
/// Interrupts in a batch.
const INTERRUPTS: usize = 100;
/// The length of a window, so that no interrupt waits for the one before.
const APART: Duration = Duration::from_micros(30);
/// Round trips of wake-ups in a batch.
const ROUNDS: usize = 50;
/// Windows of time in a batch: an interrupt in every second one. The first is the wait for the sender.
const WINDOWS: usize = 1 + 2 * INTERRUPTS;
/// The window before the other thread computes.
const WAITING: usize = usize::MAX;
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
    // The thread may not have run at all during a batch, if others want its processor.
    for _ in 0..MOST_BATCHES {
        batches.extend(interrupts(cpus, interrupter, stop)?);
        if batches.len() == BATCHES {
            break;
        }
    }
    let cost = estimate(timer, &batches);
    Ok((batches.len() >= LEAST_BATCHES && cost.mean.0 > cost.half()).then_some(cost))
}

fn estimate(timer: &Timer, batches: &[f64]) -> Estimate<Nanos> {
    let nanos: Vec<f64> = batches.iter().map(|ticks| timer.nanos(*ticks).0).collect();
    let Interval { mean, half_width, .. } = Interval::from_observations(&nanos);
    Estimate::new(Nanos(mean), Nanos(half_width))
}

/// How much longer the longest step of a thread that does nothing but read the clock is, in the median, where it is
/// interrupted than where it is not; `None` if it is not.
fn interrupts(
    cpus: [CpuId; 2],
    interrupter: Interrupter,
    stop: &AtomicBool,
) -> Result<Option<f64>, RunError> {
    let window = AtomicUsize::new(WAITING);
    thread::scope(|scope| {
        let computing = scope.spawn(|| {
            let _pinned = pin_to(cpus[1])?;
            Ok(longest_steps(&window))
        });
        let sent = send(cpus[0], interrupter, &window, stop);
        window.store(WINDOWS, Ordering::Release);
        let steps = computing.join().unwrap_or(Err(RunError::Panicked));
        sent.and(steps.map(difference))
    })
}

/// Goes through the windows of a batch, and interrupts in every second one, once the other thread computes.
fn send(
    cpu: CpuId,
    interrupter: Interrupter,
    window: &AtomicUsize,
    stop: &AtomicBool,
) -> Result<(), RunError> {
    let _pinned = pin_to(cpu)?;
    let began = Instant::now();
    while window.load(Ordering::Acquire) == WAITING {
        check_wait(0, began, stop)?;
        thread::yield_now();
    }
    for number in 1..WINDOWS {
        window.store(number, Ordering::Release);
        let next = Instant::now() + APART;
        let half = next - APART / 2;
        while Instant::now() < half {
            core::hint::spin_loop();
        }
        if number % 2 == 1 {
            interrupter.interrupt();
        }
        while Instant::now() < next {
            core::hint::spin_loop();
        }
    }
    Ok(())
}

/// Reads the clock until the last window is over. Returns the longest step in each; 0 if there was none.
fn longest_steps(window: &AtomicUsize) -> Vec<Ticks> {
    let mut longest = vec![0; WINDOWS];
    window.store(0, Ordering::Release);
    let mut last = clock::now();
    loop {
        let number = window.load(Ordering::Relaxed);
        let now = clock::now();
        let Some(longest) = longest.get_mut(number) else { break };
        *longest = (now - last).max(*longest);
        last = now;
    }
    longest
}

/// The median of what is `longest` in windows with an interrupt, less that in those without; `None` if it is no more.
fn difference(longest: Vec<Ticks>) -> Option<f64> {
    // A window in which it did not run has no step.
    let steps = |parity: usize| longest.iter().skip(2 - parity).step_by(2).copied().filter(|step| *step > 0);
    let (interrupted, silent) = (median(steps(1).collect())?, median(steps(0).collect())?);
    (interrupted > silent).then_some(interrupted - silent)
}

/// Half the median time of a round trip between two threads that sleep while it is the other's turn, by batch.
fn wake_ups(cpus: [CpuId; 2], stop: &AtomicBool) -> Result<Vec<f64>, RunError> {
    let turn = AtomicUsize::new(0);
    let threads: [OnceLock<Thread>; 2] = [OnceLock::new(), OnceLock::new()];
    let play = |me: usize| -> Result<Vec<Ticks>, RunError> {
        let _pinned = pin_to(cpus[me])?;
        threads[me].get_or_init(thread::current);
        let began = Instant::now();
        let mut round_trips = Vec::with_capacity(ROUNDS * BATCHES);
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
            if me == 0 && step % 2 == 1 {
                let end = clock::now();
                round_trips.push(end - start);
                start = end;
            }
        }
        Ok(round_trips)
    };
    thread::scope(|scope| {
        let second = scope.spawn(|| play(1));
        let first = scope.spawn(|| play(0));
        let first = first.join().unwrap_or(Err(RunError::Panicked));
        second.join().unwrap_or(Err(RunError::Panicked)).and(first)
    })
    .map(|round_trips| {
        round_trips.chunks(ROUNDS).filter_map(|batch| Some(median(batch.to_vec())? / 2.0)).collect()
    })
}

/// The middle one.
fn median(mut times: Vec<Ticks>) -> Option<f64> {
    times.sort_unstable();
    times.get(times.len() / 2).map(|median| *median as f64)
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
