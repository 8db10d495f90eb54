//! Signs of a container, and which settings are read-only.

use crate::tree::Tree;

/// Returns the signs that this is a container, in words.
pub(super) fn signs(tree: &Tree) -> Vec<String> {
    let files = [(".dockerenv", "docker"), ("run/.containerenv", "podman")];
    let there = files.iter().filter(|(file, _)| tree.has(file));
    let mut signs: Vec<String> =
        there.map(|(file, runtime)| format!("{runtime}: /{file} is there")).collect();
    let first = tree.text("proc/1/cgroup").unwrap_or_default();
    let runtimes = ["docker", "kubepods", "containerd", "crio", "libpod", "lxc"];
    let named = runtimes.iter().find(|runtime| first.contains(**runtime));
    signs.extend(named.map(|runtime| format!("{runtime}: process 1 is in a control group of its name")));
    signs
}

/// Mount points of the settings that place interrupts, packets and threads.
const SETTINGS: [&str; 4] = ["/sys", "/proc", "/proc/irq", "/proc/sys"];

/// Returns the mount points of settings that are read-only, in order of depth.
pub(super) fn read_only(tree: &Tree) -> Vec<String> {
    let mounts = tree.filtered("proc/self/mounts", of_settings).unwrap_or_default();
    let is_read_only = |options: &str| options.split(',').any(|option| option == "ro");
    // The last mount at a place hides the earlier ones.
    let options_at = |place: &str| {
        let lines = mounts.lines().rev().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let mut at_place = lines.filter(|words| words.get(1) == Some(&place));
        at_place.find_map(|words| words.get(3).copied())
    };
    let locked = SETTINGS.into_iter().filter(|place| options_at(place).is_some_and(is_read_only));
    locked.map(str::to_owned).collect()
}

/// Keeps the lines `device place kind options …` of [`SETTINGS`].
fn of_settings(text: &str) -> String {
    let place = |line: &&str| line.split_whitespace().nth(1).is_some_and(|place| SETTINGS.contains(&place));
    text.lines().filter(place).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;

    #[test]
    fn a_container_is_recognised_by_the_traces_of_its_runtime() {
        let mut tree = fake::Tree::default();
        assert_eq!(signs(&Tree::Fake(tree.clone())), Vec::<String>::new());
        tree.put(".dockerenv", "");
        tree.put("proc/1/cgroup", "0::/kubepods.slice/pod1");
        assert_eq!(signs(&Tree::Fake(tree)).len(), 2);
    }

    #[test]
    fn the_last_mount_of_a_place_counts() {
        let mut tree = fake::Tree::default();
        let mounts = "sysfs /sys sysfs rw 0 0\nsecret /home nfs ro 0 0\nproc /proc proc rw,nosuid 0 0\n\
                      proc /proc/irq proc ro,nosuid 0 0\nsysfs /sys sysfs ro,relatime 0 0";
        tree.put("proc/self/mounts", mounts);
        let (probe, recording) = crate::Probe::fake(tree).recorded();
        assert_eq!(read_only(probe.tree()), ["/sys", "/proc/irq"]);
        assert!(!recording.tree().files["proc/self/mounts"].contains("secret"));
    }
}
