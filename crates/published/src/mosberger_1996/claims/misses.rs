//! §4.3 and §4.4.1: misses, and those of lines that had been there (Table 6).

use super::derive::{AS_PRINTED, IN_PERCENT, both, cases, each, one, printed, stated_in, steps};
use crate::mosberger_1996::tables::table_6;
use crate::mosberger_1996::values::Quantity;
use crate::mosberger_1996::{Build, Measurements, Protocols};
use crate::reading::REWRITTEN;
use crate::{Basis, Claim, Finding, Reading};

pub(super) fn all() -> Vec<Claim<Measurements>> {
    [columns(), bad(), replacements(), board()].concat()
}

fn columns() -> Vec<Claim<Measurements>> {
    let of = |id, says, derive: fn(&Measurements) -> Option<Finding>| Claim {
        id,
        says,
        published: "a column of table 6",
        reading: AS_PRINTED,
        derive,
        ..stated_in("4.4.1", &["table-6"], "%", IN_PERCENT)
    };
    vec![
        of("i-cache-misses", "The i-cache misses as often as printed.", |m| {
            printed(m, Quantity::InstructionMisses, |stack, build| table_6(stack, build)[0].misses as f64)
        }),
        Claim {
            recipe: "ours in percent of the printed figure, for every build of both stacks but ALL of RPC, which has none",
            ..of("i-cache-replacements", "The i-cache has as many replacement misses as printed.", |m| {
                replaced(m, 0, Quantity::InstructionReplacements)
            })
        },
        of("d-cache-accesses", "The d-cache and the write buffer are accessed as often as printed.", |m| {
            printed(m, Quantity::DataAccesses, |stack, build| table_6(stack, build)[1].accesses as f64)
        }),
        of("d-cache-misses", "The d-cache and the write buffer miss as often as printed.", |m| {
            printed(m, Quantity::DataMisses, |stack, build| table_6(stack, build)[1].misses as f64)
        }),
        of(
            "d-cache-replacements",
            "The d-cache and the write buffer have as many replacement misses as printed.",
            |m| replaced(m, 1, Quantity::DataReplacements),
        ),
        of("b-cache-accesses", "The b-cache is accessed as often as printed.", |m| {
            printed(m, Quantity::BoardAccesses, |stack, build| table_6(stack, build)[2].accesses as f64)
        }),
        of("b-cache-misses", "The b-cache misses as often as printed.", |m| {
            printed(m, Quantity::BoardMisses, |stack, build| table_6(stack, build)[2].misses as f64)
        }),
    ]
}

fn bad() -> Vec<Claim<Measurements>> {
    let of = |recipe| stated_in("4.3", &["table-6"], "%", recipe);
    vec![
        Claim {
            id: "bad-i-cache-217",
            says: "BAD has 217 (TCP/IP) and 233 (RPC) more i-cache misses than CLO.",
            published: "217 and 233",
            reading: AS_PRINTED,
            derive: |m| additional(m, Quantity::InstructionMisses, [217.0, 233.0]),
            ..of("the misses that BAD has more than CLO, in percent of the printed figure")
        },
        Claim {
            id: "bad-b-cache-110",
            says: "BAD has 110 (TCP/IP) and 14 (RPC) more b-cache misses than CLO.",
            published: "110 and 14",
            reading: AS_PRINTED,
            derive: |m| additional(m, Quantity::BoardMisses, [110.0, 14.0]),
            contradicts: Some(
                "table 6 has 863 and 678, and 995 and 845 misses, which is 185 and 150 more. 110 and 14 are its replacement misses.",
            ),
            ..of("the misses that BAD has more than CLO, in percent of the printed figure")
        },
    ]
}

fn replacements() -> Vec<Claim<Measurements>> {
    let of = |unit, recipe| stated_in("4.4.1", &["table-6"], unit, recipe);
    const FEWER: &str = "by how many percent CLO has fewer replacement misses than OUT. The order of OUT is left to the linker: a mean over \
        random orders, with what an order may make of it";
    const INLINED: &str = "by how many percent PIN has fewer replacement misses than OUT. What remains counts as printed from 15 % less than 66 of 69";
    // 15 % less than the printed part that remains.
    const FEW: Reading = Reading::AtMost(100.0 * (1.0 - (1.0 - REWRITTEN) * 66.0 / 69.0));
    vec![
        Claim {
            id: "clo-fewer",
            says: "Cloning with a bipartite layout helps to avoid i-cache replacement misses.",
            published: "fewer",
            derive: |m| {
                steps(&[(Build::Out, Build::Clo)], |stack, from, to| {
                    m.saved(stack, from, to, Quantity::InstructionReplacements)
                })
            },
            ..of("misses", "the replacement misses that CLO has fewer than OUT")
        },
        Claim {
            id: "clo-tcp-27",
            says: "Cloning reduces the replacement misses of TCP/IP from 69 to 27.",
            published: "from 69 to 27",
            reading: Reading::Rewritten(100.0 * (1.0 - 27.0 / 69.0)),
            derive: |m| one(m.fewer_replacements(Protocols::TcpIp, Build::Clo)),
            ..of("%", FEWER)
        },
        Claim {
            id: "clo-rpc-7",
            says: "Cloning reduces the replacement misses of RPC by a factor of 3.7.",
            published: "3.7 (from 26 to 7)",
            reading: Reading::Rewritten(100.0 * (1.0 - 7.0 / 26.0)),
            derive: |m| one(m.fewer_replacements(Protocols::Rpc, Build::Clo)),
            ..of("%", FEWER)
        },
        Claim {
            id: "clo-rpc-more",
            says: "Cloning saves an even larger part of the replacement misses in RPC.",
            published: "even larger",
            derive: |m| {
                let part = |stack| m.fewer_replacements(stack, Build::Clo);
                one(part(Protocols::Rpc).and_then(|rpc| Ok(rpc.minus(&part(Protocols::TcpIp)?))))
            },
            ..of("points", "the part of OUT's replacement misses that CLO avoids in RPC, less that in TCP/IP")
        },
        Claim {
            id: "pin-keeps",
            says: "Path-inlining alone does not get rid of many replacement misses.",
            published: "66 of 69 remain",
            reading: FEW,
            derive: |m| one(m.fewer_replacements(Protocols::TcpIp, Build::Pin)),
            ..of("%", INLINED)
        },
        Claim {
            id: "pin-keeps-rpc",
            says: "In RPC neither: path-inlining alone does not get rid of many replacement misses.",
            published: "analogous to TCP/IP",
            reading: FEW,
            derive: |m| one(m.fewer_replacements(Protocols::Rpc, Build::Pin)),
            contradicts: Some(
                "by table 6, path-inlining leaves 14 of RPC's 26 replacement misses, nearly half of them less.",
            ),
            ..of("%", INLINED)
        },
        Claim {
            id: "all-rpc-none",
            says: "With cloning and path-inlining, not a single replacement miss remains in RPC.",
            published: "0",
            reading: Reading::AtMost(0.0),
            derive: |m| one(m.spread(Protocols::Rpc, Build::All, Quantity::InstructionReplacements)),
            ..of("misses", "the replacement misses of ALL")
        },
    ]
}

fn board() -> Vec<Claim<Measurements>> {
    let of = |recipe| stated_in("4.4.1", &["table-6"], "misses", recipe);
    vec![
        Claim {
            id: "b-cache-none",
            says: "Except for BAD, no build has replacement misses in the b-cache.",
            published: "0",
            reading: Reading::AtMost(0.0),
            derive: |m| {
                each(&Build::ALL[1..], |stack, build| m.spread(stack, build, Quantity::BoardReplacements))
            },
            ..of("the replacement misses of the b-cache, in every other build")
        },
        Claim {
            id: "b-cache-bad",
            says: "BAD has replacement misses in the b-cache.",
            published: "110 and 14",
            basis: Basis::Fitted,
            derive: |m| both(|stack| m.spread(stack, Build::Bad, Quantity::BoardReplacements)),
            ..of("the replacement misses of the b-cache in BAD, which is placed to have them")
        },
    ]
}

/// Replacement misses of a cache in percent of the printed ones, where there are some.
fn replaced(m: &Measurements, cache: usize, quantity: Quantity) -> Option<Finding> {
    let printed = |stack, build| table_6(stack, build)[cache].replacements;
    let all = Protocols::ALL.into_iter().flat_map(|stack| Build::ALL.map(|build| (stack, build)));
    cases(all.filter(|&(stack, build)| printed(stack, build) > 0).map(|(stack, build)| {
        let ours = m.spread(stack, build, quantity);
        let ours = ours.map(|ours| ours.in_percent_of(printed(stack, build) as f64));
        (stack.to_string(), build.to_string(), ours)
    }))
}

/// What BAD has more than CLO, in percent of a figure of each stack.
fn additional(m: &Measurements, quantity: Quantity, figures: [f64; 2]) -> Option<Finding> {
    both(|stack| {
        let figure = figures[usize::from(stack == Protocols::Rpc)];
        Ok(m.saved(stack, Build::Bad, Build::Clo, quantity)?.in_percent_of(figure))
    })
}
