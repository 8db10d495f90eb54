//! Coherence over the whole machine: the random tester on every device, and on machines of other sizes.

use crate::tester::Tester;
use warmcore_coherence::Message;
use warmcore_policy::pdq::Design;
use warmcore_sim::cluster::{Device, Error, Machine, Options, Outcome, run};

pub(crate) fn machines(nodes: u32, processors: u32) -> Vec<Machine> {
    let hurricane = |processors, mhz| Device::Hurricane { processors, mhz };
    let devices = [
        Device::SComa {},
        hurricane(1, 400),
        hurricane(4, 200),
        Device::Hurricane1 { dedicated: 1 },
        Device::Hurricane1 { dedicated: 2 },
        Device::MULT,
    ];
    let mut machines: Vec<Machine> =
        devices.map(|device| Machine::chapter_5(nodes, processors, device)).into();
    machines.extend(
        [Device::FIXED, Device::FLOATING].map(|policy| Machine::chapter_4(nodes, processors, policy)),
    );
    machines
}

pub(crate) fn test(machine: &Machine, seed: u64) -> Result<Outcome, Error> {
    let tester = Tester { seed, operations: 400, groups: 6 };
    run(machine, &tester, &Options::within(2_000_000_000))
}

#[test]
fn every_load_finds_what_coherence_allows() {
    for (number, machine) in (0_u64..).zip(machines(3, 3).into_iter().chain(machines(4, 1))) {
        for seed in 10 * number..10 * number + 3 {
            let outcome = test(&machine, seed);
            assert!(outcome.is_ok(), "seed {seed} on {machine:?}: {outcome:?}");
        }
    }
}

#[test]
fn blocks_caches_and_dispatch_of_any_size_are_coherent() {
    let base = Machine::chapter_5(3, 2, Device::Hurricane { processors: 2, mhz: 400 });
    let tiny_caches = Machine { cache_bytes: 512, block_buffer_bytes: 64, ..base.clone() };
    let small_blocks = Machine { block_bytes: 32, line_bytes: 32, ..base.clone() };
    let large_blocks = Machine { block_bytes: 1024, ..base.clone() };
    let bound = Machine { dispatch: Some(Design::StaticBinding), ..base.clone() };
    let rebound = Machine { dispatch: Some(Design::DynamicBinding { queues: 5 }), ..base.clone() };
    let short_ids = Design::DynamicDemultiplexing { window: Some(2), id_bits: Some(1) };
    let narrow = Machine { dispatch: Some(short_ids), ..base.clone() };
    let exact = Machine { run_ahead: 0, ..base.clone() };
    let far = Machine { run_ahead: 10_000, ..base };
    for (seed, machine) in
        (100..).zip([tiny_caches, small_blocks, large_blocks, bound, rebound, narrow, exact, far])
    {
        let outcome = test(&machine, seed);
        assert!(outcome.is_ok(), "seed {seed} on {machine:?}: {outcome:?}");
    }
}

#[test]
fn pages_make_way_for_others_and_nothing_is_lost() {
    for (number, machine) in (200_u64..).zip(machines(3, 3)) {
        for frames in [1, 2, 5] {
            let machine = Machine { page_cache_pages: Some(frames), ..machine.clone() };
            let outcome = test(&machine, number)
                .unwrap_or_else(|error| panic!("seed {number} on {machine:?}: {error}"));
            let unmapped: u64 = outcome.nodes.iter().map(|node| node.pages_unmapped).sum();
            let writebacks = outcome.network.messages.get(&Message::Writeback).copied().unwrap_or(0);
            assert!(
                unmapped > 100 && writebacks > 10,
                "{unmapped} pages and {writebacks} blocks on {machine:?}"
            );
        }
    }
}

#[test]
fn interrupts_wait_for_the_end_of_critical_sections() {
    let multiplexed = [Machine::chapter_4(3, 2, Device::FLOATING), Machine::chapter_5(3, 2, Device::MULT)];
    for machine in multiplexed {
        let outcome = test(&machine, 300).expect("it runs");
        let put_off: u64 = outcome.nodes.iter().map(|node| node.device.put_off).sum();
        let interrupts: u64 = outcome.processors.iter().map(|processor| processor.interrupts.times).sum();
        assert!(0 < put_off && put_off < interrupts, "{put_off} of {interrupts} on {machine:?}");
    }
    let fixed = test(&Machine::chapter_4(3, 2, Device::FIXED), 300).expect("it runs");
    assert!(fixed.nodes.iter().all(|node| node.device.put_off == 0));
}

#[test]
fn a_page_cache_that_holds_everything_changes_nothing() {
    for machine in machines(3, 2) {
        let large = Machine { page_cache_pages: Some(1000), ..machine.clone() };
        assert_eq!(test(&large, 9), test(&machine, 9), "{machine:?}");
    }
}

#[test]
fn many_processors_that_also_run_the_protocol_do_not_starve() {
    // All want the same few blocks, and execute each other's demands for them.
    let machine = Machine::chapter_5(8, 12, Device::MULT);
    let tester = Tester { seed: 77, operations: 40, groups: 2 };
    let outcome = run(&machine, &tester, &Options::within(100_000_000));
    assert!(outcome.is_ok(), "{:?}", outcome.err());
}

#[test]
fn the_same_run_gives_the_same_bits() {
    for machine in machines(3, 2) {
        assert_eq!(test(&machine, 5), test(&machine, 5), "{machine:?}");
    }
}

#[test]
#[ignore = "takes minutes"]
fn many_seeds_are_coherent() {
    for seed in 1000..1040 {
        for machine in machines(4, 4) {
            let outcome = test(&machine, seed);
            assert!(outcome.is_ok(), "seed {seed} on {machine:?}: {outcome:?}");
        }
    }
}
