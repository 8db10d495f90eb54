//! A part of the flows.

use super::Id;
use super::timers::{NEVER, Timers};
use core::time::Duration;
use hashbrown::HashMap;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// No flow.
const NONE: u32 = u32::MAX;

/// How long a timer waits for a handler that has its flow.
const RETRY: u64 = 1_000_000;

/// A part of the flows, with states `S` and links `L` to their peers. All times are nanoseconds since the server started.
#[derive(Debug)]
pub(in super::super) struct Shard<S, L> {
    /// Of several flows of one peer, the last.
    numbers: HashMap<SocketAddr, u32>,
    flows: Vec<Flow<S, L>>,
    free: Vec<u32>,
    timers: Timers,
    /// The flows used last and longest ago, linked by `Flow::older` and `Flow::newer`.
    newest: u32,
    oldest: u32,
    idle: u64,
}

#[derive(Debug)]
struct Flow<S, L> {
    peer: SocketAddr,
    /// How the peer is reached; `None` in a free place.
    link: Option<L>,
    /// Counts the flows that had this place, as far as [`Id`] tells them apart.
    generation: u32,
    /// `None` while a handler has it, and in a free place.
    state: Option<Box<S>>,
    waiting: VecDeque<Waiting>,
    /// Whether a thread came for it while a handler had it.
    wanted: bool,
    used: u64,
    newer: u32,
    older: u32,
}

/// A request that waits for the handler of its flow.
#[derive(Debug)]
pub(in super::super) struct Waiting {
    pub(in super::super) bytes: Box<[u8]>,
    pub(in super::super) truncated: bool,
}

/// What came of a request's way to its flow.
#[derive(Debug)]
pub(in super::super) enum Entered<S> {
    /// The flow is idle: here is its number and state, for a handler.
    Idle(u32, Box<S>),
    /// A handler has the flow. The request waits there.
    Waits,
    /// A handler has the flow, and too many wait.
    Full,
    /// There is no such flow.
    Unknown,
}

/// What comes after a handler.
#[derive(Debug)]
pub(in super::super) enum Finished<S> {
    /// Nothing.
    Idle,
    /// The next request of the flow.
    Next(Box<S>, Waiting),
}

/// A change of a flow's timer: to none, or to a time from now.
pub(in super::super) type TimerChange = Option<Option<Duration>>;

/// A flow that was removed.
#[derive(Debug)]
pub(in super::super) struct Removed<S, L> {
    pub(in super::super) peer: SocketAddr,
    pub(in super::super) state: Box<S>,
    pub(in super::super) link: Option<L>,
}

impl<S, L: Clone> Shard<S, L> {
    /// The most requests that wait at a flow.
    const MOST_WAITING: usize = 1024;

    pub(super) fn new(idle: u64) -> Self {
        Self {
            numbers: HashMap::new(),
            flows: Vec::new(),
            free: Vec::new(),
            timers: Timers::default(),
            newest: NONE,
            oldest: NONE,
            idle,
        }
    }

    /// Takes the state of the flow of `peer`, if there is one and no handler has it.
    pub(in super::super) fn enter(
        &mut self,
        peer: SocketAddr,
        link: L,
        now: u64,
        waiting: impl FnOnce() -> Waiting,
    ) -> Entered<S> {
        let Some(&number) = self.numbers.get(&peer) else { return Entered::Unknown };
        self.touch(number, now);
        let flow = &mut self.flows[number as usize];
        flow.link = Some(link);
        match flow.state.take() {
            Some(state) => Entered::Idle(number, state),
            None if flow.waiting.len() < Self::MOST_WAITING => {
                flow.waiting.push_back(waiting());
                Entered::Waits
            }
            None => Entered::Full,
        }
    }

    /// Opens the flow of `peer` for a handler, who has its state already. `None` if there is one now.
    pub(in super::super) fn open(&mut self, peer: SocketAddr, link: L, now: u64) -> Option<u32> {
        (!self.numbers.contains_key(&peer)).then(|| self.open_another(peer, link, now))
    }

    /// The same beside other flows of this peer.
    pub(in super::super) fn open_another(&mut self, peer: SocketAddr, link: L, now: u64) -> u32 {
        let free = self.free.pop();
        let generation = free.map_or(0, |number| self.flows[number as usize].generation);
        let flow = Flow {
            peer,
            link: Some(link),
            generation,
            state: None,
            waiting: VecDeque::new(),
            wanted: false,
            used: now,
            newer: NONE,
            older: NONE,
        };
        let number = free.unwrap_or(self.flows.len() as u32);
        match free {
            Some(number) => self.flows[number as usize] = flow,
            None => self.flows.push(flow),
        }
        self.numbers.insert(peer, number);
        self.link(number);
        number
    }

    /// Tells flow `number` from others that have its place later.
    pub(in super::super) fn generation(&self, number: u32) -> u32 {
        self.flows[number as usize].generation
    }

    /// Takes the state of a flow, if it is still there and no handler has it. A handler who has it [is told](Self::put_back).
    pub(in super::super) fn enter_number(
        &mut self,
        number: u32,
        generation: u32,
        now: u64,
    ) -> Option<(Box<S>, SocketAddr, L)> {
        let flow = self.flows.get_mut(number as usize).filter(|flow| flow.generation == generation)?;
        let link = flow.link.clone()?;
        let peer = flow.peer;
        flow.wanted = flow.state.is_none();
        let state = flow.state.take()?;
        self.touch(number, now);
        Some((state, peer, link))
    }

    /// Numbers and generations of all flows.
    pub(in super::super) fn all(&self) -> Vec<(u32, u32)> {
        let there = self.flows.iter().enumerate().filter(|(_, flow)| flow.link.is_some());
        there.map(|(number, flow)| (number as u32, flow.generation)).collect()
    }

    /// How many flows there are.
    pub(in super::super) fn len(&self) -> usize {
        self.flows.len() - self.free.len()
    }

    /// How `peer` is reached, if it has a flow.
    pub(super) fn find(&self, peer: &SocketAddr) -> Option<L> {
        self.flows[*self.numbers.get(peer)? as usize].link.clone()
    }

    /// Gives back the state after a handler, and sets the timer if it was changed: to none, or to so long from `now`.
    pub(in super::super) fn finish(
        &mut self,
        number: u32,
        state: Box<S>,
        timer: TimerChange,
        now: u64,
    ) -> Finished<S> {
        self.change_timer(number, timer, now);
        let flow = &mut self.flows[number as usize];
        if let Some(next) = flow.waiting.pop_front() {
            return Finished::Next(state, next);
        }
        flow.state = Some(state);
        Finished::Idle
    }

    /// The same of a flow at which no requests wait. Returns whether another thread [came for it](Self::enter_number).
    pub(in super::super) fn put_back(
        &mut self,
        number: u32,
        state: Box<S>,
        timer: TimerChange,
        now: u64,
    ) -> bool {
        self.change_timer(number, timer, now);
        let flow = &mut self.flows[number as usize];
        flow.state = Some(state);
        core::mem::take(&mut flow.wanted)
    }

    fn change_timer(&mut self, number: u32, timer: TimerChange, now: u64) {
        match timer {
            Some(Some(time)) => self.timers.set(number, now.saturating_add(super::nanos(time))),
            Some(None) => self.timers.clear(number),
            None => {}
        }
    }

    /// Removes a flow whose state a handler has. Returns the request that waits next, with which it should begin anew: the
    /// flow then stays, in the handler's hands.
    pub(in super::super) fn close(&mut self, number: u32) -> Option<Waiting> {
        self.timers.clear(number);
        let next = self.flows[number as usize].waiting.pop_front();
        if next.is_none() {
            self.remove(number);
        }
        next
    }

    /// Removes the flow used longest ago, unless that was after `before`. `None` if there is none that no handler has.
    pub(in super::super) fn remove_oldest(&mut self, before: u64, now: u64) -> Option<Removed<S, L>> {
        // Flows that a handler has are in use now. Each is passed once.
        for _ in 0..self.numbers.len() {
            let number = self.oldest;
            let flow = &mut self.flows[number as usize];
            if flow.used > before {
                return None;
            }
            let peer = flow.peer;
            if let Some(state) = flow.state.take() {
                let link = flow.link.clone();
                self.timers.clear(number);
                self.remove(number);
                return Some(Removed { peer, state, link });
            }
            self.touch(number, now);
        }
        None
    }

    /// Removes a flow that has been idle too long.
    pub(in super::super) fn expire(&mut self, now: u64) -> Option<Removed<S, L>> {
        self.remove_oldest(now.checked_sub(self.idle)?, now)
    }

    /// Removes any flow that no handler has.
    pub(in super::super) fn drain(&mut self, now: u64) -> Option<Removed<S, L>> {
        self.remove_oldest(now, now)
    }

    /// Takes the state of a flow whose timer has come, with its number, peer and link.
    pub(in super::super) fn due(&mut self, now: u64) -> Option<(u32, Box<S>, SocketAddr, L)> {
        while let Some(number) = self.timers.due(now) {
            let flow = &mut self.flows[number as usize];
            match (flow.state.take(), flow.link.clone()) {
                (Some(state), Some(link)) => return Some((number, state, flow.peer, link)),
                _ => self.timers.set(number, now + RETRY),
            }
        }
        None
    }

    /// The next time at which a timer or an idle flow is due; [`NEVER`](super::NEVER) if nothing is.
    pub(in super::super) fn next_time(&self) -> u64 {
        let idle = self.flows.get(self.oldest as usize).map_or(NEVER, |flow| flow.used + self.idle);
        idle.min(self.timers.next())
    }

    /// Marks a flow as used now.
    fn touch(&mut self, number: u32, now: u64) {
        self.flows[number as usize].used = now;
        if self.newest != number {
            self.unlink(number);
            self.link(number);
        }
    }

    fn remove(&mut self, number: u32) {
        self.unlink(number);
        let flow = &mut self.flows[number as usize];
        flow.link = None;
        flow.generation = (flow.generation + 1) & Id::GENERATIONS;
        if self.numbers.get(&flow.peer) == Some(&number) {
            self.numbers.remove(&flow.peer);
        }
        self.free.push(number);
    }

    /// Enters a flow as the one used last.
    fn link(&mut self, number: u32) {
        let older = core::mem::replace(&mut self.newest, number);
        self.flows[number as usize].older = older;
        self.flows[number as usize].newer = NONE;
        match self.flows.get_mut(older as usize) {
            Some(older) => older.newer = number,
            None => self.oldest = number,
        }
    }

    fn unlink(&mut self, number: u32) {
        let Flow { newer, older, .. } = self.flows[number as usize];
        match self.flows.get_mut(newer as usize) {
            Some(newer) => newer.older = older,
            None => self.newest = older,
        }
        match self.flows.get_mut(older as usize) {
            Some(older) => older.newer = newer,
            None => self.oldest = newer,
        }
    }
}
