//! The time source: the processor's own cycle counter, fenced and converted to nanoseconds.
//!
//! A reading waits until all earlier work is done, **stores included**. A packet's writes to cache
//! lines that another processor holds are part of its cost. Without the wait they would still be in the
//! store buffer when the packet's time is taken, and whatever comes next would pay for them. The wait
//! itself costs the same in every reading, so it is part of the overhead, which is measured and
//! subtracted.
//!
//! Only readings taken on the same processor are compared.

use std::time::{Duration, Instant};
use warmcore_runtime::Stopwatch;
use warmcore_stats::Interval;
use warmcore_units::{Estimate, Nanos};

/// A reading of the counter, in its ticks.
pub(crate) type Ticks = u64;

/// Reads the counter, after everything before it and before everything after it.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
pub(crate) fn now() -> Ticks {
    let (low, high): (u64, u64);
    // SAFETY: fences and the reading of the time-stamp counter exist on every x86_64 processor
    // and change nothing but the registers named. The block is not declared `nomem`, so that the
    // compiler moves no access of memory across it.
    unsafe {
        core::arch::asm!(
            "mfence", "lfence", "rdtsc", "lfence",
            out("rax") low, out("rdx") high, options(nostack, preserves_flags)
        );
    }
    high << 32 | low
}

/// Reads the counter, after everything before it and before everything after it.
#[inline(always)]
#[cfg(target_arch = "aarch64")]
pub(crate) fn now() -> Ticks {
    let ticks: u64;
    // SAFETY: barriers and the virtual counter exist on every aarch64 processor, Linux lets user
    // programs read it, and nothing but the register named is changed. The block is not declared
    // `nomem`, so that the compiler moves no access of memory across it.
    unsafe {
        core::arch::asm!(
            "dsb ish", "isb", "mrs {ticks}, cntvct_el0", "isb",
            ticks = out(reg) ticks, options(nostack, preserves_flags)
        );
    }
    ticks
}

/// Reads the operating system's clock on processors without a counter that we support.
#[inline(always)]
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn now() -> Ticks {
    static ORIGIN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
    u64::try_from(ORIGIN.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// The counter that [`now`] reads.
const SOURCE: &str = if cfg!(target_arch = "x86_64") {
    "time-stamp counter (mfence; lfence; rdtsc; lfence)"
} else if cfg!(target_arch = "aarch64") {
    "virtual counter (dsb; isb; cntvct_el0; isb)"
} else {
    "operating system's monotonic clock"
};

/// The calibrated counter.
#[derive(Clone, Debug)]
pub struct Timer {
    /// Name of the counter.
    pub source: &'static str,
    /// The smallest step between two readings.
    pub resolution: Nanos,
    /// Time of an empty start/stop pair; subtracted from every packet's time.
    pub overhead: Estimate<Nanos>,
    nanos_per_tick: f64,
    origin: Paired,
}

/// One moment on both clocks.
#[derive(Clone, Copy, Debug)]
struct Paired {
    ticks: Ticks,
    instant: Instant,
}

impl Paired {
    /// Reads both clocks, as close together as 50 attempts allow.
    fn now() -> Self {
        let attempt = || {
            let before = now();
            let instant = Instant::now();
            let after = now();
            (after - before, Self { ticks: before + (after - before) / 2, instant })
        };
        let first = attempt();
        let closest = |best: (Ticks, Self), next: (Ticks, Self)| if next.0 < best.0 { next } else { best };
        (0..50).map(|_| attempt()).fold(first, closest).1
    }

    /// Nanoseconds per tick between `self` and a later moment.
    fn scale(&self, later: &Self) -> f64 {
        let ticks = later.ticks.saturating_sub(self.ticks).max(1);
        later.instant.duration_since(self.instant).as_secs_f64() * 1e9 / ticks as f64
    }
}

impl Timer {
    /// How long the two clocks are compared before the counter is trusted.
    const COMPARISON: Duration = Duration::from_millis(50);
    /// Runs over which the overhead is averaged, and empty start/stop pairs in each.
    const OVERHEAD_RUNS: usize = 30;
    const OVERHEAD_PAIRS: usize = 1001;

    /// Compares the counter with the operating system's monotonic clock and measures the overhead
    /// of reading it. Takes some 50 ms; call it on the thread and processor that will measure.
    #[must_use]
    pub fn calibrate() -> Self {
        let origin = Paired::now();
        let runs: Vec<_> = (0..Self::OVERHEAD_RUNS).map(|_| empty_pairs(now, Self::OVERHEAD_PAIRS)).collect();
        while origin.instant.elapsed() < Self::COMPARISON {
            core::hint::spin_loop();
        }
        let nanos_per_tick = origin.scale(&Paired::now());
        let overheads: Vec<f64> = runs.iter().map(|(ticks, _)| ticks * nanos_per_tick).collect();
        let step = runs.iter().map(|&(_, step)| step).min().unwrap_or(1);
        let overhead = Interval::from_observations(&overheads);
        Self {
            source: SOURCE,
            resolution: Nanos(step as f64 * nanos_per_tick),
            overhead: Estimate::new(Nanos(overhead.mean), Nanos(overhead.half_width)),
            nanos_per_tick,
            origin,
        }
    }

    /// A stopwatch with which a live run measures the time in the stack, so that it compares with a
    /// calibration's. It times one packet in `every`. Call this on an idle processor.
    #[must_use]
    pub fn stopwatch(&self, every: u32) -> Stopwatch {
        // The counter is read through a function pointer, which takes a little longer.
        let read: fn() -> Ticks = core::hint::black_box(now);
        let overheads: Vec<f64> =
            (0..Self::OVERHEAD_RUNS).map(|_| empty_pairs(read, Self::OVERHEAD_PAIRS).0).collect();
        let overhead = self.nanos(Interval::from_observations(&overheads).mean);
        Stopwatch { read, nanos_per_tick: self.nanos_per_tick, overhead, every }
    }

    /// Converts `ticks` to a duration, without subtracting the overhead.
    #[must_use]
    pub fn nanos(&self, ticks: f64) -> Nanos {
        Nanos(ticks * self.nanos_per_tick)
    }

    /// Converts `duration` to ticks.
    #[must_use]
    pub fn ticks(&self, duration: Nanos) -> Ticks {
        (duration.0 / self.nanos_per_tick).round() as Ticks
    }

    /// The fraction by which the counter has drifted against the operating system's clock since it was
    /// calibrated.
    #[must_use]
    pub fn drift(&self) -> f64 {
        self.origin.scale(&Paired::now()) / self.nanos_per_tick - 1.0
    }
}

/// Measures `pairs` empty start/stop pairs. Returns their mean, without those that an interrupt hit,
/// and the smallest difference between two of them that differ.
///
/// The pairs are spaced irregularly: many counters advance in steps far longer than a cycle, and
/// pairs in step with them would all see the same rounding.
fn empty_pairs(now: impl Fn() -> Ticks, pairs: usize) -> (f64, u64) {
    let mut durations: Vec<u64> = vec![1; pairs];
    for (position, duration) in durations.iter_mut().enumerate() {
        for _ in 0..position % 13 {
            core::hint::spin_loop();
        }
        let start = now();
        *duration = now() - start;
    }
    durations.sort_unstable();
    let median = durations[pairs / 2];
    let kept = &durations[..durations.partition_point(|&duration| duration <= 5 * median)];
    let step = kept.windows(2).map(|pair| pair[1] - pair[0]).filter(|&step| step > 0).min();
    (kept.iter().sum::<u64>() as f64 / kept.len().max(1) as f64, step.unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_and_the_system_clock_agree() {
        let timer = Timer::calibrate();
        let (ticks, instant) = (now(), Instant::now());
        std::thread::sleep(Duration::from_millis(20));
        // The real duration does not matter: both clocks measured it, unless we were preempted between
        // two lines.
        let (counted, passed) = (timer.nanos((now() - ticks) as f64), instant.elapsed());
        assert!(counted.secs() >= 0.02 && passed.as_secs_f64() >= 0.02);
        assert!((0.5..2.0).contains(&(counted.secs() / passed.as_secs_f64())), "{counted} {passed:?}");
    }

    #[test]
    fn the_overhead_of_a_stopwatch_includes_the_call() {
        let timer = Timer::calibrate();
        let watch = timer.stopwatch(7);
        // An empty interval measures zero, apart from short-lived noise.
        let empty = |_| {
            let start = (watch.read)();
            timer.nanos(((watch.read)() - start) as f64) - watch.overhead
        };
        let least = (0..1_000)
            .map(empty)
            .fold(Nanos::INFINITY, |least, time| if time < least { time } else { least });
        assert!(least.0.abs() < watch.overhead.0, "{least} beside {}", watch.overhead);
        assert_eq!(watch.every, 7);
    }

    #[test]
    fn the_overhead_is_positive_and_has_an_interval() {
        let timer = Timer::calibrate();
        assert!(timer.overhead.mean.0 > 0.0);
        assert!(timer.overhead.half_width.is_some_and(|half| half.0.is_finite()));
        assert!(timer.resolution.0 > 0.0);
        assert_eq!(timer.ticks(timer.nanos(1000.0)), 1000);
    }
}
