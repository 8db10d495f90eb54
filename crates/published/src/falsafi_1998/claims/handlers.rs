//! §4.3.2: microbenchmarks on nodes of one and two processors.

use super::derive::{at, cases, minus, one, stated_in};
use crate::falsafi_1998::Runs;
use crate::falsafi_1998::plan::{HIGH, PROTOCOLS, UTILIZATIONS};
use crate::falsafi_1998::runs::Found;
use crate::falsafi_1998::setup::{LOW, Setup};
use crate::falsafi_1998::system::System;
use crate::falsafi_1998::work::Work;
use crate::{Basis, Claim, Reading};

const F42: &[&str] = &["4-2"];
/// Utilizations that the text calls low and high.
const LITTLE: [u32; 2] = [5, 10];
const MUCH: [u32; 2] = [70, 90];
const OVERHEADS: [(u64, &str); 2] = [(LOW, "0.5 µs"), (HIGH, "5 µs")];

pub(super) fn claims() -> Vec<Claim<Runs>> {
    [round_trips(), alone(), floating(), weights()].concat()
}

/// Execution time under Floating on nodes of `per_node` processors over that under Fixed with two.
fn time(runs: &Runs, per_node: u32, cycles: u64, work: Work) -> Found<f64> {
    let setup = Setup::pair(System::Floating, per_node, work).interrupted(cycles);
    runs.speedup(&Setup::pair(System::Fixed, 2, work), &setup)
}

fn percent(utilization: u32) -> String {
    format!("U = {utilization} %")
}

fn round_trips() -> Vec<Claim<Runs>> {
    let base = || {
        stated_in(
            "4.3.2",
            F42,
            "cycles",
            "requests of one processor to another node with nothing in their way, under Fixed",
        )
    };
    vec![
        Claim {
            id: "null-round-trip",
            says: "A round trip of the null handler takes 1.7 µs under Fixed.",
            published: "1.7 µs (680 cycles)",
            reading: Reading::Printed(680.0),
            derive: |e| one(e.round_trip(&Setup::pair(System::Fixed, 2, Work::NullHandler(LITTLE[0])))),
            ..base()
        },
        Claim {
            id: "fetch-round-trip",
            says: "A round trip of fetch-block takes 6.2 µs under Fixed.",
            published: "6.2 µs (2480 cycles)",
            reading: Reading::Printed(2480.0),
            basis: Basis::Fitted,
            derive: |e| one(e.round_trip(&Setup::pair(System::Fixed, 2, Work::FetchBlock(LITTLE[0])))),
            ..base()
        },
    ]
}

fn alone() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "single-loses-with-communication",
            says: "Programs that communicate much gain more from a dedicated processor than programs that compute.",
            published: "falls with U",
            derive: |e| {
                cases(OVERHEADS.map(|(cycles, overhead)| {
                    let at = |u| time(e, 1, cycles, Work::NullHandler(u));
                    (overhead, "U = 30 % against 90 %", minus(at(30), at(90)))
                }))
            },
            ..stated_in(
                "4.3.2",
                F42,
                "",
                "time under Single over Fixed with the null handler, at U = 30 % minus at U = 90 %",
            )
        },
        Claim {
            id: "single-idle-takes-fewer-interrupts",
            says: "When the program is bound by communication, the only processor idles, acts as protocol processor and takes fewer \
                   interrupts.",
            published: "fewer",
            derive: |e| {
                let rate = |u| {
                    let measured =
                        e.get(&Setup::pair(System::Floating, 1, Work::NullHandler(u)).interrupted(LOW))?;
                    Ok(measured.interrupts as f64 / measured.handlers.max(1) as f64)
                };
                one(minus(rate(50), rate(5)))
            },
            ..stated_in("4.3.2", F42, "", "interrupts per handler under Single, at U = 50 % minus at U = 5 %")
        },
        Claim {
            id: "few-slow-interrupts-hurt",
            says: "With slow interrupts even a small number of them hurts severely.",
            published: "severely",
            reading: Reading::MoreThan(20.0),
            derive: |e| {
                at([50, 70, 90].map(|u| {
                    let single =
                        |cycles| Setup::pair(System::Floating, 1, Work::NullHandler(u)).interrupted(cycles);
                    (percent(u), e.gain(&single(LOW), &single(HIGH)))
                }))
            },
            ..stated_in(
                "4.3.2",
                F42,
                "%",
                "time under Single with interrupts of 5 µs over that with 0.5 µs, null handler, where few are taken; more than 20 % \
                 counts as severe",
            )
        },
    ]
}

fn floating() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "floating-like-fixed",
            says: "With slow interrupts Floating behaves like Fixed, with a small penalty for the migration of the protocol thread.",
            published: "slightly above 1",
            reading: Reading::Between(1.0, 1.2),
            derive: |e| at([10, 30, 50].map(|u| (percent(u), time(e, 2, HIGH, Work::NullHandler(u))))),
            ..stated_in(
                "4.3.2",
                F42,
                "",
                "time over Fixed, null handler, U = 10 to 50 %; up to a fifth counts as slight",
            )
        },
        Claim {
            id: "floating-wins-computing",
            says: "With fast interrupts Floating is significantly faster where much is computed.",
            published: "below 1",
            reading: Reading::AtMost(0.9),
            derive: |e| at(MUCH.map(|u| (percent(u), time(e, 2, LOW, Work::NullHandler(u))))),
            ..stated_in(
                "4.3.2",
                F42,
                "",
                "time over Fixed, null handler, U = 70 and 90 %; a tenth counts as significant",
            )
        },
        Claim {
            id: "fetch-single-wins",
            says: "With fast interrupts and a program bound by communication, Single is faster than Fixed for fetch-block: no data move \
                   between two caches.",
            published: "below 1",
            reading: Reading::AtMost(1.0),
            derive: |e| at(LITTLE.map(|u| (percent(u), time(e, 1, LOW, Work::FetchBlock(u))))),
            ..stated_in("4.3.2", F42, "", "time over Fixed, U = 5 and 10 %")
        },
        Claim {
            id: "fetch-floating-wins",
            says: "For fetch-block Floating keeps its advantage where little is computed.",
            published: "below 1",
            reading: Reading::AtMost(1.0),
            derive: |e| at(LITTLE.map(|u| (percent(u), time(e, 2, LOW, Work::FetchBlock(u))))),
            ..stated_in("4.3.2", F42, "", "time over Fixed, U = 5 and 10 %")
        },
    ]
}

fn weights() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "light-gains-more",
            says: "A dedicated processor is more beneficial for the light protocol than for the heavier one.",
            published: "more",
            derive: |e| {
                cases(OVERHEADS.into_iter().flat_map(|(cycles, overhead)| {
                    UTILIZATIONS.map(|u| {
                        let [null, fetch] = PROTOCOLS.map(|protocol| time(e, 1, cycles, protocol(u)));
                        (overhead, percent(u), minus(null, fetch))
                    })
                }))
            },
            ..stated_in(
                "4.3.2",
                F42,
                "",
                "time under Single over Fixed, with the null handler minus with fetch-block",
            )
        },
        Claim {
            id: "fixed-best-with-slow-interrupts",
            says: "Fixed does best when interrupts take much longer than a round trip.",
            published: "better",
            derive: |e| {
                cases([1, 2].into_iter().flat_map(|per_node| {
                    let system = ["Single", "Floating"][per_node as usize - 1];
                    let interrupted = move |&u: &u32| {
                        let setup = Setup::pair(System::Floating, per_node, Work::NullHandler(u));
                        [LOW, HIGH].into_iter().any(|cycles| e.interrupted(&setup.interrupted(cycles)))
                    };
                    UTILIZATIONS.into_iter().filter(interrupted).map(move |u| {
                        let [low, high] =
                            [LOW, HIGH].map(|cycles| time(e, per_node, cycles, Work::NullHandler(u)));
                        (system, percent(u), minus(high, low))
                    })
                }))
            },
            ..stated_in(
                "4.3.2",
                F42,
                "",
                "time over Fixed, null handler, with interrupts of 5 µs minus with 0.5 µs: whether slow interrupts favour Fixed, not whether \
                 it is ahead; where no interrupt happens, how long one takes decides nothing",
            )
        },
    ]
}
