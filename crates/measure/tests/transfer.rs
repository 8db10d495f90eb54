//! Transfers between namespaces that each test creates, with threads of the test as ends.

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use warmcore_linux::affinity;
use warmcore_linux::counters::{Event, Kernel, Source};
use warmcore_linux::fake::counters::{FakeCounter, FakeSource};
use warmcore_linux::net::privilege_missing;
use warmcore_measure::blocks::BlockDesign;
use warmcore_measure::transfer::{
    Direction, Ends, Experiment, Load, Network, Server, Site, TransferError, TransferFigures,
    TransferOptions, experiment,
};
use warmcore_measure::{Cycles, Model};
use warmcore_units::{Bytes, CpuId, PerSecond};

fn options(models: &[Model]) -> TransferOptions {
    let cpus: Vec<CpuId> = affinity::mask().expect("a mask").iter().take(2).collect();
    TransferOptions {
        connections: 2,
        cpus,
        ends: Ends::Threads,
        load: Load { direction: Direction::Transmit, size: Bytes::kib(64), rate: None },
        models: models.to_vec(),
        window: Duration::from_millis(300),
        // Other load on this machine does not matter here.
        blocks: BlockDesign { count: 2, max_foreign: 1.0, repeats: 0 },
    }
}

fn tried(options: &TransferOptions, site: &Site) -> Result<Experiment, TransferError> {
    counted(options, site, &Kernel::default())
}

fn counted(options: &TransferOptions, site: &Site, source: &dyn Source) -> Result<Experiment, TransferError> {
    let (mut seen, stop) = ((0, 0), AtomicBool::new(false));
    let result = experiment(options, site, source, &mut |done, of| seen = (done, of), &stop);
    if result.is_ok() {
        assert_eq!(seen, (seen.1, (options.models.len() + 1) * options.blocks.count));
    }
    result
}

fn lab(connections: u8, offloads: bool) -> Option<Site> {
    if let Some(missing) = privilege_missing() {
        println!("skipped: needs {missing}");
        return None;
    }
    Some(Site::Lab(Network::new(connections, offloads).unwrap_or_else(|error| panic!("{error}"))))
}

fn all_moved(experiment: &Experiment) {
    for results in experiment.results.iter().chain([&experiment.control]) {
        assert_eq!(results.blocks.len(), 2);
        for TransferFigures { throughput, cpu_use, .. } in &results.blocks {
            assert!(*throughput > 1e6 && (0.0..=1.5).contains(cpu_use), "{results:?}");
        }
    }
}

#[test]
fn every_model_moves_bytes_over_wires_of_its_own() {
    let Some(site) = lab(2, true) else { return };
    let two = affinity::mask().unwrap().len() > 1;
    let models: Vec<Model> = Model::ALL.into_iter().filter(|&model| two || model != Model::Crossed).collect();
    let experiment = tried(&options(&models), &site).unwrap_or_else(|error| panic!("{error}"));
    all_moved(&experiment);
    let named: Vec<Model> = experiment.results.iter().map(|results| results.model).collect();
    assert_eq!((named, experiment.control.model), (models, Model::None));
    let compared = experiment.compared(1, |figures| Some(figures.throughput)).expect("two blocks of both");
    assert!(compared.change.low <= compared.change.mean && compared.change.mean <= compared.change.high);
    assert_eq!(experiment.compared(0, |figures| Some(figures.throughput)), None, "the base has no base");
}

#[test]
fn bytes_move_in_the_other_direction_with_small_writes_and_without_offloads() {
    let Some(site) = lab(2, false) else { return };
    let load = Load { direction: Direction::Receive, size: Bytes(64), rate: None };
    let options = TransferOptions { load, ..options(&[Model::Full]) };
    all_moved(&tried(&options, &site).unwrap_or_else(|error| panic!("{error}")));
}

#[test]
fn a_rate_is_kept() {
    let Some(site) = lab(2, true) else { return };
    let load = Load { rate: Some(PerSecond(40e6)), size: Bytes::kib(4), direction: Direction::Transmit };
    let experiment = tried(&TransferOptions { load, ..options(&[Model::Full]) }, &site).unwrap();
    for figures in &experiment.results[0].blocks {
        // A sender that was delayed catches up, so its rate may be above for a moment.
        assert!((1e6..160e6).contains(&figures.throughput), "{figures:?}");
    }
}

/// Runs a server on loopback until `work` returns.
fn with_server(work: impl FnOnce(SocketAddr)) {
    let server = Server::bind("127.0.0.1:0".parse().unwrap()).expect("loopback is there");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let serving = scope.spawn(|| server.serve(&stop));
        work(server.address());
        stop.store(true, Ordering::Relaxed);
        serving.join().expect("no panic").expect("it is heard");
    });
}

#[test]
fn another_host_is_an_end_and_needs_no_privilege() {
    with_server(|address| {
        let site = Site::Host(address);
        for direction in Direction::ALL {
            let load = Load { direction, size: Bytes::kib(16), rate: None };
            let options = TransferOptions { load, ..options(&[Model::None, Model::ProcessOnly]) };
            all_moved(&tried(&options, &site).unwrap_or_else(|error| panic!("{error}")));
        }
        let refused = tried(&options(&[Model::None, Model::Full]), &site).unwrap_err().to_string();
        assert!(
            refused.contains("`full` places packets") && refused.contains("warmcore host apply"),
            "{refused}"
        );
    });
}

/// Uses fake counters, as of a machine whose processor counts.
#[test]
fn counts_are_reported_per_bit() {
    with_server(|address| {
        let all = FakeSource::zen()
            .with("cycles", FakeCounter::always_running(6_000_000_000))
            .with("instructions", FakeCounter::always_running(3_000_000_000))
            .with("l2_cache_req_stat.ic_dc_miss_in_l2", FakeCounter { step: 600_000, running: 0.6 });
        let (site, options) = (Site::Host(address), options(&[Model::None]));
        let experiment = counted(&options, &site, &all).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(experiment.cycles, Cycles::Counted);
        for figures in experiment.results.iter().flat_map(|results| &results.blocks) {
            let of = |event| figures.counted.get(event).expect("it is counted");
            let cycles = of(Event::Cycles);
            assert_eq!(figures.cycles_per_bit, Some(cycles));
            assert!((cycles / of(Event::Instructions) - 2.0).abs() < 1e-9, "{figures:?}");
            assert!((cycles / of(Event::L2Misses) - 6000.0).abs() < 1e-6, "{figures:?}");
            assert_eq!(figures.counted.get(Event::L3Misses), None);
        }
        let told = experiment.coverage.to_string();
        assert!(told.contains("counted in 60% of the time or more"), "{told}");
        assert!(told.contains("L3 misses are not counted: the system answered"), "{told}");

        let none = counted(&options, &site, &FakeSource::zen()).unwrap_or_else(|error| panic!("{error}"));
        assert!(!none.coverage.is_any() && none.cycles != Cycles::Counted, "{:?}", none.cycles);
    });
}

#[test]
fn an_absent_or_foreign_host_is_reported() {
    let vacant = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let absent = tried(&options(&[Model::None]), &Site::Host(vacant)).unwrap_err();
    assert!(absent.to_string().contains("cannot reach 127.0.0.1"), "{absent}");

    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = stranger.local_addr().unwrap();
    let hang_up = thread::spawn(move || drop(stranger.accept()));
    let gone = tried(&options(&[Model::None]), &Site::Host(address)).unwrap_err();
    assert!(matches!(gone, TransferError::Ended { .. }), "{gone}");
    hang_up.join().unwrap();
}

#[test]
fn a_remote_controller_cannot_make_a_host_connect() {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpStream;
    with_server(|address| {
        let ask = |line: &str| {
            let mut stream = TcpStream::connect(address).unwrap();
            writeln!(stream, "{line}").unwrap();
            let mut answer = String::new();
            BufReader::new(stream).read_line(&mut answer).unwrap();
            answer
        };
        assert!(ask("connect 127.0.0.1:22 send 64 - -").starts_with("failed this host only listens"));
        assert!(ask("nonsense").starts_with("failed expected `listen"));
        assert!(ask("listen 0.0.0.0 receive - - -").starts_with("listening "), "at its own address");
        assert!(ask(&"x".repeat(4096)).is_empty(), "a line without end is not read");
    });
}

#[test]
fn a_stopped_experiment_ends_early() {
    let stop = AtomicBool::new(true);
    with_server(|address| {
        let stopped = experiment(
            &options(&[Model::None]),
            &Site::Host(address),
            &Kernel::default(),
            &mut |_, _| {},
            &stop,
        );
        assert!(matches!(stopped, Err(TransferError::Interrupted)));
    });
}
