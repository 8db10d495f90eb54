//! Traces of a native program: what one of its threads executes between two markers.
//!
//! [`trace`] starts the program, lets it run to the first marker and steps it to the last
//! ([`warmcore_linux::stepping`]), decodes what was executed ([`crate::x86`]) and names the functions of the program, its
//! libraries and the kernel's vDSO ([`crate::program`]). What the kernel executes in a system call is not seen.
//!
//! A stepped program is slow: what depends on time, such as a time limit of its own, may go another way than at full speed.
//! [`Traced::times`] says how long each path took.

mod error;
mod images;
mod within;

pub use error::NativeError;

use crate::program::Marker;
use crate::trace::{Access, Trace};
use crate::x86::{Decoder, Values};
use images::Images;
use std::time::{Duration, Instant};
use warmcore_linux::StopPoint;
use warmcore_linux::stepping::{End, Launch, Step, Stepper, SteppingError, with_program};

/// The most elements of a repeated string instruction: clearing 16 MiB by bytes.
const MOST_ITERATIONS: u64 = 16 << 20;

/// What to trace.
#[derive(Clone, Debug)]
pub struct Request {
    /// The program, and how far to go.
    pub launch: Launch,
    /// Where a path begins.
    pub first: Marker,
    /// Where it ends.
    pub last: Marker,
    /// How many paths, at most: those that are whole when the program ends are taken.
    pub passes: usize,
    /// Lets the program run to its end afterwards; otherwise it is killed.
    pub finish: bool,
}

/// What was traced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Traced {
    /// The paths, in order: at least one, and as many as were asked for unless the program ended.
    pub paths: Vec<Trace>,
    /// The wall-clock time of each path while it was stepped.
    pub times: Vec<Duration>,
    /// How the program ended by itself.
    pub end: Option<End>,
}

/// Starts a program and traces paths of it.
///
/// # Errors
/// If it cannot be started, a marker is not in it or not reached, or the time is up. A marker that is no instruction's
/// beginning is refused before the program is changed.
///
/// ```no_run
/// use warmcore_layout::native::{Request, trace};
/// use warmcore_linux::stepping::Launch;
/// let traced = trace(&Request {
///     launch: Launch::new(["./server", "--port", "7000"]),
///     first: "server::receive".parse()?,
///     last: "server::send".parse()?,
///     passes: 10,
///     finish: false,
/// })?;
/// println!("{} instructions", traced.paths[0].steps().len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn trace(request: &Request) -> Result<Traced, NativeError> {
    with_program(&request.launch, |stepper| {
        let mut images = Images::default();
        images.refresh(stepper)?;
        let first = images.place(&request.first, stepper)?;
        let last = images.place(&request.last, stepper)?;
        let mut recorder = Recorder::default();
        let (mut paths, mut times) = (Vec::new(), Vec::new());
        let mut end = None;
        while paths.len() < request.passes && end.is_none() {
            match recorder.record(stepper, first, last) {
                Ok((path, time)) => {
                    paths.push(path);
                    times.push(time);
                    // The path may have loaded libraries.
                    images.refresh(stepper)?;
                }
                Err(error) => end = Some(ended(error, &paths)?),
            }
        }
        if request.finish {
            end = Some(stepper.finish()?);
        }
        let program = Trace::new(images.functions(&paths));
        let paths = paths.into_iter().map(|path| path.with_functions_of(&program)).collect();
        Ok(Traced { paths, times, end })
    })
}

/// How the program ended, if that is why there are no more than these `paths`, or else the error.
fn ended(error: NativeError, paths: &[Trace]) -> Result<End, NativeError> {
    match error {
        NativeError::Stepping(
            SteppingError::EndedBefore { end, .. } | SteppingError::EndedWithin { end, .. },
        ) if !paths.is_empty() => Ok(end),
        error => Err(error),
    }
}

/// Makes a trace of steps.
#[derive(Debug, Default)]
struct Recorder {
    decoder: Decoder,
    /// What one step touches; kept to be used again.
    accesses: Vec<Access>,
}

impl Recorder {
    fn record(
        &mut self,
        stepper: &mut Stepper,
        first: StopPoint,
        last: StopPoint,
    ) -> Result<(Trace, Duration), NativeError> {
        let mut trace = Trace::default();
        let mut fault = None;
        let mut since = None;
        stepper.path(first, last, &mut |step| {
            // The program may have taken long to come to its first marker.
            since.get_or_insert_with(Instant::now);
            if fault.is_none() {
                fault = self.add(&mut trace, step).err();
            }
        })?;
        let time = since.map(|since| since.elapsed()).unwrap_or_default();
        fault.map_or(Ok((trace, time)), Err)
    }

    fn add(&mut self, trace: &mut Trace, step: &Step<'_>) -> Result<(), NativeError> {
        let address = step.registers.ip;
        if let Some(iterations) = step.iterations.filter(|&iterations| iterations > MOST_ITERATIONS) {
            return Err(NativeError::TooMuchData { address, iterations });
        }
        self.accesses.clear();
        let instruction = self.decoder.decode(step.bytes, address, &values(step), &mut self.accesses)?;
        trace.push(&instruction, &self.accesses);
        Ok(())
    }
}

fn values(step: &Step<'_>) -> Values {
    Values {
        general: step.registers.general,
        flags: step.registers.flags,
        fs_base: step.registers.fs_base,
        gs_base: step.registers.gs_base,
        iterations: step.iterations,
    }
}
