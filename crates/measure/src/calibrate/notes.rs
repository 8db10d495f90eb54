//! Notes for readers of the profile about how its values were measured, one sentence each.

use crate::caches::cold::{ColdState, Latency};
use crate::caches::flush;
use crate::calibrate::curve::Curve;
use crate::calibrate::plan::CalibrationPlan;
use crate::calibrate::rounds::{Rounds, RunCounts};
use crate::clock::Timer;
use warmcore_costs::{FrameLines, Measured};
use warmcore_units::{CpuId, Nanos, Transport};

/// Drift of the counter against the operating system's clock that is worth a note.
const DRIFT: f64 = 1e-3;
/// Largest step of the counter without a note, as a fraction of the shortest time.
const COARSE: f64 = 0.25;

/// Most last-level loads in one hand-over between processors that share that level: a hand-over moves
/// two or three lines.
const MAX_HANDOVER_LOADS: f64 = 8.0;

/// All notes, most interesting first.
pub(crate) fn all(
    plan: &CalibrationPlan,
    cpus: &[CpuId],
    timer: &Timer,
    cold: &[ColdState],
    shared: Option<&Latency>,
    rounds: &Rounds<'_>,
    curve: &Curve,
) -> Vec<String> {
    let values: Vec<Measured> = rounds.values().into_values().collect();
    let mut notes = vec![processors(cpus, plan.frames)];
    notes.extend(frame_lines(plan));
    notes.push(payload(plan));
    notes.push(time_source(timer, &values));
    notes.extend(far_apart(shared, rounds.proximity.reference));
    notes.extend(packets(plan, cold, rounds));
    notes.extend(missed(plan, &values));
    let tally = rounds.tally();
    notes.push(disturbances(&tally));
    notes.extend(vcpu_moved(&tally, rounds.proximity.reference, &rounds.vcpu_moved_handovers()));
    notes.extend(relied_on_disturbed(rounds.relying_on_disturbed()));
    notes.extend(left_out(&curve.left_out, plan.intervening.is_some()));
    notes
}

fn processors(cpus: &[CpuId], frames: FrameLines) -> String {
    match *cpus {
        [only] => {
            let packet = match frames {
                FrameLines::Resident => "packets stayed in its caches",
                FrameLines::Written if flush::IS_POSSIBLE => {
                    "packets were flushed from its caches before they were received"
                }
                FrameLines::Written => {
                    "packets could not be flushed from its caches, so reading them did not miss"
                }
            };
            format!(
                "measured on {only} alone; with one usable core nothing can migrate, so experiments A3 and B1 to B3, migrating thread stacks and free-memory overheads are left out; {packet}"
            )
        }
        [first, second] => {
            format!("measured on {first} and {second}, each preparing the packets that the other receives")
        }
        [first, second, third, ..] => {
            format!("measured on {first} and {second}, for which {third} prepared the packets")
        }
        [] => "measured nowhere".to_owned(),
    }
}

fn frame_lines(plan: &CalibrationPlan) -> Option<String> {
    let written = if plan.transport.is_conversation() {
        "frames were copied before they were received, by the processor that received them, into buffers of its own for each stream; so reading them missed only if caches were cold"
    } else {
        "frames were written once per run, one for each processor and stream, and then only read, like those of a driver that hands out prepared frames; so reading them missed only if caches were cold"
    };
    (plan.frames == FrameLines::Resident).then(|| written.to_owned())
}

fn payload(plan: &CalibrationPlan) -> String {
    let bytes = plan.payload_bytes;
    let packets = match plan.transport {
        Transport::Udp => {
            let checksums = if plan.checksum { "were verified in software" } else { "were not verified" };
            return format!("packets carried {bytes} bytes of payload, and UDP checksums {checksums}");
        }
        Transport::Tcp => "segments of TCP connections",
        Transport::Rpc => "calls of RPC over UDP",
    };
    format!(
        "packets were {packets} with {bytes} bytes of payload, answered with {} bytes, and checksums were verified in software; a time includes the building of what is sent, but not its sending",
        plan.reply_bytes
    )
}

/// A note if a hand-over of `handover` ns is too slow for processors that are said to share a cache
/// with latency `shared`.
fn far_apart(shared: Option<&Latency>, handover: Option<f64>) -> Option<String> {
    let (shared, handover) = (shared?, Nanos(handover?));
    (handover / shared.time > MAX_HANDOVER_LOADS).then(|| {
        format!(
            "a hand-over between the processors takes {handover}, though both are said to share a cache ({}) that answers in {}: a hypervisor has probably placed them apart, so migration costs more here than between processors that are together",
            shared.level, shared.time
        )
    })
}

fn time_source(timer: &Timer, values: &[Measured]) -> String {
    let Timer { source, resolution, overhead, .. } = timer;
    let mut note = format!("timed with the {source}, whose overhead of {overhead} was subtracted");
    let shortest = values.iter().map(|value| value.mean).min_by(Nanos::total_cmp);
    if shortest.is_some_and(|shortest| resolution.0 > shortest.0 * COARSE) {
        note += &format!(
            "; it advances in steps of {resolution}, which is coarse compared with the shortest times: the time of a single packet is known only to one step, a mean more precisely"
        );
    }
    let drift = timer.drift();
    if drift.abs() > DRIFT {
        note += &format!("; it drifted by {:.2}% against the system's clock", 100.0 * drift);
    }
    note
}

fn packets(plan: &CalibrationPlan, cold: &[ColdState], rounds: &Rounds<'_>) -> Vec<String> {
    let full = plan.packets_per_run;
    let fewer = |(state, packets): (Option<usize>, u32)| {
        let state = match state {
            None => "hot packets".to_owned(),
            Some(level) if level + 1 == cold.len() => "fully cold packets".to_owned(),
            Some(level) => format!("packets cold up to {}", cold.get(level)?.level),
        };
        (packets < full)
            .then(|| format!("runs of {state} had {packets} packets instead of {full}, to fit the time budget or to avoid disturbances"))
    };
    rounds.packets().into_iter().filter_map(fewer).collect()
}

fn missed(plan: &CalibrationPlan, values: &[Measured]) -> Option<String> {
    let missed = values.iter().filter(|value| value.missed_target).count();
    let target = 100.0 * plan.target;
    (missed > 0).then(|| {
        format!(
            "{missed} of {} values missed the target of a half-width of {target}% of the mean",
            values.len()
        )
    })
}

fn disturbances(tally: &RunCounts) -> String {
    let RunCounts { runs, disturbed_runs, packets, packets_set_aside, .. } = tally;
    format!(
        "{disturbed_runs} of {runs} runs were set aside because a measuring thread was preempted, moved or took a page fault, and {packets_set_aside} of {packets} packets because an interrupt hit them (more than five times the run's median and more than 1 µs above it)"
    )
}

fn vcpu_moved(tally: &RunCounts, reference: Option<f64>, handovers: &[f64]) -> Option<String> {
    let reference = Nanos(reference?);
    let worst = handovers.iter().copied().map(Nanos).max_by(Nanos::total_cmp)?;
    let RunCounts { runs, vcpu_moved_runs, .. } = tally;
    Some(format!(
        "{vcpu_moved_runs} of {runs} runs were set aside or aborted because the processors were not as far apart as in the others: a hand-over between them took up to {worst} instead of {reference}, as when a hypervisor moves virtual processors apart"
    ))
}

fn relied_on_disturbed(values: usize) -> Option<String> {
    (values > 0).then(|| {
        format!(
            "{values} values had too few undisturbed runs and use disturbed ones too: the machine was busy"
        )
    })
}

fn left_out(left_out: &[Nanos], program: bool) -> Option<String> {
    if left_out.is_empty() {
        return None;
    }
    let xs: Vec<String> = left_out.iter().map(Nanos::to_string).collect();
    let reason = if program {
        "are shorter than a sleep can be, or longer than the time allowed"
    } else {
        "are longer than the time allowed"
    };
    Some(format!("of t(x), {} are left out: they {reason}", xs.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_processor_says_what_could_not_be_measured() {
        let processors = |cpus: &[CpuId]| processors(cpus, FrameLines::Written);
        let note = processors(&[CpuId(3)]);
        assert!(note.contains("cpu3 alone") && note.contains("A3"), "{note}");
        assert!(processors(&[CpuId(0), CpuId(1)]).contains("cpu0 and cpu1"));
        assert!(processors(&[CpuId(0), CpuId(1), CpuId(2)]).contains("for which cpu2"));
    }

    #[test]
    fn processors_that_do_not_share_what_they_should_are_noticed() {
        let shared = Latency { level: "L3".to_owned(), time: Nanos(16.0) };
        assert_eq!(far_apart(Some(&shared), Some(67.0)), None);
        assert_eq!(far_apart(None, Some(220.0)), None, "they are not said to share anything");
        let note = far_apart(Some(&shared), Some(220.0)).unwrap();
        assert!(note.contains("220 ns") && note.contains("L3"), "{note}");
    }

    #[test]
    fn resident_frames_and_the_payload_are_noted() {
        let standard = CalibrationPlan::standard();
        assert_eq!(frame_lines(&standard), None);
        let resident = CalibrationPlan { frames: FrameLines::Resident, ..standard };
        assert!(frame_lines(&resident).is_some_and(|note| note.contains("only read")));
        let conversations = CalibrationPlan { transport: Transport::Tcp, ..resident };
        assert!(frame_lines(&conversations).is_some_and(|note| note.contains("were copied")));
        let alone = processors(&[CpuId(3)], FrameLines::Resident);
        assert!(alone.contains("stayed") && !alone.contains("flushed"), "{alone}");
        let plan = CalibrationPlan { payload_bytes: 1024, checksum: true, ..CalibrationPlan::standard() };
        let note = payload(&plan);
        assert_eq!(
            note,
            "packets carried 1024 bytes of payload, and UDP checksums were verified in software"
        );
        let note = payload(&CalibrationPlan { transport: Transport::Rpc, reply_bytes: 64, ..plan });
        assert!(note.contains("calls of RPC") && note.contains("answered with 64 bytes"), "{note}");
    }

    #[test]
    fn a_missed_target_is_counted() {
        let hit = Measured::published(Nanos(1.0));
        let miss = Measured { missed_target: true, ..hit };
        let note = missed(&CalibrationPlan::standard(), &[hit, miss, hit]).unwrap();
        assert_eq!(note, "1 of 3 values missed the target of a half-width of 1% of the mean");
        assert_eq!(missed(&CalibrationPlan::standard(), &[hit]), None);
    }

    #[test]
    fn what_is_left_out_of_the_curve_is_named() {
        assert_eq!(left_out(&[], false), None);
        let note = left_out(&[Nanos::from_micros(1.0), Nanos::from_secs(1.0)], true).unwrap();
        assert!(note.contains("1.00 µs, 1.00 s"), "{note}");
    }
}
