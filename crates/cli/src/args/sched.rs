//! The arguments of `warmcore host trace` and `warmcore host scx`.

use super::{quantity, values, whole};
use clap::{Args, Subcommand};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use warmcore_policy::runqueue::{Affinity, AffinityForm, Decay, Parameters, Ticks};
use warmcore_units::Nanos;

#[derive(Args, Debug)]
pub(crate) struct TraceArguments {
    /// How long to record, such as 10s or 2m. Ctrl-C ends it earlier, and what was recorded is written
    #[arg(long, value_name = "SECONDS", value_parser = quantity::pause, default_value = "10")]
    pub(crate) seconds: Duration,

    /// Write the scenario to this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,

    /// Overwrite an earlier scenario
    #[arg(long)]
    pub(crate) force: bool,

    /// Only these processes or threads, and what they start meanwhile; all others are one application in the background
    #[arg(long, value_name = "PID,…", value_delimiter = ',', value_parser = whole::count::<u32>(1..=4_194_304))]
    pub(crate) pid: Vec<u32>,

    /// Only processes with these commands, as `ps -o comm` prints them
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) command: Vec<String>,

    /// Only these control groups and those below, such as /system.slice/nginx.service
    #[arg(long, value_name = "PATH,…", value_delimiter = ',', value_parser = control_group)]
    pub(crate) cgroup: Vec<String>,
}

/// Reads the path of a control group, below its root or below where that is mounted.
fn control_group(text: &str) -> Result<String, String> {
    let path = text.strip_prefix("/sys/fs/cgroup").unwrap_or(text).trim_end_matches('/');
    if path.len() > 1 && path.starts_with('/') {
        return Ok(path.to_owned());
    }
    Err("expected a path from the root of the control groups, other than the root, such as /system.slice"
        .to_owned())
}

#[derive(Subcommand, Debug)]
pub(crate) enum ScxCommand {
    /// Load the scheduler, and print what it does until Ctrl-C
    ///
    /// Every task of the machine is scheduled by it meanwhile, but those of real-time and deadline classes. The kernel
    /// unloads it when this process ends, however it ends, and takes the tasks back. Needs root.
    Start(StartArguments),

    /// Say whether the kernel takes a scheduler, and which one is loaded
    Status,
}

#[derive(Args, Debug)]
pub(crate) struct StartArguments {
    /// How much caches count: `light` is a_p = a_t = 6, `heavy` 16; `attached` fixes every task to a cpu
    #[arg(long, value_name = "LEVEL", value_parser = values::one_of(Level::NAMES.map(|one| one.0).into(), Level::named), default_value = "light")]
    pub(crate) level: Level,

    /// Taken off the priority of tasks that last ran on the searching cpu [default: the level's]
    #[arg(long, value_name = "N", value_parser = whole::count::<u32>(0..=1_000_000))]
    pub(crate) a_p: Option<u32>,

    /// Taken off besides for the task that ran there last [default: the level's]
    #[arg(long, value_name = "N", value_parser = whole::count::<u32>(0..=1_000_000))]
    pub(crate) a_t: Option<u32>,

    /// Let a_t fade with the time since a task ran on the cpu, for all that ran there
    #[arg(long)]
    pub(crate) complex: bool,

    /// Time between two ticks, by which CPU time is counted
    #[arg(long, value_name = "TIME", value_parser = quantity::slice, default_value = "10ms")]
    pub(crate) tick: Duration,

    /// The longest that a task runs before the queue is searched again
    #[arg(long, value_name = "TIME", value_parser = quantity::slice, default_value = "30ms")]
    pub(crate) quantum: Duration,

    /// Ticks between two decays, which halve the CPU time of all tasks
    #[arg(long, value_name = "TICKS", default_value_t = Decay::default().period.0)]
    #[arg(value_parser = whole::count::<u64>(1..=1_000_000))]
    pub(crate) decay: u64,

    /// Let a task that has just yielded be picked again at once
    #[arg(long)]
    pub(crate) keep_yielder: bool,

    /// Print what happened at this interval
    #[arg(long, value_name = "SECONDS", value_parser = quantity::pause, default_value = "1s")]
    pub(crate) interval: Duration,

    /// Unload it after this time [default: at Ctrl-C]
    #[arg(long, value_name = "SECONDS", value_parser = quantity::pause)]
    pub(crate) seconds: Option<Duration>,

    /// Write each search of the queue to this new file: who searched, who waited, who was picked
    #[arg(long, value_name = "FILE")]
    pub(crate) decisions: Option<PathBuf>,
}

/// A level of affinity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    /// Caches are ignored.
    None,
    /// `LightAff` of Torrellas 1995.
    Light,
    /// `HeavyAff`.
    Heavy,
    /// Attached scheduling.
    Attached,
}

impl Level {
    const NAMES: [(&'static str, Self); 4] =
        [("none", Self::None), ("light", Self::Light), ("heavy", Self::Heavy), ("attached", Self::Attached)];

    fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|one| one.0 == name).map(|one| one.1)
    }

    const fn affinity(self) -> Affinity {
        match self {
            Self::None | Self::Attached => Affinity::NONE,
            Self::Light => Affinity::LIGHT,
            Self::Heavy => Affinity::HEAVY,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|one| one.1 == *self).map_or("", |one| one.0);
        f.write_str(name)
    }
}

impl StartArguments {
    /// The constants of the scheduler.
    pub(crate) fn parameters(&self) -> Parameters {
        let level = self.level.affinity();
        let affinity = Affinity {
            a_p: self.a_p.unwrap_or(level.a_p),
            a_t: self.a_t.unwrap_or(level.a_t),
            form: if self.complex { AffinityForm::Complex } else { AffinityForm::Simple },
        };
        Parameters {
            affinity,
            tick: Nanos(self.tick.as_secs_f64() * 1e9),
            quantum: Nanos(self.quantum.as_secs_f64() * 1e9),
            decay: Decay { period: Ticks(self.decay), ..Decay::default() },
            exclude_yielder: !self.keep_yielder,
            ..Parameters::default()
        }
    }
}
