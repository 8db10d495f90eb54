//! What sequential events cost, which run alone: after all before them, before all after them.

use crate::case::Case;
use crate::contestant::Run;
use crate::handler::Handler;
use crate::ours;
use crate::traffic::Traffic;
use core::fmt;
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;
use warmcore_stats::Spread;

/// One event in so many is sequential.
const EVERY: usize = 1_000;

/// Throughput with sequential events, beside that without.
#[derive(Serialize)]
pub(crate) struct Barriers {
    workload: String,
    handler: String,
    events: usize,
    sequential_every: usize,
    with_per_s: Spread,
    without_per_s: Spread,
    /// Round by round.
    ratio: Spread,
    order_violations: u64,
}

pub(crate) fn measure(traffic: &Traffic, handler: Handler, events: usize, rounds: usize) -> Barriers {
    let one = |run: &dyn Fn(&Arc<Case>)| {
        let case = traffic.case(handler, events);
        let begun = Instant::now();
        run(&case);
        Run { seconds: begun.elapsed().as_secs_f64(), violations: case.violations() }
    };
    let both = |_| [one(&|case| ours::with_sequential(case, EVERY)), one(&|case| ours::dynamic(case))];
    let runs: Vec<[Run; 2]> = (0..rounds).map(both).collect();
    let rates = |which: usize| Spread(runs.iter().map(|run| events as f64 / run[which].seconds).collect());
    let (with_per_s, without_per_s) = (rates(0), rates(1));
    Barriers {
        workload: traffic.mix.to_string(),
        handler: handler.to_string(),
        events,
        sequential_every: EVERY,
        ratio: with_per_s.over(&without_per_s),
        with_per_s,
        without_per_s,
        order_violations: runs.iter().flatten().map(|run| run.violations).sum(),
    }
}

impl fmt::Display for Barriers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millions = |rates: &Spread| rates.map(|rate| rate / 1e6);
        writeln!(f, "{}, {}, one event in {EVERY} sequential: ours", self.workload, self.handler)?;
        write!(
            f,
            "  {:.2} M events/s, without {:.2}: {:.3} times",
            millions(&self.with_per_s),
            millions(&self.without_per_s),
            self.ratio
        )?;
        match self.order_violations {
            0 => Ok(()),
            violations => write!(f, "  OUT OF ORDER: {violations}"),
        }
    }
}
