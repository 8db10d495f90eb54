//! What drivers say, asked of real interfaces in namespaces that each test makes, and compared with what
//! ethtool(8) and iproute2 print. Nothing of the machine itself is changed.

mod card;
mod program;
mod reading;
mod tuning;

use warmcore_linux::net::Namespace;
use warmcore_linux::net::lab::LabError;

/// Creates a namespace; prints a note and returns `None` without the privilege.
pub(crate) fn namespace() -> Option<Namespace> {
    if let Some(missing) = warmcore_linux::net::privilege_missing() {
        println!("skipped: needs {missing}");
        return None;
    }
    Some(Namespace::new().unwrap_or_else(|error| panic!("{error}")))
}

/// Adds a veth pair `v0`, `v1` with so many queues, both ends in `namespace` and up.
pub(crate) fn add_veth(namespace: &Namespace, receive: u32, transmit: u32) -> Result<(), LabError> {
    let (receive, transmit) = (receive.to_string(), transmit.to_string());
    let queues = ["numrxqueues", &receive, "numtxqueues", &transmit];
    let pair =
        [&["link", "add", "v0"][..], &queues, &["type", "veth", "peer", "name", "v1"], &queues].concat();
    namespace.ip(&pair)?;
    for end in ["v0", "v1"] {
        namespace.ip(&["link", "set", end, "up"])?;
    }
    Ok(())
}
