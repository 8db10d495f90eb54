//! Defects put into the machine: the random tester must find each of them, or it would find nothing.

#[path = "../../tests/cluster/tester.rs"]
mod tester;

use super::machine::{Device, Machine};
use super::run::{Options, finish, lay_out};
use super::system::System;
use tester::Tester;
use warmcore_coherence::Message;
use warmcore_units::NodeId;

/// What is broken. Each concerns every seventh message of its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Defect {
    /// The home counts an invalidation as acknowledged that it has not sent.
    MissingInvalidation,
    /// The network loses an acknowledgement.
    LostAcknowledgement,
    /// Messages about a block overtake each other: a reply takes longer than what the home sends next.
    NoOrder,
}

impl System {
    /// The message that the broken machine sends: when it arrives, from whom, to whom; `None`, if it is lost.
    pub(super) fn with_defect(
        &self,
        arrival: u64,
        from: usize,
        to: NodeId,
        message: Message,
    ) -> Option<(u64, usize, NodeId, Message)> {
        let is_hit = self.messages[message as usize] % 7 == 6;
        match (self.defect.filter(|_| is_hit), message) {
            (Some(Defect::MissingInvalidation), Message::Invalidate) => {
                Some((arrival, to.index(), NodeId(from as u32), Message::Acknowledge))
            }
            (Some(Defect::LostAcknowledgement), Message::Acknowledge) => None,
            (Some(Defect::NoOrder), Message::ReadReply) => Some((arrival + 3000, from, to, message)),
            _ => Some((arrival, from, to, message)),
        }
    }
}

/// How many of ten seeds find `defect`.
fn found(defect: Option<Defect>, device: Device) -> usize {
    let machine = Machine::chapter_5(4, 2, device);
    let finds = |&seed: &u64| {
        let tester = Tester { seed, operations: 400, groups: 6 };
        let (mut system, prepared) = lay_out(&machine, &tester).expect("it is laid out");
        system.defect = defect;
        let run = system.run(&Options::within(50_000_000));
        run.and_then(|()| finish(&system, &*prepared)).is_err()
    };
    (0..10).filter(finds).count()
}

#[test]
fn the_tester_finds_every_defect() {
    for device in [Device::SComa {}, Device::Hurricane { processors: 2, mhz: 400 }] {
        assert_eq!(found(None, device), 0, "{device:?}");
        for defect in [Defect::MissingInvalidation, Defect::LostAcknowledgement, Defect::NoOrder] {
            let found = found(Some(defect), device);
            assert_eq!(found, 10, "{defect:?} on {device:?}");
        }
    }
}
