//! How protocol events are demultiplexed to protocol threads (Falsafi 1998, §2.3).

use serde::{Deserialize, Serialize};
use warmcore_policy::pdq::Design;

/// The design of a node's parallel dispatch queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "design", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ClusterDispatch {
    /// A queue for each thread, chosen by the block's number.
    StaticBinding {},
    /// Queues chosen by the block's number, to which idle threads bind.
    DynamicBinding {
        /// How many.
        queues: u32,
    },
    /// One queue that is searched for an event whose block no thread is at work on.
    DynamicDemultiplexing {
        /// How many entries a search compares at most; all, if absent.
        window: Option<u32>,
        /// How many bits of a block's number are compared; all, if absent.
        id_bits: Option<u32>,
    },
}

impl From<ClusterDispatch> for Design {
    fn from(dispatch: ClusterDispatch) -> Self {
        match dispatch {
            ClusterDispatch::StaticBinding {} => Self::StaticBinding,
            ClusterDispatch::DynamicBinding { queues } => Self::DynamicBinding { queues },
            ClusterDispatch::DynamicDemultiplexing { window, id_bits } => {
                Self::DynamicDemultiplexing { window, id_bits }
            }
        }
    }
}
