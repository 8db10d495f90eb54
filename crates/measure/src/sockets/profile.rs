//! The document of a calibration's values.

use crate::sockets::experiment::{BATCHES, Part, Probe, STATE_BYTES, Situation, SocketExperiment};
use crate::sockets::rounds::SocketRounds;
use crate::sockets::{SocketContext, SocketPlan};
use chrono::Utc;
use warmcore_costs::Measured;
use warmcore_costs::profile::{Kind, Provenance};
use warmcore_costs::socket::{
    AsleepTimes, BatchTime, DatagramTimes, HandlerTime, ReplyTimes, SocketPath, SocketProfile,
};
use warmcore_topology::Machine;
use warmcore_units::{Nanos, Transport};

/// The document; `None` if no situation of datagrams was measured.
pub(crate) fn profile(
    machine: &Machine,
    context: &SocketContext<'_>,
    plan: &SocketPlan,
    rounds: &SocketRounds<'_>,
    notes: Vec<String>,
) -> Option<SocketProfile> {
    let turns: Vec<(Situation, Probe)> = rounds.experiments().filter_map(as_turns).collect();
    let with = |wanted: Probe| turns.iter().filter(move |(_, probe)| *probe == wanted).map(|(at, _)| *at);
    let datagrams: Vec<DatagramTimes> = with(Probe::Calls).filter_map(|at| datagram(rounds, at)).collect();
    let replies = with(Probe::Answer).filter_map(|at| reply(rounds, at)).collect();
    let handlers = with(Probe::Handler).filter_map(|at| handler(rounds, at)).collect();
    let batch = |datagrams| {
        let each = rounds.value(SocketExperiment::Batch(datagrams), Part::Receive)?;
        Some(BatchTime { datagrams, each })
    };
    let asleep = |part| rounds.value(SocketExperiment::Asleep, part);
    let asleep = asleep(Part::Call).zip(asleep(Part::Arrival)).zip(asleep(Part::ReaderCpu));
    let path = match plan.transport {
        Transport::Tcp => SocketPath::TcpSocket,
        Transport::Udp | Transport::Rpc => SocketPath::UdpSocket,
    };
    (!datagrams.is_empty() || path == SocketPath::TcpSocket).then(|| SocketProfile {
        schema: SocketProfile::SCHEMA,
        path,
        name: machine.name.clone(),
        provenance: Provenance {
            kind: Kind::Measured,
            source: concat!("warmcore ", env!("CARGO_PKG_VERSION")).to_owned(),
            date: Utc::now().format("%Y-%m-%d").to_string(),
            handover: rounds.proximity.reference.map(Nanos),
            handover_range: rounds.proximity.range(rounds.readings()).map(|ends| ends.map(Nanos)),
            interrupt: None,
            wake_up: None,
            runs: Some(rounds.tally().into()),
            packets: None,
            notes,
        },
        network: context.site.network(),
        payload_bytes: plan.payload_bytes,
        datagrams,
        replies,
        handlers,
        batches: BATCHES.into_iter().filter_map(batch).collect(),
        empty_poll: rounds.value(SocketExperiment::EmptyPoll, Part::Receive),
        asleep: asleep.map(|((call, arrival), reader_cpu)| AsleepTimes { call, arrival, reader_cpu }),
        servers: Vec::new(),
    })
}

const fn as_turns(experiment: SocketExperiment) -> Option<(Situation, Probe)> {
    match experiment {
        SocketExperiment::Turns(situation, probe) => Some((situation, probe)),
        _ => None,
    }
}

fn datagram(rounds: &SocketRounds<'_>, at: Situation) -> Option<DatagramTimes> {
    let value = |probe, part| rounds.value(SocketExperiment::Turns(at, probe), part);
    let interrupted = value(Probe::Calls, Part::Softirq);
    Some(DatagramTimes {
        softirq_cpu: at.softirq,
        delivery: at.delivery,
        socket: at.last_used,
        x: at.work(),
        call: value(Probe::Calls, Part::Call)?,
        send: value(Probe::Halves, Part::Send).filter(is_possible),
        softirq: interrupted.or_else(|| value(Probe::Halves, Part::Softirq)).filter(is_possible),
        receive: value(Probe::Calls, Part::Receive)?,
        whole: value(Probe::Whole, Part::Whole),
    })
}

/// Whether it can be a duration. A difference of readings of two clocks need not be one on a busy machine.
pub(crate) fn is_possible(time: &Measured) -> bool {
    time.mean > Nanos::ZERO
}

fn reply(rounds: &SocketRounds<'_>, at: Situation) -> Option<ReplyTimes> {
    let value = |part| rounds.value(SocketExperiment::Turns(at, Probe::Answer), part);
    let send = value(Part::Send).filter(is_possible)?;
    Some(ReplyTimes { x: at.work(), call: value(Part::Call)?, send })
}

fn handler(rounds: &SocketRounds<'_>, at: Situation) -> Option<HandlerTime> {
    let time = rounds.value(SocketExperiment::Turns(at, Probe::Handler), Part::Handler)?;
    Some(HandlerTime { state_bytes: STATE_BYTES, state: at.last_used, x: at.work(), time })
}
