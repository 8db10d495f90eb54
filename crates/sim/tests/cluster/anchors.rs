//! What Falsafi 1998 states of single operations, measured on the whole machine.

use warmcore_sim::cluster::exchange::Exchange;
use warmcore_sim::cluster::microbenchmarks::RemoteReads;
use warmcore_sim::cluster::requests::RequestLoop;
use warmcore_sim::cluster::{Device, Machine, Options};

fn remote_read(machine: &Machine) -> f64 {
    RemoteReads::round_trip(machine, &Options::default()).expect("the program runs").0
}

#[test]
fn a_remote_read_takes_the_totals_of_table_5_1() {
    let hurricane = Device::Hurricane { processors: 1, mhz: 400 };
    let hurricane_1 = Device::Hurricane1 { dedicated: 1 };
    for (device, cycles) in [(Device::SComa {}, 440.0), (hurricane, 584.0), (hurricane_1, 1164.0)] {
        let measured = remote_read(&Machine::chapter_5(2, 1, device));
        // One of the reads meets the barrier's block on its way out of the block buffer.
        assert!((measured - cycles).abs() < 1.0, "{device:?}: {measured} instead of {cycles}");
    }
}

#[test]
fn a_remote_read_with_typhoon_1_takes_the_stated_round_trips() {
    for (block_bytes, cycles) in [(64, 1204.0), (128, 1490.0), (256, 2055.0)] {
        let machine = Machine { block_bytes, ..Machine::chapter_4(2, 1, Device::FIXED) };
        let measured = remote_read(&machine);
        let ratio = measured / cycles;
        assert!((0.98..1.02).contains(&ratio), "{block_bytes} bytes: {measured} instead of {cycles}");
    }
}

#[test]
fn requests_take_the_stated_round_trips() {
    let machine = Machine::chapter_4(2, 1, Device::FIXED);
    for (exchange, cycles) in [(Exchange::NullHandler, 680.0), (Exchange::FetchBlock, 2480.0)] {
        let measured = RequestLoop::round_trip(exchange, &machine).expect("the machine is possible").0;
        let ratio = measured as f64 / cycles;
        assert!((0.98..1.02).contains(&ratio), "{exchange:?}: {measured} instead of {cycles}");
    }
}
