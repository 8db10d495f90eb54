//! Both formats, with all byte orders and time resolutions.

use crate::writer::{MICROS, MODIFIED, NANOS, Order, Pcapng, arp, ethernet, pcap, udp};
use crate::{packets, streams};
use warmcore_units::{Nanos, PerSecond};
use warmcore_workload::{Arrivals, Direction, Trace};

fn times(trace: &Trace) -> Vec<f64> {
    packets(trace).iter().map(|packet| packet.at.0).collect()
}

#[test]
fn pcap_is_read_in_every_resolution_and_byte_order() {
    let frames = |second: u32| vec![(1_700_000_000, 999_999, udp(1)), (1_700_000_001, second, udp(2))];
    for (magic, order, expected) in [
        (MICROS, Order::Little, 1_000.0),
        (MICROS, Order::Big, 1_000.0),
        (MODIFIED, Order::Little, 1_000.0),
        (NANOS, Order::Little, 999_000_001.0),
        (NANOS, Order::Big, 999_000_001.0),
    ] {
        let trace = Trace::parse(&pcap(magic, order, 1, &frames(0))).unwrap();
        assert_eq!(times(&trace), [0.0, expected], "{magic:x} {order:?}");
        assert_eq!(streams(&trace), [0, 1]);
    }
}

#[test]
fn pcapng_is_read_in_both_byte_orders_with_padding_options_and_unknown_blocks() {
    for order in Order::BOTH {
        let mut file = Pcapng::new(order);
        let odd = [udp(1), vec![0]].concat();
        file.interface(1, &[(2, b"eth0")]).block(0x0bad, &[1, 2, 3, 4]).packet(0, 5, &odd, None);
        file.block(5, &[0; 12]).packet(0, 7, &udp(2), None);
        let trace = Trace::parse(&file.bytes).unwrap();
        assert_eq!(times(&trace), [0.0, 2_000.0], "{order:?}");
        assert_eq!(packets(&trace)[0].bytes, 61);
    }
}

/// The same moment on three interfaces: in microseconds, in 2^-10 seconds, and in nanoseconds with an offset
/// of a second (and one nanosecond later).
#[test]
fn interfaces_have_their_own_resolutions_and_offsets() {
    for order in Order::BOTH {
        let offset = match order {
            Order::Little => 1_i64.to_le_bytes(),
            Order::Big => 1_i64.to_be_bytes(),
        };
        let mut file = Pcapng::new(order);
        file.interface(1, &[]).interface(1, &[(9, &[0x8a])]).interface(1, &[(9, &[9]), (14, &offset)]);
        file.packet(0, 2_500_000, &udp(1), None).packet(1, 2_560, &udp(2), None);
        file.packet(2, 1_500_000_001, &udp(3), None);
        assert_eq!(times(&Trace::parse(&file.bytes).unwrap()), [0.0, 0.0, 1.0], "{order:?}");
    }
}

#[test]
fn each_section_has_its_own_byte_order_and_interfaces() {
    let mut file = Pcapng::new(Order::Little);
    file.interface(1, &[]).packet(0, 1, &udp(1), None);
    let mut other = Pcapng::new(Order::Big);
    other.interface(1, &[(9, &[9])]).packet(0, 3_000, &udp(2), None);
    let both = [file.bytes, other.bytes].concat();
    assert_eq!(times(&Trace::parse(&both).unwrap()), [0.0, 2_000.0]);
}

#[test]
fn times_out_of_order_are_sorted_and_streams_numbered_by_time() {
    let frames = vec![(5, 0, udp(1)), (3, 0, udp(2)), (4, 0, udp(1)), (3, 0, udp(3))];
    let trace = Trace::parse(&pcap(MICROS, Order::Little, 1, &frames)).unwrap();
    assert_eq!(times(&trace), [0.0, 0.0, 1e9, 2e9]);
    assert_eq!(streams(&trace), [0, 1, 2, 2]);
}

#[test]
fn a_replay_scales_times_and_ends() {
    let trace = Trace::parse(&ethernet(&[udp(1), udp(2), arp(), udp(1)])).unwrap();
    assert_eq!((trace.packets(), trace.streams(), trace.capture().not_ip), (3, 2, 1));
    assert_eq!(trace.duration(), Nanos(3e6));
    let rate = trace.rate().unwrap();
    assert!((rate.0 - 2.0 / 3e-3).abs() < 1e-9, "{rate}");

    let mut replay = trace.replay(0.5).unwrap();
    let mut block = [warmcore_workload::Arrival::default(); 2];
    assert_eq!(replay.fill(&mut block), 2);
    assert_eq!(block[1].at, Nanos(0.5e6));
    assert_eq!(replay.fill(&mut block), 1);
    assert_eq!(block[0].at, Nanos(1.5e6));
    assert_eq!(replay.fill(&mut block), 0);
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(trace.replay(scale).is_err(), "{scale}");
    }
}

#[test]
fn a_cycle_repeats_all_packets_in_order() {
    let trace = Trace::parse(&ethernet(&[udp(1), udp(2), udp(1)])).unwrap();
    let mut block = [warmcore_workload::Arrival::default(); 7];
    assert_eq!(trace.cycle(2.0).unwrap().fill(&mut block), 7);
    assert_eq!(block.map(|packet| packet.stream.0), [0, 1, 0, 0, 1, 0, 0]);
    // The packets are a millisecond apart, slowed down to two.
    assert_eq!(block.map(|packet| packet.at.0), [0.0, 2e6, 4e6, 6e6, 8e6, 10e6, 12e6]);
    assert_eq!(trace.shares(), [2.0 / 3.0, 1.0 / 3.0]);
}

#[test]
fn a_trace_without_duration_has_no_rate() {
    let trace = Trace::parse(&ethernet(&[udp(1)])).unwrap();
    assert_eq!(trace.rate(), None::<PerSecond>);
    assert_eq!(trace.mix().take(3).map(|stream| stream.0).collect::<Vec<_>>(), [0, 0, 0]);
}

#[test]
fn packet_flags_give_the_direction() {
    for order in Order::BOTH {
        let mut file = Pcapng::new(order);
        file.interface(1, &[]);
        for flags in [None, Some(1), Some(2), Some(0)] {
            file.packet(0, 1, &udp(1), flags);
        }
        let directions: Vec<Direction> =
            packets(&Trace::parse(&file.bytes).unwrap()).iter().map(|packet| packet.direction).collect();
        assert_eq!(directions, [Direction::Receive, Direction::Receive, Direction::Send, Direction::Receive]);
    }
}
