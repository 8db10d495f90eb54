//! The lines of a plan: what is set, why, and what that brings.

use super::crossing::Crossing;
use super::ground::Distance;
use super::traffic::{self, Flow, Steering};
use super::{Chosen, Scene};
use core::fmt;
use serde::Serialize;
use warmcore_linux::inventory::{Interrupt, TransmitQueue};
use warmcore_linux::tuning::{Line, Setting};
use warmcore_topology::CpuSet;
use warmcore_units::{CpuId, Estimate};

/// The flows that RFS remembers for the whole machine: what the kernel's documentation suggests for
/// a moderately loaded server (`Documentation/networking/scaling.rst`, "RFS Configuration").
const FLOWS: u32 = 32_768;

/// A saving that cannot be shown, as a fraction.
const NOTHING: f64 = 0.0005;

/// A line of a plan, with what it changes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Drafted {
    /// What is set, and to what.
    pub set: Setting,
    /// The value now.
    pub from: String,
    /// The value wanted.
    pub to: String,
    /// Whether they differ. The others say where the other half of a placement is.
    pub changes: bool,
    /// Why.
    pub reason: String,
    /// What it brings.
    #[serde(serialize_with = "said")]
    pub gain: Gain,
}

fn said<S: serde::Serializer>(gain: &Gain, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(gain)
}

/// What a line brings.
#[derive(Clone, PartialEq, Debug)]
pub enum Gain {
    /// The part of a packet's cost that is saved, below 0 if it costs more; and the longest way of
    /// lines that no profile knows, if there is one.
    Saves(Estimate<f64>, Beyond),
    /// The part of a cpu's time that is given back to the threads meant.
    Frees(Estimate<f64>),
    /// Nothing: it is so already.
    Already,
    /// What cannot be computed, and why.
    Unknown(String),
}

/// Whether lines come, now or then, over ways that are longer than the one a profile knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum Beyond {
    /// No.
    Neither,
    /// Now: the true gain is larger.
    Now,
    /// Then: the true gain is smaller.
    Then,
    /// Both.
    Both,
}

impl fmt::Display for Gain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Saves(saving, beyond) if saving.mean.abs() < NOTHING => {
                write!(f, "none for a packet's cost{beyond}: it is one part of the placement")
            }
            Self::Saves(saving, beyond) => {
                let word = if saving.mean < 0.0 { "more" } else { "less" };
                let size = Estimate { mean: saving.mean.abs(), ..*saving };
                write!(f, "a packet costs {} {word}{beyond}", percent(size))
            }
            Self::Frees(part) => write!(f, "gives back {} of a cpu", percent(*part)),
            Self::Already => f.write_str("none: it is so already"),
            Self::Unknown(why) => write!(f, "unknown: {why}"),
        }
    }
}

impl fmt::Display for Beyond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Neither => "",
            Self::Now => ", and what the way to another node costs now besides",
            Self::Then => ", the way to another node not counted",
            Self::Both => ", ways to another node not counted",
        })
    }
}

impl From<&Drafted> for Line {
    fn from(drafted: &Drafted) -> Self {
        Self {
            set: drafted.set.clone(),
            reason: drafted.reason.clone(),
            expected_gain: drafted.gain.to_string(),
        }
    }
}

/// `12.3 ± 0.4%`.
pub(super) fn percent(part: Estimate<f64>) -> String {
    let half = part.half_width.map_or_else(String::new, |half| format!(" ± {:.1}", half * 100.0));
    format!("{:.1}{half}%", part.mean * 100.0)
}

/// `1.23 ± 0.04`.
pub(super) fn plain(factor: Estimate<f64>) -> String {
    let half = factor.half_width.map_or_else(String::new, |half| format!(" ± {half:.2}"));
    format!("{:.2}{half}", factor.mean)
}

/// Every setting of the placement, in the order in which it is applied.
pub(super) fn lines(scene: &Scene<'_>, chosen: &Chosen) -> Vec<Drafted> {
    let drafts = Drafts { scene, chosen, now: scene.now(), then: scene.then(chosen) };
    let mut lines = drafts.global_flows();
    for index in 0..scene.flows.len() {
        lines.extend(drafts.packets(index));
        lines.extend(drafts.interrupts(index));
        lines.extend(drafts.sending(index));
    }
    lines.extend((0..scene.meant.len()).map(|index| drafts.thread(index)));
    lines
}

/// Cpus as a value for people.
pub(super) fn named(cpus: &CpuSet) -> String {
    if cpus.is_empty() { "off".to_owned() } else { cpus.to_string() }
}

pub(super) fn only(cpu: CpuId) -> CpuSet {
    [cpu].into_iter().collect()
}

/// The line that sets the mask of `interrupt`, which can be named.
pub(super) fn interrupt_line(
    interrupt: &Interrupt,
    cpus: CpuSet,
    reason: String,
    gain: Gain,
) -> Option<Drafted> {
    let device = interrupt.devices.first()?.to_string();
    let from = interrupt.allowed.clone()?;
    let changes = from != cpus;
    let action = Some(interrupt.id.actions.join(","));
    Some(Drafted {
        from: named(&from),
        to: named(&cpus),
        set: Setting::Interrupt { device, action, queue: None, cpus },
        changes,
        reason,
        gain: if changes { gain } else { Gain::Already },
    })
}

/// The line that sets where the packets of a queue are spread.
pub(super) fn rps_line(flow: &Flow<'_>, cpus: CpuSet, reason: String, gain: Gain) -> Option<Drafted> {
    let queue = flow.interface.receive.iter().find(|queue| queue.number == flow.number)?;
    let from = queue.rps.clone()?;
    let changes = from != cpus;
    Some(Drafted {
        from: named(&from),
        to: named(&cpus),
        set: Setting::RpsCpus { interface: flow.interface.name.clone(), queue: flow.number, cpus },
        changes,
        reason,
        gain: if changes { gain } else { Gain::Already },
    })
}

/// The line that sets how many flows of a queue are remembered.
pub(super) fn flows_line(flow: &Flow<'_>, flows: u32, reason: String, gain: Gain) -> Option<Drafted> {
    let queue = flow.interface.receive.iter().find(|queue| queue.number == flow.number)?;
    let from = queue.rfs_flows?;
    let changes = from != u64::from(flows);
    Some(Drafted {
        from: from.to_string(),
        to: flows.to_string(),
        set: Setting::RpsFlows { interface: flow.interface.name.clone(), queue: flow.number, flows },
        changes,
        reason,
        gain: if changes { gain } else { Gain::Already },
    })
}

/// The line that puts the thread at `index` on `cpus`.
pub(super) fn thread_line(
    of: &super::subject::Meant<'_>,
    cpus: CpuSet,
    reason: String,
    gain: Gain,
) -> Drafted {
    let thread = of.thread;
    let allowed = thread.allowed.clone().unwrap_or_default();
    let changes = allowed != cpus;
    Drafted {
        from: format!("{allowed}, last on {}", thread.last_cpu.0),
        to: named(&cpus),
        set: Setting::Thread {
            pid: thread.key.pid,
            started: of.began,
            name: thread.process.clone(),
            thread: Some(thread.key.tid),
            cpus,
        },
        changes,
        reason,
        gain: if changes { gain } else { Gain::Already },
    }
}

struct Drafts<'a> {
    scene: &'a Scene<'a>,
    chosen: &'a Chosen,
    now: super::Layout,
    then: super::Layout,
}

impl Drafts<'_> {
    fn gain(&self, now: Crossing, then: Crossing) -> Gain {
        match &self.scene.costs {
            Ok(costs) => Gain::Saves(costs.saving(now, then), beyond(now, then)),
            Err(why) => Gain::Unknown(why.to_string()),
        }
    }

    fn gain_of_all(&self) -> Gain {
        let ground = &self.scene.ground;
        self.gain(self.now.crossing(ground), self.then.crossing(ground))
    }

    fn gain_of_queue(&self, index: usize) -> Gain {
        let crossing = |layout: &super::Layout| layout.crossing_of_queue(&self.scene.ground, index);
        self.gain(crossing(&self.now), crossing(&self.then))
    }

    fn gain_of_thread(&self, index: usize) -> Gain {
        let crossing = |layout: &super::Layout| layout.crossing_of_thread(&self.scene.ground, index);
        self.gain(crossing(&self.now), crossing(&self.then))
    }

    fn follows(&self) -> bool {
        self.chosen.steering.contains(&Steering::ToReader)
    }

    fn global_flows(&self) -> Vec<Drafted> {
        let Some(from) = self.scene.picture.rfs_flows.filter(|_| self.follows()) else { return Vec::new() };
        let flows = u32::try_from(from).ok().filter(|&flows| flows >= FLOWS && flows.is_power_of_two());
        let flows = flows.unwrap_or(FLOWS);
        let changes = from != u64::from(flows);
        vec![Drafted {
            set: Setting::GlobalFlows { flows },
            from: from.to_string(),
            to: flows.to_string(),
            changes,
            reason: "packets follow their readers only where flows are remembered".to_owned(),
            gain: if changes { self.gain_of_all() } else { Gain::Already },
        }]
    }

    /// Who takes in the packets of the queue at `index`.
    fn packets(&self, index: usize) -> Vec<Drafted> {
        let flow = &self.scene.flows[index];
        let gain = || self.gain_of_queue(index);
        match &self.chosen.steering[index] {
            Steering::ToReader => {
                let cpus = self.chosen.threads.iter().copied().collect();
                let why = match self.scene.costs {
                    Ok(_) => "a frame costs less to move than what readers share with the protocol",
                    Err(_) => "there are fewer queues than cpus with readers",
                };
                let why = format!("packets follow their readers: {why}");
                let share = FLOWS / (self.queues_of(flow) as u32).next_power_of_two();
                [
                    flows_line(
                        flow,
                        share.max(1),
                        "its share of the flows that are remembered".to_owned(),
                        gain(),
                    ),
                    rps_line(flow, cpus, why, gain()),
                ]
                .into_iter()
                .flatten()
                .collect()
            }
            Steering::Spread(cpus) => {
                let why = "one cpu could not take in all packets of the queue".to_owned();
                rps_line(flow, cpus.clone(), why, gain()).into_iter().collect()
            }
            Steering::None => {
                let why = "packets stay on the cpu that the device interrupts".to_owned();
                let line = rps_line(flow, CpuSet::default(), why, gain());
                // Of a queue whose interrupt has no line this one says where its packets are.
                line.filter(|line| line.changes || !flow.is_movable()).into_iter().collect()
            }
        }
    }

    fn queues_of(&self, flow: &Flow<'_>) -> usize {
        self.scene.flows.iter().filter(|other| other.interface.name == flow.interface.name).count()
    }

    /// The interrupt of the queue at `index`, and that of the transmit queue beside it.
    fn interrupts(&self, index: usize) -> Vec<Drafted> {
        let flow = &self.scene.flows[index];
        let cpu = only(self.chosen.queues[index]);
        let own = flow.is_movable().then(|| {
            let reason = format!("to cpu {}, {}", self.chosen.queues[index].0, self.chosen.why);
            interrupt_line(flow.interrupt, cpu.clone(), reason, self.gain_of_queue(index))
        });
        let companion = traffic::companion(self.scene.picture, flow).and_then(|interrupt| {
            let reason = "with the receive queue of its number, whose connections it answers".to_owned();
            interrupt_line(interrupt, cpu, reason, no_costs_of_sending())
        });
        own.flatten().into_iter().chain(companion).collect()
    }

    /// Which cpus send through the transmit queue that belongs to the queue at `index` (XPS): what is
    /// sent is then cleaned up where it was sent.
    fn sending(&self, index: usize) -> Option<Drafted> {
        let flow = &self.scene.flows[index];
        let queue = flow.interface.transmit.iter().find(|queue| queue.number == flow.number)?;
        let from = queue.xps.clone()?;
        let cpus = self.senders(index);
        let reason = "the cpus nearest to the queue's interrupt send through it".to_owned();
        let (changes, set) = (from != cpus && !cpus.is_empty(), sending_set(flow, queue, cpus.clone()));
        let (from, to) = (named(&from), named(&cpus));
        changes.then(|| Drafted { set, from, to, changes, reason, gain: no_costs_of_sending() })
    }

    /// The cpus of threads that are to send through the queue at `index`: each sends through that queue
    /// of the interface whose interrupt is nearest; of several through one in turn.
    fn senders(&self, index: usize) -> CpuSet {
        let flow = &self.scene.flows[index];
        let all = self.scene.flows.iter().enumerate();
        let own: Vec<usize> =
            all.filter(|(_, other)| other.interface.name == flow.interface.name).map(|(of, _)| of).collect();
        let distance = |queue: usize, cpu| {
            let at = self.chosen.queues[queue];
            (at != cpu, self.scene.ground.distance(at, cpu))
        };
        let mut cpus: Vec<CpuId> = self.chosen.threads.clone();
        cpus.sort_by_key(|&cpu| (self.scene.ground.seat(cpu), cpu));
        cpus.dedup();
        let sends = |(turn, cpu): &(usize, CpuId)| {
            let nearest = own.iter().map(|&queue| distance(queue, *cpu)).min();
            let near: Vec<usize> =
                own.iter().copied().filter(|&queue| Some(distance(queue, *cpu)) == nearest).collect();
            near.get(turn % near.len().max(1)) == Some(&index)
        };
        cpus.into_iter().enumerate().filter(sends).map(|(_, cpu)| cpu).collect()
    }

    fn thread(&self, index: usize) -> Drafted {
        let (of, cpu) = (&self.scene.meant[index], self.chosen.threads[index]);
        if of.settled {
            let reason = "its user keeps these cpus for it".to_owned();
            return thread_line(of, of.limit.clone(), reason, Gain::Already);
        }
        let reason = match cpu == of.now() {
            true => "kept where it is, so that its packets find it there".to_owned(),
            false => self.reason_of_thread(cpu),
        };
        thread_line(of, only(cpu), reason, self.gain_of_thread(index))
    }

    fn reason_of_thread(&self, cpu: CpuId) -> String {
        let seat = self.scene.ground.seat(cpu);
        let on_node = |flow: &Flow<'_>| {
            flow.interface.node.is_some() && flow.interface.node == seat.map(|seat| seat.node)
        };
        match self.scene.flows.iter().find(|flow| on_node(flow)) {
            _ if self.chosen.queues.contains(&cpu) => format!("cpu {} takes in packets for it", cpu.0),
            Some(flow) => format!("cpu {} is on the node of {}", cpu.0, flow.interface.name),
            None => format!("cpu {} is nearest to the packets of those with time left", cpu.0),
        }
    }
}

fn sending_set(flow: &Flow<'_>, queue: &TransmitQueue, cpus: CpuSet) -> Setting {
    Setting::XpsCpus { interface: flow.interface.name.clone(), queue: queue.number, cpus }
}

fn no_costs_of_sending() -> Gain {
    Gain::Unknown("a profile holds the costs of receiving".to_owned())
}

fn beyond(now: Crossing, then: Crossing) -> Beyond {
    let is_far = |of: Crossing| of.session + of.frame > 0.0 && of.farthest > Some(Distance::Cache);
    match (is_far(now), is_far(then)) {
        (false, false) => Beyond::Neither,
        (true, false) => Beyond::Now,
        (false, true) => Beyond::Then,
        (true, true) => Beyond::Both,
    }
}
