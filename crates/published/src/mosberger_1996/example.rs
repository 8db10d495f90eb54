//! Measurements that are the source's own, for tests.

use super::points::{
    Build, Classified, Improvement, Measurements, Point, Protocols, Run, Saving, Stages, name,
};
use super::tables::{TABLE_1, TABLE_2, table_4, table_6, table_7, table_9};

/// What the source has, as if it had been found: three orders of builds that are not placed, and three blocks of round trips.
pub(super) fn of_the_source() -> Measurements {
    let points = Protocols::ALL.into_iter().flat_map(|stack| Build::ALL.map(|build| point(stack, build)));
    let saving = |(technique, instructions): (&str, u64)| Saving {
        technique: technique.to_owned(),
        instructions: i64::try_from(instructions).ok(),
        note: String::new(),
    };
    let [original, improved] = TABLE_2.map(|kernel| Run {
        instructions: kernel.instructions,
        issue_cycles: 0,
        stall_cycles: kernel.cycles,
        ..run(Protocols::TcpIp, Build::Std)
    });
    let at_distance = |cycles: u64| {
        let mcpi =
            |stack, build| (name(stack, build), table_7(stack, build).memory_cpi * cycles as f64 / 30.0);
        let all = Protocols::ALL.into_iter().flat_map(|stack| Build::ALL.map(|build| mcpi(stack, build)));
        (cycles, all.collect())
    };
    Measurements {
        machine: "a test".to_owned(),
        memory_cycles: 30,
        points: points.collect(),
        savings: TABLE_1.map(saving).to_vec(),
        improvement: Some(Improvement { original, improved }),
        stages: Some(Stages { ip_to_tcp: 437, tcp_to_user: 1004 }),
        classified: Protocols::ALL.map(|stack| Classified { stack, instructions: 60, cycles: 400 }).to_vec(),
        by_memory: [20, 30, 40].map(at_distance).to_vec(),
        missing: vec!["Throughput is not measured.".to_owned()],
    }
}

fn point(stack: Protocols, build: Build) -> Point {
    let runs = if build.is_placed() { 1 } else { 3 };
    let round_trips = [0.999, 1.0, 1.001].map(|noise| 1000.0 * round_trip(stack, build) * noise).to_vec();
    Point { stack, build, runs: vec![run(stack, build); runs], assumed: Vec::new(), round_trips }
}

/// A round trip in microseconds if both hosts have the build; in the source, RPC's server is always ALL.
fn round_trip(stack: Protocols, build: Build) -> f64 {
    let of = |build| table_4(stack, build)[0];
    match stack {
        Protocols::TcpIp => of(build),
        Protocols::Rpc => 2.0 * of(build) - of(Build::All),
    }
}

/// A run with the figures of Tables 6, 7 and 9.
fn run(stack: Protocols, build: Build) -> Run {
    let [instruction_cache, data_cache, board_cache] = table_6(stack, build);
    let costs = table_7(stack, build);
    let cycles = |cpi: f64| (cpi * costs.length as f64).round() as u64;
    let [without, with] = table_9(stack);
    let (unused, main_line) = match build {
        Build::Std => without,
        Build::Out => with,
        _ => (with.0 - 2.0, with.1),
    };
    Run {
        instructions: costs.length,
        issue_cycles: cycles(costs.instruction_cpi),
        stall_cycles: cycles(costs.memory_cpi),
        instruction_cache,
        data_cache,
        board_cache,
        unused: unused / 100.0,
        main_line,
        calls: if matches!(build, Build::Pin | Build::All) { 2 } else { 100 },
    }
}

/// The same for a stack's build, with `change` made to every run.
pub(super) fn changed(
    mut measurements: Measurements,
    of: (Protocols, Build),
    change: impl Fn(&mut Run),
) -> Measurements {
    let point = measurements.points.iter_mut().find(|point| (point.stack, point.build) == of);
    point.expect("every build is there").runs.iter_mut().for_each(change);
    measurements
}
