//! §4.3 and §4.4.3: what each technique saves, and through which cache (Table 8).

use super::derive::{AS_PRINTED, cases, one, stated_in, steps};
use crate::mosberger_1996::spread::Spread;
use crate::mosberger_1996::tables::{STEPS, table_8};
use crate::mosberger_1996::values::{Found, Quantity};
use crate::mosberger_1996::{Build, Measurements, Protocols};
use crate::{Claim, Finding, Reading};

/// Text and Table 8 about what the i-cache accounts for.
const EXCHANGED: &str = "the two columns I of table 8 are exchanged: by tables 6 and 8, 97, 114, 91, 70 and 93 % are those of RPC, and 99, 71, \
    94, 67 and 95 % those of TCP/IP. The text has TCP/IP's 71 % right.";

pub(super) fn all() -> Vec<Claim<Measurements>> {
    [helps(), stacks(), columns(), due()].concat()
}

fn helps() -> Vec<Claim<Measurements>> {
    vec![Claim {
        id: "each-helps",
        says: "Outlining, cloning, path-inlining, and cloning what was inlined each reduce processing time.",
        published: "5.5, 6.9, 14.2, 3.8 and 4.1, 10.0, 23.3, 8.5 µs",
        derive: |m| steps(&STEPS[1..], |stack, from, to| faster(m, stack, (from, to))),
        ..stated_in(
            "4.4.3",
            &["table-8"],
            "µs",
            "by how much processing time falls in each of the steps STD to OUT, OUT to CLO, OUT to PIN and PIN to ALL",
        )
    }]
}

fn stacks() -> Vec<Claim<Measurements>> {
    let of = |recipe| stated_in("4.3", &["table-8"], "µs", recipe);
    vec![
        Claim {
            id: "out-tcp",
            says: "Outlining saves more processing time in TCP/IP than in RPC, whose code is structured that way already.",
            published: "5.5 and 4.1 µs",
            derive: |m| compared(m, (Build::Std, Build::Out), [Protocols::TcpIp, Protocols::Rpc]),
            ..of("the time that the step from STD to OUT saves in TCP/IP, less what it saves in RPC")
        },
        Claim {
            id: "clo-rpc",
            says: "Cloning saves more processing time in RPC, of many small functions, than in TCP/IP, of few large ones.",
            published: "10.0 and 6.9 µs",
            derive: |m| compared(m, (Build::Out, Build::Clo), [Protocols::Rpc, Protocols::TcpIp]),
            ..of("the time that the step from OUT to CLO saves in RPC, less what it saves in TCP/IP")
        },
        Claim {
            id: "pin-rpc",
            says: "Path-inlining saves much more processing time in RPC than in TCP/IP.",
            published: "23.3 and 14.2 µs",
            derive: |m| compared(m, (Build::Out, Build::Pin), [Protocols::Rpc, Protocols::TcpIp]),
            ..of("the time that the step from OUT to PIN saves in RPC, less what it saves in TCP/IP")
        },
    ]
}

fn columns() -> Vec<Claim<Measurements>> {
    let of = |recipe| stated_in("4.4.3", &["table-8"], "%", recipe);
    const EACH: &str = "ours in percent of the printed figure, for every step of both stacks. The interval of BAD's step is over what BAD and the \
        distance of memory may be";
    vec![
        Claim {
            id: "saved-time",
            says: "The steps save the processing time of table 8.",
            published: "89.8, 5.5, 6.9, 14.2, 3.8 and 83.2, 4.1, 10.0, 23.3, 8.5 µs",
            reading: AS_PRINTED,
            derive: |m| {
                steps(&STEPS, |stack, from, to| {
                    Ok(faster(m, stack, (from, to))?.in_percent_of(figure(stack, (from, to), 2)?))
                })
            },
            ..of(EACH)
        },
        Claim {
            id: "saved-accesses",
            says: "The steps save the accesses of the b-cache of table 8.",
            published: "316, 103, 109, 168, 102 and 331, 66, 100, 341, 41",
            reading: AS_PRINTED,
            derive: |m| {
                steps(&STEPS, |stack, from, to| {
                    let saved = m.saved(stack, from, to, Quantity::BoardAccesses)?;
                    Ok(saved.in_percent_of(figure(stack, (from, to), 3)?))
                })
            },
            ..of(EACH)
        },
        Claim {
            id: "cycles-per-access",
            unit: "cycles",
            says: "Each saved access of the b-cache saves 5.6 to 17.5 cycles, except from PIN to ALL in RPC.",
            published: "5.6 to 17.5",
            reading: Reading::Between(5.6, 17.5),
            derive: |m| {
                let others =
                    |step: &(Protocols, (Build, Build))| *step != (Protocols::Rpc, (Build::Pin, Build::All));
                cases(steps_but_bad().filter(others).map(|(stack, (from, to))| {
                    let cycles = m.per_saved_access(stack, from, to, |run| run.cycles() as f64);
                    (stack.to_string(), format!("{from} to {to}"), cycles)
                }))
            },
            contradicts: Some(
                "by table 8 the least is 3.8 µs for 102 accesses, which is 6.5 cycles for each and not 5.6.",
            ),
            ..of(
                "saved cycles over saved accesses of the b-cache, each the mean over orders, for every step after BAD",
            )
        },
    ]
}

fn due() -> Vec<Claim<Measurements>> {
    let of = |recipe| stated_in("4.4.3", &["table-8"], "%", recipe);
    vec![
        Claim {
            id: "due-90",
            says: "More than 90 % of the b-cache accesses that outlining and cloning save are due to the i-cache, in all but one case.",
            published: "more than 90 %",
            reading: Reading::MoreThan(90.0),
            derive: |m| {
                let is_asked = |&(stack, step): &(Protocols, (Build, Build))| {
                    step != (Build::Out, Build::Pin)
                        && (stack, step) != (Protocols::TcpIp, (Build::Std, Build::Out))
                };
                let bad = Protocols::ALL.map(|stack| (stack, STEPS[0]));
                cases(bad.into_iter().chain(steps_but_bad()).filter(is_asked).map(|(stack, (from, to))| {
                    (stack.to_string(), format!("{from} to {to}"), m.due_to_instructions(stack, from, to))
                }))
            },
            contradicts: Some(EXCHANGED),
            ..of(
                "I: what is saved of accesses that are not misses of the d-cache or writes that were not merged, in percent of all \
                 accesses of the b-cache that are saved; a block that is fetched ahead counts as one for the i-cache. For every step of \
                 outlining and cloning but the exception, STD to OUT of TCP/IP",
            )
        },
        Claim {
            id: "due-71",
            says: "The exception is outlining of TCP/IP, where the i-cache accounts for 71 % only.",
            published: "71 %",
            reading: Reading::Rewritten(71.0),
            derive: |m| one(m.due_to_instructions(Protocols::TcpIp, Build::Std, Build::Out)),
            contradicts: Some(EXCHANGED),
            ..of("I, in the same way, for the step from STD to OUT of TCP/IP")
        },
    ]
}

/// The steps after BAD, of both stacks.
fn steps_but_bad() -> impl Iterator<Item = (Protocols, (Build, Build))> {
    Protocols::ALL.into_iter().flat_map(|stack| STEPS[1..].iter().map(move |&step| (stack, step)))
}

/// By how many microseconds processing time falls in a step.
fn faster(m: &Measurements, stack: Protocols, (from, to): (Build, Build)) -> Found<Spread> {
    Ok(m.microseconds(stack, from)?.minus(&m.microseconds(stack, to)?))
}

/// What a step saves in the first of two stacks, less what it saves in the second.
fn compared(m: &Measurements, step: (Build, Build), [one_of, other]: [Protocols; 2]) -> Option<Finding> {
    one(faster(m, one_of, step).and_then(|saved| Ok(saved.minus(&faster(m, other, step)?))))
}

fn figure(stack: Protocols, step: (Build, Build), column: usize) -> Found<f64> {
    table_8(stack, step).map(|row| row[column]).ok_or_else(|| "Table 8 does not have this step.".to_owned())
}
