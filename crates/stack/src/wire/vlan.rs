//! VLAN tags (IEEE 802.1Q): four bytes each, between an Ethernet frame's addresses and its type.
//!
//! ```text
//! dst src │ [0x88a8, service tag] │ [0x8100, customer tag] │ type │ data
//! ```
//!
//! A frame carries none, either, or both. With both, the service tag of a provider's bridge (formerly
//! 802.1ad) is the outer one. Any other value in this position is the type of data that is not IPv4.
//!
//! The stack skips tags: the VLAN of a frame affects neither its stream nor whether it is delivered. An
//! answer in the same VLAN carries the [`Tags`] of the frame that it answers.

use crate::drop_reason::DropReason;
use zerocopy::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// EtherType of a customer tag.
pub const ETHERTYPE_CUSTOMER: u16 = 0x8100;

/// EtherType of a service tag.
pub const ETHERTYPE_SERVICE: u16 = 0x88a8;

/// Length of one tag.
const TAG: usize = size_of::<Tag>();

/// Most bytes that tags add to a frame.
pub const MAX_TAGS: usize = 2 * TAG;

/// The control information of a tag and the type of what follows. The type of the tag itself precedes
/// it, where an untagged frame has the type of its data.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Tag {
    information: U16,
    ethertype: U16,
}

/// The tags of a frame. Each is its tag control information: priority (3 bits), drop eligibility (1
/// bit) and VLAN identifier (12 bits).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Tags {
    /// The outer tag, of a provider's bridge.
    pub service: Option<u16>,
    /// The inner tag, or the only one.
    pub customer: Option<u16>,
}

impl Tags {
    /// No tags.
    pub const NONE: Self = Self { service: None, customer: None };

    /// Bytes that the tags take in a frame.
    #[must_use]
    pub const fn length(self) -> usize {
        TAG * (self.service.is_some() as usize + self.customer.is_some() as usize)
    }

    /// Reads the tags at the start of `data`, which has type `ethertype`. Returns the tags, and the
    /// type and bytes of what follows.
    ///
    /// # Errors
    /// A tag is truncated.
    pub(super) fn read(ethertype: U16, data: &[u8]) -> Result<(Self, U16, &[u8]), DropReason> {
        let (service, ethertype, data) = read_tag(ETHERTYPE_SERVICE, ethertype, data)?;
        let (customer, ethertype, data) = read_tag(ETHERTYPE_CUSTOMER, ethertype, data)?;
        Ok((Self { service, customer }, ethertype, data))
    }

    /// Writes the tags, for data of type `ethertype`, to `bytes`, which must have the length of the
    /// tags. Returns the type of the first tag, or `ethertype` if there is none.
    pub(super) fn write(self, ethertype: u16, bytes: &mut [u8]) -> u16 {
        let (_, places) = bytes.as_rchunks_mut::<TAG>();
        let inner_first = [(ETHERTYPE_CUSTOMER, self.customer), (ETHERTYPE_SERVICE, self.service)];
        let present = inner_first.into_iter().filter_map(|(kind, information)| Some((kind, information?)));
        present.zip(places.iter_mut().rev()).fold(ethertype, |following, ((kind, information), place)| {
            let tag = Tag { information: U16::new(information), ethertype: U16::new(following) };
            place.copy_from_slice(tag.as_bytes());
            kind
        })
    }
}

/// Reads a tag of type `kind` at the start of `data`, if `ethertype` says that there is one. Returns
/// its information, and the type and bytes of what follows.
#[inline]
fn read_tag(kind: u16, ethertype: U16, data: &[u8]) -> Result<(Option<u16>, U16, &[u8]), DropReason> {
    if ethertype != kind {
        return Ok((None, ethertype, data));
    }
    let (tag, data) = Tag::ref_from_prefix(data).map_err(|_| DropReason::LinkTagTruncated)?;
    Ok((Some(tag.information.get()), tag.ethertype, data))
}
