//! What the work of a layout's cpus takes, at given prices.

use super::layout::{Crossing, Layout};
use std::collections::BTreeMap;
use warmcore_units::{CpuId, Nanos, PerSecond};

/// What is paid for a packet, by what crosses between cores.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prices {
    /// On the core that processes it, where nothing crosses.
    pub(super) here: Nanos,
    /// What is added there where the session's lines cross.
    pub(super) session: Nanos,
    /// What its reader pays to receive it, where nothing crosses; zero where that is part of the processing.
    pub(super) receive: Nanos,
    /// What is added to that where the session's lines cross.
    pub(super) receive_session: Nanos,
    /// What is added where the frame's lines cross: on the core that they come to, and on the one that hands them over.
    pub(super) frame: Nanos,
    /// What is added where all this crosses between hardware threads of one core.
    pub(super) sibling: SiblingPrices,
}

/// What is added where lines cross between hardware threads of one core, whose caches they share.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SiblingPrices {
    /// As [`Prices::session`].
    pub(super) session: Nanos,
    /// As [`Prices::receive_session`].
    pub(super) receive_session: Nanos,
    /// As [`Prices::frame`].
    pub(super) frame: Nanos,
}

impl Prices {
    /// These, with nothing to pay for a session's lines, or a frame's, between hardware threads of one core.
    pub(super) fn with_free_siblings(self, session: bool, frame: bool) -> Self {
        let paid = |price: Nanos, is_free: bool| if is_free { Nanos::ZERO } else { price };
        let sibling = SiblingPrices {
            session: paid(self.sibling.session, session),
            receive_session: paid(self.sibling.receive_session, session),
            frame: paid(self.sibling.frame, frame),
        };
        Self { sibling, ..self }
    }

    /// The work for a packet on the cpu that processes it.
    pub(super) fn processing(&self, crossing: Crossing) -> Nanos {
        let from_sibling =
            self.sibling.session * crossing.sibling + self.sibling.frame * crossing.frame_sibling;
        self.here + self.session * crossing.session + self.frame * crossing.frame + from_sibling
    }

    /// The work for a packet on the cpu that processes it and the one that hands it over.
    pub(super) fn taking_in(&self, crossing: Crossing) -> Nanos {
        let handing_over = self.frame * crossing.frame + self.sibling.frame * crossing.frame_sibling;
        self.processing(crossing) + handing_over
    }

    /// The work for a packet on all cpus.
    pub(super) fn packet(&self, crossing: Crossing) -> Nanos {
        let receiving = self.receive
            + self.receive_session * crossing.session
            + self.sibling.receive_session * crossing.sibling;
        self.taking_in(crossing) + receiving
    }

    /// The work of `cpu` under `layout` for each packet that arrives anywhere: what it processes and what it hands over.
    fn work(&self, layout: &Layout, cpu: CpuId) -> Nanos {
        self.processing(layout.crossing) * part(&layout.processed, cpu)
            + self.frame * part(&layout.handed_over, cpu)
    }

    /// The work of the busiest cpu under `layout` for each packet that arrives anywhere.
    pub(super) fn most_work(&self, layout: &Layout) -> Nanos {
        let of_one_thread = self.processing(layout.crossing) * layout.follows_one_thread;
        cpus(layout).map(|cpu| self.work(layout, cpu)).fold(of_one_thread, Nanos::max)
    }

    /// How full the fullest cpu is under `layout` when packets arrive at `rate` and the threads use `work` cpus' worth of
    /// time for them: 1 if it has no time left.
    pub(super) fn fullest(&self, layout: &Layout, rate: PerSecond, work: f64) -> f64 {
        let of_readers = layout.readers.iter().flat_map(|reader| reader.cpus.iter());
        let load = |cpu: CpuId| {
            let here = layout.readers.iter().filter(|reader| reader.cpus.contains(cpu));
            let readers: f64 = here.map(|reader| reader.part * work / reader.cpus.len() as f64).sum();
            self.work(layout, cpu).secs() * rate.0 + readers
        };
        // A thread is on one cpu at a time, and with it the packets that follow it.
        let thread = layout.readers.iter().map(|reader| reader.of_one_thread).fold(0.0, f64::max);
        let following = layout.follows_one_thread * rate.0 * self.processing(layout.crossing).secs();
        cpus(layout).chain(of_readers).map(load).fold(thread * work + following, f64::max)
    }

    /// What the cpu that processes most packets spends, for each of them, on others that it hands over.
    pub(super) fn handing_over_beside(&self, layout: &Layout) -> Nanos {
        let handed = most(&layout.processed).map(|(cpu, _)| part(&layout.handed_over, cpu));
        match handed.reduce(f64::max) {
            Some(handed) if handed > 0.0 => self.frame * (handed / layout.busiest),
            _ => Nanos::ZERO,
        }
    }

    /// The cpu that hands most packets over: the part of all packets that it has to do with, and its mean work for each;
    /// `None` where none hands any over.
    pub(super) fn handing_over(&self, layout: &Layout) -> Option<(f64, Nanos)> {
        let handing = most(&layout.handed_over).filter(|&(_, handed)| handed > 0.0);
        let all =
            handing.map(|(cpu, handed)| (part(&layout.processed, cpu) + handed, self.work(layout, cpu)));
        let (all, work) = all.reduce(|one, other| if other.1 > one.1 { other } else { one })?;
        Some((all, work * (1.0 / all)))
    }

    /// The mean delay at `rate` under `layout` by the formula of a queue with constant service (M/D/1), as the simulator's
    /// delay is put together. Infinite where a cpu cannot keep up.
    pub(super) fn delay(&self, layout: &Layout, rate: PerSecond) -> f64 {
        let processing = self.processing(layout.crossing) + self.handing_over_beside(layout);
        let processed = constant_service(processing, rate * layout.busiest);
        let waits = self.handing_over(layout).map(|(part, work)| constant_service(work, rate * part));
        processed + waits.map_or(0.0, |waits| waits * layout.crossing.frame)
    }
}

/// The mean time from arrival to the end of service in a queue M/D/1 (Pollaczek and Khinchine), in seconds.
pub(super) fn constant_service(service: Nanos, rate: PerSecond) -> f64 {
    let used = service.secs() * rate.0;
    if used < 1.0 { service.secs() * (1.0 + used / (2.0 * (1.0 - used))) } else { f64::INFINITY }
}

fn part(of: &BTreeMap<CpuId, f64>, cpu: CpuId) -> f64 {
    of.get(&cpu).copied().unwrap_or(0.0)
}

/// The cpus with the largest part: several, where they differ by no more than the order of a sum makes them.
fn most(of: &BTreeMap<CpuId, f64>) -> impl Iterator<Item = (CpuId, f64)> {
    const ROUNDING: f64 = 1e-9;
    let largest = of.values().copied().fold(0.0, f64::max);
    of.iter().map(|(&cpu, &part)| (cpu, part)).filter(move |&(_, part)| part >= largest - ROUNDING)
}

fn cpus(layout: &Layout) -> impl Iterator<Item = CpuId> {
    layout.processed.keys().chain(layout.handed_over.keys()).copied()
}
