//! What the kernel says of `sched_ext`, its scheduling class for schedulers loaded by users.

use crate::tree::Tree;
use std::path::{Path, PathBuf};

/// Where the kernel tells, without a leading slash.
const FOLDER: &str = "sys/kernel/sched_ext";

/// What `sched_ext` does now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SchedExt {
    /// No scheduler is loaded.
    Free,
    /// This scheduler is loaded; the kernel calls it so.
    Loaded(String),
}

/// Why no scheduler can be loaded.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SchedExtError {
    /// The kernel lacks the class.
    #[error(
        "this kernel{} has no sched_ext: expected Linux 6.13 or later, built with CONFIG_SCHED_CLASS_EXT=y",
        release.as_ref().map(|release| format!(" ({release})")).unwrap_or_default()
    )]
    Missing {
        /// What `uname -r` says.
        release: Option<String>,
    },
    /// Another scheduler is loaded.
    #[error("the scheduler `{name}` is loaded already, and the kernel takes one at a time: end it first")]
    Loaded {
        /// What the kernel calls it.
        name: String,
    },
}

/// Looks at this machine, or at the files below another root.
///
/// # Errors
/// If the kernel lacks the class.
pub fn sched_ext(root: impl Into<PathBuf>) -> Result<SchedExt, SchedExtError> {
    let tree = Tree::directory(root);
    let folder = Path::new(FOLDER);
    let Some(state) = tree.text(folder.join("state")) else {
        return Err(SchedExtError::Missing { release: tree.text("proc/sys/kernel/osrelease") });
    };
    match state.as_str() {
        "disabled" => Ok(SchedExt::Free),
        // While it is being enabled or disabled, its name may be hidden.
        state => Ok(SchedExt::Loaded(tree.text(folder.join("root/ops")).unwrap_or_else(|| state.to_owned()))),
    }
}

/// Checks that a scheduler can be loaded.
///
/// # Errors
/// If the kernel lacks the class, or another scheduler is loaded.
pub fn expect_free(root: impl Into<PathBuf>) -> Result<(), SchedExtError> {
    match sched_ext(root)? {
        SchedExt::Free => Ok(()),
        SchedExt::Loaded(name) => Err(SchedExtError::Loaded { name }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for (file, text) in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        root
    }

    #[test]
    fn a_kernel_without_it_is_told_the_option() {
        let root = machine(&[("proc/sys/kernel/osrelease", "6.1.0\n")]);
        let error = expect_free(root.path()).expect_err("no class");
        assert_eq!(error, SchedExtError::Missing { release: Some("6.1.0".to_owned()) });
        let words = error.to_string();
        assert!(words.contains("(6.1.0)") && words.contains("CONFIG_SCHED_CLASS_EXT=y"), "{words}");
    }

    #[test]
    fn a_loaded_scheduler_is_named() {
        let free = machine(&[("sys/kernel/sched_ext/state", "disabled\n")]);
        assert_eq!(expect_free(free.path()), Ok(()));
        let taken = machine(&[
            ("sys/kernel/sched_ext/state", "enabled\n"),
            ("sys/kernel/sched_ext/root/ops", "simple\n"),
        ]);
        assert_eq!(expect_free(taken.path()), Err(SchedExtError::Loaded { name: "simple".to_owned() }));
    }
}
