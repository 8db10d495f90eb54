//! How protocol events are demultiplexed to protocol threads (Falsafi 1998, §2.3).

use core::fmt;
use serde::{Deserialize, Serialize};
use warmcore_policy::pdq::Design;
use warmcore_units::Fault;

/// The design of a node's parallel dispatch queue, and its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClusterDispatch {
    /// The design.
    pub design: DispatchDesign,
    /// Of dynamic binding: how many queues.
    pub queues: Option<u32>,
    /// Of dynamic demultiplexing: how many entries a search compares at most; all, if absent.
    pub window: Option<u32>,
    /// Of dynamic demultiplexing: how many bits of a block's number are compared; all, if absent.
    pub id_bits: Option<u32>,
}

/// A design by its name.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DispatchDesign {
    /// A queue for each thread, chosen by the block's number.
    StaticBinding,
    /// Queues chosen by the block's number, to which idle threads bind.
    DynamicBinding,
    /// One queue that is searched for an event whose block no thread is at work on.
    #[default]
    DynamicDemultiplexing,
}

impl fmt::Display for DispatchDesign {
    /// As it is written in a scenario.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::StaticBinding => "static-binding",
            Self::DynamicBinding => "dynamic-binding",
            Self::DynamicDemultiplexing => "dynamic-demultiplexing",
        })
    }
}

impl ClusterDispatch {
    /// The design with its parameters.
    ///
    /// # Errors
    /// If a parameter is missing, or belongs to another design.
    pub fn design(&self) -> Result<Design, Fault> {
        let Self { design, queues, window, id_bits } = *self;
        let parameters = [
            ("queues", queues, DispatchDesign::DynamicBinding),
            ("window", window, DispatchDesign::DynamicDemultiplexing),
            ("id_bits", id_bits, DispatchDesign::DynamicDemultiplexing),
        ];
        for (name, value, of) in parameters {
            if let Some(value) = value.filter(|_| design != of) {
                let expected = format!("none, or `dispatch.design` to be `{of}`");
                return Err(Fault::new(format!("dispatch.{name}"), value, expected));
            }
        }
        match (design, queues) {
            (DispatchDesign::StaticBinding, _) => Ok(Design::StaticBinding),
            (DispatchDesign::DynamicBinding, Some(queues)) => Ok(Design::DynamicBinding { queues }),
            (DispatchDesign::DynamicBinding, None) => {
                Err(Fault::new("dispatch.queues", "missing", "how many queues there are"))
            }
            (DispatchDesign::DynamicDemultiplexing, _) => {
                Ok(Design::DynamicDemultiplexing { window, id_bits })
            }
        }
    }
}
