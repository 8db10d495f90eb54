//! Compares `warmcore transfer` with iperf3 on the same virtual wires: bits per busy cpu-second. Both use two
//! connections, each between two processes, and take turns in blocks. Warmcore runs twice in each block: the
//! A/A difference is the noise floor.
//!
//! The bytes moved by iperf3 are those that its wires received; less than 0.2% of them are headers.

use std::error::Error;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::Duration;
use warmcore_bench::Provenance;
use warmcore_linux::counters::{Counters, Kernel};
use warmcore_linux::net::{Namespace, privilege_missing};
use warmcore_linux::{CpuUsage, Meter, affinity};
use warmcore_measure::Model;
use warmcore_measure::blocks::{BlockDesign, BlockRun};
use warmcore_measure::transfer::{
    Controller, Direction, Ends, Load, Network, Site, TransferOptions, WARM_UP, run, serve_end,
};
use warmcore_stats::Spread;
use warmcore_stats::blocks::{ChangeVerdict, verdict};
use warmcore_stats::paired::change;
use warmcore_units::{Bytes, CpuId};

const CONNECTIONS: u8 = 2;
const SIZE: Bytes = Bytes::kib(64);
const WINDOW: Duration = Duration::from_secs(2);
const BLOCKS: BlockDesign = BlockDesign { count: 8, max_foreign: 0.05, repeats: 2 };

/// The alternatives of a block. 128 KiB is iperf3's default write size.
const ALTERNATIVES: [&str; 4] = ["warmcore", "iperf3, 64 KiB", "iperf3, 128 KiB", "warmcore again"];

type Failure = Box<dyn Error>;

fn main() -> Result<ExitCode, Failure> {
    if std::env::args().nth(1).as_deref() == Some("end") {
        serve_end(io::stdin().lock(), io::stdout().lock(), Controller::Local)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(missing) = privilege_missing() {
        println!("skipped: needs {missing}");
        return Ok(ExitCode::SUCCESS);
    }
    let version = Command::new("iperf3")
        .arg("--version")
        .output()
        .map_err(|error| format!("cannot run iperf3 ({error}): `make bench-transfer` installs it"))?;
    let mut provenance = Provenance::read(&[]);
    let version = String::from_utf8_lossy(&version.stdout);
    provenance.add("iperf3", version.split_whitespace().nth(1).unwrap_or("unknown"));
    let (efficiencies, is_quiet) = measured()?;
    provenance.finish();
    provenance.print();
    Ok(report(&efficiencies, is_quiet))
}

/// Bits per busy cpu-second by alternative and block, and whether most runs were undisturbed by other programs.
fn measured() -> Result<(Vec<Vec<f64>>, bool), Failure> {
    let options = options()?;
    let site = Site::Lab(Network::new(CONNECTIONS, true)?);
    let Site::Lab(network) = &site else { unreachable!("the site is a lab") };
    let stop = AtomicBool::new(false);
    let mut counters = Counters::open(&Kernel::default(), &options.cpus);
    let once = |alternative: usize| match alternative {
        1 => iperf3(network, &options.cpus, "64K"),
        2 => iperf3(network, &options.cpus, "128K"),
        _ => {
            let (outcome, spent) = run(&options, &site, &mut counters, Model::None, &stop)?;
            Ok((outcome.bytes.iter().sum::<u64>(), spent))
        }
    };
    let tried = BLOCKS.run::<_, Failure>(ALTERNATIVES.len(), &stop, once);
    let tried = tried.map_err(|error| error.to_string())?;
    let disturbed = tried.iter().flatten().filter(|run| run.disturbed).count();
    let all = BLOCKS.count * ALTERNATIVES.len();
    println!("{disturbed} of {all} runs were disturbed by other programs and are included");
    let efficiency = |run: &BlockRun<u64>| run.outcome as f64 * 8.0 / run.spent.busy.secs();
    let efficiencies = tried.iter().map(|runs| runs.iter().map(efficiency).collect()).collect();
    Ok((efficiencies, disturbed * 2 <= all))
}

fn options() -> Result<TransferOptions, Failure> {
    let options = TransferOptions {
        connections: CONNECTIONS,
        cpus: affinity::mask()?.iter().collect(),
        ends: Ends::Processes(vec![std::env::current_exe()?.into(), "end".into()]),
        load: Load { direction: Direction::Transmit, size: SIZE, rate: None },
        models: vec![Model::None],
        window: WINDOW,
        blocks: BLOCKS,
    };
    options.check()?;
    Ok(options)
}

/// The bytes that iperf3 moves in a window, and the processor time used. iperf3 is killed while it still sends,
/// so its complaints on stderr are discarded.
fn iperf3(network: &Network, cpus: &[CpuId], size: &str) -> Result<(u64, CpuUsage), Failure> {
    let mut programs = Programs(Vec::new());
    for link in &network.links {
        let address = link.far.address.to_string();
        let server = programs.start(&network.far, &["-s", "-1", "--forceflush", "-B", &address])?;
        wait_listening(server)?;
        let seconds = (WINDOW + WARM_UP * 10).as_secs_f64().ceil().to_string();
        programs.start(&network.near, &["-c", &address, "-l", size, "-t", &seconds])?;
    }
    // The client negotiates with its server before it sends.
    sleep(WARM_UP * 3);
    let pids: Vec<u32> = programs.0.iter().map(Child::id).collect();
    let before = received(network)?;
    let meter = Meter::start(cpus, &pids);
    sleep(WINDOW);
    let spent = meter.stop();
    Ok((received(network)? - before, spent))
}

/// Child processes that are killed when this is dropped.
struct Programs(Vec<Child>);

impl Programs {
    fn start(&mut self, inside: &Namespace, arguments: &[&str]) -> Result<&mut Child, Failure> {
        let mut command = Command::new("iperf3");
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        self.0.push(inside.spawn(&mut command)??);
        Ok(self.0.last_mut().expect("it was just put there"))
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        for program in &mut self.0 {
            let _ = program.kill();
            let _ = program.wait();
        }
    }
}

/// Waits until an iperf3 server reports that it is listening. Its later output is not read, and fits the pipe.
fn wait_listening(server: &mut Child) -> Result<(), Failure> {
    let output = server.stdout.as_mut().ok_or("the output of iperf3 is not piped")?;
    let mut lines = BufReader::new(output).lines();
    let listening = lines.any(|line| line.is_ok_and(|line| line.contains("listening")));
    if listening { Ok(()) } else { Err("the iperf3 server exited before it listened".into()) }
}

/// Bytes that the far ends of all wires have received.
fn received(network: &Network) -> Result<u64, Failure> {
    let table = network.far.run(|| fs::read_to_string("/proc/thread-self/net/dev"))??;
    let bytes = |line: &str| {
        let (name, counts) = line.split_once(':')?;
        name.trim().starts_with("wire").then(|| counts.split_whitespace().next()?.parse::<u64>().ok())?
    };
    Ok(table.lines().filter_map(bytes).sum())
}

/// Prints medians and ratios. Fails if warmcore was shown to move fewer bits per busy cpu-second than iperf3.
fn report(efficiencies: &[Vec<f64>], is_quiet: bool) -> ExitCode {
    println!(
        "\nGbit per busy cpu-second, two connections: median [least, greatest]; ratio of warmcore to it [95% interval]"
    );
    let over = |values: &[f64]| change(&efficiencies[0], values);
    let mut is_less = false;
    for (name, values) in ALTERNATIVES.iter().zip(efficiencies) {
        print!("{name:16} {:.2}", Spread(values.clone()).map(|bits| bits * 1e-9));
        let Some((ours, noise)) = over(values).zip(over(&efficiencies[3])) else {
            println!("   unknown");
            continue;
        };
        println!("   {:.3} [{:.3}, {:.3}]", 1.0 + ours.mean, 1.0 + ours.low, 1.0 + ours.high);
        is_less |= name.starts_with("iperf3") && verdict(&ours, &noise) == ChangeVerdict::Less;
    }
    match (is_quiet, is_less) {
        (false, _) => println!("not judged: other programs disturbed most runs"),
        (true, true) => println!("warmcore moves fewer bits per busy cpu-second than iperf3"),
        (true, false) => {
            println!("warmcore was not shown to move fewer bits per busy cpu-second than iperf3");
        }
    }
    if is_quiet && is_less { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
