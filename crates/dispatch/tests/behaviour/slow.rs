//! What a debug build says of a wait that lasts: each in a process of its own, whose standard error is read.

use core::time::Duration;
use std::process::{Command, Stdio};
use std::thread::{sleep, spawn};
use warmcore_dispatch::{Completion, Dispatcher, Request, Turn};

const VARIABLE: &str = "WARMCORE_SLOW_WAIT";

const FUTURES: &str = "all events to end (1 left, which futures handle)";

/// Longer than until the first line.
const SLOW: Duration = Duration::from_millis(1_300);

type Slow = Dispatcher<u64, Request<u64, u64>>;

/// One whose handler of event 0 takes long.
fn slow(capacity: usize) -> Slow {
    let handler = |_: &Turn<'_, u64, Request<u64, u64>>, number: u64| {
        if number == 0 {
            sleep(SLOW);
        }
        number
    };
    let builder = Dispatcher::builder().workers(2).capacity(capacity).name("tellers");
    builder.build(Request::answered_by(handler)).unwrap()
}

fn request(slow: &Slow, number: u64) -> Completion<u64> {
    let (request, answer) = Request::new(number);
    slow.dispatch(7, request).unwrap();
    answer
}

fn wait(how: &str) {
    match how {
        "room in the dispatcher (2 events are in)" => {
            let slow = slow(2);
            (0..3).for_each(|number| drop(request(&slow, number)));
        }
        "room in strand " => {
            let slow = slow(1_000);
            (0..258).for_each(|number| drop(request(&slow, number)));
        }
        "the result of an event" => _ = request(&slow(2), 0).wait().unwrap(),
        "all events to end (1 left)" => {
            let slow = slow(2);
            drop(request(&slow, 0));
            slow.wait_idle().unwrap();
        }
        "all events to end (2 left)" => {
            let slow = slow(2);
            (0..2).for_each(|number| drop(request(&slow, number)));
        }
        FUTURES => {
            let spawn = |task| drop(spawn(move || (sleep(SLOW), drop(task))));
            let slow = Dispatcher::builder().workers(2).name("tellers");
            let slow = slow.build_async(spawn, |_, _: u64| async {}).unwrap();
            slow.dispatch(7, 1).unwrap();
        }
        other => unreachable!("{other}"),
    }
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "only debug builds say so")]
#[cfg_attr(miri, ignore = "there are no processes")]
fn a_wait_that_lasts_says_for_what_and_what_the_workers_do() {
    if let Ok(how) = std::env::var(VARIABLE) {
        wait(&how);
        return;
    }
    const THIS: &str = "slow::a_wait_that_lasts_says_for_what_and_what_the_workers_do";
    let kinds = [
        "room in the dispatcher (2 events are in)",
        "room in strand ",
        "the result of an event",
        "all events to end (1 left)",
        "all events to end (2 left)",
        FUTURES,
    ];
    let say = |kind: &'static str| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args([THIS, "--exact", "--nocapture"]).env(VARIABLE, kind).stdin(Stdio::null());
        let child = child.output().unwrap();
        (kind, child.status.success(), String::from_utf8(child.stderr).unwrap())
    };
    for child in kinds.map(|kind| spawn(move || say(kind))) {
        let (kind, success, said) = child.join().unwrap();
        assert!(success, "{kind}: {said}");
        let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("warmcore-dispatch:")).collect();
        let [line] = lines[..] else { panic!("{kind}: expected one line: {said}") };
        assert!(line.contains(&format!("has waited 0.9 s for {kind}")), "{kind}: {line}");
        assert!(line.contains(&format!("thread `{THIS}`")), "{kind}: {line}");
        if kind == FUTURES {
            assert_eq!(line.matches(" has nothing to do").count(), 2, "{line}");
            continue;
        }
        let busy = ["0", "1"].iter().any(|worker| {
            line.contains(&format!(
                "worker {worker} (thread `tellers-{worker}`) has been handling an event with hash 0x"
            ))
        });
        assert!(busy && line.contains(" has nothing to do"), "{kind}: {line}");
    }
}
