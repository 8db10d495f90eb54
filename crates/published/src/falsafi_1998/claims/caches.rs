//! §4.3.3.4: smaller caches.

use super::derive::{at, break_even, cases, each, minus, stated_in};
use crate::falsafi_1998::Runs;
use crate::falsafi_1998::plan::{CACHES, MOST, fixed, floating};
use crate::falsafi_1998::runs::{Found, mean};
use crate::falsafi_1998::setup::CACHE;
use crate::falsafi_1998::work::App;
use crate::{Claim, Reading};

const F47: &[&str] = &["4-7"];
const SECTION: &str = "4.3.3.4";

/// By how many percent Fixed is faster than Floating with caches of `bytes`.
fn fixed_gain(runs: &Runs, per_node: u32, app: App, bytes: u64) -> Found<f64> {
    runs.gain(&fixed(per_node, app).caches(bytes), &floating(per_node, app).caches(bytes))
}

/// The mean of that over the nodes of two to five processors.
fn over_sizes(runs: &Runs, app: App, bytes: u64) -> Found<f64> {
    mean((2..=MOST).map(|n| fixed_gain(runs, n, app, bytes)))
}

fn name(bytes: u64) -> String {
    format!("{} KB", bytes >> 10)
}

pub(super) fn claims() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "small-caches-favour-floating",
            says: "Smaller caches increase Floating's performance relative to Fixed, for all programs but em3d.",
            published: "increase",
            derive: |e| {
                let apps = || App::CHAPTER_4.into_iter().filter(|&app| app != App::Em3d);
                let change = |app, bytes| minus(over_sizes(e, app, CACHE), over_sizes(e, app, bytes));
                let all = CACHES.into_iter().flat_map(|bytes| apps().map(move |app| (app, bytes)));
                cases(all.map(|(app, bytes)| (name(bytes), app.name(), change(app, bytes))))
            },
            ..stated_in(
                SECTION,
                F47,
                "%",
                "gain of Fixed over Floating with caches of 1 MB minus with the smaller ones, mean over nodes of \
                 two to five processors",
            )
        },
        Claim {
            id: "small-caches-break-even",
            says: "With smaller caches Fixed is faster from five processors per node on, instead of four.",
            published: "five",
            reading: Reading::Printed(5.0),
            derive: |e| {
                let gain = |n, bytes| mean(App::CHAPTER_4.map(|app| fixed_gain(e, n, app, bytes)));
                at(CACHES.map(|bytes| (name(bytes), break_even(MOST, |n| gain(n, bytes)))))
            },
            ..stated_in(
                SECTION,
                F47,
                "processors",
                "the smallest node from which on the mean gain of Fixed over the programs is above zero; \
                 six if none",
            )
        },
        Claim {
            id: "em3d-insensitive",
            says: "Smaller caches do not significantly affect em3d, which thrashes even with 1 MB.",
            published: "not significantly",
            reading: Reading::Within(5.0),
            derive: |e| {
                let change = |bytes| minus(over_sizes(e, App::Em3d, bytes), over_sizes(e, App::Em3d, CACHE));
                at(CACHES.map(|bytes| (name(bytes), change(bytes))))
            },
            ..stated_in(
                SECTION,
                F47,
                "%",
                "gain of Fixed over Floating minus that with caches of 1 MB, mean over nodes of two to five \
                 processors; up to 5 % counts as not significant",
            )
        },
        Claim {
            id: "tiny-caches-hurt-floating",
            says: "From 128 to 16 KB, em3d, barnes and gauss lose slightly under Floating relative to Fixed: the protocol's data displace \
                   those of the program.",
            published: "slightly",
            reading: Reading::Between(0.0, 15.0),
            derive: |e| {
                each([App::Em3d, App::Barnes, App::Gauss], |app| {
                    minus(over_sizes(e, app, CACHES[0]), over_sizes(e, app, CACHES[1]))
                })
            },
            ..stated_in(
                SECTION,
                F47,
                "%",
                "gain of Fixed over Floating with 16 minus with 128 KB, mean over nodes of two to five processors; \
                 up to 15 % counts as slight",
            )
        },
    ]
}
