//! A source: it sends what is due, and takes its processor for that.

use rand::RngExt;
use warmcore_workload::random::Random;

/// A request on its way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Request {
    pub(super) due: f64,
    pub(super) flow: usize,
    /// The processor of its source.
    pub(super) source: usize,
}

/// What a source does. Moments are in nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Activity {
    /// Nothing until the next request is due.
    Asleep,
    /// Its next call begins at that moment. It has the processor from `takes` on.
    Starting { takes: f64, at: f64 },
    /// Its call ends at that moment.
    Calling { until: f64 },
    /// It goes away until that moment.
    Leaving { until: f64 },
}

/// A source of random requests (Poisson), each of any of its flows.
pub(super) struct Source {
    pub(super) activity: Activity,
    pub(super) next: Request,
    /// How long the processor had nothing to do before the source took it.
    pub(super) idle_before: f64,
    gap: f64,
    flows: usize,
    arrivals: Random,
    choices: Random,
}

impl Source {
    /// The source of processor `number`, with a mean `gap` between requests of `flows` flows.
    pub(super) fn new(number: usize, gap: f64, flows: usize, arrivals: Random, choices: Random) -> Self {
        let next = Request { due: 0.0, flow: 0, source: number };
        let activity = Activity::Asleep;
        let mut source = Self { activity, next, idle_before: 0.0, gap, flows, arrivals, choices };
        source.advance();
        source
    }

    /// Draws the next request.
    pub(super) fn advance(&mut self) {
        // The argument is never 0.
        self.next.due -= self.gap * (1.0 - self.arrivals.random::<f64>()).ln();
        self.next.flow = self.next.source * self.flows + self.choices.random_range(0..self.flows);
    }

    /// A draw from 0 to 1.
    pub(super) fn draw(&mut self) -> f64 {
        self.choices.random()
    }

    /// When something happens next.
    pub(super) const fn next_event(&self) -> f64 {
        match self.activity {
            Activity::Asleep => self.next.due,
            Activity::Starting { at, .. } => at,
            Activity::Calling { until } | Activity::Leaving { until } => until,
        }
    }

    /// From when on it has the processor; infinite if it sleeps.
    pub(super) const fn takes(&self) -> f64 {
        match self.activity {
            Activity::Asleep => f64::INFINITY,
            Activity::Starting { takes, .. } => takes,
            Activity::Calling { .. } | Activity::Leaving { .. } => f64::NEG_INFINITY,
        }
    }
}
