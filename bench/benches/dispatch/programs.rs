//! A peer in another process, which does the same work on the same keys.

use crate::contestant::{Contestant, Role, Run};
use crate::handler::Handler;
use crate::traffic::Traffic;
use crate::work::nanos_of;
use crate::{ROOM, WORKERS};
use serde::Serialize;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;
use warmcore_bench::{Program, ProgramError};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often the same work is timed here and there until it takes as long, because processors change
/// their speed; and what lies between.
const TRIALS: usize = 20;
const PAUSE: Duration = Duration::from_millis(50);
/// The part by which that may differ. An instruction more in a turn makes a sixth.
const ALIKE: f64 = 0.1;

/// A program of `bench/programs`, which says there what it understands.
pub(crate) struct There {
    name: &'static str,
    program: Program,
    /// The turns of work that each handler takes here, and there.
    turns: Vec<(u64, u64)>,
}

/// How long a handler's work takes somewhere.
#[derive(Serialize)]
pub(crate) struct Timed {
    pub(crate) who: &'static str,
    pub(crate) handler: String,
    pub(crate) turns: u64,
    pub(crate) nanos: f64,
}

impl Timed {
    pub(crate) fn here(handler: Handler) -> Self {
        let (turns, nanos) = (handler.turns, nanos_of(handler.turns));
        Self { who: "this process", handler: handler.to_string(), turns, nanos }
    }
}

impl There {
    /// The program with its version.
    ///
    /// # Errors
    /// If it cannot be started, or ends at once.
    pub(crate) fn start(name: &'static str, mut command: Command) -> Result<(Self, String), ProgramError> {
        command.args([WORKERS.to_string(), ROOM.to_string()]);
        let mut program = Program::start(name, &mut command, PATIENCE)?;
        let version = program.listen()?;
        Ok((Self { name, program, turns: Vec::new() }, version))
    }

    /// Finds the turns of work that take as long there as `handler`'s take here: the same, unless the
    /// other compiler has made something else of them.
    ///
    /// # Errors
    /// If it does not answer.
    pub(crate) fn learn(&mut self, handler: Handler) -> Result<Timed, ProgramError> {
        let mut turns = handler.turns;
        if turns > 0 {
            let times = self.times_here(turns)?;
            if !alike(times) {
                turns = (turns as f64 / times).round() as u64;
            }
        }
        self.turns.push((handler.turns, turns));
        Ok(Timed { who: self.name, handler: handler.to_string(), turns, nanos: self.nanos_of(turns)? })
    }

    /// How many times as long as here so many turns take there: of some trials, the one that is nearest
    /// to one.
    fn times_here(&mut self, turns: u64) -> Result<f64, ProgramError> {
        let mut nearest = f64::INFINITY;
        for _ in 0..TRIALS {
            let here = nanos_of(turns);
            let times = self.nanos_of(turns)? / here;
            if (times - 1.0).abs() < (nearest - 1.0).abs() {
                nearest = times;
            }
            if alike(nearest) {
                break;
            }
            sleep(PAUSE);
        }
        Ok(nearest)
    }

    fn nanos_of(&mut self, turns: u64) -> Result<f64, ProgramError> {
        let answer = self.program.ask(&format!("time {turns}"))?;
        answer.parse().map_err(|_| self.program.unclear(&answer, "nanoseconds"))
    }
}

fn alike(times: f64) -> bool {
    (times - 1.0).abs() <= ALIKE
}

impl Contestant for There {
    fn name(&self) -> &str {
        self.name
    }

    fn role(&self) -> Role {
        Role::Peer
    }

    fn process(&self) -> Option<u32> {
        Some(self.program.id())
    }

    fn run(&mut self, traffic: &Traffic, handler: Handler, count: usize) -> Result<Run, ProgramError> {
        let learnt = self.turns.iter().find(|(here, _)| *here == handler.turns);
        let (_, turns) = learnt.expect("all handlers have been learnt");
        let (keys, file) = (traffic.mix.keys(), traffic.file.display());
        let answer = self.program.ask(&format!("run {keys} {count} {turns} {file}"))?;
        let said = answer.split_once(' ').map(|(seconds, violations)| (seconds.parse(), violations.parse()));
        match said {
            Some((Ok(seconds), Ok(violations))) => Ok(Run { seconds, violations }),
            _ => Err(self.program.unclear(&answer, "seconds and order violations")),
        }
    }
}
