//! §3 and §4.4.4: how dense the path's code is (figure 2 and Table 9).

use super::derive::{AS_PRINTED, both, cases, one, stated_in, steps};
use crate::mosberger_1996::spread::Spread;
use crate::mosberger_1996::tables::table_9;
use crate::mosberger_1996::values::{Found, Quantity};
use crate::mosberger_1996::{Build, Measurements, Protocols};
use crate::{Claim, Finding, Reading};

/// What Table 9 and the prose say of unused instructions.
const PER_BLOCK: &str = "21 and 22 % of the 8 instructions of a block are 1.7 and 1.8, and table 9 has 21 % for TCP/IP but 22 % for RPC, where the \
    text has 21 % for both.";

pub(super) fn all() -> Vec<Claim<Measurements>> {
    [gaps(), unused(), sizes()].concat()
}

fn gaps() -> Vec<Claim<Measurements>> {
    let of = |recipe| stated_in("3.2", &["figure-2"], "points", recipe);
    vec![
        Claim {
            id: "gaps-outlining",
            says: "Outlining compresses frequently executed code: gaps between used instructions become fewer.",
            published: "fewer gaps",
            derive: |m| fewer(m, (Build::Std, Build::Out)),
            ..of("the part of fetched blocks that STD leaves unused, less that of OUT")
        },
        Claim {
            id: "gaps-cloning",
            says: "Cloning leads to a contiguous layout, with fewer gaps still.",
            published: "contiguous",
            derive: |m| fewer(m, (Build::Out, Build::Clo)),
            ..of("the part of fetched blocks that OUT leaves unused, less that of CLO")
        },
    ]
}

fn unused() -> Vec<Claim<Measurements>> {
    let of = |unit, recipe| stated_in("4.4.4", &["table-9"], unit, recipe);
    vec![
        Claim {
            id: "unused",
            says: "The part of i-cache blocks that is left unused is that of the table.",
            published: "21 and 15 %, 22 and 16 %",
            reading: AS_PRINTED,
            derive: |m| beside(m, Quantity::Unused, |(unused, _)| unused),
            ..of("%", "ours in percent of the printed figure, for STD and OUT of both stacks")
        },
        Claim {
            id: "unused-6",
            says: "Outlining reduces the unused part from 21 to 15 % and from 22 to 16 %.",
            published: "6 points",
            reading: Reading::Rewritten(6.0),
            derive: |m| fewer(m, (Build::Std, Build::Out)),
            ..of("points", "the unused part of STD less that of OUT")
        },
        Claim {
            id: "unused-1.8",
            says: "Without outlining, about 1.8 instructions of a block of 8 are unused.",
            published: "about 21 %, or 1.8",
            reading: Reading::About(1.8),
            derive: |m| per_block(m, Build::Std),
            contradicts: Some(PER_BLOCK),
            ..of("instructions", "8 times the unused part of STD")
        },
        Claim {
            id: "unused-1.3",
            says: "With outlining, about 1.3 instructions of a block are unused.",
            published: "about 1.3",
            reading: Reading::About(1.3),
            derive: |m| per_block(m, Build::Out),
            ..of("instructions", "8 times the unused part of OUT")
        },
    ]
}

fn sizes() -> Vec<Claim<Measurements>> {
    let of = |recipe| stated_in("4.4.4", &["table-9"], "%", recipe);
    const OUTLINED: &str = "by how much shorter the main line is in OUT than in STD: the instructions of each function that is executed, up to its \
        last executed block";
    vec![
        Claim {
            id: "path-sizes",
            says: "The path has the size of the table.",
            published: "5841 and 3856, 5085 and 3641 instructions",
            reading: AS_PRINTED,
            derive: |m| beside(m, Quantity::MainLine, |(_, size)| size as f64),
            ..of(
                "ours in percent of the printed figure, for STD and OUT of both stacks; the size is that of the main line",
            )
        },
        Claim {
            id: "outlined-34",
            says: "34 % of TCP/IP's code can be outlined.",
            published: "34 %",
            reading: Reading::Rewritten(34.0),
            derive: |m| one(outlined(m, Protocols::TcpIp)),
            ..of(OUTLINED)
        },
        Claim {
            id: "outlined-28",
            says: "28 % of RPC's code can be outlined.",
            published: "28 %",
            reading: Reading::Rewritten(28.0),
            derive: |m| one(outlined(m, Protocols::Rpc)),
            ..of(OUTLINED)
        },
    ]
}

/// By how many points less of the fetched blocks is unused after a step.
fn fewer(m: &Measurements, step: (Build, Build)) -> Option<Finding> {
    steps(&[step], |stack, from, to| m.saved(stack, from, to, Quantity::Unused))
}

fn per_block(m: &Measurements, build: Build) -> Option<Finding> {
    both(|stack| Ok(m.spread(stack, build, Quantity::Unused)?.map(|percent| 8.0 * percent / 100.0)))
}

fn outlined(m: &Measurements, stack: Protocols) -> Found<Spread> {
    let size = |build| m.spread(stack, build, Quantity::MainLine);
    Ok(size(Build::Out)?.below(&size(Build::Std)?))
}

/// A quantity of STD and OUT in percent of the printed one.
fn beside(m: &Measurements, quantity: Quantity, figure: fn((f64, u64)) -> f64) -> Option<Finding> {
    cases(Protocols::ALL.into_iter().flat_map(|stack| {
        let value = move |(build, row): (Build, (f64, u64))| {
            let ours = m.spread(stack, build, quantity).map(|ours| ours.in_percent_of(figure(row)));
            (stack.to_string(), build.to_string(), ours)
        };
        let [without, with] = table_9(stack);
        [(Build::Std, without), (Build::Out, with)].map(value)
    }))
}
