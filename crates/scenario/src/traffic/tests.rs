//! Traffic from its document: what it generates, and what is refused.

use super::*;
use std::fs;
use warmcore_units::{Nanos, PerSecond, StreamId};
use warmcore_workload::{Arrival, Arrivals, BatchDistribution, Direction, Key, Trace};

const KEY: Key = Key { seed: 3, point: 1, replication: 4 };
const RATE: PerSecond = PerSecond(20_000.0);

fn parse(text: &str) -> Traffic {
    toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The first arrivals of traffic that needs no file.
fn arrivals(traffic: &Traffic, count: usize) -> Vec<Arrival> {
    let mut block = vec![Arrival::default(); count];
    let filled = traffic.generated().unwrap().source(RATE, KEY).unwrap().fill(&mut block);
    assert_eq!(filled, count);
    block
}

/// Descriptions that cover every process and every other setting.
const DESCRIPTIONS: [&str; 8] = [
    "",
    "streams = 1000\npopularity = { zipf = 1 }\nprocess = 'poisson'",
    "batch = { mean = 2.5, distribution = 'geometric' }",
    "process = 'constant'\nbatch = { mean = 4 }\nsend_fraction = 0.5",
    "process = 'periodic'",
    "process = { modulated = { ratio = 10, calm_us = 5000, busy_us = 500 } }",
    "process = { trains = { cars = 8, gap_us = 40, gaps = 'fixed' } }\nsizes = [{ bytes = 64, weight = 1 }]",
    "process = { self-similar = { alpha = 1.4, burst = 20, peak = 10 } }",
];

#[test]
fn every_description_survives_a_toml_round_trip_and_generates_arrivals() {
    for text in DESCRIPTIONS {
        let traffic = parse(text);
        assert_eq!(traffic.check(), Ok(()), "{text}");
        assert_eq!(parse(&toml::to_string(&traffic).unwrap()), traffic, "{text}");
        let block = arrivals(&traffic, 100);
        assert!(block.is_sorted_by_key(|arrival| arrival.at), "{text}");
        assert!(block.iter().all(|arrival| arrival.stream.0 < traffic.streams), "{text}");
        assert_eq!(traffic.generated().unwrap().own_rate(), None);
    }
}

#[test]
fn durations_are_written_in_microseconds() {
    let Process::Trains(train) = parse(DESCRIPTIONS[6]).process else { panic!("trains") };
    assert_eq!(train.gap, Nanos::from_micros(40.0));
}

#[test]
fn sizes_and_directions_do_not_change_times_and_streams() {
    let bare = parse(DESCRIPTIONS[2]);
    let sizes = vec![Size { bytes: 1500, weight: 1.0 }];
    let dressed = Traffic { sizes, send_fraction: 1.0, ..bare.clone() };
    for (bare, dressed) in arrivals(&bare, 1_000).into_iter().zip(arrivals(&dressed, 1_000)) {
        let expected = Arrival { bytes: 1500, direction: Direction::Send, ..bare };
        assert_eq!(dressed, expected);
    }
}

#[test]
fn the_mix_keeps_batches_together() {
    let traffic = parse("streams = 1000000\nbatch = { mean = 3 }");
    let mix = traffic.generated().unwrap().mix(KEY).unwrap();
    let streams: Vec<StreamId> = mix.take(300).collect();
    assert!(streams.chunks(3).all(|batch| batch.iter().all(|stream| *stream == batch[0])));
    assert!(streams.chunks(3).is_sorted_by(|one, next| one[0] != next[0]), "batches differ");
}

#[test]
fn invalid_traffic_is_refused_with_its_field() {
    let refused = |text: &str| parse(text).check().expect_err(text).field;
    for (text, field) in [
        ("streams = 0", "streams"),
        ("streams = 4000000000", "streams"),
        ("popularity = { zipf = -1 }", "popularity.zipf"),
        ("popularity = { zipf = nan }", "popularity.zipf"),
        ("batch = { mean = 0.9, distribution = 'geometric' }", "batch.mean"),
        ("batch = { mean = 1.5 }", "batch.mean"),
        ("batch = { mean = 2 }\nprocess = 'periodic'", "batch.mean"),
        ("process = { modulated = { ratio = 0.5, calm_us = 1, busy_us = 1 } }", "process.modulated.ratio"),
        ("process = { modulated = { ratio = 2, calm_us = 0, busy_us = 1 } }", "process.modulated.calm_us"),
        ("process = { trains = { cars = 0.5, gap_us = 40 } }", "process.trains.cars"),
        ("process = { trains = { cars = 5, gap_us = inf } }", "process.trains.gap_us"),
        ("process = { self-similar = { alpha = 2, burst = 2, peak = 2 } }", "process.self-similar.alpha"),
        ("process = { self-similar = { alpha = 1.5, burst = 0, peak = 2 } }", "process.self-similar.burst"),
        ("process = { self-similar = { alpha = 1.5, burst = 2, peak = 1 } }", "process.self-similar.peak"),
        ("process = { trace = { file = 'x', time_scale = 0 } }", "process.trace.time_scale"),
        ("process = { trace = { file = 'x' } }\npopularity = { zipf = 1 }", "popularity"),
        ("sizes = [{ bytes = 1, weight = 1 }, { bytes = 2, weight = -1 }]", "sizes.1.weight"),
        ("sizes = [{ bytes = 1, weight = 0 }]", "sizes"),
        ("send_fraction = 1.1", "send_fraction"),
    ] {
        assert_eq!(refused(text), field, "{text}");
    }
}

#[test]
fn an_unknown_field_is_refused_with_the_known_ones() {
    let error = toml::from_str::<Traffic>("process = { trains = { cars = 8, gap = 40 } }").unwrap_err();
    assert!(error.message().contains("unknown field `gap`, expected one of"), "{error}");
}

#[test]
fn a_batch_is_deterministic_unless_told_otherwise() {
    assert_eq!(parse("batch = { mean = 4 }").batch.distribution, BatchDistribution::Deterministic);
}

/// A pcap file (Ethernet, microseconds) with a UDP packet at each time, in seconds; the source
/// port is the index modulo 3.
fn capture(times_s: &[u32]) -> Vec<u8> {
    let mut file = [0xa1b2_c3d4_u32, 4 << 16 | 2, 0, 0, 65_535, 1].map(u32::to_le_bytes).concat();
    for (time, port) in times_s.iter().zip((0..3).cycle()) {
        let mut frame = Vec::new();
        let builder =
            etherparse::PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 9);
        builder.udp(port, 53).write(&mut frame, &[0; 30]).unwrap();
        let length = u32::try_from(frame.len()).unwrap();
        file.extend([*time, 0, length, length].map(u32::to_le_bytes).concat());
        file.extend(frame);
    }
    file
}

fn trace(file: PathBuf, time_scale: f64) -> Traffic {
    let process = Process::Trace(TraceFile { file, time_scale });
    Traffic { process, ..Traffic::default() }
}

#[test]
fn a_trace_is_scaled_to_the_rate() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.pcap");
    fs::write(&file, capture(&[10, 11, 12, 14])).unwrap();
    let open = trace(file, 0.5).open().unwrap();
    assert_eq!(open.streams(), 3);
    // Three intervals in four seconds, twice as fast.
    assert_eq!(open.own_rate(), Some(PerSecond(1.5)));

    let mut block = [Arrival::default(); 8];
    assert_eq!(open.source(PerSecond(750.0), KEY).unwrap().fill(&mut block), 4);
    let millis = [0.0, 1.0, 2.0, 4.0];
    for (index, (arrival, at)) in block.iter().zip(millis).enumerate() {
        assert!((arrival.at.micros() / 1e3 - at).abs() < 1e-9, "{arrival:?}");
        assert_eq!(arrival.stream, StreamId::from(index % 3));
        assert_eq!(arrival.bytes, 14 + 20 + 8 + 30);
    }
    let mix: Vec<u32> = open.mix(KEY).unwrap().take(9).map(|stream| stream.0).collect();
    assert_eq!(mix, [0, 1, 2, 0, 0, 1, 2, 0, 0]);
}

#[test]
fn an_unusable_trace_is_refused_with_its_file_and_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.pcap");
    let refused = |bytes: Option<&[u8]>| {
        if let Some(bytes) = bytes {
            fs::write(&file, bytes).unwrap();
        }
        let opened = trace(file.clone(), 1.0).open();
        let error = opened.and_then(|open| open.source(RATE, KEY).map(drop)).expect_err("refused");
        error.to_string()
    };
    assert!(refused(None).contains("`process.trace.file`: cannot read"));
    assert!(refused(Some(&[])).contains("x.pcap: the file is empty"));
    assert!(refused(Some(&capture(&[]))).contains("no usable packets: none of its 0 packets"));
    assert!(
        refused(Some(&capture(&[1, 2])[..60])).contains("packet 1 or what precedes it, at byte 24, lacks")
    );
    assert!(refused(Some(&capture(&[7, 7]))).contains("all its 2 packets come at once"));
    let whole = capture(&[1, 2]);
    fs::write(&file, whole).unwrap();
    let error = trace(file, 1.0).open().unwrap().source(PerSecond(0.0), KEY).err().expect("refused");
    assert!(error.to_string().contains("rate of 0 per second"), "{error}");
}

#[test]
fn no_more_packets_arrive_once_traffic_is_stopped() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    let stop = Arc::new(AtomicBool::new(false));
    let traffic = Traffic::default().generated().unwrap().stopped_by(Arc::clone(&stop));
    let mut source = traffic.source(RATE, KEY).unwrap();
    let mut block = [Arrival::default(); 8];
    assert_eq!(source.fill(&mut block), 8);
    stop.store(true, Ordering::Relaxed);
    assert_eq!(source.fill(&mut block), 0);
}

#[test]
fn packets_from_memory_are_replayed_like_a_capture() {
    let packet = |at, stream| Arrival::single(Nanos(at), StreamId(stream));
    let trace = Trace::from_arrivals(vec![packet(0.0, 0), packet(10.0, 2), packet(30.0, 0)]).unwrap();
    assert_eq!((trace.packets(), trace.streams()), (3, 3));
    let process = Process::Trace(TraceFile { file: "arrivals".into(), time_scale: 1.0 });
    let traffic = OpenTraffic::recorded(&Traffic { process, ..Traffic::default() }, trace).unwrap();
    // Two gaps of 15 ns on average; at half of that rate, times are twice as long.
    let rate = traffic.own_rate().unwrap();
    assert!((rate.0 - 1e9 / 15.0).abs() < 1.0);
    let mut block = [Arrival::default(); 4];
    assert_eq!(traffic.source(rate * 0.5, KEY).unwrap().fill(&mut block), 3);
    assert!((block[2].at.0 - 60.0).abs() < 1e-6);
    for (arrivals, field) in [
        (vec![], "arrivals"),
        (vec![packet(1.0, 0), packet(0.0, 0)], "arrivals.times.1"),
        (vec![packet(f64::NAN, 0)], "arrivals.times.0"),
        (vec![packet(0.0, u32::MAX)], "arrivals.streams"),
    ] {
        assert_eq!(Trace::from_arrivals(arrivals).unwrap_err().field, field);
    }
}
