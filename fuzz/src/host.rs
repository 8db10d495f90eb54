//! What the fuzz targets of hosts share: a made-up machine in a folder, with something of somebody else's beside it.

#[path = "../../crates/linux/tests/tuning/scene.rs"]
#[expect(dead_code, reason = "the tests of tuning need more of it")]
mod scene;

pub mod journal;
pub mod plan;
pub mod seeds;
pub mod tree;

use scene::{Scene, Snapshot};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// What stands in every file beside the machine.
const THEIRS: &str = "theirs\n";

/// Files that a link in the machine leads to, if links may lead out of it.
const OUTSIDE: [&str; 2] = ["cpuset.cpus", "queues/rx-0/rps_cpus"];

/// Links to the folder of those files: a control group and an interface.
const LINKS: [&str; 2] = ["sys/fs/cgroup/out", "sys/class/net/out0"];

/// The machine of the tests of tuning, where nothing outside its root may be touched.
#[derive(Debug)]
pub struct Machine {
    scene: Scene,
    before: Snapshot,
}

impl Machine {
    /// The machine with no plan applied.
    ///
    /// # Panics
    /// If its folder cannot be written.
    #[must_use]
    pub fn new() -> Self {
        let scene = Scene::new();
        let outside = scene.directory().join("outside");
        fs::create_dir_all(outside.join("queues/rx-0")).expect("a folder can be made");
        for name in OUTSIDE {
            fs::write(outside.join(name), THEIRS).expect("a file can be written");
        }
        for link in LINKS {
            symlink(&outside, scene.root.join(link)).expect("a link can be made");
        }
        Self { before: scene.snapshot(), scene }
    }

    /// Panics unless everything beside the machine is as it was.
    fn assert_outside_untouched(&self) {
        let names = |folder: &Path| -> BTreeSet<OsString> {
            let entries = fs::read_dir(folder).expect("a folder");
            entries.map(|entry| entry.expect("an entry").file_name()).collect()
        };
        let ours = ["journals", "outside", "root"].map(OsString::from);
        let beside = names(self.scene.directory());
        assert!(beside.is_subset(&BTreeSet::from(ours)), "{beside:?}");
        let outside = self.scene.directory().join("outside");
        for (folder, count) in [("", 2), ("queues", 1), ("queues/rx-0", 1)] {
            assert_eq!(names(&outside.join(folder)).len(), count, "{folder}");
        }
        for name in OUTSIDE {
            assert_eq!(fs::read_to_string(outside.join(name)).expect("a file"), THEIRS, "{name}");
        }
    }
}

impl Default for Machine {
    fn default() -> Self {
        Self::new()
    }
}

/// Panics if a message could begin a line or change a terminal's colours.
fn assert_printable(message: &str) {
    assert!(!message.is_empty() && !message.contains(char::is_control), "{message:?}");
}
