//! The log of decisions: what each search of the queue saw, and what it chose.
//!
//! A line is a tick, the cpu that searches, the task that ran there last, the task that has just yielded there, the task
//! that was chosen (each `none` if there is none), how many candidates there were, and the candidates in the order in
//! which they wait:
//! `TASK:CPU_TIME:LAST_CPU:LAST_RAN:ATTACHED`, times in ticks.

use std::fmt::Write;

/// What `bpf/scheduler.h` lists at most, `MAX_CANDIDATES` there.
const MAX_CANDIDATES: usize = 32;
const HEADER: usize = 32;
const CANDIDATE: usize = 40;

/// Reads the bytes of a `struct decision` as a line; `None` if there are too few.
pub(crate) fn line(bytes: &[u8]) -> Option<String> {
    let now = u64_at(bytes, 0)?;
    let [cpu, ran_last, yielded, chosen] = [8, 12, 16, 24].map(|offset| i32_at(bytes, offset));
    let count = usize::try_from(i32_at(bytes, 28)?).ok()?;
    let [cpu, ran_last, yielded, chosen] = [cpu?, ran_last?, yielded?, chosen?].map(or_none);
    let mut line = format!("{now} {cpu} {ran_last} {yielded} {chosen} {count}");
    for index in 0..count.min(MAX_CANDIDATES) {
        let candidate = bytes.get(HEADER + index * CANDIDATE..)?;
        let [time, last_cpu, attached, id] = [4, 8, 12, 32].map(|offset| i32_at(candidate, offset));
        let (last_cpu, attached) = (or_none(last_cpu?), or_none(attached?));
        let last_ran = u64_at(candidate, 16)?;
        write!(line, " {}:{}:{last_cpu}:{last_ran}:{attached}", id?, time?).ok()?;
    }
    Some(line)
}

fn or_none(value: i32) -> String {
    if value < 0 { "none".to_owned() } else { value.to_string() }
}

fn i32_at(bytes: &[u8], offset: usize) -> Option<i32> {
    Some(i32::from_ne_bytes(bytes.get(offset..)?.first_chunk().copied()?))
}

fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(offset..)?.first_chunk().copied()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_is_a_line() {
        let mut bytes = Vec::new();
        bytes.extend(1234_u64.to_ne_bytes());
        bytes.extend([2_i32, 71, -1, 0, 71, 1].iter().flat_map(|value| value.to_ne_bytes()));
        bytes.extend([0_i32, 9, 2, -1].iter().flat_map(|value| value.to_ne_bytes()));
        bytes.extend([1230_u64, 0].iter().flat_map(|value| value.to_ne_bytes()));
        bytes.extend([71_i32, 0].iter().flat_map(|value| value.to_ne_bytes()));
        assert_eq!(line(&bytes).as_deref(), Some("1234 2 71 none 71 1 71:9:2:1230:none"));
        assert_eq!(line(&bytes[..bytes.len() - 8]), None);
    }
}
