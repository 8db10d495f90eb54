//! Counts sockets without reading their addresses.
//!
//! `/proc/net` lists each socket with its addresses but without its receive queue. So only the number
//! of sockets is read, and the interface of packet sockets.

use crate::probe::Malformed;
use crate::tree::{Tree, field_of};
use serde::Serialize;
use std::collections::BTreeMap;

const COUNTS: &str = "proc/net/sockstat";
const PACKET: &str = "proc/net/packet";

/// The number of sockets in this network namespace.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Sockets {
    /// TCP sockets in use, over IPv4.
    pub tcp: Option<u64>,
    /// UDP sockets in use, over IPv4.
    pub udp: Option<u64>,
    /// Packet sockets by the interface they are bound to; 0 stands for all interfaces.
    pub packet: BTreeMap<u32, u64>,
}

/// Counts the sockets.
pub(super) fn read(tree: &Tree) -> Result<Sockets, Malformed> {
    let counts = tree.text(COUNTS).unwrap_or_default();
    let in_use = |protocol: &str| {
        let line = field_of(&counts, protocol)?;
        let mut words = line.split_whitespace();
        words.find(|&word| word == "inuse").and_then(|_| words.next()?.parse().ok())
    };
    Ok(Sockets { tcp: in_use("TCP"), udp: in_use("UDP"), packet: packet_sockets(tree)? })
}

/// Counts packet sockets by interface. The file has lines `sk RefCnt Type Proto Iface …` under a header;
/// only the interface is kept.
fn packet_sockets(tree: &Tree) -> Result<BTreeMap<u32, u64>, Malformed> {
    const HEADER: &str = "sk RefCnt Type Proto Iface";
    let interfaces = |text: &str| {
        let interface = |line: &str| line.split_whitespace().nth(4).unwrap_or_default().to_owned();
        let lines = text.lines().skip(1).map(|line| format!("- - - - {}", interface(line)));
        [HEADER.to_owned()].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
    };
    let text = tree.filtered(PACKET, interfaces).unwrap_or_default();
    let mut sockets = BTreeMap::new();
    for line in text.lines().skip(1) {
        let interface = line.split_whitespace().nth(4).and_then(|word| word.parse().ok());
        let interface: u32 = interface
            .ok_or_else(|| tree.malformed(PACKET, line, "the number of an interface in column 5"))?;
        *sockets.entry(interface).or_default() += 1;
    }
    Ok(sockets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;

    #[test]
    fn sockets_are_counted_and_packet_sockets_belong_to_an_interface() {
        let mut tree = fake::Tree::default();
        tree.put(COUNTS, "sockets: used 14\nTCP: inuse 5 orphan 0 tw 0\nUDP: inuse 2 mem 0");
        let header = "sk               RefCnt Type Proto  Iface R Rmem   User   Inode";
        let line = "0000000012345678 3      3    0003   2     1 0      0      20233";
        tree.put(PACKET, format!("{header}\n{line}\n{line}"));
        let (probe, recording) = crate::Probe::fake(tree).recorded();
        let sockets = read(probe.tree()).expect("valid files");
        assert_eq!((sockets.tcp, sockets.udp), (Some(5), Some(2)));
        assert_eq!(sockets.packet, BTreeMap::from([(2, 2)]));
        let copy = recording.tree();
        assert!(!copy.files[PACKET].contains("12345678"), "{copy:?}");
        assert_eq!(read(&Tree::Fake(copy)), Ok(sockets));
    }
}
