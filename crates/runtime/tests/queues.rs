//! Drivers without workers: which frames their queues deliver, when and how often.

use warmcore_runtime::Memory;
use warmcore_runtime::driver::{Bytes, Driver, Due, Faulty, InjectedFault, Opened, QueueRequest};
use warmcore_stack::wire::classify;
use warmcore_units::{Nanos, StreamId};

const STREAMS: u32 = 3;
const FRAMES: u64 = if cfg!(miri) { 1_000 } else { 5_000 };

fn memory() -> Memory {
    let mix = (0..).map(|packet| StreamId(packet % STREAMS)).take(100);
    Memory::saturating(STREAMS, 16, Box::new(mix))
}

#[test]
fn a_stream_arrives_on_the_queue_it_is_steered_to() {
    let steering = [1, 0, 1];
    let Opened { mut queues, prepared } =
        memory().open(&QueueRequest { queues: 2, steering: &steering }).unwrap();
    for frame in &prepared {
        assert_eq!(classify(Memory::LINK, &frame.bytes), Ok(Memory::flow(frame.stream).key()));
    }
    for (number, queue) in queues.iter_mut().enumerate() {
        queue.begin(Nanos::ZERO);
        let taken = queue.receive(Nanos(5.0), 150, &mut |incoming| {
            let Bytes::Prepared(frame) = incoming.bytes else { panic!("memory prepares its frames") };
            let stream = prepared[frame as usize].stream;
            assert_eq!((steering[stream.index()] as usize, incoming.at), (number, Nanos(5.0)));
        });
        assert_eq!(taken, 150, "the schedule repeats");
    }
}

/// Polls a driver with `fault` at intervals. Returns each frame as its time of arrival and whether it
/// is unchanged, and the counts of injected, withheld and lost frames.
fn show(fault: InjectedFault) -> (Vec<(Nanos, bool)>, u64, u64, u64) {
    const LIMIT: usize = 7;
    let mut driver = Faulty::new(memory(), fault, 3);
    let count = driver.count();
    let mut queue = driver.open(&QueueRequest { queues: 1, steering: &[0; 3] }).unwrap().queues.remove(0);
    queue.begin(Nanos::ZERO);
    let (mut shown, mut now) = (Vec::new(), Nanos::ZERO);
    while (shown.len() as u64) < FRAMES {
        now += Nanos::from_micros(1.0);
        let before = shown.len();
        let taken = queue.receive(now, LIMIT, &mut |incoming| {
            shown.push((incoming.at, matches!(incoming.bytes, Bytes::Prepared(_))));
        });
        assert_eq!(shown.len() - before, taken, "{fault:?}");
        assert!(taken <= LIMIT, "{fault:?}: {taken} frames, {LIMIT} were asked for");
        assert!(queue.due() != Due::Never, "{fault:?}");
    }
    assert!(shown.is_sorted_by(|earlier, later| earlier.0 <= later.0), "{fault:?}: in order of time");
    (shown, count.injected(), count.withheld(), queue.lost())
}

#[test]
fn faults_are_injected_as_often_as_asked_and_are_counted() {
    // Six standard deviations, of a number drawn from a fixed seed.
    let is_a_tenth = |injected: u64| {
        let (mean, deviation) = (FRAMES as f64 * 0.1, (FRAMES as f64 * 0.09).sqrt());
        (injected as f64 - mean).abs() < 6.0 * deviation + 0.02 * mean
    };
    let probable = [InjectedFault::Duplicate(0.1), InjectedFault::Corrupt(0.1), InjectedFault::Drop(0.1)];
    for fault in probable {
        let (shown, injected, withheld, lost) = show(fault);
        assert!(is_a_tenth(injected), "{fault:?}: {injected} of {FRAMES}");
        let changed = shown.iter().filter(|(_, as_prepared)| !as_prepared).count() as u64;
        assert_eq!(
            changed,
            if matches!(fault, InjectedFault::Corrupt(_)) { injected } else { 0 },
            "{fault:?}"
        );
        assert_eq!(lost, if matches!(fault, InjectedFault::Drop(_)) { injected } else { 0 }, "{fault:?}");
        assert!(
            withheld <= if matches!(fault, InjectedFault::Duplicate(_)) { injected } else { 0 },
            "{fault:?}"
        );
    }
}

#[test]
fn a_delayed_frame_arrives_in_time() {
    let by = Nanos::from_micros(30.0);
    let (shown, injected, withheld, _) = show(InjectedFault::Delay { probability: 1.0, by });
    assert_eq!(shown[0].0, Nanos::from_micros(1.0) + by, "the first frame, received at the first poll");
    assert_eq!(injected, shown.len() as u64 + withheld);
}

#[test]
fn the_same_seed_hits_the_same_frames() {
    let stall = InjectedFault::Stall { every: Nanos::from_micros(50.0), lasting: Nanos::from_micros(20.0) };
    for fault in [InjectedFault::Drop(0.2), InjectedFault::Reorder(0.2), InjectedFault::Duplicate(0.2), stall]
    {
        assert_eq!(show(fault), show(fault));
        assert!(show(fault).1 > 0, "{fault:?}");
    }
}
