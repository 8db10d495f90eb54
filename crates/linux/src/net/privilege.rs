//! Checks whether this process has the capabilities that the devices need.

use rustix::thread::{CapabilitySet, capabilities};

/// Returns the capabilities that are missing to open every device and to build a
/// [`lab`](super::lab), as the end of a sentence "needs …". Devices need `CAP_NET_ADMIN` and
/// `CAP_NET_RAW`, network namespaces `CAP_SYS_ADMIN`. `None` if nothing is missing.
///
/// A test that needs them prints a note and returns:
///
/// ```
/// if let Some(missing) = warmcore_linux::net::privilege_missing() {
///     println!("skipped: needs {missing}");
///     return;
/// }
/// ```
#[must_use]
pub fn privilege_missing() -> Option<String> {
    let held = capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.effective);
    let wanted = [
        (CapabilitySet::NET_ADMIN, "CAP_NET_ADMIN"),
        (CapabilitySet::NET_RAW, "CAP_NET_RAW"),
        (CapabilitySet::SYS_ADMIN, "CAP_SYS_ADMIN"),
    ];
    let missing: Vec<_> = wanted
        .into_iter()
        .filter(|(capability, _)| !held.contains(*capability))
        .map(|(_, name)| name)
        .collect();
    (!missing.is_empty()).then(|| missing.join(", "))
}
