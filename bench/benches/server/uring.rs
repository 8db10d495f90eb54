//! io_uring: a bare loop, and a runtime that is built on it, each once for each cpu on a socket of its own.

#![expect(unsafe_code, reason = "operations of a ring borrow memory that the compiler cannot follow")]

use crate::{Result, Stop, bind_each};
use compio::BufResult;
use compio::runtime::Runtime;
use io_uring::{IoUring, opcode, squeue, types};
use std::mem::{size_of, zeroed};
use std::net::{Shutdown, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::ptr;
use std::thread::{self, JoinHandle};

/// Requests that a loop, or the tasks of a runtime, wait for at once.
const AT_ONCE: usize = 64;
const LONGEST: usize = 2048;

/// A ring for each cpu: each of so many operations receives, then sends, and so on. Whatever is ready is handled after one system
/// call.
pub(crate) fn bare(cpus: usize) -> Result<(SocketAddr, Stop)> {
    start(cpus, |socket| {
        // A ring answers at once where a socket may not wait.
        socket.set_nonblocking(false).expect("a socket that waits");
        serve(&socket).expect("a ring");
    })
}

/// A runtime for each cpu, with as many tasks.
pub(crate) fn runtime(cpus: usize) -> Result<(SocketAddr, Stop)> {
    start(cpus, |socket| {
        let runtime = Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let socket = compio::net::UdpSocket::from_std(socket).expect("a socket");
            let tasks: Vec<_> = (0..AT_ONCE).map(|_| compio::runtime::spawn(echo(socket.clone()))).collect();
            for task in tasks {
                let _ = task.await;
            }
        });
    })
}

async fn echo(socket: compio::net::UdpSocket) {
    let mut buffer = Vec::with_capacity(LONGEST);
    loop {
        buffer.clear();
        let BufResult(received, filled) = socket.recv_from(buffer).await;
        // A socket that was shut down receives nothing.
        let Ok((1.., from)) = received else { return };
        let BufResult(_, sent) = socket.send_to(filled, from).await;
        buffer = sent;
    }
}

/// Runs `serve` on a thread for each socket, until that is shut down.
fn start(cpus: usize, serve: fn(UdpSocket)) -> Result<(SocketAddr, Stop)> {
    let (address, sockets) = bind_each(cpus)?;
    let begin = |socket: UdpSocket| -> Result<(UdpSocket, JoinHandle<()>)> {
        let other = socket.try_clone()?;
        Ok((other, thread::spawn(move || serve(socket))))
    };
    let threads = sockets.into_iter().map(begin).collect::<Result<Vec<_>>>()?;
    let stop = move || {
        for (socket, thread) in threads {
            shut_down(&socket);
            drop(thread.join());
        }
    };
    Ok((address, Box::new(stop)))
}

/// Says "not connected", and wakes all the same.
fn shut_down(socket: &UdpSocket) {
    let _ = socket2::SockRef::from(socket).shutdown(Shutdown::Both);
}

/// The memory of an operation. It stays where it is while the kernel has it.
struct Slot {
    name: libc::sockaddr_storage,
    part: libc::iovec,
    header: libc::msghdr,
    bytes: [u8; LONGEST],
}

fn serve(socket: &UdpSocket) -> std::io::Result<()> {
    let mut ring: IoUring = IoUring::builder().setup_coop_taskrun().setup_single_issuer().build(128)?;
    let descriptor = types::Fd(socket.as_raw_fd());
    // SAFETY: all of a slot may be zero.
    let mut slots: Vec<Box<Slot>> = (0..AT_ONCE).map(|_| Box::new(unsafe { zeroed::<Slot>() })).collect();
    let receive = |slot: &mut Slot, number: usize| -> squeue::Entry {
        slot.part = libc::iovec { iov_base: slot.bytes.as_mut_ptr().cast(), iov_len: LONGEST };
        slot.header.msg_name = ptr::from_mut(&mut slot.name).cast();
        slot.header.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        slot.header.msg_iov = &raw mut slot.part;
        slot.header.msg_iovlen = 1;
        opcode::RecvMsg::new(descriptor, &raw mut slot.header).build().user_data((number as u64) << 1)
    };
    let mut ready: Vec<squeue::Entry> =
        slots.iter_mut().enumerate().map(|(number, slot)| receive(slot, number)).collect();
    let mut done = Vec::with_capacity(2 * AT_ONCE);
    loop {
        for entry in ready.drain(..) {
            // SAFETY: an entry's memory is that of its slot, which no other operation has and which outlives the ring's use.
            unsafe { ring.submission().push(&entry) }.map_err(std::io::Error::other)?;
        }
        ring.submit_and_wait(1)?;
        done.extend(ring.completion().map(|entry| (entry.user_data(), entry.result())));
        for (data, result) in done.drain(..) {
            let number = (data >> 1) as usize;
            let slot = &mut *slots[number];
            if data & 1 == 1 {
                ready.push(receive(slot, number));
            } else if result > 0 {
                slot.part.iov_len = result as usize;
                let send = opcode::SendMsg::new(descriptor, &raw const slot.header);
                ready.push(send.build().user_data(data | 1));
            } else {
                // The ring goes first, and with it what the kernel has of the slots.
                drop(ring);
                return Ok(());
            }
        }
    }
}
