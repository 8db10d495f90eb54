//! What happens in windows of simulated time.

use crate::packet::host::Packet;
use crate::packet::system::Finished;
use serde::{Deserialize, Serialize};
use warmcore_record::Column;
use warmcore_units::Nanos;

/// The most windows of all runs together.
pub const MAX_WINDOWS: u64 = 1_000_000;

/// A time series: one row for each complete window of each run, the warm-up included. Columns have equal lengths.
///
/// A packet that is still in service when a run ends counts for no window's utilisation; with windows longer than
/// a service time only the last two of a run may miss it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct TimeSeries {
    /// Length of a window, in nanoseconds.
    pub window_ns: f64,
    /// The replication, from 0.
    pub replication: Vec<u64>,
    /// When the window begins, in nanoseconds since the start of the run.
    pub start_ns: Vec<f64>,
    /// Packets that arrived in the window.
    pub arrivals: Vec<u64>,
    /// Those of them that were dropped, as their queue was full.
    pub drops: Vec<u64>,
    /// Packets that were finished in it.
    pub finished: Vec<u64>,
    /// Mean delay of the packets that were finished in it, in nanoseconds; `None` if none was.
    pub mean_delay_ns: Vec<Option<f64>>,
    /// The longest of these delays.
    pub max_delay_ns: Vec<Option<f64>>,
    /// Packets that had arrived and were not finished, averaged over the window's time.
    pub mean_present: Vec<f64>,
    /// Their number at its end.
    pub present: Vec<u64>,
    /// Mean fraction of the processors' time spent in service.
    pub utilisation: Vec<f64>,
}

impl TimeSeries {
    /// Appends the rows of `other`.
    pub(super) fn append(&mut self, other: Self) {
        self.window_ns = other.window_ns;
        self.replication.extend(other.replication);
        self.start_ns.extend(other.start_ns);
        self.arrivals.extend(other.arrivals);
        self.drops.extend(other.drops);
        self.finished.extend(other.finished);
        self.mean_delay_ns.extend(other.mean_delay_ns);
        self.max_delay_ns.extend(other.max_delay_ns);
        self.mean_present.extend(other.mean_present);
        self.present.extend(other.present);
        self.utilisation.extend(other.utilisation);
    }

    /// The columns of a table.
    #[must_use]
    pub fn columns(&self) -> Vec<Column> {
        let floats =
            |name: &str, unit: &str, of: &[f64]| Column::floats(name, unit, of.iter().copied().map(Some));
        let counts = |name: &str, of: &[u64]| {
            Column::integers(name, of.iter().map(|&count| i64::try_from(count).ok()))
        };
        vec![
            counts("replication", &self.replication),
            floats("window_start", "ns", &self.start_ns),
            counts("arrivals", &self.arrivals),
            counts("drops", &self.drops),
            counts("finished", &self.finished),
            Column::floats("mean_delay", "ns", self.mean_delay_ns.iter().copied()),
            Column::floats("max_delay", "ns", self.max_delay_ns.iter().copied()),
            floats("mean_present", "packets", &self.mean_present),
            counts("present_at_end", &self.present),
            floats("utilisation", "", &self.utilisation),
        ]
    }
}

/// Collects the windows of one run.
pub(super) struct Windows {
    window: f64,
    processors: f64,
    /// The windows begun so far; the last one is not over.
    windows: Vec<Window>,
    present: u64,
    /// Until when packets present are counted.
    now: f64,
}

#[derive(Clone, Copy, Default)]
struct Window {
    arrivals: u64,
    drops: u64,
    finished: u64,
    delays: f64,
    longest: f64,
    /// Packets present, summed over time.
    area: f64,
    present: u64,
    busy: f64,
}

impl Windows {
    pub(super) fn new(window: Nanos, processors: u32) -> Self {
        let windows = vec![Window::default()];
        Self { window: window.0, processors: f64::from(processors), windows, present: 0, now: 0.0 }
    }

    /// Lets time pass until `to`, and returns the window of that time.
    fn pass(&mut self, to: Nanos) -> &mut Window {
        loop {
            let last = self.windows.len() - 1;
            let end = (last + 1) as f64 * self.window;
            let window = &mut self.windows[last];
            window.area += self.present as f64 * (to.0.min(end) - self.now);
            window.present = self.present;
            self.now = to.0.min(end);
            // The bound keeps a window that is far too short from filling the memory; its size is refused before.
            if to.0 < end || self.windows.len() as u64 > 2 * MAX_WINDOWS {
                return &mut self.windows[last];
            }
            self.windows.push(Window::default());
        }
    }

    pub(super) fn arrives(&mut self, packet: &Packet) {
        self.pass(packet.arrived).arrivals += 1;
        self.present += 1;
    }

    pub(super) fn drops(&mut self, packet: &Packet) {
        self.pass(packet.arrived).drops += 1;
        self.present -= 1;
    }

    pub(super) fn finishes(&mut self, finished: &Finished) {
        let delay = finished.delay().0;
        let window = self.pass(finished.ended);
        window.finished += 1;
        window.delays += delay;
        window.longest = window.longest.max(delay);
        self.present -= 1;
        let (mut from, end) = (finished.started.0, finished.ended.0);
        let mut index = (from / self.window) as usize;
        while from < end && index < self.windows.len() {
            let until = end.min((index + 1) as f64 * self.window);
            self.windows[index].busy += until - from;
            (from, index) = (until, index + 1);
        }
    }

    /// The complete windows, as those of this `replication`.
    pub(super) fn series(&self, replication: u64) -> TimeSeries {
        let complete = &self.windows[..self.windows.len() - 1];
        let all = || complete.iter();
        TimeSeries {
            window_ns: self.window,
            replication: vec![replication; complete.len()],
            start_ns: (0..complete.len()).map(|index| index as f64 * self.window).collect(),
            arrivals: all().map(|window| window.arrivals).collect(),
            drops: all().map(|window| window.drops).collect(),
            finished: all().map(|window| window.finished).collect(),
            mean_delay_ns: all()
                .map(|window| (window.finished > 0).then(|| window.delays / window.finished as f64))
                .collect(),
            max_delay_ns: all().map(|window| (window.finished > 0).then_some(window.longest)).collect(),
            mean_present: all().map(|window| window.area / self.window).collect(),
            present: all().map(|window| window.present).collect(),
            utilisation: all().map(|window| window.busy / (self.window * self.processors)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_costs::Situation;
    use warmcore_units::{CpuId, StreamId};

    fn packet(at: f64) -> Packet {
        Packet::new(Nanos(at), StreamId(0))
    }

    fn finished(arrived: f64, started: f64, ended: f64) -> Finished {
        let (started, ended) = (Nanos(started), Nanos(ended));
        Finished { packet: packet(arrived), cpu: CpuId(0), situation: Situation::default(), started, ended }
    }

    /// A packet from 5 to 25 in service from 8 on; one from 12 to 41, in service from 25 on; and one
    /// that is dropped at 12.
    #[test]
    fn times_across_windows_are_divided_among_them() {
        let mut windows = Windows::new(Nanos(10.0), 2);
        windows.arrives(&packet(5.0));
        windows.arrives(&packet(12.0));
        windows.arrives(&packet(12.0));
        windows.drops(&packet(12.0));
        windows.finishes(&finished(5.0, 8.0, 25.0));
        windows.finishes(&finished(12.0, 25.0, 41.0));
        let series = windows.series(3);
        assert_eq!(series.replication, [3; 4]);
        assert_eq!(series.arrivals, [1, 2, 0, 0]);
        assert_eq!(series.drops, [0, 1, 0, 0]);
        assert_eq!(series.finished, [0, 0, 1, 0]);
        assert_eq!(series.present, [1, 2, 1, 1]);
        assert_eq!(series.mean_delay_ns, [None, None, Some(20.0), None]);
        assert_eq!(series.mean_present, [0.5, 1.8, 1.5, 1.0]);
        assert_eq!(series.utilisation, [0.1, 0.5, 0.5, 0.5]);
    }
}
