//! What requests cost a server program, as an engineer reads it.

use super::{estimate, shown, table};
use warmcore_costs::ProgramProfile;
use warmcore_costs::profile::Measured;
use warmcore_costs::program::ProgramTimes;
use warmcore_costs::socket::{Network, SoftirqCpu};
use warmcore_units::{Estimate, Nanos};

/// What leads, the table, and the notes.
pub(crate) fn profile(profile: &ProgramProfile) -> String {
    let mut text = format!("{}\n\n{}\n", lead(profile), rows(profile));
    if text.contains('†') {
        text += "† wider than the target when the time budget ended\n";
    }
    if profile.times.iter().any(|times| times.lost > LOST) {
        text +=
            "Where many requests were lost, figures are those of the others: they may be the quick ones.\n";
    }
    text += "Delay: from the beginning of the sender's call until the reply is back. Call: the sender's, with the softirq in it. \
             Program: its processor time for a request. Intervals are those of this measurement; where a machine drifts, one of \
             another hour may differ by more.\n";
    for note in &profile.provenance.notes {
        text += &format!("Note: {note}.\n");
    }
    if profile.network == Network::Loopback {
        text += "Measured over loopback, without a network of our own.\n";
    }
    text
}

/// A larger share of lost requests is worth a warning.
const LOST: f64 = 0.05;

/// The answer in three sentences: what a request costs warm and cold, and what the processor of its packets changes.
fn lead(profile: &ProgramProfile) -> String {
    let ProgramProfile { program, requests, .. } = profile;
    let own = || profile.with(SoftirqCpu::Reader).filter(|times| times.lost <= LOST);
    let (Some(first), Some(last)) = (own().next(), own().next_back()) else {
        return format!("`{program}`, asked {requests}, lost too many requests for an answer.");
    };
    let mut text = format!(
        "`{program}`, asked {requests}: a request takes {} of its processor time if {} have passed since the last, and {} after {}.",
        first.program_cpu.estimate(),
        first.idle,
        last.program_cpu.estimate(),
        last.idle
    );
    for place in [SoftirqCpu::Sibling, SoftirqCpu::OtherCore, SoftirqCpu::OtherNode] {
        let other = profile.with(place).rfind(|times| times.lost <= LOST);
        if let Some(other) = other {
            text += &format!(
                " Processing its packets on {place} costs {}, the sender's call included.",
                more(last, other)
            );
        }
    }
    text
}

/// Program and call together.
fn both(times: &ProgramTimes) -> Estimate<Nanos> {
    let half = |time: &Measured| time.half_width.map_or(0.0, |half| half.0);
    let [program, call] = [&times.program_cpu, &times.call];
    let half = half(program).hypot(half(call));
    Estimate::new(program.mean + call.mean, Nanos(half))
}

/// What `other` takes more or less than `own`, or that they cannot be told apart; both after the longest pause.
fn more(own: &ProgramTimes, other: &ProgramTimes) -> String {
    let pause = own.idle;
    let [own, other] = [both(own), both(other)];
    let difference = other.mean - own.mean;
    let half = own.half().hypot(other.half());
    if difference.0.abs() <= half {
        return format!("the same after {pause}, within ± {}", Nanos(half));
    }
    let size = Estimate::new(Nanos(difference.0.abs()), Nanos(half));
    let word = if difference.0 > 0.0 { "more" } else { "less" };
    format!("{} {word} processor time for a request after {pause}", estimate(&size))
}

fn rows(profile: &ProgramProfile) -> String {
    let mut table = table([
        "Packets processed on",
        "Since the last reply",
        "Mean delay",
        "Median",
        "Call",
        "Program",
        "Lost",
    ]);
    for row in &profile.times {
        table.add_row([
            match row.softirq_cpu {
                SoftirqCpu::Reader => "its own processor".to_owned(),
                other => other.to_string(),
            },
            row.idle.to_string(),
            shown(&row.delay),
            shown(&row.median),
            shown(&row.call),
            shown(&row.program_cpu),
            format!("{:.1}%", row.lost * 100.0),
        ]);
    }
    table.to_string()
}
