//! §5.3.2, §5.3.3 and Table 5.1: what a remote read takes.

use super::derive::{cases, one, stated_in};
use crate::falsafi_1998::Runs;
use crate::falsafi_1998::runs::Found;
use crate::falsafi_1998::setup::Setup;
use crate::falsafi_1998::system::{System, hurricane, hurricane_1};
use crate::falsafi_1998::tables::{Part, TABLE_5_1, simulated_5_1};
use crate::{Basis, Claim, Reading};

const ROWS: &[&str] = &["table-5-1-rows"];
const TABLE: &[&str] = &["table-5-1"];
const SECTION: &str = "5.3.3";
/// The places of the systems in the table.
const S_COMA: usize = 0;
const HURRICANE: usize = 1;
const HURRICANE_1: usize = 2;

/// Cycles of the rows of `parts` in the simulator.
fn occupancy(system: usize, parts: &[Part]) -> f64 {
    let rows = TABLE_5_1.iter().zip(simulated_5_1()[system]);
    rows.filter(|(row, _)| parts.contains(&row.part)).map(|(_, cycles)| cycles as f64).sum()
}

/// By how many percent a system's occupancy is above S-COMA's.
fn increase(system: usize, parts: &[Part]) -> Found<f64> {
    Ok(100.0 * (occupancy(system, parts) / occupancy(S_COMA, parts) - 1.0))
}

fn total(runs: &Runs, system: System) -> Found<f64> {
    runs.round_trip(&Setup::remote_read(system))
}

fn longer(runs: &Runs, system: System) -> Found<f64> {
    Ok(100.0 * (total(runs, system)? / total(runs, System::SComa)? - 1.0))
}

pub(super) fn claims() -> Vec<Claim<Runs>> {
    // The simulator takes the rows over, and the totals and increases are made of them.
    let given = |claim| Claim { basis: Basis::Construction, ..claim };
    [rows(), totals(), increases()].concat().into_iter().map(given).collect()
}

fn rows() -> Vec<Claim<Runs>> {
    vec![Claim {
        id: "steps",
        says: "Each step of a remote read takes what Table 5.1 says.",
        published: "see table",
        reading: Reading::Within(0.0),
        derive: |_| {
            let systems = [(S_COMA, "S-COMA"), (HURRICANE, "Hurricane"), (HURRICANE_1, "Hurricane-1")];
            cases(systems.into_iter().flat_map(|(place, name)| {
                TABLE_5_1
                    .iter()
                    .zip(simulated_5_1()[place])
                    .map(move |(row, ours)| (name, row.action, Ok(ours as f64 - row.published[place] as f64)))
            }))
        },
        ..stated_in(
            SECTION,
            ROWS,
            "cycles",
            "ours minus the printed one; the simulator has them from this table",
        )
    }]
}

fn totals() -> Vec<Claim<Runs>> {
    let base = || stated_in(SECTION, TABLE, "cycles", "a remote read through the simulated machine");
    vec![
        Claim {
            id: "total-s-coma",
            says: "A remote read takes 440 cycles with S-COMA.",
            published: "440 cycles",
            reading: Reading::Printed(440.0),
            derive: |e| one(total(e, System::SComa)),
            ..base()
        },
        Claim {
            id: "total-hurricane",
            says: "A remote read takes 584 cycles with Hurricane.",
            published: "584 cycles",
            reading: Reading::Printed(584.0),
            derive: |e| one(total(e, hurricane(1))),
            ..base()
        },
        Claim {
            id: "total-hurricane-1",
            says: "A remote read takes 1164 cycles with Hurricane-1.",
            published: "1164 cycles",
            reading: Reading::Printed(1164.0),
            derive: |e| one(total(e, hurricane_1(1))),
            ..base()
        },
        Claim {
            id: "longer-hurricane",
            says: "The round trip is 33 % longer with Hurricane than with S-COMA.",
            published: "33 %",
            reading: Reading::Printed(33.0),
            derive: |e| one(longer(e, hurricane(1))),
            ..stated_in(SECTION, TABLE, "%", "increase of the simulated round trip")
        },
        Claim {
            id: "longer-hurricane-1",
            says: "The round trip is 165 % longer with Hurricane-1 than with S-COMA.",
            published: "165 %",
            reading: Reading::Printed(165.0),
            derive: |e| one(longer(e, hurricane_1(1))),
            ..stated_in(SECTION, TABLE, "%", "increase of the simulated round trip")
        },
    ]
}

fn increases() -> Vec<Claim<Runs>> {
    const REQUEST_RESPONSE: &[Part] = &[Part::Request, Part::Response];
    const REPLY: &[Part] = &[Part::Reply];
    vec![
        Claim {
            id: "request-response-hurricane",
            says: "Software on an embedded processor increases the request/response occupancy by 315 %.",
            published: "315 %",
            reading: Reading::Printed(315.0),
            derive: |_| one(increase(HURRICANE, REQUEST_RESPONSE)),
            ..stated_in(SECTION, ROWS, "%", "the rows of request and response occupancy against S-COMA's")
        },
        Claim {
            id: "reply-hurricane",
            says: "It increases the reply occupancy by 41 %.",
            published: "41 %",
            reading: Reading::Printed(41.0),
            derive: |_| one(increase(HURRICANE, REPLY)),
            ..stated_in(SECTION, ROWS, "%", "the rows of reply occupancy against S-COMA's")
        },
        Claim {
            id: "request-response-hurricane-1",
            says: "Software on a processor of the SMP increases the request/response occupancy by 518 %.",
            published: "518 %",
            reading: Reading::Printed(518.0),
            derive: |_| one(increase(HURRICANE_1, REQUEST_RESPONSE)),
            contradicts: Some(
                "the rows by which Hurricane's 315 % is reached give 1822 %; 518 % counts the processor's own rows on that node too.",
            ),
            ..stated_in(SECTION, ROWS, "%", "the rows of request and response occupancy against S-COMA's")
        },
        Claim {
            id: "reply-hurricane-1",
            says: "It increases the reply occupancy by 160 %.",
            published: "160 %",
            reading: Reading::Printed(160.0),
            derive: |_| one(increase(HURRICANE_1, REPLY)),
            ..stated_in(SECTION, ROWS, "%", "the rows of reply occupancy against S-COMA's")
        },
    ]
}
