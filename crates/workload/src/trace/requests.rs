//! The requests of a capture: the data of the UDP datagrams to its server.

use super::flow::Datagram;
use super::link::Link;
use super::{Records, TraceError, flow, records};
use std::collections::BTreeMap;

/// The requests in a capture, in the order of their times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Requests {
    /// The server's port: the one that most datagrams were sent to; of equals, the one named first.
    pub port: u16,
    /// The data of each.
    pub payloads: Vec<Vec<u8>>,
    /// Datagrams to that port that were left out, since not all of their data were captured, or since they came in fragments.
    pub incomplete: usize,
}

impl Requests {
    /// Reads the bytes of a pcap or pcapng file.
    ///
    /// # Errors
    /// If the file is neither, contradicts itself, ends within its first packet, or has no complete UDP datagram.
    pub fn parse(file: &[u8]) -> Result<Self, TraceError> {
        let Records { mut records, .. } = records(file)?;
        records.sort_by_key(|record| record.at);
        let datagrams: Vec<(u16, Option<&[u8]>)> =
            records.iter().filter_map(|record| udp(record.link, record.frame)).collect();
        let none = TraceError::NoRequests { packets: records.len() };
        let mut counts: BTreeMap<u16, (usize, usize)> = BTreeMap::new();
        for (number, (port, _)) in datagrams.iter().enumerate() {
            counts.entry(*port).or_insert((0, number)).0 += 1;
        }
        let most = counts.iter().max_by_key(|(_, (count, first))| (*count, usize::MAX - first));
        let Some((&port, &(count, _))) = most else { return Err(none) };
        let complete =
            datagrams.iter().filter(|datagram| datagram.0 == port).filter_map(|datagram| datagram.1);
        let payloads: Vec<Vec<u8>> = complete.map(<[u8]>::to_vec).collect();
        if payloads.is_empty() {
            return Err(none);
        }
        let incomplete = count - payloads.len();
        Ok(Self { port, payloads, incomplete })
    }
}

/// The destination port of a UDP datagram, and its data if they are all there; `None` for another packet, or a later fragment.
fn udp(link: Link, frame: &[u8]) -> Option<(u16, Option<&[u8]>)> {
    let Datagram { protocol, part, payload } = flow::datagram(link, frame)?;
    if protocol != UDP || matches!(part, flow::Part::Later(_)) {
        return None;
    }
    let port = u16::from_be_bytes(*payload.get(2..)?.first_chunk()?);
    let length = usize::from(u16::from_be_bytes(*payload.get(4..)?.first_chunk()?));
    let data = payload.get(HEADER..length).filter(|_| part == flow::Part::Whole);
    Some((port, data))
}

/// The protocol's number.
const UDP: u8 = 17;
/// Bytes of its header.
const HEADER: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::PacketBuilder;

    /// A capture of raw IP packets, of which at most `kept` bytes each are there.
    fn capture(datagrams: &[(u16, u16, &[u8])], kept: usize) -> Vec<u8> {
        let mut file = 0xa1b2_c3d4_u32.to_le_bytes().to_vec();
        file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 101, 0, 0, 0]);
        for (number, (from, to, data)) in datagrams.iter().enumerate() {
            let mut packet = Vec::new();
            let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(*from, *to);
            builder.write(&mut packet, data).unwrap();
            let captured = packet.len().min(kept);
            let seconds = datagrams.len() - number;
            for word in [seconds, 0, captured, packet.len()] {
                file.extend((word as u32).to_le_bytes());
            }
            file.extend(&packet[..captured]);
        }
        file
    }

    #[test]
    fn the_data_to_the_port_of_most_datagrams_are_the_requests_in_the_order_of_time() {
        let datagrams: [(u16, u16, &[u8]); 5] =
            [(9, 53, b"c"), (53, 9, b"reply"), (8, 53, b"bb"), (7, 53, b""), (53, 8, b"reply")];
        let found = Requests::parse(&capture(&datagrams, 1000)).unwrap();
        let payloads = vec![b"".to_vec(), b"bb".to_vec(), b"c".to_vec()];
        assert_eq!(found, Requests { port: 53, payloads, incomplete: 0 });
    }

    #[test]
    fn of_equally_many_the_first_is_a_request() {
        let datagrams: [(u16, u16, &[u8]); 2] = [(53, 9, b"reply"), (9, 53, b"request")];
        assert_eq!(Requests::parse(&capture(&datagrams, 1000)).unwrap().port, 53);
    }

    #[test]
    fn incomplete_ones_are_left_out_and_counted() {
        let datagrams: [(u16, u16, &[u8]); 2] = [(9, 53, b"a long request"), (9, 53, b"hi")];
        let found = Requests::parse(&capture(&datagrams, 32)).unwrap();
        assert_eq!(found, Requests { port: 53, payloads: vec![b"hi".to_vec()], incomplete: 1 });
        let error = Requests::parse(&capture(&datagrams[..1], 32)).unwrap_err();
        assert_eq!(error, TraceError::NoRequests { packets: 1 });
    }
}
