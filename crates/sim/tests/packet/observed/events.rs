//! Single events.

use super::scenario;
use warmcore_costs::Profile;
use warmcore_scenario::PacketScenario;
use warmcore_sim::packet::Point;
use warmcore_sim::packet::observe::{EventKind, EventTrace};

fn events(scenario: &PacketScenario, packets: u64) -> EventTrace {
    let traffic = scenario.traffic.open().expect("traffic");
    let point = Point::new(scenario, &traffic, &Profile::sgi_challenge_xl()).expect("a point");
    point.events(packets).expect("events")
}

/// Checks that every packet arrives, starts and ends, in this order, that no processor serves two at once, and that
/// times do not go back.
fn check(trace: &EventTrace, packets: usize) {
    assert!(trace.time_ns.is_sorted());
    assert_eq!(trace.len(), 3 * packets);
    let mut next = vec![EventKind::Arrival; packets];
    let mut arrived = 0;
    let mut serving = vec![None; trace.processors as usize];
    for row in 0..trace.len() {
        let (event, packet) = (trace.event[row], trace.packet[row] as usize);
        assert_eq!(event, next[packet], "packet {packet}");
        match event {
            EventKind::Arrival => {
                assert_eq!(packet, arrived);
                arrived += 1;
                assert_eq!((trace.cpu[row], trace.situation[row]), (None, None));
                next[packet] = EventKind::Start;
            }
            EventKind::Drop => panic!("no queue is limited"),
            EventKind::Start => {
                let cpu = trace.cpu[row].expect("a processor") as usize;
                assert_eq!(serving[cpu].replace(packet), None, "processor {cpu}");
                next[packet] = EventKind::Finish;
            }
            EventKind::Finish => {
                let cpu = trace.cpu[row].expect("a processor") as usize;
                assert_eq!(serving[cpu].take(), Some(packet), "processor {cpu}");
                // No second end.
                next[packet] = EventKind::Arrival;
            }
        }
    }
    assert!(next.iter().all(|&next| next == EventKind::Arrival));
}

#[test]
fn packets_arrive_start_and_end_in_order() {
    for rate in [20_000.0, 60_000.0, 200_000.0] {
        check(&events(&scenario(rate), 2_000), 2_000);
    }
    let mut batches = scenario(20_000.0);
    batches.traffic.batch.mean = 8.0;
    check(&events(&batches, 2_000), 2_000);
}

#[test]
fn a_timeline_has_a_slice_for_each_service_and_counts_packets() {
    let trace = events(&scenario(60_000.0), 500);
    let timeline = trace.timeline();
    assert_eq!((timeline.tracks.len(), timeline.slices.len()), (8, 500));
    let counted = &timeline.counters[0].values;
    assert_eq!(counted.last().map(|last| last.1), Some(0.0));
    assert!(counted.iter().all(|value| value.1 >= 0.0) && counted.iter().any(|value| value.1 > 8.0));
}
