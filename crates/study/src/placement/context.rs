//! Everything a placement is decided from, gathered once; and what is decided.

use super::cost_model::CostModel;
use super::cpu_pool::CpuPool;
use super::device_queues::{self, DeviceQueue, Steering};
use super::layout::{Layout, QueueLoad, ReaderLoad};
use super::packet_time;
use super::performance::{NoPrediction, Performance};
use super::target_threads::{self, TargetThread};
use super::{Request, Unplaceable, gain};
use warmcore_costs::socket::ReaderState;
use warmcore_linux::ethtool::Threaded;
use warmcore_linux::inventory::{Observation, Thread};
use warmcore_linux::{Inventory, Rates};
use warmcore_topology::CpuSet;
use warmcore_units::{CpuId, Estimate, Nanos, PerSecond};

/// A profile says something else than the kernel where one is this many times the other.
const FAR: f64 = 2.0;

/// Everything a placement is decided from.
pub(super) struct Context<'a> {
    pub(super) request: &'a Request<'a>,
    pub(super) observed: &'a Observation,
    pub(super) picture: &'a Inventory,
    /// What happened in the interval before the picture.
    pub(super) rates: Option<&'a Rates>,
    pub(super) pool: CpuPool,
    /// The threads whose packets are placed near them; none where no reader is known.
    pub(super) threads: Vec<TargetThread<'a>>,
    pub(super) queues: Vec<DeviceQueue<'a>>,
    pub(super) rate: Option<PerSecond>,
    /// What packets find at their readers; or why that is not known.
    pub(super) state: Result<ReaderState, NoPrediction>,
    pub(super) costs: Result<CostModel<'a>, NoPrediction>,
    /// Where everything is now.
    pub(super) current: Layout,
}

/// The cpus chosen for threads and queues.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    /// The cpus that each thread may run on.
    pub(super) threads: Vec<CpuSet>,
    /// The cpu of each queue's interrupt.
    pub(super) queues: Vec<CpuId>,
    /// Which cpus process the packets of each queue.
    pub(super) steering: Vec<Steering>,
    /// Why the queues are where they are.
    pub(super) why: String,
}

/// An assignment with its layout.
pub(super) struct Proposal {
    pub(super) assignment: Assignment,
    pub(super) layout: Layout,
}

impl<'a> Context<'a> {
    pub(super) fn new(observed: &'a Observation, request: &'a Request<'a>) -> Result<Self, Unplaceable> {
        let (picture, rates) = (&observed.inventory, observed.rates.as_ref());
        let pool = CpuPool::new(observed, request.goal);
        // Where queues are spread on request, readers stay where they are.
        let threads = match request.interfaces {
            [] => target_threads::find(observed, &pool, request.target)?,
            _ => Vec::new(),
        };
        let queues = device_queues::find(observed, &pool, request.interfaces)?;
        let rate = request.rate.or_else(|| device_queues::rate(observed));
        let state = match request.interfaces {
            [] => reader_state(&threads, device_queues::rate(observed), rate),
            _ => Err(NoPrediction::NoReader("readers are not looked for with --nic")),
        };
        let mut context = Self {
            request,
            observed,
            picture,
            rates,
            pool,
            threads,
            queues,
            rate,
            costs: CostModel::new(request.costs, state.clone()),
            state,
            current: Layout::default(),
        };
        context.current = context.layout(&context.as_it_is());
        if let Some(why) = context.costs.as_ref().ok().and_then(|costs| context.contradiction(costs)) {
            context.costs = Err(why);
        }
        Ok(context)
    }

    /// Everything where it is.
    pub(super) fn as_it_is(&self) -> Assignment {
        Assignment {
            threads: self.threads.iter().map(|thread| thread.current.clone()).collect(),
            queues: self.queues.iter().map(|queue| queue.current_cpu).collect(),
            steering: self.queues.iter().map(|queue| queue.steering.clone()).collect(),
            why: "which handles it already".to_owned(),
        }
    }

    /// `assignment` with its layout.
    pub(super) fn propose(&self, assignment: Assignment) -> Proposal {
        let layout = self.layout(&assignment);
        Proposal { assignment, layout }
    }

    /// The cpus' worth of time that the target threads use.
    pub(super) fn thread_load(&self) -> f64 {
        self.threads.iter().map(TargetThread::share).sum()
    }

    /// The cpus' worth of time that other threads of users, which ran last on `cpus`, use there.
    pub(super) fn other_load(&self, cpus: &CpuSet) -> f64 {
        let Some(rates) = self.rates else { return 0.0 };
        let is_target = |thread: &Thread| self.threads.iter().any(|target| target.thread.key == thread.key);
        let others = self.picture.threads.iter();
        let others =
            others.filter(|thread| !thread.kernel && cpus.contains(thread.last_cpu) && !is_target(thread));
        others.map(|thread| target_threads::used(rates, thread)).sum()
    }

    /// The cpus' worth of time that the kernel spends on packets and other softirqs; `None` where unknown.
    pub(super) fn softirq_load(&self) -> Option<f64> {
        self.rates.map(|rates| rates.cpus.iter().filter_map(|cpu| cpu.softirq).sum())
    }

    /// The cpus' worth of time that the packets of each queue take: as the kernel counted or as computed from the profile,
    /// whichever is more.
    pub(super) fn queue_times(&self) -> Vec<f64> {
        let counted = self.counted_times().unwrap_or_else(|| vec![0.0; self.queues.len()]);
        let costs = self.costs.as_ref().ok().zip(self.rate);
        let all = costs.map(|(costs, rate)| costs.taking_in(self.current.crossing).mean.secs() * rate.0);
        let computed = self.queues.iter().map(|queue| queue.part * all.unwrap_or(0.0));
        counted
            .into_iter()
            .zip(computed)
            .map(|(counted, computed)| (counted * self.scale()).max(computed))
            .collect()
    }

    /// The same of all packets.
    pub(super) fn packet_load(&self) -> f64 {
        self.queue_times().iter().sum()
    }

    /// The same as far as the kernel counted it.
    pub(super) fn counted_load(&self) -> f64 {
        self.counted_times().map_or(0.0, |times| times.iter().sum::<f64>() * self.scale())
    }

    /// The time of each queue as the kernel counted it while the host was observed; `None` if it was not.
    fn counted_times(&self) -> Option<Vec<f64>> {
        Some(packet_time::of_queues(&self.queues, &self.current, self.rates?))
    }

    /// By what factor the packets that are planned for are more than those that were seen.
    fn scale(&self) -> f64 {
        let seen = device_queues::rate(self.observed).filter(|rate| rate.0 > 0.0);
        self.request.rate.zip(seen).map_or(1.0, |(planned, seen)| planned.0 / seen.0)
    }

    /// The cpus' worth of time that the target threads use for the packets that are planned for.
    pub(super) fn readers_work(&self) -> f64 {
        self.thread_load() * self.scale()
    }

    /// The cpus' worth of time that the packets seen took: by the `costs`, and as the kernel counted softirqs where they are
    /// processed. `None` where one is not known, as where threads poll, or few packets came.
    fn computed_and_counted(&self, costs: &CostModel<'_>) -> Option<(Estimate<f64>, f64)> {
        const FEW: PerSecond = PerSecond(1_000.0);
        let rate = device_queues::rate(self.observed).filter(|&rate| rate >= FEW)?;
        let Estimate { mean, half_width } = costs.taking_in(self.current.crossing);
        let load = |time: Nanos| time.secs() * rate.0;
        let counted: f64 = self.counted_times()?.iter().sum();
        let is_known = counted > 0.0 && !self.threads_poll();
        is_known.then(|| (Estimate { mean: load(mean), half_width: half_width.map(load) }, counted))
    }

    /// Whether an interface has its packets processed in kernel threads, whose time is not that of softirqs.
    fn threads_poll(&self) -> bool {
        let is_polled = |of: Option<Threaded>| of.is_some_and(|threaded| threaded != Threaded::Off);
        self.picture.interfaces.iter().any(|interface| is_polled(interface.threaded_napi))
    }

    /// Why the `costs` cannot be those of the packets that were seen: these would have taken far longer than they did.
    fn contradiction(&self, costs: &CostModel<'_>) -> Option<NoPrediction> {
        let (computed, counted) = self.computed_and_counted(costs)?;
        let least = computed.mean - computed.half_width.unwrap_or(0.0);
        (least > FAR * counted).then_some(NoPrediction::Contradicted { computed, counted })
    }

    /// A note where the kernel spent far longer than the `costs` say.
    pub(super) fn kernel_is_dearer(&self, costs: &CostModel<'_>) -> Option<String> {
        let (computed, counted) = self.computed_and_counted(costs)?;
        let most = computed.mean + computed.half_width.unwrap_or(0.0);
        (counted > FAR * most).then(|| {
            format!(
                "Softirqs took {counted:.2} cpus where packets are processed; for the packets that came, the profile's receive path would take {}. \
                 Room and delay are of that path: the kernel's work besides leaves less.",
                gain::plain(computed)
            )
        })
    }

    /// The predicted performance of the current layout and of `then`.
    pub(super) fn performance(&self, then: &Layout) -> Result<[Performance; 2], NoPrediction> {
        let costs = self.costs.as_ref().map_err(Clone::clone)?;
        let predict = |layout: &Layout| costs.performance(layout, self.known_rate(), self.readers_work());
        Ok([predict(&self.current)?, predict(then)?])
    }

    /// Whether no packets were seen to come, so that all queues count alike.
    pub(super) fn is_idle(&self) -> bool {
        self.queues.iter().all(|queue| queue.rate.is_none_or(|rate| rate.0 == 0.0))
    }

    /// The rate of packets, where any come.
    pub(super) fn known_rate(&self) -> Option<PerSecond> {
        self.rate.filter(|rate| rate.0 > 0.0)
    }

    fn layout(&self, assignment: &Assignment) -> Layout {
        let queues = self.queues.iter().zip(&assignment.queues).zip(&assignment.steering);
        let load = |((queue, &cpu), steering): ((&DeviceQueue<'_>, &CpuId), &Steering)| QueueLoad {
            cpu,
            part: queue.part,
            steering: steering.clone(),
            device_node: queue.interface.node,
        };
        let queues: Vec<QueueLoad> = queues.map(load).collect();
        Layout::new(&self.pool, &queues, self.readers(&assignment.threads))
    }

    /// The readers, grouped by the cpus that they may run on; in order of their first thread.
    fn readers(&self, cpus: &[CpuSet]) -> Vec<ReaderLoad> {
        if cpus.is_empty() {
            let with_time = self.pool.available().filter(|cpu| !self.pool.is_occupied(*cpu));
            return vec![ReaderLoad {
                cpus: with_time.map(|cpu| cpu.id).collect(),
                part: 1.0,
                of_one_thread: 0.0,
            }];
        }
        let threads: Vec<&Thread> = self.threads.iter().map(|target| target.thread).collect();
        let mut readers: Vec<ReaderLoad> = Vec::new();
        for (part, cpus) in target_threads::parts(self.observed, &threads).into_iter().zip(cpus) {
            match readers.iter_mut().find(|reader| reader.cpus == *cpus) {
                Some(reader) => {
                    reader.part += part;
                    reader.of_one_thread = reader.of_one_thread.max(part);
                }
                None => readers.push(ReaderLoad { cpus: cpus.clone(), part, of_one_thread: part }),
            }
        }
        readers
    }
}

/// What packets find at `threads`, which were seen to read packets at the rate `seen`, where they arrive at `rate`: between
/// two of its packets a thread works for as long as it was seen to, and sleeps for the rest.
fn reader_state(
    threads: &[TargetThread<'_>],
    seen: Option<PerSecond>,
    rate: Option<PerSecond>,
) -> Result<ReaderState, NoPrediction> {
    let is_some = |rate: &PerSecond| rate.0 > 0.0;
    if threads.is_empty() {
        return Err(NoPrediction::NoReader("no reader was seen (--for names one)"));
    }
    let (Some(seen), Some(rate)) = (seen.filter(is_some), rate.filter(is_some)) else {
        return Err(NoPrediction::NoReader("no packets were seen to arrive while readers were watched"));
    };
    let work = Nanos::from_secs(threads.iter().map(TargetThread::share).sum::<f64>() / seen.0);
    let between = Nanos::from_secs(threads.len() as f64 / rate.0);
    let idle = (between - work).max(Nanos::ZERO);
    Ok(ReaderState { work: Nanos(work.0.min(between.0)), asleep: idle / between, idle })
}
