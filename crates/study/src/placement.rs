//! Where interrupts, packets and threads of one host should go, why, and what that brings.
//!
//! A pure function of a picture of the host ([`Inventory`]) and of the costs measured there
//! ([`Profile`]): no clock is read and nothing is changed. Foong, Fung & Newell (2004) found that
//! interrupts and processes gain where both are placed, together; so a plan always says both.
//!
//! | module | decides or knows |
//! |---|---|
//! | `ground` | the cpus that work may be put on, and what they share |
//! | `order` | which of them is taken where several are equally good |
//! | `subject` | which threads are meant |
//! | `traffic` | which queues there are, how many packets come, and who takes them in |
//! | `threads` | the cpu of each thread |
//! | `queues` | the cpu of each queue's interrupt |
//! | `together` | both and the steering between them, for throughput or for latency |
//! | `isolation` | everything else away from the cpus of the threads |
//! | `crossing` | what comes from other cores' caches under one placement |
//! | `forecast` | what that costs, by the profile and the simulator |
//! | `draft` | the lines of a plan, with reasons and gains |
//! | `circumstances` | who would undo it, and what is not known |
//!
//! What must always hold: no line names a cpu that is offline, isolated or outside its thread's
//! cpuset; no line is about an interrupt that the kernel manages; what a restricted process sees is
//! not taken for the host; every gain is computed, or says why it cannot be; and another numbering of
//! the same cpus gives the same plan, but for cpus that nothing tells apart.

mod circumstances;
mod crossing;
mod draft;
mod forecast;
mod ground;
mod isolation;
mod order;
mod queues;
mod subject;
mod threads;
mod together;
mod traffic;

pub use draft::{Drafted, Gain};
pub use forecast::{Side, Unforeseen};

use core::fmt;
use core::str::FromStr;
use crossing::Layout;
use forecast::Costs;
use ground::Ground;
use serde::{Deserialize, Serialize};
use subject::Meant;
use traffic::{Flow, Steering};
use warmcore_costs::Profile;
use warmcore_linux::Inventory;
use warmcore_linux::tuning::{Fingerprint, Line, Plan, plan::SCHEMA};
use warmcore_units::{CpuId, Estimate, PerSecond};

/// A gain below this is not worth a change, as a fraction.
const VISIBLE: f64 = 0.01;

/// Where so many times the packets could come, nobody misses more room, and what counts is what a
/// packet costs.
const ROOM: f64 = 2.0;

/// What a placement is to be good for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// As many packets as can be.
    #[default]
    Throughput,
    /// Packets that wait as little as can be.
    Latency,
    /// Threads that nothing else disturbs.
    Isolation,
}

/// Whose threads are meant.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Subject {
    /// The users' busiest.
    #[default]
    Busiest,
    /// Those of this process.
    Process(u32),
    /// Those of this name, or of processes of this name.
    Name(String),
    /// Those of this control group and of groups below it.
    Group(String),
}

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Request<'a> {
    /// Whose threads are meant.
    pub subject: &'a Subject,
    /// What for.
    pub goal: Goal,
    /// How many packets come; `None`: as many as have come on average since the machine started.
    pub rate: Option<PerSecond>,
    /// What packets cost there.
    pub profile: Option<&'a Profile>,
}

/// A placement.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Placement {
    /// What for.
    pub goal: Goal,
    /// The plan, which `warmcore host apply` takes.
    pub plan: Plan,
    /// Its lines, with what they change.
    pub lines: Vec<Drafted>,
    /// How many packets come.
    pub rate: Option<PerSecond>,
    /// What the host amounts to now.
    pub now: Option<Side>,
    /// What it would amount to.
    pub then: Option<Side>,
    /// Why there is no forecast.
    pub unforeseen: Option<String>,
    /// What else to know, a sentence each.
    pub notes: Vec<String>,
}

/// Why there is no plan.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Unplaceable {
    /// This is not the whole host.
    #[error(
        "{0}: what is seen from here is not the host, and is never written to it; plan on the host itself"
    )]
    Restricted(String),
    /// Interrupts are hidden.
    #[error("{0}")]
    Hidden(String),
    /// No thread is meant.
    #[error("{}", no_threads(.0))]
    NoThreads(Subject),
    /// No device takes packets in.
    #[error(
        "no interface with a device, or none whose queues and interrupts can be told: there are no packets to place \
         threads near"
    )]
    NoQueues,
    /// Isolated threads would leave no cpu for the rest.
    #[error(
        "the threads meant take every core: nothing is left for interrupts and other threads. Mean fewer, with --for"
    )]
    NothingLeft,
    /// It is as good as it gets.
    #[error("nothing to gain: {0}")]
    NothingToGain(String),
}

fn no_threads(subject: &Subject) -> String {
    let whose = match subject {
        Subject::Busiest => {
            return "no user's thread is busy: say whose threads are meant, with --for".to_owned();
        }
        Subject::Process(pid) => format!("process {pid}"),
        Subject::Name(name) => format!("a process or thread named `{name}`"),
        Subject::Group(group) => format!("control group {group}"),
    };
    format!("no busy thread of {whose}: `warmcore host show` tells which are busy. Plan while it works")
}

impl FromStr for Subject {
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

/// Everything that is looked at to decide.
struct Scene<'a> {
    picture: &'a Inventory,
    goal: Goal,
    ground: Ground,
    meant: Vec<Meant<'a>>,
    flows: Vec<Flow<'a>>,
    rate: Option<PerSecond>,
    costs: Result<Costs<'a>, Unforeseen>,
}

/// Where everything goes.
struct Chosen {
    /// The cpu of each thread.
    threads: Vec<CpuId>,
    /// The cpu of each queue's interrupt.
    queues: Vec<CpuId>,
    /// Who takes in the packets of each queue.
    steering: Vec<Steering>,
    /// Why, of queues.
    why: String,
}

/// Decides where the threads and packets of the host in `picture` should go.
///
/// # Errors
/// Why there is no plan, or none that brings anything.
pub fn place(picture: &Inventory, request: &Request<'_>) -> Result<Placement, Unplaceable> {
    circumstances::check(picture)?;
    let scene = Scene::new(picture, request)?;
    let (chosen, lines) = match request.goal {
        Goal::Isolation => isolation::choose(&scene)?,
        Goal::Throughput | Goal::Latency => {
            let chosen = together::choose(&scene);
            let lines = draft::lines(&scene, &chosen);
            (chosen, lines)
        }
    };
    let sides = scene.sides(&chosen);
    scene.check_worth(&chosen, &lines, sides.as_ref().ok())?;
    Ok(scene.placement(lines, sides))
}

impl<'a> Scene<'a> {
    fn new(picture: &'a Inventory, request: &Request<'a>) -> Result<Self, Unplaceable> {
        let ground = Ground::new(picture, request.goal);
        Ok(Self {
            picture,
            goal: request.goal,
            meant: subject::meant(picture, &ground, request.subject)?,
            flows: traffic::flows(picture, &ground)?,
            ground,
            rate: request.rate.or_else(|| traffic::rate(picture)),
            costs: Costs::new(request.profile),
        })
    }

    /// Where everything is now.
    fn now(&self) -> Layout {
        let steering = self.flows.iter().map(|flow| flow.steering.clone());
        self.layout(self.flows.iter().map(|flow| flow.now), steering, self.meant.iter().map(Meant::now))
    }

    /// Where everything would be.
    fn then(&self, chosen: &Chosen) -> Layout {
        let Chosen { threads, queues, steering, .. } = chosen;
        self.layout(queues.iter().copied(), steering.iter().cloned(), threads.iter().copied())
    }

    fn layout(
        &self,
        queues: impl Iterator<Item = CpuId>,
        steering: impl Iterator<Item = Steering>,
        threads: impl Iterator<Item = CpuId>,
    ) -> Layout {
        let all: f64 = self.meant.iter().map(Meant::share).sum();
        let part = |of: &Meant<'_>| if all > 0.0 { of.share() / all } else { 1.0 / self.meant.len() as f64 };
        let queues = queues.zip(&self.flows).zip(steering);
        Layout {
            queues: queues.map(|((cpu, flow), steering)| (cpu, flow.part, steering)).collect(),
            threads: threads.zip(&self.meant).map(|(cpu, of)| (cpu, part(of))).collect(),
        }
    }

    /// What the host amounts to now, and would amount to.
    fn sides(&self, chosen: &Chosen) -> Result<[Side; 2], Unforeseen> {
        let costs = self.costs.as_ref().map_err(Clone::clone)?;
        let work: f64 = self.meant.iter().map(Meant::share).sum();
        let side = |layout: &Layout| costs.side(&self.ground, layout, self.rate, work);
        Ok([side(&self.now())?, side(&self.then(chosen))?])
    }

    /// Whether something changes, and for the better.
    fn check_worth(
        &self,
        chosen: &Chosen,
        lines: &[Drafted],
        sides: Option<&[Side; 2]>,
    ) -> Result<(), Unplaceable> {
        if !lines.iter().any(|line| line.changes) {
            return Err(Unplaceable::NothingToGain("everything is where it should be".to_owned()));
        }
        match sides {
            _ if self.goal == Goal::Isolation => Ok(()),
            Some([now, then]) => self.check_gain(chosen, now, then),
            None => self.check_order(&self.now(), &self.then(chosen)),
        }
    }

    fn check_gain(&self, chosen: &Chosen, now: &Side, then: &Side) -> Result<(), Unplaceable> {
        let (growth, slowdown) = (forecast::growth(now, then), forecast::slowdown(now, then));
        let saving = self.saving(chosen);
        let gains = match (self.goal, slowdown) {
            (Goal::Latency, Some(slowdown)) => is_visible(1.0 - slowdown.mean, slowdown),
            (Goal::Latency, None) if self.rate.is_some() => now.delay.is_none() && then.delay.is_some(),
            _ => {
                let narrow = now.room.is_some_and(|room| room.mean < ROOM);
                let is_dearer = is_visible(-saving.mean, saving);
                let suffices = then.room.is_some_and(|room| room.mean >= ROOM);
                let is_narrower = is_visible(1.0 - growth.mean, growth);
                is_visible(saving.mean, saving) && (suffices || !is_narrower)
                    || is_visible(growth.mean - 1.0, growth) && (narrow || !is_dearer)
            }
        };
        if gains { Ok(()) } else { Err(Unplaceable::NothingToGain(told(saving, growth, slowdown))) }
    }

    /// The part of a packet's cost that is saved.
    fn saving(&self, chosen: &Chosen) -> Estimate<f64> {
        let [now, then] = [self.now(), self.then(chosen)].map(|layout| layout.crossing(&self.ground));
        self.costs.as_ref().map_or(Estimate::new(0.0, 0.0), |costs| costs.saving(now, then))
    }

    /// Without costs: whether less has to come from other cores, or no cpu takes in as many packets.
    fn check_order(&self, now: &Layout, then: &Layout) -> Result<(), Unplaceable> {
        let crossing = now.crossing(&self.ground).session - then.crossing(&self.ground).session;
        let nearer = now.crossing(&self.ground).farthest > then.crossing(&self.ground).farthest;
        let spread = now.busiest() - then.busiest();
        if crossing > VISIBLE || crossing >= 0.0 && nearer || spread > VISIBLE {
            return Ok(());
        }
        let why = "no packet would find more in its cpu's cache, and no cpu would take in fewer of them";
        Err(Unplaceable::NothingToGain(why.to_owned()))
    }

    fn placement(&self, lines: Vec<Drafted>, sides: Result<[Side; 2], Unforeseen>) -> Placement {
        let interfaces = self.flows.iter().map(|flow| flow.interface.name.as_str());
        let interfaces: std::collections::BTreeSet<&str> = interfaces.collect();
        let plan = Plan {
            schema: SCHEMA,
            machine: Fingerprint::from_inventory(self.picture, interfaces),
            lines: lines.iter().map(Line::from).collect(),
        };
        let unforeseen = sides.as_ref().err().map(ToString::to_string);
        let notes = circumstances::notes(self, &plan);
        let [now, then] = sides.map_or([None, None], |sides| sides.map(Some));
        Placement { goal: self.goal, plan, lines, rate: self.rate, now, then, unforeseen, notes }
    }
}

/// Whether `gain`, computed from `of`, is large enough to be worth a change, and beyond doubt.
fn is_visible(gain: f64, of: Estimate<f64>) -> bool {
    gain >= VISIBLE && gain > of.half_width.unwrap_or(0.0)
}

/// What the best placement found would have brought.
fn told(saving: Estimate<f64>, growth: Estimate<f64>, slowdown: Option<Estimate<f64>>) -> String {
    let delay = slowdown.map(|of| format!(", {} times the delay", draft::plain(of))).unwrap_or_default();
    format!(
        "the best placement found would save {} of a packet's cost, with {} times the room for packets{delay}",
        draft::percent(saving),
        draft::plain(growth)
    )
}
