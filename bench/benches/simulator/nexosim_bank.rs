//! nexosim on its single-threaded executor. Arrivals, queue and servers are one model that schedules its own
//! events. No message passes between models, which makes this its fastest form of this queue.

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

/// The mean service time on nexosim's clock, which has a resolution of one nanosecond.
const SERVICE: Duration = Duration::from_millis(1);

/// The nexosim simulator as a peer.
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

/// Builds the model and runs it until its last customer has left.
fn run(draws: Draws, customers: u64) -> Result<Run, SimulationError> {
    let mailbox = Mailbox::new();
    let mut model = SimInit::with_num_threads(1);
    let total = QuerySource::new().connect(Bank::total_sojourn, &mailbox).register(&mut model);
    let model = model.add_model(NewBank { draws, customers }, mailbox, "bank");
    let start = Instant::now();
    let mut simulation = model.init(MonotonicTime::EPOCH)?;
    simulation.run()?;
    let seconds = start.elapsed().as_secs_f64();
    let sojourn = simulation.process_query(&total, ())?;
    let mean_sojourn = sojourn.div_duration_f64(SERVICE) / customers as f64;
    Ok(Run { customers, seconds, mean_sojourn })
}

/// The prototype from which nexosim builds a [`Bank`].
struct NewBank {
    draws: Draws,
    customers: u64,
}

impl ProtoModel for NewBank {
    type Model = Bank;

    fn build(self, _: &mut BuildContext<Self>) -> (Bank, Draws) {
        let bank = Bank {
            remaining: self.customers,
            idle: SERVERS,
            waiting: VecDeque::new(),
            sojourn: Duration::ZERO,
        };
        (bank, self.draws)
    }
}

/// The servers and their queue. Its environment holds the random draws.
#[derive(Serialize, Deserialize)]
struct Bank {
    /// Customers whose arrival is not scheduled yet.
    remaining: u64,
    idle: u32,
    /// Arrival times of the waiting customers.
    waiting: VecDeque<MonotonicTime>,
    /// The sum of the sojourn times of all customers that have left.
    sojourn: Duration,
}

#[Model(type Env = Draws)]
impl Bank {
    #[nexosim(init)]
    async fn init(&mut self, context: &Context<Self>, draws: &mut Draws) {
        self.schedule_arrival(context, draws);
    }

    #[nexosim(schedulable)]
    fn arrive(&mut self, (): (), context: &Context<Self>, draws: &mut Draws) {
        self.schedule_arrival(context, draws);
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

    fn schedule_arrival(&mut self, context: &Context<Self>, draws: &mut Draws) {
        if self.remaining > 0 {
            self.remaining -= 1;
            let interval = on_clock(draws.interval());
            context
                .schedule_event(interval, schedulable!(Self::arrive), ())
                .expect("the arrival is in the future");
        }
    }
}

/// Starts to serve the customer that arrived at `arrived`.
fn start(arrived: MonotonicTime, context: &Context<Bank>, draws: &mut Draws) {
    let service = on_clock(draws.service());
    context
        .schedule_event(service, schedulable!(Bank::depart), arrived)
        .expect("the departure is in the future");
}

/// Converts mean service times to nexosim's clock. At least one nanosecond, because nexosim accepts no event
/// at the current time.
fn on_clock(services: f64) -> Duration {
    SERVICE.mul_f64(services).max(Duration::from_nanos(1))
}
