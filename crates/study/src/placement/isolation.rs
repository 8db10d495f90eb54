//! Everything else away from the cpus of the threads meant.
//!
//! Interrupts, the packets of other programs and other busy threads leave the cores of the threads,
//! both hardware threads of them. They go to the nearest cores that are left.

use super::draft::{self, Drafted, Gain};
use super::subject::{self, Meant};
use super::traffic::{self, Flow, Steering};
use super::{Chosen, Scene, Unplaceable, queues, threads};
use warmcore_linux::inventory::{Interrupt, Thread};
use warmcore_linux::tuning::Setting;
use warmcore_topology::CpuSet;
use warmcore_units::{CpuId, Estimate};

/// Where everything goes, and the lines that bring it there.
pub(super) fn choose(scene: &Scene<'_>) -> Result<(Chosen, Vec<Drafted>), Unplaceable> {
    let chosen = threads::choose(&scene.ground, scene.goal, &scene.meant, &scene.flows);
    let private = scene.ground.cores_of(&chosen.iter().copied().collect());
    let outside: CpuSet =
        scene.ground.open().map(|seat| seat.cpu).filter(|&cpu| !private.contains(cpu)).collect();
    if outside.is_empty() {
        return Err(Unplaceable::NothingLeft);
    }
    let nearest = queues::beside(&scene.ground, &private).iter().map(|seat| seat.cpu).collect();
    let moves = Moves { scene, private, outside, nearest };
    let chosen = Chosen {
        threads: chosen,
        queues: moves.queues(),
        steering: scene.flows.iter().map(|flow| moves.steering(flow)).collect(),
        why: String::new(),
    };
    let lines = moves.lines(&chosen);
    Ok((chosen, lines))
}

struct Moves<'a> {
    scene: &'a Scene<'a>,
    /// The cpus of the threads meant, with those of their cores.
    private: CpuSet,
    /// The cpus that are left.
    outside: CpuSet,
    /// Those of them that are nearest.
    nearest: Vec<CpuId>,
}

impl Moves<'_> {
    /// The cpu of each queue: where it is, or one of the nearest ones in turn.
    fn queues(&self) -> Vec<CpuId> {
        let mut turn = self.nearest.iter().copied().cycle();
        let cpu = |flow: &Flow<'_>| match self.private.contains(flow.now) && flow.is_movable() {
            true => turn.next().unwrap_or(flow.now),
            false => flow.now,
        };
        self.scene.flows.iter().map(cpu).collect()
    }

    /// Packets that follow their readers would follow them onto these cpus; those that are spread over some of them
    /// go to what is left of the others.
    fn steering(&self, flow: &Flow<'_>) -> Steering {
        let Steering::Spread(cpus) = &flow.steering else { return Steering::None };
        if cpus.intersection(&self.private).is_empty() {
            return flow.steering.clone();
        }
        let left = cpus.intersection(&self.outside);
        if left.is_empty() { Steering::None } else { Steering::Spread(left) }
    }

    fn lines(&self, chosen: &Chosen) -> Vec<Drafted> {
        let mut lines: Vec<Drafted> = self.default_interrupt().into_iter().collect();
        for (index, flow) in self.scene.flows.iter().enumerate() {
            lines.extend(self.packets(flow, &chosen.steering[index]));
            if chosen.queues[index] != flow.now {
                let cpus = draft::only(chosen.queues[index]);
                lines.extend(draft::interrupt_line(flow.interrupt, cpus, away(), self.freed_by(flow)));
            }
        }
        lines.extend(self.other_interrupts().filter_map(|interrupt| self.other_interrupt(interrupt)));
        lines.extend(self.other_threads().filter_map(|thread| self.other_thread(thread)));
        let meant = self.scene.meant.iter().zip(&chosen.threads);
        lines.extend(meant.map(|(of, &cpu)| own_thread(of, cpu)));
        lines
    }

    fn default_interrupt(&self) -> Option<Drafted> {
        let from = self.scene.picture.default_affinity.as_ref()?;
        let kept = from.difference(&self.private);
        let cpus = if kept.is_empty() { self.outside.clone() } else { kept };
        let changes = *from != cpus;
        Some(Drafted {
            from: draft::named(from),
            to: draft::named(&cpus),
            set: Setting::DefaultInterrupt { cpus },
            changes,
            reason: "interrupts that are requested later are to stay away too".to_owned(),
            gain: if changes {
                Gain::Unknown("nobody knows which will come".to_owned())
            } else {
                Gain::Already
            },
        })
    }

    /// Who takes in the packets of `flow`, if somebody on these cpus does.
    fn packets(&self, flow: &Flow<'_>, then: &Steering) -> Vec<Drafted> {
        let gain = || self.freed_by(flow);
        let spread = match then {
            Steering::Spread(cpus) => cpus.clone(),
            _ => CpuSet::default(),
        };
        let off = (flow.steering == Steering::ToReader).then(|| {
            draft::flows_line(flow, 0, "packets would follow their readers there".to_owned(), gain())
        });
        let rps = draft::rps_line(flow, spread, away(), gain()).filter(|line| line.changes);
        off.flatten().into_iter().chain(rps).collect()
    }

    /// The time that taking in the packets of `flow` takes where it is now.
    fn freed_by(&self, flow: &Flow<'_>) -> Gain {
        match (&self.scene.costs, self.scene.rate) {
            (Err(why), _) => Gain::Unknown(why.to_string()),
            (_, None) => Gain::Unknown("nothing tells how many packets come; give --rate".to_owned()),
            (Ok(costs), Some(rate)) => {
                let cost = costs.packet(super::crossing::Crossing::default());
                let part = |time: warmcore_units::Nanos| time.secs() * rate.0 * flow.part;
                Gain::Frees(Estimate { mean: part(cost.mean), half_width: cost.half_width.map(part) })
            }
        }
    }

    /// Interrupts of other devices, and those of queues that send, which may come on these cpus.
    fn other_interrupts(&self) -> impl Iterator<Item = &Interrupt> {
        let is_flow =
            |interrupt: &Interrupt| self.scene.flows.iter().any(|flow| flow.interrupt.id == interrupt.id);
        let may_come = |interrupt: &Interrupt| {
            let allowed = interrupt.allowed.as_ref();
            allowed.is_some_and(|allowed| !allowed.intersection(&self.private).is_empty())
        };
        let movable = move |interrupt: &&Interrupt| {
            traffic::is_movable(interrupt) && !is_flow(interrupt) && may_come(interrupt)
        };
        self.scene.picture.interrupts.iter().filter(movable)
    }

    fn other_interrupt(&self, interrupt: &Interrupt) -> Option<Drafted> {
        let kept = interrupt.allowed.as_ref()?.difference(&self.private).intersection(&self.outside);
        let cpus = if kept.is_empty() { self.nearest.iter().copied().collect() } else { kept };
        let gain = Gain::Unknown("a profile holds no costs of this interrupt".to_owned());
        draft::interrupt_line(interrupt, cpus, away(), gain)
    }

    /// Other users' threads that may run on these cpus.
    fn other_threads(&self) -> impl Iterator<Item = &Thread> {
        let is_meant = |thread: &Thread| self.scene.meant.iter().any(|of| of.thread.key == thread.key);
        let may_run = |thread: &Thread| {
            let allowed = thread.allowed.as_ref();
            allowed.is_some_and(|allowed| !allowed.intersection(&self.private).is_empty())
        };
        let picture = self.scene.picture;
        picture.threads.iter().filter(move |thread| {
            subject::is_ordinary(picture, thread)
                && subject::is_busy(thread)
                && !is_meant(thread)
                && may_run(thread)
        })
    }

    fn other_thread(&self, thread: &Thread) -> Option<Drafted> {
        let of = Meant::new(self.scene.picture, &self.scene.ground, thread)?;
        let allowed = thread.allowed.as_ref()?;
        let kept = [allowed, &of.limit].map(|cpus| cpus.intersection(&self.outside));
        let cpus = kept.into_iter().find(|cpus| !cpus.is_empty())?;
        let gain = match self.private.contains(thread.last_cpu) {
            true => self.freed_by_thread(thread),
            false => Gain::Unknown("it runs elsewhere now, and might come".to_owned()),
        };
        Some(draft::thread_line(&of, cpus, away(), gain))
    }

    /// What the kernel has counted for it, to a tick.
    fn freed_by_thread(&self, thread: &Thread) -> Gain {
        const TICK: f64 = 0.01;
        match (thread.share, self.scene.picture.uptime) {
            (Some(share), Some(uptime)) => Gain::Frees(Estimate::new(share, TICK / uptime.secs().max(TICK))),
            _ => Gain::Unknown("the kernel does not tell the time".to_owned()),
        }
    }
}

fn own_thread(of: &Meant<'_>, cpu: CpuId) -> Drafted {
    if of.settled {
        return draft::thread_line(
            of,
            of.limit.clone(),
            "its user keeps these cpus for it".to_owned(),
            Gain::Already,
        );
    }
    let gain = Gain::Unknown("what the other lines take away from there is its gain".to_owned());
    draft::thread_line(of, draft::only(cpu), "a core of its own".to_owned(), gain)
}

fn away() -> String {
    "away from the cores of the threads meant".to_owned()
}
