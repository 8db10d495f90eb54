//! System calls for the network devices that no safe crate offers, each as a safe function.
//!
//! Every `unsafe` block passes pointers to values on the stack, or to values borrowed from the
//! caller, with their correct sizes; the kernel keeps none of them after the call. Memory that the
//! kernel does keep is handled in `shared`.

use core::mem::{size_of, zeroed};
use core::ptr;
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// The most frames or datagrams per batched call.
pub(super) const BATCH: usize = 64;

/// Converts the return value of a C call into a result, with `errno` as the error.
fn checked(status: libc::c_int) -> Result<usize, Errno> {
    usize::try_from(status).map_err(|_| last_error())
}

fn last_error() -> Errno {
    std::io::Error::last_os_error().raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
}

/// Sets a socket option to a plain value, as the kernel's headers lay it out.
pub(super) fn set_option<T: Copy>(
    socket: impl AsFd,
    level: i32,
    option: i32,
    value: &T,
) -> Result<(), Errno> {
    let socket = socket.as_fd().as_raw_fd();
    // SAFETY: `value` is readable for the size given; the descriptor is open while borrowed.
    let status = unsafe {
        libc::setsockopt(
            socket,
            level,
            option,
            ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    checked(status).map(drop)
}

/// Attaches a classic packet filter (`SO_ATTACH_FILTER`). Replaces the previous one atomically.
pub(super) fn attach_filter(socket: impl AsFd, program: &[libc::sock_filter]) -> Result<(), Errno> {
    attach(socket, libc::SO_ATTACH_FILTER, program)
}

/// Attaches a program of the given kind (`SO_ATTACH_FILTER`, `SO_ATTACH_REUSEPORT_CBPF`).
pub(super) fn attach(socket: impl AsFd, option: i32, program: &[libc::sock_filter]) -> Result<(), Errno> {
    set_program(socket, libc::SOL_SOCKET, option, program)
}

/// Sets a socket option that takes a classic BPF program.
pub(super) fn set_program(
    socket: impl AsFd,
    level: i32,
    option: i32,
    program: &[libc::sock_filter],
) -> Result<(), Errno> {
    let len = u16::try_from(program.len()).map_err(|_| Errno::INVAL)?;
    // The kernel only reads through this pointer, though its type in C is not const.
    let program = libc::sock_fprog { len, filter: program.as_ptr().cast_mut() };
    set_option(socket, level, option, &program)
}

/// The number of packets that the kernel dropped at this socket since it was opened, and the bytes that its queue
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

/// The number of bytes sent on a connection that its peer's kernel has not acknowledged; its end counts as one (`SIOCOUTQ`).
pub(super) fn unacknowledged(socket: impl AsFd) -> Result<u32, Errno> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: this request writes an `int`, through a pointer to one.
    checked(unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) })?;
    Ok(u32::try_from(bytes).unwrap_or(0))
}

/// Returns the counters of a packet socket since they were last read: `(received, dropped)`.
pub(super) fn packet_statistics(socket: impl AsFd) -> Result<(u32, u32), Errno> {
    let [received, dropped] = packet_option(socket, libc::PACKET_STATISTICS)?;
    Ok((received, dropped))
}

/// Returns the group of a packet socket: its number in the low half, its mode and flags above.
pub(super) fn packet_fanout(socket: impl AsFd) -> Result<u32, Errno> {
    packet_option(socket, libc::PACKET_FANOUT).map(|[group]| group)
}

/// Reads an option of a packet socket that consists of words.
fn packet_option<const WORDS: usize>(socket: impl AsFd, option: i32) -> Result<[u32; WORDS], Errno> {
    let mut words = [0_u32; WORDS];
    let mut size = size_of::<[u32; WORDS]>() as libc::socklen_t;
    // SAFETY: `words` is writable for `size` bytes.
    let status = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_PACKET,
            option,
            ptr::from_mut(&mut words).cast(),
            &raw mut size,
        )
    };
    checked(status).map(|_| words)
}

/// Binds a packet socket to an interface, for all protocols.
pub(super) fn bind_packet(socket: impl AsFd, interface: u32) -> Result<(), Errno> {
    // SAFETY: all of `sockaddr_ll` may be zero.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = i32::try_from(interface).map_err(|_| Errno::INVAL)?;
    let size = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: `address` is readable for the size given.
    checked(unsafe { libc::bind(socket.as_fd().as_raw_fd(), (&raw const address).cast(), size) }).map(drop)
}

/// Sends up to [`BATCH`] messages in one call, without blocking. Returns how many the kernel accepted.
pub(super) fn send_batch<'a>(
    socket: impl AsFd,
    messages: impl Iterator<Item = &'a [u8]>,
) -> Result<usize, Errno> {
    let mut parts = [libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 }; BATCH];
    let mut count = 0;
    for (part, message) in parts.iter_mut().zip(messages) {
        // The kernel only reads through this pointer.
        *part = libc::iovec { iov_base: message.as_ptr().cast_mut().cast(), iov_len: message.len() };
        count += 1;
    }
    let mut headers = headers(&mut parts);
    let flags = libc::MSG_DONTWAIT as _;
    // SAFETY: the first `count` headers point to one part each, and each part to a message that
    // the iterator lends for `'a`, which outlives this call.
    checked(unsafe { libc::sendmmsg(socket.as_fd().as_raw_fd(), headers.as_mut_ptr(), count, flags) })
}

/// Receives up to [`BATCH`] messages in one call, without blocking, one into each of `buffers`.
/// Writes their lengths and returns how many were received.
pub(super) fn receive_batch(
    socket: impl AsFd,
    buffers: &mut [Vec<u8>],
    lengths: &mut [usize; BATCH],
) -> Result<usize, Errno> {
    let mut parts = [libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 }; BATCH];
    let mut count = 0;
    for (part, buffer) in parts.iter_mut().zip(buffers) {
        *part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        count += 1;
    }
    let mut headers = headers(&mut parts);
    let flags = libc::MSG_DONTWAIT as _;
    // SAFETY: the first `count` headers point to one part each, and each part to a buffer of its
    // own, lent mutably for this call; no timeout is passed.
    let received = checked(unsafe {
        libc::recvmmsg(socket.as_fd().as_raw_fd(), headers.as_mut_ptr(), count, flags, ptr::null_mut())
    })?;
    for (length, header) in lengths.iter_mut().zip(&headers[..received]) {
        *length = header.msg_len as usize;
    }
    Ok(received)
}

/// Builds message headers with one part each.
fn headers(parts: &mut [libc::iovec; BATCH]) -> [libc::mmsghdr; BATCH] {
    // SAFETY: all of `mmsghdr` may be zero: no name, no part, no control data.
    let mut headers: [libc::mmsghdr; BATCH] = unsafe { zeroed() };
    for (header, part) in headers.iter_mut().zip(parts) {
        header.msg_hdr.msg_iov = part;
        header.msg_hdr.msg_iovlen = 1;
    }
    headers
}

/// Builds an interface request for the interface `name`; the other fields are zero.
fn request(name: &str) -> Result<libc::ifreq, Errno> {
    // SAFETY: all of `ifreq` may be zero.
    let mut request: libc::ifreq = unsafe { zeroed() };
    // One byte is needed for the terminating zero.
    if name.is_empty() || name.len() >= request.ifr_name.len() || name.contains('\0') {
        return Err(Errno::NODEV);
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(request)
}

/// Queries the interface `name`: the kernel fills in the union of an interface request.
fn query(socket: impl AsFd, name: &str, what: libc::c_ulong) -> Result<libc::ifreq, Errno> {
    let mut request = request(name)?;
    // SAFETY: the requests made below read and write one `ifreq`.
    checked(unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), what as _, &raw mut request) })?;
    Ok(request)
}

/// Returns the largest packet an interface carries, without its link header.
pub(super) fn mtu(socket: impl AsFd, name: &str) -> Result<usize, Errno> {
    let answer = query(socket, name, libc::SIOCGIFMTU)?;
    // SAFETY: this request fills in `ifru_mtu`; every bit pattern is a number.
    Ok(usize::try_from(unsafe { answer.ifr_ifru.ifru_mtu }).unwrap_or(0))
}

/// Whether an interface is up.
pub(super) fn is_up(socket: impl AsFd, name: &str) -> Result<bool, Errno> {
    let answer = query(socket, name, libc::SIOCGIFFLAGS)?;
    // SAFETY: this request fills in `ifru_flags`; every bit pattern is a number.
    Ok(i32::from(unsafe { answer.ifr_ifru.ifru_flags }) & libc::IFF_UP != 0)
}

/// Brings an interface up.
pub(super) fn bring_up(socket: impl AsFd, name: &str) -> Result<(), Errno> {
    let mut request = query(&socket, name, libc::SIOCGIFFLAGS)?;
    // SAFETY: the request before filled in `ifru_flags`; every bit pattern is a number.
    let flags = unsafe { request.ifr_ifru.ifru_flags };
    request.ifr_ifru.ifru_flags = flags | libc::IFF_UP as libc::c_short;
    // SAFETY: this request reads one `ifreq`.
    checked(unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw mut request) })
        .map(drop)
}

/// Returns the hardware address of an interface; zeros if it has none.
pub(super) fn hardware_address(socket: impl AsFd, name: &str) -> Result<[u8; 6], Errno> {
    let answer = query(socket, name, libc::SIOCGIFHWADDR)?;
    // SAFETY: this request fills in `ifru_hwaddr`; every bit pattern is an address.
    let bytes = unsafe { answer.ifr_ifru.ifru_hwaddr }.sa_data;
    Ok(core::array::from_fn(|at| bytes[at] as u8))
}

/// Makes an `ethtool` request. `words` start with the command and receive the answer.
pub(super) fn ethtool(socket: impl AsFd, name: &str, words: &mut [u32; 9]) -> Result<(), Errno> {
    // SAFETY: the commands used (a value of two words, channels of nine) stay within nine words.
    unsafe { ethtool_request(socket, name, words) }
}

/// Reads the table by which hashes choose receive queues into `entries`, which must be as long as the
/// table (`ETHTOOL_GRXFHINDIR`). Returns the length of the table. If `entries` is empty, it only does that.
pub(super) fn read_indirection(socket: impl AsFd, name: &str, entries: &mut [u32]) -> Result<usize, Errno> {
    const GET: u32 = 0x38;
    let mut words = indirection_words(GET, entries)?;
    // SAFETY: the kernel writes the second word, and as many entries as that word said there is space for.
    unsafe { ethtool_request(socket, name, &mut words) }?;
    entries.copy_from_slice(&words[2..]);
    Ok(words[1] as usize)
}

/// Sets the table by which hashes choose receive queues (`ETHTOOL_SRXFHINDIR`); none gives the choice back to
/// the driver.
pub(super) fn write_indirection(socket: impl AsFd, name: &str, entries: &[u32]) -> Result<(), Errno> {
    const SET: u32 = 0x39;
    let mut words = indirection_words(SET, entries)?;
    // SAFETY: the kernel reads as many entries as the second word says.
    unsafe { ethtool_request(socket, name, &mut words) }
}

/// A command about a table: the command, the length of the table, and its entries.
fn indirection_words(command: u32, entries: &[u32]) -> Result<Vec<u32>, Errno> {
    let length = u32::try_from(entries.len()).map_err(|_| Errno::INVAL)?;
    Ok([&[command, length], entries].concat())
}

/// Makes an `ethtool` request.
///
/// # Safety
/// The command in the first word must read and write no more than `words`.
unsafe fn ethtool_request(socket: impl AsFd, name: &str, words: &mut [u32]) -> Result<(), Errno> {
    let mut request = request(name)?;
    request.ifr_ifru.ifru_data = words.as_mut_ptr().cast();
    // SAFETY: the request is an `ifreq`, whose data the caller vouches for.
    checked(unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::SIOCETHTOOL as _, &raw mut request) })
        .map(drop)
}

/// Attaches `clone` (an open `/dev/net/tun`) to the interface `name` with the given flags.
pub(super) fn set_tun_interface(clone: impl AsFd, name: &str, flags: i32) -> Result<(), Errno> {
    let mut request = request(name)?;
    request.ifr_ifru.ifru_flags = flags as libc::c_short;
    // SAFETY: this request reads and writes one `ifreq`.
    checked(unsafe { libc::ioctl(clone.as_fd().as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) })
        .map(drop)
}

/// Moves the calling thread to a new, empty network namespace.
pub(super) fn leave_network_namespace() -> Result<(), Errno> {
    // SAFETY: only the network namespace is unshared; memory and descriptors stay common, and no
    // reference depends on which network a thread sees.
    unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWNET) }
}

/// Moves the calling process, which has one thread, to a new user namespace; the kernel refuses others.
pub(super) fn leave_user_namespace() -> Result<(), Errno> {
    // SAFETY: only the user namespace is unshared; memory and descriptors stay as they are.
    unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWUSER) }
}

/// Ends the calling process at once, without anything that is to be done at its end.
pub(super) fn end_process(status: i32) -> ! {
    // SAFETY: it touches no memory.
    unsafe { libc::_exit(status) }
}

/// Calls `bpf(2)`. `attributes` has the layout of the command's part of `union bpf_attr`, and all
/// addresses in it must point to memory that is valid during the call.
fn bpf<T: Copy>(command: libc::c_long, attributes: &mut T) -> Result<libc::c_long, Errno> {
    let size = size_of::<T>() as libc::c_long;
    // SAFETY: `attributes` is readable and writable for `size` bytes.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, ptr::from_mut(attributes), size) };
    if result < 0 { Err(last_error()) } else { Ok(result) }
}

fn bpf_descriptor<T: Copy>(command: libc::c_long, attributes: &mut T) -> Result<OwnedFd, Errno> {
    let descriptor = bpf(command, attributes)?;
    // SAFETY: the commands this is used for return a new descriptor that nothing else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor as i32) })
}

/// `BPF_MAP_CREATE`.
#[repr(C)]
#[derive(Clone, Copy)]
struct MapCreate {
    map_type: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    map_flags: u32,
}

/// Creates a map from queue numbers to XDP sockets (`BPF_MAP_TYPE_XSKMAP`).
pub(super) fn create_socket_map(entries: u32) -> Result<OwnedFd, Errno> {
    let mut attributes =
        MapCreate { map_type: 17, key_size: 4, value_size: 4, max_entries: entries, map_flags: 0 };
    bpf_descriptor(0, &mut attributes)
}

/// `BPF_MAP_UPDATE_ELEM`.
#[repr(C)]
#[derive(Clone, Copy)]
struct MapUpdate {
    map: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// Adds `socket` to the map under `queue`. The kernel removes it when the socket is closed.
pub(super) fn add_socket(map: impl AsFd, queue: u32, socket: impl AsFd) -> Result<(), Errno> {
    let value = socket.as_fd().as_raw_fd();
    let mut attributes = MapUpdate {
        map: map.as_fd().as_raw_fd() as u32,
        padding: 0,
        key: (&raw const queue).expose_provenance() as u64,
        value: (&raw const value).expose_provenance() as u64,
        flags: 0,
    };
    // The map's keys and values are four bytes each, as `queue` and `value` are.
    bpf(2, &mut attributes).map(drop)
}

/// `BPF_PROG_LOAD`: the fields used here.
#[repr(C)]
#[derive(Clone, Copy)]
struct ProgramLoad {
    program_type: u32,
    instruction_count: u32,
    instructions: u64,
    licence: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
}

/// Loads an XDP program; `multiple` says that it accepts frames in several buffers. An error includes
/// the log of the kernel's verifier.
pub(super) fn load_program(instructions: &[u64], multiple: bool) -> Result<OwnedFd, (Errno, String)> {
    /// `BPF_F_XDP_HAS_FRAGS`.
    const HAS_FRAGMENTS: u32 = 1 << 5;
    let mut log = vec![0_u8; 1 << 16];
    let mut attributes = ProgramLoad {
        program_type: 6, // BPF_PROG_TYPE_XDP
        instruction_count: instructions.len() as u32,
        instructions: instructions.as_ptr().expose_provenance() as u64,
        licence: c"MIT or Apache-2.0".as_ptr().expose_provenance() as u64,
        log_level: 1,
        log_size: log.len() as u32,
        log: log.as_mut_ptr().expose_provenance() as u64,
        kernel_version: 0,
        flags: if multiple { HAS_FRAGMENTS } else { 0 },
    };
    bpf_descriptor(5, &mut attributes).map_err(|error| {
        let message = log.split(|&byte| byte == 0).next().unwrap_or_default();
        (error, String::from_utf8_lossy(message).trim().to_owned())
    })
}

/// `BPF_LINK_CREATE`.
#[repr(C)]
#[derive(Clone, Copy)]
struct LinkCreate {
    program: u32,
    interface: u32,
    attach_type: u32,
    flags: u32,
}

/// Attaches an XDP program to an interface for as long as the returned descriptor is open.
pub(super) fn attach_program(program: impl AsFd, interface: u32, flags: u32) -> Result<OwnedFd, Errno> {
    let program = program.as_fd().as_raw_fd() as u32;
    let mut attributes = LinkCreate { program, interface, attach_type: 37, flags };
    bpf_descriptor(28, &mut attributes)
}

/// Detaches a program at once. Closing the link would not detach it while a child process between
/// `fork` and `exec` still shares the descriptor.
pub(super) fn detach_program(link: impl AsFd) -> Result<(), Errno> {
    bpf(34, &mut (link.as_fd().as_raw_fd() as u32)).map(drop)
}
