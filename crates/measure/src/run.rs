//! One run: pinned threads step through a script of packets, some of which are timed.
//!
//! Each packet has two phases (Salehi, Kurose & Towsley 1994, §5, figure 5, with a [`Baton`] in place
//! of their semaphores):
//!
//! 1. **Prepare**, on another processor than the receiver's if there is one: write the packet into the
//!    receiver's buffer, so that reading it misses there as it does after DMA
//!    ([resident](crate::FrameLines::Resident) frames are not written); zero the protocol thread's stack
//!    if it is to migrate; write the free-memory pool if its lines are to migrate. The packet of a
//!    conversation (TCP, RPC) is made here by the stream's [far end](remote_end), which gets the answers to
//!    the last one first.
//! 2. **Receive**, on the consumer's processor: make its caches cold, or run other work, if the
//!    experiment says so; then start the timer, receive, unwind, stop the timer. The packet of a
//!    conversation is answered too before the timer stops: its answers are built, and sent afterwards.
//!
//! With two processors each consumer prepares the packets of the other. With more, a third processor
//! prepares all of them. With one, it does everything, and flushes the packet's lines; then the far ends of
//! conversations use its caches too.

pub(crate) mod baton;
pub(crate) mod bench;
mod consumers;
pub(crate) mod handover;
pub(crate) mod intervening;
pub(crate) mod pattern;
pub(crate) mod proximity;
mod remote_end;
pub(crate) mod script;

pub(crate) use consumers::LINK;

use crate::caches::eviction::Evictor;
use crate::caches::flush;
use crate::clock::{self, Ticks, Timer};
use crate::error::RunError;
use baton::{Alarm, Baton, RaiseUnlessDone};
use bench::{Answering, Bench, Protocol, Reception};
use consumers::{Consumers, WaitingPacket};
use core::sync::atomic::AtomicBool;
use handover::exchange;
use intervening::Workload;
use pattern::Step;
use proximity::Proximity;
use rand_xoshiro::Xoshiro256PlusPlus;
use script::{BeforePacket, PoolUse, Sample, Script, ScriptRun};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;
use warmcore_linux::{Snapshot, pin_to};
use warmcore_runtime::HandlerState;
use warmcore_stack::Pool;
use warmcore_units::CpuId;

/// The processors of a run, their evictors, the timer and the user's stop flag.
pub(crate) struct RunContext<'a> {
    /// The first two receive, and the third prepares. With two, each prepares for the other.
    pub(crate) cpus: &'a [CpuId],
    /// One for each consumer.
    pub(crate) evictors: &'a [Evictor],
    pub(crate) stop: &'a AtomicBool,
    pub(crate) timer: &'a Timer,
}

impl RunContext<'_> {
    /// Index of the processor that prepares the packets of `consumer`.
    const fn producer_for(&self, consumer: usize) -> usize {
        match self.cpus.len() {
            0 | 1 => 0,
            2 => 1 - consumer,
            _ => 2,
        }
    }

    /// Runs `script` once, on a bench with a layout drawn from `rng`. Aborts the run if the processors
    /// are not at the distance `near`.
    ///
    /// # Errors
    /// If a thread cannot be created or pinned, a packet is dropped, or the user stops; and
    /// [`RunError::Displaced`] if the run was aborted.
    pub(crate) fn run(
        &self,
        script: &Script,
        rng: &mut Xoshiro256PlusPlus,
        workload: Option<&mut Workload>,
        near: Proximity,
    ) -> Result<ScriptRun, RunError> {
        let bench = Bench::new(script.approach, script.packets, rng)?;
        let Bench { protocol, pools, state, consumers, spacers: _spacers } = bench;
        let shared = Shared {
            context: self,
            script,
            near,
            protocol,
            pools,
            state,
            baton: Baton::new(consumers),
            pool_baton: Baton::new(()),
            distance_baton: Baton::new(()),
            alarm: Alarm::new(self.stop),
        };
        let mut workload = workload;
        thread::scope(|scope| {
            let started: Result<Vec<_>, RunError> = (0..self.cpus.len())
                .map(|me| {
                    let workload = workload.take_if(|_| me == 0);
                    let shared = &shared;
                    let participant = move || shared.run_thread(me, workload);
                    thread::Builder::new().spawn_scoped(scope, participant).map_err(|error| {
                        shared.alarm.raise();
                        RunError::NoThread(error)
                    })
                })
                .collect();
            join_threads(started?)
        })
    }
}

/// Joins the threads of a run. If one failed, its error is the error of the run; the error of a partner
/// that only noticed is used last.
fn join_threads(
    threads: Vec<ScopedJoinHandle<'_, Result<ScriptRun, RunError>>>,
) -> Result<ScriptRun, RunError> {
    let mut total = ScriptRun::default();
    let mut failure = None;
    for thread in threads {
        match thread.join().unwrap_or(Err(RunError::Panicked)) {
            Ok(part) => {
                total.samples.extend(part.samples);
                total.disturbance += part.disturbance;
                total.exchanges = total.exchanges.or(part.exchanges);
            }
            Err(error) if matches!(failure, None | Some(RunError::PartnerFailed)) => failure = Some(error),
            Err(_) => {}
        }
    }
    failure.map_or(Ok(total), Err)
}

/// State shared by the threads of a run.
struct Shared<'a> {
    context: &'a RunContext<'a>,
    script: &'a Script,
    near: Proximity,
    protocol: Protocol,
    pools: Vec<Pool>,
    state: HandlerState,
    /// Alternates between Prepare (even phases) and Receive (odd phases).
    baton: Baton<Consumers>,
    /// Passed back and forth while a packet is paused at the top of the stack.
    pool_baton: Baton<()>,
    /// Passed back and forth to measure the distance of the processors.
    distance_baton: Baton<()>,
    alarm: Alarm<'a>,
}

impl Shared<'_> {
    /// Runs thread number `me` of the run.
    fn run_thread(&self, me: usize, mut workload: Option<&mut Workload>) -> Result<ScriptRun, RunError> {
        let watch = RaiseUnlessDone::new(&self.alarm);
        let _pinned = pin_to(self.context.cpus[me])?;
        let mut samples = self.script.empty_samples();
        let mut before = Snapshot::now();
        let mut began = None;
        let mut last_stop = clock::now();
        for packet in 0..self.script.length() {
            self.alarm.check()?;
            if packet == Script::SETTLING_PACKETS {
                began = self.exchange(me, 0)?;
                self.check_distance(began)?;
                before = Snapshot::now();
            }
            let step = self.script.step(packet);
            if self.context.producer_for(step.consumer) == me {
                self.prepare(packet, step)?;
            }
            if step.consumer == me {
                let (reception, intervened) =
                    self.receive(packet, step, last_stop, workload.as_deref_mut())?;
                last_stop = reception.stop;
                if self.script.is_timed(packet) {
                    samples.push(Sample { ticks: reception.ticks(), intervened, packet });
                }
            }
        }
        let disturbance = Snapshot::now().since(&before);
        let ended = self.exchange(me, 1)?;
        watch.done();
        Ok(ScriptRun {
            samples,
            disturbance,
            exchanges: began.zip(ended).map(|(began, ended)| [began, ended]),
        })
    }

    /// # Errors
    /// If the processors are at the wrong distance.
    fn check_distance(&self, exchange: Option<Ticks>) -> Result<(), RunError> {
        let Some(ticks) = exchange else { return Ok(()) };
        let handover = self.context.timer.nanos(ticks as f64);
        if self.near.matches(Some([handover.0; 2])) { Ok(()) } else { Err(RunError::Displaced { handover }) }
    }

    /// Measures the ticks of a hand-over between the first two processors, for the `time`-th time in
    /// the run. Only the first gets the result.
    fn exchange(&self, me: usize, time: u64) -> Result<Option<Ticks>, RunError> {
        if self.context.cpus.len() < 2 || me > 1 {
            return Ok(None);
        }
        exchange(&self.distance_baton, &self.alarm, me, time)
    }

    /// The Prepare phase of `packet`, and the pool's rewriting while it is paused, if the script asks
    /// for it.
    fn prepare(&self, packet: usize, step: Step) -> Result<(), RunError> {
        let mut consumers = self.baton.take(2 * packet as u64, &self.alarm)?;
        consumers.write_packet(step, Script::now(packet))?;
        if self.script.stack_migrates {
            consumers.zero_stack(step.consumer);
        }
        let write_pool = Script::writes_pool(packet);
        if write_pool && self.script.pool == PoolUse::WrittenBeforeAcquire {
            self.pools[step.consumer].dirty();
        }
        if self.context.cpus.len() == 1
            && let Some(buffer) = consumers.written_buffer(step.consumer)
        {
            flush::lines(buffer);
        }
        consumers.pass();
        if self.script.pool == PoolUse::WrittenBeforeRelease && self.context.cpus.len() > 1 {
            let turn = self.pool_baton.take(2 * packet as u64 + 1, &self.alarm)?;
            if write_pool {
                self.pools[step.consumer].dirty();
            }
            turn.pass();
        }
        Ok(())
    }

    /// The Receive phase of `packet`. Returns when it was received, and how long other work ran before.
    #[inline]
    fn receive(
        &self,
        packet: usize,
        step: Step,
        last_stop: Ticks,
        workload: Option<&mut Workload>,
    ) -> Result<(Reception, Ticks), RunError> {
        let mut consumers = self.baton.take(2 * packet as u64 + 1, &self.alarm)?;
        consumers.fetch_packet(step);
        let WaitingPacket { frame, thread, exchange } = consumers.packet(step);
        let pool = &self.pools[step.consumer];
        let mut intervened = 0;
        if self.script.is_timed(packet) {
            intervened = self.intervene(step.consumer, last_stop, workload)?;
        }
        let reception = match (exchange, self.script.pool) {
            (None, PoolUse::WrittenBeforeRelease) => {
                self.protocol.time(thread, pool, frame, &self.state, || self.pause(packet))
            }
            (None, _) => self.protocol.time(thread, pool, frame, &self.state, || Ok(0)),
            (Some(exchange), pool_use) => {
                let reply_bytes = self.script.packets.reply_bytes;
                let answering = Answering { now: Script::now(packet), reply_bytes, exchange };
                let pauses = pool_use == PoolUse::WrittenBeforeRelease;
                let pause = || if pauses { self.pause(packet) } else { Ok(0) };
                self.protocol.time_answered(thread, pool, frame, &self.state, answering, pause)
            }
        }?;
        consumers.send_answers(step);
        consumers.pass();
        Ok((reception, intervened))
    }

    /// Evicts, works or sleeps before a timed packet. Returns how long that took, if it matters.
    fn intervene(
        &self,
        consumer: usize,
        last_stop: Ticks,
        workload: Option<&mut Workload>,
    ) -> Result<Ticks, RunError> {
        match self.script.before {
            BeforePacket::Nothing => Ok(0),
            BeforePacket::Evict(level) => {
                if let Some(evictor) = self.context.evictors.get(consumer) {
                    evictor.evict(level);
                }
                Ok(0)
            }
            BeforePacket::Work(duration) => match workload {
                Some(workload) => workload.run(duration, &self.alarm),
                None => Ok(0),
            },
            BeforePacket::Sleep(duration) => {
                thread::sleep(Duration::from_secs_f64(duration.secs()));
                self.alarm.check()?;
                Ok(clock::now() - last_stop)
            }
        }
    }

    /// Pauses the packet while the other processor may write the pool's lines. Returns how long.
    fn pause(&self, packet: usize) -> Result<Ticks, RunError> {
        let start = clock::now();
        self.pool_baton.take(2 * packet as u64, &self.alarm)?.pass();
        drop(self.pool_baton.take(2 * packet as u64 + 2, &self.alarm)?);
        Ok(clock::now() - start)
    }
}
