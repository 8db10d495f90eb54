//! When the kernel received a datagram, or the last segment of what is read from a stream (`SO_TIMESTAMPNS`): for a virtual interface, when it was put into the queue of
//! the processor that runs the softirq, by the system's real-time clock.

use super::kernel::set_option;
use core::fmt;
use core::mem::{size_of, zeroed};
use core::ptr;
use core::time::Duration;
use std::io;
use std::net::{TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};

/// Bytes for the one control message that is asked for; with its header it takes 32.
const CONTROL: usize = 64;

/// A socket that says when what it receives came. No receiving blocks.
pub struct Timed<S>(S);

/// A UDP socket that says when each datagram was received.
pub type TimedDatagrams = Timed<UdpSocket>;
/// A TCP connection that says when the last segment of what is read was received.
pub type TimedStream = Timed<TcpStream>;

/// What was received in one call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimedData {
    /// Its length in bytes, at most that of the buffer; 0 also at the end of a stream.
    pub length: usize,
    /// When the kernel received it, since the epoch of the real-time clock ([`std::time::SystemTime`]); `None` if
    /// it was under way when the socket began to ask.
    pub received: Option<Duration>,
}

impl<S: AsFd> Timed<S> {
    /// Asks the kernel for the times of what this socket receives. While there is such a socket, the kernel reads its
    /// clock for every packet of the machine, some tens of nanoseconds.
    ///
    /// # Errors
    /// If the kernel refuses the option.
    pub fn new(socket: S) -> io::Result<Self> {
        set_option(&socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1_i32)?;
        Ok(Self(socket))
    }

    /// The socket.
    #[must_use]
    pub const fn socket(&self) -> &S {
        &self.0
    }

    /// Receives a datagram, or what a stream has, into `buffer`; `None` if there is nothing.
    ///
    /// # Errors
    /// The pending error of the socket.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<TimedData>> {
        #[repr(align(8))]
        struct Control([u8; CONTROL]);
        let mut control = Control([0; CONTROL]);
        let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        // SAFETY: all of `msghdr` may be zero: no name, no part, no control data.
        let mut header: libc::msghdr = unsafe { zeroed() };
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = control.0.as_mut_ptr().cast();
        header.msg_controllen = CONTROL as _;
        // SAFETY: the header points to one part and to `CONTROL` aligned bytes, all writable and alive until the call
        // returns; the kernel keeps no pointer.
        let length =
            unsafe { libc::recvmsg(self.0.as_fd().as_raw_fd(), &raw mut header, libc::MSG_DONTWAIT) };
        let Ok(length) = usize::try_from(length) else {
            return match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
                error => Err(error),
            };
        };
        Ok(Some(TimedData { length, received: received(&header) }))
    }
}

/// The time among the control messages of a header that the kernel has filled in.
fn received(header: &libc::msghdr) -> Option<Duration> {
    // SAFETY: the kernel has set the length of the control data, and the header still points to it.
    let mut message = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !message.is_null() {
        // SAFETY: a message that is not null lies within the control data, which is aligned for it.
        let kind = unsafe { ((*message).cmsg_level, (*message).cmsg_type, (*message).cmsg_len) };
        let whole = kind.2 as usize >= size_of::<libc::cmsghdr>() + size_of::<libc::timespec>();
        if (kind.0, kind.1) == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) && whole {
            // SAFETY: such a message carries a `timespec`, and is long enough for one; no alignment is assumed.
            let time: libc::timespec = unsafe { ptr::read_unaligned(libc::CMSG_DATA(message).cast()) };
            let seconds = u64::try_from(time.tv_sec).ok()?;
            return Some(Duration::new(seconds, u32::try_from(time.tv_nsec).ok()?));
        }
        // SAFETY: as above; the next message lies within the control data, or is null.
        message = unsafe { libc::CMSG_NXTHDR(header, message) };
    }
    None
}

impl<S: fmt::Debug> fmt::Debug for Timed<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Timed").field(&self.0).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::TcpListener;
    use std::time::{SystemTime, UNIX_EPOCH};

    #[test]
    fn a_datagram_is_received_between_its_sending_and_its_reading() {
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let socket = TimedDatagrams::new(UdpSocket::bind("127.0.0.1:0").unwrap()).unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut buffer = [0; 16];
        assert_eq!(socket.receive(&mut buffer).unwrap(), None);
        let (before, address) = (now(), socket.socket().local_addr().unwrap());
        sender.send_to(b"a datagram", address).unwrap();
        let datagram = (0..1_000_000).find_map(|_| socket.receive(&mut buffer).unwrap());
        let datagram = datagram.expect("loopback loses nothing");
        assert_eq!(&buffer[..datagram.length], b"a datagram");
        let received = datagram.received.expect("the kernel says when");
        assert!((before..=now()).contains(&received), "{before:?} {received:?} {:?}", now());
    }

    #[test]
    fn a_stream_says_when_its_last_segment_came() {
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = Timed::new(TcpStream::connect(listener.local_addr().unwrap()).unwrap()).unwrap();
        let (mut peer, _) = listener.accept().unwrap();
        let mut buffer = [0; 16];
        assert_eq!(stream.receive(&mut buffer).unwrap(), None);
        let before = now();
        peer.write_all(b"a segment").unwrap();
        let data = (0..1_000_000).find_map(|_| stream.receive(&mut buffer).unwrap());
        let data = data.expect("loopback loses nothing");
        assert_eq!(&buffer[..data.length], b"a segment");
        let received = data.received.expect("the kernel says when");
        assert!((before..=now()).contains(&received), "{before:?} {received:?} {:?}", now());
        drop(peer);
        let end = (0..1_000_000).find_map(|_| stream.receive(&mut buffer).unwrap());
        assert_eq!(end.expect("the end").length, 0);
    }
}
