//! The cpus of a control group.
//!
//! The kernel keeps the threads of the group on them, whatever their own masks say, and those that start later too. A
//! group has the file only where its parent hands the controller `cpuset` on to it.

use super::locate_error::LocateError;
use super::plan::Setting;
use super::system::{System, is_absent};
use crate::inventory::cpuset_files;
use std::path::{Component, Path, PathBuf};
use warmcore_topology::CpuSet;
use warmcore_units::Fault;

/// Checks that `group` is the path of a group below the root, which has all cpus.
pub(super) fn check(group: &str) -> Result<(), Fault> {
    let path = Path::new(group);
    let is_named = path.components().skip(1).all(|part| matches!(part, Component::Normal(_)));
    // One spelling for each group, so that two lines for the same one are noticed.
    let is_plain = path.components().collect::<PathBuf>().as_os_str() == group;
    if path.has_root() && path.components().count() > 1 && is_named && is_plain && !group.contains('\0') {
        return Ok(());
    }
    let expected = "the path of a control group below the root, such as `/system.slice/nginx.service`";
    Err(Fault::new("group", format!("`{}`", group.escape_debug()), expected))
}

/// The file with the cpus of `group`.
pub(super) fn find(system: &dyn System, group: &str) -> Result<String, LocateError> {
    for file in cpuset_files(group) {
        match system.read(&file) {
            Ok(_) => return Ok(file),
            Err(error) if is_absent(&error) => {}
            Err(source) => return Err(LocateError::Unreadable { file, source }),
        }
    }
    let expected = "a control group that exists and has a `cpuset.cpus`, which its parent gives it with `+cpuset` in \
                    `cgroup.subtree_control` (systemd does, for a unit with `AllowedCPUs=`)";
    Err(Fault::new("group", format!("`{}`", group.escape_debug()), expected).into())
}

/// What is wrong with the cpus of `set`, if it is of a group whose parent has not all of them: the kernel stores them
/// as they are written, and keeps the threads on those that the parent has.
pub(super) fn beyond_parent(system: &dyn System, set: &Setting) -> Option<Fault> {
    let Setting::Cpuset { group, cpus } = set else { return None };
    let parent = group.trim_end_matches('/').rsplit_once('/').map_or("", |(parent, _)| parent);
    let [second, first] = cpuset_files(parent);
    let first = first.trim_end_matches("cpuset.cpus").to_owned() + "cpuset.effective_cpus";
    let read = |file: &String| system.read(file).ok()?.trim().parse::<CpuSet>().ok();
    let has = [second + ".effective", first].iter().find_map(read)?;
    let missing = cpus.difference(&has);
    let expected = format!("cpus among {has}, which the parent of {} has", group.escape_debug());
    (!missing.is_empty()).then(|| Fault::new("cpus", cpus, expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_named_by_its_path_below_the_root() {
        for sound in ["/a", "/system.slice/nginx.service", "/a b/c"] {
            assert_eq!(check(sound), Ok(()), "{sound}");
        }
        for faulty in ["", "/", "a", "/a/../b", "..", "/a\0b", "/a/", "//a", "/a//b", "/a/./b"] {
            assert!(check(faulty).is_err(), "{faulty}");
        }
    }
}
