//! Plans that are priced with the kernel's own path: a made-up profile whose figures are computed by hand.

use super::{observed, request};
use warmcore_costs::profile::Measured;
use warmcore_costs::server::{AloneTimes, SourceTimes, Waiting};
use warmcore_costs::socket::{LastUsed, SoftirqCpu};
use warmcore_costs::{ServerCosts, SocketProfile};
use warmcore_linux::fake::hosts;
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
    let target = Target::Evident;
    let asked = request(&target, Goal::Throughput, None);
    place(&observed(&hosts::crossed()), &Request { costs: Some(PacketCosts::Kernel(profile)), ..asked })
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
        gains.iter().any(|gain| gain.starts_with("a packet takes 300 ns ± 43.3 ns (11.1 ± ")),
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
    let alone = |softirq_cpu, call: f64, cpu: f64| AloneTimes {
        waiting: Waiting::Own,
        softirq_cpu,
        socket: LastUsed::Here,
        state: LastUsed::Here,
        idle: Nanos::from_micros(100.0),
        late: exactly(1_000.0),
        call: exactly(call),
        reply: exactly(9_000.0),
        worker_cpu: exactly(cpu),
    };
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
        alone: vec![
            alone(SoftirqCpu::Reader, 5_000.0, 3_000.0),
            alone(SoftirqCpu::OtherCore, 5_500.0, 3_400.0),
        ],
        bursts: Vec::new(),
    }];
    let promise = crossed(&known).expect("a plan").plan.promise.expect("a promise");
    assert!((337..=341).contains(&promise.saved_ns), "{promise:?}");
    assert!(promise.of.contains("78% of the packets find their reader asleep"), "{promise:?}");
}

fn exactly(mean: f64) -> Measured {
    Measured::published(Nanos(mean))
}

/// With the costs of both places swapped, packets that follow their readers cost more.
#[test]
fn swapped_costs_promise_no_saving() {
    let swapped = crossed(&profile([1_700.0, 1_400.0], [1_500.0, 800.0]));
    match swapped {
        Err(Unplaceable::NothingToGain(_)) => {}
        Err(other) => panic!("{other}"),
        Ok(placement) => {
            let promise = placement.plan.promise.expect("a promise");
            assert!(promise.saved_ns <= 0, "{promise:?}");
        }
    }
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
    assert!(refused.contains("holds no costs of lines that come from another cpu"), "{refused}");
}
