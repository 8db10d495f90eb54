//! A quick reproduction, from the plan to its documents.

mod falsafi;

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use warmcore_costs::profile::{ApproachTimes, Measured};
use warmcore_costs::{Approach, Profile};
use warmcore_published::salehi_1994::{
    CurveSetting, FigureName, ReproduceError, ReproductionOptions, SimulationPlan, Simulations, columns,
    reproduce, source,
};
use warmcore_published::{ClaimVerdict, Reproduction, Summary, document};
use warmcore_record::Manifest;
use warmcore_scenario::{Parallelism, ProcessorPolicy, ProfileSource};
use warmcore_units::Nanos;

fn options(figures: &[FigureName]) -> ReproductionOptions {
    ReproductionOptions {
        figures: Some(figures.iter().copied().collect::<BTreeSet<_>>()),
        ..ReproductionOptions::quick()
    }
}

fn simulated(options: ReproductionOptions) -> Simulations {
    reproduce(options, |_| None, |_, _| Ok(()), |_, _| (), &AtomicBool::new(false)).expect("a sound profile")
}

fn reproduced(options: ReproductionOptions) -> Reproduction<Simulations> {
    let figures = options.wanted().map(FigureName::name).collect();
    source().conclude(simulated(options), figures)
}

#[test]
fn service_times_at_capacity_are_the_published_ones() {
    let reproduction = reproduced(options(&[FigureName::F15, FigureName::Hosts]));
    for (approach, policy, published) in [
        (Parallelism::Locking, ProcessorPolicy::Mru, 125.0),
        (Parallelism::Locking, ProcessorPolicy::WiredStreams, 103.0),
        (Parallelism::Ips, ProcessorPolicy::Mru, 57.4),
        (Parallelism::Ips, ProcessorPolicy::WiredStreams, 57.4),
    ] {
        let service = reproduction.evidence.service(CurveSetting::new(approach, policy)).unwrap();
        assert!((service.mean / published - 1.0).abs() <= 0.005, "{approach}, {policy}: {}", service.mean);
    }
    assert_eq!(document(&reproduction, Manifest::now("warmcore", "0")).validate(), Ok(()));
}

#[test]
fn an_interrupted_and_resumed_run_gives_the_same_results() {
    let asked = || options(&[FigureName::F12]);
    let manifest = Manifest::now("warmcore", "0");
    let bytes =
        |simulations: &Simulations| columns::points(simulations).unwrap().to_parquet(&manifest).unwrap();
    let saved = Mutex::new(HashMap::new());
    let stop = AtomicBool::new(false);
    let name = |scenario: &warmcore_scenario::PacketScenario| serde_json::to_string(scenario).unwrap();
    let interrupted = reproduce(
        asked(),
        |_| None,
        |scenario, result| {
            let mut saved = saved.lock().unwrap();
            saved.insert(name(scenario), *result);
            stop.store(saved.len() >= 5, Ordering::Relaxed);
            Ok(())
        },
        |_, _| (),
        &stop,
    );
    assert!(matches!(interrupted, Err(ReproduceError::Interrupted)));

    let saved = saved.into_inner().unwrap();
    let anew = Mutex::new(0);
    let resumed = reproduce(
        asked(),
        |scenario| saved.get(&name(scenario)).copied(),
        |scenario, _| {
            assert!(!saved.contains_key(&name(scenario)), "a saved point is not simulated again");
            *anew.lock().unwrap() += 1;
            Ok(())
        },
        |_, _| (),
        &AtomicBool::new(false),
    );
    let all = SimulationPlan::new(&asked()).unwrap().scenarios().count();
    assert_eq!(*anew.lock().unwrap() + saved.len(), all);
    assert_eq!(bytes(&resumed.unwrap()), bytes(&simulated(asked())));
}

#[test]
fn every_figure_has_a_valid_section_and_claims_of_the_figures_asked_for() {
    let figures = [
        FigureName::Table2,
        FigureName::F4,
        FigureName::F7a,
        FigureName::F8a,
        FigureName::F11a,
        FigureName::F15,
    ];
    let reproduction = reproduced(options(&figures));
    let document = document(&reproduction, Manifest::now("warmcore", "0"));
    assert_eq!(document.validate(), Ok(()));
    for figure in figures {
        let anchor = format!("figure-{}", figure.name());
        assert!(document.sections.iter().any(|section| section.anchor == anchor), "{anchor}");
    }
    // Table 2 is a table; the others are charts.
    assert_eq!(document.charts().count(), figures.len() - 1);
    for concluded in &reproduction.claims {
        assert!(
            concluded.claim.needs.iter().all(|name| figures.iter().any(|figure| figure.name() == *name)),
            "{}",
            concluded.claim.id
        );
        let explained = concluded.verdict == ClaimVerdict::Holds || !concluded.reason().is_empty();
        assert!(explained && !concluded.our_values().is_empty(), "{}", concluded.claim.id);
    }
    let summary = Summary::new(&reproduction);
    assert_eq!(summary.columns().unwrap().rows(), reproduction.claims.len());
    assert_eq!(summary.claims.len(), reproduction.claims.len());
    let words = format!("{document:?}");
    assert!(
        !words.contains("The source ") && !words.contains("In the source"),
        "a reader must be told which paper"
    );
}

#[test]
fn points_are_planned_once_and_shared_between_figures() {
    let count = |figures: &[FigureName]| SimulationPlan::new(&options(figures)).unwrap().scenarios().count();
    assert_eq!(count(&[FigureName::F7a, FigureName::F8a]), count(&[FigureName::F7a]));
    assert_eq!(count(&[FigureName::F15]), 0);
    let plan = SimulationPlan::new(&options(&[FigureName::F7a, FigureName::F12])).unwrap();
    let distinct: BTreeSet<String> = plan.scenarios().map(|s| serde_json::to_string(s).unwrap()).collect();
    assert_eq!(distinct.len(), plan.scenarios().count());
}

/// The machine of Salehi 1994 with every time divided by `factor`.
fn faster(factor: f64) -> Profile {
    let mut profile = Profile { name: "a faster one".to_owned(), ..Profile::sgi_challenge_xl() };
    let shorten = |time: &mut Measured| time.mean = Nanos(time.mean.0 / factor);
    let each = |times: &mut ApproachTimes| {
        shorten(&mut times.fully_cold);
        for receive in times.cached.values_mut().chain(times.migrates.values_mut()) {
            shorten(&mut receive.hot);
            receive.cold.iter_mut().for_each(shorten);
        }
    };
    each(&mut profile.times.locking);
    each(&mut profile.times.independent_stacks);
    profile
}

#[test]
fn another_machine_is_drawn_at_its_own_rates_and_not_judged() {
    let figures = [FigureName::Table2, FigureName::F12];
    let source = ProfileSource::File("mine.toml".into());
    let reproduction = reproduced(ReproductionOptions { profile: faster(10.0), source, ..options(&figures) });
    assert!(reproduction.claims.iter().all(|concluded| concluded.verdict == ClaimVerdict::AnotherMachine));
    let wired = CurveSetting::new(Parallelism::Ips, ProcessorPolicy::WiredStreams);
    let curve = reproduction.evidence.get(wired).unwrap();
    assert!((curve.capacity.mean / (80.0 / 57.4e-6) - 1.0).abs() < 0.01, "{}", curve.capacity.mean);
    let last = curve.points.last().unwrap().rate.0;
    assert!(last > 0.9 * curve.capacity.mean, "{last}");
    let document = document(&reproduction, Manifest::now("warmcore", "0"));
    assert_eq!(document.validate(), Ok(()));
    assert!(document.title.contains("a faster one"), "{}", document.title);
}

#[test]
fn a_profile_of_one_processor_is_refused_before_anything_is_simulated() {
    let mut profile = Profile::sgi_challenge_xl();
    profile.free_memory = None;
    profile.times.locking.migrates.clear();
    let refused =
        SimulationPlan::new(&ReproductionOptions { profile, ..options(&[FigureName::F12]) }).unwrap_err();
    assert!(matches!(refused, ReproduceError::Profile(_)), "{refused}");
    let mut broken = Profile::sgi_challenge_xl();
    broken.times.locking.fully_cold.mean = Nanos(-1.0);
    let refused =
        SimulationPlan::new(&ReproductionOptions { profile: broken, ..options(&[FigureName::F12]) })
            .unwrap_err();
    assert!(refused.to_string().contains(Approach::Locking.short().to_lowercase().as_str()), "{refused}");
}

/// The verdicts of a full run: `id<TAB>verdict`. To regenerate them: `warmcore reproduce salehi-1994 --json |
/// jq -r '.claims[] | [.id, .verdict] | @tsv'`.
const FULL: &str = include_str!("salehi_1994_full.tsv");

/// A quick run must give the verdict of the full run, or leave the claim undecided.
#[test]
fn a_quick_run_contradicts_no_verdict_of_the_full_run() {
    let full: HashMap<&str, &str> = FULL.lines().filter_map(|line| line.split_once('\t')).collect();
    let quick = reproduced(ReproductionOptions::quick());
    assert_eq!(quick.claims.len(), full.len());
    let differing: Vec<String> = quick
        .claims
        .iter()
        .filter(|one| one.verdict != ClaimVerdict::Undecided && one.verdict.to_string() != full[one.claim.id])
        .map(|one| format!("{}: {}, in full {}", one.claim.id, one.verdict, full[one.claim.id]))
        .collect();
    assert!(differing.is_empty(), "{differing:#?}");
    let undecided = quick.claims.iter().filter(|one| one.verdict == ClaimVerdict::Undecided).count();
    assert!(undecided <= quick.claims.len() / 3, "{undecided} undecided: a quick run should say something");

    // Claims that once seemed to hold because a curve was cut, one side was looked at, or only a sign was
    // compared; values that merely touch the published range; and two that were judged where the text says
    // nothing.
    let verdict = |id: &str| quick.claims.iter().find(|one| one.claim.id == id).expect(id).verdict;
    for id in ["other-hosts", "hybrid-best"] {
        assert_eq!(verdict(id), ClaimVerdict::HoldsPartly, "{id}");
    }
    for id in ["ips-delay-50", "ips-memory", "locking-mru-25"] {
        assert_eq!(verdict(id), ClaimVerdict::Differs, "{id}");
    }
    assert_eq!(verdict("stream-locking-over-ips"), ClaimVerdict::SourceInconsistent);
    // The answer depends on where the curves end, which the text does not say.
    assert_eq!(verdict("latency-bound"), ClaimVerdict::Undecided);
    // "Around 2.5 µs" is no more exact than "about" is elsewhere.
    assert_eq!(verdict("lock-migration-factor"), ClaimVerdict::Undecided);
    for id in ["locking-mru-except-high", "ips-mru-best-when-idle"] {
        assert_eq!(verdict(id), ClaimVerdict::Holds, "{id}");
    }
}
