//! Which program has a port.

use crate::net::PortProtocol;
use std::fs;
use std::net::{IpAddr, SocketAddr};

/// The program that has the port of `address`, as `NAME (process NUMBER)`; `None` if it is not visible to
/// this process: it belongs to another user, or to another network namespace.
pub(super) fn port_user(protocol: PortProtocol, address: SocketAddr) -> Option<String> {
    // The kernel's tables are read in pieces: entries can be missed while others come and go.
    const TRIES: usize = 5;
    (0..TRIES).find_map(|_| look_up(protocol, address))
}

fn look_up(protocol: PortProtocol, address: SocketAddr) -> Option<String> {
    let inode = inode(protocol, address)?;
    let link = format!("socket:[{inode}]");
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.into_iter().find(|&number| has_descriptor(number, &link)).map(|number| {
        let name = fs::read_to_string(format!("/proc/{number}/comm")).unwrap_or_default();
        format!("{} (process {number})", name.trim())
    })
}

/// The inode of a socket that is bound to this port, and to this address or to all.
fn inode(protocol: PortProtocol, address: SocketAddr) -> Option<u64> {
    // The table of both families: a socket of all IPv6 addresses has the port for IPv4 too.
    let name = if protocol == PortProtocol::Udp { "udp" } else { "tcp" };
    ["", "6"].into_iter().find_map(|family| {
        let text = fs::read_to_string(format!("/proc/thread-self/net/{name}{family}")).ok()?;
        text.lines().skip(1).find_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (bound, port) = words.get(1)?.rsplit_once(':')?;
            let is_port = u16::from_str_radix(port, 16) == Ok(address.port());
            let conflicts = is_all(bound) || address.ip().is_unspecified() || bound == in_hex(address.ip());
            (is_port && conflicts).then(|| words.get(9)?.parse().ok()).flatten()
        })
    })
}

fn is_all(hex: &str) -> bool {
    hex.bytes().all(|digit| digit == b'0')
}

/// An address as the kernel's tables show it: words in the byte order of the machine.
fn in_hex(address: IpAddr) -> String {
    let word = |bytes: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(bytes));
    match address {
        IpAddr::V4(address) => word(address.octets()),
        IpAddr::V6(address) => {
            let bytes = address.octets();
            bytes.as_chunks::<4>().0.iter().map(|&bytes| word(bytes)).collect()
        }
    }
}

fn has_descriptor(process: u32, link: &str) -> bool {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{process}/fd")) else { return false };
    descriptors
        .flatten()
        .any(|entry| fs::read_link(entry.path()).is_ok_and(|target| target.as_os_str() == link))
}
