//! The claims judged by figures that are the source's own, and by changed ones.

use super::*;
use crate::ClaimVerdict;
use crate::mosberger_1996::example::{changed, of_the_source};
use crate::mosberger_1996::{Assumed, Build, Protocols, Run};

/// Each claim with its verdict and reason.
fn concluded(measurements: Measurements) -> Vec<(&'static str, ClaimVerdict, String)> {
    let all = source().figures_named(&[]).expect("all figures");
    let claims = source().conclude(measurements, all).claims;
    let shown = |one: &crate::Concluded<Measurements>| {
        (one.claim.id, one.verdict, format!("{}; {}", one.our_values(), one.reason()))
    };
    claims.iter().map(shown).collect()
}

fn verdict(measurements: Measurements, id: &str) -> ClaimVerdict {
    let found = concluded(measurements).into_iter().find(|(of, ..)| *of == id);
    found.expect("a claim of this name").1
}

#[test]
fn the_source_is_sound() {
    assert_eq!(source().check(), Ok(()));
    let ids: Vec<&str> = source().claims.iter().map(|claim| claim.id).collect();
    assert!(claims::OF_ITS_MACHINE.iter().all(|id| ids.contains(id)), "a name is wrong");
}

#[test]
fn results_like_those_of_the_paper_hold_where_it_does_not_contradict_itself() {
    let otherwise: Vec<_> = concluded(of_the_source())
        .into_iter()
        .filter(|(id, verdict, _)| *verdict != ClaimVerdict::Holds && !claims::OF_ITS_MACHINE.contains(id))
        .collect();
    let ids: Vec<_> = otherwise.iter().map(|(id, ..)| *id).collect();
    assert_eq!(
        ids,
        ["bad-b-cache-110", "pin-keeps-rpc", "outlining-5", "mcpi-techniques-5.8"],
        "{otherwise:#?}"
    );
    assert!(otherwise.iter().all(|(_, verdict, _)| *verdict == ClaimVerdict::SourceInconsistent));
}

#[test]
fn a_contrary_result_differs() {
    let slow = changed(of_the_source(), (Protocols::Rpc, Build::All), |run| run.stall_cycles *= 9);
    for id in ["bad-worst-mcpi", "mcpi-rpc-all", "mcpi-factor-rpc"] {
        assert_ne!(verdict(slow.clone(), id), ClaimVerdict::Holds, "{id}");
    }
    let clashing =
        changed(of_the_source(), (Protocols::Rpc, Build::All), |run| run.instruction_cache.replacements = 3);
    assert_eq!(verdict(clashing, "all-rpc-none"), ClaimVerdict::Differs);
}

#[test]
fn luck_of_the_linker_leaves_a_claim_undecided() {
    let mut lucky = of_the_source();
    let point = lucky.points.iter_mut().find(|of| (of.stack, of.build) == (Protocols::TcpIp, Build::Out));
    point.expect("it is there").runs[1].stall_cycles /= 2;
    assert_eq!(verdict(lucky.clone(), "each-helps"), ClaimVerdict::Undecided);
    for point in &mut lucky.points {
        point.runs.truncate(1);
    }
    assert_eq!(
        verdict(lucky.clone(), "cycles-order"),
        ClaimVerdict::Undecided,
        "one order tells of no other"
    );
    assert_eq!(verdict(lucky, "mcpi-factor-tcp"), ClaimVerdict::Holds, "both builds are placed");
}

/// Neither the distance of memory nor how many functions of BAD meet in the b-cache is in the text.
#[test]
fn what_the_text_leaves_open_of_bad_leaves_a_claim_undecided() {
    let mut open = of_the_source();
    for point in open.points.iter_mut().filter(|point| point.build == Build::Bad) {
        let assumed = |factor: u64| {
            let run = Run { stall_cycles: point.runs[0].stall_cycles * factor / 10, ..point.runs[0] };
            Assumed { hottest: 12, memory_cycles: 5 * factor, runs: vec![run] }
        };
        point.assumed = [4, 10, 15].map(assumed).to_vec();
    }
    for id in [
        "mcpi-factor-tcp",
        "mcpi-factor-rpc",
        "mcpi-factor-both",
        "processing-times",
        "memory-cpi",
        "saved-time",
    ] {
        let expected = if id.starts_with("mcpi") { ClaimVerdict::Undecided } else { ClaimVerdict::Holds };
        let found = verdict(open.clone(), id);
        assert!(found == expected || found == ClaimVerdict::Undecided, "{id}: {found}");
    }
    assert_eq!(verdict(open, "mcpi-std-35"), ClaimVerdict::Holds, "BAD has no part in it");
}

#[test]
fn no_more_is_said_of_round_trips_than_there_is() {
    let mut without = of_the_source();
    assert!(without.machine().ends_with("round trips on a test"), "{}", without.machine());
    without.points.iter_mut().for_each(|point| point.round_trips.clear());
    assert!(without.machine().ends_with("no round trips"), "{}", without.machine());
}

/// The two parts of cycles differ from the printed ones in opposite directions, and their product does not.
#[test]
fn errors_that_cancel_are_told() {
    let mut longer = of_the_source();
    if let Some(it) = &mut longer.improvement {
        for run in [&mut it.original, &mut it.improved] {
            run.instructions = run.instructions * 7 / 5;
        }
    }
    let (_, verdict, why) =
        concluded(longer).into_iter().find(|(id, ..)| *id == "improved-cycles").expect("a claim");
    assert_eq!(verdict, ClaimVerdict::Holds);
    assert!(why.contains("+40 % and +40 % and by -29 % and -29 %"), "{why}");
}

#[test]
fn a_rank_needs_what_is_above_it() {
    let mut refreshed = of_the_source();
    assert_eq!(verdict(refreshed.clone(), "saving-refresh-second"), ClaimVerdict::Holds);
    refreshed.savings[1].instructions = Some(1298);
    assert_ne!(verdict(refreshed.clone(), "saving-refresh-second"), ClaimVerdict::Holds, "it is the first");
    refreshed.savings[0].instructions = None;
    assert_eq!(verdict(refreshed, "saving-refresh-second"), ClaimVerdict::NotDerived);
}

#[test]
fn sizes_of_round_trips_are_shown_and_not_judged() {
    for id in claims::OF_ITS_MACHINE {
        assert_eq!(verdict(of_the_source(), id), ClaimVerdict::AnotherMachine);
    }
}

#[test]
fn what_was_not_found_is_not_derived_and_says_why() {
    let mut without = of_the_source();
    for point in &mut without.points {
        point.round_trips.clear();
    }
    without.savings[0].instructions = None;
    (without.improvement, without.stages) = (None, None);
    without.classified.clear();
    let found = concluded(without.clone());
    let of = |id: &str| found.iter().find(|(of, ..)| *of == id).expect("a claim of this name");
    for (id, reason) in [
        ("round-trip-order", "No native programs were given (--native), so no round trips were measured."),
        ("saving-words-first", "cannot be taken back here."),
        ("saving-refresh-second", "What ranks above"),
        ("savings-order", "The others save 208, 171, 120, 119, 90, 39"),
        ("improved-20", "The stack was not run without the changes of §2.2."),
        ("stage-ip", "Instructions were not counted between layers."),
        ("classifier-cost", "TCP/IP was not run with a classifier."),
    ] {
        let (_, verdict, why) = of(id);
        assert_eq!(*verdict, ClaimVerdict::NotDerived, "{id}");
        assert!(why.contains(reason), "{why}");
    }
    without.points.clear();
    without.savings.clear();
    let all = concluded(without);
    assert!(all.iter().all(|(_, verdict, _)| *verdict == ClaimVerdict::NotDerived), "{all:#?}");
}

#[test]
fn every_run_and_round_trip_is_a_row() {
    let results = of_the_source().results().expect("columns of one length");
    let (runs, round_trips) = (2 * (3 + 3 * 3), 2 * 6 * 3);
    assert_eq!(results.rows(), runs + round_trips);
}
