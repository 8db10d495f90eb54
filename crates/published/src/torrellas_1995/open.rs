//! What the text leaves open: each is a parameter with a name, three values that it may plausibly have, and where its value comes
//! from. None of them is fitted to a predicted value:
//!
//! - What the standard scheduler's data can tell is chosen by the calibration ([`blind`](super::blind)), which sees no other
//!   scheduler. It begins at the neutral values below.
//! - What they cannot tell is taken from a document that is older than this model and knows nothing of it
//!   ([`Origin::Document`]): who inherits an attachment, from IRIX's manual; the level of complex affinity, from §5.1.
//!
//! The values that are not chosen show how much of a result is known at all ([`gaps`](super::gaps)).

use serde::{Deserialize, Serialize};
use warmcore_scenario::runqueue::{Attachment, UnixScheduler};

/// The open parameters, all as numbers. A choice between two readings is 0 or 1.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Open {
    /// Time between two decays of the accumulated CPU time, in milliseconds.
    pub decay_ms: f64,
    /// The fraction that a decay leaves.
    pub decay_to: f64,
    /// The most accumulated CPU time, in ticks.
    pub cap: f64,
    /// Whether a quantum is measured (0) or ends with a timer interrupt (1).
    pub quantum_by_ticks: f64,
    /// How long a miss occupies the bus, in nanoseconds.
    pub bus_ns: f64,
    /// Computing time in which all but 1/e of a process's state is reloaded, in milliseconds.
    pub reload_ms: f64,
    /// Whether the misses of a reload in Table IV are a whole reload (0), or a mean over dispatch intervals of all lengths (1), of
    /// which short ones end before all is reloaded.
    pub reload_is_mean: f64,
    /// The part of its state that a process lacks when it is dispatched, with which the durations of Table II become computing
    /// times.
    pub absent: f64,
    /// The share of Pmake's dispatch intervals below 1 ms, which Table II leaves out.
    pub short_pmake: f64,
    /// The same for Oracle.
    pub short_oracle: f64,
    /// The part of a process's state that it writes, which is stale elsewhere once it has migrated.
    pub written: f64,
    /// The rate at which Cholesky's processes make each other's state stale, per millisecond that they compute.
    pub invalidated: f64,
    /// Why processors idle under scientific applications: their processes block (0), or one begins alone (1).
    pub serial: f64,
    /// Standard deviation of the times that processes block, as a fraction of the mean.
    pub io_spread: f64,
    /// The chance that a lock which a process fails to get is held by a process that does not run.
    pub lock_held: f64,
    /// How long a process tries for a lock before it yields again, in milliseconds.
    pub retry_ms: f64,
    /// Cost of an interrupt of Pmake's input and output, in microseconds.
    pub interrupt_us: f64,
    /// Misses of such an interrupt.
    pub interrupt_misses: f64,
    /// How many short-lived processes compile one of Pmake's files, one after the other.
    pub stages: f64,
    /// Standard deviation of the work of Pmake's files, as a fraction of its mean.
    pub spread: f64,
    /// The part of a decay that long-running processes escape under affinity.
    pub spares_old: f64,
    /// Who is attached where: everyone in turn (0), a make with all that it starts to one processor (1), everyone at random (2).
    pub attachment: f64,
    /// `a_p` and `a_t` of complex affinity in figure 5.
    pub complex_level: f64,
}

/// Where the value of an open parameter comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The calibration chooses it.
    Calibration,
    /// A document gives it.
    Document(&'static str),
}

/// An open parameter: its name, how to reach it, and what it may be.
#[derive(Clone, Copy, Debug)]
pub struct OpenParameter {
    /// Its name, as in the report.
    pub name: &'static str,
    /// The values that are tried, in ascending order.
    pub values: &'static [f64],
    /// The value from which the calibration begins.
    pub neutral: f64,
    /// Where its value comes from.
    pub origin: Origin,
    get: fn(&mut Open) -> &mut f64,
}

const RUNON: &str = "IRIX's manual page runon(1): an attachment is inherited across fork and exec";
const ALIKE: &str = "§4: one decay for all; how affinity interacts with it (§5.1) is not said";
const LOW: &str = "§5.1: a low level of affinity is sufficient and desirable";

/// A parameter that the calibration chooses. It begins in the middle, or at the first of two values.
const fn seen(name: &'static str, values: &'static [f64], get: fn(&mut Open) -> &mut f64) -> OpenParameter {
    let neutral = values[(values.len() - 1) / 2];
    OpenParameter { name, values, neutral, origin: Origin::Calibration, get }
}

/// A parameter of which the standard scheduler's data tell nothing.
const fn unseen(
    name: &'static str,
    values: &'static [f64],
    (neutral, document): (f64, &'static str),
    get: fn(&mut Open) -> &mut f64,
) -> OpenParameter {
    OpenParameter { name, values, neutral, origin: Origin::Document(document), get }
}

impl OpenParameter {
    /// All open parameters, in the order in which the calibration chooses: what concerns most workloads first.
    pub const ALL: [Self; 23] = [
        seen("idle by a serial beginning", &[0.0, 1.0], |open| &mut open.serial),
        seen("quanta end with ticks", &[0.0, 1.0], |open| &mut open.quantum_by_ticks),
        seen("reload is a mean", &[0.0, 1.0], |open| &mut open.reload_is_mean),
        seen("reload time (ms)", &[0.1, 0.3, 1.0], |open| &mut open.reload_ms),
        // 16 bytes in four clocks of 16 MHz on this machine's bus (Lenoski et al., "The Stanford DASH Multiprocessor", IEEE
        // Computer 25(3), 1992, whose clusters are 4D/340s); twice that if every miss also writes a block back.
        seen("bus time of a miss (ns)", &[0.0, 250.0, 500.0], |open| &mut open.bus_ns),
        seen("state lacking on dispatch", &[0.5, 0.75, 1.0], |open| &mut open.absent),
        seen("written state", &[0.0, 0.25, 0.5], |open| &mut open.written),
        seen("invalidations of Cholesky (/ms)", &[0.0, 0.01, 0.1], |open| &mut open.invalidated),
        seen("lock holder does not run", &[0.0, 0.5, 1.0], |open| &mut open.lock_held),
        seen("tries for a lock (ms)", &[0.05, 0.1, 0.5], |open| &mut open.retry_ms),
        seen("spread of blocking", &[0.0, 1.0, 2.0], |open| &mut open.io_spread),
        seen("decay period (ms)", &[500.0, 1000.0, 5000.0], |open| &mut open.decay_ms),
        seen("decay fraction", &[0.25, 0.5, 0.8], |open| &mut open.decay_to),
        seen("cap (ticks)", &[80.0, 255.0, 1000.0], |open| &mut open.cap),
        seen("short intervals, Pmake", &[0.0, 0.15, 0.3], |open| &mut open.short_pmake),
        seen("short intervals, Oracle", &[0.0, 0.2, 0.4], |open| &mut open.short_oracle),
        seen("processes per file", &[1.0, 4.0, 8.0], |open| &mut open.stages),
        seen("spread of files", &[0.0, 0.5, 1.0], |open| &mut open.spread),
        seen("interrupt (µs)", &[20.0, 100.0, 500.0], |open| &mut open.interrupt_us),
        seen("misses of an interrupt", &[0.0, 50.0, 200.0], |open| &mut open.interrupt_misses),
        unseen("decay spares the old under affinity", &[0.0, 0.5, 1.0], (0.0, ALIKE), |open| {
            &mut open.spares_old
        }),
        unseen("attachment", &[0.0, 1.0, 2.0], (1.0, RUNON), |open| &mut open.attachment),
        unseen("level of complex affinity", &[6.0, 16.0], (6.0, LOW), |open| &mut open.complex_level),
    ];

    /// Its value in `open`.
    #[must_use]
    pub fn value(&self, open: &Open) -> f64 {
        let mut open = *open;
        *(self.get)(&mut open)
    }

    /// `open`, except that this parameter has `value`.
    #[must_use]
    pub fn set(&self, open: &Open, value: f64) -> Open {
        let mut open = *open;
        *(self.get)(&mut open) = value;
        open
    }

    /// The values that it does not have in `open`.
    pub fn others(self, open: &Open) -> impl Iterator<Item = f64> {
        let own = self.value(open);
        self.values.iter().copied().filter(move |value| *value != own)
    }
}

impl Open {
    /// Where the calibration begins: every parameter at its neutral value.
    #[must_use]
    pub fn neutral() -> Self {
        let none = Self::from_zeros();
        OpenParameter::ALL.iter().fold(none, |open, parameter| parameter.set(&open, parameter.neutral))
    }

    /// What the search ([`blind`](super::blind)) chose with seed 1, for a first look that does not repeat it. A full run does.
    #[must_use]
    pub fn recorded() -> Self {
        Self { bus_ns: 0.0, lock_held: 0.0, ..Self::neutral() }
    }

    const fn from_zeros() -> Self {
        Self {
            decay_ms: 0.0,
            decay_to: 0.0,
            cap: 0.0,
            quantum_by_ticks: 0.0,
            bus_ns: 0.0,
            reload_ms: 0.0,
            reload_is_mean: 0.0,
            absent: 0.0,
            short_pmake: 0.0,
            short_oracle: 0.0,
            written: 0.0,
            invalidated: 0.0,
            serial: 0.0,
            io_spread: 0.0,
            lock_held: 0.0,
            retry_ms: 0.0,
            interrupt_us: 0.0,
            interrupt_misses: 0.0,
            stages: 0.0,
            spread: 0.0,
            spares_old: 0.0,
            attachment: 0.0,
            complex_level: 0.0,
        }
    }

    /// The standard scheduler of the text.
    #[must_use]
    pub fn scheduler(&self) -> UnixScheduler {
        UnixScheduler {
            decay_ms: self.decay_ms,
            decay_to: self.decay_to,
            cap: whole(self.cap),
            quantum_by_ticks: self.quantum_by_ticks > 0.5,
            ..UnixScheduler::default()
        }
    }

    /// How attached scheduling chooses processors.
    #[must_use]
    pub fn attachment(&self) -> Attachment {
        match whole(self.attachment) {
            0 => Attachment::RoundRobin,
            1 => Attachment::Inherited,
            _ => Attachment::Random,
        }
    }
}

/// A parameter that is a whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small and positive by the values above"
)]
pub(super) fn whole(value: f64) -> u32 {
    value.round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_begins_at_one_of_its_values_and_is_set_alone() {
        let neutral = Open::neutral();
        for parameter in OpenParameter::ALL {
            assert!(parameter.values.contains(&parameter.neutral), "{}", parameter.name);
            assert_eq!(parameter.value(&neutral), parameter.neutral, "{}: two share a place", parameter.name);
            assert!(parameter.values.windows(2).all(|pair| pair[0] < pair[1]), "{}", parameter.name);
        }
    }
}
