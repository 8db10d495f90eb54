//! The system calls of a shared port that no safe crate offers, each as a safe function.
//!
//! Every `unsafe` block passes pointers to memory that is borrowed for the call; the kernel keeps none of
//! them. Headers are written anew for each call, from borrows of that moment.

use super::outbox::Entry;
use super::{Batch, Datagram};
use core::mem::{MaybeUninit, size_of, zeroed};
use core::ptr;
use core::time::Duration;
use rustix::io::Errno;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd};

/// Space for the control messages of a datagram: its destination and its time, each with a header. Words, since
/// a header must be aligned.
type Control = [u64; 12];

/// What the kernel fills in for each datagram of a batch.
pub(super) struct Arrays {
    bytes: Vec<u8>,
    /// Bytes from one buffer to the next.
    stride: usize,
    longest: usize,
    names: Vec<libc::sockaddr_storage>,
    controls: Vec<Control>,
    parts: Vec<libc::iovec>,
    headers: Vec<libc::mmsghdr>,
}

impl Arrays {
    pub(super) fn new(datagrams: usize, longest: usize) -> Self {
        // An odd number of lines apart, so that buffers do not share the same sets of a cache.
        let stride = (longest.div_ceil(64) | 1) * 64;
        // SAFETY: all of these structures may be zero.
        let (name, header) = unsafe { (zeroed::<libc::sockaddr_storage>(), zeroed::<libc::mmsghdr>()) };
        Self {
            bytes: vec![0; stride * datagrams],
            stride,
            longest,
            names: vec![name; datagrams],
            controls: vec![[0; 12]; datagrams],
            parts: vec![libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 }; datagrams],
            headers: vec![header; datagrams],
        }
    }

    pub(super) fn capacity(&self) -> usize {
        self.headers.len()
    }

    /// Writes the headers of the first `count` datagrams.
    fn prepare(&mut self, count: usize) {
        let buffers = self.bytes.chunks_exact_mut(self.stride);
        let spaces = self.names.iter_mut().zip(&mut self.controls).zip(buffers);
        for (((name, control), buffer), (part, header)) in
            spaces.zip(self.parts.iter_mut().zip(&mut self.headers)).take(count)
        {
            *part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: self.longest };
            let message = &mut header.msg_hdr;
            message.msg_name = ptr::from_mut(name).cast();
            message.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
            message.msg_iov = part;
            message.msg_iovlen = 1;
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = size_of::<Control>() as _;
            message.msg_flags = 0;
        }
    }

    /// Whether the kernel wrote no sender: this is no datagram, but the end of a socket that was shut down.
    pub(super) fn is_end(&self) -> bool {
        self.headers[0].msg_hdr.msg_namelen == 0
    }

    /// Reads what the kernel wrote of datagram `at`; `None` for a sender of another family.
    pub(super) fn datagram(&self, at: usize) -> Option<Datagram<'_>> {
        let header = &self.headers[at];
        let start = at * self.stride;
        let (mut to, mut time) = (None, None);
        let length = header.msg_hdr.msg_controllen.min(size_of::<Control>());
        each_control(&self.controls[at], length, |level, kind, data| match (level, kind) {
            (libc::IPPROTO_IP, libc::IP_PKTINFO) => to = data.get(4..8).map(|bytes| v4(bytes).into()),
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
                let address = data.first_chunk().map(|&bytes| Ipv6Addr::from_octets(bytes));
                // No datagram may leave from the address of a group.
                to = address.filter(|address| !address.is_multicast()).map(Into::into);
            }
            (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => time = data.first_chunk().map(timespec),
            _ => {}
        });
        Some(Datagram {
            bytes: &self.bytes[start..start + (header.msg_len as usize).min(self.longest)],
            from: address(&self.names[at])?,
            to,
            at: time,
            truncated: header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0,
        })
    }
}

fn v4(bytes: &[u8]) -> Ipv4Addr {
    Ipv4Addr::from_octets(bytes.first_chunk().copied().unwrap_or_default())
}

/// A `timespec` of two 64-bit numbers.
fn timespec(bytes: &[u8; 16]) -> Duration {
    let number = |at: usize| u64::from_ne_bytes(core::array::from_fn(|byte| bytes[at + byte]));
    Duration::new(number(0), number(8) as u32)
}

/// Calls `take` with level, type and data of each control message in the first `length` bytes.
fn each_control(control: &Control, length: usize, mut take: impl FnMut(i32, i32, &[u8])) {
    const HEADER: usize = size_of::<libc::cmsghdr>();
    let mut bytes = [0_u8; size_of::<Control>()];
    for (to, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(control) {
        *to = word.to_ne_bytes();
    }
    let mut rest = &bytes[..length];
    while rest.len() >= HEADER {
        // The length in a header is a word; level and type are four bytes each.
        let size = usize::from_ne_bytes(core::array::from_fn(|at| rest[at]));
        let number = |from: usize| i32::from_ne_bytes(core::array::from_fn(|at| rest[from + at]));
        if size < HEADER || size > rest.len() {
            return;
        }
        let word = size_of::<usize>();
        take(number(word), number(word + 4), &rest[HEADER..size]);
        rest = rest.get(size.next_multiple_of(word)..).unwrap_or_default();
    }
}

/// The address that the kernel wrote.
fn address(name: &libc::sockaddr_storage) -> Option<SocketAddr> {
    match i32::from(name.ss_family) {
        libc::AF_INET => {
            // SAFETY: the family says that the kernel wrote this structure, which is shorter.
            let name = unsafe { *ptr::from_ref(name).cast::<libc::sockaddr_in>() };
            let address = Ipv4Addr::from_bits(u32::from_be(name.sin_addr.s_addr));
            Some(SocketAddrV4::new(address, u16::from_be(name.sin_port)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: the family says that the kernel wrote this structure, which is shorter.
            let name = unsafe { *ptr::from_ref(name).cast::<libc::sockaddr_in6>() };
            let (address, port) =
                (Ipv6Addr::from_octets(name.sin6_addr.s6_addr), u16::from_be(name.sin6_port));
            // The flow label is a sender's affair and no part of its address.
            Some(SocketAddrV6::new(address, port, 0, name.sin6_scope_id).into())
        }
        _ => None,
    }
}

/// Receives a batch: blocks for the first datagram if `wait`, until the socket's timeout, and for no other. Returns
/// how many were received.
pub(super) fn receive(socket: impl AsFd, batch: &mut Batch, wait: bool) -> Result<usize, Errno> {
    let count = batch.limit();
    batch.arrays.prepare(count);
    let flags = if wait { libc::MSG_WAITFORONE } else { libc::MSG_DONTWAIT };
    // SAFETY: the first `count` headers point to names, parts, buffers and control space of their own, all
    // borrowed mutably through `batch` for this call; no timeout is passed.
    let status = unsafe {
        libc::recvmmsg(
            socket.as_fd().as_raw_fd(),
            batch.arrays.headers.as_mut_ptr(),
            count as libc::c_uint,
            flags as _,
            ptr::null_mut(),
        )
    };
    checked(status)
}

/// Sends up to [`Batch::MOST`] of `entries`, whose ranges lie in `bytes`. Blocks until the socket's timeout if its buffer
/// is full. Returns how many the kernel accepted; an error is that of the first.
pub(super) fn send(socket: impl AsFd, entries: &[Entry], bytes: &[u8]) -> Result<usize, Errno> {
    let mut spaces = [const { MaybeUninit::<Space>::uninit() }; Batch::MOST];
    let mut headers = [const { MaybeUninit::<libc::mmsghdr>::uninit() }; Batch::MOST];
    let count = entries.len().min(Batch::MOST);
    for (entry, (space, header)) in entries.iter().zip(spaces.iter_mut().zip(&mut headers)) {
        // SAFETY: all of `Space` and `mmsghdr` may be zero.
        let (space, header) = unsafe { (space.write(zeroed()), header.write(zeroed())) };
        let data = &bytes[entry.bytes.clone()];
        // The kernel only reads through this pointer.
        space.part = libc::iovec { iov_base: data.as_ptr().cast_mut().cast(), iov_len: data.len() };
        let message = &mut header.msg_hdr;
        message.msg_namelen = write_address(&mut space.name, entry.to);
        let control = entry.from.map_or(0, |from| write_source(&mut space.control, from, entry.to));
        // Derived last, after all uses of the fields by name.
        let space = ptr::from_mut(space);
        // SAFETY: `space` points to a `Space` that lives until the end of this function.
        unsafe {
            message.msg_name = (&raw mut (*space).name).cast();
            message.msg_iov = &raw mut (*space).part;
            message.msg_control =
                if control == 0 { ptr::null_mut() } else { (&raw mut (*space).control).cast() };
        }
        message.msg_iovlen = 1;
        message.msg_controllen = control as _;
    }
    // SAFETY: the first `count` headers are written, and point to spaces that are, and those to `bytes`.
    let status = unsafe {
        libc::sendmmsg(socket.as_fd().as_raw_fd(), headers.as_mut_ptr().cast(), count as libc::c_uint, 0)
    };
    checked(status)
}

/// What the header of a message to send points to.
struct Space {
    name: libc::sockaddr_storage,
    control: Control,
    part: libc::iovec,
}

/// Writes an address as the kernel reads it. Returns its length.
fn write_address(name: &mut libc::sockaddr_storage, address: SocketAddr) -> libc::socklen_t {
    match address {
        SocketAddr::V4(address) => {
            // SAFETY: `sockaddr_storage` has the size and the alignment for every kind of address.
            let name = unsafe { &mut *ptr::from_mut(name).cast::<libc::sockaddr_in>() };
            name.sin_family = libc::AF_INET as _;
            name.sin_port = address.port().to_be();
            name.sin_addr.s_addr = address.ip().to_bits().to_be();
            size_of::<libc::sockaddr_in>() as libc::socklen_t
        }
        SocketAddr::V6(address) => {
            // SAFETY: as above.
            let name = unsafe { &mut *ptr::from_mut(name).cast::<libc::sockaddr_in6>() };
            name.sin6_family = libc::AF_INET6 as _;
            name.sin6_port = address.port().to_be();
            name.sin6_addr.s6_addr = address.ip().octets();
            name.sin6_scope_id = address.scope_id();
            size_of::<libc::sockaddr_in6>() as libc::socklen_t
        }
    }
}

/// Writes the control message that makes a datagram to `to` leave from `from`. Returns its length.
fn write_source(control: &mut Control, from: IpAddr, to: SocketAddr) -> usize {
    let mut info = [0_u8; 20];
    let (level, kind, length) = match from {
        IpAddr::V4(from) => {
            // `in_pktinfo`: an interface, the source, and the destination, which is not read.
            info[4..8].copy_from_slice(&from.octets());
            (libc::IPPROTO_IP, libc::IP_PKTINFO, 12)
        }
        IpAddr::V6(from) => {
            // `in6_pktinfo`: the source and an interface, which an address of a link needs.
            info[..16].copy_from_slice(&from.octets());
            let scope = if let SocketAddr::V6(to) = to { to.scope_id() } else { 0 };
            info[16..].copy_from_slice(&scope.to_ne_bytes());
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, 20)
        }
    };
    let header = size_of::<libc::cmsghdr>();
    let mut bytes = [0_u8; size_of::<Control>()];
    let word = size_of::<usize>();
    bytes[..word].copy_from_slice(&(header + length).to_ne_bytes());
    bytes[word..word + 4].copy_from_slice(&level.to_ne_bytes());
    bytes[word + 4..word + 8].copy_from_slice(&kind.to_ne_bytes());
    bytes[header..header + length].copy_from_slice(&info[..length]);
    for (to, from) in control.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *to = u64::from_ne_bytes(*from);
    }
    (header + length).next_multiple_of(word)
}

/// Attaches a program of the given kind (`SO_ATTACH_FILTER`, `SO_ATTACH_REUSEPORT_CBPF`).
pub(super) fn attach(socket: impl AsFd, option: i32, program: &[libc::sock_filter]) -> Result<(), Errno> {
    super::super::kernel::set_program(socket, libc::SOL_SOCKET, option, program)
}

/// The number of datagrams that the kernel dropped at this socket since it was opened, and the bytes that its queue
/// holds (`SO_MEMINFO`).
pub(super) fn drops_and_queued(socket: impl AsFd) -> Result<(u32, u32), Errno> {
    /// Where `SK_MEMINFO_RMEM_ALLOC` and `SK_MEMINFO_DROPS` stand.
    const QUEUED: usize = 0;
    const DROPS: usize = 8;
    let mut values = [0_u32; 9];
    let mut size = size_of::<[u32; 9]>() as libc::socklen_t;
    // SAFETY: `values` is writable for `size` bytes.
    let status = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            ptr::from_mut(&mut values).cast(),
            &raw mut size,
        )
    };
    checked(status).map(|_| (values[DROPS], values[QUEUED]))
}

/// Converts the return value of a C call into a result, with `errno` as the error.
fn checked(status: libc::c_int) -> Result<usize, Errno> {
    usize::try_from(status).map_err(|_| {
        std::io::Error::last_os_error().raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
    })
}
