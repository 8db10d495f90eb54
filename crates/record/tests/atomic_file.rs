//! Files appear completely or not at all, and errors say what to do.
//!
//! A case that needs a certain kind of disk runs in a mount namespace of its own, in which this test
//! starts itself again. Where the system does not permit that, the case is skipped and says so.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use warmcore_record::atomic_file::{self, Existing, WriteError};

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory can be made")
}

/// The names in a directory, hidden ones too.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("the directory can be read");
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_new_file_has_the_content_and_ordinary_permissions() {
    let directory = directory();
    let path = directory.path().join("results");
    atomic_file::write(&path, b"all of it", Existing::Refuse).expect("the directory takes a file");
    assert_eq!(fs::read(&path).expect("the file is there"), b"all of it");
    assert_eq!(names(directory.path()), ["results"]);
    let ordinary = directory.path().join("ordinary");
    fs::write(&ordinary, b"").expect("the directory takes a file");
    let mode = |path| fs::metadata(path).expect("the file is there").permissions().mode();
    assert_eq!(mode(&path), mode(&ordinary));
}

#[test]
fn an_existing_file_stays_unless_it_may_be_replaced() {
    let directory = directory();
    let path = directory.path().join("results");
    fs::write(&path, b"earlier").expect("the directory takes a file");
    for refused in
        [atomic_file::write(&path, b"later", Existing::Refuse), atomic_file::check(&path, Existing::Refuse)]
    {
        let error = refused.expect_err("there is a file");
        assert!(matches!(error, WriteError::Exists { .. }), "{error:?}");
        assert!(error.to_string().contains("--force"), "{error}");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
        assert_eq!(fs::read(&path).expect("the file is there"), b"earlier");
    }
    atomic_file::check(&path, Existing::Replace).expect("the file may be replaced");
    assert_eq!(fs::read(&path).expect("the file is there"), b"earlier", "a check changes nothing");
    atomic_file::write(&path, b"later", Existing::Replace).expect("the file may be replaced");
    assert_eq!(fs::read(&path).expect("the file is there"), b"later");
    assert_eq!(names(directory.path()), ["results"]);
}

#[test]
fn a_reader_of_the_earlier_file_still_reads_it() {
    use std::io::Read;
    let directory = directory();
    let path = directory.path().join("results");
    fs::write(&path, b"earlier").expect("the directory takes a file");
    let mut reader = fs::File::open(&path).expect("the file is there");
    atomic_file::write(&path, b"later", Existing::Replace).expect("the file may be replaced");
    let mut seen = String::new();
    reader.read_to_string(&mut seen).expect("the earlier file can be read");
    assert_eq!(seen, "earlier");
}

#[test]
fn a_path_that_is_a_directory_or_lacks_one_is_refused() {
    let directory = directory();
    let error = atomic_file::write(directory.path(), b"", Existing::Replace).expect_err("it is a directory");
    assert!(matches!(error, WriteError::IsDirectory { .. }), "{error:?}");
    let missing = directory.path().join("missing");
    let error =
        atomic_file::check(&missing.join("results"), Existing::Replace).expect_err("no such directory");
    assert!(
        matches!(&error, WriteError::NoDirectory { directory, .. } if *directory == missing),
        "{error:?}"
    );
    let error = atomic_file::write(Path::new("/"), b"", Existing::Replace).expect_err("it is a directory");
    assert!(matches!(error, WriteError::IsDirectory { .. }), "{error:?}");
}

/// Replacing `/dev/null` by a file would break the machine.
#[test]
fn what_is_no_regular_file_is_never_replaced() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    use std::os::unix::net::UnixListener;
    let directory = directory();
    let place = |name: &str| directory.path().join(name);
    let made = Command::new("mkfifo").arg(place("fifo")).status().expect("mkfifo is there");
    assert!(made.success());
    let _listener = UnixListener::bind(place("socket")).expect("a socket can be bound");
    symlink("/dev/full", place("device")).expect("the directory takes a link");
    symlink("fifo", place("link")).expect("the directory takes a link");
    let before = names(directory.path());
    for (name, what) in
        [("fifo", "a FIFO"), ("link", "a FIFO"), ("socket", "a socket"), ("device", "a device")]
    {
        for existing in [Existing::Refuse, Existing::Replace] {
            for refused in [
                atomic_file::check(&place(name), existing),
                atomic_file::write(&place(name), b"later", existing),
            ] {
                let error = refused.expect_err("it is no regular file");
                assert!(matches!(error, WriteError::NotRegular { .. }), "{name}: {error:?}");
                let words = error.to_string();
                assert!(words.contains(what) && !words.contains("--force"), "{words}");
            }
        }
    }
    assert_eq!(names(directory.path()), before);
    let fifo = fs::metadata(place("link")).expect("the FIFO is there");
    assert!(fifo.file_type().is_fifo());
}

/// Runs `setup` and then the test `name` again in a new mount namespace. The test finds the directory in
/// its environment. Prints why if the system does not permit that.
fn in_namespace(name: &str, setup: &str) {
    let directory = directory();
    let program = std::env::current_exe().expect("this test is a program");
    let started = "the case has started";
    let script =
        format!("{setup} && echo '{started}' && exec $WITHOUT \"$PROGRAM\" --exact {name} --nocapture");
    let output = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", &script])
        .env("DISK", directory.path())
        .env("PROGRAM", program)
        .env("WITHOUT", "setpriv --bounding-set -dac_override --inh-caps -dac_override")
        .env("INSIDE", directory.path())
        .output();
    match output {
        Ok(output) if String::from_utf8_lossy(&output.stdout).contains(started) => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned()
                + &String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{said}");
            assert!(said.contains("1 passed"), "{said}");
        }
        Ok(output) => println!("skipped: {}", String::from_utf8_lossy(&output.stderr).trim()),
        Err(error) => println!("skipped: unshare: {error}"),
    }
}

/// The prepared directory if this test runs inside the namespace.
fn inside() -> Option<PathBuf> {
    std::env::var_os("INSIDE").map(PathBuf::from)
}

#[test]
fn a_full_disk_leaves_earlier_results_unchanged() {
    let Some(disk) = inside() else {
        return in_namespace(
            "a_full_disk_leaves_earlier_results_unchanged",
            "mount -t tmpfs -o size=64k tmpfs \"$DISK\" && printf earlier > \"$DISK/results\"",
        );
    };
    let path = disk.join("results");
    let error = atomic_file::write(&path, &[7; 200_000], Existing::Replace).expect_err("the disk is full");
    assert!(matches!(error, WriteError::Full { bytes: 200_000, .. }), "{error:?}");
    assert!(error.to_string().contains("free some space"), "{error}");
    assert_eq!(fs::read(&path).expect("the earlier file is there"), b"earlier");
    assert_eq!(names(&disk), ["results"]);
}

#[test]
fn a_read_only_file_system_is_named() {
    let Some(disk) = inside() else {
        return in_namespace("a_read_only_file_system_is_named", "mount -t tmpfs -o ro tmpfs \"$DISK\"");
    };
    let error =
        atomic_file::check(&disk.join("results"), Existing::Replace).expect_err("nothing can be written");
    assert!(matches!(error, WriteError::ReadOnly { .. }), "{error:?}");
}

#[test]
fn a_directory_without_permission_is_named() {
    let Some(disk) = inside() else {
        return in_namespace(
            "a_directory_without_permission_is_named",
            "mount -t tmpfs tmpfs \"$DISK\" && chmod 555 \"$DISK\"",
        );
    };
    let error = atomic_file::write(&disk.join("results"), b"", Existing::Refuse).expect_err("no permission");
    assert!(matches!(&error, WriteError::Denied { directory, .. } if *directory == disk), "{error:?}");
    assert!(names(&disk).is_empty());
}
