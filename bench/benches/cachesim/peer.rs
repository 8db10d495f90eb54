//! valgrind's cachegrind on a whole program, compared with a trace of the same program through the same caches.

use crate::{build, quartiles, traces};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use warmcore_cachesim::{CacheDescription, Description, Nothing, Reference, Straddling};
use warmcore_topology::{Cache, CacheKind, Geometry};
use warmcore_units::{Bytes, CpuId, Cycles};

/// What the times mean.
const STEPS: [&str; 4] = ["cachegrind, whole", "recording by lackey", "reading the record", "the caches"];

/// Runs both `rounds` times and prints a table. Returns valgrind's version.
///
/// # Errors
/// Why it cannot be done.
pub(crate) fn compare(rounds: usize) -> Result<String, String> {
    let version = Command::new("valgrind").arg("--version").output();
    let version = version.map_err(|error| format!("valgrind cannot be started: {error}"))?;
    let record = record_file()?;
    let mut seconds: [Vec<f64>; 4] = Default::default();
    let mut references = 0;
    for _ in 0..rounds {
        let caches = "--I1=32768,8,64 --D1=32768,8,64 --LL=1048576,16,64 --cachegrind-out-file=/dev/null";
        let of_cachegrind = valgrind("cachegrind", caches.split(' '))?;
        let of_lackey = lackey(&record)?;
        let start = Instant::now();
        let text = std::fs::read_to_string(&record).map_err(|error| error.to_string())?;
        let trace = traces::recorded(&text);
        let read = start.elapsed().as_secs_f64();
        let mut caches = build(&same_caches(), Nothing);
        let start = Instant::now();
        caches.run(CpuId(0), &trace);
        let simulated = start.elapsed().as_secs_f64();
        references = trace.len();
        for (all, one) in seconds.iter_mut().zip([of_cachegrind, of_lackey, read, simulated]) {
            all.push(one);
        }
    }
    std::fs::remove_file(&record).map_err(|error| error.to_string())?;
    println!("gzip --stdout Cargo.lock, {references} references, 32 KiB and 1 MiB, {rounds} rounds: seconds");
    for (name, seconds) in STEPS.iter().zip(&seconds) {
        print(name, seconds);
    }
    println!("times as long as cachegrind's whole run");
    let ratio = |steps: &[usize]| -> Vec<f64> {
        (0..rounds)
            .map(|round| steps.iter().map(|&step| seconds[step][round]).sum::<f64>() / seconds[0][round])
            .collect()
    };
    print("the caches, from a trace in memory", &ratio(&[3]));
    print("reading a record too", &ratio(&[2, 3]));
    print("recording it too", &ratio(&[1, 2, 3]));
    println!();
    Ok(String::from_utf8_lossy(&version.stdout).trim().trim_start_matches("valgrind-").to_owned())
}

/// The references of the program.
///
/// # Errors
/// Why they cannot be recorded.
pub(crate) fn record() -> Result<Vec<Reference>, String> {
    let record = record_file()?;
    lackey(&record)?;
    let text = std::fs::read_to_string(&record).map_err(|error| error.to_string())?;
    std::fs::remove_file(&record).map_err(|error| error.to_string())?;
    Ok(traces::recorded(&text))
}

fn record_file() -> Result<PathBuf, String> {
    let folder = warmcore_bench::results::target().join("bench");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder.join("lackey.txt"))
}

fn lackey(record: &Path) -> Result<f64, String> {
    let log = format!("--log-file={}", record.display());
    valgrind("lackey", ["--trace-mem=yes", &log])
}

fn print(name: &str, values: &[f64]) {
    let [low, median, high] = quartiles(values.to_vec());
    println!("  {name:<40} {median:>8.4} [{low:.4}, {high:.4}]");
}

/// Runs gzip under a tool. Returns how long it took.
fn valgrind<'a>(tool: &str, options: impl IntoIterator<Item = &'a str>) -> Result<f64, String> {
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
    let start = Instant::now();
    let status = Command::new("valgrind")
        .arg(format!("--tool={tool}"))
        .args(options)
        .args(["/bin/gzip", "--stdout"])
        .arg(input)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Ok(start.elapsed().as_secs_f64()),
        Ok(status) => Err(format!("{tool}: {status}")),
        Err(error) => Err(format!("valgrind cannot be started: {error}")),
    }
}

fn same_caches() -> Description {
    let cache = |level, kind, kib, ways| {
        let geometry = Geometry { size: Bytes::kib(kib), line: Bytes(64), ways };
        let shared_by = [CpuId(0)].into_iter().collect();
        CacheDescription::new(&Cache { level, kind, geometry, shared_by }, Cycles(1))
    };
    Description {
        name: "as cachegrind's".to_owned(),
        caches: vec![
            cache(1, CacheKind::Instruction, 32, 8),
            cache(1, CacheKind::Data, 32, 8),
            cache(2, CacheKind::Unified, 1024, 16),
        ],
        memory: Cycles(1),
        straddling: Straddling::Whole,
        seed: 0,
    }
}
