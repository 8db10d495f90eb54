//! Who takes part, and what is asked of them.

use crate::case::Case;
use crate::handler::Handler;
use crate::traffic::Traffic;
use crate::{bare, channels, locks, ours, pools, shards, tasks};
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;
use warmcore_bench::ProgramError;

/// What a line of a table is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    /// No queue: what others add to.
    Yardstick,
    /// The rule that is measured against peers.
    Ours,
    /// Another rule of ours.
    Variant,
    Peer,
}

/// What came of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// From the start of the workers until all events have been handled and the workers have ended.
    pub(crate) seconds: f64,
    /// How often an event was not the next of its key, or was left out.
    pub(crate) violations: u64,
}

/// Something that handles events in the order of their keys.
pub(crate) trait Contestant {
    /// What a table calls it.
    fn name(&self) -> &str;

    fn role(&self) -> Role;

    /// Its process, if that is another one.
    fn process(&self) -> Option<u32> {
        None
    }

    /// Handles the first `count` events.
    ///
    /// # Errors
    /// If it is another process that does not answer.
    fn run(&mut self, traffic: &Traffic, handler: Handler, count: usize) -> Result<Run, ProgramError>;
}

/// One in this process.
struct Here {
    name: &'static str,
    role: Role,
    run: fn(&Arc<Case>),
}

impl Contestant for Here {
    fn name(&self) -> &str {
        self.name
    }

    fn role(&self) -> Role {
        self.role
    }

    fn run(&mut self, traffic: &Traffic, handler: Handler, count: usize) -> Result<Run, ProgramError> {
        let case = traffic.case(handler, count);
        let begun = Instant::now();
        (self.run)(&case);
        Ok(Run { seconds: begun.elapsed().as_secs_f64(), violations: case.violations() })
    }
}

/// All who are part of this program.
pub(crate) fn here() -> Vec<Box<dyn Contestant>> {
    let all = [
        Here { name: "inline, one thread", role: Role::Yardstick, run: bare::inline },
        Here { name: "split by key, no queue", role: Role::Yardstick, run: bare::split },
        Here { name: "ours", role: Role::Ours, run: ours::dynamic },
        Here { name: "ours, 64 at once", role: Role::Variant, run: ours::in_batches },
        Here { name: "ours, static", role: Role::Variant, run: ours::fixed },
        Here { name: "crossbeam, by event", role: Role::Peer, run: channels::crossbeam_by_event },
        Here { name: "crossbeam, 64 at once", role: Role::Peer, run: channels::crossbeam_in_batches },
        Here { name: "std sync_channel", role: Role::Peer, run: channels::sync_channel },
        Here { name: "rayon, 8192 at once", role: Role::Peer, run: pools::in_batches },
        Here { name: "rayon strands", role: Role::Peer, run: pools::strands },
        Here { name: "queue, mutex by key", role: Role::Peer, run: locks::mutex_by_key },
        Here { name: "tokio, mpsc by key", role: Role::Peer, run: tasks::tokio_by_key },
        Here { name: "grommet, by event", role: Role::Peer, run: shards::by_event },
        Here { name: "grommet, 64 at once", role: Role::Peer, run: shards::in_batches },
    ];
    all.into_iter().map(|here| Box::new(here) as Box<dyn Contestant>).collect()
}
