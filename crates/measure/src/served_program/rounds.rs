//! The runs of all situations so far, interleaved, and the times that they give.

use super::run::{Context, Ran};
use crate::calibrate::interleaved::Interleaved;
use crate::calibrate::rounds::RunCounts;
use crate::calibrate::summary::{Run, RunMean, Series};
use crate::error::CalibrateError;
use crate::requests::experiment::Gap;
use crate::requests::rounds::Target;
use crate::requests::source::Request;
use crate::run::proximity::Proximity;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::{Duration, Instant};
use warmcore_costs::program::ProgramTimes;
use warmcore_costs::socket::SoftirqCpu;

/// A situation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Experiment {
    /// The processor of the source, as seen from the program's.
    pub(crate) softirq: SoftirqCpu,
    /// Between requests.
    pub(crate) gap: Gap,
}

/// All situations and their runs.
pub(crate) struct ProgramRounds<'a> {
    context: &'a Context<'a>,
    target: Target,
    entries: Vec<Entry>,
    /// The share of a processor that the program uses by itself.
    idle_share: f64,
    pub(crate) tally: RunCounts,
    /// Requests that began while the machine stood still.
    pub(crate) stalled: usize,
    /// Why sources had no real-time priority, if they had none.
    pub(crate) without_priority: Option<String>,
}

struct Entry {
    experiment: Experiment,
    idle: Series,
    delay: Series,
    median: Series,
    call: Series,
    program_cpu: Series,
    sent: usize,
    lost: usize,
    runs: usize,
    cost: Duration,
}

impl<'a> ProgramRounds<'a> {
    pub(crate) fn new(
        context: &'a Context<'a>,
        target: Target,
        experiments: Vec<Experiment>,
        idle_share: f64,
    ) -> Self {
        let entry = |experiment| Entry {
            experiment,
            idle: Series::default(),
            delay: Series::default(),
            median: Series::default(),
            call: Series::default(),
            program_cpu: Series::default(),
            sent: 0,
            lost: 0,
            runs: 0,
            cost: Duration::ZERO,
        };
        let entries = experiments.into_iter().map(entry).collect();
        let tally = RunCounts::default();
        Self { context, target, entries, idle_share, tally, stalled: 0, without_priority: None }
    }

    /// The times of each situation with at least two runs.
    pub(crate) fn times(&self) -> Vec<ProgramTimes> {
        let row = |entry: &Entry| {
            let value = |series: &Series| series.measured(self.target.relative, &Proximity::ANY);
            Some(ProgramTimes {
                softirq_cpu: entry.experiment.softirq,
                idle: value(&entry.idle)?.mean,
                delay: value(&entry.delay)?,
                median: value(&entry.median)?,
                call: value(&entry.call)?,
                program_cpu: value(&entry.program_cpu)?,
                lost: entry.lost as f64 / entry.sent.max(1) as f64,
            })
        };
        self.entries.iter().filter_map(row).collect()
    }
}

impl Entry {
    /// Takes the values of a run, of a program that uses this share of a processor by itself. Returns how many requests began
    /// while the machine stood still.
    fn take(&mut self, ran: &Ran, idle_share: f64, tally: &mut RunCounts) -> usize {
        let answered = ran.requests.iter().filter_map(|request| Some((request, request.replied?.0)));
        let count = answered.clone().count();
        self.sent += ran.requests.len();
        self.lost += ran.requests.len() - count;
        let calls = answered.clone().map(|(request, _)| request.ended - request.began).collect();
        if let Some(RunMean { mean, packets, set_aside }) = RunMean::new(calls) {
            self.call.push(whole(mean));
            tally.packets += (packets + set_aside) as u64;
            tally.packets_set_aside += set_aside as u64;
        }
        // What the program takes long for counts. What a call was kept from does not.
        let stalled = |request: &Request| request.ended - request.began > STALL;
        let undisturbed = answered.clone().filter(|(request, _)| !stalled(request));
        let mut delays: Vec<f64> = undisturbed.map(|(request, reply)| reply - request.began).collect();
        delays.sort_by(f64::total_cmp);
        if let Some(&median) = delays.get(delays.len() / 2) {
            self.median.push(whole(median));
            self.delay.push(whole(delays.iter().sum::<f64>() / delays.len() as f64));
        }
        let pause = |pair: &[Request]| Some(pair[1].began - pair[0].replied?.0);
        let mut pauses: Vec<f64> = ran.requests.windows(2).filter_map(pause).collect();
        pauses.sort_by(f64::total_cmp);
        if let Some(pause) = pauses.get(pauses.len() / 2) {
            self.idle.push(whole(pause.max(0.0)));
        }
        if count > 0 {
            let own = idle_share * ran.long.as_nanos() as f64;
            self.program_cpu.push(whole(((ran.program_cpu.0 - own) / count as f64).max(0.0)));
        }
        count - delays.len()
    }
}

/// A call that takes longer than this was kept from running, though its thread outranks all others, in nanoseconds.
const STALL: f64 = 400e3;

/// A run that counts.
const fn whole(value: f64) -> Run {
    Run { value, disturbed: false, readings: None }
}

impl Interleaved for ProgramRounds<'_> {
    fn count(&self) -> usize {
        self.entries.len()
    }

    fn runs(&self, index: usize) -> usize {
        self.entries[index].runs
    }

    fn cost(&self, index: usize) -> Duration {
        self.entries[index].cost
    }

    fn is_known(&self, index: usize) -> bool {
        let Entry { delay, call, program_cpu, .. } = &self.entries[index];
        let Target { least_runs, relative } = self.target;
        [delay, call, program_cpu]
            .into_iter()
            .all(|series| series.is_known(least_runs, relative, &Proximity::ANY))
    }

    fn run(&mut self, index: usize, _late: bool, _: &mut Xoshiro256PlusPlus) -> Result<(), CalibrateError> {
        if self.context.is_stopped() {
            return Err(CalibrateError::Interrupted);
        }
        let began = Instant::now();
        let entry = &mut self.entries[index];
        entry.runs += 1;
        self.tally.runs += 1;
        let ran = self.context.run(entry.experiment)?;
        entry.cost = began.elapsed();
        self.stalled += entry.take(&ran, self.idle_share, &mut self.tally);
        self.without_priority = ran.without_priority.or(self.without_priority.take());
        Ok(())
    }
}
