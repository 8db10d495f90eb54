//! The experiments and loads themselves, for real: in namespaces where they may be made, else over loopback.

use super::load::{Load, LoadSite};
use super::*;
use crate::requests::experiment::Part;
use crate::requests::run::Values;
use warmcore_costs::server::Waiting;
use warmcore_costs::socket::{LastUsed, SoftirqCpu};
use warmcore_runtime::server::Policy;
use warmcore_units::{PerSecond, Transport};

fn processors() -> Processors {
    let machine = warmcore_linux::Probe::new().machine().unwrap().machine;
    Processors::of(&machine).unwrap()
}

/// Runs one experiment.
fn run(experiment: RequestExperiment, processors: &Processors) -> Values {
    let (site, stop) = (Site::new().unwrap(), AtomicBool::new(false));
    let context =
        Context { site: &site, processors, service: Service::touching(4096, 64), flows: FLOWS, stop: &stop };
    context.run(experiment).unwrap().values
}

#[test]
fn every_experiment_gives_its_parts() {
    let processors = processors();
    let gap = Gap::ALL[1];
    let single = [Part::Idle, Part::Late, Part::Call, Part::Reply, Part::WorkerCpu];
    let here = SoftirqCpu::Reader;
    for waiting in [Waiting::Own, Waiting::Fifo, Waiting::Lifo] {
        let values = run(RequestExperiment::Alone { waiting, softirq: here, gap }, &processors);
        for part in single {
            assert!(values.contains_key(&(here, part)), "{waiting}: no {part:?}");
        }
        let burst = run(RequestExperiment::Burst { waiting, softirq: here }, &processors);
        for part in [Part::Call, Part::Reply, Part::WorkerCpu] {
            assert!(burst.contains_key(&(here, part)), "{waiting}, burst: no {part:?}");
        }
        let cpu = |values: &Values| values[&(here, Part::WorkerCpu)][0];
        assert!(cpu(&burst) > cpu(&values), "16 requests cost more than one");
    }
    if processors.kinds().contains(&SoftirqCpu::OtherCore) {
        let values = run(RequestExperiment::Turns { state: LastUsed::Elsewhere, gap }, &processors);
        for place in [here, SoftirqCpu::OtherCore] {
            for part in single {
                assert!(values.contains_key(&(place, part)), "in turns, {place}: no {part:?}");
            }
        }
    } else {
        println!("skipped: workers in turns, which want another core");
    }
}

#[test]
fn a_source_takes_a_processor_from_the_thread_on_it() {
    let values = run(RequestExperiment::Source, &processors());
    let time = |part| values.get(&(SoftirqCpu::Reader, part)).map(|times| times[0]);
    // On a busy machine no pause may be found around a request.
    if let (Some(stolen), Some(late)) = (time(Part::Stolen), time(Part::Late)) {
        assert!(stolen > 500.0 && late > 0.0, "{stolen} {late}");
    } else {
        println!("no pause was found: {values:?}");
    }
}

#[test]
fn a_load_is_answered_under_every_policy_and_by_the_worker_that_the_policy_names() {
    let (site, stop) = (LoadSite::new().unwrap(), AtomicBool::new(false));
    let machine = warmcore_linux::Probe::new().machine().unwrap().machine;
    let cpus = machine.usable_cores();
    let udp = Policy::UDP.map(|policy| (Transport::Udp, policy));
    let tcp = Policy::TCP.map(|policy| (Transport::Tcp, policy));
    for (transport, policy) in udp.into_iter().chain(tcp) {
        let load = Load {
            policy,
            cpus: cpus.clone(),
            service: Service::touching(0, 64).over(transport),
            rate: PerSecond(2_000.0),
            long: Duration::from_millis(200),
            seed: 1994,
        };
        let figures = site.run(&load, &stop).unwrap().expect("requests are answered");
        // Ten standard deviations of 400.
        assert!((200..=600).contains(&figures.requests), "{policy:?}, seed 1994: {figures:?}");
        assert!(figures.lost * 20 <= figures.requests, "{policy:?}: {figures:?}");
        assert!(figures.worker_cpu.0 > 0.0 && figures.call.0 > 0.0, "{figures:?}");
        let share = figures.here;
        match policy {
            // Loopback is received where it is sent, too.
            Policy::ByCpu => assert!(share > 0.99, "{transport}: {share}"),
            // Whoever runs when a connection comes may accept it.
            Policy::Exclusive => {}
            _ if cpus.len() > 1 => assert!(share < 1.0, "{transport}, {policy:?}: {share}"),
            _ => {}
        }
    }
}

#[test]
fn a_run_that_is_stopped_ends_soon() {
    let (site, stop) = (LoadSite::new().unwrap(), AtomicBool::new(true));
    let cpus = vec![processors().reader];
    let load = Load {
        policy: Policy::ByFlow,
        cpus,
        service: Service::touching(0, 64),
        rate: PerSecond(100.0),
        long: Duration::from_secs(60),
        seed: 1,
    };
    let began = Instant::now();
    assert_eq!(site.run(&load, &stop).unwrap(), None);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}
