//! `warmcore host`: what it shows of hosts we lack and of this one, and what it copies.

mod agreement;
mod fields;
mod trace;

use crate::{ended, failure, folder_with, refusal, text, warmcore};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use warmcore_linux::Probe;
use warmcore_linux::fake::{Tree, hosts};

fn written(tree: &Tree) -> (TempDir, String) {
    let (folder, path) = folder_with("");
    tree.write_to(&path).expect("a tree can be written");
    tree.earlier(10.0).write_to(&path.join("earlier")).expect("a tree can be written");
    (folder, path.to_string_lossy().into_owned())
}

fn shown(arguments: &[&str], folder: &Path) -> String {
    let output = warmcore(&[&["host", "show"], arguments].concat(), folder);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn json(root: &str) -> Value {
    serde_json::from_str(&shown(&["--root", root, "--json"], Path::new("."))).expect("one JSON object")
}

/// What is printed, the wrapping within the cells of tables undone.
fn words(picture: &str) -> String {
    picture.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_picture_says_who_is_on_which_cpu_and_who_will_interfere() {
    for (tree, expected) in [
        (hosts::small_vm(), vec!["eth0 rx-0", "eth0 tx-0", "reader 17%", "virtio_net", "0000:00:03.0"]),
        (
            hosts::balanced(),
            vec![
                "irqbalance runs (process 801",
                "put `IRQBALANCE_ARGS=\"--banirq=24 --banirq=25 --banirq=26",
                "into /etc/default/irqbalance and restart irqbalance.",
                "set to network-latency",
                "CombinedChannels=8",
            ],
        ),
        (hosts::isolated(), vec!["Isolated from the scheduler: cpus 4-7.", "poll-4 on 4", "isolated.slice"]),
        (
            hosts::container(),
            vec!["This process may use cpus 2,5-6 only.", "Read-only: /sys", "/proc/interrupts is hidden"],
        ),
        (
            hosts::hybrid_laptop(),
            vec![
                "4 queues of enp2s0 interrupt E cores (cpus 8-11); the P cores are cpus 0-7.",
                "node 0, core 8 (E)",
                "No reader is known",
            ],
        ),
        (
            hosts::two_socket_server(),
            vec![
                "eth0 rx 0-63",
                "server (2000), 32 busy threads on cpus 0-31",
                "89% of the packets are processed on another node than their readers'",
            ],
        ),
        (hosts::arm_server(), vec!["Nothing is amiss with where packets come in, as far as"]),
        (
            hosts::unplugged(),
            vec!["Offline: cpus 3,5.", "4 interrupts of network interfaces go to cpus 0-2,4"],
        ),
    ] {
        let (_folder, root) = written(&tree);
        let picture = words(&shown(&["--root", &root], Path::new(".")));
        for expected in expected {
            let found = picture.contains(expected) || json(&root).to_string().contains(expected);
            assert!(found, "{expected}: {picture}");
        }
    }
}

#[test]
fn an_interrupt_is_shown_where_it_came_between_two_looks() {
    let mut later = hosts::unplugged().hiding("effective_affinity_list");
    later.put("proc/irq/24/smp_affinity_list", "0-7");
    let mut earlier = later.earlier(10.0);
    earlier.put_interrupt_counts(24, &[9_000_000, 0, 0, 0, 0, 10]);
    later.put_interrupt_counts(24, &[9_000_000, 0, 0, 0, 0, 10_010]);
    let (_folder, path) = folder_with("");
    later.write_to(&path).expect("a tree can be written");
    earlier.write_to(&path.join("earlier")).expect("a tree can be written");
    let root = path.to_string_lossy();
    let picture = words(&shown(&["--root", &root], Path::new(".")));
    assert!(picture.contains("4 interrupts of network interfaces go to cpus 1-2,4,7"), "{picture}");
    assert!(picture.contains("7 node 0, core 7"), "{picture}");
    let all = json(&root);
    assert_eq!(
        (&all["interrupts"][0]["goes_to"], &all["interrupts"][0]["effective"]),
        (&"7".into(), &Value::Null)
    );
}

#[test]
fn an_interface_that_was_made_anew_has_no_rate_and_the_picture_says_so() {
    let (_folder, root) = written(&hosts::small_vm());
    let counted = Path::new(&root).join("earlier/sys/class/net/eth0/statistics/rx_packets");
    fs::write(counted, "3000000000\n").expect("a count can be written");
    let picture = words(&shown(&["--root", &root], Path::new(".")));
    assert!(picture.contains("eth0 counts fewer packets than at the first look"), "{picture}");
    let rate = &json(&root)["rates"]["interfaces"][0];
    assert_eq!((&rate["name"], &rate["received"]), (&"eth0".into(), &Value::Null));
}

#[test]
fn one_hot_queue_is_said_with_its_share_its_cpu_and_what_helps() {
    let mut later = hosts::balanced();
    let mut earlier = later.earlier(10.0);
    for number in 24..32_u32 {
        let count =
            |count| (0..16).map(|cpu| if cpu == number - 24 { count } else { 0 }).collect::<Vec<u64>>();
        earlier.put_interrupt_counts(number, &count(1_000));
        later.put_interrupt_counts(number, &count(if number == 27 { 91_000 } else { 2_000 }));
    }
    for (indirection, expected) in [
        (None, "see `ethtool -x eth0`; `ethtool -X eth0 equal 8` makes it even"),
        (Some("[3, 3, 3, 3, 3, 3, 0, 1]"), "gives that queue 6 of 8 entries: `ethtool -X eth0 equal 8`"),
        (Some("[0, 1, 2, 3, 4, 5, 6, 7]"), "its RSS table is even, so a few connections bring most packets"),
    ] {
        if let Some(table) = indirection {
            later.put("warmcore/ethtool/eth0.toml", format!("indirection = {table}"));
        }
        let (_folder, path) = folder_with("");
        later.write_to(&path).expect("a tree can be written");
        earlier.write_to(&path.join("earlier")).expect("a tree can be written");
        let picture = words(&shown(&["--root", &path.to_string_lossy()], Path::new(".")));
        let hot = "One queue of 8 of eth0, rx 3, takes 93% of the card's packets, so cpu 3 limits";
        assert!(picture.contains(hot) && picture.contains(expected), "{expected}: {picture}");
        assert!(picture.contains("`rps_cpus` of rx-3"), "{picture}");
    }
}

#[test]
fn every_cpu_of_a_reader_is_said_and_the_busiest_programs_where_none_is_known() {
    let mut tree = hosts::two_socket_server();
    for (thread, cpu) in (2000..2008).zip((1..).step_by(3)) {
        let file = format!("proc/2000/task/{thread}/stat");
        let moved = tree.files[&file].replacen(&format!(" 17 {} ", thread - 2000), &format!(" 17 {cpu} "), 1);
        tree.put(file, moved.trim_end());
    }
    let (_folder, root) = written(&tree);
    let picture = words(&shown(&["--root", &root], Path::new(".")));
    assert!(picture.contains("server (2000), 32 busy threads on cpus 1,4,7-"), "{picture}");
    let (_folder, root) = written(&hosts::isolated());
    let picture = words(&shown(&["--root", &root], Path::new(".")));
    assert!(picture.contains("Busiest programs: poll-4 (900), 4 busy threads on cpus 4-7."), "{picture}");
}

#[test]
fn a_large_host_still_fits_a_screen_and_all_of_it_is_in_json() {
    let (_folder, root) = written(&hosts::two_socket_server());
    let picture = shown(&["--root", &root], Path::new("."));
    assert!(picture.lines().count() <= 60, "{picture}");
    assert!(words(&picture).contains("more cpus with less to do are in --json"), "{picture}");
    let all = json(&root);
    assert_eq!(all["machine"]["cpus"].as_array().map(Vec::len), Some(128));
    let first = &all["interrupts"].as_array().expect("interrupts")[8];
    assert_eq!(first["id"]["source"]["pci"], "0000:81:00.0");
    assert_eq!((&first["interface"], &first["queue"]["number"]), (&Value::from("eth0"), &Value::from(0)));
    assert_eq!((&first["allowed"], &first["managed"]), (&Value::from("32"), &Value::from("no")));
    assert_eq!(all["rates"]["elapsed"], 1e10, "a capture holds two looks, ten seconds apart");
}

#[test]
fn a_capture_shows_the_same_picture() {
    for tree in [hosts::small_vm(), hosts::container()] {
        let (folder, root) = written(&tree);
        let output = warmcore(&["host", "capture", "copy", "--root", &root], folder.path());
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("warmcore host show --root copy"));
        let copy = folder.path().join("copy");
        assert_eq!(json(&copy.to_string_lossy()), json(&root));
        assert!(!copy.join("sys/class/net/eth0/address").exists(), "what is not read is not copied");
    }
}

#[test]
fn this_host_is_shown_and_captured() {
    let (_folder, path) = folder_with("");
    assert!(shown(&[], &path).contains("cpus on"));
    assert!(warmcore(&["host", "capture", "first", "--sample", "0.2"], &path).status.success());
    assert!(path.join("first/earlier/proc/uptime").is_file(), "a capture holds two pictures");
    assert!(warmcore(&["host", "capture", "again", "--root", "first"], &path).status.success());
    let [first, again] = ["first", "again"].map(|copy| json(&path.join(copy).to_string_lossy()));
    assert_eq!(first, again);
    assert!(first["processors"].as_array().is_some_and(|cpus| !cpus.is_empty()));
    let error = refusal(&["host", "capture", "first"], &path);
    assert!(error.contains("`first` exists already"), "{error}");
}

#[test]
fn a_host_that_cannot_be_looked_at_is_refused_with_its_file_and_can_be_captured() {
    let mut tree = hosts::small_vm();
    tree.put("proc/softirqs", "nonsense");
    let (folder, root) = written(&tree);
    let error = failure(&["host", "show", "--root", &root], folder.path());
    assert!(error.contains("proc/softirqs` holds `nonsense`, expected a header such as"), "{error}");
    let output = warmcore(&["host", "capture", "copy", "--root", &root], folder.path());
    assert!(output.status.success() && text(&output.stdout).contains("Reading ended early"));
    let error = failure(&["host", "show", "--root", "copy"], folder.path());
    assert!(error.contains("nonsense"), "{error}");
}

#[test]
fn a_page_holds_the_whole_picture_and_is_not_overwritten_unasked() {
    let (folder, root) = written(&hosts::crossed());
    let page = ["--root", &root, "--html", "host.html"];
    assert_eq!(shown(&page, folder.path()), "host.html\n");
    let html = fs::read_to_string(folder.path().join("host.html")).expect("the page is written");
    for expected in
        ["8 interrupts of network interfaces go to cpus 0-1", "ttcp7", "0000:00:17.0/0 eth7-TxRx-0"]
    {
        assert!(html.contains(expected), "{expected}");
    }
    let error = refusal(&[&["host", "show"], &page[..]].concat(), folder.path());
    assert!(error.contains("exists already") && error.contains("--force"), "{error}");
    shown(&[&page[..], &["--force"]].concat(), folder.path());
}

#[test]
fn watching_shows_rates_until_nobody_reads() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warmcore"));
    command.args(["host", "show", "--json", "--watch", "0.05"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the binary can be run");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let mut look = || {
        let line = lines.next().expect("a look").expect("text");
        serde_json::from_str::<Value>(&line).expect("one JSON object a line")
    };
    assert_eq!(look()["rates"], Value::Null, "there is nothing to compare the first with");
    let rates = &look()["rates"];
    assert!(rates["elapsed"].as_f64().is_some_and(|elapsed| elapsed >= 4e7), "{rates}");
    assert!(rates["cpus"].as_array().is_some_and(|cpus| !cpus.is_empty()), "{rates}");
    drop(lines);
    assert!(child.wait().expect("it ends").success(), "a reader that went away is no error");
}

/// A plan of a made-up host is written, admitted as it is, applied, and taken back.
#[test]
fn a_plan_goes_from_the_picture_to_the_host_and_back() {
    let (folder, root) = written(&hosts::crossed());
    let plan = ["host", "plan", "--root", &root, "--profile", "sgi-challenge-xl", "--out", "plan.toml"];
    let output = warmcore(&plan, folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = words(&text(&output.stdout));
    for expected in [
        "RFS flows of eth0 rx-0",
        "packets follow their readers",
        " ± ",
        "% less",
        "host apply plan.toml",
        "Seen within 10.0 s",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert!(refusal(&plan, folder.path()).contains("plan.toml"), "an earlier plan is not overwritten");

    let piped = warmcore(&plan[..6], folder.path());
    assert!(piped.status.success() && words(&text(&piped.stderr)).contains("RFS flows of eth0 rx-0"));
    let written = fs::read_to_string(folder.path().join("plan.toml")).expect("a plan");
    assert_eq!(text(&piped.stdout), written, "the plan alone is on standard output");

    let flows = folder.path().join(&root).join("sys/class/net/eth0/queues/rx-0/rps_flow_cnt");
    let before = fs::read_to_string(&flows).expect("a number");
    let apply = ["host", "apply", "plan.toml", "--yes", "--root", &root, "--journal", "journals"];
    let applied = warmcore(&apply, folder.path());
    assert!(applied.status.success(), "{}", text(&applied.stderr));
    assert_ne!(fs::read_to_string(&flows).expect("a number"), before);
    let undone = warmcore(&["host", "undo", "--journal", "journals"], folder.path());
    assert!(undone.status.success(), "{}", text(&undone.stderr));
    assert_eq!(fs::read_to_string(&flows).expect("a number"), before);
}

#[test]
fn where_there_is_no_plan_the_reason_is_said_and_nothing_is_written() {
    for (tree, flags, expected) in [
        (hosts::container(), vec![], "this is a container"),
        (hosts::bare(), vec![], "no interface with a device"),
        (hosts::small_vm(), vec!["--for", "writer"], "no busy thread of a process or thread named `writer`"),
        (
            hosts::small_vm(),
            vec!["--for", "reader"],
            "packets arrive at 27.7 /s: their work is a small part of one cpu",
        ),
        (hosts::arm_server(), vec![], "nothing to gain"),
        (
            hosts::arm_server(),
            vec!["--nic", "eth9"],
            "no interface `eth9` on this host: expected one of eth0",
        ),
        (hosts::arm_server(), vec!["--goal", "isolation"], "say whose cpus are to be kept free, with --for"),
        (
            hosts::crossed(),
            vec!["--goal", "isolation"],
            "interrupts and threads that are to be apart would take every core",
        ),
        (hosts::crossed(), vec!["--interrupt-cores", "2"], "fewer --interrupt-cores"),
    ] {
        let (folder, root) = written(&tree);
        let plan = [&["host", "plan", "--root", &root, "--out", "plan.toml"], &flags[..]].concat();
        let status = if flags.contains(&"writer") || flags.contains(&"eth9") { 2 } else { 1 };
        let error = words(&ended(&plan, folder.path(), status));
        assert!(error.contains(expected), "{expected}: {error}");
        assert!(!folder.path().join("plan.toml").exists(), "{error}");
    }
}

#[test]
fn without_a_profile_gains_are_unknown_and_the_plan_says_how_to_know() {
    let (folder, root) = written(&hosts::two_socket_server());
    let plan = ["host", "plan", "--root", &root, "--for", "server", "--json"];
    let output = warmcore(&plan, folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let plan: Value = serde_json::from_str(&text(&output.stdout)).expect("one JSON object");
    assert_eq!(plan["now"], Value::Null);
    let unforeseen = plan["unforeseen"].as_str().expect("a reason");
    assert!(
        unforeseen.contains("`warmcore calibrate --path udp-socket` on that host measures one"),
        "{unforeseen}"
    );
    let gains = plan["lines"].as_array().expect("lines").iter().map(|line| line["gain"].as_str());
    let gains: Vec<&str> = gains.flatten().collect();
    assert!(
        gains.len() > 32 && gains.iter().any(|gain| gain.starts_with("unknown: no profile")),
        "{gains:?}"
    );
}

/// The slowest kind of host: 512 cpus and 1,024 interrupts. The limit is for a build with all optimisations on a machine
/// that does nothing else.
#[test]
#[ignore = "takes time, and the machine for itself"]
fn the_largest_host_is_shown_in_half_a_second() {
    let (_folder, root) = written(&hosts::eight_socket_server());
    let show = || {
        let start = Instant::now();
        let picture = shown(&["--root", &root], Path::new("."));
        assert!(picture.contains("512 cpus on 8 NUMA nodes"), "{picture}");
        start.elapsed()
    };
    let mut times: Vec<Duration> = (0..7).map(|_| show()).collect();
    times.sort();
    println!("median {:?}, from {:?} to {:?}", times[3], times[0], times[6]);
    assert!(times[3] < Duration::from_millis(500), "{times:?}");
}

/// A capture that a full disk has cut short passes for none.
#[test]
fn a_capture_that_cannot_be_written_whole_is_not_left_and_one_that_is_not_whole_is_refused() {
    let (folder, path) = folder_with("");
    // A file may have one block, and a longer one is an error instead of a signal.
    let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" host capture copy --example balanced";
    let limited = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_warmcore")])
        .current_dir(&path)
        .output()
        .expect("sh is there");
    let error = text(&limited.stderr);
    assert_eq!(limited.status.code(), Some(1), "{error}");
    assert!(error.contains("cannot write the capture into copy"), "{error}");
    assert_eq!(crate::names(&path), ["mine.toml"]);

    let done = warmcore(&["host", "capture", "copy", "--example", "balanced"], &path);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!(crate::names(&path), ["copy", "mine.toml"]);
    shown(&["--root", "copy"], &path);
    fs::create_dir_all(path.join("copy/warmcore")).expect("a folder");
    fs::write(path.join("copy/warmcore/unfinished"), "").expect("a file");
    for command in [
        &["host", "show", "--root", "copy"][..],
        &["host", "plan", "--root", "copy"],
        &["host", "capture", "another", "--root", "copy"],
    ] {
        let refused = failure(command, folder.path());
        assert!(refused.contains("is not a whole capture") && refused.contains("take it again"), "{refused}");
    }
}

#[test]
fn a_first_look_that_is_a_link_or_a_file_is_refused() {
    let (folder, root) = written(&hosts::small_vm());
    let earlier = Path::new(&root).join("earlier");
    fs::remove_dir_all(&earlier).expect("a folder");
    let refused = |what: &str| {
        for command in [&["host", "capture", "copy", "--root", &root][..], &["host", "show", "--root", &root]]
        {
            let refused = failure(command, folder.path());
            assert!(!folder.path().join("copy").exists(), "nothing is left of a refused copy");
            assert!(
                refused.contains("is not the first look of a capture") && refused.contains(what),
                "{refused}"
            );
        }
    };
    for target in ["/", "."] {
        std::os::unix::fs::symlink(target, &earlier).expect("a link");
        refused("it is a symbolic link, expected a folder");
        fs::remove_file(&earlier).expect("a link");
    }
    fs::write(&earlier, "").expect("a file");
    refused("it is no folder, expected a folder");
}

#[test]
fn both_halves_of_a_capture_are_of_one_host() {
    let (_folder, root) = written(&hosts::small_vm());
    let earlier = Path::new(&root).join("earlier");
    fs::remove_dir_all(&earlier).expect("a folder");
    hosts::two_socket_server().earlier(10.0).write_to(&earlier).expect("a tree can be written");
    let refused = failure(&["host", "show", "--root", &root], Path::new("."));
    assert!(refused.contains("is not at the host of the second: its list of present cpus is"), "{refused}");
}

/// Masks may have cpus that are not plugged in. What they may have is in a capture, so that they can be restored there.
#[test]
fn a_mask_beyond_the_online_cpus_is_given_back_in_a_capture() {
    let mut tree = hosts::steered();
    tree.put("sys/devices/system/cpu/possible", "0-15");
    tree.put("sys/class/net/eth0/queues/rx-0/rps_cpus", "f000");
    let (folder, root) = written(&tree);
    assert!(warmcore(&["host", "capture", "copy", "--root", &root], folder.path()).status.success());
    for set in ["possible", "present"] {
        assert!(folder.path().join("copy/sys/devices/system/cpu").join(set).is_file(), "{set}");
    }
    let plan = "schema = 1\nmachine = { cpus = \"0-7\", nodes = [\"0-7\"], interfaces = [{ name = \"eth0\", driver = \"ice\", \
                receive_queues = 2, transmit_queues = 2 }] }\n[[lines]]\n\
                set = { rps_cpus = { interface = \"eth0\", queue = 0, cpus = \"1\" } }\n";
    fs::write(folder.path().join("plan.toml"), plan).expect("a plan can be written");
    let apply = ["host", "apply", "plan.toml", "--yes", "--root", "copy", "--journal", "journals"];
    for command in [&apply[..], &["host", "undo", "--journal", "journals"]] {
        let output = warmcore(command, folder.path());
        assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
    }
    let mask = fs::read_to_string(folder.path().join("copy/sys/class/net/eth0/queues/rx-0/rps_cpus"));
    assert_eq!(mask.expect("a mask").trim(), "f000");
}

#[test]
fn what_stands_in_place_of_the_interrupts_is_said_by_the_picture_and_by_the_refusal_of_a_plan() {
    let pipe = |file: &Path| assert!(Command::new("mkfifo").arg(file).status().expect("mkfifo").success());
    let large = |file: &Path| {
        fs::File::create(file).and_then(|file| file.set_len(200 << 20)).expect("a sparse file");
    };
    for (plant, why) in [
        (&pipe as &dyn Fn(&Path), "proc/interrupts is not read: it is a pipe, expected a regular file"),
        (&large, "proc/interrupts is not read: it has more than 67108864 bytes"),
    ] {
        let (folder, root) = written(&hosts::small_vm());
        let file = Path::new(&root).join("proc/interrupts");
        fs::remove_file(&file).expect("a table");
        plant(&file);
        let picture = words(&shown(&["--root", &root], Path::new(".")));
        assert!(picture.contains(&format!("Not seen: {why}")), "{picture}");
        let refused = failure(&["host", "plan", "--root", &root], folder.path());
        let refused = words(&refused.replace('│', " "));
        assert!(refused.contains("no plan: ") && refused.contains(why), "{refused}");
    }
}

#[test]
fn control_characters_of_a_host_are_escaped_in_its_page() {
    let mut tree = hosts::small_vm();
    let cpuinfo = tree.files["proc/cpuinfo"].replace("model name\t: ", "model name\t: \x1b[31mred\u{202e}");
    tree.put("proc/cpuinfo", cpuinfo);
    let (folder, root) = written(&tree);
    shown(&["--root", &root, "--html", "page.html"], folder.path());
    let page = fs::read_to_string(folder.path().join("page.html")).expect("a page");
    assert!(page.contains("\\u{1b}[31mred\\u{202e}"), "the name is there");
    assert!(!page.contains(|letter: char| letter.is_control() && !matches!(letter, '\n' | '\t')));
    assert!(!page.contains('\u{202e}'));
}

/// What no plan can be made for is said before the host is watched.
#[test]
fn a_restricted_process_is_refused_before_the_host_is_watched() {
    let online = Probe::new().online().expect("this machine").len();
    if online < 2 {
        return println!("skipped: needs two cpus");
    }
    let program = env!("CARGO_BIN_EXE_warmcore");
    let refused = Command::new("taskset")
        .args(["-c", "0", program, "host", "plan", "--sample", "60"])
        .output()
        .expect("taskset is there");
    let error = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{error}");
    assert!(error.contains("no plan: ") && !error.contains("Watching the host"), "{error}");
}
