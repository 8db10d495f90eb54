//! Where settings are looked for: a system, and the interrupts of its devices, each device read once.
//!
//! A plan may have a line for each of thousands of interrupts, and naming one takes the names of all of its device. A
//! change of channels makes new interrupts: they must be [forgotten](Locator::forget) then. An interrupt that is found
//! is always asked for its name again, so that a number that now belongs to another one is noticed.

use super::interrupt::{DeviceInterrupts, Interrupt};
use super::locate_error::LocateError;
use super::system::System;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A system in which settings are looked for.
#[derive(Debug)]
pub(crate) struct Locator<'a> {
    system: &'a dyn System,
    devices: RefCell<BTreeMap<String, Rc<DeviceInterrupts>>>,
}

impl<'a> Locator<'a> {
    pub(crate) fn new(system: &'a dyn System) -> Self {
        Self { system, devices: RefCell::default() }
    }

    pub(crate) const fn system(&self) -> &'a dyn System {
        self.system
    }

    /// Finds the interrupt of `device` with this action or, if none is given, with this queue.
    pub(crate) fn interrupt(
        &self,
        device: &str,
        action: Option<&str>,
        queue: Option<u32>,
    ) -> Result<Interrupt, LocateError> {
        let known = self.devices.borrow().get(device).cloned();
        if let Some(known) = known {
            let found = known.find(action, queue)?;
            if found.has_its_name(self.system) {
                return Ok(found);
            }
        }
        let read = Rc::new(DeviceInterrupts::read(self.system, device)?);
        self.devices.borrow_mut().insert(device.to_owned(), Rc::clone(&read));
        read.find(action, queue)
    }

    /// Forgets the interrupts, which something has made anew.
    pub(crate) fn forget(&self) {
        self.devices.borrow_mut().clear();
    }
}
