//! Round trips between two hosts of one process: `native tcp|rpc ROUNDS` prints what one took, in nanoseconds: the median.
//!
//! | line | what |
//! |---|---|
//! | `round-trip` | a request and its response, both hosts, one after the other |
//! | `resumed` | the same, with what the cache of instructions held displaced before each |
//! | `displaced` | how many bytes of other instructions were executed for that |

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use warmcore_lab::graph::rpc::RpcHost;
use warmcore_lab::graph::tcp::TcpHost;
use warmcore_lab::layer::Lost;
use warmcore_lab::layers::lance::{Adaptor, MAX_FRAME};
use warmcore_lab::switches::Switches;

/// All changes of §2.2, without a classifier.
const SWITCHES: u64 = 0xf;
/// Round trips before any is timed.
const WARM_UP: u64 = 1000;
/// Other instructions that are executed: twice the largest cache of instructions of today.
const DISPLACED: usize = 128 << 10;

/// A host, whatever its stack.
trait Host {
    fn adaptor(&self) -> &'static Adaptor;
    fn tell_time(&self, now: Duration);
    fn send(&self) -> Result<(), Lost>;
    fn interrupt(&self) -> Result<(), Lost>;
    fn received(&self) -> u64;
}

macro_rules! host {
    ($host:ty) => {
        impl Host for $host {
            fn adaptor(&self) -> &'static Adaptor {
                self.adaptor()
            }

            fn tell_time(&self, now: Duration) {
                self.host().now.set(now);
            }

            fn send(&self) -> Result<(), Lost> {
                self.send()
            }

            fn interrupt(&self) -> Result<(), Lost> {
                self.interrupt()
            }

            fn received(&self) -> u64 {
                self.counts().received.get()
            }
        }
    };
}

host!(TcpHost);
host!(RpcHost);

/// Carries frames until there are none; returns whether any was lost.
fn exchange(client: &impl Host, server: &impl Host) -> Result<(), Lost> {
    loop {
        let forth = pass(client, server)?;
        let back = pass(server, client)?;
        if !forth && !back {
            return Ok(());
        }
    }
}

fn pass(from: &impl Host, to: &impl Host) -> Result<bool, Lost> {
    let mut frame = [0; MAX_FRAME];
    let mut any = false;
    while let Some(length) = from.adaptor().take(&mut frame) {
        if !to.adaptor().put(&frame[..length]) {
            return Err(Lost::NoSpace);
        }
        to.interrupt()?;
        any = true;
    }
    Ok(any)
}

/// Executes other instructions, so that the nearest cache holds nothing else.
#[inline(never)]
fn displace() {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
    // SAFETY: the instructions do nothing.
    unsafe {
        core::arch::asm!(".rept {count}", "nop", ".endr", count = const DISPLACED / NOP, options(nomem, nostack, preserves_flags));
    }
}

/// Bytes of an instruction that does nothing.
const NOP: usize = if cfg!(target_arch = "x86_64") { 1 } else { 4 };

/// What a round trip takes, in nanoseconds, each after `before`: the median.
fn measure(client: &impl Host, server: &impl Host, rounds: u64, before: fn()) -> Result<f64, Lost> {
    let mut times = Vec::with_capacity(rounds as usize);
    for _ in 0..rounds {
        let now = Duration::from_micros(100 * client.received());
        client.tell_time(now);
        server.tell_time(now);
        before();
        let start = Instant::now();
        black_box(client).send()?;
        exchange(client, server)?;
        times.push(start.elapsed().as_nanos());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2] as f64)
}

fn report(client: &impl Host, server: &impl Host, rounds: u64) -> Result<(), Lost> {
    measure(client, server, WARM_UP, || ())?;
    let before = client.received();
    let warm = measure(client, server, rounds, || ())?;
    let resumed = measure(client, server, rounds, displace)?;
    assert_eq!(client.received(), before + 2 * rounds, "each request has its response");
    println!("round-trip {warm:.1}\nresumed {resumed:.1}\ndisplaced {DISPLACED}");
    Ok(())
}

fn run(stack: &str, rounds: u64) -> Result<(), Lost> {
    let switches = Switches::from_bits(SWITCHES);
    if stack == "rpc" {
        return report(&RpcHost::new(false, switches), &RpcHost::new(true, switches), rounds);
    }
    let (client, server) = (TcpHost::new(false, switches), TcpHost::new(true, switches));
    client.begin()?;
    exchange(&client, &server)?;
    report(&client, &server, rounds)
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let rounds = words.get(1).and_then(|rounds| rounds.parse().ok()).filter(|&rounds: &u64| rounds > 0);
    let (Some(stack @ ("tcp" | "rpc")), Some(rounds)) = (words.first().map(String::as_str), rounds) else {
        eprintln!("expected: native tcp|rpc ROUNDS");
        return ExitCode::from(2);
    };
    match run(stack, rounds) {
        Ok(()) => ExitCode::SUCCESS,
        Err(lost) => {
            eprintln!("a message was lost: {lost:?}");
            ExitCode::FAILURE
        }
    }
}
