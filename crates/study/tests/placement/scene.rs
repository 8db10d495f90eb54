//! A host's files below a folder, and a plan for it that is applied and undone there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use warmcore_linux::Inventory;
use warmcore_linux::fake::Tree;
use warmcore_linux::tuning::{
    AdmissionOptions, Disk, JournalDirectory, Plan, Step, System, admit, apply, changes, rivals,
    rivals::Interference, steps, undo,
};

/// A folder with the host's files in `root` and journals beside them.
#[derive(Debug)]
pub(crate) struct Scene {
    root: PathBuf,
    journals: JournalDirectory,
    plan: Plan,
}

/// Writes the files of a host to `place`, without caches: no setting concerns them, and they are most of the
/// files.
pub(crate) fn write(tree: &Tree, place: &Path) {
    let tree = tree.clone().hiding("/cache/");
    tree.write_to(&place.join("root")).expect("a tree can be written");
}

impl Scene {
    pub(crate) fn at(place: &Path, plan: &Plan) -> Self {
        let journals = JournalDirectory::at(place.join("journals"));
        Self { root: place.join("root"), journals, plan: plan.clone() }
    }

    pub(crate) fn disk(&self) -> Disk {
        Disk::below(&self.root)
    }

    /// The contents of all files of the host.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        files(&self.root)
    }

    /// The changes of the plan, if it may be applied while programs of `picture` might undo it.
    pub(crate) fn steps(&self, picture: &Inventory) -> Result<Vec<Step>, String> {
        let despite = rivals::in_inventory(&self.plan, picture).into_iter().filter_map(|hand| match hand {
            Interference::Undoes(rival, _) => Some(rival.name.to_owned()),
            _ => None,
        });
        let admission = AdmissionOptions { despite: despite.collect() };
        admit(&self.plan, &self.disk(), &admission).map_err(|error| error.to_string())?;
        steps(&self.plan, &self.disk()).map(changes).map_err(|error| error.to_string())
    }

    /// Applies `steps` through `system`. Returns what went wrong, if anything.
    pub(crate) fn apply(&self, steps: Vec<Step>, system: &dyn System) -> Result<(), String> {
        let journal = self.journals.begin(system, steps, false).map_err(|error| error.to_string())?;
        apply(journal, &AtomicBool::new(false)).map(drop).map_err(|error| error.to_string())
    }

    /// Undoes what is applied, if anything. Returns whether everything is restored.
    pub(crate) fn undo(&self) -> Result<bool, String> {
        let disk = self.disk();
        let journal = self.journals.open(&disk, false).map_err(|error| error.to_string())?;
        let undone = journal.map(|journal| undo(journal, false)).transpose();
        undone.map(|undone| undone.is_none_or(|of| of.is_complete())).map_err(|error| error.to_string())
    }

    /// Whether a plan is applied.
    pub(crate) fn is_applied(&self) -> bool {
        self.journals.active().expect("a journal").is_some()
    }
}

/// The contents of all files below `folder`.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            let text = fs::read(&path).expect("a file");
            files.insert(path, text);
        }
    }
    files
}
