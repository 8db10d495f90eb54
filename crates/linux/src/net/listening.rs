//! Who listens at a port of this namespace, as `/proc/net` lists it.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use warmcore_units::Transport;

/// The state of a TCP socket that listens (`TCP_LISTEN` in the kernel's `include/net/tcp_states.h`).
const LISTEN: &str = "0A";
/// The state of a UDP socket without a peer (`TCP_CLOSE`).
const UNCONNECTED: &str = "07";

/// The addresses at which sockets of the calling thread's network namespace wait for connections or datagrams on `port`.
///
/// # Errors
/// If `/proc` does not list them.
pub fn listening(transport: Transport, port: u16) -> io::Result<Vec<IpAddr>> {
    let (name, state) = if transport == Transport::Tcp { ("tcp", LISTEN) } else { ("udp", UNCONNECTED) };
    let mut found = of_lines(&fs::read_to_string(format!("/proc/thread-self/net/{name}"))?, state, port);
    // A kernel without IPv6 has no such file.
    let six = fs::read_to_string(format!("/proc/thread-self/net/{name}6")).unwrap_or_default();
    found.extend(of_lines(&six, state, port));
    Ok(found)
}

/// Columns: number, local address, remote address, state.
fn of_lines(text: &str, state: &str, port: u16) -> Vec<IpAddr> {
    let address = |line: &str| {
        let mut columns = line.split_whitespace().skip(1);
        let (local, found) = (columns.next()?, columns.nth(1)?);
        let (address, found_port) = local.split_once(':')?;
        let fits = found == state && u16::from_str_radix(found_port, 16).ok()? == port;
        if fits { parse(address) } else { None }
    };
    text.lines().skip(1).filter_map(address).collect()
}

/// Words of 32 bits in hexadecimal, each in the order of this machine.
fn parse(text: &str) -> Option<IpAddr> {
    let word = |at: usize| u32::from_str_radix(text.get(at * 8..at * 8 + 8)?, 16).ok().map(u32::to_ne_bytes);
    match text.len() {
        8 => Some(Ipv4Addr::from(word(0)?).into()),
        32 => {
            let mut octets = [0; 16];
            for (at, four) in octets.chunks_exact_mut(4).enumerate() {
                four.copy_from_slice(&word(at)?);
            }
            let address = Ipv6Addr::from(octets);
            Some(address.to_ipv4_mapped().map_or(address.into(), IpAddr::from))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, UdpSocket};

    #[test]
    fn sockets_that_wait_are_found_with_their_addresses() {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("0.0.0.0:0").unwrap();
        let (tcp_port, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
        assert_eq!(listening(Transport::Tcp, tcp_port).unwrap(), [IpAddr::from(Ipv4Addr::LOCALHOST)]);
        assert_eq!(listening(Transport::Udp, udp_port).unwrap(), [IpAddr::from(Ipv4Addr::UNSPECIFIED)]);
        drop(tcp);
        assert_eq!(listening(Transport::Tcp, tcp_port).unwrap(), [] as [IpAddr; 0]);
    }

    #[test]
    fn addresses_of_both_families_are_read() {
        assert_eq!(parse("00000000000000000000000000000000"), Some(Ipv6Addr::UNSPECIFIED.into()));
        assert_eq!(parse("0100007"), None);
        assert_eq!(parse("0100007Z"), None);
    }
}
