//! A plan on a card with RSS, applied and undone. No virtual interface of Linux has a table of hashes, so the
//! card is one that is named: its link goes down for a moment, and its settings are restored.

use crate::program::{ethtool, numbers};
use std::collections::BTreeMap;
use std::env;
use std::sync::atomic::AtomicBool;
use warmcore_linux::Probe;
use warmcore_linux::ethtool::{ChannelCounts, DriverSetting, DriverSettings, driver_settings};
use warmcore_linux::net::Namespace;
use warmcore_linux::tuning::{
    Disk, Fingerprint, JournalDirectory, Line, Plan, System, apply, changes, steps, undo,
};

/// Names the card.
const CARD: &str = "WARMCORE_TEST_CARD";

fn plan(card: &str, lines: &[String]) -> Plan {
    let line = |text: &String| {
        let set = toml::from_str::<toml::Table>(&format!("set = {{ {text} }}")).unwrap()["set"].clone();
        Line { set: set.try_into().unwrap(), reason: String::new(), expected_gain: String::new() }
    };
    let machine = Fingerprint::read(&Disk::default(), [card]).unwrap();
    let plan = Plan { schema: Plan::SCHEMA, machine, promise: None, lines: lines.iter().map(line).collect() };
    plan.check().unwrap();
    plan
}

/// What stays the same from one opening of a card to the next: not the numbers of its NAPI instances.
fn lasting(card: &str) -> DriverSettings {
    DriverSettings { napi: Vec::new(), ..driver_settings(card).expect("the card says something") }
}

/// The cpus to which each interrupt of the card may go, by action.
fn masks(card: &str) -> BTreeMap<String, String> {
    let inventory = Probe::new().inventory().unwrap();
    let of_card = inventory.interrupts.iter().filter(|one| one.interface.as_deref() == Some(card));
    of_card.map(|one| (one.id.actions.join(","), format!("{:?}", one.allowed))).collect()
}

fn apply_and_check(card: &str, lines: &[String], check: impl FnOnce(&DriverSettings)) {
    println!("{lines:?}");
    let (before, masks_before) = (lasting(card), masks(card));
    let directory = tempfile::tempdir().unwrap();
    let journals = JournalDirectory::at(directory.path().join("journals"));
    let disk = Disk::default();
    let steps = changes(steps(&plan(card, lines), &disk).unwrap_or_else(|error| panic!("{error}")));
    let journal = journals.begin(&disk, steps, false).unwrap();
    apply(journal, &AtomicBool::new(false)).unwrap_or_else(|error| panic!("{error}"));
    let applied = lasting(card);
    assert_ne!(applied, before);
    check(&applied);
    let undone = undo(journals.open(&disk, false).unwrap().unwrap(), false).unwrap();
    assert!(undone.is_complete(), "{undone}");
    assert_eq!(lasting(card), before);
    assert_eq!(masks(card), masks_before);
}

/// The rows of `ethtool -x`: the queues of the table.
fn printed_table(card: &str) -> Option<Vec<u32>> {
    let text = ethtool(&Namespace::current().unwrap(), &["-x", card])?;
    let rows = text.lines().filter_map(|line| line.trim().split_once(":  "));
    let rows = rows.filter(|(start, _)| start.parse::<u32>().is_ok());
    Some(rows.flat_map(|(_, row)| row.split_whitespace().map(|queue| queue.parse().unwrap())).collect())
}

#[test]
fn a_card_with_rss_is_read_set_and_restored() {
    let Ok(card) = env::var(CARD) else {
        return println!("skipped: {CARD} names no card whose settings may be changed for a moment");
    };
    let settings = driver_settings(&card).expect("the card says something");
    println!("{settings:?}");
    let table = settings.indirection.clone().expect("the card has a table").0;
    assert_eq!(printed_table(&card).unwrap_or_else(|| table.clone()), table);
    let channels = settings.channels.expect("the card has channels");
    let combined = channels.combined.expect("the card has combined channels");
    assert!(combined >= 2, "two channels to choose from");

    let line = |setting: &str, values: &str| format!("{setting} = {{ interface = '{card}', {values} }}");
    let fewer = line("channels", &format!("combined = {}", combined / 2));
    apply_and_check(&card, std::slice::from_ref(&fewer), |applied| {
        let most = applied.indirection.as_ref().unwrap().0.iter().max().copied();
        assert!(most.is_some_and(|queue| queue < combined / 2), "{most:?}");
    });
    let mut all = vec![fewer, line("indirection", "queues = 1"), line("threaded_napi", "on = true")];
    if settings.features.ntuple.is_some_and(|feature| !feature.fixed && !feature.on) {
        all.push(line("ntuple", "on = true"));
    }
    all.push(line("rps_cpus", "queue = 0, cpus = '0'"));
    apply_and_check(&card, &all, |applied| {
        assert_eq!(applied.channels.unwrap().combined, Some(combined / 2));
        assert_eq!(applied.indirection.as_ref().unwrap().entries_by_queue().len(), 1);
        assert_eq!(Disk::default().read(&format!("sys/class/net/{card}/threaded")).unwrap(), "1\n");
        let counts = ChannelCounts { combined: Some(1), ..ChannelCounts::default() };
        let text = Disk::default().driver_setting(&card, DriverSetting::Channels(counts)).unwrap();
        assert_eq!(text, format!("combined {}", combined / 2));
        if let Some(text) = ethtool(&Namespace::current().unwrap(), &["-l", &card]) {
            let now = numbers(&text, "Current hardware settings:");
            assert_eq!(now.get("Combined"), Some(&(combined / 2)), "{text}");
        }
    });
    // Last: on some drivers the kernel does not forget that a table was set, and refuses fewer channels.
    let one = [line("indirection", "queues = [1]")];
    apply_and_check(&card, &one, |applied| {
        let queues = applied.indirection.as_ref().unwrap().entries_by_queue();
        assert_eq!(queues, BTreeMap::from([(1, table.len())]));
        assert_eq!(printed_table(&card).unwrap_or_else(|| vec![1; table.len()]), vec![1; table.len()]);
    });
}

#[test]
fn interrupts_of_a_card_have_the_queues_that_the_kernel_says() {
    let Ok(card) = env::var(CARD) else { return println!("skipped: {CARD} names no card") };
    let inventory = Probe::new().inventory().unwrap();
    for napi in &driver_settings(&card).unwrap().napi {
        let Some(number) = napi.interrupt else { continue };
        let interrupt = inventory.interrupts.iter().find(|one| one.number == number).expect("an interrupt");
        let queue = interrupt.queue.expect("its name or its NAPI instance tells");
        println!("{interrupt:?}");
        assert!(napi.receive.contains(&queue.number) || napi.transmit.contains(&queue.number), "{napi:?}");
    }
}
