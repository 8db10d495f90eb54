//! Conversations through all layers, in every form: what the application gets and answers.

use core::num::NonZero;
use core::time::Duration;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;
use warmcore_stack::rpc::{self, BootId};
use warmcore_stack::tcp;
use warmcore_stack::wire::tcp::Segment;
use warmcore_stack::wire::{FrameBuilder, LinkKind};
use warmcore_stack::{
    Config, Conversations, Delivery, DropReason, Exchange, Flow, IndependentStacks, LockingStack, OfferError,
    OpenError, Peer, Pool, References, SerialStack,
};
use warmcore_units::{StackId, StreamId, Transport};

const STREAMS: usize = 3;

fn both() -> [Conversations; 2] {
    let boot = BootId(NonZero::new(7).unwrap());
    let tcp = tcp::Config { send_buffer: 8192, receive_buffer: 8192, ..tcp::Config::default() };
    [Conversations::Tcp(tcp), Conversations::Rpc { config: rpc::Config::with_sizes(1400, 2000), boot }]
}

/// A stack in one of its forms.
enum Form {
    Serial(Box<SerialStack>),
    Locking(Box<LockingStack>),
    Independent(IndependentStacks),
}

impl Form {
    fn all(config: Config, conversations: Conversations) -> [Self; 3] {
        [
            Self::Serial(Box::new(SerialStack::conversing(config, conversations))),
            Self::Locking(Box::new(LockingStack::conversing(config, conversations))),
            Self::Independent(IndependentStacks::conversing(2, config, conversations)),
        ]
    }

    const fn stack(stream: usize) -> StackId {
        StackId((stream % 2) as u32)
    }

    fn open(&mut self, stream: usize) {
        let flow = flow(stream);
        let opened = match self {
            Self::Serial(stack) => stack.open(&flow),
            Self::Locking(stack) => stack.open(&flow),
            Self::Independent(stacks) => stacks.open(Self::stack(stream), &flow),
        };
        assert_eq!(opened, Ok(StreamId::from(stream)));
    }

    fn converse(
        &self,
        (now, stream): (Duration, usize),
        pool: &Pool,
        frame: &[u8],
        exchange: &mut Exchange,
        deliver: impl FnMut(Delivery<'_>, &mut Vec<u8>),
    ) -> Result<(), DropReason> {
        match self {
            Self::Serial(stack) => stack.converse(now, pool, frame, exchange, deliver),
            Self::Locking(stack) => stack.converse(now, pool, frame, exchange, deliver),
            Self::Independent(stacks) => {
                stacks.converse(now, Self::stack(stream), pool, frame, exchange, deliver)
            }
        }
    }

    fn time_passes(&self, now: Duration, exchange: &mut Exchange) {
        for part in 0..2 {
            match self {
                Self::Serial(stack) => stack.time_passes(now, part, 2, exchange),
                Self::Locking(stack) => stack.time_passes(now, part, 2, exchange),
                Self::Independent(stacks) => stacks.time_passes(now, part, 2, exchange),
            }
        }
    }

    fn references(&self) -> References {
        match self {
            Self::Serial(stack) => stack.references(),
            Self::Locking(stack) => stack.references(),
            Self::Independent(stacks) => stacks.references(StackId(0)).unwrap(),
        }
    }
}

fn flow(stream: usize) -> Flow {
    Flow::synthetic(stream as u16 + 1)
}

/// A link between a stack and its peers, which may lose, double and reorder frames.
struct Link {
    /// To the stack and to the peers: of which stream, and the frame.
    frames: [VecDeque<(usize, Vec<u8>)>; 2],
    rng: Xoshiro256PlusPlus,
    is_faulty: bool,
}

impl Link {
    fn put(&mut self, direction: usize, stream: usize, frame: &[u8]) {
        let copies = match self.rng.random_range(0..20) {
            0 if self.is_faulty => 0,
            1 if self.is_faulty => 2,
            _ => 1,
        };
        for _ in 0..copies {
            let queue = &mut self.frames[direction];
            queue.push_back((stream, frame.to_vec()));
            if self.is_faulty && self.rng.random_range(0..10) == 0 {
                let other = self.rng.random_range(0..queue.len());
                queue.swap(other, queue.len() - 1);
            }
        }
    }
}

/// Sends messages of each peer through `form` until each has had its answers. Returns what the application
/// got of each stream.
fn converse(form: &mut Form, config: Config, conversations: Conversations, link: &mut Link) -> Vec<Vec<u8>> {
    (0..STREAMS).for_each(|stream| form.open(stream));
    let peer = |stream| Peer::new(config, Some(conversations), flow(stream));
    let mut peers: Vec<Peer> = (0..STREAMS).map(peer).collect();
    let (pool, mut exchange) = (Pool::new(4), Exchange::default());
    let (mut got, mut offered) = (vec![Vec::new(); STREAMS], [0_usize; STREAMS]);
    for step in 0..100_000_u64 {
        let now = Duration::from_millis(step);
        for (stream, peer) in peers.iter_mut().enumerate() {
            // Nothing more is offered at the end, but timers run.
            let message = [offered[stream] as u8, stream as u8, 7].repeat(50);
            let is_over = offered[stream] >= 60;
            let payload = if is_over { &[][..] } else { &message };
            let sent = peer.offer(now, payload, &mut |frame| link.put(0, stream, frame));
            offered[stream] += usize::from(sent.is_ok() && !is_over);
        }
        while let Some((stream, frame)) = link.frames[0].pop_front() {
            let deliver = |delivery: Delivery<'_>, reply: &mut Vec<u8>| {
                assert_eq!(delivery.stream, StreamId::from(stream));
                got[stream].extend_from_slice(delivery.payload);
                reply.extend_from_slice(delivery.payload);
            };
            let taken = form.converse((now, stream), &pool, &frame, &mut exchange, deliver);
            assert!(link.is_faulty || taken.is_ok(), "{taken:?}");
            exchange.frames().for_each(|frame| link.put(1, stream, frame));
            exchange.clear();
        }
        form.time_passes(now, &mut exchange);
        for frame in exchange.frames() {
            let to = LinkKind::parse(config.link, frame).unwrap().destination;
            let stream = (0..STREAMS).find(|stream| flow(*stream).source_link == to).unwrap();
            link.put(1, stream, frame);
        }
        exchange.clear();
        while let Some((stream, frame)) = link.frames[1].pop_front() {
            peers[stream].arrives(now, &frame, &mut |frame| link.put(0, stream, frame));
        }
        let is_answered =
            |(peer, got): (&Peer, &Vec<u8>)| peer.received() == 60 * 150 && got.len() == 60 * 150;
        if peers.iter().zip(&got).all(is_answered) {
            assert_eq!((form.references(), pool.available()), (References::default(), 4));
            return got;
        }
    }
    panic!("not all was answered: got {:?}", got.iter().map(Vec::len).collect::<Vec<_>>());
}

fn link(seed: u64, is_faulty: bool) -> Link {
    let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    Link { frames: [VecDeque::new(), VecDeque::new()], rng, is_faulty }
}

#[test]
fn what_peers_send_is_delivered_once_and_answered_in_every_form() {
    for seed in 0..20 {
        println!("seed {seed}");
        for is_faulty in [false, true] {
            for conversations in both() {
                let config = Config { link: LinkKind::Ethernet, verify_udp_checksum: false };
                for mut form in Form::all(config, conversations) {
                    let got = converse(&mut form, config, conversations, &mut link(seed, is_faulty));
                    for (stream, got) in got.iter().enumerate() {
                        let mut messages: Vec<&[u8]> = got.chunks(150).collect();
                        // Calls on several channels may overtake each other; bytes of a connection may not.
                        if matches!(conversations, Conversations::Rpc { .. }) {
                            messages.sort_unstable();
                        }
                        for (number, message) in messages.into_iter().enumerate() {
                            assert_eq!(message, [number as u8, stream as u8, 7].repeat(50));
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn an_application_that_panics_leaves_no_count_behind() {
    for conversations in both() {
        let config = Config::default();
        for mut form in Form::all(config, conversations) {
            form.open(0);
            let mut peer = Peer::new(config, Some(conversations), flow(0));
            let (pool, mut exchange) = (Pool::new(2), Exchange::default());
            let (mut frames, mut panicked) = (VecDeque::new(), false);
            peer.offer(Duration::ZERO, b"boo", &mut |frame| frames.push_back(frame.to_vec())).unwrap();
            while let Some(frame) = frames.pop_front() {
                let deliver = |_: Delivery<'_>, _: &mut Vec<u8>| panic!("as an application may");
                let now = (Duration::ZERO, 0);
                let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    form.converse(now, &pool, &frame, &mut exchange, deliver)
                }));
                panicked |= result.is_err();
                for answer in exchange.frames() {
                    let mut send = |frame: &[u8]| frames.push_back(frame.to_vec());
                    peer.arrives(Duration::ZERO, answer, &mut send);
                }
                exchange.clear();
            }
            assert!(panicked);
            assert_eq!((form.references(), pool.available()), (References::default(), 2));
        }
    }
}

#[test]
fn a_connection_can_be_opened_again_and_its_stream_given_to_another() {
    let [tcp, _] = both();
    let config = Config::default();
    let mut stack = SerialStack::conversing(config, tcp);
    let (pool, mut exchange) = (Pool::new(2), Exchange::default());
    let stream = stack.open(&flow(0)).unwrap();
    assert!(stack.is_idle(stream));
    for _ in 0..2 {
        let mut peer = Peer::new(config, Some(tcp), flow(0));
        let mut frames = VecDeque::new();
        peer.offer(Duration::ZERO, b"hello", &mut |frame| frames.push_back(frame.to_vec())).unwrap();
        while let Some(frame) = frames.pop_front() {
            stack.converse(Duration::ZERO, &pool, &frame, &mut exchange, |_, _| ()).unwrap();
            for answer in exchange.frames() {
                peer.arrives(Duration::ZERO, answer, &mut |frame| frames.push_back(frame.to_vec()));
            }
            exchange.clear();
        }
        assert!(!stack.is_idle(stream));
        // The peer resets it.
        let sequence = warmcore_stack::wire::SequenceNumber(u32::MAX - 1_000_000 + 6);
        let reset = Segment { sequence, reset: true, ..Segment::default() };
        let mut buffer = [0; 100];
        let frame = FrameBuilder::new(config.link, flow(0)).write_segment(&reset, &mut buffer).unwrap();
        stack.converse(Duration::ZERO, &pool, frame, &mut exchange, |_, _| ()).unwrap();
        assert_eq!(exchange.ended(), [stream]);
        assert!(stack.is_idle(stream));
        exchange.clear();
    }
    stack.close(stream).unwrap();
    assert_eq!(stack.open(&flow(5)), Ok(stream));
}

/// The frames that `stack` sends until `end`, looked at every 100 ms, and when the stream ended.
fn left_alone(stack: &SerialStack, begin: Duration, end: Duration) -> Option<Duration> {
    let mut exchange = Exchange::default();
    let mut now = begin;
    while now < end {
        now += Duration::from_millis(100);
        stack.time_passes(now, 0, 1, &mut exchange);
        if !exchange.ended().is_empty() {
            return Some(now - begin);
        }
    }
    None
}

#[test]
fn a_peer_that_vanishes_gives_its_stream_back() {
    let boot = BootId(NonZero::new(7).unwrap());
    let tcp = Conversations::serving(Transport::Tcp, boot).unwrap();
    let config = Config::default();
    let begin = Duration::from_secs(1000);
    for (frames, longest) in [(1, 30), (2, 130), (3, 130)] {
        let mut stack = SerialStack::conversing(config, tcp);
        let stream = stack.open(&flow(0)).unwrap();
        let (pool, mut exchange) = (Pool::new(2), Exchange::default());
        let mut peer = Peer::new(config, Some(tcp), flow(0));
        let mut waiting = VecDeque::new();
        let message = if frames == 2 { &b""[..] } else { b"hello" };
        peer.offer(begin, message, &mut |frame| waiting.push_back(frame.to_vec())).unwrap();
        // A SYN; then the acknowledgement of ours; then data, whose answer nobody acknowledges.
        for _ in 0..frames {
            let Some(frame) = waiting.pop_front() else { break };
            let echo =
                |delivery: Delivery<'_>, reply: &mut Vec<u8>| reply.extend_from_slice(delivery.payload);
            stack.converse(begin, &pool, &frame, &mut exchange, echo).unwrap();
            for answer in exchange.frames() {
                peer.arrives(begin, answer, &mut |frame| waiting.push_back(frame.to_vec()));
            }
            exchange.clear();
        }
        let ended = left_alone(&stack, begin, begin + Duration::from_secs(300));
        assert!(ended.is_some_and(|after| after < Duration::from_secs(longest)), "{frames}: {ended:?}");
        assert!(stack.is_idle(stream));
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let [tcp, rpc] = both();
    let config = Config::default();
    assert_eq!(
        IndependentStacks::conversing(2, config, tcp).open_everywhere(&flow(0)),
        Err(OpenError::OneState)
    );
    let (pool, mut exchange) = (Pool::new(2), Exchange::default());
    let mut datagram = Vec::new();
    Peer::new(config, None, flow(0))
        .offer(Duration::ZERO, b"x", &mut |frame| datagram = frame.to_vec())
        .unwrap();
    let mut refused = |conversations, frame: &[u8]| {
        let mut stack = match conversations {
            Some(conversations) => LockingStack::conversing(config, conversations),
            None => LockingStack::new(config),
        };
        stack.open(&flow(0)).unwrap();
        stack.converse(Duration::ZERO, &pool, frame, &mut exchange, |_, _| ()).unwrap_err()
    };
    assert_eq!(refused(None, &datagram), DropReason::IpProtocol);
    assert_eq!(refused(Some(tcp), &datagram), DropReason::IpProtocol);
    assert_eq!(refused(Some(rpc), &datagram), DropReason::RpcRefused);
    let mut syn = Vec::new();
    let mut peer = Peer::new(config, Some(tcp), Flow { source_port: 9, ..flow(0) });
    peer.offer(Duration::ZERO, b"x", &mut |frame| syn = frame.to_vec()).unwrap();
    assert_eq!(refused(Some(tcp), &syn), DropReason::TcpNoSession);
    let busy = peer.offer(Duration::ZERO, &[0; 9000], &mut |_| ());
    assert_eq!(busy, Err(OfferError::Busy));
}
