//! LANCE: the driver of the network adaptor, and a model of the adaptor's memory (§2.2.4).
//!
//! The adaptor has a 16-bit bus on one of 32 bits. So its memory is sparse: in descriptors 16 bits are followed by a gap
//! of 16, in buffers 16 bytes by a gap of 16.

use crate::host::Host;
use crate::layer::{Above, Below, Lost};
use crate::message::Message;
use crate::on_path;
use alloc::boxed::Box;
use core::cell::{Cell, RefCell};
use core::hint::cold_path;

/// Longest frame.
pub const MAX_FRAME: usize = 1536;
/// Shortest frame that goes on the wire, without its check sequence.
pub const MIN_FRAME: usize = 60;

const RING: usize = 8;
/// 16-bit words of a descriptor: it has ten bytes.
const WORDS: usize = 5;
/// The word with the flags, and those with lengths.
const FLAGS: usize = 1;
const BYTES: usize = 2;
const MESSAGE_BYTES: usize = 3;

/// The descriptor is the adaptor's.
const OWN: u16 = 0x8000;
/// Something was wrong with the frame.
const ERROR: u16 = 0x4000;
/// The frame begins and ends in this buffer.
const WHOLE: u16 = 0x0300;

/// A descriptor, in sparse memory: the upper half of each word is a gap.
type Sparse = [Cell<u32>; WORDS];
/// A buffer in sparse memory: of each row, only the first half is there.
type Buffer = [[Cell<u8>; 32]; MAX_FRAME / 16];

/// Descriptors and buffers of one direction.
struct Ring {
    descriptors: [Sparse; RING],
    buffers: Box<[Buffer]>,
    next: Cell<usize>,
    /// The oldest entry that the driver has not had back, of what it gave to the adaptor.
    oldest: Cell<usize>,
}

/// The memory that driver and adaptor share.
pub struct Adaptor {
    transmit: Ring,
    receive: Ring,
    /// The control register: what the driver told the adaptor last.
    control: Cell<u16>,
    /// Where the adaptor is, in each ring.
    sent: Cell<usize>,
    filled: Cell<usize>,
    /// Frames that were sent, and that could not be.
    counts: Cell<(u64, u64)>,
}

/// Tells the adaptor to look for frames.
const TRANSMIT_DEMAND: u16 = 0x0008;
/// A frame was received; written to acknowledge it.
const RECEIVE_INTERRUPT: u16 = 0x0400;

fn zeroed<const N: usize>() -> [Cell<u32>; N] {
    core::array::from_fn(|_| Cell::new(0))
}

fn row() -> [Cell<u8>; 32] {
    core::array::from_fn(|_| Cell::new(0))
}

impl Ring {
    fn new() -> Self {
        let buffers = (0..RING).map(|_| core::array::from_fn(|_| row())).collect();
        Self {
            descriptors: core::array::from_fn(|_| zeroed()),
            buffers,
            next: Cell::new(0),
            oldest: Cell::new(0),
        }
    }

    /// The next entry, which becomes the one after.
    fn advance(&self) {
        self.next.set((self.next.get() + 1) % RING);
    }
}

impl Default for Adaptor {
    fn default() -> Self {
        let adaptor = Self {
            transmit: Ring::new(),
            receive: Ring::new(),
            control: Cell::new(0),
            sent: Cell::new(0),
            filled: Cell::new(0),
            counts: Cell::new((0, 0)),
        };
        for descriptor in &adaptor.receive.descriptors {
            descriptor[FLAGS].set(u32::from(OWN));
        }
        adaptor
    }
}

impl Adaptor {
    /// The adaptor's part of sending: takes the next frame off its ring, into `frame`. Returns its length.
    pub fn take(&self, frame: &mut [u8]) -> Option<usize> {
        let at = self.sent.get();
        let descriptor = &self.transmit.descriptors[at];
        if descriptor[FLAGS].get() as u16 & OWN == 0 {
            return None;
        }
        let length = (descriptor[BYTES].get() as u16).wrapping_neg() as usize & 0xfff;
        let bytes = self.transmit.buffers[at].iter().flat_map(|row| &row[..16]);
        frame.iter_mut().zip(bytes).take(length).for_each(|(to, from)| *to = from.get());
        descriptor[FLAGS].set(descriptor[FLAGS].get() & !u32::from(OWN));
        self.sent.set((at + 1) % RING);
        Some(length.min(frame.len()))
    }

    /// The adaptor's part of receiving: puts `frame` on its ring. Returns whether there was space.
    pub fn put(&self, frame: &[u8]) -> bool {
        let at = self.filled.get();
        let descriptor = &self.receive.descriptors[at];
        if descriptor[FLAGS].get() as u16 & OWN == 0 || frame.len() > MAX_FRAME {
            return false;
        }
        let bytes = self.receive.buffers[at].iter().flat_map(|row| &row[..16]);
        frame.iter().zip(bytes).for_each(|(from, to)| to.set(*from));
        descriptor[MESSAGE_BYTES].set(frame.len() as u32);
        descriptor[FLAGS].set(u32::from(WHOLE));
        self.filled.set((at + 1) % RING);
        true
    }
}

/// Copies `bytes` to sparse memory.
#[inline(never)]
fn copy_to_sparse(bytes: &[u8], buffer: &Buffer) {
    for (part, row) in bytes.chunks(16).zip(buffer) {
        if let Ok(part) = <&[u8; 16]>::try_from(part) {
            for (from, to) in part.iter().zip(row) {
                to.set(*from);
            }
        } else {
            for (from, to) in part.iter().zip(row) {
                to.set(*from);
            }
        }
    }
}

/// Copies from sparse memory to `bytes`.
#[inline(never)]
fn copy_from_sparse(buffer: &Buffer, bytes: &mut [u8]) {
    for (part, row) in bytes.chunks_mut(16).zip(buffer) {
        for (to, from) in part.iter_mut().zip(row) {
            *to = from.get();
        }
    }
}

/// A descriptor in dense memory.
#[inline(never)]
fn read_descriptor(sparse: &Sparse) -> [u16; WORDS] {
    core::array::from_fn(|word| sparse[word].get() as u16)
}

/// Writes a whole descriptor back.
#[inline(never)]
fn write_descriptor(dense: &[u16; WORDS], sparse: &Sparse) {
    for (from, to) in dense.iter().zip(sparse) {
        to.set(u32::from(*from));
    }
}

/// Sets words of a descriptor, the flags last: where they are, or as most drivers do by way of a copy.
#[inline(always)]
fn update<const N: usize>(sparse: &Sparse, words: [(usize, u16); N], is_direct: bool) {
    for (word, value) in words {
        if is_direct {
            sparse[word].set(u32::from(value));
        } else {
            cold_path();
            let mut dense = read_descriptor(sparse);
            dense[word] = value;
            write_descriptor(&dense, sparse);
        }
    }
}

#[inline(always)]
fn flags(sparse: &Sparse, is_direct: bool) -> u16 {
    word(sparse, FLAGS, is_direct)
}

#[inline(always)]
fn word(sparse: &Sparse, word: usize, is_direct: bool) -> u16 {
    if is_direct {
        sparse[word].get() as u16
    } else {
        cold_path();
        read_descriptor(sparse)[word]
    }
}

/// The way down: a frame to the adaptor.
pub struct LanceOut {
    /// The host.
    pub host: &'static Host,
    /// The adaptor.
    pub adaptor: &'static Adaptor,
}

impl Below for LanceOut {
    on_path! {
        fn push(&self, message: &mut Message) -> Result<(), Lost> {
            let is_direct = self.host.switches.direct_descriptors;
            let length = message.len();
            if length > MAX_FRAME {
                cold_path();
                return Err(Lost::NoSpace);
            }
            let ring = &self.adaptor.transmit;
            let at = ring.next.get();
            let descriptor = &ring.descriptors[at];
            let flags = flags(descriptor, is_direct);
            if flags & OWN != 0 {
                // All descriptors are the adaptor's: the frame is lost, and the adaptor reminded.
                cold_path();
                self.adaptor.control.set(TRANSMIT_DEMAND);
                return Err(Lost::NoSpace);
            }
            if flags & ERROR != 0 {
                cold_path();
                reset_descriptor(descriptor);
            }
            copy_to_sparse(message.bytes(), &ring.buffers[at]);
            let on_wire = length.max(MIN_FRAME) as u16;
            update(descriptor, [(BYTES, on_wire.wrapping_neg() | 0xf000), (MESSAGE_BYTES, 0), (FLAGS, OWN | WHOLE)], is_direct);
            ring.advance();
            self.adaptor.control.set(TRANSMIT_DEMAND);
            Ok(())
        }
    }
}

/// Takes back what the adaptor has sent, and counts it.
#[inline(never)]
fn reap(adaptor: &Adaptor, is_direct: bool) {
    let ring = &adaptor.transmit;
    while ring.oldest.get() != ring.next.get() {
        let descriptor = &ring.descriptors[ring.oldest.get()];
        let flags = flags(descriptor, is_direct);
        if flags & OWN != 0 {
            cold_path();
            return;
        }
        let (sent, lost) = adaptor.counts.get();
        if flags & ERROR != 0 {
            cold_path();
            reset_descriptor(descriptor);
            adaptor.counts.set((sent, lost + 1));
        } else {
            adaptor.counts.set((sent + 1, lost));
        }
        ring.oldest.set((ring.oldest.get() + 1) % RING);
    }
}

/// A descriptor that the adaptor has marked as wrong is used again.
#[inline(never)]
fn reset_descriptor(descriptor: &Sparse) {
    descriptor.iter().for_each(|word| word.set(0));
}

/// The way up: what the adaptor has received.
pub struct LanceIn<A: Above + ?Sized + 'static> {
    /// The host.
    pub host: &'static Host,
    /// The adaptor.
    pub adaptor: &'static Adaptor,
    /// Who is above.
    pub above: &'static A,
    /// The message that the next frame is received into.
    pub prepared: RefCell<Message>,
}

impl<A: Above + ?Sized> LanceIn<A> {
    on_path! {
        /// The interrupt: takes every frame that was received up.
        pub fn interrupt(&self) -> Result<(), Lost> {
            let is_direct = self.host.switches.direct_descriptors;
            let ring = &self.adaptor.receive;
            let mut result = Ok(());
            self.adaptor.control.set(RECEIVE_INTERRUPT);
            reap(self.adaptor, is_direct);
            loop {
                let at = ring.next.get();
                let descriptor = &ring.descriptors[at];
                let flags = flags(descriptor, is_direct);
                if flags & OWN != 0 {
                    return result;
                }
                if flags & ERROR != 0 || flags & WHOLE != WHOLE {
                    cold_path();
                    reset_descriptor(descriptor);
                    result = Err(Lost::Malformed);
                } else {
                    result = self.frame(descriptor, &ring.buffers[at], is_direct);
                }
                update(descriptor, [(MESSAGE_BYTES, 0), (FLAGS, OWN)], is_direct);
                ring.advance();
            }
        }
    }

    #[inline(always)]
    fn frame(&self, descriptor: &Sparse, buffer: &Buffer, is_direct: bool) -> Result<(), Lost> {
        let length = usize::from(word(descriptor, MESSAGE_BYTES, is_direct) & 0xfff);
        let mut message = self.prepared.borrow_mut();
        let Some(bytes) = message.lengthen(length) else {
            cold_path();
            return Err(Lost::NoSpace);
        };
        copy_from_sparse(buffer, bytes);
        let result = self.above.pop(&mut message);
        message.refresh(self.host.switches);
        result
    }
}
