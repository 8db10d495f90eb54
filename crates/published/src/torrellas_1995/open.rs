//! What the text leaves open: each is a parameter with a name, a default, and the range of the sensitivity chart.
//! None of them is fitted to a predicted value; which choices of the model were made in sight of one is said in the book.

use warmcore_scenario::runqueue::{Attachment, UnixScheduler};

/// The open parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Open {
    /// Time between two decays of the accumulated CPU time, in milliseconds.
    pub decay_ms: f64,
    /// The fraction that a decay leaves.
    pub decay_to: f64,
    /// The most accumulated CPU time, in ticks.
    pub cap: f64,
    /// Computing time in which all but 1/e of a process's state is reloaded, in milliseconds. Memory alone takes 3.2 ms for 3000
    /// misses, so that "about 3 ms" for the reload (§3.1.2) leaves little computing meanwhile.
    pub reload_ms: f64,
    /// Whether the misses of a reload in Table IV are a mean over dispatch intervals of all lengths (1), of which short ones end
    /// before all is reloaded, or a whole reload (0).
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
    /// The chance that a lock which a process fails to get is held by a process that does not run.
    pub lock_held: f64,
    /// Cost of an interrupt of Pmake's input and output, in microseconds.
    pub interrupt_us: f64,
    /// How many short-lived processes compile one of Pmake's files, one after the other.
    pub stages: f64,
    /// Standard deviation of the work of Pmake's files, as a fraction of its mean.
    pub spread: f64,
    /// Whether a process that follows another of its make is attached to the same processor (1) or to the next in turn (0).
    pub inherits: f64,
    /// `a_p` and `a_t` of complex affinity in figure 5.
    pub complex_level: f64,
}

impl Default for Open {
    fn default() -> Self {
        Self {
            decay_ms: 1000.0,
            decay_to: 0.5,
            cap: 255.0,
            reload_ms: 0.5,
            reload_is_mean: 0.0,
            absent: 0.8,
            short_pmake: 0.17,
            short_oracle: 0.25,
            written: 0.0,
            lock_held: 0.5,
            interrupt_us: 100.0,
            stages: 4.0,
            spread: 0.5,
            inherits: 1.0,
            complex_level: 6.0,
        }
    }
}

/// An open parameter: its name, and how to reach it.
#[derive(Clone, Copy, Debug)]
pub struct OpenParameter {
    /// Its name, as in the choices of the report.
    pub name: &'static str,
    /// The least and the greatest value of the sensitivity chart.
    pub range: [f64; 2],
    get: fn(&mut Open) -> &mut f64,
}

impl OpenParameter {
    /// All open parameters.
    pub const ALL: [Self; 15] = [
        Self { name: "decay period (ms)", range: [500.0, 5000.0], get: |open| &mut open.decay_ms },
        Self { name: "decay fraction", range: [0.25, 0.8], get: |open| &mut open.decay_to },
        Self { name: "cap (ticks)", range: [80.0, 1000.0], get: |open| &mut open.cap },
        Self { name: "reload time (ms)", range: [0.1, 1.0], get: |open| &mut open.reload_ms },
        Self { name: "reload is a mean", range: [0.0, 1.0], get: |open| &mut open.reload_is_mean },
        Self { name: "state lacking on dispatch", range: [0.5, 1.0], get: |open| &mut open.absent },
        Self { name: "short intervals, Pmake", range: [0.0, 0.3], get: |open| &mut open.short_pmake },
        Self { name: "short intervals, Oracle", range: [0.0, 0.4], get: |open| &mut open.short_oracle },
        Self { name: "written state", range: [0.0, 0.5], get: |open| &mut open.written },
        Self { name: "holder not running", range: [0.0, 1.0], get: |open| &mut open.lock_held },
        Self { name: "interrupt (µs)", range: [20.0, 500.0], get: |open| &mut open.interrupt_us },
        Self { name: "processes per file", range: [1.0, 8.0], get: |open| &mut open.stages },
        Self { name: "spread of files", range: [0.0, 1.0], get: |open| &mut open.spread },
        Self { name: "attachment inherited", range: [0.0, 1.0], get: |open| &mut open.inherits },
        Self { name: "level of complex affinity", range: [6.0, 16.0], get: |open| &mut open.complex_level },
    ];

    /// Its default.
    #[must_use]
    pub fn default_value(&self) -> f64 {
        *(self.get)(&mut Open::default())
    }

    /// The defaults, except that this parameter has `value`.
    #[must_use]
    pub fn set(&self, value: f64) -> Open {
        let mut open = Open::default();
        *(self.get)(&mut open) = value;
        open
    }
}

impl Open {
    /// The standard scheduler of the text.
    #[must_use]
    pub fn scheduler(&self) -> UnixScheduler {
        UnixScheduler {
            decay_ms: self.decay_ms,
            decay_to: self.decay_to,
            cap: whole(self.cap),
            ..UnixScheduler::default()
        }
    }

    /// How attached scheduling chooses processors.
    #[must_use]
    pub fn attachment(&self) -> Attachment {
        if self.inherits > 0.5 { Attachment::Inherited } else { Attachment::RoundRobin }
    }
}

/// A parameter that is a whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small and positive by the ranges above"
)]
pub(super) fn whole(value: f64) -> u32 {
    value.round() as u32
}
