//! What a datagram takes where its softirq runs on its reader's processor, and what is added where it runs on another core.
//!
//! A reader that is awake was measured after other work of several lengths, and one that sleeps after several times in
//! which nothing ran. Between two of these, times are interpolated; beyond the longest they stay as they are. Of the
//! packets of a reader that is busy for a part of its time, so many find it awake (arrivals see time averages: Wolff 1982).

use super::{Delivery, LastUsed, SocketProfile, SoftirqCpu};
use crate::profile::Measured;
use crate::server::Waiting;
use warmcore_units::{Estimate, Nanos};

/// What a datagram finds at its reader.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ReaderState {
    /// For how long other work runs between two datagrams, on the processors of the softirq and the reader.
    pub work: Nanos,
    /// The part of the datagrams that find the reader asleep, from 0 to 1.
    pub asleep: f64,
    /// For how long nothing ran before these.
    pub idle: Nanos,
}

/// Processor time of one datagram.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DatagramCpu {
    /// On the processor of the softirq.
    pub softirq: Estimate<Nanos>,
    /// On the reader's processor.
    pub reader: Estimate<Nanos>,
}

/// What a datagram takes, by the place of its softirq.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlacedTimes {
    /// With the softirq on the reader's processor: softirq and receive, of a reader that is awake.
    pub here: DatagramCpu,
    /// What is added where the softirq runs on another core of the same node; below zero where that takes less.
    pub elsewhere: DatagramCpu,
    /// What handing it to another core's softirq takes, on both cores together; `None` if it was not measured.
    pub handing_over: Option<Estimate<Nanos>>,
}

impl SocketProfile {
    /// What a datagram takes whose reader is in such a `state`; `None` if nothing was measured with the softirq on another
    /// core. A profile without servers knows no reader that sleeps: then all count as awake.
    #[must_use]
    pub fn placed(&self, state: ReaderState) -> Option<PlacedTimes> {
        let ReaderState { work, asleep, idle } = state;
        let [here, there] = self.awake(work)?;
        let awake = added(here, there);
        let elsewhere = match self.asleep(idle) {
            Some([here, there]) => awake.mixed(&added(here, there), asleep),
            None => awake,
        };
        let handing_over = self.handing_over(work);
        Some(PlacedTimes { here, elsewhere, handing_over })
    }

    /// Whether it has what a reader costs that sleeps, by the place of the softirq.
    #[must_use]
    pub fn knows_sleepers(&self) -> bool {
        self.asleep(Nanos::ZERO).is_some()
    }

    /// Softirq and receive of a reader that is awake, with the softirq here and on another core.
    fn awake(&self, work: Nanos) -> Option<[DatagramCpu; 2]> {
        // Where halves of calls are missing in one place, whole calls are compared: what is sent takes the same in both.
        let part = |cpu, of: fn(&super::DatagramTimes) -> Option<Measured>| {
            let rows = self.datagrams.iter().filter(move |row| {
                (row.softirq_cpu, row.delivery, row.socket) == (cpu, Delivery::InCall, LastUsed::Here)
            });
            interpolated(rows.filter_map(|row| Some((row.x, of(row)?))), work)
        };
        let places = [SoftirqCpu::Reader, SoftirqCpu::OtherCore];
        let [softirq_here, softirq_there] = places.map(|cpu| part(cpu, |row| row.softirq));
        let [call_here, call_there] = places.map(|cpu| part(cpu, |row| Some(row.call)));
        let (here, there) = softirq_here.zip(softirq_there).or_else(|| call_here.zip(call_there))?;
        let [receive_here, receive_there] = places.map(|cpu| part(cpu, |row| Some(row.receive)));
        Some([
            DatagramCpu { softirq: here, reader: receive_here? },
            DatagramCpu { softirq: there, reader: receive_there? },
        ])
    }

    /// The call of who wakes a reader, and all that the reader does, by the same places; of the smallest handler.
    fn asleep(&self, idle: Nanos) -> Option<[DatagramCpu; 2]> {
        let costs = self.servers.iter().filter(|costs| costs.library.is_none());
        let costs = costs.min_by_key(|costs| costs.state_bytes)?;
        let at = |cpu| {
            let rows = || costs.alone(Waiting::Own, cpu, LastUsed::Here, LastUsed::Here);
            Some(DatagramCpu {
                softirq: interpolated(rows().map(|row| (row.idle, row.call)), idle)?,
                reader: interpolated(rows().map(|row| (row.idle, row.worker_cpu)), idle)?,
            })
        };
        Some([at(SoftirqCpu::Reader)?, at(SoftirqCpu::OtherCore)?])
    }

    /// What a datagram takes more, up to the socket's queue, that interrupts another core than its sender's.
    fn handing_over(&self, work: Nanos) -> Option<Estimate<Nanos>> {
        let rows = |delivery| {
            self.datagrams.iter().filter(move |row| {
                (row.softirq_cpu, row.delivery, row.socket) == (SoftirqCpu::Reader, delivery, LastUsed::Here)
            })
        };
        let by_interrupt = || rows(Delivery::Interrupt);
        let call = interpolated(by_interrupt().map(|row| (row.x, row.call)), work)?;
        let softirq = interpolated(by_interrupt().filter_map(|row| Some((row.x, row.softirq?))), work)?;
        let in_call = interpolated(rows(Delivery::InCall).map(|row| (row.x, row.call)), work)?;
        let half = call.half().hypot(softirq.half()).hypot(in_call.half());
        Some(Estimate::new(call.mean + softirq.mean - in_call.mean, Nanos(half)))
    }
}

impl DatagramCpu {
    /// This, with a `part` of `other` in its place. Errors are independent.
    fn mixed(&self, other: &Self, part: f64) -> Self {
        let mix = |one: Estimate<Nanos>, other: Estimate<Nanos>| {
            let half = (one.half() * (1.0 - part)).hypot(other.half() * part);
            Estimate::new(one.mean * (1.0 - part) + other.mean * part, Nanos(half))
        };
        Self { softirq: mix(self.softirq, other.softirq), reader: mix(self.reader, other.reader) }
    }
}

fn added(here: DatagramCpu, there: DatagramCpu) -> DatagramCpu {
    let added = |there: Estimate<Nanos>, here: Estimate<Nanos>| {
        Estimate::new(there.mean - here.mean, Nanos(there.half().hypot(here.half())))
    };
    DatagramCpu { softirq: added(there.softirq, here.softirq), reader: added(there.reader, here.reader) }
}

/// The time at `x`, on lines between the rows, which are times by ascending `x`.
fn interpolated(rows: impl Iterator<Item = (Nanos, Measured)>, x: Nanos) -> Option<Estimate<Nanos>> {
    let mut rows: Vec<(Nanos, Measured)> = rows.collect();
    rows.sort_by(|one, other| one.0.0.total_cmp(&other.0.0));
    let known = |time: &Measured| Estimate::new(time.mean, Nanos(time.estimate().half()));
    let next = rows.partition_point(|row| row.0 <= x);
    let Some(before) = next.checked_sub(1).and_then(|at| rows.get(at)) else {
        return rows.first().map(|row| known(&row.1));
    };
    let Some(after) = rows.get(next) else { return Some(known(&before.1)) };
    let part = (x - before.0) / (after.0 - before.0);
    let (one, other) = (known(&before.1), known(&after.1));
    let between = |one: f64, other: f64| Nanos(one + (other - one) * part);
    Some(Estimate::new(between(one.mean.0, other.mean.0), between(one.half(), other.half())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(mean: f64, half: f64) -> Measured {
        Measured { half_width: Some(Nanos(half)), ..Measured::published(Nanos(mean)) }
    }

    #[test]
    fn times_lie_on_lines_between_rows_and_stay_beyond_them() {
        let rows = || [(Nanos(1_000.0), time(300.0, 30.0)), (Nanos::ZERO, time(100.0, 10.0))].into_iter();
        let at = |x| interpolated(rows(), Nanos(x)).unwrap();
        assert_eq!(at(0.0), Estimate::new(Nanos(100.0), Nanos(10.0)));
        assert_eq!(at(250.0), Estimate::new(Nanos(150.0), Nanos(15.0)));
        assert_eq!(at(5_000.0), Estimate::new(Nanos(300.0), Nanos(30.0)));
        assert_eq!(interpolated([].into_iter(), Nanos::ZERO), None);
    }
}
