//! Made-up costs for tests.

use warmcore_costs::Measured;
use warmcore_costs::ServerCosts;
use warmcore_costs::server::{AloneTimes, BurstTimes, SourceTimes, Waiting};
use warmcore_costs::socket::{LastUsed, SoftirqCpu};
use warmcore_units::{Nanos, Transport};

/// Costs in nanoseconds. Pairs are with the softirq on the worker's processor and on another.
#[derive(Clone, Debug)]
pub(super) struct Synthetic {
    pub(super) late: f64,
    pub(super) late_busy: f64,
    pub(super) stolen: f64,
    pub(super) stolen_more: f64,
    pub(super) waking_call: [f64; 2],
    pub(super) call: [f64; 2],
    pub(super) reply: [f64; 2],
    /// Of a single request.
    pub(super) worker_cpu: [f64; 2],
    /// Of each request of a burst.
    pub(super) each: [f64; 2],
    /// What a socket from elsewhere adds to the reply and to the worker's time.
    pub(super) socket: [f64; 2],
    /// What a state from elsewhere adds.
    pub(super) state: [f64; 2],
    /// Idle times, and what each adds to lateness, call, reply and the worker's time.
    pub(super) idle: Vec<(f64, [f64; 4])>,
    /// What each way of waiting adds to call, reply and the worker's time.
    pub(super) waiting: [(Waiting, f64); 3],
}

pub(super) const PLACES: [SoftirqCpu; 2] = [SoftirqCpu::Reader, SoftirqCpu::OtherCore];
const BURST: usize = 16;

impl Default for Synthetic {
    /// All costs differ.
    fn default() -> Self {
        Self {
            late: 900.0,
            late_busy: 400.0,
            stolen: 2_600.0,
            stolen_more: 1_500.0,
            waking_call: [2_000.0, 2_900.0],
            call: [1_200.0, 1_700.0],
            reply: [6_000.0, 9_500.0],
            worker_cpu: [5_000.0, 6_400.0],
            each: [2_800.0, 3_100.0],
            socket: [350.0, 250.0],
            state: [700.0, 610.0],
            idle: vec![(2e4, [0.0; 4]), (2e6, [800.0, 500.0, 1_900.0, 1_100.0])],
            waiting: [(Waiting::Own, 0.0), (Waiting::Fifo, 60.0), (Waiting::Lifo, 230.0)],
        }
    }
}

impl Synthetic {
    /// Sources take no time, and a worker takes `time` for each request, asleep before or not.
    pub(super) fn constant(time: f64) -> Self {
        Self {
            late: 0.0,
            late_busy: 0.0,
            stolen: 0.0,
            stolen_more: 0.0,
            waking_call: [0.0; 2],
            call: [0.0; 2],
            reply: [time; 2],
            worker_cpu: [time; 2],
            each: [time; 2],
            socket: [0.0; 2],
            state: [0.0; 2],
            idle: vec![(1e3, [0.0; 4])],
            waiting: [(Waiting::Own, 0.0), (Waiting::Fifo, 0.0), (Waiting::Lifo, 0.0)],
        }
    }

    /// As if they had been measured in every situation.
    pub(super) fn costs(&self) -> ServerCosts {
        let ns = |time| Measured::published(Nanos(time));
        let (mut alone, mut bursts) = (Vec::new(), Vec::new());
        for (waiting, more) in self.waiting {
            for (place, &softirq_cpu) in PLACES.iter().enumerate() {
                for (socket, state) in SITUATIONS {
                    let moved = |index: usize| {
                        let add = |used, costs: [f64; 2]| {
                            if used == LastUsed::Elsewhere { costs[index] } else { 0.0 }
                        };
                        add(socket, self.socket) + add(state, self.state)
                    };
                    alone.extend(self.idle.iter().map(|&(idle, [late, call, reply, cpu])| AloneTimes {
                        waiting,
                        softirq_cpu,
                        socket,
                        state,
                        idle: Nanos(idle),
                        late: ns(self.late + late),
                        call: ns(self.waking_call[place] + more + call),
                        reply: ns(self.reply[place] + more + reply + moved(0)),
                        worker_cpu: ns(self.worker_cpu[place] + more + cpu + moved(1)),
                    }));
                }
                let single = self.worker_cpu[place] + more + self.idle[0].1[3];
                bursts.push(BurstTimes {
                    waiting,
                    softirq_cpu,
                    requests: BURST,
                    call: ns(self.call[place]),
                    last_reply: ns(0.0),
                    worker_cpu: ns(single + self.each[place] * (BURST - 1) as f64),
                });
            }
        }
        let source = SourceTimes {
            late_busy: ns(self.late_busy),
            stolen: ns(self.stolen),
            stolen_more: ns(self.stolen_more),
        };
        ServerCosts {
            transport: Transport::Udp,
            state_bytes: 64,
            payload_bytes: 64,
            library: None,
            requests: None,
            flows: 16,
            source,
            alone,
            bursts,
        }
    }
}

const SITUATIONS: [(LastUsed, LastUsed); 3] = [
    (LastUsed::Here, LastUsed::Here),
    (LastUsed::Elsewhere, LastUsed::Here),
    (LastUsed::Elsewhere, LastUsed::Elsewhere),
];
