//! The calibration from end to end, on the machine that runs the tests. The tests check which values
//! are there, never how long anything took.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use warmcore_costs::profile::Kind;
use warmcore_costs::{Approach, Experiment, Measured, Packets, Profile, Situation};
use warmcore_linux::Probe;
use warmcore_measure::{CalibrateError, Calibration, CalibrationPlan, FrameLines, ProgramError, calibrate};
use warmcore_topology::Machine;
use warmcore_units::{CpuId, Transport};

/// The smallest plan.
fn least() -> CalibrationPlan {
    CalibrationPlan {
        budget: Duration::from_millis(1),
        t_of_x_budget: Duration::from_millis(50),
        packets_per_run: 10,
        least_runs: 2,
        ..CalibrationPlan::quick()
    }
}

/// This machine, or `None` if its caches are hidden and nothing can be measured; and a lock, because
/// tests that measure at once would only wait for each other.
fn machine() -> Option<(Machine, MutexGuard<'static, ()>)> {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let machine = Probe::new().machine().unwrap().machine;
    let known = !machine.unified_levels(*machine.usable_cores().first()?).is_empty();
    if !known {
        println!("skipped: the system does not say what caches there are");
    }
    known.then_some((machine, alone))
}

/// The calibration; `None` if the machine was so busy that the result contradicts itself.
fn measure(machine: &Machine, plan: &CalibrationPlan) -> Option<Calibration> {
    match calibrate(machine, plan, &mut |_| (), &AtomicBool::new(false)) {
        Ok(calibration) => Some(calibration),
        Err(CalibrateError::Contradiction(fault)) => {
            println!("skipped: the machine is too busy for so small a plan ({fault})");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn assert_measured(time: &Measured) {
    assert!(time.mean.0.is_finite(), "{time:?}");
    assert!(time.half_width.is_some_and(|half| half.0 >= 0.0), "{time:?}");
    assert!(time.runs >= 2, "{time:?}");
}

#[test]
fn every_value_of_salehi_1994_table_2_is_measured_with_an_interval() {
    let Some((machine, _alone)) = machine() else { return };
    if machine.usable_cores().len() < 2 {
        println!("skipped: one usable core");
        return;
    }
    let mut done = Vec::new();
    let plan = least();
    let outcome =
        calibrate(&machine, &plan, &mut |progress| done.push(progress.done), &AtomicBool::new(false));
    assert!(done.is_sorted());
    let calibration = match outcome {
        Ok(calibration) => calibration,
        Err(CalibrateError::Contradiction(fault)) => return println!("skipped: too busy ({fault})"),
        Err(error) => panic!("{error}"),
    };
    assert_eq!(done.last(), Some(&1.0));
    let profile = &calibration.profile;
    assert!(profile.is_complete());
    let depth = profile.levels.len();
    assert_eq!((calibration.cold.len(), calibration.latencies.len()), (depth, depth + 1));
    assert!(profile.levels.iter().all(|level| level.cold_reached.is_some()));
    for approach in Approach::ALL {
        for situation in Situation::all() {
            let times = profile.times.get(approach).get(situation).unwrap();
            assert_eq!(times.cold.len(), depth - 1);
            std::iter::once(&times.hot).chain(&times.cold).for_each(assert_measured);
        }
        assert_measured(&profile.times.get(approach).fully_cold);
    }
    let curve = profile.intervened.as_ref().unwrap();
    assert!(!curve.points.is_empty() && !curve.fitted);
    curve.points.iter().for_each(|point| assert_measured(&point.time));
    assert!(calibration.profile.provenance.handover.is_some_and(|time| time.0 > 0.0));
    assert!(calibration.references_per_us.is_some_and(|rate| rate > 0.0));
    assert_eq!(profile.provenance.kind, Kind::Measured);
    assert!(!profile.provenance.date.is_empty() && !profile.provenance.notes.is_empty());
}

#[test]
fn the_profile_of_one_processor_says_what_was_not_measured() {
    let Some((machine, _alone)) = machine() else { return };
    let only = machine.usable_cores()[..1].to_vec();
    let Some(calibration) = measure(&machine, &CalibrationPlan { cpus: Some(only.clone()), ..least() })
    else {
        return;
    };
    assert_eq!(calibration.cpus, only);
    let profile = calibration.profile;
    assert_eq!(profile.free_memory, None);
    for approach in Approach::ALL {
        let times = profile.times.get(approach);
        assert!(times.cached.keys().eq(&[Experiment::A1, Experiment::A2]));
        assert!(times.migrates.is_empty());
    }
    assert!(profile.provenance.notes.iter().any(|note| note.contains("alone")));
}

#[test]
fn frames_may_be_resident_and_of_any_length_that_fits() {
    let Some((machine, _alone)) = machine() else { return };
    let plan = CalibrationPlan { frames: FrameLines::Resident, payload_bytes: 1400, ..least() };
    let Some(calibration) = measure(&machine, &plan) else { return };
    let provenance = calibration.profile.provenance;
    assert_eq!(
        provenance.packets,
        Some(Packets {
            frames: FrameLines::Resident,
            transport: Transport::Udp,
            payload_bytes: 1400,
            checksum: false,
            handler_bytes: 0,
            reply_bytes: 0
        })
    );
    let notes = provenance.notes;
    assert!(notes.iter().any(|note| note.contains("prepared frames")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("1400 bytes of payload")), "{notes:?}");
}

#[test]
fn packets_and_answers_that_cannot_be_are_refused() {
    let Some((machine, _alone)) = machine() else { return };
    let refused = |transport, payload_bytes, reply_bytes| {
        let plan = CalibrationPlan { transport, payload_bytes, reply_bytes, ..least() };
        calibrate(&machine, &plan, &mut |_| (), &AtomicBool::new(false)).unwrap_err()
    };
    let conversation = CalibrationPlan::MAX_MESSAGE_BYTES;
    for (transport, longest) in [
        (Transport::Udp, CalibrationPlan::MAX_PAYLOAD_BYTES),
        (Transport::Tcp, conversation),
        (Transport::Rpc, conversation),
    ] {
        let error = refused(transport, longest + 1, 0);
        let is_named = matches!(error, CalibrateError::PayloadTooLong { bytes, max } if (bytes, max) == (longest + 1, longest));
        assert!(is_named, "{transport}: {error}");
    }
    for transport in [Transport::Tcp, Transport::Rpc] {
        let error = refused(transport, 64, conversation + 1);
        let is_named = matches!(error, CalibrateError::ReplyTooLong { bytes, max } if (bytes, max) == (conversation + 1, conversation));
        assert!(is_named, "{transport}: {error}");
    }
    let error = refused(Transport::Tcp, 0, 0);
    assert!(matches!(error, CalibrateError::EmptySegments), "{error}");
    let error = refused(Transport::Udp, 64, 1);
    assert!(matches!(error, CalibrateError::ReplyToDatagrams), "{error}");
}

/// A conversation does all that a datagram needs, and more.
#[test]
fn segments_and_calls_are_measured_and_take_longer_than_datagrams() {
    let Some((machine, _alone)) = machine() else { return };
    let profile = |transport: Transport| {
        let reply_bytes = if transport.is_conversation() { 64 } else { 0 };
        let plan = CalibrationPlan { transport, reply_bytes, ..least() };
        measure(&machine, &plan).map(|calibration| calibration.profile)
    };
    let hot = |profile: &Profile, approach: Approach| profile.times.get(approach).cached[&Experiment::A1].hot;
    let Some(datagrams) = profile(Transport::Udp) else { return };
    for transport in [Transport::Tcp, Transport::Rpc] {
        let Some(profile) = profile(transport) else { return };
        let packets = profile.provenance.packets.unwrap();
        assert_eq!((packets.transport, packets.checksum, packets.reply_bytes), (transport, true, 64));
        let notes = &profile.provenance.notes;
        assert!(notes.iter().any(|note| note.contains("answered with 64 bytes")), "{notes:?}");
        for approach in Approach::ALL {
            assert_measured(&profile.times.get(approach).fully_cold);
            let times = [hot(&profile, approach), hot(&datagrams, approach)];
            let ratio = times[0].mean / times[1].mean;
            println!("{transport}, {approach}: {ratio:.2} times as long as a datagram");
            assert!(ratio > 1.0, "{transport}, {approach}: {times:?}");
        }
    }
}

#[test]
fn a_program_of_the_users_can_intervene() {
    let Some((machine, _alone)) = machine() else { return };
    let program = ["sh", "-c", "while :; do :; done"].map(OsString::from).to_vec();
    let plan =
        CalibrationPlan { intervening: Some(program), t_of_x_budget: Duration::from_millis(500), ..least() };
    let Some(calibration) = measure(&machine, &plan) else { return };
    let curve = calibration.profile.intervened.unwrap();
    assert!(curve.workload.contains("`sh`"), "{}", curve.workload);
    assert_eq!(calibration.references_per_us, None);
}

#[test]
fn a_program_that_ends_at_once_is_an_error_that_names_it() {
    let Some((machine, _alone)) = machine() else { return };
    let plan = CalibrationPlan { intervening: Some(vec![OsString::from("true")]), ..least() };
    let error = calibrate(&machine, &plan, &mut |_| (), &AtomicBool::new(false)).unwrap_err();
    let named =
        matches!(&error, CalibrateError::Program(ProgramError::Ended { program, .. }) if program == "true");
    assert!(named || matches!(error, CalibrateError::Contradiction(_)), "{error}");
}

#[test]
fn stopping_ends_promptly_and_leaves_no_thread() {
    let Some((machine, _alone)) = machine() else { return };
    let stop = AtomicBool::new(false);
    let stopped = thread::scope(|scope| {
        let measuring =
            scope.spawn(|| calibrate(&machine, &CalibrationPlan::standard(), &mut |_| (), &stop).map(drop));
        thread::sleep(Duration::from_millis(300));
        stop.store(true, Ordering::Relaxed);
        let stopped = Instant::now();
        let outcome = measuring.join().unwrap();
        assert!(matches!(outcome, Err(CalibrateError::Interrupted)), "{outcome:?}");
        stopped.elapsed()
    });
    // The runs' threads live in scopes, so the return itself proves that none is left. The limit is far
    // above what a busy machine needs, and far below the three minutes of the plan.
    assert!(stopped < Duration::from_secs(30), "{stopped:?}");
}

#[test]
fn an_unusable_processor_is_refused() {
    let Some((machine, _alone)) = machine() else { return };
    let absent = CpuId(60_000);
    let plan = CalibrationPlan { cpus: Some(vec![absent]), ..least() };
    let error = calibrate(&machine, &plan, &mut |_| (), &AtomicBool::new(false)).unwrap_err();
    assert!(matches!(error, CalibrateError::UnusableProcessor { cpu, .. } if cpu == absent), "{error}");
    let error = calibrate(
        &machine,
        &CalibrationPlan { cpus: Some(Vec::new()), ..least() },
        &mut |_| (),
        &AtomicBool::new(false),
    );
    assert!(matches!(error, Err(CalibrateError::NoProcessor)));
}
