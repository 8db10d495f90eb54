//! Settings without effect because of other settings.
//!
//! A user who sets one expects a difference, and would mistake its absence for a result.

use crate::packet::PacketScenario;
use crate::scheduling::Parallelism;
use crate::traffic::Process;
use crate::{Organisation, ProcessorPolicy};

/// A setting without effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unused {
    /// Its field in the document.
    pub field: &'static str,
    /// Why it changes nothing.
    pub reason: &'static str,
}

impl PacketScenario {
    /// The settings that do not change the simulation, whatever their value.
    #[must_use]
    pub fn unused(&self) -> Vec<Unused> {
        let rules =
            [self.unused_anywhere(), self.unused_effects(), self.unused_of_run(), self.unused_of_trace()];
        let unlimited = self.queues.limit.is_none();
        let scope = vec![("queues.scope", unlimited, "all packets may wait; see `queues.limit`")];
        unused([rules.concat(), scope].concat())
    }

    /// The settings that do not change a run on this machine.
    #[must_use]
    pub fn unused_live(&self) -> Vec<Unused> {
        unused(self.unused_anywhere())
    }

    fn unused_anywhere(&self) -> Vec<Rule> {
        let Self { scheduling, traffic, .. } = self;
        let has = |approach| scheduling.approach == approach;
        let is_trace = matches!(traffic.process, Process::Trace(_));
        let own_threads = scheduling.threads == Organisation::PerProcessor;
        vec![
            ("stacks", has(Parallelism::Locking), "Locking has one stack"),
            ("stacks", has(Parallelism::Hybrid), "Hybrid has one stack for each processor"),
            (
                "scheduling.thread_order",
                own_threads,
                "only a global pool of threads has an order; see `scheduling.threads`",
            ),
            (
                "traffic.batch.distribution",
                traffic.batch.mean == 1.0,
                "packets arrive one by one; see `traffic.batch.mean`",
            ),
            ("traffic.streams", is_trace, "a trace has its own streams"),
            (
                "traffic.process.trace.time_scale",
                is_trace && self.rate_per_s.is_some(),
                "the rate decides how times are scaled",
            ),
        ]
    }

    fn unused_effects(&self) -> Vec<Rule> {
        let Self { scheduling, traffic, effects, .. } = self;
        let has_locks = scheduling.approach == Parallelism::Locking;
        let locks = "independent stacks work on one packet at a time, and nobody waits for a lock";
        let is_trace = matches!(traffic.process, Process::Trace(_));
        let no_sizes = traffic.sizes.is_empty() && !is_trace;
        let bytes_cost = effects.checksum_ns_per_byte > 0.0 || effects.copy_ns_per_byte > 0.0;
        let none_sent = traffic.send_fraction == 0.0 && !is_trace;
        let free =
            "no byte costs anything; see `effects.checksum_ns_per_byte` and `effects.copy_ns_per_byte`";
        vec![
            ("effects.map_lock_ns", !has_locks, locks),
            ("effects.session_lock_ns", !has_locks, locks),
            (
                "effects.staleness_ns",
                scheduling.is_wired(),
                "each stream is wired to a processor, whatever the others do",
            ),
            ("traffic.sizes", !bytes_cost, free),
            ("effects.checksum_ns_per_byte", no_sizes, "packets have no bytes; see `traffic.sizes`"),
            ("effects.copy_ns_per_byte", no_sizes, "packets have no bytes; see `traffic.sizes`"),
            ("effects.send_path", none_sent, "no packet is sent; see `traffic.send_fraction`"),
        ]
    }

    fn unused_of_run(&self) -> Vec<Rule> {
        let heavy = matches!(self.traffic.process, Process::SelfSimilar(_));
        let reason = "no interval holds for self-similar arrivals, and every run takes `run.max_packets`";
        let fixed = self.run.packets.is_some();
        let exactly = "each run takes exactly `run.packets`";
        vec![
            ("run.precision", heavy, reason),
            ("run.precision", fixed, exactly),
            ("run.max_packets", fixed, exactly),
        ]
    }

    fn unused_of_trace(&self) -> Vec<Rule> {
        let Self { traffic, scheduling, .. } = self;
        if !matches!(traffic.process, Process::Trace(_)) {
            return Vec::new();
        }
        let policy_draws =
            matches!(scheduling.policy, ProcessorPolicy::CentralQueue | ProcessorPolicy::PowerOfTwo);
        let draws = policy_draws || !traffic.sizes.is_empty() || traffic.send_fraction > 0.0;
        let once = "a trace is simulated once, completely: a repetition would be the same";
        vec![
            ("seed", !draws, "nothing about a trace is drawn at random"),
            ("run.precision", true, once),
            ("run.max_packets", true, once),
            ("run.replications", true, once),
            ("run.packets", true, once),
            ("run.warmup_packets", true, "all packets of a trace count"),
        ]
    }
}

/// A field, whether it has no effect, and why it then has none.
type Rule = (&'static str, bool, &'static str);

fn unused(rules: Vec<Rule>) -> Vec<Unused> {
    let unused = rules.into_iter().filter(|(_, is_unused, _)| *is_unused);
    unused.map(|(field, _, reason)| Unused { field, reason }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unused(spoil: impl Fn(&mut PacketScenario)) -> Vec<&'static str> {
        let mut scenario = PacketScenario::default();
        spoil(&mut scenario);
        scenario.unused().into_iter().map(|unused| unused.field).collect()
    }

    #[test]
    fn a_setting_is_unused_only_under_the_settings_that_disable_it() {
        let ips = |s: &mut PacketScenario| s.scheduling.approach = Parallelism::Ips;
        assert!(unused(|_| ()).contains(&"stacks") && !unused(ips).contains(&"stacks"));
        assert!(unused(ips).contains(&"effects.map_lock_ns"));
        assert!(!unused(|_| ()).contains(&"effects.map_lock_ns"));
        let copied = |s: &mut PacketScenario| s.effects.copy_ns_per_byte = 1.0;
        assert!(unused(|_| ()).contains(&"traffic.sizes") && !unused(copied).contains(&"traffic.sizes"));
    }
}
