//! Whether one program is faster than another: both run in interleaved blocks, the first one twice in each.
//!
//! A program is started anew for every run, and what it prints on standard error is discarded. Its time includes its start. Only what was
//! started here is ended: when its time is up, or when the user stops the experiment.

use crate::blocks::{BlockDesign, BlockError, BlockRun};
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use warmcore_linux::{CpuUsage, Meter, Program, ProgramError};
use warmcore_stats::Spread;
use warmcore_stats::blocks::{ChangeVerdict, smallest_visible, verdict};
use warmcore_stats::paired::{Change, change};
use warmcore_units::CpuId;

/// Time between two checks whether the user has stopped it.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// What [`Program`] keeps of an output, in bytes: the last number of a longer one is not known.
const LONGEST_OUTPUT: usize = 1 << 20;

/// What of a run is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Figure {
    /// Wall-clock seconds from its start to its end.
    Time,
    /// The last number on its standard output.
    LastNumber,
}

/// Two programs to compare.
#[derive(Clone, Debug)]
pub struct ProgramComparison {
    /// The program as it was, and its arguments.
    pub before: Vec<OsString>,
    /// The program as it is now.
    pub after: Vec<OsString>,
    /// What is compared.
    pub figure: Figure,
    /// After how long a run is ended.
    pub limit: Duration,
    /// How runs are arranged.
    pub blocks: BlockDesign,
    /// Cpus on which other programs disturb.
    pub cpus: Vec<CpuId>,
}

/// Why programs cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum ComparisonError {
    /// One cannot be run, or failed.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// One runs too long.
    #[error("`{program}` did not end within {} s: permit more time, or give one that ends by itself", limit.as_secs_f64())]
    TimedOut {
        /// Which one.
        program: String,
        /// The time it was given.
        limit: Duration,
    },
    /// One prints no number.
    #[error(
        "`{program}` printed no number above zero last, expected its figure on standard output{}",
        of(found)
    )]
    NoFigure {
        /// Which one.
        program: String,
        /// The number that was found.
        found: Option<f64>,
    },
    /// One prints too much.
    #[error("`{program}` printed more than 1 MiB, expected its figure as the last number of less")]
    TooLong {
        /// Which one.
        program: String,
    },
    /// There is no interval.
    #[error("no interval can be computed of fewer than two blocks")]
    TooFewBlocks,
    /// The user has stopped it.
    #[error("interrupted")]
    Interrupted,
}

fn of(found: &Option<f64>) -> String {
    found.map_or_else(String::new, |found| format!(" and not {found}"))
}

/// The runs of two programs.
#[derive(Clone, Debug)]
pub struct ComparedPrograms {
    /// Figures of the program as it was.
    pub before: Spread,
    /// Figures of the program as it is now.
    pub after: Spread,
    /// From before to after.
    pub change: Change,
    /// From before to before (A/A).
    pub control: Change,
    /// Runs that were repeated because other programs disturbed them.
    pub discarded: usize,
    /// Runs that count although they were disturbed.
    pub disturbed: usize,
}

impl ComparedPrograms {
    /// The change, judged against the A/A difference.
    #[must_use]
    pub fn verdict(&self) -> ChangeVerdict {
        verdict(&self.change, &self.control)
    }

    /// The smallest increase that would have been seen, as a fraction.
    #[must_use]
    pub fn smallest_visible(&self) -> f64 {
        smallest_visible(&self.change, &self.control)
    }
}

impl ProgramComparison {
    /// Runs both in every block, the first one twice; calls `progress` with the runs so far and all of them.
    ///
    /// # Errors
    /// If a program fails, runs too long or prints no figure, or `stop` is set.
    pub fn run(
        &self,
        progress: &mut dyn FnMut(usize, usize),
        stop: &AtomicBool,
    ) -> Result<ComparedPrograms, ComparisonError> {
        let programs = [&self.before, &self.after, &self.before];
        let mut done = 0;
        let tried = self.blocks.run(programs.len(), stop, |number| {
            let once = self.once(programs[number], stop);
            done += 1;
            progress(done, programs.len() * self.blocks.count);
            once
        });
        let tried = tried.map_err(|error| match error {
            BlockError::Run(error) => error,
            BlockError::Interrupted => ComparisonError::Interrupted,
        })?;
        compared(&tried).ok_or(ComparisonError::TooFewBlocks)
    }

    /// The figure of one run of `program`.
    fn once(&self, program: &[OsString], stop: &AtomicBool) -> Result<(f64, CpuUsage), ComparisonError> {
        let meter = Meter::start(&self.cpus, &[]);
        let begun = Instant::now();
        let mut running = match self.figure {
            Figure::Time => Program::start(program)?,
            Figure::LastNumber => Program::start_captured(program)?,
        };
        self.wait(&mut running, program, begun, stop)?;
        let seconds = begun.elapsed().as_secs_f64();
        let spent = meter.stop();
        let figure = match self.figure {
            Figure::Time => seconds,
            Figure::LastNumber => figure(program, &running.output())?,
        };
        Ok((figure, spent))
    }

    /// Waits until it has ended. It is killed when it is dropped after an error.
    fn wait(
        &self,
        running: &mut Program,
        program: &[OsString],
        begun: Instant,
        stop: &AtomicBool,
    ) -> Result<(), ComparisonError> {
        while !running.ends_within(CHECK_INTERVAL)? {
            if stop.load(Ordering::Relaxed) {
                return Err(ComparisonError::Interrupted);
            }
            if begun.elapsed() > self.limit {
                return Err(ComparisonError::TimedOut { program: name(program), limit: self.limit });
            }
        }
        Ok(())
    }
}

/// Runs of before, after and before again; `None` if there are too few.
fn compared(tried: &[Vec<BlockRun<f64>>]) -> Option<ComparedPrograms> {
    let figures = |runs: &Vec<BlockRun<f64>>| runs.iter().map(|run| run.outcome).collect::<Vec<_>>();
    let [before, after, again] = tried else { return None };
    let (before, after, again) = (figures(before), figures(after), figures(again));
    Some(ComparedPrograms {
        change: change(&after, &before)?,
        control: change(&again, &before)?,
        before: Spread(before),
        after: Spread(after),
        discarded: tried.iter().flatten().map(|run| run.discarded).sum(),
        disturbed: tried.iter().flatten().filter(|run| run.disturbed).count(),
    })
}

fn name(program: &[OsString]) -> String {
    program.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The figure in what `program` printed.
fn figure(program: &[OsString], output: &str) -> Result<f64, ComparisonError> {
    let program = name(program);
    if output.len() >= LONGEST_OUTPUT {
        return Err(ComparisonError::TooLong { program });
    }
    let found = last_number(output);
    found.filter(|figure| *figure > 0.0).ok_or(ComparisonError::NoFigure { program, found })
}

/// The last number in `text`, with whatever before and behind it: `p99: 12.5us` has 12.5.
fn last_number(text: &str) -> Option<f64> {
    let is_part = |letter: char| letter.is_ascii_digit() || "+-.eE".contains(letter);
    let parts = text.rsplit(|letter| !is_part(letter));
    let number = |part: &str| {
        let part = part.trim_start_matches(['e', 'E']).trim_end_matches(|last: char| !last.is_ascii_digit());
        part.parse::<f64>().ok().filter(|number| number.is_finite())
    };
    parts.filter_map(number).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(before: &str, after: &str, figure: Figure) -> ProgramComparison {
        let program = |script: &str| ["sh", "-c", script].map(OsString::from).to_vec();
        ProgramComparison {
            before: program(before),
            after: program(after),
            figure,
            limit: Duration::from_secs(60),
            blocks: BlockDesign { count: 4, repeats: 0, ..BlockDesign::default() },
            cpus: Vec::new(),
        }
    }

    fn run(comparison: &ProgramComparison) -> Result<ComparedPrograms, ComparisonError> {
        comparison.run(&mut |_, _| (), &AtomicBool::new(false))
    }

    #[test]
    fn the_last_number_is_found_whatever_surrounds_it() {
        for (text, number) in [
            ("12.5\n", Some(12.5)),
            ("mean 3 us, p99: 12.5us\n", Some(12.5)),
            ("took 1e-3s", Some(1e-3)),
            ("-7 done.", Some(-7.0)),
            ("rate=1500/s", Some(1500.0)),
            ("none here", None),
            ("", None),
        ] {
            assert_eq!(last_number(text), number, "{text}");
        }
    }

    #[test]
    fn a_figure_that_is_twice_as_large_is_told_from_none() {
        let found = run(&comparison("echo 10.$$", "echo 20.$$", Figure::LastNumber)).unwrap();
        assert_eq!(found.verdict(), ChangeVerdict::More, "{found:?}");
        assert!((found.change.mean - 1.0).abs() < 0.2, "{found:?}");
        let slower = run(&comparison("sleep 0.01", "sleep 0.5", Figure::Time)).unwrap();
        assert!(slower.change.mean > 1.0 && slower.after.median() >= 0.5, "{slower:?}");
    }

    #[test]
    fn what_fails_or_takes_too_long_is_named() {
        let refused = |comparison: ProgramComparison| run(&comparison).unwrap_err().to_string();
        assert!(refused(comparison("exit 3", "true", Figure::Time)).contains("`sh` failed (exit status: 3)"));
        assert!(refused(comparison("echo no", "true", Figure::LastNumber)).contains("printed no number"));
        assert!(refused(comparison("echo 0", "true", Figure::LastNumber)).contains("and not 0"));
        let mut endless = comparison("sleep 1000", "true", Figure::Time);
        endless.limit = Duration::from_millis(50);
        assert!(refused(endless).contains("did not end within 0.05 s"));
        let stopped = comparison("sleep 1000", "true", Figure::Time);
        let stopped = stopped.run(&mut |_, _| (), &AtomicBool::new(true));
        assert!(matches!(stopped, Err(ComparisonError::Interrupted)));
    }
}
