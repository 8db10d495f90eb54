//! Receive packet steering (RPS) in a namespace: which cpus process the packets that an interface
//! receives (`Documentation/networking/scaling.rst` of the kernel). A virtual interface has no
//! interrupts, so this mask takes the place of the interrupt's mask.
//!
//! `/sys` shows the interfaces of the namespace in which it was mounted. So the files are opened in a
//! separate sysfs of the namespace, which has no mount point and is gone when closed (`fsmount`,
//! Linux 5.2).

use super::{Namespace, NamespaceError};
use crate::bitmap;
use crate::detached;
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::{self, Errno};
use std::os::fd::OwnedFd;
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// Why packets cannot be steered.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SteerError {
    /// The namespace cannot be entered.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// The namespace's sysfs cannot be mounted.
    #[error("cannot mount sysfs: {0}; it needs CAP_SYS_ADMIN and Linux 5.2: run as root")]
    NoSysfs(Errno),
    /// The mask cannot be read or written.
    #[error("cannot steer the packets of `{interface}` (`{file}`): {source}")]
    Refused {
        /// The interface.
        interface: String,
        /// The file of the mask, below `/sys`.
        file: String,
        /// The error of the kernel.
        source: Errno,
    },
    /// The mask reads differently from what was written.
    #[error(
        "the packets of `{interface}` should be steered to cpus `{wanted}`, but its mask reads `{found}`"
    )]
    NotInForce {
        /// The interface.
        interface: String,
        /// The cpus that were requested.
        wanted: CpuSet,
        /// The mask that was read.
        found: String,
    },
}

impl Namespace {
    /// Steers the packets of receive queue `queue` of an interface in this namespace to `cpus`. With no
    /// cpus, packets are processed where they arrive. Reads the mask back to verify it.
    ///
    /// # Errors
    /// If there is no such queue, or the kernel does not accept the mask unchanged.
    pub fn steer(&self, interface: &str, queue: u32, cpus: &CpuSet) -> Result<(), SteerError> {
        let sysfs = self.sysfs()?;
        let file = mask_file(interface, queue);
        let refused =
            |source| SteerError::Refused { interface: interface.to_owned(), file: file.clone(), source };
        let numbers = cpus.iter().map(|cpu| cpu.0).collect();
        let text = bitmap::to_text(&numbers).ok_or_else(|| refused(Errno::INVAL))?;
        write(&sysfs, &file, &text).map_err(refused)?;
        let found = read(&sysfs, &file).map_err(refused)?;
        if bitmap::from_text(&found).as_ref() == Some(&numbers) {
            return Ok(());
        }
        let (interface, found) = (interface.to_owned(), found.trim().to_owned());
        Err(SteerError::NotInForce { interface, wanted: cpus.clone(), found })
    }

    /// Returns the cpus to which the packets of a receive queue are steered; none if packets are
    /// processed where they arrive.
    ///
    /// # Errors
    /// If there is no such queue, or its mask cannot be parsed.
    pub fn steered(&self, interface: &str, queue: u32) -> Result<CpuSet, SteerError> {
        let file = mask_file(interface, queue);
        let text = read(&self.sysfs()?, &file);
        let numbers = text.and_then(|text| bitmap::from_text(&text).ok_or(Errno::INVAL));
        match numbers {
            Ok(numbers) => Ok(numbers.into_iter().map(CpuId).collect()),
            Err(source) => Err(SteerError::Refused { interface: interface.to_owned(), file, source }),
        }
    }

    /// Mounts a sysfs that shows this namespace.
    fn sysfs(&self) -> Result<OwnedFd, SteerError> {
        self.run(|| detached::mount("sysfs"))?.map_err(SteerError::NoSysfs)
    }
}

fn mask_file(interface: &str, queue: u32) -> String {
    format!("class/net/{interface}/queues/rx-{queue}/rps_cpus")
}

fn read(sysfs: &OwnedFd, file: &str) -> Result<String, Errno> {
    let file = openat(sysfs, file, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut bytes = [0; 4096]; // no sysfs file is longer
    let length = io::read(&file, &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

/// Writes `text` in one call, because the kernel takes each write as a whole value.
fn write(sysfs: &OwnedFd, file: &str, text: &str) -> Result<(), Errno> {
    let file = openat(sysfs, file, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    io::write(&file, text.as_bytes()).map(drop)
}
