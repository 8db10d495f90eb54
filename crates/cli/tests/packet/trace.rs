//! Points whose traffic is a capture.

use super::{json, number, useless};
use crate::{on_one_line, refusal, text, warmcore};
use etherparse::PacketBuilder;
use std::fs;
use tempfile::TempDir;

/// A UDP packet of the first or the second stream.
fn udp(stream: u16) -> Vec<u8> {
    let mut frame = Vec::new();
    let builder = PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 9);
    builder.udp(1_000 + stream % 2, 53).write(&mut frame, &[0; 30]).unwrap();
    frame
}

/// A pcap file of `frames`, so many microseconds apart.
fn pcap(gap: u32, frames: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut file = [0xa1b2_c3d4_u32, 4 << 16 | 2, 0, 0, 65_535, 1].map(u32::to_le_bytes).concat();
    for (at, frame) in (0..).step_by(gap as usize).zip(frames) {
        let length = u32::try_from(frame.len()).unwrap();
        let at: u32 = at;
        file.extend([at / 1_000_000, at % 1_000_000, length, length].map(u32::to_le_bytes).concat());
        file.extend(frame);
    }
    file
}

/// A UDP packet every millisecond, of two streams in turn.
fn capture(packets: u16) -> Vec<u8> {
    pcap(1_000, (0..packets).map(udp))
}

const TRACE: [&str; 6] = ["simulate", "packet", "--processors", "2", "--trace", "mine.pcap"];

fn trace<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&TRACE[..], more].concat()
}

fn folder_with(capture: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.pcap"), capture).unwrap();
    folder
}

#[test]
fn a_trace_is_what_happened_and_has_no_interval() {
    let folder = folder_with(&capture(300));
    let result = json(&trace(&[]), folder.path());
    assert_eq!((number(&result, "packets"), number(&result, "warmup_packets")), (300.0, 0.0));
    assert_eq!((number(&result, "trace_packets"), number(&result, "trace_streams")), (300.0, 2.0));
    assert_eq!((&result["ended"], &result["precise"]), (&"no-more-arrivals".into(), &false.into()));
    for key in ["delay_half_width_us", "service_half_width_us", "p99_half_width_us", "utilisation_half_width"]
    {
        assert!(result[key].is_null(), "{key}: {}", result[key]);
    }
    // Far from overload, on the source's machine: 15 to 30 thousand packets a second.
    let capacity = number(&result, "capacity_per_s");
    assert!((10_000.0..40_000.0).contains(&capacity), "{capacity}");
    let said = text(&warmcore(&trace(&[]), folder.path()).stdout);
    assert!(
        said.contains("All 300 packets of the trace") && said.contains("no figure has an interval"),
        "{said}"
    );
    assert!(!said.contains("NaN"), "{said}");
}

/// Packets that come far faster than they are processed leave one after the other: their delays grow
/// evenly, and the mean is half of the last. The first half is no warm-up.
#[test]
fn every_packet_of_an_overloaded_trace_counts() {
    let folder = folder_with(&pcap(1, (0..20_000).map(udp)));
    let result = json(&trace(&[]), folder.path());
    let of_last = number(&result, "mean_delay_us") / number(&result, "p999_us");
    assert!((0.48..0.53).contains(&of_last), "{of_last}");
    let said = text(&warmcore(&trace(&[]), folder.path()).stdout);
    assert!(said.contains("More packets come than the host keeps up with"), "{said}");
}

#[test]
fn what_is_left_out_of_a_capture_is_said() {
    let arp = || [&[0xff; 12][..], &[8, 6], &[0; 46]].concat();
    let whole = pcap(1_000, (0..20).map(|index| if index % 4 == 3 { arp() } else { udp(index) }));
    let folder = folder_with(&whole[..whole.len() - 7]);
    let result = json(&trace(&[]), folder.path());
    // The last packet is one of the five that are not IP, and lacks seven bytes.
    assert_eq!((number(&result, "trace_packets"), number(&result, "trace_packets_not_ip")), (15.0, 4.0));
    assert_eq!(number(&result, "trace_cut_at_byte"), (whole.len() - 16 - arp().len()) as f64);
    let said = text(&warmcore(&trace(&[]), folder.path()).stdout);
    assert!(said.contains("left out: 4 packets that are not IP"), "{said}");
    assert!(said.contains("the file is cut off") && said.contains("lacks its last 7 bytes"), "{said}");
    let run = ["run", "--processors", "1", "--trace", "mine.pcap", "--seconds", "0.1"];
    let noted = on_one_line(&warmcore(&run, folder.path()).stderr);
    assert!(noted.contains("left out: 4 packets that are not IP; the file is cut off"), "{noted}");
    // It is over after 18 ms.
    let said = text(&warmcore(&run, folder.path()).stdout);
    assert!(
        said.contains("its packets came ") && said.contains(" times, one round after the other"),
        "{said}"
    );
}

#[test]
fn what_changes_nothing_about_a_trace_is_refused() {
    let folder = folder_with(&capture(300));
    for (flags, problem) in [
        (&["--streams", "8"][..], "--streams has no effect here: a trace has its own streams"),
        (&["--replications", "4"], "--replications has no effect here: a trace is simulated once"),
        (&["--precision", "1%"], "--precision has no effect here"),
        (&["--max-packets", "20000"], "--max-packets has no effect here"),
        (&["--seed", "3"], "--seed has no effect here: nothing about a trace is drawn"),
        (&["--rate", "500", "--time-scale", "2"], "--time-scale has no effect here: the rate decides"),
    ] {
        let error = useless(&trace(flags), folder.path());
        assert!(error.contains(problem), "{flags:?}: {error}");
    }
    json(&trace(&["--seed", "3", "--policy", "central-queue"]), folder.path());
}

/// Two packets a microsecond apart are no overload, and two thousand are.
#[test]
fn a_few_packets_tell_nothing_of_overload() {
    let said = |packets: u16| {
        let folder = folder_with(&pcap(1, (0..packets).map(udp)));
        text(&warmcore(&trace(&[]), folder.path()).stdout)
    };
    let (few, many) = (said(2), said(2_000));
    assert!(few.contains("They are too few to say whether the host would keep up"), "{few}");
    assert!(!few.contains("More packets come than"), "{few}");
    assert!(many.contains("More packets come than the host keeps up with"), "{many}");
}

#[test]
fn one_packet_has_no_rate() {
    let folder = folder_with(&capture(1));
    for flags in [&[][..], &["--rate", "100"]] {
        let error = refusal(&trace(flags), folder.path());
        assert!(
            error.contains("the capture has no rate and cannot be scaled to one, since it has one packet"),
            "{error}"
        );
    }
}

#[test]
fn a_trace_keeps_its_rate_unless_another_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("traces")).unwrap();
    fs::write(folder.path().join("traces/mine.pcap"), capture(20_000)).unwrap();
    let trace = ["simulate", "packet", "--processors", "2", "--trace", "traces/mine.pcap"];
    let rate = |more: &[&str]| number(&json(&[&trace[..], more].concat(), folder.path()), "rate_per_s");
    assert!((rate(&[]) - 1_000.0).abs() < 1.0 && (rate(&["--time-scale", "0.5"]) - 2_000.0).abs() < 1.0);
    assert_eq!(rate(&["--rate", "3000"]), 3_000.0);

    // A scenario names it from where the scenario is.
    let document = "processors = 2\ntraffic.process = { trace = { file = 'mine.pcap' } }\n";
    fs::write(folder.path().join("traces/point.toml"), document).unwrap();
    let from_scenario = ["simulate", "packet", "--scenario", "traces/point.toml"];
    assert_eq!(json(&from_scenario, folder.path()), json(&trace, folder.path()));
}

#[test]
fn an_unusable_trace_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let whole = capture(3);
    for (bytes, problem) in [
        (&[][..], "the file is empty"),
        (&whole[..70], "lacks"),
        (&capture(0), "no usable packets"),
        (b"this is no capture at all, but long enough to be one", "pcap"),
    ] {
        fs::write(folder.path().join("mine.pcap"), bytes).unwrap();
        let error = refusal(&["simulate", "packet", "--trace", "mine.pcap"], folder.path());
        assert!(
            error.contains("mine.pcap") && error.contains("--trace") && error.contains(problem),
            "{error}"
        );
    }
}
