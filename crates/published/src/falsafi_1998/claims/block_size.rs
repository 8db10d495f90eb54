//! §5.3.3.1 and §5.3.4.3: other sizes of blocks in chapter 5.

use super::derive::{above, at, cases, each, gain, minus, one, over, stated_in};
use crate::falsafi_1998::Runs;
use crate::falsafi_1998::runs::{Found, mean};
use crate::falsafi_1998::setup::Setup;
use crate::falsafi_1998::system::{System, hurricane, hurricane_1};
use crate::falsafi_1998::work::App;
use crate::{Claim, Reading};

const F56: &[&str] = &["5-6"];
const F55_F56: &[&str] = &["5-6", "5-5"];
const F511: &[&str] = &["5-11"];
const F512: &[&str] = &["5-12"];
const BANDWIDTH: &str = "5.3.3.1";
const SECTION: &str = "5.3.4.3";

/// The greatest reply bandwidth with blocks of `bytes`.
fn reply(runs: &Runs, system: System, bytes: u64) -> Found<f64> {
    runs.peak(|requesters| Setup::reply(system, requesters).blocks(bytes))
}

/// The greatest request/response bandwidth with blocks of `bytes`.
fn request(runs: &Runs, system: System, bytes: u64) -> Found<f64> {
    runs.peak(|requesters| Setup::request(system, requesters).blocks(bytes))
}

/// Performance relative to S-COMA with blocks of `bytes`, in percent.
fn relative(runs: &Runs, system: System, app: App, bytes: u64) -> Found<f64> {
    runs.relative(system, app, |setup| setup.blocks(bytes))
}

/// The mean of that over the programs.
fn average(runs: &Runs, system: System, bytes: u64) -> Found<f64> {
    mean(App::CHAPTER_5.map(|app| relative(runs, system, app, bytes)))
}

pub(super) fn of_bandwidth() -> Vec<Claim<Runs>> {
    [small(), great()].concat()
}

fn small() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "small-two-no-better",
            says: "With blocks of 32 bytes, two embedded processors no longer improve the reply bandwidth over S-COMA.",
            published: "not above",
            reading: Reading::AtMost(0.0),
            derive: |e| one(above(reply(e, hurricane(2), 32), reply(e, System::SComa, 32))),
            ..stated_in(BANDWIDTH, F56, "%", "above S-COMA, greatest over 1 to 16 requesters")
        },
        Claim {
            id: "small-four-slightly",
            says: "With blocks of 32 bytes it takes four and eight or more requesters to improve slightly over S-COMA.",
            published: "slightly",
            reading: Reading::Between(0.0, 20.0),
            derive: |e| {
                let with = |system, n| e.bandwidth(&Setup::reply(system, n).blocks(32));
                at([8, 12, 16].map(|n| {
                    (format!("{n} requesters"), above(with(hurricane(4), n), with(System::SComa, n)))
                }))
            },
            ..stated_in(BANDWIDTH, F56, "%", "above S-COMA; up to a fifth counts as slight")
        },
        Claim {
            id: "small-below-120",
            says: "With blocks of 32 bytes four embedded processors reply with less than 120 MB/s.",
            published: "below 120 MB/s",
            reading: Reading::AtMost(120.0),
            derive: |e| one(reply(e, hurricane(4), 32)),
            contradicts: Some("its bandwidths in MB/s are half of what its occupancies in Table 5.1 allow."),
            ..stated_in(BANDWIDTH, F56, "MB/s", "the greatest over 1 to 16 requesters")
        },
        Claim {
            id: "small-hurricane-1-below",
            says: "With blocks of 32 bytes Hurricane-1 stays below S-COMA's reply bandwidth even with four processors.",
            published: "below",
            reading: Reading::AtMost(0.0),
            derive: |e| one(above(reply(e, hurricane_1(4), 32), reply(e, System::SComa, 32))),
            ..stated_in(BANDWIDTH, F56, "%", "above S-COMA")
        },
    ]
}

fn great() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "great-close-gap",
            says: "Blocks of 128 bytes reduce the gap in reply bandwidth between systems of one protocol processor and S-COMA.",
            published: "reduce",
            derive: |e| {
                at([hurricane(1), hurricane_1(1)].map(|system| {
                    let of = |bytes| over(reply(e, system, bytes), reply(e, System::SComa, bytes));
                    (system.to_string(), minus(of(128), of(64)))
                }))
            },
            ..stated_in(
                BANDWIDTH,
                F55_F56,
                "",
                "part of S-COMA's bandwidth with blocks of 128 bytes minus that with 64",
            )
        },
        Claim {
            id: "great-parallel",
            says: "Blocks of 128 bytes increase the improvement by several protocol processors.",
            published: "increase",
            derive: |e| {
                type Make = fn(u32) -> System;
                let makes = [("Hurricane", hurricane as Make), ("Hurricane-1", hurricane_1)];
                cases(makes.into_iter().flat_map(|(name, make)| {
                    [2, 4].map(|processors| {
                        let of = |bytes| over(reply(e, make(processors), bytes), reply(e, make(1), bytes));
                        (name, format!("{processors} processors"), minus(of(128), of(64)))
                    })
                }))
            },
            ..stated_in(
                BANDWIDTH,
                F55_F56,
                "",
                "reply bandwidth over that with one processor, with blocks of 128 bytes minus with 64",
            )
        },
        Claim {
            id: "great-request",
            says: "With blocks of 128 bytes four embedded processors reach a request/response bandwidth of 328 MB/s.",
            published: "328 MB/s",
            reading: Reading::About(328.0),
            derive: |e| one(request(e, hurricane(4), 128)),
            ..stated_in(BANDWIDTH, F56, "MB/s", "the greatest over 1 to 16 requesters")
        },
        Claim {
            id: "great-request-over-s-coma",
            says: "That is 17 % above S-COMA's peak.",
            published: "17 %",
            reading: Reading::About(17.0),
            derive: |e| one(above(request(e, hurricane(4), 128), request(e, System::SComa, 128))),
            ..stated_in(BANDWIDTH, F56, "%", "above S-COMA, greatest over 1 to 16 requesters")
        },
    ]
}

pub(super) fn of_programs() -> Vec<Claim<Runs>> {
    [embedded(), smp(), summary()].concat()
}

fn embedded() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "five-gain-by-blocks",
            says: "With blocks of 128 bytes cholesky, em3d, fft, radix and water-sp do better under Hurricane with one processor, relative \
                   to S-COMA.",
            published: "better",
            derive: |e| {
                let apps = App::CHAPTER_5.into_iter().filter(|app| !App::LATENCY_BOUND.contains(app));
                each(apps, |app| {
                    minus(relative(e, hurricane(1), app, 128), relative(e, hurricane(1), app, 32))
                })
            },
            ..stated_in(
                SECTION,
                F511,
                "%",
                "performance relative to S-COMA with blocks of 128 bytes minus that with 32, the two of the figure",
            )
        },
        Claim {
            id: "false-sharing-barnes-fmm",
            says: "Barnes and fmm share falsely with blocks of 128 bytes, and their gap to S-COMA widens.",
            published: "wider",
            derive: |e| {
                each(App::LATENCY_BOUND, |app| {
                    minus(relative(e, hurricane(1), app, 32), relative(e, hurricane(1), app, 128))
                })
            },
            ..stated_in(
                SECTION,
                F511,
                "%",
                "performance relative to S-COMA with blocks of 32 bytes minus that with 128",
            )
        },
        Claim {
            id: "two-competitive-128",
            says: "With blocks of 128 bytes two embedded processors are competitive with S-COMA for all programs.",
            published: "competitive",
            reading: Reading::MoreThan(90.0),
            derive: |e| each(App::CHAPTER_5, |app| relative(e, hurricane(2), app, 128)),
            ..stated_in(
                SECTION,
                F511,
                "%",
                "performance relative to S-COMA; more than 90 % counts as competitive",
            )
        },
        Claim {
            id: "four-average-128",
            says: "With blocks of 128 bytes four embedded processors are on average 20 % faster than S-COMA.",
            published: "20 %",
            reading: gain(20.0),
            derive: |e| one(minus(average(e, hurricane(4), 128), Ok(100.0))),
            ..stated_in(SECTION, F511, "%", "mean gain over S-COMA over the seven programs")
        },
    ]
}

fn smp() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "blocks-help-hurricane-1-more",
            says: "Greater blocks help Hurricane-1 with one processor more than Hurricane.",
            published: "more",
            derive: |e| {
                let gain = |system| above(average(e, system, 128), average(e, system, 32));
                one(minus(gain(hurricane_1(1)), gain(hurricane(1))))
            },
            ..stated_in(
                SECTION,
                F512,
                "%",
                "increase of the mean performance relative to S-COMA from 32 to 128 bytes, for Hurricane-1 minus for Hurricane",
            )
        },
        Claim {
            id: "hurricane-1-four-128",
            says: "With blocks of 128 bytes Hurricane-1 with four processors reaches about 88 % of S-COMA.",
            published: "about 88 %",
            reading: Reading::Rewritten(88.0),
            derive: |e| one(average(e, hurricane_1(4), 128)),
            ..stated_in(SECTION, F512, "%", "mean performance relative to S-COMA over the seven programs")
        },
        Claim {
            id: "mult-128",
            says: "With blocks of 128 bytes Hurricane-1 Mult reaches about 88 % of S-COMA.",
            published: "about 88 %",
            reading: Reading::Rewritten(88.0),
            derive: |e| one(average(e, System::Mult, 128)),
            ..stated_in(SECTION, F512, "%", "mean performance relative to S-COMA over the seven programs")
        },
    ]
}

fn summary() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "greater-blocks-close-gap",
            says: "Greater blocks reduce the gap between software and hardware.",
            published: "reduce",
            derive: |e| one(minus(average(e, hurricane(1), 128), average(e, hurricane(1), 32))),
            ..stated_in(
                "5.5",
                F511,
                "%",
                "mean performance of Hurricane with one processor relative to S-COMA, 128 minus 32 bytes",
            )
        },
        Claim {
            id: "greater-blocks-parallel",
            says: "Greater blocks boost the improvement by parallel protocol execution.",
            published: "boost",
            derive: |e| {
                let gain = |bytes| {
                    mean(App::CHAPTER_5.map(|app| {
                        above(relative(e, hurricane(4), app, bytes), relative(e, hurricane(1), app, bytes))
                    }))
                };
                one(minus(gain(128), gain(32)))
            },
            ..stated_in(
                "5.5",
                F511,
                "%",
                "mean gain of four embedded processors over one, 128 minus 32 bytes",
            )
        },
    ]
}
