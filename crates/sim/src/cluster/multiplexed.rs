//! Compute processors that execute protocol threads: how each gets into its [`Role`] and out of it, and what that costs.

use super::agenda::Event;
use super::error::Error;
use super::scheduling::{Interruption, Role};
use super::system::{Compute, State, System};
use warmcore_policy::protocol::Invocation;
use warmcore_units::ThreadId;

impl Compute {
    /// What it is about in its program, of which it does something. An interrupt that is pending masks further ones.
    fn role(&self) -> Role {
        if self.local.pending.get() { Role::Pending } else { Role::Computing }
    }
}

impl System {
    /// Whether `event` of a processor has to wait: it is interrupted, or was until now.
    pub(super) fn is_late(&mut self, now: u64, processor: u32, event: Event) -> bool {
        if !self.multiplexed {
            return false;
        }
        let number = processor as usize;
        let interrupted = matches!(
            self.role(number),
            Some(Role::Interrupted(_) | Role::Acting { interrupted: Some(_), .. })
        );
        if interrupted {
            self.processors[number].deferred = Some((now, event));
            return true;
        }
        let stolen = core::mem::take(&mut self.processors[number].stolen);
        if stolen > 0 {
            self.delay(number, now, stolen, event);
        }
        stolen > 0
    }

    fn delay(&mut self, number: usize, time: u64, by: u64, event: Event) {
        let clock = &self.processors[number].local.clock;
        clock.set(clock.get() + by);
        self.agenda.push(time + by, event);
    }

    /// A processor begins to wait at `time`, and will poll from then on.
    pub(super) fn begin_polling(&mut self, time: u64, number: usize) {
        let (node, cpu) = (number / self.per_node, number % self.per_node);
        let Some(multiplexing) = &mut self.nodes[node].device.multiplexing else { return };
        if matches!(multiplexing.roles[cpu], Role::Acting { .. }) {
            multiplexing.resumable[cpu] = None;
        } else {
            let until = time.max(self.now);
            multiplexing.roles[cpu] = Role::Trapping { until };
            self.agenda.push(until, Event::Poll { node: node as u32, cpu: cpu as u32 });
        }
    }

    /// A processor's reference is denied at `time`: it will poll when it is in the trap's code.
    pub(super) fn begin_trap(&mut self, time: u64, number: usize) {
        let trap = self.nodes[number / self.per_node].timing.trap;
        self.begin_polling(time + trap, number);
    }

    /// A processor has got to its dispatch register: by a trap, a wait or an interrupt.
    pub(super) fn poll(&mut self, now: u64, at: usize, cpu: usize) -> Result<(), Error> {
        let number = at * self.per_node + cpu;
        let waits = matches!(
            self.processors[number].state,
            State::Mapping { .. }
                | State::Faulted { .. }
                | State::Requesting { .. }
                | State::Watching { .. }
                | State::Done
        );
        match self.role(number) {
            // An earlier trap's, whose wait was over before, has nothing to do with this one, nor with an interrupt.
            Some(role @ &mut Role::Trapping { until }) if waits && now >= until => *role = Role::Polling,
            Some(&mut Role::Interrupted(Interruption { until, .. })) if now >= until => {
                return if self.processors[number].local.masked.get() {
                    self.put_off(now, at, cpu)
                } else {
                    self.take_next(now, at, cpu)
                };
            }
            // Whoever waited here is gone: an event that came meanwhile still wants a processor.
            _ => {}
        }
        self.dispatch(now, at)
    }

    /// Lets polling processors take events; interrupts one if no protocol thread is scheduled.
    pub(super) fn dispatch_multiplexed(&mut self, now: u64, at: usize) -> Result<(), Error> {
        let interrupt = self.nodes[at].timing.interrupt;
        while self.nodes[at].device.pdq.waiting() > 0 {
            let device = &mut self.nodes[at].device;
            let Some(multiplexing) = &mut device.multiplexing else { return Ok(()) };
            let cpu = match multiplexing.invoke() {
                Invocation::Act(cpu) => cpu.index(),
                Invocation::Wait => return Ok(()),
                Invocation::Interrupt(cpu) => {
                    let (cpu, until) = (cpu.index(), now + interrupt);
                    multiplexing.roles[cpu] = Role::Interrupted(Interruption { since: now, until });
                    self.processors[at * self.per_node + cpu].interrupts.add(interrupt);
                    self.agenda.push(until, Event::Poll { node: at as u32, cpu: cpu as u32 });
                    return Ok(());
                }
            };
            let thread = multiplexing.thread_of(cpu);
            let Some(event) = device.pdq.dispatch(ThreadId(thread as u32)) else { return Ok(()) };
            multiplexing.roles[cpu] = Role::Acting { thread: thread as u32, interrupted: None };
            device.threads[thread].cache = Some(cpu);
            self.start(now, at, thread, event)?;
        }
        Ok(())
    }

    /// An interrupt has found a critical section: the processor goes on with that, and turns to the device at its end.
    fn put_off(&mut self, now: u64, at: usize, cpu: usize) -> Result<(), Error> {
        let number = at * self.per_node + cpu;
        if let Some(role @ &mut Role::Interrupted(interruption)) = self.role(number) {
            *role = Role::Pending;
            self.processors[number].local.pending.set(true);
            self.nodes[at].device.tally.put_off += 1;
            self.go_back(now, number, interruption.since);
        }
        Ok(())
    }

    /// A critical section in which an interrupt has come is over at `time`.
    pub(super) fn turn_to_device(&mut self, time: u64, number: usize) {
        self.processors[number].deferred = Some((time, Event::Continue(number as u32)));
        let since = time.max(self.now);
        if let Some(role) = self.role(number) {
            *role = Role::Interrupted(Interruption { since, until: since });
        }
        let (node, cpu) = ((number / self.per_node) as u32, (number % self.per_node) as u32);
        self.agenda.push(since, Event::Poll { node, cpu });
    }

    /// An interrupted processor goes back to its program; `since` when it has not been there.
    fn go_back(&mut self, now: u64, number: usize, since: u64) {
        let stolen = now - since;
        let processor = &mut self.processors[number];
        match processor.deferred.take() {
            Some((time, event)) => self.delay(number, time, stolen, event),
            None => processor.stolen += stolen,
        }
    }

    /// An interrupted processor takes an event, or goes back to its program if there is none for it.
    fn take_next(&mut self, now: u64, at: usize, cpu: usize) -> Result<(), Error> {
        let number = at * self.per_node + cpu;
        let Some(
            &mut (Role::Interrupted(interruption) | Role::Acting { interrupted: Some(interruption), .. }),
        ) = self.role(number)
        else {
            return Ok(());
        };
        let device = &mut self.nodes[at].device;
        let Some(multiplexing) = &mut device.multiplexing else { return Ok(()) };
        let thread = multiplexing.thread_of(cpu);
        let busy = device.threads[thread].run.is_some();
        let event = if busy { None } else { device.pdq.dispatch(ThreadId(thread as u32)) };
        if let Some(event) = event {
            multiplexing.roles[cpu] = Role::Acting { thread: thread as u32, interrupted: Some(interruption) };
            multiplexing.acts(cpu);
            device.threads[thread].cache = Some(cpu);
            return self.start(now, at, thread, event);
        }
        multiplexing.roles[cpu] = Role::Computing;
        self.processors[number].protocol += now - interruption.until;
        self.go_back(now, number, interruption.since);
        Ok(())
    }

    /// Whether a processor executes a handler.
    pub(super) fn is_acting(&mut self, number: usize) -> bool {
        matches!(self.role(number), Some(Role::Acting { .. }))
    }

    /// Whether a processor whose wait has ended executes a handler, which it has to end first. Otherwise it computes from now on.
    pub(super) fn keeps_acting(&mut self, now: u64, at: usize, cpu: usize) -> bool {
        let Some(multiplexing) = &mut self.nodes[at].device.multiplexing else { return false };
        if matches!(multiplexing.roles[cpu], Role::Acting { .. }) {
            multiplexing.resumable[cpu] = Some(now);
            return true;
        }
        multiplexing.roles[cpu] = self.processors[at * self.per_node + cpu].role();
        false
    }

    /// The handler of `thread` has ended: who executed it goes on with its program, polls, or takes the next event.
    pub(super) fn end_acting(&mut self, now: u64, at: usize, thread: usize) -> Result<(), Error> {
        let Some(multiplexing) = &mut self.nodes[at].device.multiplexing else { return Ok(()) };
        let acting =
            |role: &Role| matches!(role, Role::Acting { thread: acting, .. } if *acting as usize == thread);
        let Some(cpu) = multiplexing.roles.iter().position(acting) else { return Ok(()) };
        if matches!(multiplexing.roles[cpu], Role::Acting { interrupted: Some(_), .. }) {
            return self.take_next(now, at, cpu);
        }
        let Some(since) = multiplexing.resumable[cpu].take() else {
            multiplexing.roles[cpu] = Role::Polling;
            return Ok(());
        };
        let number = at * self.per_node + cpu;
        let processor = &mut self.processors[number];
        multiplexing.roles[cpu] = processor.role();
        processor.protocol += now - since;
        match processor.deferred.take() {
            Some((time, event)) => self.delay(number, time, now - since, event),
            None => self.agenda.push(now, Event::Continue(number as u32)),
        }
        Ok(())
    }
}
