//! Sizes that are too large, too small, or contradict each other.

use super::drivers::{boot, bytes};
use std::time::Duration;
use warmcore_stack::rpc::{BlastConfig, CallError, ChanConfig, Config, Endpoint, Event};

const PROCEDURE: u16 = 7;

fn pass(now: Duration, from: &mut Endpoint, to: &mut Endpoint) {
    while let Some(frame) = from.transmit(now) {
        to.arrives(now, frame).ok();
    }
}

/// Calls with so many bytes, between two endpoints of this configuration, and returns whether they came back.
fn echoes(config: Config, length: usize) -> bool {
    let mut client = Endpoint::new(config, boot(1), &[]);
    let mut server = Endpoint::new(config, boot(2), &[PROCEDURE]);
    let mut now = Duration::ZERO;
    client.call(now, PROCEDURE, &bytes(length)).expect("it is within the limit");
    loop {
        pass(now, &mut client, &mut server);
        let called = match server.event() {
            Some(Event::Called { call, request, .. }) => Some((call, request.to_vec())),
            _ => None,
        };
        if let Some((call, request)) = called {
            server.reply(call, &request).expect("the limits of both are the same");
        }
        pass(now, &mut server, &mut client);
        match client.event() {
            Some(Event::Replied { results, .. }) => return results == bytes(length),
            Some(_) => return false,
            None => {}
        }
        now = [client.deadline(), server.deadline()].into_iter().flatten().min().expect("the call ends");
        client.time_passes(now);
        server.time_passes(now);
    }
}

fn max_message(config: Config) -> usize {
    Endpoint::new(config, boot(1), &[]).max_message()
}

/// What is said to fit is sent, and what is not is refused.
fn works_up_to_its_limit(config: Config) {
    let max = max_message(config);
    for length in [0, max] {
        assert!(echoes(config, length), "{length} bytes: {config:?}");
    }
    let refused = Endpoint::new(config, boot(1), &[]).call(Duration::ZERO, PROCEDURE, &bytes(max + 1));
    assert_eq!(refused, Err(CallError::TooLong { length: max + 1, max }), "{config:?}");
}

#[test]
fn sizes_without_limits_are_limited() {
    // 32 frames of 1484 bytes, without the headers of BID, CHAN and MSELECT.
    assert_eq!(max_message(Config::with_sizes(1500, usize::MAX)), 32 * 1484 - 24);
    assert_eq!(max_message(Config::with_sizes(usize::MAX, usize::MAX)), 65_535 - 24);
    works_up_to_its_limit(Config::with_sizes(1500, usize::MAX));
    works_up_to_its_limit(Config::with_sizes(usize::MAX, usize::MAX));
    works_up_to_its_limit(Config {
        blast: BlastConfig { kept: usize::MAX, reassemblies: usize::MAX, ..BlastConfig::default() },
        chan: ChanConfig { channels: u16::MAX, max_message: usize::MAX, ..ChanConfig::default() },
    });
}

#[test]
fn sizes_of_layers_that_contradict_each_other_are_reconciled() {
    let longest = 16 * 1024;
    for (on_blast, on_chan, expected) in [
        (longest + 24, 0, 0),
        (longest + 24, 3, 0),
        (longest + 24, 4, 0),
        (longest + 24, 5, 1),
        (0, longest + 4, 0),
        (23, longest + 4, 0),
        (24, longest + 4, 0),
        (25, longest + 4, 1),
        (longest, longest + 4, longest - 24),
    ] {
        let blast = BlastConfig { max_message: on_blast, ..BlastConfig::default() };
        let chan = ChanConfig { max_message: on_chan, ..ChanConfig::default() };
        let config = Config { blast, chan };
        assert_eq!(max_message(config), expected, "{config:?}");
        works_up_to_its_limit(config);
    }
}

#[test]
fn memory_for_no_message_is_memory_for_one() {
    let mut config = Config::default();
    (config.blast.kept, config.blast.reassemblies) = (0, 0);
    works_up_to_its_limit(config);
}

#[test]
fn the_smallest_frames_carry_an_empty_message() {
    works_up_to_its_limit(Config::with_sizes(0, 0));
    assert_eq!(max_message(Config::with_sizes(0, usize::MAX)), 32 - 24);
    works_up_to_its_limit(Config::with_sizes(0, usize::MAX));
}
