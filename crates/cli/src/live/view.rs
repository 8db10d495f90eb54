//! The live view of a run, redrawn in place every second.

use crate::terminal::table;
use comfy_table::Table;
use console::{Term, truncate_str};
use std::time::{Duration, Instant};
use warmcore_costs::{Situation, ThreadStack};
use warmcore_runtime::RunHandle;
use warmcore_runtime::tally::{BLOCK, Block, PacketStats};
use warmcore_units::{CpuId, Nanos, PerSecond};

/// The most streams that are shown, the busiest first.
const STREAMS: usize = 5;

/// The view on a terminal.
pub(super) struct View<'a> {
    term: Term,
    cpus: &'a [CpuId],
    refresh: Duration,
    drawn: Instant,
    /// Lines of the last picture.
    lines: usize,
    /// The first block that no picture has shown.
    next: u64,
    /// Packets by worker and stream at the last picture.
    streams: Vec<Vec<u64>>,
}

impl<'a> View<'a> {
    /// A view that is drawn at most once every `refresh`; nothing is drawn yet.
    pub(super) fn new(term: Term, cpus: &'a [CpuId], refresh: Duration) -> Self {
        Self { term, cpus, refresh, drawn: Instant::now(), lines: 0, next: 0, streams: Vec::new() }
    }

    /// Draws the run that `watch` sees, if it is time to.
    pub(super) fn refresh(&mut self, watch: &RunHandle<'_>) {
        if self.drawn.elapsed() < self.refresh {
            return;
        }
        let lasted = Nanos(self.drawn.elapsed().as_nanos() as f64);
        self.drawn = Instant::now();
        let blocks = watch.blocks_since(self.next);
        self.next = (watch.elapsed() / BLOCK) as u64;
        let streams = watch.streams();
        let moved = streams_since(&self.streams, &streams);
        self.streams = streams;
        let picture = picture(&blocks, self.cpus, lasted, watch.elapsed(), &moved);
        self.draw(&picture);
    }

    /// Replaces the last picture. A terminal that cannot be written to is no reason to end a run.
    fn draw(&mut self, picture: &str) {
        let width = usize::from(self.term.size().1).max(20);
        let lines: Vec<_> = picture.lines().map(|line| truncate_str(line, width, "…")).collect();
        let _ = self.term.clear_last_lines(self.lines);
        let _ = self.term.write_line(&lines.join("\n"));
        self.lines = lines.len();
    }
}

impl Drop for View<'_> {
    /// The report takes the picture's place.
    fn drop(&mut self) {
        let _ = self.term.clear_last_lines(self.lines);
    }
}

/// What happened in the last second, in words and tables.
fn picture(
    blocks: &[Vec<Block>],
    cpus: &[CpuId],
    lasted: Nanos,
    elapsed: Nanos,
    streams: &[(usize, Vec<u64>)],
) -> String {
    let workers: Vec<Block> = blocks.iter().map(|blocks| sum(blocks)).collect();
    let all = sum(&workers);
    let seen = all.all_packets();
    let delay = if all.packets() == 0 {
        "no packets".to_owned()
    } else {
        let [p50, p99] = [0.5, 0.99].map(|p| Nanos(seen.delays.quantile(p)));
        format!("delay mean {}, p50 {p50}, p99 {p99}", seen.delay / all.packets() as f64)
    };
    let rate = PerSecond(all.packets() as f64 / lasted.secs());
    format!(
        "{:.0} s   {rate}   {delay}\n{}\n{}\n{}{}",
        elapsed.secs(),
        drops(&all),
        situations(&seen),
        use_of(&workers, cpus, lasted),
        busiest(streams)
    )
}

fn sum(blocks: &[Block]) -> Block {
    let mut sum = Block::default();
    blocks.iter().for_each(|block| sum.merge(block));
    sum
}

fn drops(all: &Block) -> String {
    let refused = all.refused.iter().map(|(reason, count)| (reason.to_string(), *count));
    let others = [("too many held", all.overflowed), ("failed in the handler", all.failed)];
    let dropped: Vec<String> = others
        .map(|(why, count)| (why.to_owned(), count))
        .into_iter()
        .chain(refused)
        .filter(|(_, count)| *count > 0)
        .map(|(why, count)| format!("{count} {why}"))
        .collect();
    if dropped.is_empty() { "dropped: none".to_owned() } else { format!("dropped: {}", dropped.join(", ")) }
}

fn situations(all: &PacketStats) -> String {
    let share = |situation: Situation| {
        let packets = all.situations[situation.index()].packets;
        let stack = match situation.thread_stack {
            ThreadStack::Cached => "",
            ThreadStack::Migrates => " (thread stack migrates)",
        };
        let percent = packets as f64 * 100.0 / all.packets() as f64;
        (packets > 0).then(|| format!("{}{stack} {percent:.1}%", situation.experiment))
    };
    let shares: Vec<String> = Situation::all().filter_map(share).collect();
    format!("found: {}", shares.join(", "))
}

/// How much of its time each processor spent on protocol work.
fn use_of(workers: &[Block], cpus: &[CpuId], lasted: Nanos) -> Table {
    let mut table = table(["cpu", "protocol work", "packets", "stalls", "longest"]);
    for (done, cpu) in workers.iter().zip(cpus) {
        table.add_row([
            cpu.0.to_string(),
            format!("{:.1}%", done.busy() / lasted * 100.0),
            done.packets().to_string(),
            done.stalls.count.to_string(),
            done.stalls.longest.to_string(),
        ]);
    }
    table
}

/// The busiest streams since the last look, and by worker how many packets of each it processed.
fn streams_since(before: &[Vec<u64>], now: &[Vec<u64>]) -> Vec<(usize, Vec<u64>)> {
    let count = |worker: usize, stream: usize| {
        let earlier = before.get(worker).and_then(|of| of.get(stream)).copied().unwrap_or_default();
        now[worker].get(stream).copied().unwrap_or_default() - earlier
    };
    let streams = now.iter().map(Vec::len).max().unwrap_or_default();
    let of = |stream: usize| (stream, (0..now.len()).map(|worker| count(worker, stream)).collect::<Vec<_>>());
    let mut counted: Vec<_> = (0..streams).map(of).collect();
    counted.sort_by_key(|(_, packets)| core::cmp::Reverse(packets.iter().sum::<u64>()));
    counted.truncate(STREAMS);
    counted.retain(|(_, packets)| packets.iter().any(|&packets| packets > 0));
    counted
}

/// Where each of the busiest streams ran.
fn busiest(streams: &[(usize, Vec<u64>)]) -> String {
    let line = |(stream, packets): &(usize, Vec<u64>)| {
        let total: u64 = packets.iter().sum();
        let shares: Vec<String> = packets
            .iter()
            .map(|&packets| format!("{:3.0}%", packets as f64 * 100.0 / total as f64))
            .collect();
        format!("\nstream {stream}: {total} packets, by worker {}", shares.join(" "))
    };
    streams.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_runtime::tally::Served;

    #[test]
    fn a_picture_tells_rate_situations_drops_use_and_where_streams_ran() {
        let mut block = Block { overflowed: 4, ..Block::default() };
        block.clean.delay = Nanos(3_000.0);
        block.clean.situations[0] = Served { packets: 3, time: Nanos(5e8) };
        let streams = streams_since(&[vec![1, 0], vec![0, 0]], &[vec![4, 0], vec![1, 0]]);
        assert_eq!(streams, [(0, vec![3, 1])]);
        let text = picture(&[vec![block]], &[CpuId(7)], Nanos(1e9), Nanos(2e9), &streams);
        for part in [
            "2 s",
            "3.00 /s",
            "4 too many held",
            "A1",
            "100.0%",
            "50.0%",
            "stream 0: 4 packets, by worker  75%  25%",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(picture(&[], &[], Nanos(1e9), Nanos(1e9), &[]).contains("no packets"));
    }
}
