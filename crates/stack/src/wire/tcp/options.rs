//! Options of TCP segments: those of RFC 9293, window scale and timestamps (RFC 7323), and whether
//! selective acknowledgements are permitted (RFC 2018). Others are skipped by their length.

use crate::drop_reason::DropReason;
use core::hint::cold_path;

const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MAX_SEGMENT_SIZE: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const TIMESTAMPS: u8 = 8;

/// The options that mean something to us.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Most bytes of data that the sender wants in a segment.
    pub max_segment_size: Option<u16>,
    /// Bits to shift the sender's windows by.
    pub window_scale: Option<u8>,
    /// Whether the sender understands selective acknowledgements.
    pub sack_permitted: bool,
    /// Timestamps.
    pub timestamps: Option<Timestamps>,
}

/// The timestamps option (RFC 7323, §3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timestamps {
    /// The sender's clock.
    pub value: u32,
    /// The receiver's clock, as the sender saw it last.
    pub echo: u32,
}

impl Options {
    /// Reads the options in `bytes`. If one occurs twice, the last counts.
    ///
    /// # Errors
    /// An option goes beyond the header, or has not the length of its kind.
    pub(super) fn parse(mut bytes: &[u8]) -> Result<Self, DropReason> {
        let mut options = Self::default();
        while let [kind, rest @ ..] = bytes {
            cold_path();
            bytes = match *kind {
                END => return Ok(options),
                NO_OPERATION => rest,
                kind => {
                    let [length, rest @ ..] = rest else { return Err(DropReason::TcpOption) };
                    let value = usize::from(*length).checked_sub(2).ok_or(DropReason::TcpOption)?;
                    let (value, rest) = rest.split_at_checked(value).ok_or(DropReason::TcpOption)?;
                    options.set(kind, value)?;
                    rest
                }
            };
        }
        Ok(options)
    }

    fn set(&mut self, kind: u8, value: &[u8]) -> Result<(), DropReason> {
        match (kind, value) {
            (MAX_SEGMENT_SIZE, &[a, b]) => self.max_segment_size = Some(u16::from_be_bytes([a, b])),
            (WINDOW_SCALE, &[shift]) => self.window_scale = Some(shift),
            (SACK_PERMITTED, &[]) => self.sack_permitted = true,
            (TIMESTAMPS, &[a, b, c, d, e, f, g, h]) => {
                let (value, echo) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
                self.timestamps = Some(Timestamps { value, echo });
            }
            (MAX_SEGMENT_SIZE | WINDOW_SCALE | SACK_PERMITTED | TIMESTAMPS, _) => {
                return Err(DropReason::TcpOption);
            }
            _ => {}
        }
        Ok(())
    }

    /// Bytes that the options take in a header, a multiple of four.
    #[must_use]
    pub const fn length(&self) -> usize {
        4 * (self.max_segment_size.is_some() as usize
            + self.window_scale.is_some() as usize
            + self.sack_permitted as usize
            + 3 * self.timestamps.is_some() as usize)
    }

    /// Writes the options to `bytes`, which must have their length. Each begins at a multiple of four.
    pub(super) fn write(&self, bytes: &mut [u8]) {
        if bytes.is_empty() {
            return;
        }
        cold_path();
        let size = self.max_segment_size.map(u16::to_be_bytes);
        let size = size.map(|[a, b]| [MAX_SEGMENT_SIZE, 4, a, b]);
        let scale = self.window_scale.map(|shift| [NO_OPERATION, WINDOW_SCALE, 3, shift]);
        let sack = self.sack_permitted.then_some([NO_OPERATION, NO_OPERATION, SACK_PERMITTED, 2]);
        let times = self.timestamps.map(|times| {
            [
                [NO_OPERATION, NO_OPERATION, TIMESTAMPS, 10],
                times.value.to_be_bytes(),
                times.echo.to_be_bytes(),
            ]
        });
        let words = size.into_iter().chain(scale).chain(sack).chain(times.into_iter().flatten());
        for (place, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *place = word;
        }
    }
}
