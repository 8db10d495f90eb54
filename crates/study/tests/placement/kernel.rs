//! Plans that are priced with the kernel's own path: a made-up profile whose figures are computed by hand.

use super::{observed, request};
use warmcore_costs::profile::Measured;
use warmcore_costs::server::{AloneTimes, SourceTimes, Waiting};
use warmcore_costs::socket::{DatagramTimes, LastUsed, SoftirqCpu};
use warmcore_costs::{ServerCosts, SocketProfile};
use warmcore_linux::fake::{Tree, hosts};
use warmcore_linux::tuning::Promise;
use warmcore_study::placement::{Goal, HostPlacement, PacketCosts, Request, Target, Unplaceable, place};
use warmcore_units::{Nanos, Transport};

/// The softirq and the receive take these with the softirq on the reader's processor, and on another core. Handing over
/// takes 2600 + 1600 - 4000 = 200 ± 50 ns on both cores together (30 and 40 and 0 in quadrature).
fn profile(here: [f64; 2], there: [f64; 2]) -> SocketProfile {
    let row = |place: &str, delivery: &str, call: &str, [softirq, receive]: [f64; 2], half: [f64; 2]| {
        format!(
            "[[datagrams]]\nsoftirq_cpu = \"{place}\"\ndelivery = \"{delivery}\"\nsocket = \"here\"\nx = 0.0\ncall = {call}\n\
             softirq = {{ mean = {softirq:.1}, half_width = {:.1} }}\nreceive = {{ mean = {receive:.1}, half_width = {:.1} }}\n",
            half[0], half[1]
        )
    };
    let head = "schema = 1\npath = \"udp-socket\"\nname = \"a made-up machine\"\nnetwork = \"veth\"\npayload_bytes = 256\n\
                [provenance]\nkind = \"measured\"\nsource = \"by hand\"\ndate = \"2026-11-28\"\n";
    let rows = [
        row("reader", "in-call", "{ mean = 4000.0, half_width = 0.0 }", here, [30.0, 30.0]),
        row("other-core", "in-call", "{ mean = 4100.0, half_width = 0.0 }", there, [40.0, 40.0]),
        row("reader", "interrupt", "{ mean = 2600.0, half_width = 30.0 }", [1_600.0, 800.0], [40.0, 10.0]),
    ];
    let profile: SocketProfile =
        toml::from_str(&format!("{head}{}", rows.concat())).expect("a socket profile");
    profile.check().expect("possible times");
    profile
}

/// The plan for a host each half of whose packets are for readers on the other of its two cpus.
fn crossed(profile: &SocketProfile) -> Result<HostPlacement, Unplaceable> {
    plan(&hosts::crossed(), profile)
}

fn plan(host: &Tree, profile: &SocketProfile) -> Result<HostPlacement, Unplaceable> {
    let target = Target::Evident;
    let asked = request(&target, Goal::Throughput, None);
    place(&observed(host), &Request { costs: Some(PacketCosts::Kernel(profile)), ..asked })
}

fn gains(placement: &HostPlacement) -> Vec<String> {
    let changes = placement.lines.iter().filter(|line| line.changes);
    changes.map(|line| line.gain.to_string()).collect()
}

/// Half of the packets save (1700 - 1500) + (1400 - 800) ns, whose errors are 50 each, once they follow their readers; then
/// half of them are handed over, for 200 ± 50 ns: 400 - 100 ns, and half of 50 ns three times in quadrature.
#[test]
fn a_saving_is_the_measured_difference_with_its_interval() {
    let placement = crossed(&profile([1_500.0, 800.0], [1_700.0, 1_400.0])).expect("a plan");
    let Promise { saved_ns, half_width_ns, of } = placement.plan.promise.clone().expect("a promise");
    assert_eq!((saved_ns, half_width_ns), (300, 44), "{of}");
    assert!(of.contains("a made-up machine (2026-11-28)") && of.contains("count as awake"), "{of}");
    let gains = gains(&placement);
    assert!(
        gains.iter().any(|gain| gain.starts_with("a packet takes 300 ns ± 43.3 ns (11.1 ± 1.6%) less")),
        "{gains:?}"
    );
    let text = toml::to_string(&placement.plan).expect("a document");
    let again: warmcore_linux::tuning::Plan = toml::from_str(&text).expect("a plan");
    assert_eq!(again, placement.plan, "{text}");
}

/// Readers work for 22% of the time. Waking one and all that it does takes 8,000 ns on the softirq's core and 8,900 on
/// another, 100 more than the 800 of those that are awake: so 300 + 100 / 2 * 78% ns are saved.
#[test]
fn packets_that_find_their_reader_asleep_are_priced_as_such() {
    let known = with_sleepers(vec![
        alone(SoftirqCpu::Reader, 100.0, 5_000.0, 3_000.0),
        alone(SoftirqCpu::OtherCore, 100.0, 5_500.0, 3_400.0),
    ]);
    let promise = crossed(&known).expect("a plan").plan.promise.expect("a promise");
    assert!((337..=341).contains(&promise.saved_ns), "{promise:?}");
    assert!(promise.of.contains("78% of the packets find their reader asleep after "), "{promise:?}");
    assert!(promise.of.contains(", priced as after 100 µs"), "{promise:?}");
}

/// Half of them saves [`crossed`] 400 - 100 ns for those that are awake. A sleeper's waking takes 5,000 + 3,000 ns here after
/// 100 us and rises to 105,000 + 3,000 after 500: at 300 us, where elsewhere begins, the same 55,000 + 3,000 as there save
/// nothing, though the row of 100 us here would promise 50,000 ns.
#[test]
fn places_are_compared_after_the_same_idle_time() {
    let known = with_sleepers(vec![
        alone(SoftirqCpu::Reader, 100.0, 5_000.0, 3_000.0),
        alone(SoftirqCpu::Reader, 500.0, 105_000.0, 3_000.0),
        alone(SoftirqCpu::OtherCore, 300.0, 55_000.0, 3_000.0),
        alone(SoftirqCpu::OtherCore, 500.0, 105_000.0, 3_000.0),
    ]);
    let refused = crossed(&known).unwrap_err();
    assert!(matches!(refused, Unplaceable::NothingToGain(_)), "{refused}");
    let [.., last] = &known.servers[0].alone[..] else { panic!("four rows") };
    let dearer = AloneTimes { call: exactly(157_000.0), ..*last };
    let known = with_sleepers(vec![
        alone(SoftirqCpu::Reader, 100.0, 5_000.0, 3_000.0),
        alone(SoftirqCpu::Reader, 500.0, 105_000.0, 3_000.0),
        alone(SoftirqCpu::OtherCore, 300.0, 57_000.0, 3_000.0),
        dearer,
    ]);
    // 22% of 800 ns and 78% of 2,000, of half of the packets, less the 100 ns of handing over.
    let promise = crossed(&known).expect("a plan").plan.promise.expect("a promise");
    assert!((760..=775).contains(&promise.saved_ns), "{promise:?}");
    assert!(promise.of.contains(", priced as after 300 µs"), "{promise:?}");
}

#[test]
fn without_an_idle_time_in_common_nothing_is_promised_and_the_rows_are_named() {
    let apart = with_sleepers(vec![
        alone(SoftirqCpu::Reader, 100.0, 5_000.0, 3_000.0),
        alone(SoftirqCpu::OtherCore, 300.0, 5_500.0, 3_400.0),
        alone(SoftirqCpu::OtherCore, 900.0, 5_500.0, 3_400.0),
    ]);
    let refused = crossed(&apart).unwrap_err().to_string();
    assert!(
        refused.contains("after 100 µs with the softirq on their cpu, and after 300 µs to 900 µs"),
        "{refused}"
    );
    let missing = with_sleepers(vec![alone(SoftirqCpu::Reader, 100.0, 5_000.0, 3_000.0)]);
    let refused = crossed(&missing).unwrap_err().to_string();
    assert!(refused.contains("no idle time at all (rows missing) with it on another core"), "{refused}");
}

/// The profile, with readers that sleep.
fn with_sleepers(alone: Vec<AloneTimes>) -> SocketProfile {
    let mut known = profile([1_500.0, 800.0], [1_700.0, 1_400.0]);
    known.servers = vec![ServerCosts {
        transport: Transport::Udp,
        state_bytes: 0,
        payload_bytes: 256,
        library: None,
        requests: None,
        flows: 16,
        source: SourceTimes {
            late_busy: exactly(1_000.0),
            stolen: exactly(5_000.0),
            stolen_more: exactly(1_000.0),
        },
        alone,
        bursts: Vec::new(),
    }];
    known
}

/// A reader that slept for so many microseconds: the call that wakes it, and all that it does, in nanoseconds.
fn alone(softirq_cpu: SoftirqCpu, idle_us: f64, call: f64, cpu: f64) -> AloneTimes {
    AloneTimes {
        waiting: Waiting::Own,
        softirq_cpu,
        socket: LastUsed::Here,
        state: LastUsed::Here,
        idle: Nanos::from_micros(idle_us),
        late: exactly(1_000.0),
        call: exactly(call),
        reply: exactly(9_000.0),
        worker_cpu: exactly(cpu),
    }
}

fn exactly(mean: f64) -> Measured {
    Measured::published(Nanos(mean))
}

/// With the costs of both places swapped, packets that follow their readers cost more.
#[test]
fn swapped_costs_give_no_plan() {
    let swapped = crossed(&profile([1_700.0, 1_400.0], [1_500.0, 800.0])).unwrap_err();
    assert!(matches!(swapped, Unplaceable::NothingToGain(_)), "{swapped}");
}

/// The server's threads would come to the node of their packets: nearer, but no cheaper by these profiles.
#[test]
fn what_is_nearer_and_visibly_no_cheaper_gives_no_plan() {
    let equal = profile([1_500.0, 800.0], [1_500.0, 800.0]);
    let loses = profile([1_700.0, 1_400.0], [1_500.0, 800.0]);
    for (name, profile) in [("equal", &equal), ("swapped", &loses)] {
        let refused = plan(&hosts::two_socket_server(), profile).unwrap_err();
        let is_none = matches!(&refused, Unplaceable::NothingToGain(why) if !why.contains("NaN") && !why.contains("inf"));
        assert!(is_none, "{name}: {refused}");
    }
}

/// A sleeper's waking takes far less on another core, by this profile: 8,000 ns less than a receive takes that is awake.
/// Costs of packets stay above zero, so that no forecast is below it or infinite.
#[test]
fn costs_are_never_negative() {
    let mut odd = with_sleepers(vec![
        alone(SoftirqCpu::Reader, 100.0, 20_000.0, 20_000.0),
        alone(SoftirqCpu::OtherCore, 100.0, 10_000.0, 9_000.0),
    ]);
    odd.name = "odd".to_owned();
    let target = Target::Evident;
    let asked = Request { interrupt_cores: Some(1), ..request(&target, Goal::Throughput, None) };
    let costs = Some(PacketCosts::Kernel(&odd));
    let planned = place(&observed(&hosts::two_socket_server()), &Request { costs, ..asked })
        .expect("what was asked for");
    for side in [planned.now, planned.then] {
        let side = side.expect("a forecast");
        assert!(side.cost.mean.0 > 2_000.0, "{side:?}");
        assert!(side.capacity.mean.0.is_finite() && side.capacity.half().is_finite(), "{side:?}");
        assert!(side.delay.is_none_or(|delay| delay.mean.0 > 0.0), "{side:?}");
    }
}

/// The server's threads come from all 128 hardware threads to the 64 of the node where 89% of the packets arrive: so many
/// more of these are processed on their reader's cpu, and as many more on its sibling. A receive elsewhere takes 100 us more.
/// Of siblings that are not in the profile half of that is promised, as of those that cost like another core; all of it of
/// those that were measured to cost like the reader's own.
#[test]
fn a_sibling_saves_what_was_measured_of_it() {
    let unknown = profile([1_500.0, 800.0], [1_500.0, 100_800.0]);
    let with_sibling = |like: usize| {
        let mut known = unknown.clone();
        known.datagrams.push(DatagramTimes { softirq_cpu: SoftirqCpu::Sibling, ..known.datagrams[like] });
        known
    };
    let promised = |profile: &SocketProfile| {
        let placement = plan(&hosts::two_socket_server(), profile).expect("a plan");
        let is_told = placement
            .notes
            .iter()
            .any(|note| note.contains("the other hardware thread of their reader's core"));
        (placement.plan.promise.expect("a promise").saved_ns, is_told)
    };
    let (of_unknown, is_told) = promised(&unknown);
    assert!(is_told);
    let (like_own, is_told) = promised(&with_sibling(0));
    assert!(!is_told);
    assert!(of_unknown > 100 && (2 * of_unknown - like_own).abs() <= 1, "{of_unknown}, {like_own}");
    let (like_other, _) = promised(&with_sibling(1));
    assert_eq!(of_unknown, like_other);
}

/// Its packets come to slow cpus, and nobody was seen to read them.
#[test]
fn without_a_reader_nothing_is_promised() {
    let placement =
        plan(&hosts::hybrid_laptop(), &profile([1_500.0, 800.0], [1_700.0, 1_400.0])).expect("a plan");
    assert_eq!(placement.plan.promise, None);
    let gains = gains(&placement);
    assert!(gains.iter().any(|gain| gain.contains("unknown: no reader was seen")), "{gains:?}");
    let why = placement.unforeseen.expect("no forecast");
    assert!(why.contains("no reader was seen"), "{why}");
}

/// 200 ns of a reader's and 10 of the softirq's, each ± 50, do not show.
#[test]
fn what_is_within_its_uncertainty_is_not_called_a_gain() {
    let refused = crossed(&profile([1_500.0, 800.0], [1_510.0, 1_000.0])).unwrap_err();
    assert!(matches!(refused, Unplaceable::NothingToGain(_)), "{refused}");
}

#[test]
fn a_profile_without_packets_that_are_handed_over_says_how_to_get_them() {
    let mut unprivileged = profile([1_500.0, 800.0], [1_700.0, 1_400.0]);
    unprivileged.datagrams.truncate(2);
    let refused = crossed(&unprivileged).unwrap_err().to_string();
    assert!(refused.contains("hands over to another") && refused.contains("as root"), "{refused}");
    unprivileged.datagrams.truncate(1);
    let refused = crossed(&unprivileged).unwrap_err().to_string();
    assert!(refused.contains("holds no datagrams with the softirq on another core"), "{refused}");
}
