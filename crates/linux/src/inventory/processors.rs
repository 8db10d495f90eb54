//! What each cpu has done: its time by kind, its softirqs, and the packets it received.

use super::interrupts::Counts;
use super::table::{HEADER, Table, columns};
use crate::probe::Malformed;
use crate::proc_stat::{CpuTimes, cpu_times};
use crate::tree::Tree;
use serde::Serialize;
use std::collections::BTreeMap;
use warmcore_units::CpuId;

const SOFTIRQS: &str = "proc/softirqs";
const SOFTNET: &str = "proc/net/softnet_stat";

/// What one online cpu has done since boot.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Processor {
    /// The cpu.
    pub cpu: CpuId,
    /// How it spent its time.
    pub times: Option<CpuTimes>,
    /// Device interrupts that it handled.
    pub interrupts: u64,
    /// Softirqs that it ran, by the kernel's name: `NET_RX`, `TIMER`.
    pub softirqs: BTreeMap<String, u64>,
    /// Packets that it received.
    pub softnet: Option<Softnet>,
}

/// The packets that a cpu received: a line of `/proc/net/softnet_stat`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Softnet {
    /// Packets received.
    pub processed: u64,
    /// Packets dropped because the cpu's backlog was full.
    pub dropped: u64,
    /// How often the time or packet budget ran out before all packets were processed.
    pub squeezed: u64,
    /// How often another cpu asked this one to process packets, as RPS and RFS do.
    pub steered_here: u64,
}

/// Reads what each cpu of `online` has done, in order of number.
pub(super) fn read(tree: &Tree, online: &[CpuId], table: &Table) -> Result<Vec<Processor>, Malformed> {
    let times = cpu_times(tree)?;
    let softirqs = softirqs(tree)?;
    let softnet = softnet(tree, online)?;
    let mut interrupts: Counts = Counts::new();
    for line in &table.lines {
        for (&cpu, &count) in table.cpus.iter().zip(&line.counts) {
            *interrupts.entry(cpu).or_default() += count;
        }
    }
    let processor = |&cpu: &CpuId| Processor {
        cpu,
        times: times.get(&cpu).copied(),
        interrupts: interrupts.get(&cpu).copied().unwrap_or(0),
        softirqs: softirqs
            .iter()
            .filter_map(|(name, counts)| Some((name.clone(), *counts.get(&cpu)?)))
            .collect(),
        softnet: softnet.get(&cpu).copied(),
    };
    Ok(online.iter().map(processor).collect())
}

/// Reads `/proc/softirqs`: a header with every possible cpu, and a line for each kind of softirq.
pub(super) fn softirqs(tree: &Tree) -> Result<Vec<(String, Counts)>, Malformed> {
    let Some(text) = tree.text(SOFTIRQS) else { return Ok(Vec::new()) };
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default();
    let cpus = columns(header).ok_or_else(|| tree.malformed(SOFTIRQS, header, HEADER))?;
    let counts = |line: &str| {
        let (name, counts) = line.split_once(':')?;
        let counts: Option<Vec<u64>> = counts.split_whitespace().map(|word| word.parse().ok()).collect();
        let counts = counts.filter(|counts| counts.len() == cpus.len())?;
        Some((name.trim().to_owned(), cpus.iter().copied().zip(counts).collect()))
    };
    let expected = || format!("a name, `:` and {} counts", cpus.len());
    lines.map(|line| counts(line).ok_or_else(|| tree.malformed(SOFTIRQS, line, &expected()))).collect()
}

/// Reads `/proc/net/softnet_stat`: a line of hexadecimal numbers for each online cpu. In newer kernels
/// the thirteenth number is the cpu (`softnet_seq_show` in the kernel's `net/core/net-procfs.c`).
fn softnet(tree: &Tree, online: &[CpuId]) -> Result<BTreeMap<CpuId, Softnet>, Malformed> {
    let text = tree.text(SOFTNET).unwrap_or_default();
    let mut softnet = BTreeMap::new();
    for (place, line) in text.lines().enumerate() {
        let number = |word| u32::from_str_radix(word, 16).ok();
        let numbers: Option<Vec<u32>> = line.split_whitespace().map(number).collect();
        let malformed = || tree.malformed(SOFTNET, line, "ten or more hexadecimal numbers");
        let numbers = numbers.filter(|numbers| numbers.len() >= 9).ok_or_else(malformed)?;
        let column = |column: usize| numbers.get(column).copied().map_or(0, u64::from);
        let Some(cpu) = numbers.get(12).copied().map(CpuId).or_else(|| online.get(place).copied()) else {
            continue;
        };
        softnet.insert(
            cpu,
            Softnet {
                processed: column(0),
                dropped: column(1),
                squeezed: column(2),
                steered_here: column(9),
            },
        );
    }
    Ok(softnet)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;

    fn tree_with(file: &str, text: &str) -> Tree {
        let mut tree = fake::Tree::default();
        tree.put(file, text);
        Tree::Fake(tree)
    }

    #[test]
    fn a_softnet_line_belongs_to_the_cpu_it_names_or_to_the_online_cpu_at_its_position() {
        let online = [CpuId(0), CpuId(3)];
        let new = "ff 1 2 0 0 0 0 0 0 5 0 0 00000000\n10 0 0 0 0 0 0 0 0 0 0 0 00000003";
        let found = softnet(&tree_with(SOFTNET, new), &online).expect("a valid file");
        let first = Softnet { processed: 255, dropped: 1, squeezed: 2, steered_here: 5 };
        assert_eq!(found[&CpuId(0)], first);
        assert_eq!(found[&CpuId(3)].processed, 16);
        let old = "ff 1 2 0 0 0 0 0 0 5\n10 0 0 0 0 0 0 0 0 0";
        assert_eq!(softnet(&tree_with(SOFTNET, old), &online), Ok(found));
        let error = softnet(&tree_with(SOFTNET, "ff 1 zz"), &online).unwrap_err();
        assert!(error.to_string().contains("`ff 1 zz`, expected ten or more"), "{error}");
    }

    #[test]
    fn softirqs_are_counted_for_every_possible_cpu() {
        let text = "          CPU0       CPU1\n HI:  1  2\nNET_RX:  3  4";
        let found = softirqs(&tree_with(SOFTIRQS, text)).expect("a valid file");
        assert_eq!(found[1].0, "NET_RX");
        assert_eq!(found[1].1[&CpuId(1)], 4);
        let error = softirqs(&tree_with(SOFTIRQS, "CPU0 CPU1\nHI: 1")).unwrap_err();
        assert!(error.to_string().contains("2 counts"), "{error}");
    }
}
