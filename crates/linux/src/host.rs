//! The conditions under which the machine runs, for the provenance of a report. What identifies
//! the machine to others (its name, addresses, serial numbers) is not looked at.

use crate::Probe;
use crate::tree::{Tree, field_of};
use serde::{Deserialize, Serialize};
use warmcore_units::{Bytes, PerSecond};

/// Conditions of a run. Each is `None` where the kernel does not say.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostConditions {
    /// The kernel's release, such as `6.18.44`.
    pub kernel: Option<String>,
    /// All memory the kernel has.
    pub memory: Option<Bytes>,
    /// Whether the machine is a virtual one.
    pub hypervisor: Hypervisor,
    /// Mean number of runnable tasks over the last one, five and fifteen minutes.
    pub load: Option<[f64; 3]>,
    /// What decides the clock rate of the first cpu, such as `performance`.
    pub governor: Option<String>,
    /// The clock rate of the first cpu now, in cycles per second.
    pub clock_rate: Option<PerSecond>,
    /// What the kernel tells the time by, such as `tsc`.
    pub clock_source: Option<String>,
    /// When the kernel backs memory with huge pages.
    pub huge_pages: Option<HugePageMode>,
}

/// Whether there is a hypervisor beneath the kernel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hypervisor {
    /// The processor says there is none.
    Absent,
    /// There is one, of a kind that does not say its name.
    Present,
    /// There is one, and this is what it says it is.
    Named(String),
    /// Nothing says whether there is one.
    Unknown,
}

/// When the kernel backs memory with transparent huge pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HugePageMode {
    /// Wherever it can.
    Always,
    /// Where a program asks for it, as [`Region`](crate::Region) does.
    Madvise,
    /// Nowhere.
    Never,
}

impl Probe {
    /// The conditions the machine runs under.
    #[must_use]
    pub fn host(&self) -> HostConditions {
        let tree = self.tree();
        let cpuinfo = tree.text("proc/cpuinfo").unwrap_or_default();
        HostConditions {
            kernel: tree.text("proc/sys/kernel/osrelease"),
            memory: memory(tree),
            hypervisor: hypervisor(tree, &cpuinfo),
            load: load(tree),
            governor: tree.text("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            clock_rate: clock_rate(tree, &cpuinfo),
            clock_source: tree.text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
            huge_pages: huge_pages(tree),
        }
    }
}

/// `MemTotal: 24684096 kB`.
fn memory(tree: &Tree) -> Option<Bytes> {
    let total = tree.field("proc/meminfo", "MemTotal")?;
    let kib: u64 = total.strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024).map(Bytes)
}

/// Xen and ARM's firmware name their hypervisor; x86 processors have a flag for any.
fn hypervisor(tree: &Tree, cpuinfo: &str) -> Hypervisor {
    let named = ["sys/hypervisor/type", "proc/device-tree/hypervisor/compatible"];
    if let Some(name) = named.iter().find_map(|file| tree.text(file)) {
        return Hypervisor::Named(name.replace('\0', " "));
    }
    match field_of(cpuinfo, "flags") {
        Some(flags) if flags.split_whitespace().any(|flag| flag == "hypervisor") => Hypervisor::Present,
        Some(_) => Hypervisor::Absent,
        None => Hypervisor::Unknown,
    }
}

/// `0.02 0.08 0.03 2/82 4193`.
fn load(tree: &Tree) -> Option<[f64; 3]> {
    let text = tree.text("proc/loadavg")?;
    let mut averages = text.split_whitespace().map(|word| word.parse().ok().filter(|&n: &f64| n.is_finite()));
    Some([averages.next()??, averages.next()??, averages.next()??])
}

/// The scaling driver counts in kHz; without one, x86 gives MHz in `/proc/cpuinfo`.
fn clock_rate(tree: &Tree, cpuinfo: &str) -> Option<PerSecond> {
    let scaled = tree.value::<u64>("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "kHz").ok()?;
    let kilohertz = scaled.map(|kilohertz| kilohertz as f64);
    let megahertz = || field_of(cpuinfo, "cpu MHz")?.parse().ok().map(|megahertz: f64| megahertz * 1e3);
    let rate = PerSecond(kilohertz.or_else(megahertz)? * 1e3);
    (rate.0.is_finite() && rate.0 > 0.0).then_some(rate)
}

/// `always [madvise] never`, the mode in force in brackets.
fn huge_pages(tree: &Tree) -> Option<HugePageMode> {
    let text = tree.text("sys/kernel/mm/transparent_hugepage/enabled")?;
    let bracketed = text.split_whitespace().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'))?;
    match bracketed {
        "always" => Some(HugePageMode::Always),
        "madvise" => Some(HugePageMode::Madvise),
        "never" => Some(HugePageMode::Never),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;
    use warmcore_topology::synthetic;

    #[test]
    fn every_condition_is_read_where_the_kernel_tells() {
        let mut tree = fake::Tree::from_machine(&synthetic::virtual_machine(2));
        tree.put("proc/sys/kernel/osrelease", "6.1.0");
        tree.put("proc/meminfo", "MemTotal:       24684096 kB\nMemFree: 5 kB");
        tree.put("proc/cpuinfo", "cpu MHz\t: 2596.148\nflags\t: fpu vme hypervisor");
        tree.put("proc/loadavg", "0.02 0.08 3.5 2/82 4193");
        tree.put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance");
        tree.put("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc");
        tree.put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
        let expected = HostConditions {
            kernel: Some("6.1.0".to_owned()),
            memory: Some(Bytes::kib(24_684_096)),
            hypervisor: Hypervisor::Present,
            load: Some([0.02, 0.08, 3.5]),
            governor: Some("performance".to_owned()),
            clock_rate: Some(PerSecond(2_596_148_000.0)),
            clock_source: Some("tsc".to_owned()),
            huge_pages: Some(HugePageMode::Madvise),
        };
        assert_eq!(Probe::fake(tree.clone()).host(), expected);

        tree.put("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", 3_000_000);
        tree.put("sys/hypervisor/type", "xen");
        let host = Probe::fake(tree).host();
        assert_eq!(host.clock_rate, Some(PerSecond(3e9)), "the scaling driver knows better");
        assert_eq!(host.hypervisor, Hypervisor::Named("xen".to_owned()));
    }

    #[test]
    fn what_the_kernel_does_not_tell_is_unknown() {
        let host = Probe::fake(fake::Tree::default()).host();
        assert_eq!((host.memory, host.load, host.clock_rate), (None, None, None));
        assert_eq!(host.hypervisor, Hypervisor::Unknown);
        let mut bare = fake::Tree::default();
        bare.put("proc/cpuinfo", "flags : fpu vme\ncpu MHz : inf");
        let host = Probe::fake(bare).host();
        assert_eq!((host.hypervisor, host.clock_rate), (Hypervisor::Absent, None));
    }
}
