//! Reading the small text files of procfs and sysfs.
//!
//! Two things go wrong with such a file, and they are recorded apart. It may be *withheld*: absent,
//! unreadable, or empty, as containers and hypervisors make them; that is `None`, and the reader
//! goes on with less. Or it holds what no kernel writes there: that is a [`Malformed`].

use crate::capture::Recording;
use crate::fake;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use warmcore_topology::CpuSet;

/// No file that is read here is longer on any machine; what is beyond is not looked at. The longest
/// is `/proc/interrupts`, which has a column of 11 characters for each cpu.
const LONGEST: u64 = 64 << 20;

/// A file holds what no kernel writes there.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{}` holds `{found}`, expected {expected}", file.display())]
pub struct Malformed {
    /// The file, with the root it was read below.
    pub file: PathBuf,
    /// The beginning of what it holds, with unprintable characters escaped.
    pub found: String,
    /// What would have been right.
    pub expected: String,
}

/// What stands for `/`.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    /// A directory.
    Directory(PathBuf),
    /// Files that were made up, without a disk.
    Fake(fake::Tree),
    /// Another tree, of which what is read is recorded.
    Recorded(Box<Tree>, Recording),
}

impl Tree {
    /// Where the files are; empty if nowhere but in memory.
    pub(crate) fn root(&self) -> &Path {
        match self {
            Self::Directory(root) => root,
            Self::Fake(_) => Path::new(""),
            Self::Recorded(tree, _) => tree.root(),
        }
    }

    /// Where `file`, a path without a leading slash, is.
    fn path(&self, file: impl AsRef<Path>) -> PathBuf {
        self.root().join(file)
    }

    fn bytes(&self, file: &Path) -> Option<Vec<u8>> {
        match self {
            Self::Directory(_) => {
                // Most are shorter than that, and then read at once.
                let mut bytes = Vec::with_capacity(4096);
                File::open(self.path(file)).ok()?.take(LONGEST).read_to_end(&mut bytes).ok()?;
                Some(bytes)
            }
            Self::Fake(tree) => tree.files.get(file.to_str()?).map(|text| text.clone().into_bytes()),
            Self::Recorded(tree, _) => tree.bytes(file),
        }
    }

    /// The trimmed text of `file`, unless it is withheld.
    pub(crate) fn text(&self, file: impl AsRef<Path>) -> Option<String> {
        self.filtered(file, str::to_owned)
    }

    /// What `filter` leaves of the trimmed text of `file`, unless that is withheld. Of a file that
    /// says more than is asked for, nothing else is looked at or recorded. What is left must pass
    /// unchanged through the same filter.
    pub(crate) fn filtered(
        &self,
        file: impl AsRef<Path>,
        filter: impl FnOnce(&str) -> String,
    ) -> Option<String> {
        let bytes = self.bytes(file.as_ref())?;
        let text = String::from_utf8_lossy(&bytes);
        let trimmed = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        let left = filter(trimmed);
        if let Self::Recorded(_, recording) = self {
            recording.record_file(file.as_ref(), &left);
        }
        (!left.is_empty()).then_some(left)
    }

    /// Whether there is such a file or directory, whatever it holds.
    pub(crate) fn has(&self, file: impl AsRef<Path>) -> bool {
        let file = file.as_ref();
        match self {
            Self::Directory(_) => self.path(file).exists(),
            Self::Fake(tree) => tree.has(&file.to_string_lossy()),
            Self::Recorded(tree, recording) => {
                let has = tree.has(file);
                if has {
                    recording.record_name(file);
                }
                has
            }
        }
    }

    /// The value in `file`, which is `expected`.
    pub(crate) fn value<T: FromStr>(
        &self,
        file: impl AsRef<Path>,
        expected: &str,
    ) -> Result<Option<T>, Malformed> {
        let Some(text) = self.text(&file) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| self.malformed(file, &text, expected))
    }

    /// The cpus that `file` lists.
    pub(crate) fn cpus(&self, file: impl AsRef<Path>) -> Result<Option<CpuSet>, Malformed> {
        self.value(file, "a list of cpus such as `0-3,8`")
    }

    /// The value after `key:` in `file`, in the notation of `/proc/cpuinfo` and
    /// `/proc/self/status`.
    pub(crate) fn field(&self, file: impl AsRef<Path>, key: &str) -> Option<String> {
        field_of(&self.text(file)?, key)
    }

    /// The complaint that `file` holds `found` instead of `expected`.
    pub(crate) fn malformed(&self, file: impl AsRef<Path>, found: &str, expected: &str) -> Malformed {
        let shown: String = found.chars().take(60).collect();
        Malformed {
            file: self.path(file),
            found: shown.escape_debug().to_string(),
            expected: expected.to_owned(),
        }
    }

    /// The numbers N for which `directory` has an entry `prefixN`, ascending.
    pub(crate) fn numbered(&self, directory: impl AsRef<Path>, prefix: &str) -> Vec<u32> {
        let numbers = self.entries(directory, &|entry| entry.strip_prefix(prefix)?.parse().ok());
        numbers.into_iter().collect()
    }

    /// What `choose` makes of the names in `directory`, of those that it wants; ascending.
    pub(crate) fn entries<T: Ord>(
        &self,
        directory: impl AsRef<Path>,
        choose: &dyn Fn(&str) -> Option<T>,
    ) -> BTreeSet<T> {
        let directory = directory.as_ref();
        match self {
            Self::Directory(_) => {
                let entries = std::fs::read_dir(self.path(directory)).into_iter().flatten().flatten();
                entries.filter_map(|entry| choose(entry.file_name().to_str()?)).collect()
            }
            Self::Fake(tree) => tree.entries(&directory.to_string_lossy()).filter_map(choose).collect(),
            Self::Recorded(tree, recording) => tree.entries(directory, &|entry| {
                let chosen = choose(entry)?;
                recording.record_name(&directory.join(entry));
                Some(chosen)
            }),
        }
    }
}

/// The first value after `key:` in `text`, unless it is empty.
pub(crate) fn field_of(text: &str, key: &str) -> Option<String> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, value)| name.trim() == key && !value.trim().is_empty())
        .map(|(_, value)| value.trim().to_owned())
}
