//! What is known of a thread besides its events, from `/proc`: its process, its group and the cpus that it may run on.

use std::fs;
use warmcore_units::CpuId;

/// What is known of a thread.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Attributes {
    /// The group whose share of the cpus it has: its session's, or its control group. Empty if it is in none.
    pub group: String,
    /// The only cpu that it may run on.
    pub attached: Option<CpuId>,
    /// The number of its process.
    pub process: u32,
    /// The command of its process.
    pub process_command: String,
    /// Its control groups but the root, those of different hierarchies if there are several.
    pub control_groups: Vec<String>,
}

/// The attributes of a thread; `None` if it has ended. With `sessions`, the kernel gives each session a group
/// (`sched_autogroup_enabled`).
#[must_use]
pub fn attributes(thread: u32, sessions: bool) -> Option<Attributes> {
    let read_of = |thread: u32, file: &str| {
        let bytes = fs::read(format!("/proc/{thread}/{file}")).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let read = |file: &str| read_of(thread, file);
    let status = read("status")?;
    let process = field(&status, "Tgid:").and_then(|number| number.parse().ok()).unwrap_or(thread);
    let command = read_of(process, "comm").unwrap_or_default();
    let control_groups = read("cgroup").unwrap_or_default();
    let group = control_group(&control_groups);
    // A thread in a control group is in no session's.
    let group = match group {
        Some(group) => group,
        None if sessions && !is_of_kernel(&status) => session_group(&read("autogroup").unwrap_or_default()),
        None => String::new(),
    };
    Some(Attributes {
        group,
        attached: only_cpu(&status),
        process,
        process_command: command.strip_suffix('\n').unwrap_or(&command).to_owned(),
        control_groups: all_control_groups(&control_groups),
    })
}

/// The threads that this process sees now.
#[must_use]
pub fn all_threads() -> Vec<u32> {
    let numbers = |folder: String| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
    };
    numbers("/proc".to_owned()).flat_map(|process| numbers(format!("/proc/{process}/task"))).collect()
}

/// Whether the kernel gives each session a group.
#[must_use]
pub fn sessions_are_groups() -> bool {
    let setting = fs::read_to_string("/proc/sys/kernel/sched_autogroup_enabled");
    setting.is_ok_and(|setting| setting.trim() == "1")
}

/// `/autogroup-5 nice 0`
fn session_group(autogroup: &str) -> String {
    autogroup.split_ascii_whitespace().next().unwrap_or_default().to_owned()
}

/// `Kthread: 1`, with a tab between.
fn is_of_kernel(status: &str) -> bool {
    field(status, "Kthread:") == Some("1")
}

/// `Cpus_allowed_list: 3`, with a tab between.
fn only_cpu(status: &str) -> Option<CpuId> {
    field(status, "Cpus_allowed_list:")?.parse().ok().map(CpuId)
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// Those of all hierarchies but the root.
fn all_control_groups(cgroup: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for path in cgroup.lines().filter_map(|line| line.splitn(3, ':').nth(2)) {
        if path != "/" && !all.iter().any(|one| one == path) {
            all.push(path.to_owned());
        }
    }
    all
}

/// The control group whose cpu time is shared, unless it is the root: `4:cpu,cpuacct:/a` or `0::/a`.
fn control_group(cgroup: &str) -> Option<String> {
    let mut unified = None;
    for line in cgroup.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        if controllers.split(',').any(|one| one == "cpu") {
            return (path != "/").then(|| path.to_owned());
        }
        if controllers.is_empty() && path != "/" {
            unified = Some(path.to_owned());
        }
    }
    unified
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_a_control_group_or_that_of_its_session() {
        assert_eq!(control_group("9:name=systemd:/x\n4:cpu,cpuacct:/a\n0::/\n").as_deref(), Some("/a"));
        assert_eq!(control_group("1:cpu:/\n0::/b\n"), None);
        assert_eq!(control_group("0::/user.slice/b\n").as_deref(), Some("/user.slice/b"));
        assert_eq!(control_group("0::/\n"), None);
        assert_eq!(
            all_control_groups("9:name=systemd:/x\n4:cpu,cpuacct:/a:b\n3:memory:/x\n0::/\n"),
            ["/x", "/a:b"]
        );
        assert_eq!(session_group("/autogroup-5 nice 0\n"), "/autogroup-5");
        let status = "Name:\tkworker/1:0\nKthread:\t1\nCpus_allowed_list:\t1\n";
        assert_eq!((is_of_kernel(status), only_cpu(status)), (true, Some(CpuId(1))));
        assert_eq!(only_cpu("Cpus_allowed_list:\t0-1\n"), None);
    }

    #[test]
    fn this_thread_has_attributes_and_none_has_the_greatest_number() {
        let own = std::process::id();
        let of_thread = |thread| attributes(thread, sessions_are_groups()).expect("it lives");
        let process = of_thread(own);
        assert_eq!(process.process, own);
        assert!(!process.process_command.is_empty());
        let thread = of_thread(rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned());
        assert_eq!((thread.process, thread.process_command), (own, process.process_command));
        assert!(all_threads().contains(&own));
        assert_eq!(attributes(u32::MAX, true), None);
    }
}
