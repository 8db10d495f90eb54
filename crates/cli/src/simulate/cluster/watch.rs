//! What is told of a cluster's simulation while it runs: simulated time, and references per second. It is also how it is stopped.

use super::CYCLES_A_MS;
use crate::progress::Progress;
use core::cell::Cell;
use core::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;
use warmcore_sim::cluster::Moment;

/// How fast simulations go that are at work at the same time.
#[derive(Default)]
pub(crate) struct Meter {
    /// When the first of them began, with its program's data laid out.
    began: OnceLock<Instant>,
    references: AtomicU64,
}

impl Meter {
    /// References of all of them in a second, so far.
    pub(crate) fn rate(&self) -> f64 {
        let seconds = self.began.get().map_or(0.0, |began| began.elapsed().as_secs_f64());
        self.references.load(Ordering::Relaxed) as f64 / seconds.max(f64::MIN_POSITIVE)
    }

    /// Watches one of them: says on `bar` how far it is, and stops it when that is asked for.
    pub(crate) fn watch<'a>(
        &'a self,
        bar: &'a Progress,
        stop: &'a AtomicBool,
    ) -> impl Fn(Moment) -> ControlFlow<()> + 'a {
        let counted = Cell::new(0);
        move |Moment { cycles, references }| {
            self.began.get_or_init(Instant::now);
            // A microbenchmark may take several runs, each of which counts from 0.
            let before = counted.replace(references);
            let new = references.checked_sub(before).unwrap_or(references);
            self.references.fetch_add(new, Ordering::Relaxed);
            let (simulated, rate) = (cycles as f64 / CYCLES_A_MS, self.rate() / 1e6);
            bar.note(format!("{simulated:.1} ms simulated, {rate:.0} million references a second"));
            if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_one_after_the_other_are_counted_together() {
        let (meter, bar, stop) = (Meter::default(), Progress::Silent, AtomicBool::new(false));
        let watch = meter.watch(&bar, &stop);
        for references in [0, 10, 0, 5] {
            assert!(watch(Moment { cycles: 0, references }).is_continue());
        }
        assert_eq!(meter.references.load(Ordering::Relaxed), 15);
        stop.store(true, Ordering::Relaxed);
        assert!(watch(Moment { cycles: 0, references: 5 }).is_break());
    }
}
