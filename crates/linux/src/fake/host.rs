//! A fake machine with devices, interrupts and threads.

use super::interrupts::InterruptTable;
use super::processes::{self, Thread};
use super::{Cgroup, Tree};
use crate::ethtool::{self, DriverSettings};
use std::collections::BTreeMap;
use warmcore_topology::{CpuSet, Machine};
use warmcore_units::CpuId;

/// A fake host whose `/proc` and `/sys` files can be written.
#[derive(Clone, PartialEq, Debug)]
pub struct FakeHost {
    /// Its cpus, caches and limits.
    pub machine: Machine,
    /// The generation of control groups.
    pub cgroup: Cgroup,
    /// Its devices, in order of address.
    pub devices: Vec<Device>,
    /// How the kernel names the interrupts of devices.
    pub interrupt_naming: InterruptNaming,
    /// Whether debugfs shows which interrupts are managed.
    pub debugfs: bool,
    /// Threads other than that of the probing process.
    pub threads: Vec<Thread>,
    /// Its uptime in seconds.
    pub uptime: u64,
}

/// How the kernel names the interrupts that devices send as messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InterruptNaming {
    /// By device and vector: `PCI-MSIX-0000:00:03.0   1-edge`.
    ByDevice,
    /// By one number for both, as older kernels do: `ITS-MSI 524289 Edge`.
    ByNumber,
}

/// A device on the PCI bus that sends its interrupts as messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Device {
    /// Its PCI address, such as `0000:3b:00.0`.
    pub address: String,
    /// Its driver.
    pub driver: String,
    /// The NUMA node it is nearest to; `None` where firmware does not say.
    pub node: Option<u32>,
    /// Its number as a virtio device, if it is one.
    pub virtio: Option<u32>,
    /// Its network interface.
    pub nic: Option<Nic>,
    /// Its interrupts.
    pub vectors: Vec<Vector>,
}

/// A network interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Nic {
    /// Its name.
    pub name: String,
    /// How many receive queues it has.
    pub receive: u32,
    /// How many transmit queues it has.
    pub transmit: u32,
    /// What its driver says, as a capture has it; `None` if it says nothing.
    pub driver_settings: Option<DriverSettings>,
}

/// An interrupt of a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vector {
    /// The name of its action.
    pub action: String,
    /// The cpus it may go to.
    pub allowed: CpuSet,
    /// The cpu that handles it, and has handled it from the start.
    pub effective: CpuId,
    /// How often it came.
    pub count: u64,
    /// Whether the kernel manages its placement.
    pub managed: bool,
}

/// Writes `cpus` as a kernel mask: words of 32 bits, the highest first.
#[must_use]
pub fn mask(cpus: &CpuSet) -> String {
    let words = cpus.iter().map(|cpu| cpu.0 / 32).max().unwrap_or(0);
    let word = |place: u32| {
        let bits = cpus.iter().filter(|cpu| cpu.0 / 32 == place).map(|cpu| 1_u32 << (cpu.0 % 32));
        format!("{:08x}", bits.sum::<u32>())
    };
    (0..=words).rev().map(word).collect::<Vec<_>>().join(",")
}

impl FakeHost {
    /// Creates a host with no devices and no threads, an hour after boot.
    #[must_use]
    pub fn new(machine: Machine) -> Self {
        Self {
            machine,
            cgroup: Cgroup::V2,
            devices: Vec::new(),
            interrupt_naming: InterruptNaming::ByDevice,
            debugfs: false,
            threads: Vec::new(),
            uptime: 3600,
        }
    }

    /// Writes its files.
    #[must_use]
    pub fn tree(&self) -> Tree {
        let mut tree = Tree::with_cgroup(&self.machine, self.cgroup);
        tree.put("proc/uptime", format!("{}.00 0.00", self.uptime));
        tree.put("proc/irq/default_smp_affinity", mask(&self.machine.online()));
        tree.put("proc/sys/net/core/rps_sock_flow_entries", 0);
        tree.put("proc/net/sockstat", "sockets: used 9\nTCP: inuse 4 orphan 0\nUDP: inuse 1 mem 0");
        self.put_interrupts(&mut tree);
        self.put_counts(&mut tree);
        for (index, device) in self.devices.iter().enumerate() {
            self.put_device(&mut tree, device, index + 2);
        }
        put_interface(&mut tree, "lo", 1, 1, 1);
        processes::put(&mut tree, &self.threads, self.cgroup, &self.machine.limits.allowed);
        tree
    }

    /// Returns every vector with its interrupt number, its device and its index there.
    fn numbered(&self) -> impl Iterator<Item = (u32, &Device, usize, &Vector)> {
        const FIRST: u32 = 24;
        let vectors = self.devices.iter().flat_map(|device| {
            device.vectors.iter().enumerate().map(move |(place, vector)| (device, place, vector))
        });
        (FIRST..).zip(vectors).map(|(number, (device, place, vector))| (number, device, place, vector))
    }

    fn put_interrupts(&self, tree: &mut Tree) {
        let cpus: Vec<CpuId> = self.machine.cpus.iter().map(|cpu| cpu.id).collect();
        let mut text = InterruptTable::new(&cpus);
        for (number, device, place, vector) in self.numbered() {
            let count = |&cpu: &CpuId| if cpu == vector.effective { vector.count } else { 0 };
            let counts: Vec<u64> = cpus.iter().map(count).collect();
            let (chip, input, trigger) = self.chip(device, place);
            text.line(
                number,
                &counts,
                &chip,
                (Some(input), Some(trigger)),
                std::slice::from_ref(&vector.action),
            );
            let allowed = format!("proc/irq/{number}/smp_affinity_list");
            if vector.managed {
                tree.read_only.insert(allowed.clone());
            }
            tree.put(allowed, &vector.allowed);
            tree.put(format!("proc/irq/{number}/effective_affinity_list"), vector.effective.0);
            tree.put(format!("sys/kernel/irq/{number}/actions"), &vector.action);
            tree.put(format!("sys/bus/pci/devices/{}/msi_irqs/{number}", device.address), "msix");
            if self.debugfs {
                let managed = if vector.managed { "\n            IRQD_AFFINITY_MANAGED" } else { "" };
                let text =
                    format!("handler:  handle_edge_irq\ndstate:   0x1\n            IRQD_ACTIVATED{managed}");
                tree.put(format!("sys/kernel/debug/irq/irqs/{number}"), text);
            }
        }
        text.special("NMI", &vec![0; cpus.len()], "Non-maskable interrupts");
        text.special("LOC", &vec![self.uptime * 100; cpus.len()], "Local timer interrupts");
        text.special("RES", &vec![self.uptime; cpus.len()], "Rescheduling interrupts");
        text.special("ERR", &[0], "");
        tree.put("proc/interrupts", text.to_string().trim_end());
    }

    fn chip(&self, device: &Device, place: usize) -> (String, u64, &'static str) {
        match self.interrupt_naming {
            InterruptNaming::ByDevice => (format!("PCI-MSIX-{}", device.address), place as u64, "edge"),
            InterruptNaming::ByNumber => {
                let position = self.devices.iter().position(|other| other == device).unwrap_or(0);
                ("ITS-MSI".to_owned(), (position as u64) << 19 | place as u64, "Edge")
            }
        }
    }

    /// Writes what each cpu did: it ran the threads that ran on it last, and received the packets whose interrupt it
    /// handled, in no time.
    fn put_counts(&self, tree: &mut Tree) {
        let mut received: BTreeMap<CpuId, u64> = BTreeMap::new();
        for (_, _, _, vector) in self.numbered().filter(|(_, device, _, _)| device.nic.is_some()) {
            *received.entry(vector.effective).or_default() += vector.count;
        }
        let received_on = |cpu: CpuId| received.get(&cpu).copied().unwrap_or(0);
        let cpus: Vec<CpuId> = self.machine.cpus.iter().map(|cpu| cpu.id).collect();
        let columns = |text: &dyn Fn(CpuId) -> String| cpus.iter().map(|&cpu| text(cpu)).collect::<String>();
        let header = columns(&|cpu| format!("CPU{:<8}", cpu.0));
        let softirqs = columns(&|cpu| format!(" {:>10}", received_on(cpu)));
        tree.put("proc/softirqs", format!("        {header}\n      NET_RX:{softirqs}"));
        let softnet =
            |cpu: CpuId| format!("{:08x} {} {:08x}\n", received_on(cpu), ["00000000"; 11].join(" "), cpu.0);
        tree.put("proc/net/softnet_stat", columns(&softnet).trim_end());
        let ticks = self.uptime * 100;
        let ran_on = |cpu: CpuId| {
            let threads = self.threads.iter().filter(|thread| thread.last_cpu == cpu);
            threads.map(|thread| thread.ticks).sum::<u64>().min(ticks)
        };
        let times = columns(&|cpu| {
            let ran = ran_on(cpu);
            format!("cpu{} {ran} 0 0 {} 0 0 0 0 0 0\n", cpu.0, ticks - ran)
        });
        tree.put("proc/stat", times.trim_end());
    }

    fn put_device(&self, tree: &mut Tree, device: &Device, index: usize) {
        let directory = format!("sys/bus/pci/devices/{}", device.address);
        let node = device.node.map_or("-1".to_owned(), |node| node.to_string());
        let near: CpuSet = match device.node {
            Some(node) => self.machine.cpus.iter().filter(|cpu| cpu.node == node).map(|cpu| cpu.id).collect(),
            None => self.machine.online(),
        };
        tree.put(format!("{directory}/numa_node"), &node);
        tree.put(format!("{directory}/local_cpulist"), &near);
        let Some(nic) = &device.nic else { return };
        let parent = match device.virtio {
            Some(number) => format!("{directory}/virtio{number}"),
            None => directory,
        };
        tree.put(format!("{parent}/net/{}/ifindex", nic.name), index);
        put_interface(tree, &nic.name, index, nic.receive, nic.transmit);
        if let Some(settings) = &nic.driver_settings {
            let text = toml::to_string(settings).expect("plain values can be written");
            tree.put(ethtool::file(&nic.name), text.trim_end());
        }
        let sends = |vector: &&Vector| vector.action.contains("output");
        let received: u64 =
            device.vectors.iter().filter(|vector| !sends(vector)).map(|vector| vector.count).sum();
        tree.put(format!("sys/class/net/{}/statistics/rx_packets", nic.name), received);
        tree.put(format!("sys/class/net/{}/device/uevent", nic.name), format!("DRIVER={}", device.driver));
    }
}

fn put_interface(tree: &mut Tree, name: &str, index: usize, receive: u32, transmit: u32) {
    let directory = format!("sys/class/net/{name}");
    tree.put(format!("{directory}/ifindex"), index);
    tree.put(format!("{directory}/operstate"), if name == "lo" { "unknown" } else { "up" });
    tree.put(format!("{directory}/address"), "02:00:5e:00:53:01");
    for queue in 0..receive {
        tree.put(format!("{directory}/queues/rx-{queue}/rps_cpus"), "0");
        tree.put(format!("{directory}/queues/rx-{queue}/rps_flow_cnt"), 0);
    }
    for queue in 0..transmit {
        tree.put(format!("{directory}/queues/tx-{queue}/xps_rxqs"), "0");
        if transmit > 1 {
            tree.put(format!("{directory}/queues/tx-{queue}/xps_cpus"), "0");
        }
    }
}
