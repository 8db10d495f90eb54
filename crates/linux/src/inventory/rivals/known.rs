//! The programs that are looked for.

use super::OverwrittenSettings;

/// A program to look for.
pub(super) struct KnownRival {
    pub(super) name: &'static str,
    pub(super) changes: &'static str,
    pub(super) undoes: OverwrittenSettings,
    /// Names of its processes, truncated to 15 characters as in the kernel.
    pub(super) processes: &'static [&'static str],
    pub(super) pid_files: &'static [&'static str],
    /// Its systemd units, without `.service`.
    pub(super) units: &'static [&'static str],
    /// A file with its configuration in one word.
    pub(super) setting: Option<&'static str>,
    /// A file, and the line in it by which another program starts it.
    pub(super) switch: Option<(&'static str, &'static str)>,
}

const NOTHING: OverwrittenSettings = OverwrittenSettings { interrupts: false, threads: false };

/// A program with none of the optional traits.
const PLAIN: KnownRival = KnownRival {
    name: "",
    changes: "",
    undoes: NOTHING,
    processes: &[],
    pid_files: &[],
    units: &[],
    setting: None,
    switch: None,
};

pub(super) const KNOWN: &[KnownRival] = &[
    KnownRival {
        name: "irqbalance",
        changes: "moves interrupts between cpus every ten seconds",
        undoes: OverwrittenSettings { interrupts: true, threads: false },
        processes: &["irqbalance"],
        pid_files: &["run/irqbalance.pid", "run/irqbalance/irqbalance.pid"],
        units: &["irqbalance"],
        ..PLAIN
    },
    KnownRival {
        name: "tuned",
        changes: "sets interrupt and thread affinity, and the queues of interfaces, as its profile says",
        undoes: OverwrittenSettings { interrupts: true, threads: true },
        processes: &["tuned"],
        pid_files: &["run/tuned/tuned.pid"],
        units: &["tuned"],
        setting: Some("etc/tuned/active_profile"),
        ..PLAIN
    },
    KnownRival {
        name: "numad",
        changes: "moves processes between NUMA nodes",
        undoes: OverwrittenSettings { interrupts: false, threads: true },
        processes: &["numad"],
        pid_files: &["run/numad.pid"],
        units: &["numad"],
        ..PLAIN
    },
    KnownRival {
        name: "ananicy",
        changes: "changes priorities of processes by their names",
        processes: &["ananicy", "ananicy-cpp"],
        units: &["ananicy", "ananicy-cpp"],
        ..PLAIN
    },
    KnownRival {
        name: "kubelet",
        changes: "gives containers cpusets, and takes cpus away from others",
        processes: &["kubelet"],
        units: &["kubelet"],
        ..PLAIN
    },
    KnownRival {
        name: "dockerd",
        changes: "gives containers cpusets",
        processes: &["dockerd"],
        pid_files: &["run/docker.pid"],
        units: &["docker"],
        ..PLAIN
    },
    KnownRival {
        name: "containerd",
        changes: "gives containers cpusets",
        processes: &["containerd"],
        units: &["containerd"],
        ..PLAIN
    },
    KnownRival {
        name: "libvirtd",
        changes: "pins the threads of virtual machines",
        processes: &["libvirtd", "virtqemud"],
        pid_files: &["run/libvirtd.pid"],
        units: &["libvirtd", "virtqemud"],
        ..PLAIN
    },
    KnownRival {
        name: "google-guest-agent",
        changes: "spreads the interrupts of virtio and gVNIC queues over cpus and sets XPS when it starts, by \
                  google_set_multiqueue",
        processes: &["google_guest_ag"],
        units: &["google-guest-agent", "google-guest-agent-manager"],
        ..PLAIN
    },
    KnownRival {
        name: "google-set-multiqueue",
        changes: "spreads the interrupts of virtio and gVNIC queues over cpus and sets XPS at every boot",
        units: &["google-set-multiqueue"],
        ..PLAIN
    },
    KnownRival {
        name: "redpanda-tuner",
        changes: "sets the cpus of interrupts, RPS, RFS and XPS at every boot",
        units: &["redpanda-tuner"],
        ..PLAIN
    },
    KnownRival {
        name: "mlnx_affinity",
        changes: "sets the cpus of the interrupts of Mellanox cards whenever their drivers are started by openibd",
        switch: Some(("etc/infiniband/openib.conf", "RUN_AFFINITY_TUNER=yes")),
        ..PLAIN
    },
];
