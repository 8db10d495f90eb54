//! §1 and §4.4.2: memory cycles per instruction (Table 7).

use super::derive::{at, cases, each, falls, more_than_printed, one, stated_in, steps};
use crate::mosberger_1996::spread::Spread;
use crate::mosberger_1996::values::{Found, Quantity};
use crate::mosberger_1996::{Build, Measurements, Protocols};
use crate::{Basis, Claim, Reading, Value};

pub(super) fn all() -> Vec<Claim<Measurements>> {
    [order(), factors(), levels(), techniques()].concat()
}

fn order() -> Vec<Claim<Measurements>> {
    let of = |recipe| stated_in("4.4.2", &["table-7"], "%", recipe);
    vec![
        Claim {
            id: "bad-worst-mcpi",
            says: "BAD has the largest mCPI.",
            published: "4.58 and 4.66, the largest",
            basis: Basis::Fitted,
            derive: |m| {
                each(&Build::ALL[1..], |stack, build| {
                    Ok(memory(m, stack, Build::Bad)?.above(&memory(m, stack, build)?))
                })
            },
            ..of("by how much BAD's mCPI exceeds that of each other build. BAD is placed to be the worst")
        },
        Claim {
            id: "mcpi-order",
            says: "Each technique reduces mCPI: from STD to OUT, from there by cloning or by path-inlining, and from these to ALL, which has the \
                   smallest.",
            published: "1.58, 1.50, 1.28 and 1.31, 1.17; 1.69, 1.65, 1.25 and 1.25, 0.81",
            derive: |m| {
                let pairs = [
                    (Build::Std, Build::Out),
                    (Build::Out, Build::Clo),
                    (Build::Out, Build::Pin),
                    (Build::Clo, Build::All),
                    (Build::Pin, Build::All),
                ];
                falls(m, Quantity::MemoryCpi, &pairs)
            },
            ..of(
                "by how many percent mCPI falls in each of these steps. CLO and PIN are not ordered: the text calls them about equally effective",
            )
        },
    ]
}

fn factors() -> Vec<Claim<Measurements>> {
    let of = |section, recipe| stated_in(section, &["table-7"], "", recipe);
    const OVER: &str = "BAD's mCPI over that of ALL. How BAD is placed and how far memory is away are not in the text: the interval is over what \
        both may be";
    vec![
        Claim {
            id: "mcpi-factor-tcp",
            says: "For TCP/IP, the worst mCPI is 3.9 times the best.",
            published: "3.9",
            reading: Reading::Rewritten(3.9),
            derive: |m| one(factor(m, Protocols::TcpIp, Build::Bad)),
            ..of("1", OVER)
        },
        Claim {
            id: "mcpi-factor-rpc",
            says: "For RPC, the worst mCPI is 5.8 times the best.",
            published: "5.8",
            reading: Reading::Rewritten(5.8),
            derive: |m| one(factor(m, Protocols::Rpc, Build::Bad)),
            ..of("1", OVER)
        },
        Claim {
            id: "mcpi-techniques-5.8",
            says: "The techniques reduce mCPI by up to a factor of 5.8.",
            published: "up to 5.8",
            reading: Reading::Rewritten(5.8),
            derive: |m| {
                let std = |stack| Ok(factor(m, stack, Build::Std)?.value());
                let greatest: Found<Vec<_>> = Protocols::ALL.into_iter().map(std).collect();
                one(greatest.and_then(|all| Value::greatest(all).ok_or_else(String::new)))
            },
            contradicts: Some(
                "§1 and table 7 have 5.8 between the worst and the best build of RPC. From STD, which has none of the techniques, they \
                 reduce mCPI by factors of 1.35 and 2.09; BAD is worsened on purpose, by cloning.",
            ),
            ..of(
                "abstract",
                "the greater factor of both stacks by which the techniques, all together, reduce the mCPI of STD, which has none",
            )
        },
        Claim {
            id: "mcpi-factor-both",
            says: "Both stacks reduce mCPI by more than 3.9 from BAD to ALL.",
            published: "more than 3.9 (3.91 and 5.75 by table 7)",
            reading: more_than_printed(3.9),
            derive: |m| {
                cases(Protocols::ALL.map(|stack| (stack.to_string(), "", factor(m, stack, Build::Bad))))
            },
            ..of("4.4.2", OVER)
        },
        Claim {
            id: "mcpi-std-35",
            unit: "%",
            says: "STD's mCPI is more than 35 % larger than that of ALL.",
            published: "more than 35 % (35.0 and 109 % by table 7)",
            reading: more_than_printed(35.0),
            derive: |m| {
                let above = |stack| Ok(memory(m, stack, Build::Std)?.above(&memory(m, stack, Build::All)?));
                cases(Protocols::ALL.map(|stack| (stack.to_string(), "", above(stack))))
            },
            ..of("4.4.2", "by how much STD's mCPI exceeds that of ALL, for both stacks")
        },
    ]
}

fn levels() -> Vec<Claim<Measurements>> {
    let of = |recipe| stated_in("4.4.2", &["table-7"], "cycles", recipe);
    vec![
        Claim {
            id: "mcpi-above-1",
            says: "Except in ALL of RPC, well above one cycle per instruction is spent waiting for memory.",
            published: "well above 1 (1.17 at least)",
            reading: Reading::MoreThan(1.1),
            derive: |m| {
                let all = Protocols::ALL.into_iter().flat_map(|stack| Build::ALL.map(|build| (stack, build)));
                let others = all.filter(|&of| of != (Protocols::Rpc, Build::All));
                cases(
                    others.map(|(stack, build)| {
                        (stack.to_string(), build.to_string(), memory(m, stack, build))
                    }),
                )
            },
            ..of("mCPI of every other build. Up to a tenth above 1 would be nearly 1")
        },
        Claim {
            id: "mcpi-rpc-all",
            says: "In ALL of RPC mCPI drops below one cycle.",
            published: "0.81",
            reading: Reading::AtMost(1.0),
            derive: |m| one(memory(m, Protocols::Rpc, Build::All)),
            ..of("mCPI of that build")
        },
    ]
}

fn techniques() -> Vec<Claim<Measurements>> {
    let of = |unit, recipe| stated_in("4.4.2", &["table-7"], unit, recipe);
    vec![
        Claim {
            id: "mcpi-clo-as-pin",
            says: "Cloning and path-inlining reduce mCPI about equally.",
            published: "0.22 and 0.19; 0.40 and 0.40",
            reading: Reading::Within(0.1),
            derive: |m| {
                steps(&[(Build::Pin, Build::Clo)], |stack, pin, clo| {
                    m.saved(stack, pin, clo, Quantity::MemoryCpi)
                })
            },
            ..of(
                "cycles",
                "PIN's mCPI less that of CLO: both begin at OUT. Up to 0.1 is about equal, half of what cloning saves in TCP/IP",
            )
        },
        Claim {
            id: "mcpi-clo-tcp",
            says: "Cloning is slightly more effective than path-inlining for TCP/IP.",
            published: "slightly more",
            derive: |m| one(m.saved(Protocols::TcpIp, Build::Pin, Build::Clo, Quantity::MemoryCpi)),
            ..of("cycles", "PIN's mCPI less that of CLO")
        },
        Claim {
            id: "mcpi-rpc-0.4",
            says: "For RPC both reduce mCPI by 0.4 cycles.",
            published: "0.4",
            reading: Reading::Rewritten(0.4),
            derive: |m| at([Build::Clo, Build::Pin].map(|to| saved_from_out(m, Protocols::Rpc, to))),
            ..of("cycles", "by how much mCPI falls from OUT to CLO, and from OUT to PIN")
        },
        Claim {
            id: "mcpi-both-0.11",
            says: "Both techniques together reduce TCP/IP's mCPI by a further 0.11 to 0.14 cycles.",
            published: "on the order of 0.11 to 0.14",
            reading: Reading::AboutBetween(0.11, 0.14),
            derive: |m| {
                at([Build::Clo, Build::Pin].map(|from| {
                    (
                        format!("{from} to ALL"),
                        m.saved(Protocols::TcpIp, from, Build::All, Quantity::MemoryCpi),
                    )
                }))
            },
            contradicts: Some(
                "the text compares with \"outlining or path-inlining alone\", but by table 7 outlining is 0.33 above ALL. The 0.11 is \
                 that of cloning, as read here.",
            ),
            ..of("cycles", "by how much mCPI falls from CLO to ALL, and from PIN to ALL")
        },
    ]
}

fn memory(m: &Measurements, stack: Protocols, build: Build) -> Found<Spread> {
    m.spread(stack, build, Quantity::MemoryCpi)
}

/// mCPI of a build over that of ALL.
fn factor(m: &Measurements, stack: Protocols, build: Build) -> Found<Spread> {
    Ok(memory(m, stack, build)?.with(&memory(m, stack, Build::All)?, |one, all| one / all))
}

fn saved_from_out(m: &Measurements, stack: Protocols, to: Build) -> (String, Found<Spread>) {
    (format!("OUT to {to}"), m.saved(stack, Build::Out, to, Quantity::MemoryCpi))
}
