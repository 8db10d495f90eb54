//! nexosim, with source, line and servers in one model that schedules its own events: no
//! message crosses from one model to another, so this is the fastest form it has of this queue.
//! Its executor is the single-threaded one.

use crate::draws::Draws;
use crate::peer::{Peer, PeerError, Run};
use crate::queue::{Queue, SERVERS};
use nexosim::model::{BuildContext, Context, Model, ProtoModel, schedulable};
use nexosim::ports::QuerySource;
use nexosim::simulation::{Mailbox, SimInit, SimulationError};
use nexosim::time::MonotonicTime;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A mean service time on nexosim's clock, whose grain is a nanosecond.
const SERVICE: Duration = Duration::from_millis(1);

/// The peer.
pub(crate) struct Nexosim {
    pub(crate) version: &'static str,
}

impl Peer for Nexosim {
    fn name(&self) -> String {
        format!("nexosim {}", self.version)
    }

    fn customers(&self) -> u64 {
        400_000
    }

    fn simulate(&mut self, queue: Queue, customers: u64, seed: u64) -> Result<Run, PeerError> {
        let draws = Draws::new(queue, seed);
        run(draws, customers)
            .map_err(|error| PeerError::Failed { peer: self.name(), reason: error.to_string() })
    }
}

/// Builds the bench and runs it until its last customer has left.
fn run(draws: Draws, customers: u64) -> Result<Run, SimulationError> {
    let mailbox = Mailbox::new();
    let mut bench = SimInit::with_num_threads(1);
    let total = QuerySource::new().connect(Bank::total_sojourn, &mailbox).register(&mut bench);
    let bench = bench.add_model(NewBank { draws, customers }, mailbox, "bank");
    let start = Instant::now();
    let mut simulation = bench.init(MonotonicTime::EPOCH)?;
    simulation.run()?;
    let seconds = start.elapsed().as_secs_f64();
    let sojourn = simulation.process_query(&total, ())?;
    let mean_sojourn = sojourn.div_duration_f64(SERVICE) / customers as f64;
    Ok(Run { customers, seconds, mean_sojourn })
}

/// What a bank is made from.
struct NewBank {
    draws: Draws,
    customers: u64,
}

impl ProtoModel for NewBank {
    type Model = Bank;

    fn build(self, _: &mut BuildContext<Self>) -> (Bank, Draws) {
        let bank = Bank {
            to_come: self.customers,
            idle: SERVERS,
            waiting: VecDeque::new(),
            sojourn: Duration::ZERO,
        };
        (bank, self.draws)
    }
}

/// The servers and the line before them; its environment is what is left to chance.
#[derive(Serialize, Deserialize)]
struct Bank {
    /// Customers that have not arrived yet.
    to_come: u64,
    idle: u32,
    /// When they arrived.
    waiting: VecDeque<MonotonicTime>,
    /// The sum over all customers that have left.
    sojourn: Duration,
}

#[Model(type Env = Draws)]
impl Bank {
    #[nexosim(init)]
    async fn init(&mut self, context: &Context<Self>, draws: &mut Draws) {
        self.expect_next(context, draws);
    }

    #[nexosim(schedulable)]
    fn arrive(&mut self, (): (), context: &Context<Self>, draws: &mut Draws) {
        self.expect_next(context, draws);
        let now = context.time();
        if self.idle > 0 {
            self.idle -= 1;
            start(now, context, draws);
        } else {
            self.waiting.push_back(now);
        }
    }

    #[nexosim(schedulable)]
    fn depart(&mut self, arrived: MonotonicTime, context: &Context<Self>, draws: &mut Draws) {
        self.sojourn += context.time().duration_since(arrived);
        match self.waiting.pop_front() {
            Some(arrived) => start(arrived, context, draws),
            None => self.idle += 1,
        }
    }

    async fn total_sojourn(&mut self) -> Duration {
        self.sojourn
    }

    fn expect_next(&mut self, context: &Context<Self>, draws: &mut Draws) {
        if self.to_come > 0 {
            self.to_come -= 1;
            let interval = on_clock(draws.interval());
            context.schedule_event(interval, schedulable!(Self::arrive), ()).expect("an arrival lies ahead");
        }
    }
}

/// A server takes on the customer that arrived at `arrived`.
fn start(arrived: MonotonicTime, context: &Context<Bank>, draws: &mut Draws) {
    let service = on_clock(draws.service());
    context.schedule_event(service, schedulable!(Bank::depart), arrived).expect("a departure lies ahead");
}

/// A time in mean services on nexosim's clock, which takes no event for the present instant.
fn on_clock(services: f64) -> Duration {
    SERVICE.mul_f64(services).max(Duration::from_nanos(1))
}
