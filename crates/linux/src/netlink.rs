//! A netlink socket. Messages are coded by `netlink-bindings`; here they are sent, received and
//! matched to their request (`Documentation/userspace-api/netlink/intro.rst` of the kernel).

use netlink_bindings::builtin::Nlmsghdr;
use netlink_bindings::nlctrl;
use netlink_bindings::traits::{NetlinkRequest, Protocol};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// The family that knows the numbers of the others (`GENL_ID_CTRL`).
const CONTROL: u16 = 16;

/// Flags of a request: it is one, and its end is to be acknowledged.
const REQUEST: u16 = 0x1 | 0x4;

/// Types of messages that end an answer (`NLMSG_ERROR`, which also reports success, and `NLMSG_DONE`).
const ERROR: u16 = 2;
const DONE: u16 = 3;

/// An attribute is at most 64 KiB long, and a message with one large attribute little longer.
const LONGEST: usize = 1 << 17;

/// The kernel answers at once; this only keeps a broken one from holding us up.
const RECEIVE_TIMEOUT: Duration = Duration::from_secs(2);

/// A socket to the kernel, in the network namespace in which it was opened.
#[derive(Debug)]
pub(crate) struct Netlink {
    socket: OwnedFd,
    sequence: u32,
    families: BTreeMap<&'static [u8], u16>,
    buffer: Vec<u8>,
}

impl Netlink {
    /// Opens a socket to the families that are known by name, such as `ethtool`.
    pub(crate) fn generic() -> Result<Self, Errno> {
        Self::open(netlink::GENERIC)
    }

    /// Opens a socket to what is known of sockets.
    pub(crate) fn of_sockets() -> Result<Self, Errno> {
        Self::open(netlink::SOCK_DIAG)
    }

    fn open(protocol: rustix::net::Protocol) -> Result<Self, Errno> {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, Some(protocol))?;
        set_socket_timeout(&socket, Timeout::Recv, Some(RECEIVE_TIMEOUT))?;
        Ok(Self { socket, sequence: 0, families: BTreeMap::new(), buffer: vec![0; LONGEST] })
    }

    /// Makes `request`, and calls `answer` with every answer.
    ///
    /// # Errors
    /// That of the kernel: `EOPNOTSUPP` if the driver cannot say, `ENOENT` if the kernel does not know the
    /// family, `EINVAL` or `EOPNOTSUPP` if it does not know the request.
    pub(crate) fn request<R: NetlinkRequest>(
        &mut self,
        request: &R,
        answer: impl FnMut(R::ReplyType<'_>),
    ) -> Result<(), Errno> {
        let family = match request.protocol() {
            Protocol::Generic(name) => self.family(name)?,
            Protocol::Raw { request_type, .. } => request_type,
        };
        self.exchange(family, request, answer)
    }

    /// The number that the kernel gave the family `name`.
    fn family(&mut self, name: &'static [u8]) -> Result<u16, Errno> {
        if let Some(&family) = self.families.get(name) {
            return Ok(family);
        }
        let mut request = nlctrl::Request::new().op_getfamily_do();
        request.encode().push_family_name_bytes(name);
        let mut found = None;
        self.exchange(CONTROL, &request, |answer| found = answer.get_family_id().ok())?;
        let family = found.ok_or(Errno::NOENT)?;
        self.families.insert(name, family);
        Ok(family)
    }

    fn exchange<R: NetlinkRequest>(
        &mut self,
        family: u16,
        request: &R,
        mut answer: impl FnMut(R::ReplyType<'_>),
    ) -> Result<(), Errno> {
        self.sequence += 1;
        let length = u32::try_from(Nlmsghdr::len() + request.payload().len()).map_err(|_| Errno::MSGSIZE)?;
        let flags = request.flags() | REQUEST;
        let header = Nlmsghdr { len: length, r#type: family, flags, seq: self.sequence, pid: 0 };
        send(&self.socket, &[header.as_slice(), request.payload()].concat(), SendFlags::empty())?;
        loop {
            let received = match recv(&self.socket, &mut self.buffer[..], RecvFlags::TRUNC) {
                Ok((_, received)) => received,
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error),
            };
            let mut rest = self.buffer.get(..received).ok_or(Errno::MSGSIZE)?;
            while let Some((header, body, behind)) = split(rest) {
                rest = behind;
                match header.r#type {
                    // An answer to an earlier request, which was given up.
                    _ if header.seq != self.sequence => {}
                    ERROR | DONE => return ended(body),
                    _ => answer(R::decode_reply(body)),
                }
            }
        }
    }
}

/// Splits the first message off: its header, its body, and what is behind it. `None` if there is none, or
/// it is cut.
fn split(bytes: &[u8]) -> Option<(Nlmsghdr, &[u8], &[u8])> {
    let header = Nlmsghdr::new_from_slice(bytes.get(..Nlmsghdr::len())?)?;
    let length = header.len as usize;
    let body = bytes.get(Nlmsghdr::len()..length)?;
    let behind = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    Some((header, body, behind))
}

/// How a request ended: the body starts with zero or a negative error number.
fn ended(body: &[u8]) -> Result<(), Errno> {
    let number = body.first_chunk().map(|bytes| i32::from_ne_bytes(*bytes)).ok_or(Errno::BADMSG)?;
    if number == 0 { Ok(()) } else { Err(Errno::from_raw_os_error(number.saturating_neg())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, sequence: u32, body: &[u8]) -> Vec<u8> {
        let len = (Nlmsghdr::len() + body.len()) as u32;
        let header = Nlmsghdr { len, r#type: kind, flags: 0, seq: sequence, pid: 0 };
        [header.as_slice(), body].concat()
    }

    #[test]
    fn messages_are_split_and_cut_ones_are_refused() {
        let mut bytes = message(20, 1, &[7; 6]);
        bytes.extend([0, 0]);
        bytes.extend(message(DONE, 1, &0_i32.to_ne_bytes()));
        let (first, body, behind) = split(&bytes).expect("a message");
        assert_eq!((first.r#type, body), (20, &[7; 6][..]));
        let (second, body, behind) = split(behind).expect("another message");
        assert_eq!((second.r#type, ended(body), behind), (DONE, Ok(()), &[][..]));
        for cut in 0..Nlmsghdr::len() + 6 {
            assert!(split(&bytes[..cut]).is_none(), "{cut}");
        }
        let mut claims_too_little = message(20, 1, &[]);
        claims_too_little[0] = 3;
        assert!(split(&claims_too_little).is_none());
    }

    #[test]
    fn an_end_is_success_or_an_error_number() {
        assert_eq!(ended(&(-95_i32).to_ne_bytes()), Err(Errno::OPNOTSUPP));
        assert_eq!(ended(&[0, 0]), Err(Errno::BADMSG));
    }

    #[test]
    fn the_kernel_answers_and_says_what_it_does_not_know() {
        let mut netlink = Netlink::generic().expect("netlink needs no privilege");
        assert_eq!(netlink.family(b"warmcore"), Err(Errno::NOENT));
        assert_eq!(netlink.family(b"nlctrl"), Ok(CONTROL));
        assert_eq!(netlink.family(b"nlctrl"), Ok(CONTROL), "a second time");
    }
}
