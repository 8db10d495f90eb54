//! The bytes of a trace, one after the other, with their checksum.

use super::format::ReadError;
use crc32fast::Hasher;
use std::io::{ErrorKind, Read};

/// As many bytes are read at once.
const BLOCK: usize = 1 << 16;

#[derive(Debug)]
pub(super) struct Input<R> {
    from: R,
    block: Vec<u8>,
    /// The next byte of the block, and the first that is not in the checksum.
    next: usize,
    unchecked: usize,
    /// Where the block begins.
    offset: u64,
    checksum: Hasher,
}

impl<R: Read> Input<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, block: Vec::new(), next: 0, unchecked: 0, offset: 0, checksum: Hasher::new() }
    }

    /// Where the next byte is.
    pub(super) fn offset(&self) -> u64 {
        self.offset + self.next as u64
    }

    /// The checksum of all bytes so far.
    pub(super) fn checksum(&mut self) -> u32 {
        self.check();
        self.checksum.clone().finalize()
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, ReadError> {
        self.byte_or_end()?.ok_or(ReadError::Truncated { offset: self.offset() })
    }

    /// The next byte, if there is one.
    #[inline]
    pub(super) fn byte_or_end(&mut self) -> Result<Option<u8>, ReadError> {
        if self.next == self.block.len() {
            self.refill()?;
        }
        let byte = self.block.get(self.next).copied();
        self.next += usize::from(byte.is_some());
        Ok(byte)
    }

    /// A varint of at most 64 bits.
    #[inline]
    pub(super) fn number(&mut self) -> Result<u64, ReadError> {
        let mut number = 0;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            if shift == 63 && byte > 1 {
                break;
            }
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.malformed("a number of more than 64 bits; expected a varint that fits"))
    }

    /// A number that is at most `limit`.
    pub(super) fn bounded(&mut self, what: &'static str, limit: u64) -> Result<u64, ReadError> {
        let offset = self.offset();
        let found = self.number()?;
        if found <= limit { Ok(found) } else { Err(ReadError::TooMany { offset, what, found, limit }) }
    }

    pub(super) fn text(&mut self, limit: u64) -> Result<String, ReadError> {
        let length = self.bounded("bytes of a name", limit)?;
        let mut bytes = Vec::new();
        for _ in 0..length {
            bytes.push(self.byte()?);
        }
        String::from_utf8(bytes).map_err(|_| self.malformed("a name ends that is not UTF-8; expected UTF-8"))
    }

    pub(super) fn malformed(&self, problem: &'static str) -> ReadError {
        ReadError::Malformed { offset: self.offset(), problem }
    }

    fn check(&mut self) {
        self.checksum.update(&self.block[self.unchecked..self.next]);
        self.unchecked = self.next;
    }

    /// Reads the next block; it is empty at the end. The last one has been used up.
    #[cold]
    fn refill(&mut self) -> Result<(), ReadError> {
        self.check();
        self.offset += self.block.len() as u64;
        (self.next, self.unchecked) = (0, 0);
        self.block.resize(BLOCK, 0);
        let length = loop {
            match self.from.read(&mut self.block) {
                Ok(length) => break length,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => {
                    self.block.clear();
                    return Err(ReadError::Io { offset: self.offset, source });
                }
            }
        };
        self.block.truncate(length);
        Ok(())
    }
}
