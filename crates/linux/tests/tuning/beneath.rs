//! Nothing outside the root is read or changed, whatever a stranger has put into a capture or into the folder of
//! journals.

use crate::scene::Scene;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use warmcore_linux::Probe;
use warmcore_linux::tuning::{AdmissionOptions, System, admit, steps};

const QUEUES: &str = "sys/class/net/eth0/queues";

/// A file of somebody else's beside the root of `scene`.
fn secret(scene: &Scene) -> PathBuf {
    let path = scene.directory().join("outside/secret");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "theirs\n").unwrap();
    path
}

fn pipe(path: &Path) {
    let _ = fs::remove_file(path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Replaces what stands at `path` by a link to `target`.
fn plant(path: &Path, target: &Path) {
    let _ = fs::remove_file(path);
    symlink(target, path).unwrap();
}

#[test]
fn a_folder_link_out_of_the_root_is_not_written_through() {
    let scene = Scene::new();
    let outside = scene.directory().join("outside");
    let queue = scene.root.join(QUEUES).join("rx-0");
    fs::rename(&queue, &outside).unwrap();
    symlink(&outside, &queue).unwrap();
    let before = fs::read_to_string(outside.join("rps_cpus")).unwrap();
    admit(&crate::scene::plan(), &scene.disk(), &AdmissionOptions::default()).unwrap();
    let refused = steps(&crate::scene::plan(), &scene.disk()).unwrap_err().to_string();
    let expected = "line 4: RPS cpus of eth0 rx-0: cannot read its value: No such file or directory";
    assert!(refused.starts_with(expected), "{refused}");
    assert_eq!(fs::read_to_string(outside.join("rps_cpus")).unwrap(), before);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 2, "nothing was created there");
}

#[test]
fn what_a_killed_change_has_left_is_removed_by_the_next_apply_or_undo_and_nothing_else_is() {
    let scene = Scene::new();
    let secret = secret(&scene);
    let queue = scene.root.join(QUEUES).join("rx-0");
    let left = queue.join(".rps_cpus.1104bf9f6e38305d");
    let of_thread = scene.root.join("proc/4242/task/4242/.status.00000000000000ff");
    let others = [
        ".rps_cpus.1104bf9f6e38305",
        ".rps_cpus.1104bf9f6e38305d0",
        ".rps_cpus.1104BF9F6E38305D",
        "rps_cpus.1104bf9f6e38305d",
        ".ifalias.1104bf9f6e38305d",
    ];
    others.iter().for_each(|name| fs::write(queue.join(name), "theirs").unwrap());
    plant(&queue.join(".rps_cpus.aaaaaaaaaaaaaaaa"), &secret);
    fs::create_dir(queue.join(".rps_cpus.bbbbbbbbbbbbbbbb")).unwrap();
    let before = scene.snapshot();
    let leave = || [&left, &of_thread].map(|file| fs::write(file, "c").unwrap());
    leave();
    scene.apply_through(&scene.disk()).unwrap();
    assert!(!left.exists() && !of_thread.exists(), "apply removes it");
    leave();
    scene.assert_restorable(&before, "undo removes it, and leaves the others");
}

#[test]
fn a_link_planted_where_a_new_file_might_go_is_left_alone() {
    let scene = Scene::new();
    let secret = secret(&scene);
    for name in ["rps_cpus.new", ".rps_cpus.new", "rps_cpus.tmp"] {
        plant(&scene.root.join(QUEUES).join("rx-0").join(name), &secret);
    }
    let before = scene.snapshot();
    scene.apply_through(&scene.disk()).unwrap();
    assert_eq!(scene.read(&format!("{QUEUES}/rx-0/rps_cpus")), "c");
    assert_eq!(fs::read_to_string(&secret).unwrap(), "theirs\n");
    scene.assert_restorable(&before, "links were planted");
    assert_eq!(fs::read_to_string(&secret).unwrap(), "theirs\n");
}

#[test]
fn a_value_behind_a_link_within_the_root_is_changed_and_the_link_is_kept() {
    let scene = Scene::new();
    let value = scene.root.join(QUEUES).join("rx-0/rps_cpus");
    fs::rename(&value, scene.root.join("real")).unwrap();
    plant(&value, Path::new("/real"));
    let before = scene.snapshot();
    scene.apply_through(&scene.disk()).unwrap();
    assert_eq!(scene.read("real"), "c");
    assert!(value.is_symlink());
    scene.assert_restorable(&before, "behind a link");
}

/// Pipes, endless devices, links in a circle and links out of the root are as good as absent files.
#[test]
fn a_probe_reads_regular_files_of_the_root_only() {
    let scene = Scene::new();
    let secret = secret(&scene);
    let name = |scene: &Scene| Probe::new().root(&scene.root).machine().unwrap().machine.name;
    let known = name(&scene);
    let file = scene.root.join("proc/cpuinfo");
    fs::write(&secret, "model name\t: theirs\n").unwrap();
    for target in [secret.as_path(), Path::new("/dev/zero"), Path::new("cpuinfo")] {
        plant(&file, target);
        let found = name(&scene);
        assert!(found != "theirs" && found != known, "{}: {found}", target.display());
        let error = scene.disk().read("proc/cpuinfo").unwrap_err();
        assert!(error.raw_os_error().is_some(), "{error}");
    }
    pipe(&file);
    assert_ne!(name(&scene), known);
    let error = scene.disk().read("proc/cpuinfo").unwrap_err().to_string();
    assert_eq!(error, "it is a pipe, expected a regular file");
}

#[test]
fn nothing_planted_in_the_folder_of_journals_is_followed_or_waited_for() {
    for name in ["active.journal", "active.journal.unfinished", "lock"] {
        for is_pipe in [true, false] {
            let scene = Scene::new();
            let (secret, before) = (secret(&scene), scene.snapshot());
            fs::create_dir(scene.journals.path()).unwrap();
            let path = scene.journals.path().join(name);
            if is_pipe {
                pipe(&path);
            } else {
                plant(&path, &secret);
            }
            let what = if is_pipe { "it is a pipe" } else { "it is a symbolic link" };
            let refused = scene.apply_through(&scene.disk()).unwrap_err();
            let expected = format!("{what}, expected a regular file");
            assert!(refused.contains(&expected), "{name}: {refused}");
            assert_eq!(scene.snapshot(), before, "{name}");
            assert_eq!(fs::read_to_string(&secret).unwrap(), "theirs\n", "{name}");
        }
    }
    // A closed journal takes the place of whatever has its name.
    let scene = Scene::new();
    let (secret, before) = (secret(&scene), scene.snapshot());
    scene.apply_through(&scene.disk()).unwrap();
    plant(&scene.journals.path().join("last.journal"), &secret);
    scene.assert_restorable(&before, "a link has the name of the last journal");
    assert_eq!(fs::read_to_string(&secret).unwrap(), "theirs\n");
}

#[test]
fn a_journal_that_was_left_unfinished_does_not_block() {
    let scene = Scene::new();
    let before = scene.snapshot();
    fs::create_dir(scene.journals.path()).unwrap();
    let unfinished = scene.journals.path().join("active.journal.unfinished");
    fs::write(scene.directory().join("theirs"), "theirs").unwrap();
    fs::hard_link(scene.directory().join("theirs"), &unfinished).unwrap();
    scene.apply_through(&scene.disk()).unwrap();
    scene.assert_restorable(&before, "an unfinished journal was there");
    assert_eq!(fs::read_to_string(scene.directory().join("theirs")).unwrap(), "theirs");
}
