//! What requests cost a server program, as an engineer reads it.

use super::{estimate, shown, table};
use warmcore_costs::ProgramProfile;
use warmcore_costs::profile::Measured;
use warmcore_costs::program::ProgramTimes;
use warmcore_costs::socket::{Network, SoftirqCpu};
use warmcore_units::Estimate;

/// What leads, the table, and the notes.
pub(crate) fn profile(profile: &ProgramProfile) -> String {
    let mut text = format!("{}\n\n{}\n", lead(profile), rows(profile));
    if text.contains('†') {
        text += "† wider than the target when the time budget ended\n";
    }
    text += "Delay: from when a request was due until its reply was back. Call: the sender's, with the softirq in it. Program: \
             its processor time for a request.\n";
    for note in profile.provenance.notes.iter().skip(1) {
        text += &format!("Note: {note}.\n");
    }
    if profile.network == Network::Loopback {
        text += "Measured over loopback, without a network of our own.\n";
    }
    text
}

/// The answer in two sentences: what rest costs, and what the processor of the packets costs.
fn lead(profile: &ProgramProfile) -> String {
    let ProgramProfile { program, requests, .. } = profile;
    let here = |times: &mut dyn DoubleEndedIterator<Item = &ProgramTimes>| times.next().copied();
    let Some(first) = here(&mut profile.with(SoftirqCpu::Reader)) else {
        return format!("`{program}`: {requests}; not enough requests were answered on its own processor.");
    };
    let last = profile.with(SoftirqCpu::Reader).next_back().copied().unwrap_or(first);
    let mut text = format!(
        "`{program}`, asked {requests}: a request takes {} of its processor time after {} of nothing to do, and {} after {}.",
        first.program_cpu.estimate(),
        first.idle,
        last.program_cpu.estimate(),
        last.idle
    );
    let compared: Vec<String> = [SoftirqCpu::Sibling, SoftirqCpu::OtherCore, SoftirqCpu::OtherNode]
        .into_iter()
        .filter_map(|place| Some((place, here(&mut profile.with(place))?)))
        .map(|(place, other)| format!("{} if they are processed on {place}", more(&first, &other)))
        .collect();
    if !compared.is_empty() {
        text += &format!(
            " With packets processed on its own processor, the first takes {} of program and call together; {}.",
            estimate(&both(&first)),
            compared.join(", ")
        );
    }
    text
}

/// Program and call together.
fn both(times: &ProgramTimes) -> Estimate<warmcore_units::Nanos> {
    let half = |time: &Measured| time.half_width.map_or(0.0, |half| half.0);
    let [program, call] = [&times.program_cpu, &times.call];
    let half = half(program).hypot(half(call));
    Estimate::new(program.mean + call.mean, warmcore_units::Nanos(half))
}

/// What `other` takes more or less than `first`, or that they cannot be told apart.
fn more(first: &ProgramTimes, other: &ProgramTimes) -> String {
    let [first, other] = [both(first), both(other)];
    let difference = other.mean - first.mean;
    let half = first.half().hypot(other.half());
    if difference.0.abs() <= half {
        return format!("no difference beyond ± {} is seen", warmcore_units::Nanos(half));
    }
    let size = Estimate::new(warmcore_units::Nanos(difference.0.abs()), warmcore_units::Nanos(half));
    format!("{} {}", estimate(&size), if difference.0 > 0.0 { "more" } else { "less" })
}

fn rows(profile: &ProgramProfile) -> String {
    let mut table = table(["Packets processed on", "Nothing to do for", "Delay", "Call", "Program", "Lost"]);
    for row in &profile.times {
        table.add_row([
            match row.softirq_cpu {
                SoftirqCpu::Reader => "its own processor".to_owned(),
                other => other.to_string(),
            },
            row.idle.to_string(),
            shown(&row.delay),
            shown(&row.call),
            shown(&row.program_cpu),
            format!("{:.1}%", row.lost * 100.0),
        ]);
    }
    table.to_string()
}
