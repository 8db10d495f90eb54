//! The memory of a program: flat regions, each access checked.

use crate::riscv::error::MachineError;

/// One region. Nothing is executed from a copy of its own, so that code that changes would go unnoticed: it may not.
#[derive(Clone, Debug)]
struct Region {
    start: u64,
    bytes: Vec<u8>,
    writable: bool,
    executable: bool,
}

impl Region {
    fn offset(&self, address: u64, size: u64) -> Option<usize> {
        let offset = address.wrapping_sub(self.start);
        let size_here = self.bytes.len() as u64;
        (offset < size_here && size_here - offset >= size).then_some(offset as usize)
    }
}

/// Regions that do not overlap.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    regions: Vec<Region>,
}

impl Memory {
    /// Adds a region that begins at `start` with `bytes`.
    pub(super) fn add(
        &mut self,
        start: u64,
        bytes: Vec<u8>,
        writable: bool,
        executable: bool,
    ) -> Result<(), MachineError> {
        let size = bytes.len() as u64;
        let overlap = MachineError::Overlap { address: start, size };
        let Some(end) = start.checked_add(size) else { return Err(overlap) };
        if self
            .regions
            .iter()
            .any(|other| start < other.start + other.bytes.len() as u64 && other.start < end)
        {
            return Err(overlap);
        }
        let region = Region { start, bytes, writable: writable && !executable, executable };
        // What is written is used most: the search begins there.
        let place = if region.writable { 0 } else { self.regions.len() };
        self.regions.insert(place, region);
        Ok(())
    }

    /// The `N` bytes at `address`, for the instruction at `pc`.
    #[inline]
    pub(super) fn load<const N: usize>(&self, pc: u64, address: u64) -> Result<[u8; N], MachineError> {
        if !address.is_multiple_of(N as u64) {
            return Err(MachineError::Misaligned { pc, address, size: N as u16 });
        }
        for region in &self.regions {
            if let Some(offset) = region.offset(address, N as u64)
                && let Some(bytes) = region.bytes[offset..].first_chunk::<N>()
            {
                return Ok(*bytes);
            }
        }
        Err(MachineError::OutOfBounds { pc, address, size: N as u16 })
    }

    /// Writes `value` to `address`, for the instruction at `pc`.
    #[inline]
    pub(super) fn store<const N: usize>(
        &mut self,
        pc: u64,
        address: u64,
        value: [u8; N],
    ) -> Result<(), MachineError> {
        if !address.is_multiple_of(N as u64) {
            return Err(MachineError::Misaligned { pc, address, size: N as u16 });
        }
        for region in &mut self.regions {
            if let Some(offset) = region.offset(address, N as u64)
                && let Some(bytes) = region.bytes[offset..].first_chunk_mut::<N>()
            {
                if !region.writable {
                    return Err(MachineError::ReadOnly { pc, address, size: N as u16 });
                }
                *bytes = value;
                return Ok(());
            }
        }
        Err(MachineError::OutOfBounds { pc, address, size: N as u16 })
    }

    /// The `size` bytes at `address`, for the host.
    pub(super) fn read(&self, address: u64, size: u64) -> Result<&[u8], MachineError> {
        let found = self.regions.iter().find_map(|region| {
            let offset = region.offset(address, size)?;
            Some(&region.bytes[offset..offset + size as usize])
        });
        found.ok_or(MachineError::Host { address, size })
    }

    /// The `size` bytes at `address`, for the host to change. What only the program may not write, it may.
    pub(super) fn write(&mut self, address: u64, size: u64) -> Result<&mut [u8], MachineError> {
        let found = self.regions.iter_mut().filter(|region| !region.executable).find_map(|region| {
            let offset = region.offset(address, size)?;
            Some(&mut region.bytes[offset..offset + size as usize])
        });
        found.ok_or(MachineError::Host { address, size })
    }
}
