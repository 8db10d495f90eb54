//! Metrics of a run in the Prometheus text format, version 0.0.4.
//!
//! All counts start with the run and include every worker's finished blocks (see
//! [`tally`](crate::tally)). They are some 10 ms old while there is work, and older while there is
//! none.
//!
//! | metric | labels | |
//! |---|---|---|
//! | `warmcore_packets_total` | worker, cpu, outcome | delivered, overflowed or failed |
//! | `warmcore_refused_packets_total` | worker, cpu, reason | refused by the stack |
//! | `warmcore_unanswered_packets_total` | worker, cpu | the answer could not be sent |
//! | `warmcore_delay_seconds` | worker, cpu | histogram, from arrival to the end of service |
//! | `warmcore_situation_packets_total` | worker, cpu, experiment, thread_stack | packets by cache situation |
//! | `warmcore_service_seconds_total` | worker, cpu, experiment, thread_stack | time in service by cache situation |
//! | `warmcore_busy_seconds_total` | worker, cpu | time in service of all packets |
//! | `warmcore_stalls_total` | worker, cpu | times the worker did not run though it wanted to |
//! | `warmcore_longest_stall_seconds` | worker, cpu | the longest of them |
//! | `warmcore_run_seconds` | | how long the run has lasted |

use super::{counter, family, gauge, label};
use crate::run_handle::RunHandle;
use crate::tally::{Block, PacketStats};
use prometheus::proto::{Bucket, Histogram, LabelPair, Metric, MetricFamily, MetricType};
use prometheus::{Encoder, TextEncoder};
use warmcore_costs::{Situation, ThreadStack};
use warmcore_units::{CpuId, Nanos};

/// The bounds of the delay buckets are powers of two in nanoseconds, from 2^7 (128 ns) to 2^30 (1.07
/// s). The underlying histogram has a bound at each.
const BUCKETS: core::ops::RangeInclusive<i32> = 7..=30;

/// Renders the metrics of `run`, with a worker on each of `cpus`.
#[must_use]
pub fn text(run: &RunHandle<'_>, cpus: &[CpuId]) -> String {
    render(&run.totals(), cpus, run.elapsed())
}

/// Renders `totals`, one for each of `cpus`, after `elapsed`.
fn render(totals: &[Block], cpus: &[CpuId], elapsed: Nanos) -> String {
    let workers: Vec<Worker<'_>> = totals
        .iter()
        .zip(cpus)
        .enumerate()
        .map(|(number, (done, &cpu))| Worker {
            done,
            seen: done.all_packets(),
            labels: vec![label("worker", number), label("cpu", cpu.0)],
        })
        .collect();
    let run = family("warmcore_run_seconds", "How long the run has lasted.", MetricType::GAUGE);
    let families = [
        packets(&workers),
        refused(&workers),
        counts(
            "warmcore_unanswered_packets_total",
            "Packets whose answer could not be sent.",
            &workers,
            |done| done.unanswered as f64,
        ),
        delays(&workers),
        situations(
            "warmcore_situation_packets_total",
            "Packets by the cache situation they found.",
            &workers,
            |served| served.packets as f64,
        ),
        situations(
            "warmcore_service_seconds_total",
            "Time in service by the cache situation found; shared evenly by packets between two clock readings.",
            &workers,
            |served| served.time.secs(),
        ),
        counts("warmcore_busy_seconds_total", "Time in service.", &workers, |done| done.busy().secs()),
        counts("warmcore_stalls_total", "Times a worker did not run.", &workers, |done| {
            done.stalls.count as f64
        }),
        longest_stalls(&workers),
        run(vec![gauge(elapsed.secs(), Vec::new())]),
    ];
    let present: Vec<MetricFamily> =
        families.into_iter().filter(|family| !family.get_metric().is_empty()).collect();
    let mut text = Vec::new();
    // Encoding fails only for families without metrics or if writing fails. Neither can happen here.
    let _ = TextEncoder::new().encode(&present, &mut text);
    String::from_utf8(text).unwrap_or_default()
}

/// The counts of a worker, and its labels.
struct Worker<'a> {
    done: &'a Block,
    /// Statistics of all its finished packets, disturbed or not.
    seen: PacketStats,
    labels: Vec<LabelPair>,
}

impl Worker<'_> {
    fn labelled<const N: usize>(&self, more: [LabelPair; N]) -> Vec<LabelPair> {
        self.labels.iter().cloned().chain(more).collect()
    }
}

fn packets(workers: &[Worker<'_>]) -> MetricFamily {
    let of = |worker: &Worker<'_>| {
        let Block { overflowed, failed, .. } = *worker.done;
        [("delivered", worker.done.packets()), ("overflowed", overflowed), ("failed", failed)]
            .map(|(outcome, count)| counter(count as f64, worker.labelled([label("outcome", outcome)])))
    };
    let help = "Packets by outcome.";
    family("warmcore_packets_total", help, MetricType::COUNTER)(workers.iter().flat_map(of).collect())
}

fn refused(workers: &[Worker<'_>]) -> MetricFamily {
    let of = |worker: &Worker<'_>| -> Vec<Metric> {
        let counted = |(reason, &count): (&_, &u64)| {
            counter(count as f64, worker.labelled([label("reason", format!("{reason:?}"))]))
        };
        worker.done.refused.iter().map(counted).collect()
    };
    let help = "Packets that the protocol stack refused, by reason.";
    family("warmcore_refused_packets_total", help, MetricType::COUNTER)(workers.iter().flat_map(of).collect())
}

fn situations(
    name: &str,
    help: &str,
    workers: &[Worker<'_>],
    value: impl Fn(&crate::tally::Served) -> f64,
) -> MetricFamily {
    let of = |worker: &Worker<'_>| -> Vec<Metric> {
        let counted = |situation: Situation| {
            let stack = match situation.thread_stack {
                ThreadStack::Cached => "cached",
                ThreadStack::Migrates => "migrates",
            };
            let labels =
                worker.labelled([label("experiment", situation.experiment), label("thread_stack", stack)]);
            counter(value(&worker.seen.situations[situation.index()]), labels)
        };
        Situation::all().map(counted).collect()
    };
    family(name, help, MetricType::COUNTER)(workers.iter().flat_map(of).collect())
}

fn delays(workers: &[Worker<'_>]) -> MetricFamily {
    let of = |worker: &Worker<'_>| {
        let bucket = |exponent: i32| {
            let bound = f64::from(exponent).exp2();
            let mut bucket = Bucket::default();
            bucket.set_upper_bound(Nanos(bound).secs());
            bucket.set_cumulative_count(worker.seen.delays.count_below(bound));
            bucket
        };
        let mut histogram = Histogram::default();
        histogram.set_bucket(BUCKETS.map(bucket).collect());
        histogram.set_sample_count(worker.seen.delays.count());
        histogram.set_sample_sum(worker.seen.delay.secs());
        let mut metric = Metric::from_label(worker.labels.clone());
        metric.set_histogram(histogram);
        metric
    };
    let help = "From a packet's arrival to the end of its service.";
    family("warmcore_delay_seconds", help, MetricType::HISTOGRAM)(workers.iter().map(of).collect())
}

fn longest_stalls(workers: &[Worker<'_>]) -> MetricFamily {
    let of = |worker: &Worker<'_>| gauge(worker.done.stalls.longest.secs(), worker.labels.clone());
    let help = "The longest time a worker did not run though it wanted to.";
    family("warmcore_longest_stall_seconds", help, MetricType::GAUGE)(workers.iter().map(of).collect())
}

/// One counter for each worker.
fn counts(name: &str, help: &str, workers: &[Worker<'_>], value: impl Fn(&Block) -> f64) -> MetricFamily {
    let of = |worker: &Worker<'_>| counter(value(worker.done), worker.labels.clone());
    family(name, help, MetricType::COUNTER)(workers.iter().map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::Served;
    use warmcore_stack::DropReason;
    use warmcore_stats::histogram::Filling;

    #[test]
    fn a_worker_is_rendered_with_type_labels_and_cumulative_buckets() {
        let mut delays = Filling::default();
        [100.0, 1_500.0, 3_000.0].into_iter().for_each(|delay| delays.push(delay));
        let mut done = Block { overflowed: 7, ..Block::default() };
        done.clean.delay = Nanos(4_600.0);
        done.clean.delays = delays.take();
        done.clean.situations[0] = Served { packets: 3, time: Nanos(2_000.0) };
        done.refused.insert(DropReason::UdpChecksum, 2);
        let text = render(&[done], &[CpuId(4)], Nanos(5e9));
        for line in [
            "# TYPE warmcore_packets_total counter",
            "warmcore_packets_total{worker=\"0\",cpu=\"4\",outcome=\"delivered\"} 3",
            "warmcore_packets_total{worker=\"0\",cpu=\"4\",outcome=\"overflowed\"} 7",
            "warmcore_refused_packets_total{worker=\"0\",cpu=\"4\",reason=\"UdpChecksum\"} 2",
            "# TYPE warmcore_delay_seconds histogram",
            "warmcore_delay_seconds_bucket{worker=\"0\",cpu=\"4\",le=\"0.000000128\"} 1",
            "warmcore_delay_seconds_bucket{worker=\"0\",cpu=\"4\",le=\"0.000002048\"} 2",
            "warmcore_delay_seconds_bucket{worker=\"0\",cpu=\"4\",le=\"+Inf\"} 3",
            "warmcore_delay_seconds_count{worker=\"0\",cpu=\"4\"} 3",
            "warmcore_run_seconds 5",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(text.contains("experiment=\"A1\",thread_stack=\"cached\"} 3"), "{text}");
    }
}
