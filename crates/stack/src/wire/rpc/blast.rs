//! BLAST: fragments of a message, and requests for those that are missing.

use crate::rpc::RpcDropReason;
use core::hint::cold_path;
use zerocopy::network_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Length of a header.
pub const HEADER: usize = size_of::<BlastHeader>();

/// Most fragments of a message: one for each bit of the mask.
pub const MAX_FRAGMENTS: usize = 32;

const VERSION: u8 = 1;
const FRAGMENT: u8 = 1;
const NACK: u8 = 2;

/// The header in wire format.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct BlastHeader {
    /// 1.
    pub version: u8,
    /// 1 for a fragment, 2 for a request for missing ones (NACK).
    pub kind: u8,
    /// Fragments of the message.
    pub count: u8,
    /// Which of them this is, from 0; 0 in a NACK.
    pub number: u8,
    /// The message, numbered by its sender.
    pub message: U32,
    /// Bytes of the whole message; 0 in a NACK.
    pub total: U16,
    /// Bytes of this fragment. What follows them is padding of the link. 0 in a NACK.
    pub length: U16,
    /// In a NACK a bit for each fragment that is missing, the lowest for the first; 0 in a fragment.
    pub missing: U32,
}

/// What a header says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlastFrame {
    /// A fragment, or a whole message.
    Fragment(Fragment),
    /// A request for missing fragments.
    Nack(Nack),
}

/// A fragment. All of a message are equally long, but the last may be shorter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fragment {
    /// The message, numbered by its sender.
    pub message: u32,
    /// Which of the fragments this is, from 0.
    pub number: u8,
    /// Fragments of the message: at least 1, at most [`MAX_FRAGMENTS`].
    pub count: u8,
    /// Bytes of the message.
    pub total: u16,
    /// Bytes of this fragment.
    pub length: u16,
}

/// A request for missing fragments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nack {
    /// The message, numbered by its sender.
    pub message: u32,
    /// Fragments of the message: at least 2, at most [`MAX_FRAGMENTS`].
    pub count: u8,
    /// A bit for each fragment that is missing, at least one; the lowest is for the first.
    pub missing: u32,
}

impl Fragment {
    /// Bytes of each fragment of the message but the last. `None` if the numbers contradict each other.
    #[must_use]
    pub const fn size(&self) -> Option<usize> {
        let (count, total, length) = (self.count as usize, self.total as usize, self.length as usize);
        if count == 0 || count > MAX_FRAGMENTS || self.number >= self.count || length > total {
            return None;
        }
        if count == 1 {
            return if length == total { Some(total) } else { None };
        }
        let before = count - 1;
        let is_last = self.number as usize == before;
        let size = if is_last { (total - length) / before } else { length };
        let last = total.wrapping_sub(before * size);
        let is_consistent = last > 0 && last <= size && (!is_last || last == length);
        if is_consistent { Some(size) } else { None }
    }

    /// The header.
    #[must_use]
    pub const fn header(&self) -> BlastHeader {
        BlastHeader {
            version: VERSION,
            kind: FRAGMENT,
            count: self.count,
            number: self.number,
            message: U32::new(self.message),
            total: U16::new(self.total),
            length: U16::new(self.length),
            missing: U32::ZERO,
        }
    }
}

impl Nack {
    /// The header.
    #[must_use]
    pub const fn header(&self) -> BlastHeader {
        BlastHeader {
            version: VERSION,
            kind: NACK,
            count: self.count,
            number: 0,
            message: U32::new(self.message),
            total: U16::ZERO,
            length: U16::ZERO,
            missing: U32::new(self.missing),
        }
    }
}

/// A bit for each of `count` fragments.
#[must_use]
pub const fn all(count: u8) -> u32 {
    if count as usize >= MAX_FRAGMENTS { u32::MAX } else { (1 << count) - 1 }
}

/// Parses the header at the start of `frame`. A fragment has its bytes behind it.
///
/// # Errors
/// The header is truncated or unknown, its numbers contradict each other, or the fragment is longer than
/// the frame.
#[inline]
pub fn parse(frame: &[u8]) -> Result<BlastFrame, RpcDropReason> {
    let Ok((header, data)) = BlastHeader::ref_from_prefix(frame) else {
        cold_path();
        return Err(RpcDropReason::BlastTruncated);
    };
    if header.version != VERSION {
        cold_path();
        return Err(RpcDropReason::BlastVersion);
    }
    if header.kind != FRAGMENT {
        cold_path();
        return nack(header).map(BlastFrame::Nack);
    }
    let fragment = Fragment {
        message: header.message.get(),
        number: header.number,
        count: header.count,
        total: header.total.get(),
        length: header.length.get(),
    };
    if fragment.size().is_none() || header.missing != U32::ZERO {
        cold_path();
        return Err(RpcDropReason::BlastFragment);
    }
    if usize::from(fragment.length) > data.len() {
        cold_path();
        return Err(RpcDropReason::BlastLength);
    }
    Ok(BlastFrame::Fragment(fragment))
}

fn nack(header: &BlastHeader) -> Result<Nack, RpcDropReason> {
    if header.kind != NACK {
        return Err(RpcDropReason::BlastKind);
    }
    let nack = Nack { message: header.message.get(), count: header.count, missing: header.missing.get() };
    let is_count = (2..=MAX_FRAGMENTS).contains(&usize::from(nack.count));
    let is_mask = nack.missing != 0 && nack.missing & !all(nack.count) == 0;
    let is_empty = header.number == 0 && header.total == U16::ZERO && header.length == U16::ZERO;
    if is_count && is_mask && is_empty { Ok(nack) } else { Err(RpcDropReason::BlastFragment) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragment(number: u8, count: u8, total: u16, length: u16) -> Fragment {
        Fragment { message: 7, number, count, total, length }
    }

    #[test]
    fn a_message_is_cut_in_equal_parts_and_a_rest() {
        assert_eq!(fragment(0, 1, 0, 0).size(), Some(0));
        assert_eq!(fragment(0, 1, 9, 9).size(), Some(9));
        assert_eq!(fragment(0, 3, 10, 4).size(), Some(4));
        assert_eq!(fragment(1, 3, 10, 4).size(), Some(4));
        assert_eq!(fragment(2, 3, 10, 2).size(), Some(4));
        assert_eq!(fragment(1, 2, 8, 4).size(), Some(4));
    }

    #[test]
    fn numbers_that_contradict_each_other_have_no_size() {
        let wrong = [
            fragment(0, 0, 0, 0),
            fragment(1, 1, 9, 9),
            fragment(0, 1, 9, 8),
            fragment(0, 33, 33, 1),
            fragment(0, 3, 10, 3),
            fragment(0, 3, 10, 5),
            fragment(0, 2, 4, 0),
            fragment(1, 2, 4, 0),
            fragment(2, 3, 10, 3),
            fragment(1, 2, 9, 5),
            fragment(1, 2, 9, 10),
        ];
        for fragment in wrong {
            assert_eq!(fragment.size(), None, "{fragment:?}");
        }
    }

    #[test]
    fn headers_are_read_as_they_were_written() {
        let first = fragment(0, 2, 3, 2);
        let frame = [first.header().as_bytes(), b"ab"].concat();
        assert_eq!(parse(&frame), Ok(BlastFrame::Fragment(first)));
        assert_eq!(parse(&frame[..17]), Err(RpcDropReason::BlastLength));
        assert_eq!(parse(&frame[..15]), Err(RpcDropReason::BlastTruncated));

        let asked = Nack { message: 7, count: 32, missing: 1 << 31 };
        assert_eq!(parse(asked.header().as_bytes()), Ok(BlastFrame::Nack(asked)));
        let beyond = Nack { message: 7, count: 2, missing: 4 };
        assert_eq!(parse(beyond.header().as_bytes()), Err(RpcDropReason::BlastFragment));
        let nothing = Nack { message: 7, count: 2, missing: 0 };
        assert_eq!(parse(nothing.header().as_bytes()), Err(RpcDropReason::BlastFragment));
    }
}
