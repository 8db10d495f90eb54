//! §5.3.4.1: the three classes of programs.

use super::baseline::{F58, SECTION, relative};
use super::derive::{above, at, cases, each, gain, greatest, minus, one, stated_in};
use crate::falsafi_1998::Runs;
use crate::falsafi_1998::system::{System, hurricane, hurricane_1};
use crate::falsafi_1998::work::App;
use crate::{Claim, Reading};

const RELATIVE: &str = "performance relative to S-COMA";

pub(super) fn claims() -> Vec<Claim<Runs>> {
    [
        compute_bound(),
        latency_bound(),
        latency_bound_smp(),
        cholesky(),
        cholesky_smp(),
        bursty(),
        bursty_parallel(),
    ]
    .concat()
}

fn compute_bound() -> Vec<Claim<Runs>> {
    vec![Claim {
        id: "water-all-91",
        says: "All systems perform within 91 % of S-COMA for water-sp.",
        published: "at least 91 %",
        reading: Reading::MoreThan(91.0),
        derive: |e| {
            let systems = System::CHAPTER_5.into_iter().skip(1);
            at(systems.map(|system| (system.to_string(), relative(e, system, App::WaterSp))))
        },
        ..stated_in(SECTION, F58, "%", RELATIVE)
    }]
}

fn latency_bound() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "latency-bound-90",
            says: "Hurricane with one processor performs within 90 % of S-COMA for barnes and fmm.",
            published: "at least 90 %",
            reading: Reading::MoreThan(90.0),
            derive: |e| each(App::LATENCY_BOUND, |app| relative(e, hurricane(1), app)),
            ..stated_in(SECTION, F58, "%", RELATIVE)
        },
        Claim {
            id: "latency-bound-two",
            says: "Two processors improve these by at most 11 % over one.",
            published: "at most 11 %",
            reading: Reading::AtMost(11.0),
            derive: |e| {
                each(App::LATENCY_BOUND, |app| {
                    above(relative(e, hurricane(2), app), relative(e, hurricane(1), app))
                })
            },
            ..stated_in(SECTION, F58, "%", "gain over one embedded processor, barnes and fmm")
        },
        Claim {
            id: "latency-bound-four",
            says: "Four processors improve these by at most 13 % over one.",
            published: "at most 13 %",
            reading: Reading::AtMost(13.0),
            derive: |e| {
                each(App::LATENCY_BOUND, |app| {
                    above(relative(e, hurricane(4), app), relative(e, hurricane(1), app))
                })
            },
            ..stated_in(SECTION, F58, "%", "gain over one embedded processor, barnes and fmm")
        },
    ]
}

fn latency_bound_smp() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "latency-bound-hurricane-1",
            says: "Hurricane-1 with one processor performs within about 60 % of S-COMA for barnes and fmm.",
            published: "about 60 %",
            reading: Reading::About(60.0),
            derive: |e| each(App::LATENCY_BOUND, |app| relative(e, hurricane_1(1), app)),
            ..stated_in(SECTION, F58, "%", RELATIVE)
        },
        Claim {
            id: "latency-bound-84",
            says: "More processors increase that to at most 84 %.",
            published: "at most 84 %",
            reading: Reading::AtMost(84.0),
            derive: |e| {
                let all = [2, 4].into_iter().flat_map(|n| App::LATENCY_BOUND.map(|app| (n, app)));
                at(all.map(|(n, app)| {
                    (format!("{}, {n} processors", app.name()), relative(e, hurricane_1(n), app))
                }))
            },
            ..stated_in(SECTION, F58, "%", RELATIVE)
        },
        Claim {
            id: "latency-bound-dedicated-over-mult",
            says: "Four dedicated processors are faster than Mult for barnes and fmm.",
            published: "faster",
            derive: |e| {
                each(App::LATENCY_BOUND, |app| {
                    above(relative(e, hurricane_1(4), app), relative(e, System::Mult, app))
                })
            },
            ..stated_in(SECTION, F58, "%", "gain of Hurricane-1 with four processors over Mult")
        },
    ]
}

fn cholesky() -> Vec<Claim<Runs>> {
    let recipe = "gain over S-COMA";
    vec![
        Claim {
            id: "cholesky-two",
            says: "Two embedded processors improve cholesky over S-COMA by 23 %.",
            published: "23 %",
            reading: gain(23.0),
            derive: |e| one(minus(relative(e, hurricane(2), App::Cholesky), Ok(100.0))),
            ..stated_in(SECTION, F58, "%", recipe)
        },
        Claim {
            id: "cholesky-four",
            says: "Four embedded processors improve cholesky over S-COMA by at most 32 %.",
            published: "at most 32 %",
            reading: gain(32.0),
            derive: |e| one(minus(relative(e, hurricane(4), App::Cholesky), Ok(100.0))),
            ..stated_in(SECTION, F58, "%", recipe)
        },
    ]
}

fn cholesky_smp() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "cholesky-hurricane-1-gains",
            says: "More processors improve cholesky under Hurricane-1 significantly, up to four.",
            published: "significantly",
            reading: Reading::MoreThan(10.0),
            derive: |e| {
                let of = |n| relative(e, hurricane_1(n), App::Cholesky);
                at([("two over one", above(of(2), of(1))), ("four over two", above(of(4), of(2)))])
            },
            ..stated_in(SECTION, F58, "%", "gain by doubling; more than 10 % counts as significant")
        },
        Claim {
            id: "cholesky-hurricane-1-four",
            says: "Hurricane-1 with four processors outperforms S-COMA for cholesky.",
            published: "above 100 %",
            reading: Reading::MoreThan(100.0),
            derive: |e| one(relative(e, hurricane_1(4), App::Cholesky)),
            ..stated_in(SECTION, F58, "%", RELATIVE)
        },
        Claim {
            id: "cholesky-mult",
            says: "Hurricane-1 Mult performs very close to S-COMA for cholesky.",
            published: "very close",
            reading: Reading::Within(10.0),
            derive: |e| one(minus(relative(e, System::Mult, App::Cholesky), Ok(100.0))),
            ..stated_in(SECTION, F58, "%", "gain over S-COMA; up to 10 % either way counts as very close")
        },
    ]
}

fn bursty() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "bursty-hurricane-61",
            says: "Hurricane with one processor performs at best within 61 % of S-COMA for em3d, fft and radix.",
            published: "at most 61 %",
            reading: Reading::Rewritten(61.0),
            derive: |e| one(greatest(App::BURSTY.map(|app| relative(e, hurricane(1), app)))),
            ..stated_in(SECTION, F58, "%", "the greatest performance relative to S-COMA of the three")
        },
        Claim {
            id: "bursty-hurricane-1-25",
            says: "Hurricane-1 with one processor reaches at best 25 % of S-COMA for these.",
            published: "at most 25 %",
            reading: Reading::Rewritten(25.0),
            derive: |e| one(greatest(App::BURSTY.map(|app| relative(e, hurricane_1(1), app)))),
            ..stated_in(SECTION, F58, "%", "the greatest performance relative to S-COMA of the three")
        },
        Claim {
            id: "bursty-two-at-most-40",
            says: "Two embedded processors improve these by at most 40 % over one.",
            published: "at most 40 %",
            reading: Reading::AtMost(40.0),
            derive: |e| {
                each(App::BURSTY, |app| above(relative(e, hurricane(2), app), relative(e, hurricane(1), app)))
            },
            ..stated_in(SECTION, F58, "%", "gain over one embedded processor")
        },
    ]
}

fn bursty_parallel() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "radix-four-competitive",
            says: "Hurricane with four processors is competitive with S-COMA for radix.",
            published: "competitive",
            reading: Reading::Within(10.0),
            derive: |e| one(minus(relative(e, hurricane(4), App::Radix), Ok(100.0))),
            ..stated_in(SECTION, F58, "%", "gain over S-COMA; up to 10 % either way counts as competitive")
        },
        Claim {
            id: "fft-four",
            says: "Hurricane with four processors is 36 % better than S-COMA for fft.",
            published: "36 %",
            reading: gain(36.0),
            derive: |e| one(minus(relative(e, hurricane(4), App::Fft), Ok(100.0))),
            ..stated_in(SECTION, F58, "%", "gain over S-COMA")
        },
        Claim {
            id: "em3d-four-between",
            says: "Hurricane with four processors lies between these two for em3d.",
            published: "0–36 %",
            reading: Reading::Between(-10.0, 36.0),
            derive: |e| one(minus(relative(e, hurricane(4), App::Em3d), Ok(100.0))),
            ..stated_in(SECTION, F58, "%", "gain over S-COMA, from what counts as competitive to that of fft")
        },
        Claim {
            id: "bursty-hurricane-1-best",
            says: "Hurricane-1 reaches at best 76 % of S-COMA for em3d, fft and radix: in fft under Mult.",
            published: "76 %, fft, Mult",
            reading: Reading::Rewritten(76.0),
            derive: |e| {
                let systems = || [hurricane_1(1), hurricane_1(2), hurricane_1(4), System::Mult];
                let all =
                    systems().into_iter().flat_map(|system| App::BURSTY.map(|app| relative(e, system, app)));
                cases([
                    ("the greatest of all", "", greatest(all)),
                    ("fft under Mult", "", relative(e, System::Mult, App::Fft)),
                ])
            },
            ..stated_in(SECTION, F58, "%", "performance relative to S-COMA")
        },
    ]
}
