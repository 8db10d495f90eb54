//! What other programs change while a plan is in force, on a veth in a namespace of its own: `host undo` names exactly
//! that, gives everything else back, and all with `--force`.

use super::draws::rounds;
use super::real::{inside, queues};
use super::verify::Scene;
use crate::{on_one_line, text};
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::process::Output;
use warmcore_linux::net::lab::{LinkOptions, link};
use warmcore_linux::tuning::{Disk, Fingerprint};

/// A value of the plan, as another program may set it.
struct Foreign {
    file: &'static str,
    /// Its name in reports.
    setting: &'static str,
    /// What may be written: neither what was there before nor what the plan wants.
    values: &'static [&'static str],
    /// How many cpus the machine must have for that.
    cpus: usize,
}

const FOREIGN: [Foreign; 5] = [
    Foreign { file: "rx-0/rps_cpus", setting: "RPS cpus of wire0 rx-0", values: &["2", "3"], cpus: 2 },
    Foreign { file: "rx-1/rps_cpus", setting: "RPS cpus of wire0 rx-1", values: &["2", "3"], cpus: 2 },
    Foreign {
        file: "rx-3/rps_flow_cnt",
        setting: "RFS flows of wire0 rx-3",
        values: &["64", "2048", "8192"],
        cpus: 1,
    },
    Foreign { file: "tx-2/xps_cpus", setting: "XPS cpus of wire0 tx-2", values: &["2", "3"], cpus: 2 },
    Foreign {
        file: "tx-1/xps_rxqs",
        setting: "XPS receive queues of wire0 tx-1",
        values: &["1", "2", "3", "4", "8", "f"],
        cpus: 1,
    },
];

/// One change in this many is that the interface is taken away, or replaced by a new one.
const REPLACED: f64 = 0.2;

impl Scene {
    fn host(&self, arguments: &[&str]) -> Output {
        let program = [env!("CARGO_BIN_EXE_warmcore"), "host"];
        let all = [&program, arguments, &["--journal", "journals"]].concat();
        inside(&self.lab, &all, self.folder.path())
    }

    fn set(&self, file: &str, value: &str) {
        let script = format!("echo {value} > /sys/class/net/wire0/queues/{file}");
        let written = inside(&self.lab, &["sh", "-c", &script], self.folder.path());
        assert!(written.status.success(), "{script}: {}", text(&written.stderr));
    }

    /// Another program changes one value.
    fn is_changed(&self, random: &mut Xoshiro256PlusPlus, context: &str) {
        let cpus = Fingerprint::read(&Disk::default(), []).expect("this machine").cpus.len();
        let possible: Vec<&Foreign> = FOREIGN.iter().filter(|foreign| foreign.cpus <= cpus).collect();
        let Foreign { file, setting, values, .. } = possible.choose(random).expect("some");
        let value = values.choose(random).expect("some");
        let context = format!("{context}: {file} set to {value}");
        self.set(file, value);
        let theirs = self.lines();

        let undone = self.host(&["undo"]);
        let error = on_one_line(&undone.stderr);
        assert_eq!(undone.status.code(), Some(1), "{context}: {error}");
        assert_eq!(error.matches("somebody else has set it").count(), 1, "{context}: {error}");
        assert!(error.contains(&format!("{setting}: somebody else has set it")), "{context}: {error}");
        for ((line, of_theirs), before) in self.lines().iter().zip(&theirs).zip(self.before.lines()) {
            let is_theirs = line.starts_with(&format!("{file}:"));
            assert_eq!(line, if is_theirs { of_theirs.as_str() } else { before }, "{context}");
        }
        let forced = self.host(&["undo", "--force"]);
        assert!(forced.status.success(), "{context}: {}", text(&forced.stderr));
        assert!(text(&forced.stdout).contains("1 value restored"), "{context}: {}", text(&forced.stdout));
        assert!(self.is_as_before(), "{context}");
    }

    /// Another program takes the interface away, and perhaps makes a new one of its name.
    fn is_replaced(&self, random: &mut Xoshiro256PlusPlus, context: &str) {
        self.lab.near.ip(&["link", "delete", "wire0"]).expect("an interface");
        let make = || {
            let options = LinkOptions { queues: 4, ..LinkOptions::default() };
            link(&self.lab.near, &self.lab.far, 0, &options).expect("an interface");
        };
        let is_new = random.random();
        if is_new {
            make();
        }
        let refused = self.host(&["undo"]);
        let error = on_one_line(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{context}: {error}");
        let said = match is_new {
            true => ") is another: that one was left alone",
            false => "removed, or moved to another network namespace",
        };
        assert!(error.contains(said), "{context}: {error}");
        assert!(error.contains("`warmcore host undo --force --journal"), "{context}: {error}");
        let undone = self.host(&["undo", "--force"]);
        let said = text(&undone.stdout);
        assert!(undone.status.success(), "{context}: replaced {is_new}: {}", text(&undone.stderr));
        assert!(said.contains("5 settings no longer there"), "{context}: {said}");
        if !is_new {
            make();
        }
        self.set("rx-1/rps_cpus", "1");
        assert!(self.is_as_before(), "{context}: replaced {is_new}");
    }

    fn lines(&self) -> Vec<String> {
        queues(&self.lab, self.folder.path()).lines().map(str::to_owned).collect()
    }
}

#[test]
fn what_others_change_is_named_and_everything_else_given_back() {
    let Some(scene) = Scene::new() else { return };
    let (rounds, mut random) = rounds();
    for round in 0..rounds {
        let context = format!("round {round} of {rounds}");
        let applied = scene.host(&["apply", "plan.toml", "--yes"]);
        assert!(applied.status.success(), "{context}: {}", text(&applied.stderr));
        if random.random::<f64>() < REPLACED {
            scene.is_replaced(&mut random, &context);
        } else {
            scene.is_changed(&mut random, &context);
        }
        assert!(text(&scene.host(&["undo"]).stdout).contains("Nothing to undo"), "{context}");
    }
}
