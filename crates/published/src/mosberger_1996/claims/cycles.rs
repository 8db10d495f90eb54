//! §4.3 and §4.4.2: processing time, lengths and iCPI (Table 7).

use super::derive::{AS_PRINTED, IN_PERCENT, each, falls, one, printed, stated_in, steps};
use crate::mosberger_1996::tables::table_7;
use crate::mosberger_1996::values::{CYCLES_PER_MICROSECOND, Quantity};
use crate::mosberger_1996::{Build, Measurements, Protocols};
use crate::{Basis, Claim, Reading};

pub(super) fn all() -> Vec<Claim<Measurements>> {
    [order(), columns(), issue()].concat()
}

fn order() -> Vec<Claim<Measurements>> {
    let of = |recipe| stated_in("4.4.2", &["table-7"], "%", recipe);
    vec![
        Claim {
            id: "bad-slowest",
            says: "BAD takes the most processing time.",
            published: "167.0 and 154.2 µs, the most",
            basis: Basis::Fitted,
            derive: |m| {
                each(&Build::ALL[1..], |stack, build| {
                    let cycles = |build| m.spread(stack, build, Quantity::Cycles);
                    Ok(cycles(Build::Bad)?.above(&cycles(build)?))
                })
            },
            ..of("by how much BAD's cycles exceed those of each other build. BAD is placed to be the worst")
        },
        Claim {
            id: "cycles-order",
            says: "Processing time falls in the order STD, OUT, CLO, PIN, ALL.",
            published: "89.6, 84.1, 77.2, 69.9, 66.1 and 85.1, 81.0, 71.0, 57.7, 49.2 µs",
            derive: |m| {
                let pairs = [Build::Std, Build::Out, Build::Clo, Build::Pin, Build::All];
                let pairs: Vec<_> = pairs.windows(2).map(|pair| (pair[0], pair[1])).collect();
                falls(m, Quantity::Cycles, &pairs)
            },
            ..of("by how many percent each build takes fewer cycles than the one before")
        },
        Claim {
            id: "random-near-best",
            says: "Laying functions out at random is on average closer to the best case than to the worst.",
            published: "closer to the best",
            reading: Reading::AtMost(50.0),
            derive: |m| {
                let cycles = |stack, build| m.spread(stack, build, Quantity::Cycles);
                steps(&[(Build::Clo, Build::Bad)], |stack, best, worst| {
                    let (best, worst) = (cycles(stack, best)?.mean(), cycles(stack, worst)?);
                    if worst.value().low <= best {
                        return Err(format!("BAD is not slower than CLO for {stack}."));
                    }
                    let part = |cycles, worst| 100.0 * (cycles - best) / (worst - best);
                    Ok(cycles(stack, Build::Out)?.with(&worst, part))
                })
            },
            section: "4.3",
            ..of(
                "how far OUT, in random orders, is from CLO to BAD, which are the same code, placed well and badly. STD, of which \
                 the text speaks, is other code. The interval is over orders, and over what BAD may be",
            )
        },
    ]
}

fn columns() -> Vec<Claim<Measurements>> {
    let of = |recipe| stated_in("4.4.2", &["table-7"], "%", recipe);
    const MODEL: &str = "ours in percent of the printed figure, for every build of both stacks: cycles of the simulated processor \
        at 175 MHz. Nothing overlaps. How BAD is placed and how far memory is away are not in the text; BAD's interval is over both";
    vec![
        Claim {
            id: "lengths",
            says: "The traces are as long as printed.",
            published: "the column Length of table 7",
            reading: AS_PRINTED,
            derive: |m| {
                printed(m, Quantity::Instructions, |stack, build| table_7(stack, build).length as f64)
            },
            ..of(IN_PERCENT)
        },
        Claim {
            id: "processing-times",
            says: "Processing takes as long as printed.",
            published: "the columns of times of table 7",
            reading: AS_PRINTED,
            derive: |m| {
                printed(m, Quantity::Cycles, |stack, build| {
                    CYCLES_PER_MICROSECOND * table_7(stack, build).microseconds
                })
            },
            ..of(MODEL)
        },
        Claim {
            id: "instruction-cpi",
            says: "iCPI is as printed.",
            published: "the column iCPI of table 7",
            reading: AS_PRINTED,
            derive: |m| {
                printed(m, Quantity::InstructionCpi, |stack, build| table_7(stack, build).instruction_cpi)
            },
            ..of(IN_PERCENT)
        },
        Claim {
            id: "memory-cpi",
            says: "mCPI is as printed.",
            published: "the column mCPI of table 7",
            reading: AS_PRINTED,
            derive: |m| printed(m, Quantity::MemoryCpi, |stack, build| table_7(stack, build).memory_cpi),
            ..of(MODEL)
        },
    ]
}

fn issue() -> Vec<Claim<Measurements>> {
    let of = |recipe| stated_in("4.4.2", &["table-7"], "cycles", recipe);
    const OUTLINED: [Build; 3] = [Build::Bad, Build::Out, Build::Clo];
    const INLINED: [Build; 2] = [Build::Pin, Build::All];
    vec![
        Claim {
            id: "icpi-classes",
            says: "By iCPI there are three classes: STD has the largest, then the outlined builds, then the path-inlined ones.",
            published: "three classes",
            derive: |m| {
                let outlined = OUTLINED.map(|build| (Build::Std, build));
                let inlined = OUTLINED.into_iter().flat_map(|of| INLINED.map(|build| (of, build)));
                let pairs: Vec<_> = outlined.into_iter().chain(inlined).collect();
                steps(&pairs, |stack, from, to| m.saved(stack, from, to, Quantity::InstructionCpi))
            },
            ..of("by how much the iCPI of each build of a class exceeds that of each build of the next class")
        },
        Claim {
            id: "icpi-same-code",
            says: "Within a class iCPI is the same, since the code is identical.",
            published: "identical",
            reading: Reading::Within(0.02),
            derive: |m| {
                let pairs = [(Build::Out, Build::Bad), (Build::Out, Build::Clo), (Build::Pin, Build::All)];
                steps(&pairs, |stack, from, to| m.saved(stack, from, to, Quantity::InstructionCpi))
            },
            contradicts: Some(
                "by table 7 the outlined builds execute 4718, 4728 and 4684 instructions (4253, 4257 and 4227 in RPC), so their code \
                 differs; §3.2 says that clones skip parts of prologues and loads of addresses.",
            ),
            ..of(
                "by how much iCPI falls from OUT to BAD and CLO, and from PIN to ALL; up to 0.02 is the same, as printed ones differ by 0.01",
            )
        },
        Claim {
            id: "icpi-outlining",
            says: "Outlining improves iCPI by almost exactly 0.1 for both stacks.",
            published: "almost exactly 0.1",
            reading: Reading::Near(0.1, 0.02),
            derive: |m| {
                steps(&[(Build::Std, Build::Out)], |stack, from, to| {
                    m.saved(stack, from, to, Quantity::InstructionCpi)
                })
            },
            ..of("by how much iCPI falls from STD to OUT; the printed values give 0.11 and 0.10")
        },
        Claim {
            id: "icpi-path-inlining",
            says: "Path-inlining improves iCPI by 0.04 at the most.",
            published: "at most 0.04 (0.04 and 0.02 by table 7)",
            reading: Reading::Between(0.005, 0.04),
            derive: |m| {
                steps(&[(Build::Out, Build::Pin)], |stack, from, to| {
                    m.saved(stack, from, to, Quantity::InstructionCpi)
                })
            },
            ..of(
                "by how much iCPI falls from OUT to PIN. Less than 0.005 would be printed as 0.00, no improvement",
            )
        },
        Claim {
            id: "outlining-5",
            section: "4.4.4",
            unit: "%",
            says: "Outlining reduces processing times by about 5 %.",
            published: "about 5 %",
            reading: Reading::About(5.0),
            derive: |m| falls(m, Quantity::Cycles, &[(Build::Std, Build::Out)]),
            contradicts: Some("table 7's times give 6.1 % for TCP/IP, and 4.8 % for RPC."),
            ..of("by how many percent OUT takes fewer cycles than STD, for both stacks")
        },
        Claim {
            id: "inlined-shorter",
            says: "The path-inlined builds execute fewer instructions.",
            published: "4728 to 4245 and 4257 to 3471",
            unit: "%",
            derive: |m| falls(m, Quantity::Instructions, &[(Build::Out, Build::Pin)]),
            ..of("by how many percent PIN executes fewer instructions than OUT")
        },
        Claim {
            id: "inlined-calls",
            says: "Path-inlining removes almost all call overheads.",
            published: "almost all",
            section: "3.3",
            reading: Reading::Nearly(100.0),
            unit: "%",
            derive: |m| falls(m, Quantity::Calls, &[(Build::Out, Build::Pin)]),
            ..of(
                "by how many percent PIN executes fewer calls than OUT. Functions that are called again and again are not inlined, in the source \
                 neither",
            )
        },
        Claim {
            id: "inlined-shorter-rpc",
            says: "Path-inlining removes more of RPC's instructions, as its functions are many and small.",
            published: "18 % and 10 %",
            section: "4.3",
            unit: "points",
            derive: |m| {
                let part = |stack| {
                    let length = |build| m.spread(stack, build, Quantity::Instructions);
                    Ok(length(Build::Pin)?.below(&length(Build::Out)?))
                };
                one(part(Protocols::Rpc).and_then(|rpc| Ok(rpc.minus(&part(Protocols::TcpIp)?))))
            },
            ..of("the part of OUT's instructions that PIN does not execute in RPC, less that in TCP/IP")
        },
    ]
}
