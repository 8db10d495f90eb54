//! The conditions under which the machine runs, for the provenance of a report. Nothing that
//! identifies the machine (host name, addresses, serial numbers) is read.

use crate::Probe;
use crate::tree::{Tree, field_of};
use serde::{Deserialize, Serialize};
use warmcore_units::{Bytes, PerSecond};

/// The conditions of a run. A field is `None` where the kernel does not report it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostConditions {
    /// The kernel's release, such as `6.18.44`.
    pub kernel: Option<String>,
    /// The total memory.
    pub memory: Option<Bytes>,
    /// Whether the machine is virtual.
    pub hypervisor: Hypervisor,
    /// Mean number of runnable tasks over the last one, five and fifteen minutes.
    pub load: Option<[f64; 3]>,
    /// The frequency governor of the first cpu, such as `performance`.
    pub governor: Option<String>,
    /// The current clock rate of the first cpu, in cycles per second.
    pub clock_rate: Option<PerSecond>,
    /// The kernel's clock source, such as `tsc`.
    pub clock_source: Option<String>,
    /// When the kernel backs memory with huge pages.
    pub huge_pages: Option<HugePageMode>,
}

/// Whether the kernel runs under a hypervisor.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hypervisor {
    /// No: the processor reports none.
    Absent,
    /// Yes, of an unknown kind.
    Present,
    /// Yes, of this kind.
    Named(String),
    /// The kernel does not report it.
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
    /// Reads the conditions the machine runs under.
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

/// Xen and ARM firmware name the hypervisor; x86 processors only have a flag.
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

/// Reads the rate from the scaling driver (kHz), or on x86 without one from `/proc/cpuinfo` (MHz).
fn clock_rate(tree: &Tree, cpuinfo: &str) -> Option<PerSecond> {
    let scaled = tree.value::<u64>("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "kHz").ok()?;
    let kilohertz = scaled.map(|kilohertz| kilohertz as f64);
    let megahertz = || field_of(cpuinfo, "cpu MHz")?.parse().ok().map(|megahertz: f64| megahertz * 1e3);
    let rate = PerSecond(kilohertz.or_else(megahertz)? * 1e3);
    (rate.0.is_finite() && rate.0 > 0.0).then_some(rate)
}

/// Parses `always [madvise] never`, where the current mode is in brackets.
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
    fn every_condition_is_read_where_the_kernel_reports_it() {
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
        assert_eq!(host.clock_rate, Some(PerSecond(3e9)), "the scaling driver takes precedence");
        assert_eq!(host.hypervisor, Hypervisor::Named("xen".to_owned()));
    }

    #[test]
    fn conditions_that_the_kernel_hides_are_unknown() {
        let host = Probe::fake(fake::Tree::default()).host();
        assert_eq!((host.memory, host.load, host.clock_rate), (None, None, None));
        assert_eq!(host.hypervisor, Hypervisor::Unknown);
        let mut bare = fake::Tree::default();
        bare.put("proc/cpuinfo", "flags : fpu vme\ncpu MHz : inf");
        let host = Probe::fake(bare).host();
        assert_eq!((host.hypervisor, host.clock_rate), (Hypervisor::Absent, None));
    }
}
