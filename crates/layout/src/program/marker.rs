//! Places that a user names: where a path begins and ends.

use super::symbols::Symbol;
use super::{MarkerError, Program};
use std::fmt;
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

/// A place by its name: `handle`, `server::handle+0x1c`, or `store:requests`; by its name and its address in the file where
/// several have the name: `handle@0x1139`; or by that address alone: `0x1139`.
///
/// ```
/// use warmcore_layout::program::{Marker, MarkerKind};
/// let marker: Marker = "store:requests+0x8".parse()?;
/// assert_eq!((marker.kind, marker.name.as_str(), marker.offset), (MarkerKind::Store, "requests", 8));
/// let marker: Marker = "handle@0x1139".parse()?;
/// assert_eq!((marker.name.as_str(), marker.address), ("handle", Some(0x1139)));
/// # Ok::<(), warmcore_layout::program::MarkerError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Marker {
    /// What happens there.
    pub kind: MarkerKind,
    /// The name, or a part of it that no other has. Empty if the address alone is given.
    pub name: String,
    /// Where in the file what has the name begins.
    pub address: Option<u64>,
    /// Bytes from the beginning of what has the name.
    pub offset: u64,
}

impl FromStr for Marker {
    type Err = MarkerError;

    fn from_str(text: &str) -> Result<Self, MarkerError> {
        let malformed = || MarkerError::Malformed { text: text.to_owned() };
        let number = |digits: &str| u64::from_str_radix(digits, 16).map_err(|_| malformed());
        // `store::handle` is a function of a module.
        let object = text.strip_prefix("store:").filter(|name| !name.starts_with(':'));
        let kind = if object.is_some() { MarkerKind::Store } else { MarkerKind::Code };
        let (place, offset) = match object.unwrap_or(text).rsplit_once("+0x") {
            Some((place, offset)) => (place, number(offset)?),
            None => (object.unwrap_or(text), 0),
        };
        if let Some(address) = place.strip_prefix("0x") {
            return Ok(Self { kind, name: String::new(), address: Some(number(address)?), offset });
        }
        let (name, address) = match place.rsplit_once("@0x") {
            Some((name, address)) => (name, Some(number(address)?)),
            None => (place, None),
        };
        if name.is_empty() {
            return Err(malformed());
        }
        Ok(Self { kind, name: name.to_owned(), address, offset })
    }
}

/// As it is written.
impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.kind == MarkerKind::Store { "store:" } else { "" })?;
        f.write_str(&self.name)?;
        match self.address {
            Some(address) if self.name.is_empty() => write!(f, "{address:#x}")?,
            Some(address) => write!(f, "@{address:#x}")?,
            None => {}
        }
        if self.offset > 0 { write!(f, "+{:#x}", self.offset) } else { Ok(()) }
    }
}

/// Where a marker is in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) point: StopPoint,
    /// The function that it lies in, if it is code and that is known.
    pub(crate) function: Option<WithinFunction>,
}

/// A place in a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct WithinFunction {
    pub(crate) name: String,
    /// Where the function begins.
    pub(crate) address: u64,
    /// Bytes from there to the place.
    pub(crate) offset: u64,
}

impl WithinFunction {
    fn new(symbol: &Symbol, offset: u64) -> Self {
        Self { name: symbol.name.clone(), address: symbol.address, offset }
    }
}

impl Program {
    /// Where `marker` is in this file. Of names, one that is the same is taken; then the only one that ends with it, as
    /// `handle` ends `server::handle`; then the only one that contains it. An address may be that of code without a name.
    ///
    /// # Errors
    /// If no name or more than one is meant, the offset leads out of it, or there is no code at the address.
    pub fn place(&self, marker: &Marker) -> Result<StopPoint, MarkerError> {
        self.locate(marker).map(|place| place.point)
    }

    pub(crate) fn locate(&self, marker: &Marker) -> Result<Place, MarkerError> {
        match marker.address {
            Some(address) if marker.name.is_empty() => {
                self.at(marker.kind, address.wrapping_add(marker.offset))
            }
            _ => self.named(marker),
        }
    }

    fn named(&self, marker: &Marker) -> Result<Place, MarkerError> {
        let symbol = self.find(&marker.name, marker.kind == MarkerKind::Code, marker.address)?;
        let Marker { kind, name, offset, .. } = marker.clone();
        let address = symbol.address.wrapping_add(offset);
        let left = symbol.size.saturating_sub(offset);
        match kind {
            _ if offset > 0 && left == 0 => Err(MarkerError::Outside { name, size: symbol.size, offset }),
            MarkerKind::Code => {
                let function = Some(WithinFunction::new(symbol, offset));
                Ok(Place { point: StopPoint::Execute(address), function })
            }
            MarkerKind::Store if matches!(left, 1 | 2 | 4 | 8) => Ok(store(address, left)),
            MarkerKind::Store if offset > 0 && left > 8 => Ok(store(address, 8)),
            MarkerKind::Store => Err(MarkerError::TooLarge { name, size: symbol.size }),
        }
    }

    /// The code, or the object, at an address.
    fn at(&self, kind: MarkerKind, address: u64) -> Result<Place, MarkerError> {
        let is_code = kind == MarkerKind::Code;
        let contains = |symbol: &&Symbol| {
            symbol.is_code == is_code
                && address.checked_sub(symbol.address).is_some_and(|offset| offset < symbol.size)
        };
        let symbol = self.symbols.iter().rev().find(contains);
        let nothing = |what| MarkerError::NothingThere { what, program: self.name().to_owned(), address };
        match (symbol, kind) {
            (_, MarkerKind::Code) if !self.is_executable(address) => Err(nothing("code")),
            (symbol, MarkerKind::Code) => {
                let function = symbol.map(|symbol| WithinFunction::new(symbol, address - symbol.address));
                Ok(Place { point: StopPoint::Execute(address), function })
            }
            (Some(symbol), MarkerKind::Store) => match symbol.size - (address - symbol.address) {
                left @ (1 | 2 | 4) => Ok(store(address, left)),
                8.. => Ok(store(address, 8)),
                _ => Err(MarkerError::TooLarge { name: symbol.name.clone(), size: symbol.size }),
            },
            (None, MarkerKind::Store) => Err(nothing("object")),
        }
    }

    fn is_executable(&self, address: u64) -> bool {
        self.segments.iter().any(|segment| address.wrapping_sub(segment.address) < segment.size)
    }
}

fn store(address: u64, size: u64) -> Place {
    Place { point: StopPoint::Store { address, size }, function: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_written_as_they_are_read() {
        for text in [
            "handle",
            "store::handle+0x1c",
            "store:requests+0x8",
            "twin@0x1139",
            "0x401126",
            "store:0x4010+0x8",
        ] {
            assert_eq!(text.parse::<Marker>().map(|marker| marker.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "store:", "@0x1", "0x", "0xzz", "twin@0x", "handle+0x"] {
            assert!(matches!(text.parse::<Marker>(), Err(MarkerError::Malformed { .. })), "{text}");
        }
    }
}
