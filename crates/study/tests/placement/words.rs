//! What a plan says of itself is what was looked at.

use super::interrupt_cores::{card, thread, two_sockets};
use super::{observed, request};
use warmcore_linux::ethtool::{Channels, DriverSettings};
use warmcore_linux::fake::{Tree, Vector};
use warmcore_linux::tuning::Setting;
use warmcore_study::placement::{Goal, HostPlacement, Request, Target, Unplaceable, place};

/// Two sockets with a card near the second that has 8 of 64 channels.
fn host(now: u32) -> Tree {
    let mut card = card("eth1", "0000:81:00.0", 1);
    let channels = Channels { combined: Some(now), combined_max: Some(64), ..Channels::default() };
    let settings = DriverSettings { channels: Some(channels), ..DriverSettings::default() };
    card.nic.as_mut().expect("a card").driver_settings = Some(settings);
    two_sockets(vec![card], vec![thread(1000, 1000, 60, 40, &"0-127".parse().expect("cpus"))], &[1000])
}

fn planned(tree: &Tree, threaded_napi: bool) -> Result<HostPlacement, Unplaceable> {
    let named = ["eth1".to_owned()];
    let request = request(&Target::Evident, Goal::Throughput, None);
    place(&observed(tree), &Request { interfaces: &named, threaded_napi, ..request })
}

const HINT: &str = "eth1 has 8 channels and 32 cores near it: with --channels it gets 32, and its link goes down for up to \
                    some seconds";

#[test]
fn a_card_with_fewer_channels_than_cores_near_it_could_have_more() {
    let placement = planned(&host(8), false).expect("XPS is off");
    let has_hint = |placement: &HostPlacement| placement.notes.iter().any(|note| note.starts_with(HINT));
    assert!(has_hint(&placement), "{:?}", placement.notes);
    assert!(!has_hint(&planned(&host(32), false).expect("XPS is off")));
    // With nothing else to do, the reason says so.
    let why = planned(&host(8).hiding("xps_cpus"), false).expect_err("queues are spread already").to_string();
    assert!(why.ends_with(HINT), "{why}");
}

#[test]
fn with_named_cards_nobody_looked_for_readers() {
    let notes = planned(&host(8), false).expect("a plan").notes;
    assert!(notes[0].ends_with("readers are not looked for with --nic."), "{notes:?}");
}

#[test]
fn polling_in_threads_alone_has_a_reason_of_its_own_for_no_forecast() {
    let mut tree = host(8).hiding("xps_cpus");
    tree.put("sys/class/net/eth1/threaded", "0");
    let unforeseen = planned(&tree, true).expect("a plan").unforeseen;
    assert_eq!(unforeseen.as_deref(), Some("nothing foretells where the scheduler will put the polling"));
}

/// The vector for a card's other events, and those of its transmit queues, are no receive queues whatever their numbers.
#[test]
fn vectors_for_other_things_do_not_hinder_channels() {
    type Name = fn(u32) -> [String; 2];
    let names: [Name; 2] = [
        |queue| [format!("mlx5_comp{queue}@pci:0000:81:00.0"), format!("mlx5_async{queue}@pci:0000:81:00.0")],
        |queue| [format!("virtio2-input.{queue}"), format!("virtio2-output.{queue}")],
    ];
    for name in names {
        let mut card = card("eth1", "0000:81:00.0", 1);
        let channels = Channels { combined: Some(8), combined_max: Some(64), ..Channels::default() };
        let settings = DriverSettings { channels: Some(channels), ..DriverSettings::default() };
        card.nic.as_mut().expect("a card").driver_settings = Some(settings);
        let vectors = core::mem::take(&mut card.vectors).into_iter().zip(0..);
        card.vectors = vectors
            .flat_map(|(vector, queue)| name(queue).map(|action| Vector { action, ..vector.clone() }))
            .collect();
        let tree = two_sockets(vec![card], Vec::new(), &[]);
        let named = ["eth1".to_owned()];
        let request = request(&Target::Evident, Goal::Throughput, None);
        let request = Request { interfaces: &named, channels: true, ..request };
        let placement = place(&observed(&tree), &request);
        let lines = placement.unwrap_or_else(|why| panic!("{why}")).plan.lines;
        assert!(lines.iter().any(|line| matches!(line.set, Setting::Channels { combined: Some(32), .. })));
    }
}
