//! Inventories of fake hosts, and of this machine.

use proptest::prelude::*;
use std::collections::BTreeSet;
use warmcore_linux::ethtool::{Channels, DriverSettings, Indirection, Napi, Threaded};
use warmcore_linux::fake::{Device, FakeHost, Nic, Tree, hosts};
use warmcore_linux::inventory::{BlindSpot, Direction, Interrupt, Managed, Observation};
use warmcore_linux::{Inventory, Probe, ProbeError, Rates};
use warmcore_topology::{CpuSet, synthetic};
use warmcore_units::{CpuId, Nanos, PerSecond};

fn inventory(tree: &Tree) -> Inventory {
    Probe::fake(tree.clone()).inventory().unwrap_or_else(|error| panic!("{error}"))
}

fn set(list: &str) -> CpuSet {
    list.parse().expect("a list of cpus")
}

fn of_interface<'a>(inventory: &'a Inventory, name: &str) -> Vec<&'a Interrupt> {
    inventory.interrupts.iter().filter(|interrupt| interrupt.interface.as_deref() == Some(name)).collect()
}

fn interface<'a>(inventory: &'a Inventory, name: &str) -> &'a warmcore_linux::inventory::Interface {
    inventory.interfaces.iter().find(|interface| interface.name == name).expect("the interface is there")
}

#[test]
fn a_server_with_64_queues_keeps_them_on_the_node_of_the_nic() {
    let inventory = inventory(&hosts::two_socket_server());
    assert_eq!(inventory.machine.cpus.len(), 128);
    let nic = interface(&inventory, "eth0");
    assert_eq!((nic.node, nic.driver.as_deref(), nic.receive.len()), (Some(1), Some("ice"), 64));
    assert_eq!(nic.near, Some(set("32-63,96-127")));
    let interrupts = of_interface(&inventory, "eth0");
    let served: BTreeSet<(Direction, u32)> = interrupts
        .iter()
        .map(|interrupt| interrupt.queue.expect("a queue"))
        .map(|queue| (queue.direction, queue.number))
        .collect();
    assert_eq!(served, (0..64).map(|queue| (Direction::Both, queue)).collect());
    assert!(interrupts.iter().all(|interrupt| {
        let cpu = interrupt.effective.as_ref().and_then(CpuSet::first).expect("a cpu");
        nic.near.as_ref().is_some_and(|near| near.contains(cpu)) && interrupt.goes_to().first() == Some(cpu)
    }));
    assert_eq!(of_interface(&inventory, "eth1").len(), 8, "`eth1` is not confused with `eth0`");
    let threads: Vec<u32> = inventory.threads.iter().map(|thread| thread.last_cpu.0).collect();
    assert_eq!(threads, (0..32).collect::<Vec<_>>(), "the server runs on the other socket");
    assert_eq!(inventory.cpusets[0].group, "/system.slice/server.service");
}

#[test]
fn managed_interrupts_are_known_by_debugfs_or_by_the_mode_of_their_files() {
    let known = |seen: &Inventory| {
        let managed = |action: &str| {
            let mut found = seen.interrupts.iter().filter(|interrupt| interrupt.id.actions == [action]);
            found.next().expect("the interrupt is there").managed
        };
        assert_eq!(
            [managed("nvme0q0"), managed("nvme0q3"), managed("eth0-TxRx-0")],
            [Managed::No, Managed::Yes, Managed::No]
        );
        assert!(!seen.blind_spots.contains(&BlindSpot::Managed));
    };
    let tree = hosts::storage_server();
    known(&inventory(&tree));
    let tree = tree.hiding("sys/kernel/debug");
    known(&inventory(&tree));

    // A capture keeps the modes, also on a disk.
    let (probe, recording) = Probe::fake(tree.clone()).recorded();
    let seen = probe.inventory().expect("a valid tree");
    known(&inventory(&recording.tree()));
    let folder = tempfile::tempdir().expect("a temporary folder");
    recording.tree().write_to(folder.path()).expect("a tree can be written");
    let copy = Probe::new().root(folder.path()).inventory().expect("a valid copy");
    assert_eq!(copy.interrupts, seen.interrupts);

    let hidden = inventory(&tree.hiding("smp_affinity_list"));
    assert!(hidden.interrupts.iter().all(|interrupt| interrupt.managed == Managed::Unknown));
    assert!(hidden.blind_spots.contains(&BlindSpot::Managed));
}

#[test]
fn an_interrupt_keeps_its_name_when_its_number_changes() {
    let names = |tree: &Tree| -> Vec<String> {
        inventory(tree).interrupts.iter().map(|interrupt| interrupt.id.to_string()).collect()
    };
    let tree = hosts::arm_server();
    let before = names(&tree);
    assert_eq!(before[3], "0000:01:00.0/3 eth0-TxRx-3");
    // Adds 300 to every interrupt number, in the table and in every path.
    let moved = |path: &str| {
        let parts = path.split('/').map(|part| match part.parse::<u32>() {
            Ok(number) => (number + 300).to_string(),
            Err(_) => part.to_owned(),
        });
        parts.collect::<Vec<_>>().join("/")
    };
    let mut after = Tree::default();
    for (file, text) in tree.files {
        let is_table = file == "proc/interrupts";
        let text = if is_table { text.replace("\n 2", "\n32").replace("\n 3", "\n33") } else { text };
        let file = if file.contains("irq") { moved(&file) } else { file };
        after.files.insert(file, text);
    }
    assert_eq!(inventory(&after).interrupts[0].number, 324);
    assert_eq!(names(&after), before);
}

#[test]
fn all_interrupts_of_a_host_have_different_names() {
    for (name, tree) in hosts::ALL {
        let tree = tree();
        let inventory = inventory(&tree);
        let names: BTreeSet<_> = inventory.interrupts.iter().map(|interrupt| &interrupt.id).collect();
        assert_eq!(names.len(), inventory.interrupts.len(), "{name}");
    }
}

#[test]
fn a_container_shows_its_limits_and_blind_spots() {
    let inventory = inventory(&hosts::container());
    assert_eq!(inventory.machine.limits.allowed, set("2,5-6"));
    assert_eq!(inventory.machine.limits.cpu_quota, Some(1.5));
    assert_eq!(inventory.read_only, ["/sys", "/proc/sys"]);
    assert_eq!(inventory.container.len(), 2, "{:?}", inventory.container);
    assert!(inventory.interrupts.is_empty() && inventory.blind_spots.contains(&BlindSpot::Interrupts));
    assert_eq!(inventory.threads[0].allowed, Some(set("2,5-6")));
    assert_eq!(inventory.cpusets[0].cpus, set("2,5-6"));
}

#[test]
fn an_offline_cpu_has_no_column_but_may_be_in_a_mask() {
    let inventory = inventory(&hosts::unplugged());
    assert_eq!(inventory.special_cpus.offline, set("3,5"));
    let cpus: Vec<u32> = inventory.processors.iter().map(|processor| processor.cpu.0).collect();
    assert_eq!(cpus, [0, 1, 2, 4, 6, 7]);
    let third = of_interface(&inventory, "eth0")[2];
    assert_eq!((third.allowed.clone(), third.goes_to().first()), (Some(set("3")), Some(CpuId(2))));
    let fourth = of_interface(&inventory, "eth0")[3];
    assert_eq!(fourth.goes_to().first(), Some(CpuId(4)), "the fourth column is cpu 4");
}

#[test]
fn on_hybrid_cores_interrupts_are_attributed_to_the_right_kind_of_core() {
    let inventory = inventory(&hosts::hybrid_laptop());
    let smt = |cpu: CpuId| {
        inventory.machine.cpus.iter().find(|other| other.id == cpu).map(|c| c.smt_siblings.len())
    };
    let taken: Vec<_> =
        of_interface(&inventory, "enp2s0").iter().filter_map(|i| i.goes_to().first()).map(smt).collect();
    assert_eq!(taken, [Some(1); 4], "all on slow cores, which have one thread");
}

#[test]
fn a_small_virtual_machine_has_one_queue_behind_virtio() {
    let inventory = inventory(&hosts::small_vm());
    let nic = interface(&inventory, "eth0");
    let device = nic.device.as_ref().map(ToString::to_string);
    assert_eq!((device.as_deref(), nic.node), (Some("0000:00:03.0"), None));
    assert_eq!((nic.receive.len(), nic.transmit.len(), &nic.transmit[0].xps), (1, 1, &None));
    let queues: Vec<Option<String>> =
        of_interface(&inventory, "eth0").iter().map(|i| i.queue.map(|queue| queue.to_string())).collect();
    assert_eq!(queues, [None, Some("rx-0".to_owned()), Some("tx-0".to_owned())]);
    assert_eq!(inventory.threads[0].name, "reader");
    assert_eq!(inventory.threads[0].share, Some(600.0 / 3600.0));
    assert!(!interface(&inventory, "lo").is_physical());
}

#[test]
fn running_rivals_are_found() {
    let balanced = inventory(&hosts::balanced());
    let rivals: Vec<(&str, bool)> = balanced.rivals.iter().map(|rival| (rival.name, rival.runs())).collect();
    assert_eq!(rivals, [("irqbalance", true), ("tuned", true)]);
    assert_eq!(balanced.rivals[1].setting.as_deref(), Some("network-latency"));
    assert_eq!(balanced.link_files[0].settings, ["CombinedChannels=8"]);
    assert!(balanced.threads.is_empty(), "they are not busy: {:?}", balanced.threads);
    assert!(inventory(&hosts::small_vm()).rivals.is_empty());
}

#[test]
fn steering_is_read_for_each_queue() {
    let inventory = inventory(&hosts::steered());
    assert_eq!(inventory.rfs_flows, Some(32_768));
    let nic = interface(&inventory, "eth0");
    assert!(nic.receive.iter().all(|queue| queue.rps == Some(set("2-5")) && queue.rfs_flows == Some(16_384)));
    assert_eq!(nic.transmit[1].xps, Some(set("4-7")));
    assert_eq!(nic.transmit[1].xps_receive, Some(vec![1]));
    let third = inventory.by_cpu().nth(2).expect("a third cpu");
    assert_eq!((third.steered.len(), third.sends.len()), (2, 1));
    assert_eq!(third.sends[0].1.number, 0);
    assert!(inventory.by_cpu().nth(7).is_some_and(|cpu| cpu.is_quiet()));
}

#[test]
fn isolated_cpus_are_read_from_the_boot_option_and_from_cpusets() {
    let inventory = inventory(&hosts::isolated());
    assert_eq!(
        (&inventory.special_cpus.isolated, &inventory.special_cpus.nohz_full),
        (&set("4-7"), &set("4-7"))
    );
    assert_eq!(inventory.threads.len(), 4);
    assert!(
        inventory.threads.iter().all(|thread| thread.allowed.as_ref().is_some_and(|cpus| cpus.len() == 1))
    );
    assert_eq!(inventory.cpusets[0].cpus, set("4-7"));
}

#[test]
fn on_the_crossed_host_no_process_runs_on_the_cpu_that_its_nic_interrupts() {
    let inventory = inventory(&hosts::crossed());
    for number in 0..8 {
        let interrupts = of_interface(&inventory, &format!("eth{number}"));
        let process = inventory.threads.iter().find(|thread| thread.name == format!("ttcp{number}"));
        assert_ne!(interrupts[0].goes_to().first(), process.map(|thread| thread.last_cpu), "{number}");
    }
    let cpus: Vec<_> = inventory.by_cpu().collect();
    let of_first: Vec<&str> = cpus[0].threads.iter().map(|thread| thread.name.as_str()).collect();
    assert_eq!(of_first, ["ttcp4", "ttcp5", "ttcp6", "ttcp7"]);
    assert_eq!(cpus[0].interrupts.len(), 4);
}

#[test]
fn a_kernel_that_shows_only_cpus_still_gives_an_inventory() {
    let inventory = inventory(&hosts::bare());
    assert_eq!((inventory.machine.cpus.len(), inventory.interfaces.len()), (2, 0));
    let missing = [BlindSpot::QueuesOfSockets, BlindSpot::Interrupts, BlindSpot::Uptime];
    assert_eq!(inventory.blind_spots, missing);
}

#[test]
fn a_capture_gives_the_same_inventory_and_contains_no_address() {
    for (name, tree) in hosts::ALL {
        let tree = tree();
        let (probe, recording) = Probe::fake(tree.clone()).recorded();
        let seen = probe.inventory().expect("a valid tree");
        let copy = recording.tree();
        assert_eq!(inventory(&copy), seen, "{name}");
        let text: String = copy.files.values().flat_map(|text| text.chars()).collect();
        assert!(!text.contains("02:00:5e") && !text.contains("94000000000000"), "{name}");
    }
}

#[test]
fn a_capture_on_a_disk_is_read_like_one_in_memory() {
    for tree in [hosts::small_vm(), hosts::steered(), hosts::balanced()] {
        let (probe, recording) = Probe::fake(tree).recorded();
        let seen = probe.inventory().expect("a valid tree");
        let folder = tempfile::tempdir().expect("a temporary directory");
        recording.tree().write_to(folder.path()).expect("the copy is written");
        assert_eq!(Probe::new().root(folder.path()).inventory(), Ok(seen));
    }
}

#[test]
fn a_capture_of_this_machine_gives_the_same_inventory() {
    let (probe, recording) = Probe::new().recorded();
    let seen = probe.inventory().expect("this machine can be probed");
    assert!(!seen.processors.is_empty() && seen.uptime.is_some());
    let folder = tempfile::tempdir().expect("a temporary directory");
    recording.tree().write_to(folder.path()).expect("the copy is written");
    assert_eq!(Probe::new().root(folder.path()).inventory(), Ok(seen));
}

/// Returns how many files an inventory of `tree` reads.
fn files_read(tree: Tree) -> usize {
    let (probe, recording) = Probe::fake(tree).recorded();
    probe.inventory().expect("a valid tree");
    recording.tree().files.len()
}

#[test]
fn an_inventory_reads_few_files_and_one_per_idle_process() {
    let large = hosts::two_socket_server();
    let files = files_read(large.clone());
    // 128 cpus with 31 files each, 72 interrupts with 3, 73 queue pairs with 4, 32 threads with 3.
    assert!(files < 5_000, "{files}");
    let mut crowded = large;
    for pid in 10_000..11_000 {
        let stat = crowded.files["proc/2000/stat"].replacen("2000 (server)", &format!("{pid} (idle)"), 1);
        let idle = stat.replacen(" 2880000 0 ", " 0 0 ", 1);
        assert_ne!(idle, stat);
        crowded.put(format!("proc/{pid}/stat"), idle.trim_end());
        crowded.put(format!("proc/{pid}/task/{pid}/stat"), "never read");
    }
    assert_eq!(files_read(crowded), files + 1_000);
}

/// Returns `tree` one second later.
fn a_second_later(mut tree: Tree) -> Tree {
    tree.put("proc/uptime", "3601.00 0.00");
    tree
}

#[test]
fn rates_are_computed_from_two_inventories() {
    let tree = hosts::small_vm();
    let before = inventory(&tree);
    let mut after = a_second_later(tree);
    let table = after.files["proc/interrupts"].replace("     99831", "    100331");
    after.put("proc/interrupts", table.trim_end());
    after.put("proc/softirqs", "CPU0 CPU1\nNET_RX: 0 175544");
    after.put("proc/softnet_stat", "");
    // Its thread has run for 600 s before.
    after.put("proc/stat", "cpu0 0 0 0 360100 0 0 0 0\ncpu1 60030 0 10 300040 0 0 10 10");
    for file in ["proc/700/stat", "proc/700/task/700/stat"] {
        let ran = after.files[file].replace(" 60000 0 ", " 60025 0 ").replace(" 17 1 ", " 17 0 ");
        after.put(file, ran.trim_end());
    }
    let rates = Rates::between(&before, &inventory(&after)).expect("a second has passed");
    assert_eq!(rates.elapsed, Nanos::from_secs(1.0));
    assert_eq!(rates.interrupts.len(), 1, "those that did not come are left out");
    assert_eq!(rates.interrupts[0].id.to_string(), "0000:00:03.0/1 virtio2-input.0");
    assert_eq!(rates.interrupts[0].by_cpu[&CpuId(1)], PerSecond(500.0));
    let cpu = &rates.cpus[1];
    assert_eq!((cpu.busy, cpu.softirq, cpu.stolen), (Some(0.5), Some(0.1), Some(0.1)));
    assert_eq!((cpu.interrupts, cpu.softirqs["NET_RX"]), (PerSecond(500.0), PerSecond(1000.0)));
    let thread = &rates.threads[0];
    assert!((thread.share - 0.25).abs() < 1e-9 && thread.moved && thread.last_cpu == CpuId(0), "{thread:?}");
    assert_eq!(Rates::between(&before, &before), None, "no time has passed");
}

#[test]
fn a_counter_that_wraps_around_or_restarts_gives_a_positive_rate() {
    let with_count = |tree: &Tree, count: &str| {
        let mut tree = tree.clone();
        let table = tree.files["proc/interrupts"].replace("     99831", &format!("{count:>10}"));
        tree.put("proc/interrupts", table.trim_end());
        inventory(&tree)
    };
    let tree = hosts::small_vm();
    let later = a_second_later(tree.clone());
    let rate = |before: &str, after: &str| {
        let rates = Rates::between(&with_count(&tree, before), &with_count(&later, after));
        rates.expect("a second has passed").interrupts[0].rate
    };
    assert_eq!(rate("4294967290", "4"), PerSecond(10.0), "the counter wrapped around at 32 bits");
    assert_eq!(rate("5000", "7"), PerSecond(7.0), "the driver was loaded again");
}

#[test]
fn packets_of_an_interface_that_counts_fewer_than_before_are_unknown() {
    let received = |before: u64, after: u64| {
        let [mut earlier, mut later] = [hosts::small_vm(), a_second_later(hosts::small_vm())];
        let file = "sys/class/net/eth0/statistics/rx_packets";
        earlier.put(file, before);
        later.put(file, after);
        let rates = Rates::between(&inventory(&earlier), &inventory(&later)).expect("a second has passed");
        rates.interfaces.iter().find(|of| of.name == "eth0").expect("it is counted").received
    };
    assert_eq!(received(4_294_967_290, 4_294_967_300), Some(PerSecond(10.0)));
    // As a counter of 32 bits it might have wrapped around.
    assert_eq!(received(4_294_967_290, 4), None);
    assert_eq!(received(2_000_000_000_000_000_000, 1_000_000_000_000_000_000), None);
}

#[test]
fn threads_of_a_process_that_wakes_up_are_read() {
    let tree = hosts::balanced();
    let before = inventory(&tree);
    assert!(before.threads.is_empty());
    let mut after = a_second_later(tree);
    for file in ["proc/801/stat", "proc/801/task/801/stat"] {
        let ran = after.files[file].replace(" 40 0 ", " 90 0 ");
        after.put(file, ran.trim_end());
    }
    let after = Probe::fake(after).inventory_after(&before).expect("a valid tree");
    let rates = Rates::between(&before, &after).expect("a second has passed");
    assert_eq!(rates.threads.len(), 1);
    assert_eq!(rates.threads[0].name, "irqbalance");
    assert!((rates.threads[0].share - 0.5).abs() < 1e-9);
}

#[test]
fn cpus_that_come_or_go_between_two_inventories_are_noticed() {
    let before = inventory(&hosts::unplugged());
    let mut tree = hosts::unplugged();
    tree.put("sys/devices/system/cpu/online", "0-2,4,6");
    tree.put("proc/self/status", "Cpus_allowed_list:\t0-7");
    let after = Probe::fake(tree).inventory_after(&before).expect("a valid tree");
    assert_eq!(after.machine.online(), set("0-2,4,6"));
    assert_eq!(after.processors.len(), 5);
}

#[test]
fn files_that_vanish_meanwhile_are_no_error() {
    let tree = hosts::two_socket_server();
    let all = inventory(&tree);
    let gone = inventory(&tree.clone().hiding("proc/2000/task/2005/"));
    assert_eq!(gone.threads.len(), all.threads.len() - 1);
    let gone = inventory(&tree.clone().hiding("proc/2000/task/2005/status"));
    assert_eq!(gone.threads.iter().filter(|thread| thread.allowed.is_none()).count(), 1);
    let gone = inventory(&tree.clone().hiding("proc/2000/stat"));
    assert!(gone.threads.is_empty());
    let gone = inventory(&tree.clone().hiding("proc/irq/30/"));
    assert!(gone.blind_spots.contains(&BlindSpot::Masks));
    let gone = inventory(&tree.hiding("sys/class/net/eth1/ifindex"));
    assert!(gone.interfaces.iter().all(|interface| interface.name != "eth1"));
}

#[test]
fn a_malformed_file_is_named_in_the_error() {
    for (file, garbage) in [
        ("proc/interrupts", "nonsense"),
        ("proc/irq/24/smp_affinity_list", "x"),
        ("proc/irq/default_smp_affinity", "xyz"),
        ("proc/2000/stat", "nonsense"),
        ("proc/2000/task/2003/status", "Cpus_allowed_list: q"),
        ("proc/softirqs", "nonsense"),
        ("proc/net/softnet_stat", "nonsense"),
        ("proc/uptime", "nan"),
        ("sys/class/net/eth0/queues/rx-5/rps_cpus", "0x5"),
        ("sys/class/net/eth0/queues/tx-5/xps_rxqs", "0x5"),
        ("sys/devices/system/cpu/isolated", "all"),
    ] {
        let mut tree = hosts::two_socket_server();
        tree.put(file, garbage);
        match Probe::fake(tree).inventory() {
            Err(ProbeError::Malformed(error)) => assert_eq!(error.file.to_str(), Some(file)),
            other => panic!("{file}: {:?}", other.map(|_| "an inventory")),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Any contents of a file give an inventory or an error, and no panic.
    #[test]
    fn garbage_in_a_file_causes_no_panic(
        host in prop::sample::select(vec![hosts::small_vm(), hosts::steered(), hosts::balanced()]),
        victim in any::<prop::sample::Index>(),
        garbage in "(\\PC|\n){0,60}",
    ) {
        let mut tree = host;
        let files: Vec<String> = tree.files.keys().cloned().collect();
        tree.put(victim.get(&files), garbage);
        let before = Probe::fake(tree.clone()).inventory();
        if let Ok(before) = before {
            let after = Probe::fake(a_second_later(tree)).inventory_after(&before);
            if let Ok(after) = after {
                let _ = Rates::between(&before, &after);
            }
        }
    }
}

#[test]
fn what_a_driver_says_is_read_from_a_copy_and_names_the_queues_of_interrupts() {
    let mut tree = hosts::two_socket_server();
    let before = inventory(&tree);
    let interrupt = of_interface(&before, "eth0")[3];
    assert_eq!(interrupt.queue.map(|queue| queue.number), Some(3));
    let number = interrupt.number;
    tree.put(
        "proc/interrupts",
        tree.files["proc/interrupts"].replace("eth0-TxRx-3\n", "ice-vector\n").trim_end(),
    );
    assert_eq!(of_interface(&inventory(&tree), "eth0")[3].queue, None, "its name does not tell");
    let settings = format!(
        "[channels]\ncombined = 64\ncombined_max = 128\n\
         [[napi]]\nid = 8200\ninterrupt = {number}\nreceive = [3]\ntransmit = [3]"
    );
    tree.put("warmcore/ethtool/eth0.toml", settings);
    tree.put("sys/class/net/eth0/threaded", 1);
    tree.put("sys/class/net/eth0/gro_flush_timeout", 20000);
    tree.put("sys/class/net/eth0/napi_defer_hard_irqs", 2);
    tree.put("proc/sys/net/core/busy_poll", 50);
    let (probe, recording) = Probe::fake(tree.clone()).recorded();
    let seen = probe.inventory().expect("a valid tree");
    let queue = of_interface(&seen, "eth0")[3].queue.expect("its NAPI instance tells");
    assert_eq!((queue.direction, queue.number), (Direction::Both, 3));
    let nic = interface(&seen, "eth0");
    let channels = nic.driver_settings.as_ref().and_then(|settings| settings.channels).expect("channels");
    assert_eq!((channels.combined, channels.combined_max, channels.receive), (Some(64), Some(128), None));
    assert_eq!(nic.threaded_napi, Some(Threaded::On));
    assert_eq!((nic.gro_flush_timeout, nic.defer_hard_irqs), (Some(20_000), Some(2)));
    assert_eq!((seen.busy_polling.poll, seen.busy_polling.read), (Some(50), None));
    assert_eq!(inventory(&recording.tree()), seen);

    tree.put("warmcore/ethtool/eth0.toml", "[channels]\ncombined = many");
    let error = Probe::fake(tree).inventory().expect_err("a malformed document").to_string();
    assert!(error.contains("warmcore/ethtool/eth0.toml"), "{error}");
}

#[test]
fn what_the_driver_of_a_fake_card_says_is_in_the_inventory_and_its_capture() {
    let settings = DriverSettings {
        channels: Some(Channels { combined: Some(2), combined_max: Some(8), ..Channels::default() }),
        indirection: Some(Indirection(vec![0, 1, 1, 1])),
        napi: vec![Napi { id: 8193, receive: vec![0], transmit: vec![0], ..Napi::default() }],
        ..DriverSettings::default()
    };
    let read = |driver_settings: Option<DriverSettings>| {
        let mut host = FakeHost::new(synthetic::virtual_machine(2));
        host.devices = vec![Device {
            address: "0000:00:03.0".to_owned(),
            driver: "ice".to_owned(),
            node: None,
            virtio: None,
            nic: Some(Nic { name: "eth0".to_owned(), receive: 2, transmit: 2, driver_settings }),
            vectors: Vec::new(),
        }];
        let (probe, recording) = Probe::fake(host.tree()).recorded();
        let seen = probe.inventory().expect("a valid tree");
        assert_eq!(inventory(&recording.tree()), seen);
        interface(&seen, "eth0").driver_settings.clone()
    };
    assert_eq!(read(Some(settings.clone())), Some(settings));
    assert_eq!(read(None), None);
}

/// Rates of two hosts are rates of none.
#[test]
fn two_looks_at_different_hosts_are_refused_with_what_differs() {
    let boot = |tree: &Tree, id: &str| {
        let mut tree = tree.clone();
        tree.put("proc/sys/kernel/random/boot_id", id);
        tree
    };
    let observed = |earlier: Tree, later: Tree| {
        let [earlier, later] = [earlier, later].map(Probe::fake);
        Observation::of_probes(&earlier, &later).map(drop).map_err(|error| error.to_string())
    };
    let vm = hosts::small_vm();
    assert_eq!(observed(boot(&vm.earlier(10.0), "4b1d"), boot(&vm, "4b1d")), Ok(()));
    assert_eq!(observed(vm.earlier(10.0), boot(&vm, "4b1d")), Ok(()), "of older captures it is not known");
    for (earlier, later, what) in [
        (
            boot(&vm.earlier(10.0), "4b1d"),
            boot(&vm, "5c2e"),
            "its id of the boot is 4b1d, and that of the second is 5c2e",
        ),
        (hosts::two_socket_server().earlier(10.0), vm.clone(), "list of present cpus"),
        // Older captures lack that list.
        (hosts::two_socket_server().earlier(10.0).hiding("cpu/present"), vm.clone(), "list of NUMA nodes"),
        (vm.clone(), vm.earlier(10.0), "its uptime is 3600.00 s, and that of the second is 3590.00 s"),
    ] {
        let refused = observed(earlier, later).unwrap_err();
        assert!(refused.contains(what) && refused.contains("in `earlier`"), "{refused}");
    }
}

#[test]
fn an_uptime_that_is_no_time_is_refused_with_its_file() {
    for uptime in ["nan 0", "NaN 0", "inf 0", "-inf", "-5.0 0", "1e300 0", "soon"] {
        let mut tree = hosts::small_vm();
        tree.put("proc/uptime", uptime);
        let refused = Probe::fake(tree).inventory().unwrap_err().to_string();
        let expected = format!("`proc/uptime` holds `{uptime}`, expected a number of seconds");
        assert!(refused.starts_with(&expected), "{refused}");
    }
}

#[test]
fn interrupts_of_one_name_are_told_from_those_that_a_plan_can_name() {
    let mut tree = hosts::small_vm();
    let shared = |tree: &Tree| -> Vec<String> {
        let shared = inventory(tree).interrupts.into_iter().filter(|interrupt| interrupt.shares_name);
        shared.map(|interrupt| interrupt.id.actions.join(",")).collect()
    };
    assert_eq!(shared(&tree), Vec::<String>::new());
    let text = tree.files["proc/interrupts"].replace("virtio2-output.0", "virtio2-input.0");
    tree.files.insert("proc/interrupts".to_owned(), text);
    assert_eq!(shared(&tree), ["virtio2-input.0", "virtio2-input.0"]);
}
