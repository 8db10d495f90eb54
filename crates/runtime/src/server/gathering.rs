//! How many workers the adaptive policy uses.

use super::control::Control;
use core::time::Duration;
use std::time::Instant;

/// How often it is decided.
const EVERY: Duration = Duration::from_millis(50);
/// Workers are as many as keep their mean below this, in busy time for each second.
const BUSY: f64 = 0.6;
/// A worker that is busier gets help, however idle the others are.
const FULL: f64 = 0.85;
/// One worker fewer is tried if they would be less busy than this.
const IDLE: f64 = 0.4;
/// So often in a row.
const LOOKS_BEFORE_FEWER: u32 = 4;

/// Watches how busy the workers are, and chooses how many have flows.
#[derive(Debug)]
pub(super) struct Gathering {
    number: NumberOfWorkers,
    looked: Instant,
    /// By worker: the time that it ran or could have run until then, in nanoseconds.
    times: Vec<f64>,
}

impl Gathering {
    /// Of so many workers, the first one has all flows.
    pub(super) fn new(control: &Control, workers: usize) -> Self {
        let gathering =
            Self { number: NumberOfWorkers::new(workers), looked: Instant::now(), times: vec![0.0; workers] };
        gathering.apply(control);
        gathering
    }

    /// Decides, if it is time. Returns how long until the next time.
    pub(super) fn look(&mut self, control: &Control) -> Duration {
        let since = self.looked.elapsed();
        if since < EVERY {
            return EVERY - since;
        }
        self.looked = Instant::now();
        let (mut all, mut busiest) = (0.0, 0.0_f64);
        for (time, thread) in self.times.iter_mut().zip(&control.threads) {
            // A worker beside another program is as busy as it would like to be.
            let now = thread.wanted_time().map_or(*time, |time| time.0);
            let busy = (now - *time) / since.as_nanos() as f64;
            *time = now;
            all += busy;
            busiest = busiest.max(busy);
        }
        if self.number.follow(all, busiest) {
            self.apply(control);
        }
        EVERY
    }

    fn apply(&self, control: &Control) {
        control.port.gather(self.number.active);
    }
}

/// The number itself.
#[derive(Debug)]
struct NumberOfWorkers {
    most: usize,
    active: usize,
    /// How often in a row fewer would have done.
    idle: u32,
}

impl NumberOfWorkers {
    const fn new(most: usize) -> Self {
        Self { most, active: 1, idle: 0 }
    }

    /// Follows what the workers did: how many were busy on average, and how busy the busiest was. Returns whether the number
    /// has changed.
    fn follow(&mut self, all: f64, busiest: f64) -> bool {
        let before = self.active;
        let needed = ((all / BUSY).ceil() as usize).clamp(1, self.most);
        if needed > self.active {
            self.active = needed;
        } else if busiest > FULL {
            self.active = (self.active + 1).min(self.most);
        } else if all < IDLE * (self.active as f64 - 1.0) {
            self.idle += 1;
            if self.idle < LOOKS_BEFORE_FEWER {
                return false;
            }
            self.active -= 1;
        }
        self.idle = 0;
        self.active != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number after so many looks at this load, which is spread evenly.
    fn after(number: &mut NumberOfWorkers, looks: usize, load: f64) -> usize {
        for _ in 0..looks {
            // No worker does more than one second in a second.
            let done = load.min(number.active as f64);
            number.follow(done, done / number.active as f64);
        }
        number.active
    }

    #[test]
    fn workers_are_as_many_as_the_load_needs() {
        let mut number = NumberOfWorkers::new(64);
        assert_eq!(after(&mut number, 100, 0.3), 1);
        assert_eq!(after(&mut number, 100, 1.5), 3);
        assert_eq!(after(&mut number, 20, 60.0), 64);
        assert_eq!(after(&mut number, 400, 5.0), 13, "fewer would be busier than 40%");
        assert_eq!(after(&mut number, 400, 0.0), 1);
    }

    #[test]
    fn a_number_that_fits_does_not_change() {
        for load in [0.1, 0.5, 0.7, 1.3, 2.0, 3.9, 11.0, 38.0] {
            let mut number = NumberOfWorkers::new(64);
            let settled = after(&mut number, 200, load);
            for _ in 0..200 {
                let even = load / settled as f64;
                assert!(!number.follow(load, even), "{load} busy, {settled} workers");
            }
        }
    }

    #[test]
    fn a_single_full_worker_gets_help() {
        let mut number = NumberOfWorkers::new(4);
        assert_eq!(after(&mut number, 100, 1.0), 2);
        assert!(number.follow(1.0, 0.95));
        assert_eq!(number.active, 3);
    }
}
