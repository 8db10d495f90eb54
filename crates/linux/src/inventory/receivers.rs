//! How much each process receives through TCP sockets: the evidence that it reads packets.
//!
//! The kernel counts the bytes that every TCP socket has received (`sock_diag(7)`), and `/proc/PID/fd` names the
//! sockets of a process by inode. Of both, only inodes and counts are kept; addresses serve to leave out connections
//! within the machine. UDP sockets have no such count, and the sockets of other network namespaces are not seen: who
//! reads those has to be named.
//!
//! A capture holds what was seen in documents of its own, `warmcore/received.toml` and `warmcore/sockets/PID.toml`.

use crate::Probe;
use crate::netlink::Netlink;
use crate::probe::Malformed;
use crate::tree::Tree;
use netlink_bindings::inet_diag::{self, ReqV2, TcpState};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use warmcore_units::{Bytes, Nanos, PerSecond};

const RECEIVED: &str = "warmcore/received.toml";

/// A program that receives less is not worth a placement.
const LEAST: PerSecond = PerSecond(10_000.0);

/// A program that has received less through its connections is none that packets are placed for.
const LEAST_HELD: Bytes = Bytes::kib(1024);

/// A program that receives less than this part of all that is received is none that packets are placed for.
const LEAST_PART: f64 = 0.05;

/// Where the cards take in more packets for each byte that is received than one in this many bytes, those who receive are
/// not who most packets are for: a batch job that fetches some kilobytes beside a million datagrams. Most packets of a
/// server that sends more than it receives carry acknowledgements and no bytes, a few of them a request of hundreds.
const LEAST_BYTES_A_PACKET: f64 = 8.0;

/// Whether the `receivers` together receive enough to be those whom packets that arrive at `packets` are for.
pub(super) fn account_for(receivers: &[Receiver], packets: PerSecond) -> bool {
    receivers.iter().map(|receiver| receiver.bytes.0).sum::<f64>() >= LEAST_BYTES_A_PACKET * packets.0
}

/// The programs of processes, by the number of the process: its control group and its name. The processes of one name
/// in one group share a server's work, and are judged together.
pub(super) type Programs = BTreeMap<u32, (Option<String>, String)>;

/// The bytes that TCP sockets have received so far, by inode.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(from = "ReceivedDocument", into = "ReceivedDocument")]
pub(crate) struct Received(BTreeMap<u64, u64>);

/// The same as a document: pairs of an inode and a number of bytes.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReceivedDocument {
    sockets: Vec<(u64, u64)>,
}

impl From<ReceivedDocument> for Received {
    fn from(document: ReceivedDocument) -> Self {
        Self(document.sockets.into_iter().collect())
    }
}

impl From<Received> for ReceivedDocument {
    fn from(received: Received) -> Self {
        Self { sockets: received.0.into_iter().collect() }
    }
}

/// The open TCP sockets of a process, by inode.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenSockets {
    sockets: BTreeSet<u64>,
}

/// How much a process received through TCP sockets.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Receiver {
    /// The number of the process.
    pub pid: u32,
    /// Bytes received per second.
    pub bytes: PerSecond,
}

/// How much a process has received through the connections that it has now.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Holder {
    /// The number of the process.
    pub pid: u32,
    /// Bytes received since they began.
    pub bytes: Bytes,
}

impl Probe {
    /// Reads what all TCP sockets have received so far; `None` where the kernel does not say.
    pub(crate) fn received(&self) -> Result<Option<Received>, Malformed> {
        let expected = "`sockets = [[inode, bytes], …]`";
        self.tree().asked(RECEIVED, expected, || live_received().ok())
    }

    /// Computes which of the processes `programs` received how much from `earlier` to `now`; the most first.
    pub(super) fn receivers(
        &self,
        (earlier, now): (&Received, &Received),
        elapsed: Nanos,
        programs: &Programs,
    ) -> Result<Vec<Receiver>, Malformed> {
        let evident = self.evident(now, &now.since(earlier), programs, LEAST.0 * elapsed.secs())?;
        let receiver = |(pid, bytes)| Receiver { pid, bytes: PerSecond(bytes as f64 / elapsed.secs()) };
        Ok(evident.into_iter().map(receiver).collect())
    }

    /// Computes which of the processes `programs` have received how much through the connections in `now`; the most
    /// first.
    pub(super) fn holders(&self, now: &Received, programs: &Programs) -> Result<Vec<Holder>, Malformed> {
        let evident = self.evident(now, &now.0, programs, LEAST_HELD.0 as f64)?;
        Ok(evident.into_iter().map(|(pid, bytes)| Holder { pid, bytes: Bytes(bytes) }).collect())
    }

    /// The processes that have some of the bytes `counted` by socket, of programs that have at least `least` and
    /// [`LEAST_PART`] of them together; the most first.
    fn evident(
        &self,
        now: &Received,
        counted: &BTreeMap<u64, u64>,
        programs: &Programs,
        least: f64,
    ) -> Result<Vec<(u32, u64)>, Malformed> {
        let least = least.max(LEAST_PART * counted.values().sum::<u64>() as f64);
        let (mut of_program, mut of_process) = (BTreeMap::<_, u64>::new(), Vec::new());
        for (&pid, program) in programs {
            let sockets = sockets(self.tree(), pid, now)?;
            let bytes: u64 = sockets.iter().filter_map(|inode| counted.get(inode)).sum();
            *of_program.entry(program).or_default() += bytes;
            of_process.push((pid, program, bytes));
        }
        let is_evident = |&(_, program, bytes): &(u32, _, u64)| {
            bytes > 0 && of_program.get(program).is_some_and(|&all| all as f64 >= least)
        };
        let found = of_process.into_iter().filter(is_evident);
        let mut found: Vec<(u32, u64)> = found.map(|(pid, _, bytes)| (pid, bytes)).collect();
        found.sort_by_key(|&(pid, bytes)| (core::cmp::Reverse(bytes), pid));
        Ok(found)
    }
}

impl Received {
    /// What each socket has received since `earlier`. A new one has received all of it since.
    fn since(&self, earlier: &Self) -> BTreeMap<u64, u64> {
        let before = |inode| earlier.0.get(inode).copied().unwrap_or(0);
        self.0.iter().map(|(inode, &bytes)| (*inode, bytes.saturating_sub(before(inode)))).collect()
    }
}

/// Reads the inodes of the TCP sockets in `known` that process `pid` has open. None are seen of a process of another
/// user.
fn sockets(tree: &Tree, pid: u32, known: &Received) -> Result<BTreeSet<u64>, Malformed> {
    let file = format!("warmcore/sockets/{pid}.toml");
    let open = tree.asked(&file, "`sockets = [inode, …]`", || live_sockets(pid, known))?;
    Ok(open.unwrap_or_default().sockets)
}

fn live_sockets(pid: u32, known: &Received) -> Option<OpenSockets> {
    let mut sockets = BTreeSet::new();
    for entry in fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten() {
        let Ok(target) = fs::read_link(entry.path()) else { continue };
        let inode =
            target.to_str().and_then(|name| name.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok());
        sockets.extend(inode.filter(|inode| known.0.contains_key(inode)));
    }
    Some(OpenSockets { sockets })
}

/// What each TCP socket has received that is connected to another machine, or to an address of this one that is no
/// loopback address.
fn live_received() -> Result<Received, Errno> {
    let mut received = Received::default();
    let mut netlink = Netlink::of_sockets()?;
    for family in [libc::AF_INET, libc::AF_INET6] {
        let wanted = ReqV2 {
            family: family as u8,
            protocol: libc::IPPROTO_TCP as u8,
            states: 1 << TcpState::Established as u32,
            ext: INFO,
            ..ReqV2::default()
        };
        let request = inet_diag::Request::new().op_tcp_diag_dump(&wanted);
        netlink.request(&request, |(header, attributes)| {
            let is_local = peer(family, &header.sockid.dst).is_loopback() || header.inode == 0;
            if let (false, Ok(info)) = (is_local, attributes.get_tcp_info()) {
                received.0.insert(header.inode.into(), info.bytes_received);
            }
        })?;
    }
    Ok(received)
}

/// Asks for `struct tcp_info`: the bit of `INET_DIAG_INFO`, the second of the extensions.
const INFO: u8 = 1 << 1;

fn peer(family: i32, address: &[u8; 16]) -> IpAddr {
    if family == libc::AF_INET {
        let [a, b, c, d, ..] = *address;
        return Ipv4Addr::new(a, b, c, d).into();
    }
    Ipv6Addr::from(*address).to_canonical()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{self, hosts};
    use crate::inventory::Observation;
    use crate::net::{Namespace, privilege_missing};
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::process;

    #[test]
    fn who_received_most_is_seen_and_who_received_little_is_not() {
        let tree = hosts::two_socket_server().receiving(&[(2000, 36_000_000_000), (4321, 3_600_000)]);
        let [earlier, later] = [tree.earlier(10.0), tree].map(Probe::fake);
        let rates = Observation::of_probes(&earlier, &later).expect("sound trees").rates.expect("an uptime");
        let found: Vec<u32> = rates.receivers.iter().map(|receiver| receiver.pid).collect();
        assert_eq!(found, [2000]);
        assert!((rates.receivers[0].bytes.0 - 1e7).abs() < 10.0, "{:?}", rates.receivers);
    }

    #[test]
    fn the_processes_of_a_program_are_judged_together() {
        let now = Received((0..40).map(|inode| (inode, 1_000_000)).collect());
        let mut tree = fake::Tree::default();
        for pid in 0..40 {
            tree.put(format!("warmcore/sockets/{pid}.toml"), format!("sockets = [{pid}]"));
        }
        let program = |pid: u32| match pid {
            0..38 => (Some("/nginx".to_owned()), "nginx".to_owned()),
            _ => (Some("/scraper".to_owned()), format!("scraper-{pid}")),
        };
        let programs: Programs = (0..40).map(|pid| (pid, program(pid))).collect();
        let found = Probe::fake(tree)
            .receivers((&Received::default(), &now), Nanos::from_secs(1.0), &programs)
            .expect("sound");
        let pids: Vec<u32> = found.iter().map(|of| of.pid).collect();
        assert_eq!(pids, (0..38).collect::<Vec<u32>>(), "each has 2.5% of all");
    }

    #[test]
    fn a_malformed_file_is_named() {
        let mut tree = fake::Tree::default();
        tree.put(RECEIVED, "sockets = [[17]]");
        let error = Probe::fake(tree).received().unwrap_err().to_string();
        assert!(error.contains("received.toml` holds `sockets = [[17]]`, expected `sockets = [["), "{error}");
    }

    /// The bytes that this process receives are counted by the kernel and found again by its sockets; those through a
    /// loopback address are not.
    #[test]
    fn what_this_process_receives_over_a_network_is_seen() {
        if let Some(missing) = privilege_missing() {
            println!("not run: a namespace needs {missing}");
            return;
        }
        let namespace = Namespace::new().expect("a namespace");
        namespace
            .run(|| {
                let ip = |arguments: &[&str]| {
                    assert!(process::Command::new("ip").args(arguments).status().expect("ip").success());
                };
                ip(&["link", "set", "lo", "up"]);
                ip(&["address", "add", "192.0.2.1/32", "dev", "lo"]);
                let own = process::id();
                for (address, expected) in [("192.0.2.1:0", true), ("127.0.0.1:0", false)] {
                    let listener = TcpListener::bind(address).expect("an address");
                    let mut sender =
                        TcpStream::connect(listener.local_addr().expect("bound")).expect("connected");
                    let mut receiver = listener.accept().expect("a connection").0;
                    let (probe, recording) = Probe::new().recorded();
                    let before = probe.received().expect("sound").expect("root sees sockets");
                    sender.write_all(&[7; 200_000]).expect("sent");
                    receiver.read_exact(&mut [0; 200_000]).expect("received");
                    let after = probe.received().expect("sound").expect("root sees sockets");
                    let of = |probe: &Probe| {
                        probe
                            .receivers(
                                (&before, &after),
                                Nanos::from_secs(1.0),
                                &[(own, (None, "test".to_owned()))].into(),
                            )
                            .expect("sound")
                    };
                    let found = of(&probe);
                    let bytes = found.first().map(|receiver| (receiver.pid, receiver.bytes.0));
                    assert_eq!(bytes, expected.then_some((own, 200_000.0)), "{address}");
                    assert_eq!(of(&Probe::fake(recording.tree())), found, "a capture holds the same");
                }
            })
            .expect("the namespace is entered");
    }
}
