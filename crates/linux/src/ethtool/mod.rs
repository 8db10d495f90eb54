//! What the driver of a network interface says of its queues, which stands in no file: channels, rings,
//! interrupt coalescing, features, the table by which hashes choose queues, and NAPI instances.
//!
//! [`tuning`](crate::tuning) changes some of them. The kernel answers over generic netlink (`Documentation/networking/ethtool-netlink.rst` and
//! `Documentation/netlink/specs/netdev.yaml`), and for the table of hashes by an older request that every
//! kernel knows (`ETHTOOL_GRXFHINDIR`). No privilege is needed to ask.
//!
//! | module | purpose |
//! |---|---|
//! | `settings` | the values |
//! | `ask` | asks the kernel about one interface |
//! | `change` | which settings can be changed, and their values as text |
//! | `write` | changes them |
//!
//! A copy of a machine has the answers in [`file`], a document of ours that no kernel writes. It holds
//! neither hardware addresses nor the keys of hashes.
//!
//! Invariant: "the kernel or the driver does not say" is `None`, and never an error.

mod ask;
mod change;
mod settings;
mod write;

pub(crate) use ask::Reader;
pub use change::{ChannelCounts, DriverSetting};
pub(crate) use change::{parse_table, table_text};
pub use settings::{
    Channels, Coalescing, DriverSettings, Feature, Features, Indirection, Napi, Rings, Threaded,
};
pub(crate) use write::{read, write};

/// What the driver of `interface`, in the calling thread's network namespace, says; `None` if it says nothing,
/// or there is no such interface.
#[must_use]
pub fn driver_settings(interface: &str) -> Option<DriverSettings> {
    let index = crate::net::Interface::find(interface).ok()?.index;
    Reader::default().read(interface, index)
}

/// The file of a copied machine in which the settings of an interface stand.
#[must_use]
pub(crate) fn file(interface: &str) -> String {
    format!("warmcore/ethtool/{interface}.toml")
}
