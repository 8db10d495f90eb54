//! A host of the laboratory: a machine with the program, whose functions are called by name.

use super::{LabError, Protocols};
use crate::cloning;
use crate::riscv::{Image, Machine};
use crate::trace::Trace;

pub(super) struct Host<'a> {
    image: &'a Image,
    machine: Machine,
    frame: u64,
}

impl<'a> Host<'a> {
    /// A host that is set up as a client or server, with the switches of `bits`.
    pub(super) fn new(
        image: &'a Image,
        protocols: Protocols,
        is_server: bool,
        bits: u64,
    ) -> Result<Self, LabError> {
        let mut host = Self { image, machine: Machine::new(image)?, frame: 0 };
        host.call(&format!("lab_setup_{}", protocols.infix()), &[u64::from(is_server), bits])?;
        host.frame = host.call("lab_frame", &[])?;
        Ok(host)
    }

    /// Calls a function of the program.
    pub(super) fn call(&mut self, name: &str, arguments: &[u64]) -> Result<u64, LabError> {
        Ok(self.machine.call(self.image.address(name)?, arguments)?)
    }

    /// Calls a half of the path, followed by `trace` if there is one.
    pub(super) fn path(&mut self, name: &str, trace: Option<&mut Trace>) -> Result<(), LabError> {
        // Where the path was cloned, its clone is called.
        let clone = self.image.address(&format!("{name}{}", cloning::SUFFIX));
        let address = clone.or_else(|_| self.image.address(name))?;
        let status = match trace {
            Some(trace) => self.machine.call_observed(address, &[], trace)?,
            None => self.machine.call(address, &[])?,
        };
        match status {
            0 => Ok(()),
            status => Err(LabError::Lost { function: name.to_owned(), status }),
        }
    }

    /// Takes the next frame off the adaptor.
    pub(super) fn take(&mut self) -> Result<Option<Vec<u8>>, LabError> {
        match self.call("lab_take", &[])? {
            0 => Ok(None),
            length => Ok(Some(self.machine.read(self.frame, length)?.to_vec())),
        }
    }

    /// Gives the adaptor a frame.
    pub(super) fn put(&mut self, frame: &[u8]) -> Result<(), LabError> {
        let length = frame.len() as u64;
        self.machine.write(self.frame, frame)?;
        match self.call("lab_put", &[length])? {
            0 => Err(LabError::NoSpace { length }),
            _ => Ok(()),
        }
    }
}
