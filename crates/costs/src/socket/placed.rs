//! What a datagram takes where its softirq runs on its reader's processor, and what is added where it runs on another one.
//!
//! A reader that is awake was measured after other work of several lengths, and one that sleeps after several times in
//! which nothing ran. Two places are compared after the same length only: between rows times are interpolated, and beyond
//! the lengths that both places have rows for, both are held at the nearest of these. Of the packets of a reader that is
//! busy for a part of its time, so many find it awake (arrivals see time averages: Wolff 1982).

use super::{DatagramTimes, Delivery, LastUsed, SocketProfile, SoftirqCpu};
use crate::profile::Measured;
use crate::server::{AloneTimes, ServerCosts, Waiting};
use core::fmt;
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
    /// With the softirq on the reader's processor: softirq and receive, of a reader that is awake. Of one that sleeps only
    /// differences between places are known: in the cheapest place it counts like one that is awake here.
    pub here: DatagramCpu,
    /// What is added where the softirq runs on another core of the same node; below zero where that takes less.
    pub elsewhere: DatagramCpu,
    /// What is added where it runs on another hardware thread of the reader's core; `None` if it was not measured.
    pub sibling: Option<DatagramCpu>,
    /// What handing it to another core's softirq takes, on both cores together; `None` if it was not measured.
    pub handing_over: Option<Estimate<Nanos>>,
    /// After which idle time readers that sleep are compared; `None` if the profile holds none: then all count as awake.
    pub asleep_after: Option<Nanos>,
}

/// Why the places of a softirq cannot be compared.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum PlacedError {
    /// No datagram was measured with the softirq on another core, or none after the same work as on the reader's cpu.
    #[error("holds no datagrams with the softirq on another core than their reader's")]
    NoOtherCore,
    /// Readers that sleep were not measured after the same idle time in both places.
    #[error(
        "holds readers that sleep after {here} with the softirq on their cpu, and after {there} with it on another core: no \
         time in common, so what they save is not known; calibrate again"
    )]
    SleepersApart {
        /// The idle times with the softirq on the reader's processor.
        here: IdleRange,
        /// The same with the softirq on another core.
        there: IdleRange,
    },
}

/// From which to which idle time there are rows; `None` if there is none.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct IdleRange(pub Option<[Nanos; 2]>);

impl fmt::Display for IdleRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("no idle time at all (rows missing)"),
            Some([first, last]) if first == last => write!(f, "{first}"),
            Some([first, last]) => write!(f, "{first} to {last}"),
        }
    }
}

/// Times by what ran, or for how long nothing did, before.
type Rows = Vec<(Nanos, Measured)>;

/// A reader that sleeps, with the softirq here and in another place.
struct Sleepers {
    /// After which idle time.
    idle: Nanos,
    /// The call of who wakes it, and all that it does.
    times: [DatagramCpu; 2],
}

impl SocketProfile {
    /// What a datagram takes whose reader is in such a `state`. A profile without servers knows no reader that sleeps: then
    /// all count as awake.
    ///
    /// # Errors
    /// If the reader's processor and another core were not measured after the same work, or the same idle time.
    pub fn placed(&self, state: ReaderState) -> Result<PlacedTimes, PlacedError> {
        let ReaderState { work, asleep, .. } = state;
        let awake = self.awake(SoftirqCpu::OtherCore, work).ok_or(PlacedError::NoOtherCore)?;
        let sleepers = match self.sleepers(SoftirqCpu::OtherCore, state.idle) {
            Err(_) if asleep == 0.0 => None,
            sleepers => sleepers?,
        };
        let sibling = || {
            let awake = added(self.awake(SoftirqCpu::Sibling, work)?);
            if asleep == 0.0 || sleepers.is_none() {
                return Some(awake);
            }
            let sleepers = self.sleepers(SoftirqCpu::Sibling, state.idle).ok().flatten()?;
            Some(awake.mixed(&added(sleepers.times), asleep))
        };
        let [here, _] = awake;
        let (here, elsewhere) = match &sleepers {
            Some(sleepers) => {
                let more = added(sleepers.times);
                (here.raised(&more, asleep), added(awake).mixed(&more, asleep))
            }
            None => (here, added(awake)),
        };
        Ok(PlacedTimes {
            here,
            elsewhere,
            sibling: sibling(),
            handing_over: self.handing_over(work),
            asleep_after: sleepers.map(|sleepers| sleepers.idle),
        })
    }

    /// Softirq and receive of a reader that is awake, with the softirq here and `there`.
    fn awake(&self, there: SoftirqCpu, work: Nanos) -> Option<[DatagramCpu; 2]> {
        let part = |of: fn(&DatagramTimes) -> Option<Measured>| {
            let places = [SoftirqCpu::Reader, there];
            at_same(places.map(|cpu| self.times(cpu, Delivery::InCall, of)), work).map(|(_, times)| times)
        };
        // Where halves of calls are missing in one place, whole calls are compared: what is sent takes the same in both.
        let [softirq_here, softirq_there] = part(|row| row.softirq).or_else(|| part(|row| Some(row.call)))?;
        let [receive_here, receive_there] = part(|row| Some(row.receive))?;
        Some([
            DatagramCpu { softirq: softirq_here, reader: receive_here },
            DatagramCpu { softirq: softirq_there, reader: receive_there },
        ])
    }

    /// A reader that sleeps, with the softirq here and `there`, of the smallest handler; `None` without servers.
    fn sleepers(&self, there: SoftirqCpu, idle: Nanos) -> Result<Option<Sleepers>, PlacedError> {
        let costs = self.servers.iter().filter(|costs| costs.library.is_none());
        let Some(costs) = costs.min_by_key(|costs| costs.state_bytes) else { return Ok(None) };
        let places = [SoftirqCpu::Reader, there];
        let part = |of: fn(&AloneTimes) -> Measured| at_same(places.map(|cpu| slept(costs, cpu, of)), idle);
        let Some(((idle, [wakes_here, wakes_there]), (_, [reads_here, reads_there]))) =
            part(|row| row.call).zip(part(|row| row.worker_cpu))
        else {
            let [here, there] = places.map(|cpu| IdleRange(range(&slept(costs, cpu, |row| row.call))));
            return Err(PlacedError::SleepersApart { here, there });
        };
        let here = DatagramCpu { softirq: wakes_here, reader: reads_here };
        let there = DatagramCpu { softirq: wakes_there, reader: reads_there };
        Ok(Some(Sleepers { idle, times: [here, there] }))
    }

    /// What a datagram takes more, up to the socket's queue, that interrupts another core than its sender's.
    fn handing_over(&self, work: Nanos) -> Option<Estimate<Nanos>> {
        let rows = |delivery, of: fn(&DatagramTimes) -> Option<Measured>| {
            self.times(SoftirqCpu::Reader, delivery, of)
        };
        let series = [
            rows(Delivery::Interrupt, |row| Some(row.call)),
            rows(Delivery::Interrupt, |row| row.softirq),
            rows(Delivery::InCall, |row| Some(row.call)),
        ];
        let (_, [call, softirq, in_call]) = at_same(series, work)?;
        let half = call.half().hypot(softirq.half()).hypot(in_call.half());
        Some(Estimate::new(call.mean + softirq.mean - in_call.mean, Nanos(half)))
    }

    /// A part of a datagram's times, by what ran before.
    fn times(&self, cpu: SoftirqCpu, delivery: Delivery, of: fn(&DatagramTimes) -> Option<Measured>) -> Rows {
        let rows = self.datagrams.iter();
        let rows =
            rows.filter(|row| (row.softirq_cpu, row.delivery, row.socket) == (cpu, delivery, LastUsed::Here));
        rows.filter_map(|row| Some((row.x, of(row)?))).collect()
    }
}

/// A part of the times of readers that slept on a socket of their own, by for how long.
fn slept(costs: &ServerCosts, cpu: SoftirqCpu, of: fn(&AloneTimes) -> Measured) -> Rows {
    let rows = costs.alone(Waiting::Own, cpu, LastUsed::Here, LastUsed::Here);
    rows.map(|row| (row.idle, of(row))).collect()
}

impl DatagramCpu {
    /// This, with a `part` of `other` in its place. Errors are independent.
    fn mixed(&self, other: &Self, part: f64) -> Self {
        self.with(other, |one, other| {
            let half = (one.half() * (1.0 - part)).hypot(other.half() * part);
            Estimate::new(one.mean * (1.0 - part) + other.mean * part, Nanos(half))
        })
    }

    /// This, of which a `part` is so much dearer that no less is left where what is `added` elsewhere is below zero.
    fn raised(&self, added: &Self, part: f64) -> Self {
        self.with(added, |one, added| match added.mean < Nanos::ZERO {
            true => Estimate::new(one.mean - added.mean * part, Nanos(one.half().hypot(added.half() * part))),
            false => one,
        })
    }

    fn with(&self, other: &Self, of: impl Fn(Estimate<Nanos>, Estimate<Nanos>) -> Estimate<Nanos>) -> Self {
        Self { softirq: of(self.softirq, other.softirq), reader: of(self.reader, other.reader) }
    }
}

/// What the second place takes more than the first.
fn added([here, there]: [DatagramCpu; 2]) -> DatagramCpu {
    here.with(&there, |here, there| {
        Estimate::new(there.mean - here.mean, Nanos(there.half().hypot(here.half())))
    })
}

/// From which to which `x` there are rows.
fn range(rows: &Rows) -> Option<[Nanos; 2]> {
    let x = || rows.iter().map(|row| row.0.0);
    Some([x().reduce(f64::min)?, x().reduce(f64::max)?].map(Nanos))
}

/// Each of the series at the same `x`: the one that is nearest of those which all of them have rows for, and which that is.
/// `None` if there is no such.
fn at_same<const N: usize>(series: [Rows; N], x: Nanos) -> Option<(Nanos, [Estimate<Nanos>; N])> {
    let (mut first, mut last) = (0.0_f64, f64::INFINITY);
    for rows in &series {
        let [of_first, of_last] = range(rows)?;
        (first, last) = (first.max(of_first.0), last.min(of_last.0));
    }
    let x = (first <= last).then(|| Nanos(x.0.clamp(first, last)))?;
    Some((x, series.map(|rows| interpolated(rows, x))))
}

/// The time at `x`, on lines between the rows, which are times by ascending `x`, some before it and some after.
fn interpolated(mut rows: Rows, x: Nanos) -> Estimate<Nanos> {
    rows.sort_by(|one, other| one.0.0.total_cmp(&other.0.0));
    let known = |time: &Measured| Estimate::new(time.mean, Nanos(time.estimate().half()));
    let next = rows.partition_point(|row| row.0 <= x);
    let before = &rows[next.saturating_sub(1)];
    let Some(after) = rows.get(next).filter(|after| after.0 > before.0) else { return known(&before.1) };
    let part = (x - before.0) / (after.0 - before.0);
    let (one, other) = (known(&before.1), known(&after.1));
    let between = |one: f64, other: f64| Nanos(one + (other - one) * part);
    Estimate::new(between(one.mean.0, other.mean.0), between(one.half(), other.half()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(mean: f64, half: f64) -> Measured {
        Measured { half_width: Some(Nanos(half)), ..Measured::published(Nanos(mean)) }
    }

    fn rows(rows: &[[f64; 3]]) -> Rows {
        rows.iter().map(|&[x, mean, half]| (Nanos(x), time(mean, half))).collect()
    }

    #[test]
    fn times_lie_on_lines_between_rows() {
        let times = || rows(&[[1_000.0, 300.0, 30.0], [0.0, 100.0, 10.0]]);
        let at = |x| at_same([times()], Nanos(x)).map(|(_, [time])| time);
        assert_eq!(at(0.0), Some(Estimate::new(Nanos(100.0), Nanos(10.0))));
        assert_eq!(at(250.0), Some(Estimate::new(Nanos(150.0), Nanos(15.0))));
        assert_eq!(at(5_000.0), Some(Estimate::new(Nanos(300.0), Nanos(30.0))), "held at the last row");
        assert_eq!(at_same([Rows::new()], Nanos::ZERO), None);
    }

    /// Here rows begin at 100 and elsewhere at 300, where the line here is at 200 ± 20.
    #[test]
    fn two_places_are_compared_at_the_same_time_only() {
        let here = || rows(&[[100.0, 100.0, 10.0], [500.0, 300.0, 30.0]]);
        let there = || rows(&[[300.0, 1_000.0, 50.0], [900.0, 4_000.0, 50.0]]);
        let at = |x| at_same([here(), there()], Nanos(x)).unwrap();
        let expected = [Estimate::new(Nanos(200.0), Nanos(20.0)), Estimate::new(Nanos(1_000.0), Nanos(50.0))];
        assert_eq!(at(120.0), (Nanos(300.0), expected), "both at the first time in common");
        let expected = [Estimate::new(Nanos(300.0), Nanos(30.0)), Estimate::new(Nanos(2_000.0), Nanos(50.0))];
        assert_eq!(at(9_000.0), (Nanos(500.0), expected), "both at the last");
        let late = rows(&[[600.0, 1_000.0, 50.0], [900.0, 4_000.0, 50.0]]);
        assert_eq!(at_same([here(), late], Nanos(550.0)), None, "no time in common");
    }
}
