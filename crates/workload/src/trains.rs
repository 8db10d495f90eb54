//! Packet trains (Jain & Routhier 1986): packets of one stream that follow each other closely.

use crate::arrivals::{Arrival, Arrivals, ImpossibleArrivals, mean_interval};
use crate::batch::Geometric;
use crate::event_queue::EventQueue;
use crate::micros;
use crate::popularity::{Popularity, StreamChoice};
use crate::random::{Key, Purpose, Random};
use rand::RngExt;
use rand_distr::{Exp1, Poisson as PoissonNumber};
use serde::{Deserialize, Serialize};
use warmcore_units::{Fault, Nanos, PerSecond};

/// The shape of packet trains.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Train {
    /// Mean number of packets in a train, at least 1; the number has a geometric distribution on 1, 2, ….
    pub cars: f64,
    /// Mean time from one packet of a train to the next, in microseconds.
    #[serde(rename = "gap_us", with = "micros")]
    pub gap: Nanos,
    /// How that time varies.
    #[serde(default)]
    pub gaps: Gaps,
}

/// How the time from one packet of a train to the next varies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gaps {
    /// It is exponential.
    #[default]
    Exponential,
    /// It is constant.
    Fixed,
}

impl Train {
    /// The largest mean number of trains under way at once.
    pub const MAX_UNDERWAY: f64 = 1e7;

    /// Checks the parameters; fields are named from the train's table.
    ///
    /// # Errors
    /// The first parameter that cannot be used.
    pub fn check(&self) -> Result<(), Fault> {
        if !(1.0..=1e6).contains(&self.cars) {
            return Err(Fault::new("cars", self.cars, "a number of packets from 1 to 1000000"));
        }
        if !(self.gap.0 > 0.0 && self.gap.0.is_finite()) {
            return Err(Fault::new("gap_us", self.gap.micros(), "a number of microseconds above 0"));
        }
        Ok(())
    }
}

/// Trains that depart at exponential intervals, each with packets of one stream. Trains may overlap, also
/// those of one stream.
///
/// The source starts in the steady state. By Little's law rate · (cars - 1) / cars · gap trains are under way
/// on average, and their number has a Poisson distribution. As geometric trains have no memory, each has as
/// many packets left as a whole train.
#[derive(Clone, Debug)]
pub struct Trains {
    mean_interval: Nanos,
    departure: Nanos,
    underway: EventQueue<u32>,
    interarrival: Random,
    choice: StreamChoice,
    cars: Geometric,
    lengths: Random,
    gaps: Spacing,
}

/// The times between the packets of a train.
#[derive(Clone, Debug)]
struct Spacing {
    mean: Nanos,
    kind: Gaps,
    random: Random,
}

impl Trains {
    /// Packets at `rate`, in trains from `streams` streams. Trains depart at `rate` divided by their mean number
    /// of packets.
    ///
    /// # Errors
    /// If there is no stream, the popularity or the train is impossible, the rate is not a
    /// positive number, or more than [`Train::MAX_UNDERWAY`] trains would be under way.
    pub fn new(
        rate: PerSecond,
        train: Train,
        streams: u32,
        popularity: Popularity,
        key: Key,
    ) -> Result<Self, ImpossibleArrivals> {
        train.check()?;
        let interval = mean_interval(rate)?;
        let underway = train.gap / interval * ((train.cars - 1.0) / train.cars);
        if underway > Train::MAX_UNDERWAY {
            let expected =
                format!("a gap with at most 10 million trains under way; here there are {underway:.0}");
            return Err(Fault::new("gap_us", train.gap.micros(), expected).into());
        }
        let mut source = Self {
            mean_interval: interval * train.cars,
            departure: Nanos::ZERO,
            underway: EventQueue::default(),
            interarrival: key.stream(Purpose::Interarrival),
            choice: StreamChoice::new(streams, popularity, key)?,
            cars: Geometric::with_mean(train.cars),
            lengths: key.stream(Purpose::Batch),
            gaps: Spacing { mean: train.gap, kind: train.gaps, random: key.stream(Purpose::Gap) },
        };
        source.schedule_departure();
        source.place_trains(underway, &mut key.stream(Purpose::Start));
        Ok(source)
    }

    /// Adds the trains that are under way when the run starts, `mean` of them on average.
    fn place_trains(&mut self, mean: f64, random: &mut Random) {
        let Ok(number) = PoissonNumber::new(mean) else { return };
        let number = random.sample(number) as u64;
        for _ in 0..number {
            let at = self.gaps.rest(random);
            self.underway.enter(at, self.choice.choose(), self.cars.sample(&mut self.lengths));
        }
    }

    fn schedule_departure(&mut self) {
        let interval: f64 = self.interarrival.sample(Exp1);
        self.departure += self.mean_interval * interval;
    }

    /// The first packet of the next train to depart.
    fn depart(&mut self) -> Arrival {
        let first = Arrival::single(self.departure, self.choice.choose());
        let following = self.cars.sample(&mut self.lengths) - 1;
        if following > 0 {
            self.underway.enter(first.at + self.gaps.sample(), first.stream, following);
        }
        self.schedule_departure();
        first
    }

    fn next(&mut self) -> Arrival {
        let gaps = &mut self.gaps;
        let underway = self.underway.next_time() < self.departure;
        let car = underway.then(|| {
            self.underway.take(|at, left| {
                *left -= 1;
                (*left > 0).then(|| at + gaps.sample())
            })
        });
        car.flatten().unwrap_or_else(|| self.depart())
    }
}

impl Spacing {
    fn sample(&mut self) -> Nanos {
        match self.kind {
            Gaps::Fixed => self.mean,
            Gaps::Exponential => self.mean * self.random.sample::<f64, _>(Exp1),
        }
    }

    /// The rest of a gap at a random moment in it.
    fn rest(&self, random: &mut Random) -> Nanos {
        match self.kind {
            Gaps::Fixed => self.mean * random.random::<f64>(),
            Gaps::Exponential => self.mean * random.sample::<f64, _>(Exp1),
        }
    }
}

impl Arrivals for Trains {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        block.fill_with(|| self.next());
        block.len()
    }
}
