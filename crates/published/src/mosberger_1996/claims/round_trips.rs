//! §4.3: round trips (Tables 4 and 5). On another machine they are judged as orders only.

use super::derive::{each, one, stated_in, steps};
use crate::mosberger_1996::tables::{slowdown_4, slowdown_5};
use crate::mosberger_1996::values::Found;
use crate::mosberger_1996::{Build, Measurements, Protocols};
use crate::{Claim, Finding, Reading, Value};

/// Builds from worst to best after BAD.
const ORDER: [(Build, Build); 4] =
    [(Build::Std, Build::Out), (Build::Out, Build::Clo), (Build::Clo, Build::Pin), (Build::Pin, Build::All)];
const OUTLINE: (Build, Build) = (Build::Std, Build::Out);
const CLONE: (Build, Build) = (Build::Out, Build::Clo);
const INLINE: (Build, Build) = (Build::Out, Build::Pin);
const CLONE_INLINED: (Build, Build) = (Build::Pin, Build::All);

pub(super) fn all() -> Vec<Claim<Measurements>> {
    [orders(), gains(), sizes()].concat()
}

fn orders() -> Vec<Claim<Measurements>> {
    let of = |recipe| stated_in("4.3", &["table-4"], "%", recipe);
    vec![
        Claim {
            id: "round-trip-bad-worst",
            says: "BAD has the longest round trip.",
            published: "worst",
            derive: |m| each(&Build::ALL[1..], |stack, build| m.slower(stack, Build::Bad, build)),
            ..of(
                "by how much a round trip of BAD is longer than that of each other build. BAD is placed to be bad for the caches of the \
                 source's machine; this machine has others",
            )
        },
        Claim {
            id: "round-trip-order",
            says: "Round trips fall in the order STD, OUT, CLO, PIN, ALL.",
            published: "351.0, 336.1, 325.5, 317.1, 310.8 and 399.2, 394.6, 383.1, 367.3, 365.5 µs",
            derive: |m| steps(&ORDER, |stack, from, to| m.slower(stack, from, to)),
            ..of("by how much a round trip of each build is longer than that of the next, on this machine")
        },
        Claim {
            id: "round-trip-outlining",
            says: "Outlining shortens the round trip significantly for both stacks.",
            published: "15 and 4.6 µs",
            derive: |m| steps(&[OUTLINE], |stack, from, to| m.slower(stack, from, to)),
            ..of("by how much a round trip of STD is longer than that of OUT, on this machine")
        },
        Claim {
            id: "round-trip-all-least",
            says: "Separating library code from the path-inlined code is the least important step.",
            published: "3.1 and 1.8 µs on the client's side",
            derive: |m| {
                steps(&[OUTLINE, CLONE, INLINE], |stack, from, to| {
                    m.saves_more((stack, from, to), with(stack, CLONE_INLINED))
                })
            },
            unit: "ns",
            ..of(
                "by how much more each other step saves on the client's side than that from PIN to ALL does, on this machine. The text \
                 calls it not very important; read as less than each of the others",
            )
        },
    ]
}

fn gains() -> Vec<Claim<Measurements>> {
    let of = |recipe| stated_in("4.3", &["table-4"], "ns", recipe);
    vec![
        Claim {
            id: "round-trip-out-tcp",
            says: "Outlining shortens the round trip more for TCP/IP than for RPC.",
            published: "7.5 and 4.6 µs on the client's side",
            derive: |m| compared(m, OUTLINE, Protocols::TcpIp),
            ..of(
                "what the step from STD to OUT saves on the client's side in TCP/IP, less what it saves in RPC, on this machine: half of a round \
                 trip, since both hosts have the build",
            )
        },
        Claim {
            id: "round-trip-clo-rpc",
            says: "Cloning shortens the round trip more for RPC than for TCP/IP.",
            published: "11.5 and 5.3 µs on the client's side",
            derive: |m| compared(m, CLONE, Protocols::Rpc),
            ..of(
                "what the step from OUT to CLO saves on the client's side in RPC, less what it saves in TCP/IP, on this machine",
            )
        },
        Claim {
            id: "round-trip-pin-rpc",
            says: "Path-inlining works very well for RPC: it saves more than for TCP/IP.",
            published: "27.3 and 9.5 µs on the client's side",
            derive: |m| compared(m, INLINE, Protocols::Rpc),
            ..of(
                "what the step from OUT to PIN saves on the client's side in RPC, less what it saves in TCP/IP, on this machine",
            )
        },
    ]
}

fn sizes() -> Vec<Claim<Measurements>> {
    let of = |table, unit, recipe| stated_in("4.3", table, unit, recipe);
    const BESIDE: &str = "by how much a round trip on this machine is longer than that of ALL, less the printed slowdown. Not judged: \
        how much a step gains depends on the machine, whose caches are larger today and whose processors do other work while they wait";
    vec![
        Claim {
            id: "round-trip-bad-53",
            says: "For TCP/IP, BAD is more than 53 % slower than CLO.",
            published: "more than 53 %",
            reading: Reading::MoreThan(53.0),
            derive: |m| one(m.slower(Protocols::TcpIp, Build::Bad, Build::Clo)),
            ..of(
                &["table-4"],
                "%",
                "by how much a round trip of BAD is longer than that of CLO, on this machine; not judged",
            )
        },
        Claim {
            id: "round-trip-slowdowns",
            says: "The slowdowns over ALL are those of table 4.",
            published: "60.5, 12.9, 8.1, 4.7, 2.0 and 25.1, 9.2, 8.0, 4.8, 0.5 %",
            reading: Reading::Within(2.0),
            derive: |m| slowdowns(m, slowdown_4),
            ..of(&["table-4"], "points", BESIDE)
        },
        Claim {
            id: "adjusted-slowdowns",
            says: "Without the network controller, the slowdowns over ALL are those of table 5.",
            published: "186.5, 40.2, 25.1, 14.6, 6.3 and 59.0, 21.7, 18.7, 11.3, 1.2 %",
            reading: Reading::Within(2.0),
            derive: |m| slowdowns(m, slowdown_5),
            contradicts: Some(
                "two of the slowdowns do not follow from the table's own times: 141.0 over 100.8 is 39.9 % more and not 40.2, and \
                 247.1 over 155.5 is 58.9 % and not 59.0.",
            ),
            ..of(&["table-5"], "points", BESIDE)
        },
        Claim {
            id: "adjusted-std-40",
            says: "Without the network controller, STD is still 40 % slower than ALL for TCP/IP.",
            published: "40 %",
            reading: Reading::About(40.0),
            derive: |m| one(m.slower(Protocols::TcpIp, Build::Std, Build::All)),
            ..of(
                &["table-5"],
                "%",
                "by how much a round trip of STD is longer than that of ALL, on this machine; not judged",
            )
        },
    ]
}

fn with(stack: Protocols, (from, to): (Build, Build)) -> (Protocols, Build, Build) {
    (stack, from, to)
}

/// By how much more a step saves in `stack` than in the other.
fn compared(m: &Measurements, step: (Build, Build), stack: Protocols) -> Option<Finding> {
    let other = if stack == Protocols::Rpc { Protocols::TcpIp } else { Protocols::Rpc };
    one(m.saves_more(with(stack, step), with(other, step)))
}

/// Our slowdowns over ALL less the printed ones.
fn slowdowns(m: &Measurements, printed: fn(Protocols, Build) -> f64) -> Option<Finding> {
    let beside = |stack: Protocols, build: Build| -> Found<Value> {
        let Value { mean, low, high } = m.slower(stack, build, Build::All)?;
        let [mean, low, high] = [mean, low, high].map(|part| part - printed(stack, build));
        Ok(Value { mean, low, high })
    };
    each(&Build::ALL[..5], beside)
}
