//! Notes for readers of the document about how its values were measured, one sentence each.

use crate::calibrate::rounds::RunCounts;
use crate::sockets::experiment::{Part, Probe, Situation, SocketExperiment, WORK_US};
use crate::sockets::profile::is_possible;
use crate::sockets::rounds::SocketRounds;
use crate::sockets::{SocketContext, SocketPlan};
use warmcore_costs::Measured;
use warmcore_costs::socket::{Delivery, LastUsed, SoftirqCpu};
use warmcore_units::{Estimate, Nanos};

/// On which processors, and over what.
pub(crate) fn place(context: &SocketContext<'_>) -> Vec<String> {
    vec![processors(context), network(context)]
}

/// All notes, most interesting first. `unsteered` says why packets could not be steered, if they could not.
pub(crate) fn all(
    context: &SocketContext<'_>,
    plan: &SocketPlan,
    unsteered: Option<String>,
    rounds: &SocketRounds<'_>,
) -> Vec<String> {
    let mut notes = place(context);
    notes.extend(unsteered.map(|reason| {
        format!("packets could not be steered ({reason}), so no softirq by interrupt was measured")
    }));
    notes.push(clocks(context));
    notes.push(format!("other work between datagrams: {}", rounds.work_description()));
    notes.extend(sum_of_parts(rounds));
    notes.extend(faster_after_work(rounds));
    let values: Vec<Measured> = rounds.values().collect();
    let impossible = values.iter().filter(|value| !is_possible(value)).count();
    if impossible > 0 {
        notes.push(format!(
            "{impossible} halves of calls came out below 0, as the thread was interrupted between two clocks, and are left out: the machine was busy"
        ));
    }
    let missed = values.iter().filter(|value| value.missed_target).count();
    if missed > 0 {
        let (all, target) = (values.len(), 100.0 * plan.target);
        notes.push(format!(
            "{missed} of {all} values missed the target of a half-width of {target}% of the mean"
        ));
    }
    let RunCounts { runs, disturbed_runs, packets, packets_set_aside, vcpu_moved_runs } = rounds.tally();
    notes.push(format!(
        "{disturbed_runs} of {runs} runs were set aside because most of their packets were disturbed, and {packets_set_aside} times of {packets} packets because a measuring thread was preempted or took a page fault, the datagram was late, or an interrupt hit it (more than five times the run's median and more than 1 µs above it)"
    ));
    if vcpu_moved_runs > 0 {
        notes.push(format!(
            "{vcpu_moved_runs} of {runs} runs were set aside because the processors were not as far apart as in the others, as when a hypervisor moves virtual processors"
        ));
    }
    let relying = rounds.relying_on_disturbed();
    if relying > 0 {
        notes.push(format!(
            "{relying} values had too few undisturbed runs and use disturbed ones too: the machine was busy"
        ));
    }
    notes
}

fn processors(context: &SocketContext<'_>) -> String {
    let processors = context.processors;
    let reader = processors.reader;
    if processors.others.is_empty() {
        return format!(
            "measured on {reader} alone: with one usable core there is no softirq, reader or sender elsewhere, and no reader can be woken up by one"
        );
    }
    let others: Vec<String> = processors.others.iter().map(|(kind, cpu)| format!("{cpu} ({kind})")).collect();
    format!("readers on {reader}, softirqs there and on {}", others.join(", "))
}

fn network(context: &SocketContext<'_>) -> String {
    match &context.site.instead {
        None => "datagrams crossed a veth pair between two network namespaces, without offloads".to_owned(),
        Some(reason) => format!(
            "datagrams crossed the loopback interface of this machine, because no network of our own could be built: {reason}"
        ),
    }
}

fn clocks(context: &SocketContext<'_>) -> String {
    let timer = context.timer;
    format!(
        "calls were timed with the {}, whose overhead of {} was subtracted; the border between send and softirq in a call is the kernel's receive time, known to some 40 ns; the softirq by interrupt is the longest step of a thread that reads the counter meanwhile; the way to a sleeping reader was timed with the monotonic clock of the system",
        timer.source, timer.overhead
    )
}

/// A note if call and receive do not add up to what both took as one, within their half-widths.
fn sum_of_parts(rounds: &SocketRounds<'_>) -> Option<String> {
    let (softirq, delivery, last_used) = (SoftirqCpu::Reader, Delivery::InCall, LastUsed::Here);
    let hot = Situation { softirq, delivery, last_used, work_us: 0 };
    let value = |probe, part| rounds.value(SocketExperiment::Turns(hot, probe), part);
    let (call, receive) = (value(Probe::Calls, Part::Call)?, value(Probe::Calls, Part::Receive)?);
    disagreement(call, receive, value(Probe::Whole, Part::Whole)?)
}

fn disagreement(call: Measured, receive: Measured, whole: Measured) -> Option<String> {
    let half = Nanos(call.estimate().half() + receive.estimate().half());
    let sum = Estimate::new(call.mean + receive.mean, half);
    let whole = whole.estimate();
    (!sum.agrees_with(&whole)).then(|| {
        format!("call and receive add up to {sum}, but took {whole} as one: each reading of a clock between them costs, and the machine drifts")
    })
}

/// A note that names each receive that came out faster after more work, by more than both are uncertain.
fn faster_after_work(rounds: &SocketRounds<'_>) -> Option<String> {
    let situations = rounds.experiments().filter_map(|experiment| match experiment {
        SocketExperiment::Turns(situation, Probe::Calls) if situation.work_us > 0 => Some(situation),
        _ => None,
    });
    let contradictions = situations.filter_map(|colder| {
        let work_us = WORK_US.into_iter().rev().find(|work| *work < colder.work_us)?;
        let receive = |at| rounds.value(SocketExperiment::Turns(at, Probe::Calls), Part::Receive);
        let (warm, cold) = (receive(Situation { work_us, ..colder })?, receive(colder)?);
        let contradict = cold.mean < warm.mean && !cold.estimate().agrees_with(&warm.estimate());
        contradict.then(|| {
            format!(
                "softirq on {} by {}, {} µs: {} after {}",
                colder.softirq,
                colder.delivery,
                colder.work_us,
                cold.estimate(),
                warm.estimate()
            )
        })
    });
    let contradictions: Vec<String> = contradictions.collect();
    (!contradictions.is_empty()).then(|| {
        format!(
            "receive times that fell with more work before, which no cache explains: {}",
            contradictions.join("; ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_do_not_add_up_are_noted() {
        let time = |mean: f64| Measured { half_width: Some(Nanos(10.0)), ..Measured::published(Nanos(mean)) };
        assert_eq!(disagreement(time(4_000.0), time(800.0), time(4_825.0)), None);
        let note = disagreement(time(4_000.0), time(800.0), time(4_900.0)).unwrap();
        assert!(note.contains("4.80 µs") && note.contains("4.90 µs"), "{note}");
    }
}
