//! An RPC endpoint between calls: two real ones talk, and in between one of them receives frames of any
//! bytes.
//!
//! The bytes are combined by exclusive or with one of the last frames that the peer sent, so that zeros
//! are a valid frame.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use std::collections::VecDeque;
use std::num::NonZero;
use std::time::Duration;
use warmcore_stack::rpc::{BootId, Config, Endpoint, Event, ServedCall};

const MTU: usize = 600;
const LONGEST: usize = 4000;
const PROCEDURES: [u16; 2] = [1, 2];
const BYTES: &[u8] = &[9; LONGEST];
/// Frames of the peer's that are remembered.
const REMEMBERED: usize = 16;
/// Most waits until an endpoint whose peer is silent has nothing to do.
const MOST_WAITS: u32 = 1000;

#[derive(Arbitrary, Debug)]
enum Step<'a> {
    /// A frame of any bytes arrives, in place of one that the peer sent.
    Frame {
        which: u8,
        edits: &'a [u8],
        length: Option<u16>,
    },
    /// The users call procedures, known or not.
    OursCalls(u8, u16),
    TheirsCalls(u8, u16),
    /// Both sides serve what was called, with results of this length.
    Serve(u16),
    /// Both sides send what they have.
    Exchange,
    /// Only ours does, and all is lost.
    Lose,
    /// The peer reboots.
    Reboot,
    Pause(u16),
}

struct Pair {
    ours: Endpoint,
    theirs: Endpoint,
    boot: u32,
    seen: VecDeque<Vec<u8>>,
    now: Duration,
}

fuzz_target!(|steps: Vec<Step<'_>>| {
    let mut pair = Pair {
        ours: endpoint(1),
        theirs: endpoint(1000),
        boot: 1000,
        seen: VecDeque::new(),
        now: Duration::ZERO,
    };
    for step in &steps {
        pair.take(step);
    }
    pair.comes_to_rest();
});

fn endpoint(boot: u32) -> Endpoint {
    let boot = BootId(NonZero::new(boot).expect("boot ids begin with 1"));
    Endpoint::new(Config::with_sizes(MTU, LONGEST), boot, &PROCEDURES)
}

impl Pair {
    fn take(&mut self, step: &Step<'_>) {
        match step {
            Step::Frame { which, edits, length } => self.arrives(usize::from(*which), edits, *length),
            Step::OursCalls(procedure, length) => call(&mut self.ours, self.now, *procedure, *length),
            Step::TheirsCalls(procedure, length) => call(&mut self.theirs, self.now, *procedure, *length),
            Step::Serve(length) => {
                serve(&mut self.ours, *length);
                serve(&mut self.theirs, *length);
            }
            Step::Exchange => self.exchange(),
            Step::Lose => self.lose(),
            Step::Reboot => {
                self.boot += 1;
                self.theirs = endpoint(self.boot);
            }
            Step::Pause(millis) => {
                self.now += Duration::from_millis((*millis).into());
                self.ours.time_passes(self.now);
                self.theirs.time_passes(self.now);
            }
        }
    }

    fn arrives(&mut self, which: usize, edits: &[u8], length: Option<u16>) {
        let mut frame = self.seen.get(which % REMEMBERED).cloned().unwrap_or_default();
        frame.resize(length.map_or(frame.len().max(edits.len()), |length| usize::from(length) % 8000), 0);
        for (byte, edit) in frame.iter_mut().zip(edits) {
            *byte ^= edit;
        }
        let _ = self.ours.arrives(self.now, &frame);
    }

    fn exchange(&mut self) {
        while let Some(frame) = self.ours.transmit(self.now) {
            assert!(frame.len() <= MTU);
            let _ = self.theirs.arrives(self.now, frame);
        }
        while let Some(frame) = self.theirs.transmit(self.now) {
            self.seen.push_front(frame.to_vec());
            self.seen.truncate(REMEMBERED);
            let _ = self.ours.arrives(self.now, frame);
        }
    }

    fn lose(&mut self) {
        while self.ours.transmit(self.now).is_some() {}
    }

    /// A peer that is silent from now on keeps no timer running.
    fn comes_to_rest(&mut self) {
        self.lose();
        let mut waits = 0;
        while let Some(at) = self.ours.deadline() {
            self.now = self.now.max(at);
            self.ours.time_passes(self.now);
            self.lose();
            waits += 1;
            assert!(waits < MOST_WAITS);
        }
    }
}

fn call(endpoint: &mut Endpoint, now: Duration, procedure: u8, length: u16) {
    // All channels may be busy.
    let _ = endpoint.call(now, u16::from(procedure % 4), &BYTES[..usize::from(length) % LONGEST]);
}

fn serve(endpoint: &mut Endpoint, length: u16) {
    while let Some(called) = next_event(endpoint) {
        if let Some(call) = called {
            let replied = endpoint.reply(call, &BYTES[..usize::from(length) % LONGEST]);
            assert_eq!(replied, Ok(()), "a call that was just made has a client");
        }
    }
}

/// The next event, and the call if it is one.
fn next_event(endpoint: &mut Endpoint) -> Option<Option<ServedCall>> {
    Some(match endpoint.event()? {
        Event::Called { call, .. } => Some(call),
        _ => None,
    })
}
