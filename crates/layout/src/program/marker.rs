//! Places that a user names: where a path begins and ends.

use super::{MarkerError, Program};
use std::str::FromStr;
use warmcore_linux::StopPoint;

/// What happens at a marker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarkerKind {
    /// An instruction is executed.
    Code,
    /// An object is stored to.
    Store,
}

/// A place by its name: `handle`, `server::handle+0x1c`, or `store:requests`.
///
/// ```
/// use warmcore_layout::program::{Marker, MarkerKind};
/// let marker: Marker = "store:requests+0x8".parse()?;
/// assert_eq!((marker.kind, marker.name.as_str(), marker.offset), (MarkerKind::Store, "requests", 8));
/// # Ok::<(), warmcore_layout::program::MarkerError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Marker {
    /// What happens there.
    pub kind: MarkerKind,
    /// The name, or a part of it that no other has.
    pub name: String,
    /// Bytes from the beginning of what has the name.
    pub offset: u64,
}

impl FromStr for Marker {
    type Err = MarkerError;

    fn from_str(text: &str) -> Result<Self, MarkerError> {
        let malformed = || MarkerError::Malformed { text: text.to_owned() };
        // `store::handle` is a function of a module.
        let object = text.strip_prefix("store:").filter(|name| !name.starts_with(':'));
        let kind = if object.is_some() { MarkerKind::Store } else { MarkerKind::Code };
        let (name, offset) = match object.unwrap_or(text).rsplit_once("+0x") {
            Some((name, offset)) => (name, u64::from_str_radix(offset, 16).map_err(|_| malformed())?),
            None => (object.unwrap_or(text), 0),
        };
        if name.is_empty() {
            return Err(malformed());
        }
        Ok(Self { kind, name: name.to_owned(), offset })
    }
}

impl Program {
    /// Where `marker` is in this file. Of names, one that is the same is taken; then the only one that ends with it, as
    /// `handle` ends `server::handle`; then the only one that contains it.
    ///
    /// # Errors
    /// If no name or more than one is meant, or the offset leads out of it.
    pub fn place(&self, marker: &Marker) -> Result<StopPoint, MarkerError> {
        let symbol = self.find(&marker.name, marker.kind == MarkerKind::Code)?;
        let Marker { kind, name, offset } = marker.clone();
        let address = symbol.address.wrapping_add(offset);
        let left = symbol.size.saturating_sub(offset);
        match kind {
            _ if offset > 0 && left == 0 => Err(MarkerError::Outside { name, size: symbol.size, offset }),
            MarkerKind::Code => Ok(StopPoint::Execute(address)),
            MarkerKind::Store if matches!(left, 1 | 2 | 4 | 8) => {
                Ok(StopPoint::Store { address, size: left })
            }
            MarkerKind::Store if offset > 0 && left > 8 => Ok(StopPoint::Store { address, size: 8 }),
            MarkerKind::Store => Err(MarkerError::TooLarge { name, size: symbol.size }),
        }
    }
}
