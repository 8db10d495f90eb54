//! A library of real kinds of hosts, made by hand from what vendors and the kernel document, with the plan that an
//! expert would make of each, and what the rules of well-known tools would do.
//!
//! | module | purpose |
//! |---|---|
//! | `hosts` | the hosts, each with its source and the expert's plan |
//! | `rules` | where other tools would put the queues, by their published rules |
//! | `quality` | what distinguishes two placements of queues, and which is better |
//! | `side_by_side` | the reviewed table |

mod hosts;
mod quality;
mod rules;
mod side_by_side;

use warmcore_linux::fake::Tree;
use warmcore_study::placement::Target;

/// A kind of host.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Where its files are documented.
    pub(crate) source: &'static str,
    pub(crate) tree: Tree,
    /// Who reads the packets, where the expert is told.
    pub(crate) reader: Target,
    /// Interfaces that are to be spread whether they are busy or not.
    pub(crate) spread: &'static [&'static str],
    /// Whether their channels may change.
    pub(crate) channels: bool,
    /// What an expert does, in a sentence.
    pub(crate) expert: &'static str,
    /// The cpu of each receive queue under the expert's plan: interface, queue, cpu. Empty: all stay.
    pub(crate) queues: Vec<(&'static str, u32, u32)>,
    /// Other lines of the expert's plan: the setting in words and the value.
    pub(crate) others: Vec<(&'static str, &'static str)>,
}
