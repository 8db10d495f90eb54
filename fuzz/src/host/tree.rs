//! Reads fake hosts of which some files were changed, and places their queues and readers.

use super::assert_printable;
use arbitrary::Arbitrary;
use std::path::Path;
use warmcore_costs::Profile;
use warmcore_linux::Probe;
use warmcore_linux::fake::{Tree, hosts};
use warmcore_linux::inventory::Observation;
use warmcore_linux::probe::ProbeError;
use warmcore_study::placement::{Goal, HostPlacement, Request, Target, place};
use warmcore_units::PerSecond;

/// How long before the look at the host the earlier look was, in seconds.
const INTERVAL: f64 = 10.0;

/// One of the fake hosts, with changes.
#[derive(Arbitrary, Debug)]
pub struct Edited<'a> {
    host: u8,
    /// Whether the changes are in the earlier look, too.
    in_both: bool,
    asks: Asks,
    edits: Vec<(Place<'a>, Edit<'a>)>,
}

/// What is asked of the placement.
#[derive(Arbitrary, Debug)]
struct Asks {
    goal: u8,
    flags: u8,
    interrupt_cores: Option<u8>,
    process: Option<u16>,
    rate: Option<u32>,
}

/// Which file is changed.
#[derive(Arbitrary, Debug)]
enum Place<'a> {
    /// One of those that there are.
    Existing(u16),
    /// One of the important ones.
    Important(u8),
    /// Any path.
    Any(&'a str),
}

/// How a file is changed.
#[derive(Arbitrary, Debug)]
enum Edit<'a> {
    Replace(&'a [u8]),
    /// So many bytes from there are replaced.
    Splice(u16, u8, &'a [u8]),
    /// The number of this place in the text is replaced.
    Number(u8, i128),
    /// A line is written twice.
    Repeat(u8),
    Remove,
    /// A file becomes a folder with a file.
    Folder(&'a str),
    ReadOnly,
}

/// Those of which much depends.
const IMPORTANT: [&str; 20] = [
    "proc/interrupts",
    "proc/irq/24/smp_affinity_list",
    "proc/irq/24/effective_affinity_list",
    "proc/irq/default_smp_affinity",
    "proc/net/dev",
    "proc/net/sockstat",
    "proc/net/softnet_stat",
    "proc/self/cgroup",
    "proc/self/status",
    "proc/softirqs",
    "proc/stat",
    "proc/uptime",
    "sys/devices/system/cpu/offline",
    "sys/devices/system/cpu/online",
    "sys/devices/system/cpu/present",
    "sys/devices/system/cpu/nohz_full",
    "sys/devices/system/node/node0/cpulist",
    "sys/fs/cgroup/warmcore/cpu.max",
    "warmcore/ethtool/eth0.toml",
    "warmcore/received.toml",
];

/// Reads the host before and after, and asks for a placement.
///
/// # Panics
/// If an error does not name a file of the host and what is expected there, a machine that was read is not sound, or
/// a plan cannot be checked.
pub fn observe(edited: &Edited<'_>) {
    let (_, host) = hosts::ALL[usize::from(edited.host) % hosts::ALL.len()];
    let (mut later, mut earlier) = (host(), host().earlier(INTERVAL));
    for (place, edit) in &edited.edits {
        change(&mut later, place, edit);
        if edited.in_both {
            change(&mut earlier, place, edit);
        }
    }
    let probes = [&earlier, &later].map(|tree| Probe::fake(tree.clone()));
    match Observation::of_probes(&probes[0], &probes[1]) {
        Ok(observed) => {
            observed.inventory.machine.validate().expect("a probed machine is sound");
            edited.asks.place(&observed);
        }
        Err(error) => assert_says_where(&error, [&earlier, &later]),
    }
}

fn change(tree: &mut Tree, place: &Place<'_>, edit: &Edit<'_>) {
    let file = match place {
        Place::Existing(index) if tree.files.is_empty() => format!("proc/{index}"),
        Place::Existing(index) => {
            tree.files.keys().nth(usize::from(*index) % tree.files.len()).cloned().unwrap_or_default()
        }
        Place::Important(index) => IMPORTANT[usize::from(*index) % IMPORTANT.len()].to_owned(),
        Place::Any(path) => (*path).to_owned(),
    };
    let before = tree.files.get(&file).cloned().unwrap_or_default();
    let after = match edit {
        Edit::Replace(bytes) => bytes.to_vec(),
        Edit::Splice(at, length, bytes) => {
            let from = usize::from(*at) % (before.len() + 1);
            let to = (from + usize::from(*length)).min(before.len());
            [&before.as_bytes()[..from], bytes, &before.as_bytes()[to..]].concat()
        }
        Edit::Number(which, number) => with_number(&before, usize::from(*which), *number).into_bytes(),
        Edit::Repeat(which) => {
            let mut lines: Vec<&str> = before.lines().collect();
            let line = lines.get(usize::from(*which) % lines.len().max(1)).copied();
            lines.extend(line);
            lines.join("\n").into_bytes()
        }
        Edit::Remove | Edit::Folder(_) => {
            tree.files.remove(&file);
            if let Edit::Folder(name) = edit {
                tree.put(format!("{file}/{name}"), before);
            }
            return;
        }
        Edit::ReadOnly => {
            tree.read_only.insert(file);
            return;
        }
    };
    // As a text is read from a real file.
    tree.files.insert(file, String::from_utf8_lossy(&after).into_owned());
}

/// `text` with another number in place of its `which`th one.
fn with_number(text: &str, which: usize, number: i128) -> String {
    let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let words: Vec<&str> = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()).collect();
    let count = words.iter().filter(|word| is_number(word)).count().max(1);
    let mut seen = 0;
    let replaced = words.iter().map(|word| {
        if !is_number(word) {
            return (*word).to_owned();
        }
        seen += 1;
        if seen - 1 != which % count {
            return (*word).to_owned();
        }
        format!("{number}{}", word.trim_start_matches(|c: char| c.is_ascii_alphanumeric()))
    });
    replaced.collect()
}

impl Asks {
    fn place(&self, observed: &Observation) {
        let profile = Profile::sgi_challenge_xl();
        let target = self.process.map_or(Target::Evident, |pid| Target::Process(pid.into()));
        let has = |flag: u8| self.flags & 1 << flag != 0;
        let names: Vec<String> =
            observed.inventory.interfaces.iter().map(|interface| interface.name.clone()).collect();
        let request = Request {
            target: &target,
            goal: [Goal::Throughput, Goal::Latency, Goal::Isolation][usize::from(self.goal % 3)],
            interfaces: if has(0) { &names } else { &[] },
            interrupt_cores: self.interrupt_cores.map(usize::from),
            channels: has(1),
            threaded_napi: has(2),
            pin: has(3),
            rate: self.rate.map(|rate| PerSecond(rate.into())),
            profile: has(4).then_some(&profile),
        };
        match place(observed, &request) {
            Ok(placement) => check(&placement),
            Err(unplaceable) => assert!(!unplaceable.to_string().is_empty()),
        }
    }
}

fn check(placement: &HostPlacement) {
    let checked = placement.plan.check();
    assert_eq!(checked, Ok(()), "{placement:?}");
}

fn assert_says_where(error: &ProbeError, trees: [&Tree; 2]) {
    let text = error.to_string();
    assert_printable(&text);
    if let ProbeError::Malformed(malformed) = error {
        let has = |tree: &Tree| tree.files.keys().any(|file| Path::new(file) == malformed.file);
        assert!(trees.into_iter().any(has), "{text}");
        assert!(!malformed.expected.is_empty(), "{text}");
    }
}
