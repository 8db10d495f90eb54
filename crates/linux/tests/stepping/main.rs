//! Programs of all manners, stepped between two markers.
#![cfg(target_arch = "x86_64")]

mod compiled;

use compiled::Compiled;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use warmcore_linux::StopPoint;
use warmcore_linux::stepping::{Activity, End, Launch, Stepper, SteppingError, with_program};

fn launch(how: &str) -> Launch {
    Launch::new([Compiled::program().path.as_os_str(), how.as_ref()])
}

fn code(name: &str) -> StopPoint {
    StopPoint::Execute(Compiled::program().address(name))
}

/// The addresses of the steps from `begin` to `finish`.
fn path(stepper: &mut Stepper) -> Result<Vec<u64>, SteppingError> {
    let mut steps = Vec::new();
    stepper.path(code("begin"), code("finish"), &mut |step| steps.push(step.registers.ip))?;
    Ok(steps)
}

fn contains(steps: &[u64], name: &str) -> bool {
    steps.contains(&Compiled::program().address(name))
}

/// One path of a program, and how it ended.
fn once(how: &str) -> Result<(Vec<u64>, End), SteppingError> {
    with_program(&launch(how), |stepper| Ok((path(stepper)?, stepper.finish()?)))
}

#[test]
fn a_path_begins_and_ends_at_its_markers_and_repeats() {
    with_program(&launch("passes"), |stepper| {
        let first = path(stepper)?;
        assert_eq!(first[0], Compiled::program().address("begin"));
        assert!(!contains(&first, "finish"), "the last marker is no part of the path");
        assert!((30..200).contains(&first.len()), "{}", first.len());
        for _ in 0..4 {
            assert_eq!(path(stepper)?, first);
        }
        let ended = path(stepper).unwrap_err();
        let problem = "ended (exit status 0) after 5 paths, before it reached the first marker";
        assert!(ended.to_string().contains(problem), "{ended}");
        assert_eq!(stepper.finish()?, End::Exited(0));
        Ok::<(), SteppingError>(())
    })
    .unwrap();
}

#[test]
fn the_same_marker_twice_is_a_period() {
    let steps = with_program(&launch("passes"), |stepper| {
        let mut period = || stepper.path(code("begin"), code("begin"), &mut |_| {});
        Ok::<_, SteppingError>([period()?, period()?, period()?])
    });
    let [first, second, third] = steps.unwrap();
    assert!(first > 30 && first == second && second == third, "{first} {second} {third}");
}

#[test]
fn other_threads_run_through_the_markers_meanwhile() {
    with_program(&launch("threads"), |stepper| {
        let first = path(stepper)?;
        for _ in 0..50 {
            assert_eq!(path(stepper)?, first);
        }
        assert_eq!(stepper.finish()?, End::Exited(0));
        Ok::<(), SteppingError>(())
    })
    .unwrap();
}

#[test]
fn a_repeated_instruction_is_one_step() {
    with_program(&launch("copy"), |stepper| {
        let mut repeated = Vec::new();
        stepper.path(code("begin"), code("finish"), &mut |step| repeated.extend(step.iterations))?;
        assert_eq!(repeated, [4096, 3]);
        assert_eq!(stepper.finish()?, End::Exited(0));
        Ok::<(), SteppingError>(())
    })
    .unwrap();
}

#[test]
fn a_handled_signal_is_part_of_the_path() {
    let (steps, end) = once("signal").unwrap();
    assert!(contains(&steps, "handled"));
    assert_eq!(end, End::Exited(0));
}

/// The addresses of the system calls of the path from `begin` to `finish`, and how the program ended.
fn system_calls(how: &str) -> Result<(Vec<u64>, End), SteppingError> {
    with_program(&launch(how), |stepper| {
        let mut calls = Vec::new();
        stepper.path(code("begin"), code("finish"), &mut |step| {
            if step.bytes.starts_with(&[0x0f, 0x05]) {
                calls.push(step.registers.ip);
            }
        })?;
        Ok((calls, stepper.finish()?))
    })
}

#[test]
fn a_system_call_is_one_step_even_if_a_signal_interrupts_it() {
    let (steps, end) = once("interrupted").unwrap();
    assert!(contains(&steps, "handled"));
    assert_eq!(end, End::Exited(0));
    let (calls, _) = system_calls("interrupted").unwrap();
    assert_eq!(calls.len(), 3, "the alarm, the wait, and the return from the handler: {calls:x?}");
    let (calls, end) = system_calls("restarted").unwrap();
    assert_eq!(
        (calls.len(), end),
        (1, End::Exited(0)),
        "the end of a child, which nobody handles: {calls:x?}"
    );
}

/// The kernel forgets that it is ignored when tracing causes one.
#[test]
fn a_trap_that_the_program_ignores_is_ignored_when_it_is_traced() {
    assert_eq!(once("trap").unwrap().1, End::Exited(0));
}

#[test]
fn an_instruction_that_faults_ends_the_program() {
    let error = once("crash").unwrap_err();
    assert!(matches!(&error, SteppingError::EndedWithin { end: End::Killed(11), .. }), "{error}");
}

#[test]
fn children_run_without_breakpoints() {
    let (steps, end) = once("fork").unwrap();
    assert_eq!(end, End::Exited(3), "the child passed the markers and exited with 3");
    assert!(contains(&steps, "begin"));
    let (_, end) = once("fork-within").unwrap();
    assert_eq!(end, End::Exited(3));
}

#[test]
fn threads_that_start_within_a_path_run_on() {
    let (_, end) = once("thread-within").unwrap();
    assert_eq!(end, End::Exited(0));
}

#[test]
fn the_clock_of_the_kernel_s_library_is_stepped() {
    let vdso = with_program(&launch("clock"), |stepper| {
        let mappings = stepper.mappings()?;
        let vdso = mappings
            .into_iter()
            .find(|mapping| mapping.name.as_os_str() == "[vdso]")
            .expect("every process has one");
        let mut within = 0;
        stepper.path(code("begin"), code("finish"), &mut |step| {
            if (vdso.start..vdso.end).contains(&step.registers.ip) {
                within += 1;
                assert!(!step.bytes.is_empty());
            }
        })?;
        Ok::<u64, SteppingError>(within)
    });
    assert!(vdso.unwrap() > 5);
}

#[test]
fn stored_flags_do_not_stop_the_program_later() {
    assert_eq!(once("flags").unwrap().1, End::Exited(0));
}

#[test]
fn a_store_begins_and_ends_a_path() {
    let object = StopPoint::Store { address: Compiled::program().address("object"), size: 8 };
    let stepped = with_program(&launch("store"), |stepper| {
        let steps = stepper.path(object, object, &mut |_| {})?;
        Ok::<_, SteppingError>((steps, stepper.finish()?))
    });
    match stepped {
        Ok((steps, end)) => {
            assert!((2..12).contains(&steps), "{steps}");
            assert_eq!(end, End::Exited(0));
        }
        Err(error) => assert!(matches!(error, SteppingError::NotWatched { .. }), "{error}"),
    }
    let unaligned = StopPoint::Store { address: Compiled::program().address("object") + 1, size: 8 };
    let refused = with_program(&launch("store"), |stepper| stepper.path(unaligned, object, &mut |_| {}));
    assert!(refused.unwrap_err().to_string().contains("a multiple of their number"));
}

#[test]
fn markers_that_do_not_come_are_reported() {
    let run = |how: &str, first: StopPoint, last: StopPoint, limit: u64| {
        let mut launch = launch(how);
        launch.steps = limit;
        with_program(&launch, |stepper| stepper.path(first, last, &mut |_| {})).unwrap_err()
    };
    let (begin, finish, never) = (code("begin"), code("finish"), code("never"));
    let error = run("passes", never, finish, 1000);
    assert!(matches!(error, SteppingError::EndedBefore { last_came: true, .. }), "{error}");
    let error = run("passes", begin, never, 1000);
    assert!(matches!(error, SteppingError::NeverReached { steps: 1000, .. }), "{error}");
    let error = run("passes", begin, never, 100_000);
    assert!(matches!(error, SteppingError::EndedWithin { end: End::Exited(0), .. }), "{error}");
    let error = run("reverse", begin, finish, 100_000);
    assert!(matches!(error, SteppingError::WrongOrder { .. }), "{error}");
    let error = run("half", begin, finish, 100_000);
    assert!(matches!(error, SteppingError::ThreadEnded { .. }), "{error}");
    let error = run("exec", begin, finish, 1000);
    assert!(matches!(&error, SteppingError::Replaced { by, .. } if by.contains("bin/")), "{error}");
    let error = run("again", begin, finish, 1000);
    assert!(error.to_string().contains("started itself anew"), "{error}");
    let error = run("passes", StopPoint::Execute(8), finish, 1000);
    assert!(matches!(error, SteppingError::Unmapped { address: 8 }), "{error}");
}

#[test]
fn a_program_that_takes_too_long_is_ended() {
    let started = Instant::now();
    let mut launch = launch("sleep");
    launch.time = Duration::from_millis(300);
    let waiting = |stepper: &mut Stepper| stepper.path(code("begin"), code("finish"), &mut |_| {});
    let error = with_program(&launch, waiting).unwrap_err();
    assert!(matches!(error, SteppingError::TimeLimit { activity: Activity::Before(_), .. }), "{error}");
    *launch.arguments.last_mut().unwrap() = "loop".into();
    let error = with_program(&launch, waiting).unwrap_err();
    assert!(matches!(error, SteppingError::TimeLimit { activity: Activity::Within { .. }, .. }), "{error}");
    *launch.arguments.last_mut().unwrap() = "sleep".into();
    let error = with_program(&launch, Stepper::finish).unwrap_err();
    assert!(matches!(error, SteppingError::TimeLimit { activity: Activity::Ending, .. }), "{error}");
    assert!(started.elapsed() < Duration::from_secs(50), "it sleeps for 100 s");
}

#[test]
fn a_program_is_ended_when_it_is_to_stop() {
    static STOP: AtomicBool = AtomicBool::new(false);
    let mut launch = launch("sleep");
    launch.stop = Some(&STOP);
    let started = Instant::now();
    let error = with_program(&launch, |stepper| {
        STOP.store(true, Ordering::SeqCst);
        stepper.finish()
    });
    assert!(matches!(error, Err(SteppingError::Stopped { .. })), "{error:?}");
    assert!(started.elapsed() < Duration::from_secs(50), "it sleeps for 100 s");
}

#[test]
fn a_program_is_killed_with_its_stepper() {
    let process =
        with_program(&launch("sleep"), |stepper| Ok::<_, SteppingError>(stepper.process())).unwrap();
    assert!(!std::fs::exists(format!("/proc/{process}")).unwrap(), "{process} was not reaped");
}

#[test]
fn what_cannot_be_started_is_reported() {
    let start = |path: &str| with_program(&Launch::new([path]), Stepper::finish).unwrap_err();
    assert!(matches!(start("/no/such/program"), SteppingError::NoSuchProgram { .. }));
    assert!(matches!(
        start(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")),
        SteppingError::NotExecutable { .. }
    ));
    let empty: [&str; 0] = [];
    let error = with_program(&Launch::new(empty), Stepper::finish).unwrap_err();
    assert!(matches!(error, SteppingError::Unnamed));
}
