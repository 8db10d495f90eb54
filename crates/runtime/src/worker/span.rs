//! A span: the packets that a worker processes between two readings of the clock.
//!
//! A reading takes longer than many a step of the stack, so quick packets share one. The end of each is then
//! interpolated, as if all took equally long; the times of a span add up to what the clock said. A span takes at
//! most about [`LONGEST`]: it holds one packet at first and after one that took longer, and twice as many with each
//! that was quick. So times are wrong by less than that, unless a packet takes far longer than those before it;
//! [`Interpolated`](crate::tally::Interpolated) says by how much at most. Now and then a packet is alone in
//! its span: those tell how long packets take by what they find in the caches.

use super::{Worker, conversation, panic_message, protocol};
use crate::control::{Control, Order};
use crate::handler::Context;
use crate::packet::Packet;
use crate::scheduler::Assignment;
use crate::stopwatch::Stopwatch;
use crate::tally::SpanStats;
use std::panic::{AssertUnwindSafe, catch_unwind};
use warmcore_policy::Policy;
use warmcore_policy::dispatch::Waiting;
use warmcore_units::{Nanos, StreamId};

/// How long a span may take.
const LONGEST: Nanos = Nanos(4e3);
/// Most packets of a span.
const MOST: u32 = 32;
/// One span in so many holds one packet. A prime, because packets come in batches.
const ALONE_IN: u32 = 17;

/// How many packets the next span holds.
pub(super) struct Pace {
    packets: u32,
    /// Spans until one holds one packet.
    until_alone: u32,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { packets: 1, until_alone: ALONE_IN }
    }

    /// How many packets are quick enough to share a span.
    #[inline]
    pub(super) fn packets(&self) -> usize {
        self.packets as usize
    }

    #[inline]
    fn next(&mut self) -> u32 {
        self.until_alone -= 1;
        if self.until_alone == 0 {
            self.until_alone = ALONE_IN;
            return 1;
        }
        self.packets
    }

    /// A span of so many packets took `time`.
    #[inline]
    fn ended(&mut self, packets: u32, time: Nanos) {
        if time > LONGEST {
            self.packets = 1;
        } else if packets == self.packets && time <= LONGEST * 0.5 {
            self.packets = (packets * 2).min(MOST);
        }
    }
}

/// What was processed since the clock was read.
#[derive(Default)]
pub(super) struct Span {
    packets: u32,
    /// A bit for each packet: whether it was delivered.
    delivered: u32,
    /// The time in the stack, if the packet was timed.
    stack: Option<Nanos>,
    /// The stream of the last packet and the message of its handler's panic.
    panic: Option<(StreamId, String)>,
}

impl<P: Policy, W: Waiting<Job = Packet>> Worker<'_, '_, P, W> {
    /// Processes packets of the batch up to the next reading of the clock, and gets the next batch if it is over.
    #[inline]
    pub(super) fn serve(&mut self) {
        // A packet that follows another at once starts when that one ended.
        let begun = if self.is_back_to_back { self.last_reading } else { self.read_clock() };
        let span = self.process_span();
        let ended = self.read_clock();
        self.pace.ended(span.packets, ended - begun);
        self.count(&span, begun, ended);
        self.last_ended = Some(ended);
        if let Some((stream, message)) = &span.panic {
            self.panicked(*stream, message);
        }
        if self.tally.is_full(ended) {
            self.publish_block(ended);
        }
        if ended >= self.next_tick {
            self.tick(ended);
        }
        self.is_back_to_back = !self.batch.is_processed();
        if !self.is_back_to_back {
            self.finish(ended);
        }
    }

    /// Processes the packets of a span, and answers them.
    #[inline]
    fn process_span(&mut self) -> Span {
        let watch = self.stopwatch();
        let wanted = if self.reads_for_each { 1 } else { self.pace.next() };
        let most = self.batch.upcoming().len().min(wanted as usize) as u32;
        let mut span = Span::default();
        while span.packets < most && span.panic.is_none() && may_go_on(self.shared.control) {
            self.process_until_answer(&mut span, most, watch);
        }
        span
    }

    /// Processes packets on their protocol thread, until there is an answer to send or the span ends.
    #[inline]
    fn process_until_answer(&mut self, span: &mut Span, most: u32, watch: Option<Stopwatch>) {
        let Self { id, cpu, shared, last_reading, .. } = *self;
        let Self { protocol: held, batch, tally, reply, exchange, .. } = self;
        let protocol = protocol(held, shared);
        let pool = shared.pool(id);
        let upcoming = &batch.upcoming()[..most as usize];
        let mut context = Context { cpu, worker: id.0, reply, replied: false };
        let Assignment { stack, thread, .. } = upcoming[span.packets as usize];
        let mut thread = shared.thread(thread).lock();
        let start = watch.map(|watch| (watch.read)());
        let processed = thread.run(|| {
            catch_unwind(AssertUnwindSafe(|| {
                let calling = shared.calls.begin(id, last_reading);
                // A conversation locks the stack itself.
                let mut entered = (!shared.converses).then(|| protocol.enter(stack, pool));
                while let Some(Assignment { packet, .. }) = upcoming.get(span.packets as usize)
                    && may_go_on(shared.control)
                {
                    if shared.streams.has_failed(packet.stream) {
                        tally.failed();
                        span.packets += 1;
                        continue;
                    }
                    let frame = shared.bytes(&packet.frame);
                    calling.next(packet.stream);
                    let received = match &mut entered {
                        Some(Ok(entered)) => {
                            entered.receive(frame, |delivery| shared.handler.deliver(&delivery, &mut context))
                        }
                        Some(Err(reason)) => Err(*reason),
                        None => {
                            let now = conversation::since_start(last_reading);
                            let packet = conversation::Arrived { now, stack, pool, frame };
                            conversation::receive(protocol, shared.handler, &packet, exchange, (cpu, id.0))
                        }
                    };
                    match received {
                        Ok(()) => span.delivered |= 1 << span.packets,
                        Err(reason) => tally.refused(reason),
                    }
                    span.packets += 1;
                    if context.replied || !exchange.is_empty() {
                        break;
                    }
                }
            }))
        });
        span.stack = watch.zip(start).map(|(watch, start)| watch.between(start, (watch.read)()));
        drop(thread);
        let replied = context.replied;
        match processed {
            Ok(()) if replied => self.answer(span.packets - 1),
            Ok(()) => {}
            Err(panic) => {
                tally.failed();
                let stream = upcoming[span.packets as usize].packet.stream;
                span.packets += 1;
                span.panic = Some((stream, panic_message(&*panic)));
            }
        }
        if !self.exchange.is_empty() {
            self.send_exchange();
        }
    }

    /// Counts the packets of a span from `begun` to `ended`.
    #[inline]
    fn count(&mut self, span: &Span, begun: Nanos, ended: Nanos) {
        let Self { shared, batch, tally, .. } = self;
        if span.packets == 0 {
            return;
        }
        let reading = span.stack.and(shared.stopwatch).map_or(Nanos::ZERO, |watch| watch.overhead);
        let service = (ended - begun - reading) / f64::from(span.packets);
        let end_of = |number: u32| begun + service * f64::from(number + 1);
        let stall = shared.stalled.last();
        let mut clean = SpanStats::default();
        let upcoming = &batch.upcoming()[..span.packets as usize];
        for (number, Assignment { packet, situation, .. }) in (0..span.packets).zip(upcoming) {
            if span.delivered & 1 << number == 0 {
                continue;
            }
            let delay = end_of(number) - packet.arrived;
            if stall.affects(packet.arrived, ended) {
                tally.disturbed(delay, service, *situation);
            } else {
                tally.finished(delay);
                clean.push(delay, *situation);
                if let Some(stack) = span.stack {
                    let packet_overhead = self.last_ended.map(|last| ended - last - reading - stack);
                    tally.timed(stack, *situation, packet_overhead);
                }
            }
            shared.streams.processed(self.id, packet.stream);
        }
        tally.span(&clean, service, span.packets);
        batch.end_next((0..span.packets).map(end_of));
    }

    /// The stopwatch, if the next packet is to be timed.
    #[inline]
    fn stopwatch(&mut self) -> Option<Stopwatch> {
        let watch = self.shared.stopwatch?;
        self.untimed += 1;
        if self.untimed < watch.every {
            return None;
        }
        self.untimed = 0;
        Some(watch)
    }
}

/// Whether the next packet may be processed before the workers' orders are followed.
#[inline]
fn may_go_on(control: &Control) -> bool {
    matches!(control.order(), Order::Run | Order::Drain)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The packets of the next so many spans, if each packet takes `time`.
    fn spans(pace: &mut Pace, number: usize, time: f64) -> Vec<u32> {
        let span = |_| {
            let packets = pace.next();
            pace.ended(packets, Nanos(time * f64::from(packets)));
            packets
        };
        (0..number).map(span).collect()
    }

    #[test]
    fn quick_packets_share_a_reading_and_slow_ones_do_not() {
        let mut pace = Pace::new();
        assert_eq!(spans(&mut pace, 7, 60.0), [1, 2, 4, 8, 16, 32, 32]);
        // The first slow ones come unforeseen.
        assert_eq!(spans(&mut pace, 3, 5_000.0), [32, 1, 1]);
        assert_eq!(spans(&mut pace, 4, 1_500.0), [1, 2, 2, 2]);
    }

    #[test]
    fn a_packet_is_alone_now_and_then() {
        let mut pace = Pace::new();
        let spans = spans(&mut pace, 6 + 10 * ALONE_IN as usize, 60.0);
        assert_eq!(spans[6..].iter().filter(|&&packets| packets == 1).count(), 10);
    }
}
