//! Frames that a packet socket has yet to send, in batches for `sendmmsg`.

use crate::net::{Interface, kernel};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::os::fd::BorrowedFd;

/// How many batches of outgoing frames may be queued. One system call sends one batch.
const QUEUED_BATCHES: usize = 4;

/// The queue of frames to send, oldest first, and buffers to reuse.
#[derive(Debug)]
pub(super) struct Outgoing {
    queue: VecDeque<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    /// The longest frame that the interface sends, in bytes.
    pub(super) longest: usize,
    /// Frames that the kernel refused or dropped.
    pub(super) lost: u64,
}

impl Outgoing {
    pub(super) fn new(interface: &Interface) -> Self {
        Self { queue: VecDeque::new(), spare: Vec::new(), longest: interface.longest_frame(), lost: 0 }
    }

    pub(super) fn push(&mut self, frame: &[u8]) {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(frame);
        self.queue.push_back(buffer);
    }

    fn pop(&mut self, count: usize) {
        self.spare.extend(self.queue.drain(..count));
    }

    pub(super) fn is_full(&self) -> bool {
        self.queue.len() >= kernel::BATCH * QUEUED_BATCHES
    }

    /// Sends if whole batches are queued. Frames that the kernel does not accept yet stay queued; the next
    /// flush reports errors.
    pub(super) fn flush_whole_batches(&mut self, socket: BorrowedFd<'_>) {
        if self.queue.len().is_multiple_of(kernel::BATCH) {
            let _ = self.flush(socket);
        }
    }

    /// Sends until the queue is empty or the kernel accepts no more. A frame that the kernel refuses, or
    /// drops on the way ("no buffer space"), is counted as lost.
    pub(super) fn flush(&mut self, socket: BorrowedFd<'_>) -> Result<(), Errno> {
        while !self.queue.is_empty() {
            match kernel::send_batch(socket, self.queue.iter().map(Vec::as_slice)) {
                Ok(sent) => self.pop(sent),
                Err(Errno::INTR) => {}
                Err(Errno::NOBUFS | Errno::MSGSIZE | Errno::INVAL) => {
                    self.lost += 1;
                    self.pop(1);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
