//! §4.3.3 and §4.3.3.3: Stache with blocks of 64, 128 and 256 bytes.

use super::derive::{at, break_even, each, minus, one, stated_in};
use crate::falsafi_1998::Runs;
use crate::falsafi_1998::plan::{MOST, fixed, floating};
use crate::falsafi_1998::runs::{Found, mean};
use crate::falsafi_1998::setup::Setup;
use crate::falsafi_1998::system::System;
use crate::falsafi_1998::work::App;
use crate::{Basis, Claim, Reading};

const READS: &[&str] = &["table-5-1"];
const F46: &[&str] = &["4-6"];
const SECTION: &str = "4.3.3.3";

/// By how many percent Fixed is faster than Floating with blocks of `bytes`.
fn fixed_gain(runs: &Runs, per_node: u32, app: App, bytes: u64) -> Found<f64> {
    runs.gain(&fixed(per_node, app).blocks(bytes), &floating(per_node, app).blocks(bytes))
}

/// The mean of that over the programs.
fn mean_gain(runs: &Runs, per_node: u32, bytes: u64) -> Found<f64> {
    mean(App::CHAPTER_4.map(|app| fixed_gain(runs, per_node, app, bytes)))
}

pub(super) fn claims() -> Vec<Claim<Runs>> {
    [round_trips(), weights()].concat()
}

fn read(runs: &Runs, bytes: u64) -> Found<f64> {
    runs.round_trip(&Setup::remote_read(System::Fixed).blocks(bytes))
}

fn round_trips() -> Vec<Claim<Runs>> {
    let base = || Claim {
        basis: Basis::Fitted,
        ..stated_in(
            SECTION,
            READS,
            "cycles",
            "a remote read on two nodes under Fixed; two of the steps of Typhoon-1 are set by the three stated values",
        )
    };
    vec![
        Claim {
            id: "stache-64",
            says: "A remote read takes 1204 cycles with blocks of 64 bytes.",
            published: "1204 cycles",
            reading: Reading::Printed(1204.0),
            derive: |e| one(read(e, 64)),
            ..base()
        },
        Claim {
            id: "stache-128",
            section: "4.3.3",
            says: "A remote read takes 1490 cycles with blocks of 128 bytes.",
            published: "1490 cycles",
            reading: Reading::Printed(1490.0),
            derive: |e| one(read(e, 128)),
            ..base()
        },
        Claim {
            id: "stache-256",
            says: "A remote read takes 2055 cycles with blocks of 256 bytes.",
            published: "2055 cycles",
            reading: Reading::Printed(2055.0),
            derive: |e| one(read(e, 256)),
            ..base()
        },
    ]
}

fn weights() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "floating-superior-at-64",
            says: "Floating dominates on nodes of two processors even with the lighter protocol of 64-byte blocks.",
            published: "Floating faster",
            reading: Reading::AtMost(0.0),
            derive: |e| one(mean_gain(e, 2, 64)),
            ..stated_in(SECTION, F46, "%", "mean gain of Fixed over Floating over the five programs")
        },
        Claim {
            id: "heavier-favours-floating",
            says: "Blocks of 256 bytes increase Floating's performance relative to Fixed with more processors per node.",
            published: "increase",
            derive: |e| {
                let change = |n| minus(mean_gain(e, n, 128), mean_gain(e, n, 256));
                at([4, 5].map(|n| (format!("{n} processors"), change(n))))
            },
            ..stated_in(
                SECTION,
                F46,
                "%",
                "mean gain of Fixed over Floating with 128 minus with 256 bytes, four and five processors",
            )
        },
        Claim {
            id: "em3d-break-even-256",
            says: "With blocks of 256 bytes Fixed is faster for em3d from four processors per node on, instead of two.",
            published: "four",
            reading: Reading::Printed(4.0),
            derive: |e| one(break_even(MOST, |n| fixed_gain(e, n, App::Em3d, 256))),
            ..stated_in(
                SECTION,
                F46,
                "processors",
                "the smallest node from which on Fixed is faster; six if none",
            )
        },
        Claim {
            id: "gauss-within-5",
            says: "With blocks of 256 bytes gauss under Floating comes within 5 % of Fixed with five processors per node.",
            published: "5 %",
            reading: Reading::AtMost(5.0),
            derive: |e| one(fixed_gain(e, 5, App::Gauss, 256)),
            ..stated_in(SECTION, F46, "%", "gain of Fixed over Floating")
        },
        Claim {
            id: "average-break-even-256",
            says: "The heavier protocol does not shift the average break-even beyond four processors per node.",
            published: "at most four",
            reading: Reading::AtMost(4.0),
            derive: |e| one(break_even(MOST, |n| mean_gain(e, n, 256))),
            ..stated_in(
                SECTION,
                F46,
                "processors",
                "the smallest node from which on the mean gain of Fixed is above zero; six if none",
            )
        },
        Claim {
            id: "false-sharing-widens-gap",
            says: "With blocks of 256 bytes lu and water-sp share falsely, which widens the gap with five processors per node.",
            published: "wider",
            derive: |e| {
                each([App::Lu, App::WaterSp], |app| {
                    minus(fixed_gain(e, 5, app, 256), fixed_gain(e, 5, app, 128))
                })
            },
            ..stated_in(SECTION, F46, "%", "gain of Fixed over Floating with 256 minus with 128 bytes")
        },
    ]
}
