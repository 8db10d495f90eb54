//! `warmcore host apply` and `host undo`, killed at random moments on a veth in a namespace of its own: the next undo
//! gives every file back, byte for byte.

use super::draws::rounds;
use super::real::{inside, queues, start_inside};
use super::verify::Scene;
use crate::text;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_warmcore");
const APPLY: [&str; 7] = [PROGRAM, "host", "apply", "plan.toml", "--yes", "--journal", "journals"];
const UNDO: [&str; 5] = [PROGRAM, "host", "undo", "--journal", "journals"];

/// How many of the kills in one are at any moment of the program; the others are after it has begun to change
/// something, which is a small part of its time.
const AT_ANY: f64 = 0.25;

/// How the time for kills changes with one that was in time, and with one that was too late.
const LATER: f64 = 1.3;
const EARLIER: f64 = 0.6;

/// What the program was about when it was killed.
#[derive(Default, Debug)]
struct Kills {
    /// It had ended, so it was not killed.
    late: usize,
    /// It had changed nothing.
    before: usize,
    /// Some values were changed.
    between: usize,
    /// All were.
    after: usize,
}

impl Kills {
    /// How many there were.
    const fn killed(&self) -> usize {
        self.before + self.between + self.after
    }
}

/// How long a program takes in all, and about how long from its first change.
struct Times {
    all: Duration,
    changing: Duration,
}

impl Scene {
    fn journal(&self) -> PathBuf {
        self.folder.path().join("journals/active.journal")
    }

    /// How long the journal is, by which it is seen that a program has begun; 0 if there is none.
    fn begun(&self) -> u64 {
        fs::metadata(self.journal()).map_or(0, |found| found.len())
    }

    fn now(&self) -> String {
        queues(&self.lab, self.folder.path())
    }

    /// Runs `program` to its end.
    fn times(&self, program: &[&str]) -> Times {
        let (length, start) = (self.begun(), Instant::now());
        let mut child = start_inside(&self.lab, program, self.folder.path());
        while self.begun() == length && child.try_wait().expect("a child").is_none() {}
        let first = start.elapsed();
        assert!(child.wait().expect("a child").success(), "{program:?}");
        Times { all: start.elapsed(), changing: start.elapsed() - first }
    }

    /// Runs `program` and kills it at a random moment. Returns whether it was killed, and adapts the time in which it is,
    /// so that most are.
    fn kill(&self, program: &[&str], times: &mut Times, random: &mut Xoshiro256PlusPlus) -> bool {
        let is_any = random.random::<f64>() < AT_ANY;
        let share: f64 = random.random();
        let length = self.begun();
        let mut child = start_inside(&self.lab, program, self.folder.path());
        if is_any {
            sleep(times.all.mul_f64(share));
        } else {
            while self.begun() == length && child.try_wait().expect("a child").is_none() {}
            let moment = Instant::now() + times.changing.mul_f64(share);
            while Instant::now() < moment {
                std::hint::spin_loop();
            }
        }
        child.kill().expect("a child");
        let is_killed = !child.wait().expect("a child").success();
        if !is_any {
            times.changing = times.changing.mul_f64(if is_killed { LATER } else { EARLIER });
        }
        is_killed
    }

    fn count(&self, is_killed: bool, kills: &mut Kills) {
        assert!(kills.late < 100 * (kills.killed() + 1), "it ends before it can be killed: {kills:?}");
        let now = self.now();
        let counted = match is_killed {
            false => &mut kills.late,
            true if now == self.before => &mut kills.before,
            true if now == self.applied => &mut kills.after,
            true => &mut kills.between,
        };
        *counted += 1;
    }

    /// Undoes what there is, and asserts that nothing is left to undo.
    fn give_back(&self, context: &str) {
        let is_empty = |mut entries: fs::ReadDir| entries.next().is_none();
        if fs::read_dir(self.folder.path().join("journals")).map_or(true, is_empty) {
            // Killed before it had anything to note.
            return assert_eq!(self.now(), self.before, "{context}");
        }
        for nth in ["first", "second"] {
            let undone = inside(&self.lab, &UNDO, self.folder.path());
            assert!(undone.status.success(), "{context}: {nth} undo: {}", text(&undone.stderr));
            assert_eq!(self.now(), self.before, "{context}: {nth} undo");
        }
        assert!(!self.journal().exists(), "{context}");
    }
}

#[test]
fn whenever_apply_is_killed_the_next_undo_gives_everything_back() {
    let Some(scene) = Scene::new() else { return };
    let (rounds, mut random) = rounds();
    let mut times = scene.times(&APPLY);
    scene.give_back("not killed");
    let mut kills = Kills::default();
    while kills.killed() < rounds {
        // Every other time it is the first plan with this folder.
        if random.random() {
            // It is not there if the one before was killed early.
            let _ = fs::remove_dir_all(scene.folder.path().join("journals"));
        }
        let is_killed = scene.kill(&APPLY, &mut times, &mut random);
        scene.count(is_killed, &mut kills);
        scene.give_back(&format!("{kills:?}"));
    }
    println!("apply killed at {rounds} moments: {kills:?}");
}

#[test]
fn whenever_undo_is_killed_the_next_one_gives_the_rest_back() {
    let Some(scene) = Scene::new() else { return };
    let (rounds, mut random) = rounds();
    scene.times(&APPLY);
    let mut times = scene.times(&UNDO);
    let mut kills = Kills::default();
    while kills.killed() < rounds {
        scene.times(&APPLY);
        assert_eq!(scene.now(), scene.applied, "{kills:?}");
        let is_killed = scene.kill(&UNDO, &mut times, &mut random);
        scene.count(is_killed, &mut kills);
        scene.give_back(&format!("{kills:?}"));
    }
    println!("undo killed at {rounds} moments: {kills:?}");
}
