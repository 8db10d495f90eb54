//! Looking at this machine, or at what is below `--root`.

use crate::messages::{self, Level};
use crate::misuse::{OrMisuse, misuse};
use miette::WrapErr;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use warmcore_linux::Probe;

/// The probe of this machine, or of what is below `root`.
pub(crate) fn probe(root: Option<&Path>) -> miette::Result<Probe> {
    let Some(root) = root else { return Ok(Probe::new()) };
    let found = fs::metadata(root).or_misuse().wrap_err_with(|| format!("--root {}", root.display()))?;
    if !found.is_dir() {
        return Err(misuse(format!("--root {}: it is no folder", root.display())));
    }
    if !["proc", "sys"].iter().any(|name| root.join(name).is_dir()) {
        let shown = root.display();
        return Err(misuse(format!("--root {shown}: it has neither a `proc` nor a `sys` folder")));
    }
    Ok(Probe::new().root(root))
}

/// What `look` finds on this machine, or below `root`. With --verbose it is said which folders were read.
pub(crate) fn look<T>(root: Option<&Path>, look: impl FnOnce(&Probe) -> T) -> miette::Result<T> {
    let probe = probe(root)?;
    if !messages::says(Level::Verbose) {
        return Ok(look(&probe));
    }
    let root = root.unwrap_or(Path::new("/"));
    messages::detail(format_args!("looking at the machine below {}", root.display()));
    let (probe, recording) = probe.recorded();
    let found = look(&probe);
    let tree = recording.tree();
    for (folder, count) in by_folder(tree.files.keys().map(String::as_str)) {
        let plural = if count == 1 { "" } else { "s" };
        messages::detail(format_args!("read {count} file{plural} in {}", root.join(folder).display()));
    }
    Ok(found)
}

/// How many of `files` each folder holds. Folders are cut to three names, and where a number follows.
fn by_folder<'a>(files: impl Iterator<Item = &'a str>) -> BTreeMap<String, usize> {
    let is_number = |name: &&str| name.bytes().all(|byte| byte.is_ascii_digit());
    let mut folders = BTreeMap::new();
    for file in files {
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let names: Vec<&str> = folder.split('/').take(3).take_while(|name| !is_number(name)).collect();
        *folders.entry(names.join("/")).or_default() += 1;
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_by_folder() {
        let files = [
            "proc/stat",
            "proc/12/stat",
            "proc/13/task/13/stat",
            "proc/irq/24/smp_affinity",
            "sys/devices/system/cpu/online",
            "sys/devices/system/cpu/cpu0/cache/index0/size",
            ".dockerenv",
        ];
        let expected = [("", 1), ("proc", 3), ("proc/irq", 1), ("sys/devices/system", 2)];
        let expected = expected.map(|(folder, count)| (folder.to_owned(), count));
        assert_eq!(by_folder(files.into_iter()), BTreeMap::from(expected));
    }
}
