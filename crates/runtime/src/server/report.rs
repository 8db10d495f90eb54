//! What a server did, as numbers and as metrics.

use super::control::Control;
use super::counts::Counts;
use crate::metrics::{counter, family, gauge, label};
use core::sync::atomic::Ordering;
use core::time::Duration;
use prometheus::proto::{LabelPair, MetricFamily, MetricType};
use prometheus::{Encoder, TextEncoder};
use warmcore_units::{CpuId, Nanos};

/// What a server has done since it started. Counts are as old as the batch that a worker is in.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// Since the server started.
    pub elapsed: Duration,
    /// What each worker did; under policies by which flows have no worker, the last one is the thread that calls timers.
    pub workers: Vec<WorkerReport>,
    /// Flows that are open.
    pub flows: usize,
    /// Datagrams that the kernel dropped before a worker received them: the receive buffer was full. On a server of connections,
    /// attempts to connect that it dropped: too many waited to be accepted. Up to 2^32.
    pub dropped: u64,
    /// Frames for the server that were no valid datagram, or a fragment. Only [on an interface](super::Server::on_interface):
    /// what comes to a socket the kernel has checked.
    pub refused: u64,
}

/// What a worker has done.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WorkerReport {
    /// The cpu that it is pinned to.
    pub cpu: Option<CpuId>,
    /// Its counts.
    pub counts: Counts,
    /// Its processor time, system calls included. The kernel brings it up to date at its ticks. `None` if this kernel does
    /// not tell.
    pub cpu_time: Option<Nanos>,
}

impl Report {
    pub(super) fn new(control: &Control) -> Self {
        let worker = |thread: &super::control::ThreadRecord| WorkerReport {
            cpu: thread.cpu,
            counts: thread.counts(),
            cpu_time: thread.cpu_time(),
        };
        Self {
            elapsed: control.elapsed(),
            workers: control.threads.iter().map(|thread| worker(thread)).collect(),
            flows: control.open.load(Ordering::Relaxed),
            dropped: control.port.dropped(),
            refused: control.port.refused(),
        }
    }

    /// The sum of the workers' counts.
    #[must_use]
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        self.workers.iter().for_each(|worker| total += worker.counts);
        total
    }

    /// The report in the Prometheus text format, version 0.0.4.
    ///
    /// | metric | labels | |
    /// |---|---|---|
    /// | `warmcore_server_requests_total` | worker, cpu | calls of the handler |
    /// | `warmcore_server_replies_total` | worker, cpu | datagrams, or replies on connections, sent |
    /// | `warmcore_server_errors_total` | worker, cpu, reason | panics; replies unsent; requests overflowed, abandoned, invalid or too long; descriptors that were short |
    /// | `warmcore_server_timers_total` | worker, cpu | timers called |
    /// | `warmcore_server_flows_total` | worker, cpu, event | flows opened, expired, evicted, closed |
    /// | `warmcore_server_flows` | | flows open |
    /// | `warmcore_server_dropped_total` | | datagrams, or attempts to connect, dropped by the kernel |
    /// | `warmcore_server_refused_total` | | frames on an interface that were no valid datagram |
    /// | `warmcore_server_busy_seconds_total` | worker, cpu | processor time, system calls included |
    /// | `warmcore_server_seconds` | | since the start |
    #[must_use]
    pub fn metrics(&self) -> String {
        let count = MetricType::COUNTER;
        let one = |name: &str, help: &str, kind, metric| family(name, help, kind)(vec![metric]);
        let families = [
            self.by_worker("warmcore_server_requests_total", "Calls of the handler.", |c| {
                vec![("", "", c.requests)]
            }),
            self.by_worker(
                "warmcore_server_replies_total",
                "Datagrams, or replies on connections, sent.",
                |c| vec![("", "", c.replies)],
            ),
            self.by_worker("warmcore_server_errors_total", "What went wrong, by reason.", |c| {
                [
                    ("panic", c.panics),
                    ("unsent", c.unsent),
                    ("overflowed", c.overflowed),
                    ("abandoned", c.abandoned),
                    ("invalid", c.invalid),
                    ("too-long", c.too_long),
                    ("unaccepted", c.unaccepted),
                ]
                .map(|(reason, count)| ("reason", reason, count))
                .to_vec()
            }),
            self.by_worker("warmcore_server_timers_total", "Timers called.", |c| vec![("", "", c.timers)]),
            self.by_worker("warmcore_server_flows_total", "Flows opened and ended.", |c| {
                [("opened", c.opened), ("expired", c.expired), ("evicted", c.evicted), ("closed", c.closed)]
                    .map(|(event, count)| ("event", event, count))
                    .to_vec()
            }),
            self.busy(),
            one(
                "warmcore_server_flows",
                "Flows open.",
                MetricType::GAUGE,
                gauge(self.flows as f64, Vec::new()),
            ),
            one(
                "warmcore_server_dropped_total",
                "Datagrams, or attempts to connect, dropped by the kernel.",
                count,
                counter(self.dropped as f64, Vec::new()),
            ),
            one(
                "warmcore_server_refused_total",
                "Frames that were no valid datagram.",
                count,
                counter(self.refused as f64, Vec::new()),
            ),
            one(
                "warmcore_server_seconds",
                "Since the start.",
                MetricType::GAUGE,
                gauge(self.elapsed.as_secs_f64(), Vec::new()),
            ),
        ];
        let present: Vec<MetricFamily> =
            families.into_iter().filter(|family| !family.get_metric().is_empty()).collect();
        let mut text = Vec::new();
        // Encoding fails only for families without metrics or if writing fails. Neither can happen here.
        let _ = TextEncoder::new().encode(&present, &mut text);
        String::from_utf8(text).unwrap_or_default()
    }

    /// Counts of each worker; `values` gives the name of one more label, its value, and the count.
    fn by_worker(
        &self,
        name: &str,
        help: &str,
        values: impl Fn(&Counts) -> Vec<(&'static str, &'static str, u64)>,
    ) -> MetricFamily {
        let metrics = self.labelled().flat_map(|(worker, labels)| {
            let counted = |(name, value, count): (&'static str, &str, u64)| {
                let more = (!name.is_empty()).then(|| label(name, value));
                counter(count as f64, labels.iter().cloned().chain(more).collect())
            };
            values(&worker.counts).into_iter().map(counted).collect::<Vec<_>>()
        });
        family(name, help, MetricType::COUNTER)(metrics.collect())
    }

    fn busy(&self) -> MetricFamily {
        let metrics = self
            .labelled()
            .filter_map(|(worker, labels)| worker.cpu_time.map(|time| counter(time.secs(), labels)));
        family(
            "warmcore_server_busy_seconds_total",
            "Processor time, system calls included.",
            MetricType::COUNTER,
        )(metrics.collect())
    }

    fn labelled(&self) -> impl Iterator<Item = (&WorkerReport, Vec<LabelPair>)> {
        self.workers.iter().enumerate().map(|(number, worker)| {
            let cpu = worker.cpu.map(|cpu| label("cpu", cpu.0));
            (worker, [label("worker", number)].into_iter().chain(cpu).collect())
        })
    }
}
