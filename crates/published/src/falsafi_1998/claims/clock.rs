//! §5.3.3.2 and §5.3.4.4: slower protocol processors.

use super::derive::{above, each, one, stated_in};
use crate::falsafi_1998::Runs;
use crate::falsafi_1998::runs::Found;
use crate::falsafi_1998::setup::Setup;
use crate::falsafi_1998::system::{System, hurricane, slow_hurricane};
use crate::falsafi_1998::work::App;
use crate::{Basis, Claim, Reading};

const F57: &[&str] = &["5-7"];
const F513: &[&str] = &["5-13"];
const BANDWIDTH: &str = "5.3.3.2";
const SECTION: &str = "5.3.4.4";

fn reply(runs: &Runs, system: System) -> Found<f64> {
    runs.peak(|requesters| Setup::reply(system, requesters))
}

fn request(runs: &Runs, system: System) -> Found<f64> {
    runs.peak(|requesters| Setup::request(system, requesters))
}

/// By how many percent four slow protocol processors are faster than two fast ones.
fn four_slow(runs: &Runs, app: App) -> Found<f64> {
    let [slow, fast] = [slow_hurricane(4), hurricane(2)].map(|system| Setup::chapter_5(system, app));
    runs.gain(&slow, &fast)
}

pub(super) fn of_bandwidth() -> Vec<Claim<Runs>> {
    [replies(), requests()].concat()
}

fn replies() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "reply-doubling-processors",
            says: "Doubling the protocol processors increases the peak reply bandwidth by 81 %.",
            published: "81 %",
            reading: Reading::About(81.0),
            derive: |e| one(above(reply(e, hurricane(2)), reply(e, hurricane(1)))),
            ..stated_in(BANDWIDTH, F57, "%", "two of 400 MHz over one; the text does not say from how many")
        },
        Claim {
            id: "reply-doubling-clock",
            says: "Doubling their clock increases the peak reply bandwidth by only 37 %.",
            published: "37 %",
            reading: Reading::About(37.0),
            derive: |e| one(above(reply(e, hurricane(1)), reply(e, slow_hurricane(1)))),
            ..stated_in(BANDWIDTH, F57, "%", "one of 400 MHz over one of 200")
        },
        Claim {
            id: "reply-processors-over-clock",
            says: "The number of processors has a much greater impact on the reply bandwidth than their clock.",
            published: "greater",
            derive: |e| one(above(reply(e, slow_hurricane(2)), reply(e, hurricane(1)))),
            ..stated_in(BANDWIDTH, F57, "%", "two of 200 MHz over one of 400")
        },
    ]
}

fn requests() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "request-doubling-clock",
            says: "Doubling the clock of a single processor increases the request/response bandwidth by 100 %.",
            published: "100 %",
            reading: Reading::About(100.0),
            basis: Basis::Fitted,
            derive: |e| one(above(request(e, hurricane(1)), request(e, slow_hurricane(1)))),
            ..stated_in(
                BANDWIDTH,
                F57,
                "%",
                "one of 400 MHz over one of 200; that all of a request and response slows with the clock is set by \
                 this sentence",
            )
        },
        Claim {
            id: "request-doubling-processors",
            says: "Doubling the processors increases the peak request/response bandwidth by only 39 %.",
            published: "39 %",
            reading: Reading::About(39.0),
            derive: |e| one(above(request(e, hurricane(2)), request(e, hurricane(1)))),
            ..stated_in(BANDWIDTH, F57, "%", "two of 400 MHz over one")
        },
        Claim {
            id: "four-slow-over-two-fast",
            says: "Four slow processors have a higher peak request/response bandwidth than two fast ones.",
            published: "higher",
            derive: |e| one(above(request(e, slow_hurricane(4)), request(e, hurricane(2)))),
            ..stated_in(BANDWIDTH, F57, "%", "four of 200 MHz over two of 400")
        },
    ]
}

pub(super) fn of_programs() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "two-slow-comparable",
            says: "Two slow protocol processors have comparable performance to one fast one.",
            published: "comparable",
            reading: Reading::Within(15.0),
            derive: |e| {
                each(App::CHAPTER_5, |app| {
                    let [slow, fast] =
                        [slow_hurricane(2), hurricane(1)].map(|system| Setup::chapter_5(system, app));
                    e.gain(&slow, &fast)
                })
            },
            ..stated_in(
                SECTION,
                F513,
                "%",
                "gain of two of 200 MHz over one of 400; up to 15 % counts as comparable",
            )
        },
        Claim {
            id: "cholesky-prefers-clock",
            says: "Cholesky, with limited parallelism in its events, benefits from a higher clock.",
            published: "clock",
            reading: Reading::AtMost(0.0),
            derive: |e| one(four_slow(e, App::Cholesky)),
            ..stated_in(SECTION, F513, "%", "gain of four of 200 MHz over two of 400")
        },
        Claim {
            id: "bursty-prefer-processors",
            says: "Em3d, fft and radix benefit more from more processors than from faster ones.",
            published: "processors",
            derive: |e| each(App::BURSTY, |app| four_slow(e, app)),
            ..stated_in(SECTION, F513, "%", "gain of four of 200 MHz over two of 400")
        },
    ]
}
