//! The costs of the kernel's receive path, as an engineer reads them.

use super::{counted, estimate, sentence, shown, table};
use warmcore_costs::ServerCosts;
use warmcore_costs::profile::Measured;
use warmcore_costs::server::{AloneTimes, Waiting};
use warmcore_costs::socket::{Delivery, LastUsed, Network, SocketPath, SocketProfile, SoftirqCpu};
use warmcore_study::server::present::advised::handler;
use warmcore_units::{Bytes, Nanos, Transport};

/// What leads, the table, and what else was measured.
pub(crate) fn profile(profile: &SocketProfile) -> String {
    let mut text = match profile.path {
        SocketPath::UdpSocket => format!("{}\n\n{}\n", lead(profile), parts(profile)),
        SocketPath::TcpSocket => String::new(),
    };
    for line in others(profile) {
        text += &format!("{line}\n");
    }
    if text.contains('†') {
        text += "† wider than the target when the time budget ended\n";
    }
    if profile.network == Network::Loopback {
        text += "Measured over loopback, without namespaces of our own; the profile's notes say why.\n";
    }
    text
}

/// The answer in sentences.
fn lead(profile: &SocketProfile) -> String {
    let at = |softirq, x| profile.datagram(softirq, Delivery::InCall, LastUsed::Here, x);
    let mut said = Vec::new();
    if let Some(hot) = at(SoftirqCpu::Reader, Nanos::ZERO) {
        let softirq = hot.softirq.as_ref().map(|time| format!("{} of softirq and ", time.estimate()));
        let softirq = softirq.unwrap_or_default();
        said.push(format!("a datagram costs {softirq}{} of its reader", hot.receive.estimate()));
    }
    if let Some(more) = profile.reader_elsewhere() {
        said.push(format!("a reader on another core than the softirq pays {} more", estimate(&more)));
    }
    if let Some(wake_up) = profile.wake_up() {
        said.push(format!(
            "one that sleeps has it {} later, and costs {} more itself and {} more at the sender",
            estimate(&wake_up.delay),
            estimate(&wake_up.reader_cpu),
            estimate(&wake_up.sender_cpu)
        ));
    }
    let longest = profile.datagrams.iter().map(|row| row.x).max_by(Nanos::total_cmp);
    if let Some((x, row)) =
        longest.filter(|x| *x > Nanos::ZERO).and_then(|x| Some((x, at(SoftirqCpu::Reader, x)?)))
    {
        let softirq = row.softirq.as_ref().map(|time| format!("the softirq takes {} and ", time.estimate()));
        let softirq = softirq.unwrap_or_default();
        said.push(format!("after {x} of other work {softirq}the reader {}", row.receive.estimate()));
    }
    said.iter().map(|said| sentence(said)).collect::<Vec<_>>().join(" ")
}

/// Every situation and its parts.
fn parts(profile: &SocketProfile) -> String {
    let header = ["Softirq on", "Started by", "Socket last used", "Other work", "Send", "Softirq", "Receive"];
    let mut table = table(header);
    let optional = |time: &Option<Measured>| time.as_ref().map_or_else(|| "–".to_owned(), shown);
    for row in &profile.datagrams {
        table.add_row([
            row.softirq_cpu.to_string(),
            row.delivery.to_string(),
            row.socket.to_string(),
            work(row.x),
            row.send.as_ref().map_or_else(|| shown(&row.call), shown),
            optional(&row.softirq),
            shown(&row.receive),
        ]);
    }
    table.to_string()
}

fn work(x: Nanos) -> String {
    if x == Nanos::ZERO { "none".to_owned() } else { x.to_string() }
}

/// The rest, a line each.
fn others(profile: &SocketProfile) -> Vec<String> {
    let mut lines = Vec::new();
    let listed = |parts: Vec<String>| parts.join(", ");
    if !profile.batches.is_empty() {
        let each = profile.batches.iter().map(|batch| {
            format!("{} with {} a call", shown(&batch.each), counted(batch.datagrams, "datagram"))
        });
        lines.push(format!("Received in batches, each datagram takes {}.", listed(each.collect())));
    }
    if let Some(time) = &profile.empty_poll {
        lines.push(format!("A look for datagrams that finds none takes {}.", shown(time)));
    }
    if let Some(asleep) = &profile.asleep {
        lines.push(format!(
            "A reader that sleeps has a datagram {} after its sender began to send it, and uses {} of processor time; the sender's call takes {}.",
            shown(&asleep.arrival),
            shown(&asleep.reader_cpu),
            shown(&asleep.call)
        ));
    }
    if !profile.replies.is_empty() {
        let each = profile.replies.iter().map(|reply| {
            let after = if reply.x == Nanos::ZERO {
                String::new()
            } else {
                format!(" after {} of other work", reply.x)
            };
            format!("{}{after}", shown(&reply.send))
        });
        lines.push(format!("A reply takes {} until it has left the test network.", listed(each.collect())));
    }
    if let Some(first) = profile.handlers.first() {
        let each = profile.handlers.iter().map(|handler| {
            let time = shown(&handler.time);
            match (handler.state, handler.x) {
                (LastUsed::Here, Nanos::ZERO) => format!("{time} if it was last used here"),
                (LastUsed::Here, x) => format!("{time} after {x} of other work"),
                (LastUsed::Elsewhere, _) => format!("{time} if on another core"),
            }
        });
        let bytes = Bytes(first.state_bytes as u64);
        lines.push(format!(
            "A handler that uses {bytes} of its flow's state takes {}.",
            listed(each.collect())
        ));
    }
    lines.extend(profile.servers.iter().filter_map(server));
    lines
}

/// What a request costs a server, alone and in bursts.
fn server(costs: &ServerCosts) -> Option<String> {
    let rows = |softirq| costs.alone(Waiting::Own, softirq, LastUsed::Here, LastUsed::Here);
    let said = |row: &AloneTimes| {
        let cpu = [&row.call, &row.worker_cpu].map(shown);
        format!("{} of its worker and {} of the call that sends it", cpu[1], cpu[0])
    };
    let (first, last) = (rows(SoftirqCpu::Reader).next()?, rows(SoftirqCpu::Reader).last()?);
    let mut text = format!(
        "A request to a server{} ({}) costs {} after {} of nothing to do, and {} after {}",
        if costs.transport == Transport::Tcp { " on TCP connections" } else { "" },
        handler(costs.state_bytes, costs.library.as_ref()),
        said(first),
        first.idle,
        said(last),
        last.idle
    );
    if let Some(elsewhere) = rows(SoftirqCpu::OtherCore).next() {
        text += &format!("; on another core than its softirq {}", said(elsewhere));
    }
    Some(text + ".")
}
