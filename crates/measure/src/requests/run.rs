//! One run of one experiment.

use crate::error::RunError;
use crate::requests::experiment::{BURST, Gap, Part, RequestExperiment, policy};
use crate::requests::schedule::{bursts, spaced};
use crate::requests::service::Service;
use crate::requests::source::{Request, Sent};
use crate::requests::steal;
use crate::requests::trial::{Trial, TrialOutcome, WorkerDid};
use crate::sockets::processors::Processors;
use crate::sockets::site::Site;
use core::sync::atomic::AtomicBool;
use core::time::Duration;
use std::collections::BTreeMap;
use warmcore_costs::server::Waiting;
use warmcore_costs::socket::{LastUsed, SoftirqCpu};
use warmcore_units::CpuId;

/// Between two bursts.
const BURST_GAP: Duration = Duration::from_millis(1);
/// Bursts of a run.
const BURSTS: usize = 25;
/// Requests due at the same time, where the cost of one more is measured.
const TOGETHER: usize = 8;

/// What all runs share.
pub(crate) struct Context<'a> {
    pub(crate) site: &'a Site,
    pub(crate) processors: &'a Processors,
    pub(crate) service: Service,
    /// Flows of a source; an even number.
    pub(crate) flows: usize,
    pub(crate) stop: &'a AtomicBool,
}

/// The values of a run, by the processor of the softirq and the part, in nanoseconds.
pub(crate) type Values = BTreeMap<(SoftirqCpu, Part), Vec<f64>>;

/// What a run gives.
#[derive(Default)]
pub(crate) struct Ran {
    pub(crate) values: Values,
    /// Why sources had no real-time priority, if they had none.
    pub(crate) without_priority: Option<String>,
}

impl Context<'_> {
    /// Makes one run.
    pub(crate) fn run(&self, experiment: RequestExperiment) -> Result<Ran, RunError> {
        match experiment {
            RequestExperiment::Source => self.source(),
            RequestExperiment::Alone { waiting, softirq, gap } => {
                let trial = self.trial(waiting, 1, self.processors.get(softirq));
                self.single(&trial, gap, &[softirq])
            }
            RequestExperiment::Turns { state, gap } => {
                let flows = if state == LastUsed::Here { self.flows } else { self.flows + 1 };
                let trial = Trial { flows, ..self.trial(Waiting::Fifo, 2, self.processors.reader) };
                self.single(&trial, gap, &[SoftirqCpu::Reader, SoftirqCpu::OtherCore])
            }
            RequestExperiment::Burst { waiting, softirq } => {
                self.burst(&self.trial(waiting, 1, self.processors.get(softirq)), softirq)
            }
        }
    }

    fn trial(&self, waiting: Waiting, workers: usize, source: CpuId) -> Trial {
        Trial {
            policy: policy(waiting),
            workers,
            service: self.service.clone(),
            sources: vec![source],
            flows: self.flows,
        }
    }

    fn source(&self) -> Result<Ran, RunError> {
        let cpu = self.processors.reader;
        let steal = |together| steal::measure(self.site, cpu, together, &self.service, self.stop);
        let (one, more) = (steal(1)?, steal(TOGETHER)?);
        let mut values = Values::new();
        let mut insert = |part, time: Option<f64>| {
            values.extend(time.map(|time| ((SoftirqCpu::Reader, part), vec![time])));
        };
        // Medians, since a pause is much longer if another thread had the processor too.
        let (stolen, all) = (median(one.pauses), median(more.pauses));
        let more = all.zip(stolen).map(|(all, one)| (all - one) / (TOGETHER - 1) as f64);
        // More requests take no less: if it seems so, others had the processor too.
        insert(Part::StolenMore, more.filter(|more| *more > 0.0));
        insert(Part::Stolen, stolen);
        insert(Part::Late, median(one.late));
        Ok(Ran { values, without_priority: None })
    }

    /// Single requests; the softirq was on `seen[worker]` as each worker sees it.
    fn single(&self, trial: &Trial, gap: Gap, seen: &[SoftirqCpu]) -> Result<Ran, RunError> {
        let schedule = spaced(gap.requests(), gap.time(), trial.flows);
        let TrialOutcome { sent, workers, without_priority } =
            trial.run(self.site, &[schedule], self.stop)?;
        let mut values = Values::new();
        let Some(Sent { requests, reading, .. }) = sent.first() else {
            return Ok(Ran::default());
        };
        let mut idle: BTreeMap<SoftirqCpu, Vec<f64>> = BTreeMap::new();
        for pair in requests.windows(2) {
            let [before, request] = pair else { continue };
            let (Some((earlier, _)), Some((reply, worker))) = (before.replied, request.replied) else {
                continue;
            };
            let Some(&place) = seen.get(worker) else { continue };
            let mut add = |part, time| values.entry((place, part)).or_default().push(time);
            idle.entry(place).or_default().push(request.due - earlier.max(before.ended));
            add(Part::Late, request.began - request.due);
            add(Part::Call, request.ended - request.began);
            add(Part::Reply, reply - request.ended);
        }
        for (place, times) in idle {
            values.extend(median(times).map(|time| ((place, Part::Idle), vec![time])));
        }
        for (did, &place) in workers.iter().zip(seen) {
            values.extend(did.each().map(|time| ((place, Part::WorkerCpu), vec![time])));
        }
        if reading.replies > 0 {
            values.insert((SoftirqCpu::Reader, Part::Read), vec![reading.time / reading.replies as f64]);
        }
        Ok(Ran { values, without_priority })
    }

    fn burst(&self, trial: &Trial, seen: SoftirqCpu) -> Result<Ran, RunError> {
        let schedule = bursts(BURSTS, BURST, BURST_GAP, trial.flows);
        let TrialOutcome { sent, workers, without_priority } =
            trial.run(self.site, &[schedule], self.stop)?;
        let mut values = Values::new();
        let mut add = |part, time| values.entry((seen, part)).or_default().push(time);
        for burst in sent.iter().flat_map(|sent| sent.requests.chunks_exact(BURST)) {
            burst[1..].iter().for_each(|request| add(Part::Call, request.ended - request.began));
            if let Some(Request { ended, replied: Some((reply, _)), .. }) = burst.last() {
                add(Part::Reply, reply - ended);
            }
        }
        if let Some(each) = workers.first().and_then(WorkerDid::each) {
            add(Part::WorkerCpu, each * BURST as f64);
        }
        Ok(Ran { values, without_priority })
    }
}

fn median(mut times: Vec<f64>) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}
