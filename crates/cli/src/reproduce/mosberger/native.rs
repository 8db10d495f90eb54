//! Round trips of native programs, one for each build, in interleaved blocks.

use crate::misuse::{OrMisuse, misuse};
use crate::progress;
use crate::visible::visible;
use miette::{IntoDiagnostic, WrapErr, miette};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use warmcore_linux::Program;
use warmcore_published::mosberger_1996::{Build, Measurements, Protocols};
use warmcore_record::Journal;

/// How often every program is run, and how many round trips each run times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks {
    count: usize,
    round_trips: u64,
}

/// For a report.
pub(super) const FULL: Blocks = Blocks { count: 20, round_trips: 20_000 };
/// A first look.
pub(super) const QUICK: Blocks = Blocks { count: 5, round_trips: 5000 };

/// A run takes a fraction of a second. One that takes this long has failed.
const LONGEST_RUN: Duration = Duration::from_secs(60);

/// The line of a program's output that counts: round trips after other code has run.
const LINE: &str = "resumed ";

/// Time between two looks whether the user has stopped it.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// The longest program that is looked at, in bytes: those of the laboratory have some megabytes.
const LONGEST_PROGRAM: u64 = 1 << 30;

/// How much of a program's output an error quotes, in characters.
const LONGEST_QUOTE: usize = 80;

/// The program of a build.
struct BuiltProgram {
    build: Build,
    path: PathBuf,
    /// Of its contents (CRC-32).
    checksum: u32,
}

/// The program of each build.
pub(super) struct Programs(Vec<BuiltProgram>);

/// Round trips of a stack in a build, in nanoseconds, one for each block.
pub(super) type Measured = Vec<(Protocols, Build, Vec<f64>)>;

impl Programs {
    /// Those that `scripts/build-lab --native` has put into `folder`.
    pub(super) fn find(folder: &Path) -> miette::Result<Self> {
        let named = || format!("--native {}", folder.display());
        // The same folder, however it is named. One that is not there has no programs, which is said below.
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let program = |build: Build| -> miette::Result<BuiltProgram> {
            let path = Self::path(&folder, build);
            Program::find(&[path.clone().into_os_string()]).map_err(|error| {
                misuse(format!("{}: {error}; `scripts/build-lab --native FOLDER` makes all six", named()))
            })?;
            let contents = warmcore_files::read(&path, LONGEST_PROGRAM).or_misuse().wrap_err_with(named)?;
            Ok(BuiltProgram { build, path, checksum: crc32fast::hash(&contents) })
        };
        Ok(Self(Build::ALL.into_iter().map(program).collect::<Result<_, _>>()?))
    }

    fn path(folder: &Path, build: Build) -> PathBuf {
        folder.join(build.to_string().to_lowercase())
    }

    /// What round trips depend on: which programs these are. On one line.
    pub(super) fn identity(&self) -> String {
        let identity = |program: &BuiltProgram| format!("{:?} {:08x}", program.path, program.checksum);
        self.0.iter().map(identity).collect::<Vec<_>>().join(", ")
    }

    /// Runs every program with every stack once in each block. What is known from before is not run again.
    pub(super) fn measure(
        &self,
        blocks: Blocks,
        journal: &Journal<Vec<f64>>,
        stop: &AtomicBool,
    ) -> miette::Result<Measured> {
        let order: Vec<(Protocols, &BuiltProgram)> =
            Protocols::ALL.into_iter().flat_map(|stack| self.0.iter().map(move |one| (stack, one))).collect();
        let mut measured: Measured =
            order.iter().map(|&(stack, program)| (stack, program.build, Vec::new())).collect();
        let bar = progress::bar("round trips");
        for block in 0..blocks.count {
            let key = format!("block {block}, {} round trips", blocks.round_trips);
            let times = match journal.known(&key) {
                Some(known) if known.len() == order.len() => known.clone(),
                _ => {
                    let time = |&(stack, program): &(Protocols, &BuiltProgram)| {
                        round_trip(&program.path, stack, blocks.round_trips, stop)
                    };
                    let times = order.iter().map(time).collect::<miette::Result<Option<Vec<f64>>>>()?;
                    let Some(times) = times else { return Ok(Vec::new()) };
                    journal.append(&key, &times).into_diagnostic()?;
                    times
                }
            };
            measured.iter_mut().zip(times).for_each(|((_, _, all), time)| all.push(time));
            progress::set(&bar, (block + 1) as f64 / blocks.count as f64);
        }
        bar.finish_and_clear();
        Ok(if stop.load(Ordering::Relaxed) { Vec::new() } else { measured })
    }
}

/// Adds what was measured. Returns whether there was anything: not after an interruption.
pub(super) fn add(measurements: &mut Measurements, measured: &Measured) -> bool {
    for (stack, build, times) in measured {
        let is_it = |point: &&mut warmcore_published::mosberger_1996::Point| {
            (point.stack, point.build) == (*stack, *build)
        };
        if let Some(point) = measurements.points.iter_mut().find(is_it) {
            point.round_trips.clone_from(times);
        }
    }
    !measured.is_empty()
}

/// The median time of a round trip that one run of a program tells, in nanoseconds; `None` if the user has stopped it.
fn round_trip(
    program: &Path,
    stack: Protocols,
    round_trips: u64,
    stop: &AtomicBool,
) -> miette::Result<Option<f64>> {
    let stack = match stack {
        Protocols::TcpIp => "tcp",
        Protocols::Rpc => "rpc",
    };
    let arguments: Vec<OsString> = vec![program.into(), stack.into(), round_trips.to_string().into()];
    let mut running = Program::start_captured(&arguments).into_diagnostic()?;
    let start = Instant::now();
    while !running.ends_within(CHECK_INTERVAL).into_diagnostic()? {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        if start.elapsed() > LONGEST_RUN {
            return Err(miette!("{}: no result after {} s", program.display(), LONGEST_RUN.as_secs()));
        }
    }
    time(&running.output()).map(Some).map_err(|problem| miette!("{}: {problem}", program.display()))
}

/// The time in what a program printed, in nanoseconds.
fn time(output: &str) -> Result<f64, String> {
    let found = output.lines().find_map(|line| line.strip_prefix(LINE)).map(str::trim);
    let time = found.and_then(|found| found.parse::<f64>().ok());
    match (time, found) {
        (Some(time), _) if time.is_finite() && time > 0.0 => Ok(time),
        (_, Some(found)) => {
            Err(format!("`{LINE}` is {}, expected nanoseconds above zero and finite", quoted(found)))
        }
        (_, None) => Err(format!(
            "expected a line `{LINE}NANOSECONDS`, found {}; is it a program of the laboratory?",
            quoted(output.trim())
        )),
    }
}

/// The beginning of `text` in quotes.
fn quoted(text: &str) -> String {
    let mut characters = text.chars();
    let beginning: String = characters.by_ref().take(LONGEST_QUOTE).collect();
    let rest = if characters.next().is_some() { "…" } else { "" };
    format!("`{}{rest}`", visible(&beginning))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    fn write(folder: &Path, build: Build, script: &str) {
        let path = Programs::path(folder, build);
        fs::write(&path, script).unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn programs_are_told_by_their_contents() {
        let folder = tempfile::tempdir().unwrap();
        Build::ALL.into_iter().for_each(|build| write(folder.path(), build, "#!/bin/sh\necho resumed 1\n"));
        let identity = || Programs::find(folder.path()).unwrap().identity();
        let before = identity();
        assert_eq!(identity(), before);
        write(folder.path(), Build::ALL[0], "#!/bin/sh\necho resumed 2\n");
        assert_ne!(identity(), before);
    }

    #[test]
    fn a_run_ends_when_the_user_stops_it() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), Build::ALL[0], "#!/bin/sh\nsleep 1000\n");
        let path = Programs::path(folder.path(), Build::ALL[0]);
        let time = round_trip(&path, Protocols::TcpIp, 1, &AtomicBool::new(true)).unwrap();
        assert_eq!(time, None);
    }

    #[test]
    fn times_are_finite_and_above_zero() {
        assert_eq!(time("cold 9\nresumed 12.5\n"), Ok(12.5));
        for found in ["inf", "NaN", "-1", "0", "fast"] {
            let problem = time(&format!("resumed {found}\n")).unwrap_err();
            assert!(problem.contains(&format!("is `{found}`, expected nanoseconds")), "{problem}");
        }
    }

    #[test]
    fn errors_quote_the_beginning_of_an_output() {
        let problem = time(&"x".repeat(1 << 20)).unwrap_err();
        assert!(problem.contains(&format!("found `{}…`", "x".repeat(LONGEST_QUOTE))), "{}", problem.len());
    }
}
