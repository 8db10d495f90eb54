//! Where the interrupts, packets and threads of one host should go, why, and what that gains.
//!
//! This is a pure function of what was seen of the host over an interval ([`Observation`]) and of the costs
//! measured there ([`Profile`]): it reads no clock and changes nothing. Foong, Fung & Newell (2004) found that
//! interrupts and processes gain where both are placed, together; so queues and readers are placed in one plan.
//!
//! | module | decides or knows |
//! |---|---|
//! | `context` | everything a decision is made from, gathered once |
//! | `cpu_pool` | the cpus that work may be put on, and what they share |
//! | `cpu_order` | which of several equally good cpus is taken first |
//! | `interrupts` | whether an interrupt can be moved |
//! | `target_threads` | which threads read the packets, by evidence |
//! | `device_queues` | the receive queues, their share of the packets, and which cpus process them |
//! | `masks` | the cpus of each reading process |
//! | `threads` | a cpu for each thread, where each is to have its own |
//! | `spread` | queues over the cores near their device |
//! | `channels`, `asked` | how many queues a device has, and what else its user asks for |
//! | `queues` | queues on or beside the cpus of pinned readers |
//! | `sending` | which cpus send through which transmit queue |
//! | `proposals` | the placements that are worth a comparison, for throughput or for latency |
//! | `interrupt_cores` | all queues on a few cores that do nothing else |
//! | `isolation` | everything else moved away from the cpus of the readers |
//! | `packet_time` | how long the kernel works for packets |
//! | `layout` | what comes from other cores' caches under one layout, computed once |
//! | `cost_model`, `prices`, `performance` | what that costs, by the profile and the simulator |
//! | `worth`, `change` | which layout is best, and whether it gains enough to be proposed |
//! | `line`, `gain`, `lines` | the lines of a plan, with reasons and gains |
//! | `mismatch` | no plan: where packets come in now, how far their readers are, and what is amiss |
//! | `checks` | whether the whole host is visible, who would undo a plan, and what is not known |
//!
//! Invariants: unless its user asks for cores that do nothing else or for other channels, a plan never makes the
//! busiest cpu or core take in visibly more of the packets or interrupts, and none has a forecast of visibly less capacity; no
//! line names a cpu that is offline, or outside its thread's cpuset, and none puts work on an isolated one that is not
//! there already (its own sending goes through some queue too); no line is about an interrupt that the kernel manages;
//! what a restricted process sees is not taken for the host; every gain is computed, or says why it cannot be; and
//! renumbering the same cpus gives the same plan, except among cpus that nothing distinguishes.

mod asked;
mod change;
mod channels;
mod checks;
mod context;
mod cost_model;
mod cpu_order;
mod cpu_pool;
mod device_queues;
mod gain;
mod interrupt_cores;
mod interrupts;
mod isolation;
mod layout;
mod line;
mod lines;
mod masks;
mod mismatch;
mod packet_time;
mod performance;
mod prices;
mod proposals;
mod queues;
mod sending;
mod spread;
mod target_threads;
mod threads;
mod worth;

pub use gain::{Gain, Packets, Unpriced, Way};
pub use line::PlannedLine;
pub use mismatch::{
    Finding, FindingKind, Mismatch, QueuePlace, QueueSteering, Reach, ReaderEvidence, ReaderPlace, mismatch,
};
pub use performance::{NoPrediction, Performance};

use asked::Asked;
use change::is_visible_saving;
use context::{Context, Proposal};
use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Serialize};
use warmcore_costs::socket::ReaderState;
use warmcore_costs::{Profile, SocketProfile};
use warmcore_linux::inventory::Observation;
use warmcore_linux::tuning::{Fingerprint, Line, Plan, Promise};
use warmcore_units::{Fault, PerSecond};
use worth::Worthy;

/// What a placement optimises.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// The most packets per second.
    #[default]
    Throughput,
    /// The shortest delay of a packet.
    Latency,
    /// The least disturbance of the threads by other work.
    Isolation,
}

/// Which threads are placed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Target {
    /// The busy threads of processes that were seen to receive data through network sockets.
    #[default]
    Evident,
    /// The threads of this process.
    Process(u32),
    /// Threads of this name, and those of processes of this name.
    Name(String),
    /// The threads of this control group and of groups below it.
    Group(String),
}

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Request<'a> {
    /// Which threads are placed.
    pub target: &'a Target,
    /// What the placement optimises.
    pub goal: Goal,
    /// The interfaces whose queues are spread over the cores near them, busy or not; none: every interface with a
    /// device, as its packets and their readers ask for.
    pub interfaces: &'a [String],
    /// How many cores are for interrupts and nothing else.
    pub interrupt_cores: Option<usize>,
    /// Whether these interfaces get as many channels as there are cores near them.
    pub channels: bool,
    /// Whether these interfaces poll in kernel threads.
    pub threaded_napi: bool,
    /// Whether each thread gets a cpu of its own; otherwise each process gets a mask.
    pub pin: bool,
    /// How many packets arrive; `None`: as many as were seen to.
    pub rate: Option<PerSecond>,
    /// What packets cost on this host.
    pub costs: Option<PacketCosts<'a>>,
}

/// What packets cost, and on which path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PacketCosts<'a> {
    /// A protocol stack in memory, which is not the path of the host's packets.
    Stack(&'a Profile),
    /// The kernel's, to a socket.
    Kernel(&'a SocketProfile),
}

/// A plan for a host, with what it changes and gains.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HostPlacement {
    /// What it optimises.
    pub goal: Goal,
    /// The plan, which `warmcore host apply` takes.
    pub plan: Plan,
    /// The plan's lines, with what they change.
    pub lines: Vec<PlannedLine>,
    /// How many packets arrive.
    pub rate: Option<PerSecond>,
    /// The predicted performance of the host as it is.
    pub now: Option<Performance>,
    /// The predicted performance of the host under the plan.
    pub then: Option<Performance>,
    /// Why there is no prediction.
    pub unforeseen: Option<String>,
    /// What else to know, a sentence each.
    pub notes: Vec<String>,
}

/// Why there is no plan.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Unplaceable {
    /// Only a part of the host is visible.
    #[error(
        "{0}: what is seen from here is not the host, and is never written to it; plan on the host itself"
    )]
    Restricted(String),
    /// Interrupts are hidden.
    #[error("{0}")]
    Hidden(String),
    /// No busy thread matches the target.
    #[error("{}", no_threads(.0))]
    NoThreads(Target),
    /// No device receives packets.
    #[error("no interface with a device whose queues and interrupts can be told: there is nothing to place")]
    NoQueues,
    /// There is no such interface.
    #[error("no interface `{name}` on this host: expected one of {present}")]
    NoInterface {
        /// The name that was given.
        name: String,
        /// The interfaces with a device.
        present: String,
    },
    /// The interface has no interrupts.
    #[error("no interrupts of {0} can be told: it has no device of its own, or the kernel shows none")]
    NoQueuesOf(String),
    /// A setting that was asked for cannot be planned.
    #[error("{what} of {name} cannot be planned: {why}")]
    Unchangeable {
        /// The setting.
        what: &'static str,
        /// The interface.
        name: String,
        /// Why not.
        why: String,
    },
    /// Too few packets arrive.
    #[error(
        "packets arrive at {0}: their work is a small part of one cpu, wherever it is done. Plan while the host is busy, give \
         --rate with --profile, or name an interface with --nic"
    )]
    Quiet(PerSecond),
    /// Nobody is known whose cpus could be kept free.
    #[error("nobody was seen to receive packets: say whose cpus are to be kept free, with --for")]
    NobodyToIsolate,
    /// Readers are not looked for where interfaces are named.
    #[error(
        "--goal isolation keeps the cpus of readers free, and with --nic readers are not looked for: leave out --nic, and say \
         with --for whose cpus are meant if they are not seen to receive"
    )]
    ReadersNotSought,
    /// Isolated threads would leave no cpu for the rest.
    #[error(
        "nothing is left: interrupts and threads that are to be apart would take every core. Name fewer threads with --for, or fewer --interrupt-cores"
    )]
    NothingLeft,
    /// There are fewer cores for interrupts than were asked for.
    #[error("--interrupt-cores {asked}: only {found} cores are near the cards, fast and not isolated")]
    TooFewCores {
        /// How many were asked for.
        asked: usize,
        /// How many there are.
        found: usize,
    },
    /// The cores for interrupts would have more work than time.
    #[error(
        "--interrupt-cores {asked}: the packets that arrive take {load:.1} cpus, more than {asked} can do with time to spare: \
         expected at least {needed}"
    )]
    TooFewInterruptCores {
        /// How many were asked for.
        asked: usize,
        /// The cpus' worth of time that packets take.
        load: f64,
        /// How many would do.
        needed: usize,
    },
    /// The host describes itself in a way that leads to a plan which cannot be applied.
    #[error("what this host says of itself leads to a plan that `warmcore host apply` would refuse: {0}")]
    Contradiction(Fault),
    /// No change would gain anything.
    #[error("nothing to gain: {0}")]
    NothingToGain(String),
}

fn no_threads(target: &Target) -> String {
    match target {
        Target::Evident => "nobody was seen to receive packets: say who does, with --for".to_owned(),
        target => {
            format!(
                "no busy thread of {target}: `warmcore host show` tells which are busy. Plan while it works"
            )
        }
    }
}

impl fmt::Display for Target {
    /// Whose threads they are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evident => f.write_str("the processes that receive data"),
            Self::Process(pid) => write!(f, "process {pid}"),
            Self::Name(name) => write!(f, "a process or thread named `{name}`"),
            Self::Group(group) => write!(f, "control group {group}"),
        }
    }
}

impl FromStr for Target {
    type Err = core::convert::Infallible;

    /// A number is a process, a path a control group, anything else a name.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let process = text.parse().map(Self::Process);
        Ok(process.unwrap_or_else(|_| match text.starts_with('/') {
            true => Self::Group(text.to_owned()),
            false => Self::Name(text.to_owned()),
        }))
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Throughput => "throughput",
            Self::Latency => "latency",
            Self::Isolation => "isolation",
        })
    }
}

/// Decides where the queues and readers of the host in `observed` should go.
///
/// # Errors
/// Why there is no plan, or none that gains anything.
pub fn place(observed: &Observation, request: &Request<'_>) -> Result<HostPlacement, Unplaceable> {
    checks::check_visible(&observed.inventory)?;
    let context = Context::new(observed, request)?;
    worth::check_load(&context)?;
    let asked = Asked::new(&context)?;
    let best = match request.goal {
        Goal::Isolation => {
            isolation::choose(&context).and_then(|(proposal, lines)| Worthy::new(&context, proposal, lines))
        }
        Goal::Throughput | Goal::Latency => {
            proposals::find(&context).and_then(|proposals| worth::best(&context, proposals))
        }
    };
    let best = match best {
        // What was asked for remains.
        Err(Unplaceable::NothingToGain(_)) if !asked.is_empty() => Worthy {
            proposal: context.propose(context.as_it_is()),
            lines: Vec::new(),
            performance: Err(asked.no_forecast()),
        },
        Ok(best) if asked.changes_channels() => Worthy { performance: Err(asked.no_forecast()), ..best },
        best => best.map_err(|why| channels::with_hints(&context, why))?,
    };
    let Worthy { proposal, lines, performance } = best;
    let placement = host_placement(&context, &proposal, asked.with(lines), performance);
    placement.plan.check().map_err(Unplaceable::Contradiction)?;
    Ok(placement)
}

fn host_placement(
    context: &Context<'_>,
    proposal: &Proposal,
    lines: Vec<PlannedLine>,
    performance: Result<[Performance; 2], NoPrediction>,
) -> HostPlacement {
    let planned = context.queues.iter().filter(|queue| queue.is_planned);
    let interfaces = planned.map(|queue| queue.interface.name.as_str());
    let interfaces: std::collections::BTreeSet<&str> = interfaces.collect();
    let plan = Plan {
        schema: Plan::SCHEMA,
        machine: Fingerprint::from_inventory(context.picture, interfaces),
        promise: performance.is_ok().then(|| promise(context, proposal)).flatten(),
        lines: lines.iter().map(Line::from).collect(),
    };
    let unforeseen = performance.as_ref().err().map(ToString::to_string);
    let mut notes = checks::notes(context, proposal, &plan);
    let [now, then] = performance.map_or([None, None], |both| both.map(Some));
    notes.extend(checks::overload(now.as_ref(), then.as_ref()));
    notes.extend(context.costs.as_ref().ok().and_then(|costs| context.kernel_is_dearer(costs)));
    HostPlacement {
        goal: context.request.goal,
        plan,
        lines,
        rate: context.rate,
        now,
        then,
        unforeseen,
        notes,
    }
}

/// What the plan promises of each packet, where its costs are of the host's own path and it visibly saves some of them.
fn promise(context: &Context<'_>, proposal: &Proposal) -> Option<Promise> {
    let Some(PacketCosts::Kernel(profile)) = context.request.costs else { return None };
    let costs = context.costs.as_ref().ok()?;
    let saved = costs.saved_time(context.current.crossing, proposal.layout.crossing)?;
    if !is_visible_saving(saved) {
        return None;
    }
    let ReaderState { work, asleep, idle } = *context.state.as_ref().ok()?;
    let sleepers = match costs.placed()?.asleep_after {
        _ if asleep == 0.0 => "none finds its reader asleep".to_owned(),
        None => "readers that sleep are not in the profile, and count as awake".to_owned(),
        Some(after) => {
            // Beyond the times that both places were measured after, the nearest of them stands for the reader's.
            let held = if after == idle { String::new() } else { format!(", priced as after {after}") };
            format!("{:.0}% of the packets find their reader asleep after {idle}{held}", asleep * 100.0)
        }
    };
    let of = format!(
        "processor time of a packet through the kernel, by the profile of {} ({}): {work} of other work between a reader's \
         packets; {sleepers}",
        profile.name, profile.provenance.date
    );
    Some(Promise { saved_ns: saved.mean.0.round() as i64, half_width_ns: saved.half().ceil() as u64, of })
}
