//! What the runtime costs: packets per second at saturation, and delays below it.

use std::sync::Arc;
use std::time::Duration;
use warmcore_costs::{ExecutionModel, Profile};
use warmcore_runtime::{Idle, Memory, Options, Overload, Shutdown, run};
use warmcore_scenario::{Parallelism, ProcessorPolicy, Scheduling, Traffic};
use warmcore_units::{CpuId, Nanos, PerSecond, StreamId};
use warmcore_workload::Key;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rate: Option<f64> = arguments.first().and_then(|rate| rate.parse().ok());
    let workers: u32 = arguments.get(1).and_then(|n| n.parse().ok()).unwrap_or(2);
    let profile = Profile::sgi_challenge_xl();
    for approach in [Parallelism::Locking, Parallelism::Ips, Parallelism::Hybrid] {
        for policy in [
            ProcessorPolicy::Mru,
            ProcessorPolicy::Lru,
            ProcessorPolicy::WiredStreams,
            ProcessorPolicy::HashStealing,
            ProcessorPolicy::Adaptive,
        ] {
            let scheduling = Scheduling { approach, policy, ..Scheduling::default() };
            let streams = 8;
            let traffic = Traffic { streams, ..Traffic::default() };
            let open = traffic.open(std::path::Path::new(".")).unwrap();
            let key = Key { seed: 1, point: 0, replication: 0 };
            let mut driver = match rate {
                Some(rate) => Memory::scheduled(
                    streams,
                    64,
                    open.source(PerSecond(rate), key).unwrap(),
                    Nanos::from_secs(1.0),
                ),
                None => Memory::saturating(streams, 64, open.mix(key).unwrap()),
            };
            let options = Options {
                cpus: (0..workers).map(CpuId).collect(),
                scheduling,
                model: Arc::new(ExecutionModel::new(&profile, approach.costs(), workers).unwrap()),
                streams,
                stacks: workers,
                link: Memory::LINK,
                verify_udp_checksum: false,
                idle: Idle::Poll,
                overload: if rate.is_some() { Overload::Drop } else { Overload::HoldBack },
                capacity: if rate.is_some() { 100_000 } else { 64 },
                shutdown: Shutdown::Drain,
                instead: None,
                stall: Nanos::from_micros(50.0),
                seed: 1,
            };
            let flows: Vec<_> = (0..streams).map(|stream| Memory::flow(StreamId(stream))).collect();
            let handler = |delivery: &warmcore_stack::Delivery<'_>, _: &mut warmcore_runtime::Context<'_>| {
                std::hint::black_box(delivery.payload.len());
            };
            let report = run(&options, &mut driver, &flows, &handler, |_| {
                std::thread::sleep(Duration::from_millis(400));
            })
            .unwrap();
            let steady = report.steady();
            println!(
                "{:40} {:>8.3} M/s  delay {} p50 {} p99 {}  service {}  disturbed {} of {}",
                scheduling.to_string(),
                steady.throughput().mean.0 / 1e6,
                steady.delay().mean,
                steady.quantile(0.5).mean,
                steady.quantile(0.99).mean,
                steady.service().mean,
                steady.disturbed,
                steady.duration().secs() * 100.0,
            );
            let mut by_number =
                std::collections::BTreeMap::<u64, Vec<&warmcore_runtime::tally::Block>>::new();
            for worker in &report.workers {
                for block in &worker.last {
                    by_number.entry(block.number).or_default().push(block);
                }
            }
            let mut best: Vec<(u64, f64)> = by_number
                .values()
                .map(|blocks| {
                    let packets: u64 = blocks.iter().map(|block| block.packets()).sum();
                    let busy: f64 = blocks.iter().map(|block| block.busy().0).sum();
                    (packets, busy / packets as f64)
                })
                .collect();
            best.sort_unstable_by_key(|best| std::cmp::Reverse(best.0));
            let (packets, service) = best[best.len() / 10];
            println!(
                "   a good block: {:.3} M/s, {:.0} ns of a worker each, service {service:.0} ns",
                packets as f64 / 1e4,
                f64::from(workers) * 1e7 / packets as f64
            );
            for (situation, served) in steady.situations() {
                print!("   {situation:?} {} {}", served.packets, served.time / served.packets as f64);
            }
            println!();
        }
    }
}
