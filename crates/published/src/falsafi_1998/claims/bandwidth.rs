//! §5.3.3: the bandwidth of devices with blocks of 64 bytes.

use super::derive::{above, at, one, over, stated_in};
use crate::falsafi_1998::Runs;
use crate::falsafi_1998::runs::Found;
use crate::falsafi_1998::setup::Setup;
use crate::falsafi_1998::system::{System, hurricane, hurricane_1};
use crate::{Claim, Reading};

const F55: &[&str] = &["5-5"];
const SECTION: &str = "5.3.3";
const TABLE_5_1: &str = "the gap between S-COMA and one embedded processor is 51 %, four of these reach three times one of them, and \
                         doubling their number adds 81 %: over one of them, not over S-COMA, the values agree.";

/// The greatest reply bandwidth of a system, in MB/s.
fn reply(runs: &Runs, system: System) -> Found<f64> {
    runs.peak(|requesters| Setup::reply(system, requesters))
}

/// The greatest request/response bandwidth.
fn request(runs: &Runs, system: System) -> Found<f64> {
    runs.peak(|requesters| Setup::request(system, requesters))
}

/// By how many percent the reply bandwidth of `system` is above S-COMA's with so many requesters.
fn over_s_coma(runs: &Runs, system: System, requesters: u32) -> Found<f64> {
    let at = |system| runs.bandwidth(&Setup::reply(system, requesters));
    above(at(system), at(System::SComa))
}

pub(super) fn claims() -> Vec<Claim<Runs>> {
    [
        single(),
        parallel_replies(),
        requests(),
        parallel_requests(),
        hurricane_1_replies(),
        hurricane_1_requests(),
    ]
    .concat()
}

fn single() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "single-saturates",
            says: "Systems with a single protocol processor saturate immediately as requesters are added.",
            published: "immediately",
            reading: Reading::Within(10.0),
            derive: |e| {
                at([System::SComa, hurricane(1), hurricane_1(1)].map(|system| {
                    let with = |requesters| e.bandwidth(&Setup::reply(system, requesters));
                    (system.to_string(), above(with(16), with(4)))
                }))
            },
            ..stated_in(
                SECTION,
                F55,
                "%",
                "reply bandwidth with 16 requesters over that with 4; up to 10 % counts as saturated",
            )
        },
        Claim {
            id: "s-coma-reply",
            says: "S-COMA's reply bandwidth saturates at 89 MB/s.",
            published: "89 MB/s",
            reading: Reading::Printed(89.0),
            derive: |e| one(reply(e, System::SComa)),
            contradicts: Some(
                "by the occupancies of Table 5.1 it can reply with 64 bytes every 145 cycles, 177 MB/s.",
            ),
            ..stated_in(SECTION, F55, "MB/s", "the greatest over 1 to 16 requesters")
        },
        Claim {
            id: "s-coma-over-hurricane",
            says: "S-COMA's peak reply bandwidth is 51 % above that of Hurricane with one processor.",
            published: "51 %",
            reading: Reading::About(51.0),
            derive: |e| one(above(reply(e, System::SComa), reply(e, hurricane(1)))),
            ..stated_in(SECTION, F55, "%", "of the greatest over 1 to 16 requesters")
        },
    ]
}

fn parallel_replies() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "four-processors-threefold",
            says: "Four protocol processors instead of one increase the reply bandwidth by a factor of three.",
            published: "three",
            reading: Reading::About(3.0),
            derive: |e| one(over(reply(e, hurricane(4)), reply(e, hurricane(1)))),
            ..stated_in(SECTION, F55, "×", "of the greatest over 1 to 16 requesters")
        },
        Claim {
            id: "replies-sublinear",
            says: "The reply bandwidth does not increase linearly with the protocol processors, since the protocol's data migrate.",
            published: "not linearly",
            reading: Reading::AtMost(95.0),
            derive: |e| {
                at([2, 4].map(|processors| {
                    let gain = over(reply(e, hurricane(processors)), reply(e, hurricane(1)));
                    (
                        format!("{processors} processors"),
                        gain.map(|gain| 100.0 * gain / f64::from(processors)),
                    )
                }))
            },
            ..stated_in(
                SECTION,
                F55,
                "%",
                "increase over one processor, of the linear one; more than 95 % counts as linear",
            )
        },
        Claim {
            id: "four-requesters-equal",
            says: "With four requesters, two and four embedded processors reach S-COMA's reply bandwidth.",
            published: "reach",
            reading: Reading::MoreThan(-5.0),
            derive: |e| {
                at([2, 4].map(|processors| {
                    (format!("{processors} processors"), over_s_coma(e, hurricane(processors), 4))
                }))
            },
            ..stated_in(SECTION, F55, "%", "above S-COMA; 5 % below counts as reached")
        },
        Claim {
            id: "two-processors-over-s-coma",
            says: "With eight or more requesters two embedded processors improve the reply bandwidth over S-COMA by 73 %.",
            published: "73 %",
            reading: Reading::About(73.0),
            derive: |e| at([8, 12, 16].map(|n| (format!("{n} requesters"), over_s_coma(e, hurricane(2), n)))),
            contradicts: Some(TABLE_5_1),
            ..stated_in(SECTION, F55, "%", "above S-COMA")
        },
        Claim {
            id: "four-processors-over-s-coma",
            says: "With eight or more requesters four embedded processors improve the reply bandwidth over S-COMA by 175 %.",
            published: "175 %",
            reading: Reading::About(175.0),
            derive: |e| at([8, 12, 16].map(|n| (format!("{n} requesters"), over_s_coma(e, hurricane(4), n)))),
            contradicts: Some(TABLE_5_1),
            ..stated_in(SECTION, F55, "%", "above S-COMA")
        },
    ]
}

fn requests() -> Vec<Claim<Runs>> {
    let recipe = "the greatest request/response bandwidth over the greatest reply bandwidth";
    vec![
        Claim {
            id: "s-coma-request-over-reply",
            says: "S-COMA's request/response bandwidth saturates much higher than its reply bandwidth.",
            published: "much higher",
            reading: Reading::MoreThan(1.5),
            derive: |e| one(over(request(e, System::SComa), reply(e, System::SComa))),
            ..stated_in(
                SECTION,
                F55,
                "×",
                "the greatest request/response bandwidth over the greatest reply bandwidth; half as much again counts as \
                 much higher",
            )
        },
        Claim {
            id: "hurricane-request-over-reply",
            says: "Hurricane with one processor reaches a higher request/response than reply bandwidth.",
            published: "higher",
            reading: Reading::MoreThan(1.0),
            derive: |e| one(over(request(e, hurricane(1)), reply(e, hurricane(1)))),
            ..stated_in(SECTION, F55, "×", recipe)
        },
        Claim {
            id: "hurricane-1-request-below-reply",
            says: "Hurricane-1 with one processor reaches a lower request/response than reply bandwidth.",
            published: "lower",
            reading: Reading::AtMost(1.0),
            derive: |e| one(over(request(e, hurricane_1(1)), reply(e, hurricane_1(1)))),
            ..stated_in(SECTION, F55, "×", recipe)
        },
    ]
}

fn parallel_requests() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "state-miss",
            says: "A miss on the protocol's data takes about 60 cycles.",
            published: "about 60 cycles",
            reading: Reading::About(60.0),
            derive: |e| {
                at([2, 4].map(|processors| {
                    let setup = Setup::request(hurricane(processors), 8);
                    (format!("{processors} processors"), e.get(&setup).map(|measured| measured.state_miss))
                }))
            },
            ..stated_in(SECTION, F55, "cycles", "mean over Hurricane's protocol processors, eight requesters")
        },
        Claim {
            id: "second-processor-slightly",
            says: "A second embedded processor improves the request/response bandwidth only slightly.",
            published: "slightly",
            reading: Reading::Between(0.0, 40.0),
            derive: |e| one(above(request(e, hurricane(2)), request(e, hurricane(1)))),
            ..stated_in(SECTION, F55, "%", "gain over one; up to the 39 % of §5.3.3.2 counts as slight")
        },
        Claim {
            id: "four-processors-below-s-coma",
            says: "Four embedded processors improve the request/response bandwidth but fail to reach S-COMA's.",
            published: "between",
            derive: |e| {
                let four = || request(e, hurricane(4));
                at([
                    ("above one processor", above(four(), request(e, hurricane(1)))),
                    ("below S-COMA", above(request(e, System::SComa), four())),
                ])
            },
            ..stated_in(SECTION, F55, "%", "by how much it is above and below")
        },
    ]
}

fn hurricane_1_replies() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "hurricane-1-almost-linear",
            says: "Hurricane-1's reply bandwidth increases almost linearly with its protocol processors.",
            published: "almost linearly",
            reading: Reading::Nearly(100.0),
            derive: |e| {
                at([2, 4].map(|processors| {
                    let gain = over(reply(e, hurricane_1(processors)), reply(e, hurricane_1(1)));
                    (
                        format!("{processors} processors"),
                        gain.map(|gain| 100.0 * gain / f64::from(processors)),
                    )
                }))
            },
            ..stated_in(SECTION, F55, "%", "increase over one processor, of the linear one")
        },
        Claim {
            id: "hurricane-1-over-s-coma",
            says: "With twelve or more requesters four processors of Hurricane-1 reply with 25 % more than S-COMA.",
            published: "25 %",
            reading: Reading::About(25.0),
            derive: |e| at([12, 16].map(|n| (format!("{n} requesters"), over_s_coma(e, hurricane_1(4), n)))),
            ..stated_in(SECTION, F55, "%", "above S-COMA")
        },
    ]
}

fn hurricane_1_requests() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "hurricane-1-declines",
            says: "The request/response bandwidth of Hurricane-1 with one processor slightly decreases with more requesters, which queue on \
                   the bus.",
            published: "slightly",
            reading: Reading::Between(-20.0, 0.0),
            derive: |e| {
                let with = |requesters| e.bandwidth(&Setup::request(hurricane_1(1), requesters));
                at([8, 12, 16].map(|n| (format!("{n} requesters"), above(with(n), with(4)))))
            },
            ..stated_in(SECTION, F55, "%", "change from four requesters on; up to a fifth counts as slight")
        },
        Claim {
            id: "hurricane-1-state-doubles",
            says: "With two processors, migrating data almost double Hurricane-1's request/response occupancy.",
            published: "almost double",
            reading: Reading::Nearly(2.0),
            derive: |e| {
                let occupancy =
                    |processors| Ok(e.get(&Setup::request(hurricane_1(processors), 8))?.occupancy);
                one(over(occupancy(2), occupancy(1)))
            },
            ..stated_in(
                SECTION,
                F55,
                "×",
                "mean time of the requesting node's handlers with two processors over that with one, eight requesters",
            )
        },
        Claim {
            id: "hurricane-1-requests-low",
            says: "Even with four processors Hurricane-1's request/response bandwidth is very low.",
            published: "very low",
            reading: Reading::AtMost(0.5),
            derive: |e| one(over(request(e, hurricane_1(4)), request(e, System::SComa))),
            ..stated_in(SECTION, F55, "×", "over S-COMA's; up to half of it counts as very low")
        },
    ]
}
