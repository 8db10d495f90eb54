//! Files by which systemd sets up the queues of interfaces.

use crate::tree::Tree;
use serde::Serialize;
use std::collections::BTreeMap;

/// A file by which systemd-udevd sets up new interfaces (`systemd.link(5)`), with its settings of
/// queues.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LinkFile {
    /// The path of the file.
    pub file: String,
    /// The lines that set the number of queues, their steering or the cpus of their interrupts.
    pub settings: Vec<String>,
}

/// Reads the `.link` files that set up queues, in order of precedence. A file hides files of the same
/// name in later directories.
pub(crate) fn read(tree: &Tree) -> Vec<LinkFile> {
    const DIRECTORIES: [&str; 4] = [
        "etc/systemd/network",
        "run/systemd/network",
        "usr/local/lib/systemd/network",
        "usr/lib/systemd/network",
    ];
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for directory in DIRECTORIES {
        for name in tree.entries(directory, &|name| name.ends_with(".link").then(|| name.to_owned())) {
            files.entry(name).or_insert_with_key(|name| format!("{directory}/{name}"));
        }
    }
    let link_file = |file: String| {
        let settings = tree.filtered(&file, about_queues)?.lines().map(str::to_owned).collect();
        Some(LinkFile { file: format!("/{file}"), settings })
    };
    files.into_values().filter_map(link_file).collect()
}

/// Keeps the lines that set up queues. Other lines may identify the machine.
fn about_queues(text: &str) -> String {
    const KEYS: [&str; 10] = [
        "RxChannels",
        "TxChannels",
        "OtherChannels",
        "CombinedChannels",
        "ReceiveQueues",
        "TransmitQueues",
        "ReceivePacketSteeringCPUMask",
        // Where interrupts of queues go (systemd 261).
        "IRQAffinity",
        "IRQAffinityPolicy",
        "IRQAffinityNUMA",
    ];
    let key = |line: &str| line.split_once('=').map_or("", |(key, _)| key).trim().to_owned();
    let lines = text.lines().map(str::trim).filter(|line| KEYS.contains(&key(line).as_str()));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;

    #[test]
    fn only_the_queue_settings_of_a_link_file_are_read() {
        let mut tree = fake::Tree::default();
        let text = "[Match]\nMACAddress=00:11:22:33:44:55\n[Link]\nCombinedChannels = 4\nIRQAffinityPolicy=single\nName=wan";
        tree.put("etc/systemd/network/10-wan.link", text);
        tree.put("usr/lib/systemd/network/10-wan.link", "[Link]\nRxChannels=8");
        tree.put("usr/lib/systemd/network/99-default.link", "[Link]\nNamePolicy=keep");
        let (probe, recording) = crate::Probe::fake(tree).recorded();
        let files = read(probe.tree());
        assert_eq!(files.len(), 1, "{files:?}");
        assert_eq!(files[0].settings, ["CombinedChannels = 4", "IRQAffinityPolicy=single"]);
        let kept: String = recording.tree().files.into_values().collect();
        assert!(!kept.contains("00:11") && kept.contains("CombinedChannels"), "{kept}");
    }
}
