//! Errors that a comparison must detect. They are put into the prediction or into the measurement. The
//! measurement is simulated with known costs, so that only the injected error separates the two.

use super::figures::{LoadFigures, RunFigures};
use super::judge::Judgement::{self, Good, Off};
use super::live::Testbed;
use super::point::{JudgedQuantity, PredictionModel};
use super::quiet::ObservedRun;
use super::{CompareError, Comparison, Loads, Request, compare_on};
use warmcore_costs::profile::Measured;
use warmcore_costs::{Profile, Situation};
use warmcore_scenario::{PacketScenario, Parallelism, ProcessorPolicy, QueueRule, Scheduling};
use warmcore_sim::packet::simulate;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// The runtime's cost per packet on the simulated machine, if workers share a dispatcher.
const COST_SHARED: Nanos = Nanos(5e3);
/// The same if each worker decides alone.
const COST_ALONE: Nanos = Nanos(2e3);

fn deciding(scheduling: &Scheduling) -> Nanos {
    if *scheduling == WIRED() { COST_ALONE } else { COST_SHARED }
}

/// A machine whose costs are known.
struct Simulated {
    truth: Profile,
    /// Its queue rule, whatever the scenario says.
    queue: Option<QueueRule>,
    runs: u64,
}

impl Simulated {
    fn new(truth: Profile) -> Self {
        Self { truth, queue: None, runs: 0 }
    }
}

impl Testbed for Simulated {
    fn run(&mut self, scenario: &PacketScenario) -> Result<ObservedRun<Option<RunFigures>>, CompareError> {
        self.runs += 1;
        let mut scenario = PacketScenario { seed: 1_000 + self.runs, ..scenario.clone() };
        let deciding = deciding(&scenario.scheduling);
        scenario.effects.decision_ns = deciding.0;
        scenario.scheduling.queue = self.queue.unwrap_or(scenario.scheduling.queue);
        let rate = scenario.rate_per_s;
        scenario.rate_per_s = rate.or(Some(PerSecond(1_000.0)));
        let result = simulate(&scenario, &self.truth)?;
        let exactly = |time: Nanos| Estimate::new(time, Nanos::ZERO);
        let observed = result.outcome.map(|outcome| {
            let all: u64 = outcome.situations.iter().sum();
            let service = if rate.is_some() { outcome.service } else { result.capacity.service };
            let figures = LoadFigures {
                delay: outcome.delay,
                p50: outcome.quantiles.p50,
                p99: outcome.quantiles.p99,
                stack: exactly(service.mean - deciding),
                situations: outcome.situations.map(|packets| packets as f64 / all as f64),
            };
            let throughput = if rate.is_some() { outcome.throughput } else { result.capacity.rate.mean };
            RunFigures { figures, overhead: exactly(deciding), throughput }
        });
        Ok(ObservedRun { outcome: observed, disturbed: 0.0, near: true })
    }
}

fn scheduling(approach: Parallelism, policy: ProcessorPolicy) -> Scheduling {
    Scheduling { approach, policy, ..Scheduling::default() }
}

/// Compares `machine` with what `profile` predicts for it.
fn compared(
    mut machine: Simulated,
    profile: &Profile,
    schedulings: &[Scheduling],
    loads: Loads,
) -> Comparison {
    let mut scenario = PacketScenario { scheduling: schedulings[0], ..PacketScenario::default() };
    scenario.traffic.streams = 16;
    scenario.run.precision = 0.01;
    let request = Request { scenario, schedulings: schedulings.to_vec(), loads };
    let traffic = request.scenario.traffic.generated().unwrap();
    compare_on(&mut machine, &request, &traffic, profile, |_| ()).unwrap()
}

fn judged(comparison: &Comparison, quantity: JudgedQuantity) -> Vec<Option<Judgement>> {
    let points = comparison.compared.iter().flat_map(|compared| &compared.points);
    points.map(|point| point.judged(quantity, PredictionModel::Caches)).collect()
}

fn verdicts(comparison: &Comparison) -> Vec<Option<Judgement>> {
    let points = comparison.compared.iter().flat_map(|compared| &compared.points);
    points.map(|point| point.judgement(PredictionModel::Caches)).collect()
}

/// `profile` with every time replaced by `change` of a hot and a cold time.
fn changed(mut profile: Profile, change: impl Fn(Nanos, Nanos) -> Nanos) -> Profile {
    let set = |measured: &mut Measured, hot: Nanos| measured.mean = change(hot, measured.mean);
    for times in [&mut profile.times.locking, &mut profile.times.independent_stacks] {
        let warmest = times.cached[&Situation::default().experiment].hot.mean;
        set(&mut times.fully_cold, warmest);
        for receive in times.cached.values_mut().chain(times.migrates.values_mut()) {
            let hot = receive.hot.mean;
            receive.cold.iter_mut().for_each(|cold| set(cold, hot));
            set(&mut receive.hot, hot);
        }
    }
    profile
}

/// A scheduling under which each worker decides alone.
const WIRED: fn() -> Scheduling = || scheduling(Parallelism::Ips, ProcessorPolicy::WiredStreams);

#[test]
fn predictions_with_the_true_costs_are_good() {
    let truth = Profile::sgi_challenge_xl();
    let ways = [WIRED(), scheduling(Parallelism::Ips, ProcessorPolicy::Mru)];
    let comparison = compared(Simulated::new(truth.clone()), &truth, &ways, Loads::Fractions(vec![0.2, 0.5]));
    // Each kind of dispatcher has its own costs.
    let costs: Vec<_> = comparison.costs.iter().map(|costs| (costs.alone, costs.deciding.mean)).collect();
    assert_eq!(costs, [(true, COST_ALONE), (false, COST_SHARED)]);
    for costs in &comparison.costs {
        assert!((costs.starting.mean - costs.deciding.mean).0.abs() < 4e3, "{:?}", costs.starting);
    }
    assert_eq!(verdicts(&comparison), [Some(Good); 4]);
    let differences = super::differences::differences(&comparison.compared);
    assert_eq!(differences.len(), 2);
    assert!(differences.iter().all(|difference| difference.judged() == Good), "{differences:?}");
}

#[test]
fn a_profile_of_a_slower_machine_is_caught_at_every_load() {
    let truth = Profile::sgi_challenge_xl();
    let slower = changed(truth.clone(), |_, time| time * 1.5);
    let comparison = compared(Simulated::new(truth), &slower, &[WIRED()], Loads::Fractions(vec![0.2, 0.5]));
    assert_eq!(judged(&comparison, JudgedQuantity::Stack), [Some(Off); 2]);
    assert_eq!(verdicts(&comparison), [Some(Off); 2]);
}

/// The error is 1.5 times the limit. The mean delay, of which the stack is only a part, may still be good;
/// therefore a point is good only if its time in the stack is good too.
#[test]
fn a_profile_that_is_off_by_15_per_cent_is_caught() {
    let truth = Profile::sgi_challenge_xl();
    for factor in [0.85, 1.15] {
        let other = changed(truth.clone(), |_, time| time * factor);
        let machine = Simulated::new(truth.clone());
        let comparison = compared(machine, &other, &[WIRED()], Loads::Fractions(vec![0.5]));
        assert_eq!(judged(&comparison, JudgedQuantity::Stack), [Some(Off)], "{factor}");
        assert_eq!(verdicts(&comparison), [Some(Off)], "{factor}");
    }
}

/// An error within the uncertainty of the costs cannot be detected. A profile whose times are known to 8% may
/// be off by 15% unnoticed, but it is not called good either.
#[test]
fn an_error_of_15_per_cent_is_undecided_where_costs_are_hardly_better_known() {
    let truth = Profile::sgi_challenge_xl();
    let mut vague = changed(truth.clone(), |_, time| time * 1.15);
    for receive in vague.times.independent_stacks.cached.values_mut() {
        receive.hot.half_width = Some(receive.hot.mean * 0.08);
    }
    let comparison = compared(Simulated::new(truth), &vague, &[WIRED()], Loads::Fractions(vec![0.5]));
    assert_eq!(judged(&comparison, JudgedQuantity::Stack), [Some(Judgement::Undecided)]);
}

#[test]
fn a_profile_without_cold_caches_is_caught_where_they_decide() {
    let truth = Profile::sgi_challenge_xl();
    let hot = changed(truth.clone(), |hot, _| hot);
    let rates = Loads::Rates(vec![PerSecond(100.0), PerSecond(1_000.0)]);
    let comparison = compared(Simulated::new(truth.clone()), &hot, &[WIRED()], rates.clone());
    assert_eq!(verdicts(&comparison), [Some(Off); 2]);
    let comparison = compared(Simulated::new(truth), &Profile::sgi_challenge_xl(), &[WIRED()], rates);
    assert_eq!(verdicts(&comparison), [Some(Good); 2]);
}

#[test]
fn the_null_model_is_off_where_caches_decide() {
    let truth = Profile::sgi_challenge_xl();
    let rates = Loads::Rates(vec![PerSecond(100.0)]);
    let comparison = compared(Simulated::new(truth.clone()), &truth, &[WIRED()], rates);
    assert_eq!(comparison.compared[0].points[0].judgement(PredictionModel::Null), Some(Off));
}

#[test]
fn another_order_of_waiting_is_caught() {
    let truth = Profile::sgi_challenge_xl();
    let hybrid = [scheduling(Parallelism::Hybrid, ProcessorPolicy::Mru)];
    let machine = |queue| Simulated { queue: Some(queue), ..Simulated::new(truth.clone()) };
    let loads = Loads::Fractions(vec![0.95]);
    let right = compared(machine(QueueRule::Fifo), &truth, &hybrid, loads.clone());
    assert_ne!(verdicts(&right), [Some(Off)]);
    let wrong = compared(machine(QueueRule::SameStreamFirst), &truth, &hybrid, loads);
    assert_eq!(verdicts(&wrong), [Some(Off)]);
    assert_eq!(judged(&wrong, JudgedQuantity::P99), [Some(Off)]);
}
