//! Two endpoints, their users, and the faulty link between them: a driver in memory, whose time jumps to
//! whatever happens next.

use super::ledger::{LONGEST, Ledger, PROCEDURES};
use super::link::{Faults, Link};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZero;
use std::time::Duration;
use warmcore_stack::rpc::{BootId, CallError, Config, Endpoint, Event, ReplyError, ServedCall};

/// Most things that may happen to one pair: peers that need more answer each other for ever.
const MAX_STEPS: u64 = 200_000;
/// Most calls that a side makes.
const MOST_CALLS: u64 = 40;

/// What is done to a pair on purpose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setup {
    pub(super) seed: u64,
    pub(super) reboots: bool,
    pub(super) defect: Option<Defect>,
}

/// Defects of a driver, which the checks of a run must notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Defect {
    /// A side that reboots keeps its boot id.
    KeepsBootId,
    /// A request that is sent in one frame arrives with the next number too.
    Renumbers,
    /// The last byte of some frames is altered.
    SkipsChecksum,
    /// Time does not pass for the endpoints.
    StopsTheClock,
    /// No handler replies.
    NeverReplies,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Outcome {
    pub(super) calls: u64,
    pub(super) replies: u64,
    pub(super) timeouts: u64,
    pub(super) frames: u64,
    pub(super) resent: u64,
    pub(super) reboots: u64,
}

struct Side {
    endpoint: Endpoint,
    boot: u32,
    /// Calls to make.
    left: u64,
    /// When it calls again.
    calls_at: Option<Duration>,
    /// Replies that handlers work on.
    working: BTreeMap<(Duration, u64), (ServedCall, Vec<u8>)>,
    served: u64,
}

struct Pair {
    setup: Setup,
    random: Xoshiro256PlusPlus,
    config: Config,
    sides: [Side; 2],
    link: Link,
    ledger: Ledger,
    reboots: VecDeque<Duration>,
    rebooted: u64,
    /// Longest that a handler works.
    work: Duration,
    now: Duration,
}

/// Runs a pair until all calls have ended.
///
/// # Errors
/// What went wrong: a call was served twice, had wrong bytes, or did not end once.
pub(super) fn run(setup: Setup) -> Result<Outcome, String> {
    let mut pair = Pair::new(setup);
    let outcome = pair.run();
    outcome.map_err(|fault| format!("{setup:?} after {:?}: {fault}", pair.now))
}

fn boot(id: u32) -> BootId {
    BootId(NonZero::new(id).expect("boot ids begin with 1"))
}

impl Pair {
    fn new(setup: Setup) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(setup.seed);
        let faults = Faults::draw(&mut random);
        let config = config(&mut random);
        let side = |id, left| Side {
            endpoint: Endpoint::new(config, boot(id), &PROCEDURES),
            boot: id,
            left,
            calls_at: Some(Duration::ZERO),
            working: BTreeMap::new(),
            served: 0,
        };
        let mut left = || if random.random_bool(0.2) { 0 } else { random.random_range(1..MOST_CALLS) };
        let sides = [side(1, left()), side(1000, left())];
        let count = if setup.reboots { random.random_range(1..4) } else { 0 };
        let mut reboots: Vec<_> =
            (0..count).map(|_| Duration::from_micros(random.random_range(0..1_000_000))).collect();
        reboots.sort_unstable();
        Self {
            setup,
            config,
            sides,
            link: Link::new(faults),
            ledger: Ledger::default(),
            reboots: reboots.into(),
            rebooted: 0,
            work: Duration::from_millis([0, 10, 400][random.random_range(0..3)]),
            now: Duration::ZERO,
            random,
        }
    }

    fn run(&mut self) -> Result<Outcome, String> {
        for _ in 0..MAX_STEPS {
            for index in 0..2 {
                self.user_acts(index)?;
                self.transmits(index)?;
            }
            let Some(next) = self.next_time() else { return self.judge() };
            self.now = self.now.max(next);
            self.reboot_if_due();
            self.deliver();
            if self.setup.defect != Some(Defect::StopsTheClock) {
                self.sides.iter_mut().for_each(|side| side.endpoint.time_passes(self.now));
            }
        }
        Err("things happen without end".to_string())
    }

    /// When something happens next.
    fn next_time(&self) -> Option<Duration> {
        let calls = self.sides.iter().filter_map(|side| side.calls_at.filter(|at| *at > self.now));
        let replies = self.sides.iter().filter_map(|side| side.working.keys().next().map(|(at, _)| *at));
        let has_clock = self.setup.defect != Some(Defect::StopsTheClock);
        let deadlines = self.sides.iter().filter_map(|side| side.endpoint.deadline().filter(|_| has_clock));
        let others = self.link.next_arrival().into_iter().chain(self.reboots.front().copied());
        others.chain(calls).chain(replies).chain(deadlines).min()
    }

    fn user_acts(&mut self, index: usize) -> Result<(), String> {
        self.takes_events(index)?;
        self.replies(index)?;
        while self.sides[index].left > 0 && self.sides[index].calls_at.is_some_and(|at| at <= self.now) {
            let planned = self.ledger.plan(&mut self.random);
            let side = &mut self.sides[index];
            let waiting = self.ledger.waiting(index);
            match side.endpoint.call(self.now, planned.procedure(), &planned.arguments()) {
                Ok(call) => {
                    self.ledger.called(index, call, planned)?;
                    side.left -= 1;
                    if self.random.random_bool(0.3) {
                        side.calls_at =
                            Some(self.now + Duration::from_micros(self.random.random_range(0..90_000)));
                    }
                }
                Err(CallError::NoneFree) if waiting == usize::from(self.config.chan.channels) => break,
                Err(error) => return Err(format!("a call was refused with {waiting} waiting: {error}")),
            }
        }
        Ok(())
    }

    fn takes_events(&mut self, index: usize) -> Result<(), String> {
        let side = &mut self.sides[index];
        while let Some(event) = side.endpoint.event() {
            match event {
                Event::Called { call, handler, request } => {
                    let results = self.ledger.serve(handler, request)?;
                    let at = self.now + self.work.mul_f64(self.random.random_range(0.0..1.0));
                    side.served += 1;
                    if self.setup.defect != Some(Defect::NeverReplies) {
                        side.working.insert((at, side.served), (call, results));
                    }
                }
                Event::Replied { call, results } => self.ledger.replied(index, call, results)?,
                Event::Failed { call, failure } => self.ledger.failed(index, call, failure)?,
                Event::PeerRebooted if self.rebooted == 0 => return Err("nobody has rebooted".to_string()),
                Event::PeerRebooted => {}
            }
        }
        Ok(())
    }

    /// Handlers that are done reply.
    fn replies(&mut self, index: usize) -> Result<(), String> {
        let side = &mut self.sides[index];
        while let Some(entry) = side.working.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let (call, results) = entry.remove();
            match side.endpoint.reply(call, &results) {
                Ok(()) | Err(ReplyError::Gone) => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(())
    }

    /// Sends all that one side has to send.
    fn transmits(&mut self, index: usize) -> Result<(), String> {
        while let Some(frame) = self.sides[index].endpoint.transmit(self.now) {
            if frame.len() > self.config.blast.mtu {
                return Err(format!("a frame has {} bytes", frame.len()));
            }
            self.link.check_sent(index, frame)?;
            let mut frame = frame.to_vec();
            if self.setup.defect == Some(Defect::SkipsChecksum)
                && self.random.random_bool(0.1)
                && let Some(last) = frame.last_mut()
            {
                *last ^= 1;
            }
            self.link.send(self.now, index, &frame, &mut self.random);
            // The number of a request's call is behind kind and channel.
            if self.setup.defect == Some(Defect::Renumbers) && frame.get(28..30) == Some(&[0, 1]) {
                frame[35] = frame[35].wrapping_add(1);
                self.link.send(self.now, index, &frame, &mut self.random);
            }
        }
        Ok(())
    }

    /// Delivers what arrives now.
    fn deliver(&mut self) {
        while let Some((to, frame)) = self.link.arrival(self.now) {
            self.link.note_arrival(to, &frame);
            // What was dropped is noticed if it matters.
            let _ = self.sides[to].endpoint.arrives(self.now, &frame);
        }
    }

    fn reboot_if_due(&mut self) {
        while self.reboots.pop_front_if(|at| *at <= self.now).is_some() {
            let index = self.random.random_range(0..2);
            let side = &mut self.sides[index];
            if self.setup.defect != Some(Defect::KeepsBootId) {
                side.boot += self.random.random_range(1..4);
            }
            side.endpoint = Endpoint::new(self.config, boot(side.boot), &PROCEDURES);
            side.working.clear();
            self.ledger.rebooted(index);
            self.rebooted += 1;
        }
    }

    fn judge(&self) -> Result<Outcome, String> {
        for index in 0..2 {
            let (waiting, left) = (self.ledger.waiting(index), self.sides[index].left);
            if waiting > 0 || left > 0 {
                return Err(format!("{waiting} calls wait for ever, and {left} were not made"));
            }
        }
        if self.rebooted == 0 && self.ledger.lost_to_reboots > 0 {
            return Err("calls were lost to a reboot, but there was none".to_string());
        }
        let Ledger { calls, replies, timeouts, .. } = self.ledger;
        let (frames, resent, reboots) = (self.link.sent, self.link.resent, self.rebooted);
        Ok(Outcome { calls, replies, timeouts, frames, resent, reboots })
    }
}

fn config(random: &mut impl Rng) -> Config {
    let mut config = Config::with_sizes([600, 1500, 1500, 9000][random.random_range(0..4)], LONGEST);
    config.blast.kept = random.random_range(2..9);
    config.blast.reassemblies = random.random_range(2..9);
    config.blast.nack_after = Duration::from_millis([1, 20, 100][random.random_range(0..3)]);
    config.chan.channels = random.random_range(1..6);
    config.chan.timeout = Duration::from_millis([30, 200, 1000][random.random_range(0..3)]);
    config.chan.ack_after = Duration::from_millis([1, 50, 1000][random.random_range(0..3)]);
    config
}
