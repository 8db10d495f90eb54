//! The settings that decide where packets are processed.

use crate::combination::{Combination, Organisation};
use crate::policy::ProcessorPolicy;
use core::fmt;
use serde::{Deserialize, Serialize};
use warmcore_costs::Approach;
use warmcore_units::Fault;

/// How protocol processing is made parallel: the alternatives of Salehi, Kurose & Towsley 1994, §2.2 and
/// §6.5.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parallelism {
    /// One stack; a lock on each active map and each session object.
    #[default]
    Locking,
    /// Independent stacks with one lock each; a stream belongs to one of them.
    #[serde(alias = "independent-stacks")]
    Ips,
    /// Independent stacks, each bound to a processor, with every stream open in all of them
    /// ("multiple-open streams").
    Hybrid,
}

/// Which waiting packet a processor takes under [`Parallelism::Locking`] and
/// [`Parallelism::Hybrid`]. Under [`Parallelism::Ips`] it stays with its stack.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueRule {
    /// The packet that has waited longest.
    #[default]
    Fifo,
    /// The longest-waiting packet of the stream it has just processed, if there is one.
    SameStreamFirst,
}

/// Which idle thread a global thread pool hands out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThreadOrder {
    /// The most recently used thread if processors are chosen least recently used first, and the least
    /// recently used thread otherwise: so threads migrate. In the same order as the processors, each would
    /// find the thread that ran there last, and a global pool would make no difference.
    #[default]
    Opposite,
    /// The most recently used.
    Mru,
    /// The least recently used.
    Lru,
}

/// One way to run protocol work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scheduling {
    /// How processing is made parallel.
    pub approach: Parallelism,
    /// How a processor is chosen.
    pub policy: ProcessorPolicy,
    /// Which waiting packet a processor takes.
    pub queue: QueueRule,
    /// Organisation of protocol threads.
    pub threads: Organisation,
    /// Order in which a global thread pool hands out threads.
    pub thread_order: ThreadOrder,
    /// Organisation of free memory.
    pub memory: Organisation,
}

impl Default for Scheduling {
    fn default() -> Self {
        Combination::COMMON_DEFAULT.into()
    }
}

impl From<Combination> for Scheduling {
    fn from(combination: Combination) -> Self {
        Self {
            approach: combination.approach.into(),
            policy: combination.policy,
            queue: QueueRule::Fifo,
            threads: combination.threads,
            thread_order: ThreadOrder::Opposite,
            memory: combination.memory,
        }
    }
}

impl From<Approach> for Parallelism {
    fn from(approach: Approach) -> Self {
        match approach {
            Approach::Locking => Self::Locking,
            Approach::IndependentStacks => Self::Ips,
        }
    }
}

impl Parallelism {
    /// The approach whose measured times apply.
    #[must_use]
    pub const fn costs(self) -> Approach {
        match self {
            Self::Locking => Approach::Locking,
            Self::Ips | Self::Hybrid => Approach::IndependentStacks,
        }
    }
}

impl Scheduling {
    /// Whether packets wait in one queue for all processors. Wired-Streams under Hybrid does: there stacks
    /// are wired, not streams, and any stack can take any packet; otherwise one stream could not use all
    /// stacks (§6.6).
    #[must_use]
    pub fn has_common_queue(&self) -> bool {
        let open_everywhere = self.approach == Parallelism::Hybrid;
        self.policy.has_common_queue() || open_everywhere && self.policy == ProcessorPolicy::WiredStreams
    }

    /// Whether streams are wired to processors, so that a packet's processor does not depend on the others.
    #[must_use]
    pub fn is_wired(&self) -> bool {
        let wired = matches!(self.policy, ProcessorPolicy::WiredStreams | ProcessorPolicy::Hash);
        wired && !self.has_common_queue()
    }

    /// Checks that these choices are compatible.
    ///
    /// # Errors
    /// The first fault found, fields named as in a document.
    pub fn check(&self) -> Result<(), Fault> {
        let same_stream_first = self.queue == QueueRule::SameStreamFirst;
        if same_stream_first && self.approach == Parallelism::Ips {
            let expected = "fifo: under ips a processor stays with its stack anyway";
            return Err(Fault::new("scheduling.queue", "same-stream-first", expected));
        }
        if same_stream_first && !self.has_common_queue() {
            let expected = format!("fifo: {} keeps a queue for each processor, not one for all", self.policy);
            return Err(Fault::new("scheduling.queue", "same-stream-first", expected));
        }
        Ok(())
    }
}

impl fmt::Display for Parallelism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Locking => "Locking",
            Self::Ips => "IPS",
            Self::Hybrid => "Hybrid",
        })
    }
}

impl fmt::Display for Scheduling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.approach, self.policy)?;
        if self.queue == QueueRule::SameStreamFirst {
            f.write_str(", same stream first")?;
        }
        match (self.threads, self.memory) {
            (Organisation::PerProcessor, Organisation::PerProcessor) => Ok(()),
            (Organisation::Global, Organisation::PerProcessor) => f.write_str(", global threads"),
            (Organisation::PerProcessor, Organisation::Global) => f.write_str(", global memory"),
            (Organisation::Global, Organisation::Global) => f.write_str(", global threads and memory"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incompatible_choices_are_refused() {
        let same = Scheduling { queue: QueueRule::SameStreamFirst, ..Scheduling::default() };
        let on =
            |approach, policy| Scheduling { approach, policy, ..same }.check().map_err(|fault| fault.field);
        assert_eq!(on(Parallelism::Hybrid, ProcessorPolicy::Mru), Ok(()));
        assert!(on(Parallelism::Ips, ProcessorPolicy::Mru).is_err());
        assert_eq!(on(Parallelism::Hybrid, ProcessorPolicy::WiredStreams), Ok(()));
        assert!(on(Parallelism::Locking, ProcessorPolicy::WiredStreams).is_err());
        assert!(on(Parallelism::Hybrid, ProcessorPolicy::Hash).is_err());
    }

    #[test]
    fn scheduling_survives_a_toml_round_trip() {
        let scheduling = Scheduling { approach: Parallelism::Ips, ..Scheduling::default() };
        let text = toml::to_string(&scheduling).unwrap();
        assert!(
            text.contains("approach = \"ips\"") && text.contains("thread_order = \"opposite\""),
            "{text}"
        );
        assert_eq!(toml::from_str::<Scheduling>(&text).unwrap(), scheduling);
    }
}
