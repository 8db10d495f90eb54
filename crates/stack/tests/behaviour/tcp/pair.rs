//! Two connections and the faulty link between them: a driver in memory, whose time jumps to whatever
//! happens next.

use super::user::User;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;
use warmcore_stack::Flow;
use warmcore_stack::tcp::{Changes, Config, Connection, End, State, refuse};
use warmcore_stack::wire::SequenceNumber;
use warmcore_stack::wire::tcp;

/// Most things that may happen to one pair: peers that need more answer each other for ever.
const MAX_STEPS: u64 = 400_000;

/// What is done to a pair on purpose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setup {
    pub(super) seed: u64,
    /// Header prediction on both sides; by the seed if `None`.
    pub(super) prediction: Option<bool>,
    /// Whether one user gives up in the middle.
    pub(super) aborts: bool,
    pub(super) defect: Option<Defect>,
}

impl Setup {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, prediction: None, aborts: false, defect: None }
    }
}

/// Defects of a driver, which the checks of a run must notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Defect {
    /// Checksums are not verified.
    SkipsChecksum,
    /// No FIN is sent a second time.
    SendsFinOnce,
    /// Acknowledgements are one byte too high.
    AcknowledgesTooMuch,
    /// A duplicate arrives with the next sequence number.
    Renumbers,
    /// Time does not pass for the connections.
    StopsTheClock,
}

/// What the link does to segments.
#[derive(Clone, Copy, Debug)]
struct Faults {
    loss: f64,
    duplication: f64,
    corruption: f64,
    delay: Duration,
    jitter: Duration,
}

impl Faults {
    fn draw(random: &mut impl Rng) -> Self {
        let mut up_to =
            |most: f64| if random.random_bool(0.5) { 0.0 } else { random.random_range(0.0..most) };
        Self {
            loss: up_to(0.2),
            duplication: up_to(0.1),
            corruption: up_to(0.05),
            delay: Duration::from_secs_f64(up_to(0.2)),
            jitter: Duration::from_secs_f64(up_to(0.1)),
        }
    }
}

struct Side {
    connection: Connection,
    user: User,
    /// Of the segments that it sends.
    flow: Flow,
    fins: u32,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Outcome {
    pub(super) ends: [Option<End>; 2],
    pub(super) segments: u64,
    /// A digest of every segment with its time.
    pub(super) trace: u64,
}

pub(super) struct Pair {
    setup: Setup,
    random: Xoshiro256PlusPlus,
    faults: Faults,
    sides: [Side; 2],
    /// What is on the link: when it arrives, in which order it was sent, at which side.
    link: BTreeMap<(Duration, u64), (usize, Vec<u8>)>,
    now: Duration,
    segments: u64,
    trace: DefaultHasher,
}

/// Runs a pair until both connections are over.
///
/// # Errors
/// What went wrong: a byte was lost, doubled or reordered, or a connection did not end as it should.
pub(super) fn run(setup: Setup) -> Result<Outcome, String> {
    let mut pair = Pair::new(setup);
    let outcome = pair.run();
    outcome.map_err(|fault| format!("{setup:?} after {:?}: {fault}", pair.now))
}

impl Pair {
    fn new(setup: Setup) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(setup.seed);
        let faults = Faults::draw(&mut random);
        let lengths = [(); 2].map(|()| match random.random_range(0..4) {
            0 => 0,
            1 => random.random_range(1..200),
            _ => random.random_range(1..20_000),
        });
        let both_active = random.random_bool(0.2);
        let mut side = |index: usize| {
            let config = config(setup, &mut random);
            let initial = SequenceNumber(match random.random_bool(0.5) {
                true => u32::MAX - random.random_range(0..20_000),
                false => random.random(),
            });
            let connection = if index == 0 || both_active {
                Connection::connect(config, initial)
            } else {
                Connection::listen(config, initial)
            };
            let other = 1 - index;
            let (salts, lengths) = ((index as u32, other as u32), (lengths[index], lengths[other]));
            let user = User::new(salts, lengths, &mut random);
            let flow = if index == 0 { Flow::synthetic(1) } else { Flow::synthetic(1).reversed() };
            Side { connection, user, flow, fins: 0 }
        };
        let mut sides = [side(0), side(1)];
        if setup.aborts {
            let index = random.random_range(0..2);
            sides[index].user.aborts_after = Some(random.random_range(0..=lengths[index].max(1)));
        }
        let (link, now, trace) = (BTreeMap::new(), Duration::ZERO, DefaultHasher::new());
        Self { setup, random, faults, sides, link, now, segments: 0, trace }
    }

    fn run(&mut self) -> Result<Outcome, String> {
        for _ in 0..MAX_STEPS {
            self.users_act()?;
            for index in 0..2 {
                self.transmits(index);
            }
            let is_over = |side: &Side| side.connection.state() == State::Closed && side.user.wakes.is_none();
            if self.sides.iter().all(is_over) && self.link.is_empty() {
                return self.judge();
            }
            let Some(next) = self.next_time() else {
                let states = self.sides.each_ref().map(|side| side.connection.state());
                if self.setup.aborts && states.into_iter().all(may_wait_for_ever) {
                    return self.judge();
                }
                return Err(format!("nothing will happen any more in {states:?}"));
            };
            self.now = self.now.max(next);
            self.deliver();
            if self.setup.defect != Some(Defect::StopsTheClock) {
                self.sides.iter_mut().for_each(|side| side.connection.time_passes(self.now));
            }
        }
        Err("things happen without end".to_string())
    }

    fn users_act(&mut self) -> Result<(), String> {
        for side in &mut self.sides {
            side.user.acts(self.now, &mut side.connection, &mut self.random)?;
        }
        Ok(())
    }

    /// When something happens next.
    fn next_time(&self) -> Option<Duration> {
        let arrival = self.link.keys().next().map(|(at, _)| *at);
        let users = self.sides.iter().filter_map(|side| side.user.wakes);
        let has_clock = self.setup.defect != Some(Defect::StopsTheClock);
        let deadlines = self.sides.iter().filter_map(|side| side.connection.deadline().filter(|_| has_clock));
        arrival.into_iter().chain(users).chain(deadlines).min()
    }

    /// Sends all that one side has to send.
    fn transmits(&mut self, index: usize) {
        let mut sent = Vec::new();
        let side = &mut self.sides[index];
        while let Some(mut segment) = side.connection.transmit(self.now) {
            side.fins += u32::from(segment.fin);
            if self.setup.defect == Some(Defect::SendsFinOnce) && segment.fin && side.fins > 1 {
                continue;
            }
            if self.setup.defect == Some(Defect::AcknowledgesTooMuch) && !segment.syn {
                segment.acknowledgement = segment.acknowledgement.map(|at| at + 1);
            }
            let mut buffer = [0; 2048];
            let bytes = segment.write(&side.flow, &mut buffer).expect("a segment of the link's size");
            sent.push(bytes.to_vec());
        }
        for bytes in sent {
            (self.now, index, &bytes).hash(&mut self.trace);
            self.send(1 - index, bytes);
        }
    }

    /// Puts a segment for side `to` on the link, with its faults.
    fn send(&mut self, to: usize, mut bytes: Vec<u8>) {
        if self.random.random_bool(self.faults.corruption) {
            let bit = self.random.random_range(0..bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        let copies = 1 + u64::from(self.random.random_bool(self.faults.duplication));
        for copy in 0..copies {
            let mut bytes = bytes.clone();
            if copy > 0 && self.setup.defect == Some(Defect::Renumbers) {
                bytes = self.renumbered(to, &bytes);
            }
            self.segments += 1;
            if !self.random.random_bool(self.faults.loss) {
                let jitter = self.faults.jitter.mul_f64(self.random.random_range(0.0..1.0));
                let arrival = self.now + self.faults.delay + jitter;
                self.link.insert((arrival, self.segments), (to, bytes));
            }
        }
    }

    /// The segment with a sequence number that puts it behind itself.
    fn renumbered(&self, to: usize, bytes: &[u8]) -> Vec<u8> {
        let Ok(parsed) = tcp::parse(bytes) else { return bytes.to_vec() };
        let mut segment = parsed.segment;
        segment.sequence = segment.sequence + segment.sequence_length();
        let mut buffer = [0; 2048];
        let bytes = segment.write(&self.sides[1 - to].flow, &mut buffer);
        bytes.expect("a segment of the link's size").to_vec()
    }

    /// Delivers what arrives now.
    fn deliver(&mut self) {
        while let Some(entry) = self.link.first_entry()
            && entry.key().0 <= self.now
        {
            let (to, bytes) = entry.remove();
            let flow = self.sides[1 - to].flow;
            let Ok(parsed) = tcp::parse(&bytes) else { continue };
            let skips = self.setup.defect == Some(Defect::SkipsChecksum);
            if parsed.verify_flow(&flow).is_err() && !skips {
                continue;
            }
            let connection = &mut self.sides[to].connection;
            if connection.state() != State::Closed {
                connection.arrives(self.now, &parsed.segment);
            } else if let Some(reset) = refuse(&parsed.segment) {
                let mut buffer = [0; 64];
                let bytes = reset.write(&flow.reversed(), &mut buffer).expect("a reset is short").to_vec();
                self.send(1 - to, bytes);
            }
        }
    }

    fn judge(&self) -> Result<Outcome, String> {
        let ends = self.sides.each_ref().map(|side| side.connection.end());
        if !self.setup.aborts {
            if ends != [Some(End::Closed); 2] {
                return Err(format!("the connections ended as {ends:?}"));
            }
            if !self.sides.iter().all(|side| side.user.is_satisfied()) {
                return Err("the connections ended before the users were done".to_string());
            }
        }
        Ok(Outcome { ends, segments: self.segments, trace: self.trace.finish() })
    }
}

/// Whether a connection whose peer is gone, and the peer's reset lost, may wait for it in this state.
fn may_wait_for_ever(state: State) -> bool {
    matches!(state, State::Closed | State::Listen | State::Established | State::FinWait2)
}

fn config(setup: Setup, random: &mut impl Rng) -> Config {
    let drawn = random.random_bool(0.5);
    Config {
        max_segment_size: [64, 536, 1460][random.random_range(0..3)],
        send_buffer: random.random_range(1..16_000),
        receive_buffer: if random.random_bool(0.2) { 100_000 } else { random.random_range(1..16_000) },
        window_scaling: random.random(),
        nagle: random.random(),
        delayed_ack: Duration::from_millis([0, 40, 500][random.random_range(0..3)]),
        min_timeout: Duration::from_millis([50, 1000][random.random_range(0..2)]),
        // The link loses up to a third of all round trips, and no connection may end by chance.
        retries: 60,
        changes: Changes {
            avoid_division: random.random(),
            header_prediction: setup.prediction.unwrap_or(drawn),
        },
        ..Config::default()
    }
}
