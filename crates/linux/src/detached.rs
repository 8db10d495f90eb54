//! Kernel file systems mounted where nobody else sees them: the mount has no mount point, and is gone when its descriptor is closed
//! (`fsopen` and `fsmount`, Linux 5.2).

use rustix::fd::OwnedFd;
use rustix::io;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

/// A new mount of the file system `kind`, such as `sysfs`, as the calling thread's namespaces show it.
///
/// # Errors
/// What the kernel says: mostly that it is not permitted, or that it has no such file system.
pub(crate) fn mount(kind: &str) -> io::Result<OwnedFd> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
}
