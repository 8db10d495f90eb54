//! The work done in a run.

use super::built_in::BuiltIn;
use super::monitor::MonitoredRun;
use crate::transfer::TransferError;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};
use warmcore_linux::tuning::{Plan, System};
use warmcore_linux::{CpuUsage, EventCounts, Program, ProgramError};

/// Time between two checks whether the run is over, or the user has stopped it.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// A program that reports its own figure, or a load before its first byte, may take this many times the
/// length of a run.
pub const TIMEOUT_FACTOR: u32 = 20;
/// How long a load runs before it is measured, from its first byte on.
const WARM_UP: Duration = Duration::from_millis(300);

/// The work that is measured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Work {
    /// Bits through these interfaces, in and out, while the load runs; without a load, while the
    /// machine does what it does anyway.
    Interfaces {
        /// Their names.
        names: Vec<String>,
        /// The program that generates the load. It is started for every run and stopped after it.
        load: Option<Vec<OsString>>,
    },
    /// Bits of the built-in load.
    BuiltIn(BuiltIn),
    /// A figure that a program reports: the number in the last line it prints, per second, higher being
    /// better. It is started for every run and ends by itself.
    Reported(Vec<OsString>),
}

/// What was done in a run.
#[derive(Clone, Debug)]
pub struct DoneWork {
    /// Work per second.
    pub rate: f64,
    /// Packets received per second; `None` where they are not counted.
    pub packets: Option<f64>,
    /// What the cpus did meanwhile.
    pub spent: CpuUsage,
    /// What the processor counted.
    pub counted: EventCounts,
}

/// Why the work cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// The program cannot be run, or has ended.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The built-in load cannot be started, or has ended.
    #[error("the built-in load failed: {0}")]
    BuiltIn(#[from] TransferError),
    /// An interface's counters cannot be read.
    #[error("cannot read the byte counters of `{interface}`: {source}")]
    Counters {
        /// The interface.
        interface: String,
        /// What the system says.
        source: io::Error,
    },
    /// Nothing was done.
    #[error(
        "nothing went through {0} in a run: expected a workload that runs all the time, or a program given with --load"
    )]
    Nothing(String),
    /// The program's last line is no figure.
    #[error("the last line that `{program}` printed is `{found}`, expected a number above zero")]
    NoFigure {
        /// The program.
        program: String,
        /// The line.
        found: String,
    },
    /// The program takes too long.
    #[error("`{program}` did not end within {} s: expected one that ends by itself", limit.as_secs_f64())]
    TimedOut {
        /// The program.
        program: String,
        /// The time it was given.
        limit: Duration,
    },
    /// The user has stopped it.
    #[error("interrupted: every change was undone")]
    Interrupted,
}

impl Work {
    /// The unit of a rate.
    #[must_use]
    pub const fn unit(&self) -> &'static str {
        match self {
            Self::Interfaces { .. } | Self::BuiltIn(_) => "bit/s",
            Self::Reported(_) => "as the program says, per second",
        }
    }

    /// Whether rates are bits per second.
    #[must_use]
    pub const fn is_bits(&self) -> bool {
        matches!(self, Self::Interfaces { .. } | Self::BuiltIn(_))
    }

    /// Runs the work for about `time`, with `part` of the plan in force, and starts `monitored` when it
    /// counts.
    ///
    /// # Errors
    /// If no work was done, or it cannot be measured; or if `stop` was set.
    pub fn run(
        &self,
        part: &Plan,
        system: &dyn System,
        time: Duration,
        stop: &AtomicBool,
        monitored: &mut MonitoredRun<'_>,
    ) -> Result<DoneWork, WorkError> {
        match self {
            Self::Interfaces { names, load } => {
                let mut load = load.as_deref().map(Program::start).transpose()?;
                if let Some(load) = &mut load {
                    await_load(load, time * TIMEOUT_FACTOR, stop, || bytes(system, names))?;
                }
                monitored.begin(&load.as_ref().map(Program::processes).unwrap_or_default());
                let (before, packets) = (bytes(system, names)?, packets(system, names));
                pause(time, stop)?;
                let (after, (spent, counted)) = (bytes(system, names)?, monitored.end());
                let packets = packets.zip(self::packets(system, names));
                let packets = packets.map(|(before, after)| after.saturating_sub(before) as f64);
                load.as_mut().map(Program::check).transpose()?;
                if after <= before {
                    return Err(WorkError::Nothing(names.join(", ")));
                }
                let packets = packets.map(|packets| packets / spent.time.secs());
                Ok(DoneWork { rate: bits_per_second(after - before, &spent), packets, spent, counted })
            }
            Self::BuiltIn(load) => {
                let mut load = load.start(part)?;
                pause(WARM_UP, stop)?;
                monitored.begin(&load.transfer.programs());
                let before: u64 = load.transfer.received()?.iter().sum();
                pause(time, stop)?;
                let (after, (spent, counted)) =
                    (load.transfer.received()?.iter().sum::<u64>(), monitored.end());
                if after <= before {
                    return Err(WorkError::Nothing("the virtual wires".to_owned()));
                }
                let rate = bits_per_second(after - before, &spent);
                Ok(DoneWork { rate, packets: None, spent, counted })
            }
            Self::Reported(program) => {
                monitored.begin(&[]);
                let figure = reported(program, time * TIMEOUT_FACTOR, stop)?;
                let (spent, counted) = monitored.end();
                Ok(DoneWork { rate: figure, packets: None, spent, counted })
            }
        }
    }
}

/// The measured work, in words.
impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interfaces { names, .. } => write!(f, "bits through {}", names.join(", ")),
            Self::BuiltIn(load) => load.fmt(f),
            Self::Reported(program) => {
                let name = program.first().map(|name| name.to_string_lossy());
                write!(f, "what `{}` says", name.unwrap_or_default())
            }
        }
    }
}

fn bits_per_second(bytes: u64, spent: &CpuUsage) -> f64 {
    bytes as f64 * 8.0 / spent.time.secs()
}

/// Packets that came in through interfaces since they were made; `None` if one does not count them.
fn packets(system: &dyn System, names: &[String]) -> Option<u64> {
    names.iter().map(|interface| statistic(system, interface, "rx_packets").ok()).sum()
}

/// A counter of an interface.
fn statistic(system: &dyn System, interface: &str, counter: &str) -> io::Result<u64> {
    let text = system.read(&format!("sys/class/net/{interface}/statistics/{counter}"))?;
    text.trim().parse().map_err(io::Error::other)
}

/// Bytes in and out of interfaces since they were made.
fn bytes(system: &dyn System, names: &[String]) -> Result<u64, WorkError> {
    let mut sum = 0;
    for interface in names {
        for counter in ["rx_bytes", "tx_bytes"] {
            let counter = statistic(system, interface, counter);
            sum += counter.map_err(|source| WorkError::Counters { interface: interface.clone(), source })?;
        }
    }
    Ok(sum)
}

/// Waits until the load has an effect, which increases `counted`, and then for [`WARM_UP`]. Waits for
/// an effect at most `limit`.
fn await_load(
    load: &mut Program,
    limit: Duration,
    stop: &AtomicBool,
    counted: impl Fn() -> Result<u64, WorkError>,
) -> Result<(), WorkError> {
    let (since, before) = (Instant::now(), counted()?);
    while counted()? == before && since.elapsed() < limit {
        load.check()?;
        pause(CHECK_INTERVAL, stop)?;
    }
    pause(WARM_UP, stop)
}

/// Waits for `time`, unless `stop` is set.
fn pause(time: Duration, stop: &AtomicBool) -> Result<(), WorkError> {
    let since = Instant::now();
    while let Some(left) = time.checked_sub(since.elapsed()) {
        if stop.load(Ordering::Relaxed) {
            return Err(WorkError::Interrupted);
        }
        sleep(left.min(CHECK_INTERVAL));
    }
    Ok(())
}

/// Runs `program` and returns the figure that it prints last.
fn reported(program: &[OsString], limit: Duration, stop: &AtomicBool) -> Result<f64, WorkError> {
    let name = || program.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut running = Program::start_captured(program)?;
    let since = Instant::now();
    while !running.has_ended()? {
        if stop.load(Ordering::Relaxed) {
            return Err(WorkError::Interrupted);
        }
        if since.elapsed() > limit {
            return Err(WorkError::TimedOut { program: name(), limit });
        }
        sleep(CHECK_INTERVAL);
    }
    let said = running.output();
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let figure = last.parse::<f64>().ok().filter(|figure| figure.is_finite() && *figure > 0.0);
    figure.ok_or_else(|| WorkError::NoFigure { program: name(), found: last.to_owned() })
}
