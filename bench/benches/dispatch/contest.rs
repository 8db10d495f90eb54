//! Everybody on the same events, in rotation.

use crate::canary::{Canary, Drift};
use crate::contestant::{Contestant, Role, Run};
use crate::handler::Handler;
use crate::installed::Absent;
use crate::table::Table;
use crate::traffic::Traffic;
use warmcore_bench::ProgramError;
use warmcore_linux::{CpuUsage, Meter};
use warmcore_units::{CpuId, Nanos};

/// The part of the processors' time that other programs may have during a run, and what is not known
/// for certain of it: the kernel counts in hundredths of a second.
const QUIET: f64 = 0.05;
const UNCERTAIN: Nanos = Nanos(30e6);
/// How often a run is repeated that others disturbed, and how often that happens in all.
const REPEATS_OF_A_RUN: usize = 2;
const REPEATS: usize = 100;

/// Of the events, what is handled once before the first round: it warms up what there is to be warmed,
/// and shows who is slow.
const WARM_UP: usize = 10;
/// Seconds that a run may take: who would need longer gets fewer events.
const LONGEST: f64 = 3.0;
const PARTS: [usize; 3] = [1, 5, 25];

/// Those who take part, and the machine they do it on.
pub(crate) struct Contest {
    entrants: Vec<Entrant>,
    cpus: Vec<CpuId>,
    canary: Canary,
    repeats_left: usize,
}

struct Entrant {
    contestant: Box<dyn Contestant>,
    /// Why it takes part no longer.
    lost: Option<String>,
}

/// All runs of a contestant on the same events.
pub(crate) struct Runs {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) events: usize,
    /// Events per second, round by round.
    pub(crate) rates: Vec<f64>,
    /// In all runs, those included that were dropped.
    pub(crate) violations: u64,
    /// Runs that were dropped because other programs disturbed them.
    pub(crate) dropped: usize,
    /// Runs that count though other programs disturbed them: so did they all repetitions.
    pub(crate) disturbed: usize,
}

impl Contest {
    pub(crate) fn new(contestants: Vec<Box<dyn Contestant>>, cpus: Vec<CpuId>, canary: Canary) -> Self {
        let entrants = contestants.into_iter().map(|contestant| Entrant { contestant, lost: None }).collect();
        Self { entrants, cpus, canary, repeats_left: REPEATS }
    }

    /// Everybody handles `count` events in each of so many rounds.
    pub(crate) fn table(
        &mut self,
        traffic: &Traffic,
        handler: Handler,
        count: usize,
        rounds: usize,
    ) -> Table {
        let mut all: Vec<Runs> =
            self.entrants.iter().map(|entrant| Runs::none(&*entrant.contestant)).collect();
        for (entrant, runs) in self.entrants.iter_mut().zip(&mut all) {
            runs.events = count / entrant.part(traffic, handler, count);
        }
        for _ in 0..rounds {
            self.canary.settle();
            for (entrant, runs) in self.entrants.iter_mut().zip(&mut all) {
                entrant.attempt(traffic, |contestant| {
                    runs.add(contestant, traffic, handler, &self.cpus, &mut self.repeats_left)
                });
            }
        }
        Table::new(traffic.mix, handler, count, all)
    }

    /// Who was lost on the way, how the machine was meanwhile, and how many runs were repeated.
    pub(crate) fn finish(self) -> (Vec<Absent>, Drift, usize) {
        let lost = self.entrants.into_iter().filter_map(|entrant| {
            let name = entrant.contestant.name().to_owned();
            entrant.lost.map(|reason| Absent { name, reason })
        });
        (lost.collect(), self.canary.drift(), REPEATS - self.repeats_left)
    }
}

impl Entrant {
    /// Does it with `traffic`, unless this contestant was lost; if it fails, it is.
    fn attempt<T>(
        &mut self,
        traffic: &Traffic,
        does: impl FnOnce(&mut dyn Contestant) -> Result<T, ProgramError>,
    ) -> Option<T> {
        if self.lost.is_some() {
            return None;
        }
        let done = does(&mut *self.contestant);
        done.map_err(|error| self.lost = Some(format!("{}: {error}", traffic.mix))).ok()
    }

    /// What `count` is to be divided by, so that it takes no longer than it may.
    fn part(&mut self, traffic: &Traffic, handler: Handler, count: usize) -> usize {
        let warm_up = self.attempt(traffic, |contestant| contestant.run(traffic, handler, count / WARM_UP));
        let whole = warm_up.map_or(0.0, |run| run.seconds * WARM_UP as f64);
        let short = PARTS.into_iter().find(|&part| whole / part as f64 <= LONGEST);
        short.unwrap_or(PARTS[PARTS.len() - 1])
    }
}

impl Runs {
    fn none(contestant: &dyn Contestant) -> Self {
        let (name, role) = (contestant.name().to_owned(), contestant.role());
        Self { name, role, events: 0, rates: Vec::new(), violations: 0, dropped: 0, disturbed: 0 }
    }

    /// One more run. If others disturb it, it is repeated, and the run counts that was disturbed least.
    fn add(
        &mut self,
        contestant: &mut dyn Contestant,
        traffic: &Traffic,
        handler: Handler,
        cpus: &[CpuId],
        repeats_left: &mut usize,
    ) -> Result<(), ProgramError> {
        let processes: Vec<u32> = contestant.process().into_iter().collect();
        let mut runs: Vec<(Run, CpuUsage)> = Vec::new();
        loop {
            let meter = Meter::start(cpus, &processes);
            let run = contestant.run(traffic, handler, self.events)?;
            let spent = meter.stop();
            self.violations += run.violations;
            runs.push((run, spent));
            if !disturbed(&spent, cpus) || runs.len() > REPEATS_OF_A_RUN || *repeats_left == 0 {
                break;
            }
            *repeats_left -= 1;
        }
        self.dropped += runs.len() - 1;
        let least = runs.iter().min_by(|(_, a), (_, b)| a.others.total_cmp(&b.others));
        if let Some((run, spent)) = least {
            self.disturbed += usize::from(disturbed(spent, cpus));
            self.rates.push(self.events as f64 / run.seconds);
        }
        Ok(())
    }
}

fn disturbed(spent: &CpuUsage, cpus: &[CpuId]) -> bool {
    spent.others > QUIET && spent.time * (spent.others * cpus.len() as f64) > UNCERTAIN
}
