//! Reading the small text files of procfs and sysfs.
//!
//! Two things can go wrong with such a file. It may be *hidden*: absent, unreadable, empty or no regular file,
//! as in containers and under hypervisors. That is `None`, and the reader does without it. Or it may be
//! malformed, with contents that no kernel writes. That is a [`Malformed`] error.

use crate::capture::Recording;
use crate::fake;
use crate::rooted::Root;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use warmcore_topology::CpuSet;

/// A file is malformed: its contents are not what a kernel writes.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{}` holds `{found}`, expected {expected}", file.to_string_lossy().escape_debug())]
pub struct Malformed {
    /// The file, including the root directory.
    pub file: PathBuf,
    /// The beginning of its contents, with unprintable characters escaped.
    pub found: String,
    /// What was expected instead.
    pub expected: String,
}

impl Malformed {
    pub(crate) fn new(file: PathBuf, found: &str, expected: &str) -> Self {
        let shown: String = found.chars().take(60).collect();
        Self { file, found: shown.escape_debug().to_string(), expected: expected.to_owned() }
    }
}

/// The source of files: what stands for the root directory.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    /// A directory on disk. Links in it do not lead out of it.
    Directory(Root),
    /// Fake files in memory.
    Fake(fake::Tree),
    /// Another tree, with a recording of everything that is read.
    Recorded(Box<Tree>, Recording),
}

impl Tree {
    /// The files beneath the directory `root`.
    pub(crate) fn directory(root: impl Into<PathBuf>) -> Self {
        Self::Directory(Root::new(root))
    }

    /// Fails if nothing can be opened beneath the root, so that everything is hidden.
    pub(crate) fn require_usable(&self) -> io::Result<()> {
        match self {
            Self::Directory(root) => root.require_usable(),
            Self::Fake(_) => Ok(()),
            Self::Recorded(tree, _) => tree.require_usable(),
        }
    }

    /// The folder `name` in it as a tree of its own; `None` if it is absent. What is read there is not recorded here.
    pub(crate) fn within(&self, name: &str) -> io::Result<Option<Self>> {
        match self {
            Self::Directory(root) => Ok(root.within(name)?.map(Self::Directory)),
            Self::Fake(_) => Ok(None),
            Self::Recorded(tree, _) => tree.within(name),
        }
    }

    /// The root directory; empty if the files are in memory.
    pub(crate) fn root(&self) -> &Path {
        match self {
            Self::Directory(root) => root.path(),
            Self::Fake(_) => Path::new(""),
            Self::Recorded(tree, _) => tree.root(),
        }
    }

    /// Returns the full path of `file`, which has no leading slash.
    fn path(&self, file: impl AsRef<Path>) -> PathBuf {
        self.root().join(file)
    }

    fn bytes(&self, file: &Path) -> Option<Vec<u8>> {
        match self {
            Self::Directory(root) => root.read(file).ok(),
            Self::Fake(tree) => tree.files.get(file.to_str()?).map(|text| text.clone().into_bytes()),
            Self::Recorded(tree, _) => tree.bytes(file),
        }
    }

    /// Why `file` is not read although something has its name: it is no regular file, or longer than any of a kernel.
    pub(crate) fn refused(&self, file: &str) -> Option<String> {
        match self {
            // An error of the system has a number.
            Self::Directory(root) => {
                let error = root.read(Path::new(file)).err()?;
                error.raw_os_error().is_none().then(|| error.to_string())
            }
            Self::Fake(_) => None,
            Self::Recorded(tree, _) => tree.refused(file),
        }
    }

    /// Reads the trimmed text of `file`; `None` if it is hidden.
    pub(crate) fn text(&self, file: impl AsRef<Path>) -> Option<String> {
        self.filtered(file, str::to_owned)
    }

    /// Reads the trimmed text of `file` and applies `filter`; `None` if the file is hidden or nothing is
    /// left. Only the filtered text is recorded, so that private parts of a file are not kept. The
    /// filter must be idempotent, because it is applied again to recorded text.
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

    /// Whether `file` exists, as a file or directory.
    pub(crate) fn has(&self, file: impl AsRef<Path>) -> bool {
        let file = file.as_ref();
        match self {
            Self::Directory(root) => root.has(file),
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

    /// Whether anybody may write `file`; `None` if it is hidden.
    pub(crate) fn is_writable(&self, file: impl AsRef<Path>) -> Option<bool> {
        let file = file.as_ref();
        match self {
            Self::Directory(root) => root.is_writable(file).ok(),
            Self::Fake(tree) => {
                let name = file.to_str()?;
                tree.files.contains_key(name).then(|| !tree.read_only.contains(name))
            }
            Self::Recorded(tree, recording) => {
                let is_writable = tree.is_writable(file)?;
                recording.record_mode(file, is_writable);
                Some(is_writable)
            }
        }
    }

    /// Reads and parses the value in `file`. `expected` describes it in the error.
    pub(crate) fn value<T: FromStr>(
        &self,
        file: impl AsRef<Path>,
        expected: &str,
    ) -> Result<Option<T>, Malformed> {
        let Some(text) = self.text(&file) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| self.malformed(file, &text, expected))
    }

    /// Reads the list of cpus in `file`.
    pub(crate) fn cpus(&self, file: impl AsRef<Path>) -> Result<Option<CpuSet>, Malformed> {
        self.value(file, "a list of cpus such as `0-3,8`")
    }

    /// Reads the value after `key:` in `file`, in the format of `/proc/cpuinfo` and `/proc/self/status`.
    pub(crate) fn field(&self, file: impl AsRef<Path>, key: &str) -> Option<String> {
        field_of(&self.text(file)?, key)
    }

    /// Whether the kernel that runs can be asked about this tree. A copy must have the answers as files.
    pub(crate) fn is_live(&self) -> bool {
        match self {
            Self::Directory(root) => root.is_live(),
            Self::Fake(_) => false,
            Self::Recorded(tree, _) => tree.is_live(),
        }
    }

    /// Asks the kernel what stands in no file of its own, by `ask`. In a copy, the answer is the TOML
    /// document `file`; that is where it is recorded.
    pub(crate) fn asked<T: Serialize + DeserializeOwned>(
        &self,
        file: &str,
        expected: &str,
        ask: impl FnOnce() -> Option<T>,
    ) -> Result<Option<T>, Malformed> {
        if !self.is_live() {
            let Some(text) = self.text(file) else { return Ok(None) };
            return toml::from_str(&text).map(Some).map_err(|error| {
                let (line, problem) = faulty_line(&text, &error);
                self.malformed(file, line, &format!("{expected}: {problem}"))
            });
        }
        let answer = ask();
        if let (Self::Recorded(_, recording), Some(answer)) = (self, &answer)
            && let Ok(text) = toml::to_string(answer)
        {
            recording.record_file(Path::new(file), text.trim_end());
        }
        Ok(answer)
    }

    /// Creates the error that `file` holds `found` instead of `expected`.
    pub(crate) fn malformed(&self, file: impl AsRef<Path>, found: &str, expected: &str) -> Malformed {
        Malformed::new(self.path(file), found, expected)
    }

    /// Returns the numbers N for which `directory` has an entry `prefixN`, ascending.
    pub(crate) fn numbered(&self, directory: impl AsRef<Path>, prefix: &str) -> Vec<u32> {
        let numbers = self.entries(directory, &|entry| entry.strip_prefix(prefix)?.parse().ok());
        numbers.into_iter().collect()
    }

    /// Maps the names in `directory` by `choose`, leaving out those for which it returns `None`. The result
    /// is in ascending order.
    pub(crate) fn entries<T: Ord>(
        &self,
        directory: impl AsRef<Path>,
        choose: &dyn Fn(&str) -> Option<T>,
    ) -> BTreeSet<T> {
        let directory = directory.as_ref();
        match self {
            Self::Directory(root) => {
                let names = root.names(directory).unwrap_or_default();
                names.iter().filter_map(|name| choose(name.to_str()?)).collect()
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

/// Returns the first non-empty value after `key:` in `text`.
pub(crate) fn field_of(text: &str, key: &str) -> Option<String> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, value)| name.trim() == key && !value.trim().is_empty())
        .map(|(_, value)| value.trim().to_owned())
}

/// The line of `text` that `error` is about, which names the field, and what is wrong with it.
fn faulty_line<'a>(text: &'a str, error: &toml::de::Error) -> (&'a str, String) {
    let start = error.span().map_or(0, |span| span.start);
    let begin = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let line = text[begin..].lines().next().unwrap_or_default();
    let number = format!("expected a whole number from 0 to {}", u32::MAX);
    (line, error.message().trim().replace('\n', "; ").replace("expected u32", &number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_recorded_answer_names_its_field() {
        let mut tree = fake::Tree::default();
        tree.put("warmcore/ethtool/eth0.toml", "[channels]\ncombined = 4\ncombined_max = 99999999999");
        let asked = Tree::Fake(tree).asked::<crate::ethtool::DriverSettings>(
            "warmcore/ethtool/eth0.toml",
            "the settings of a driver",
            || None,
        );
        let error = asked.unwrap_err().to_string();
        assert!(error.contains("eth0.toml` holds `combined_max = 99999999999`, expected"), "{error}");
        assert!(error.contains("a whole number from 0 to 4294967295"), "{error}");
    }
}
