//! The client: sends open-loop on many sockets, and checks every byte of every answer.

use crate::{BYTES, FLOWS, Result, TIME};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};
use warmcore_linux::{affinity, cpu_time};
use warmcore_units::CpuId;

/// How long the client waits for the last answers.
const LAST: Duration = Duration::from_millis(200);

/// Sends at `rate`, and checks every answer. Returns answers, losses, delays, and the processor times of this thread and of the
/// process.
pub(crate) fn load(address: SocketAddr, cpu: CpuId, rate: f64) -> Result<(u64, u64, [f64; 2], f64, f64)> {
    affinity::set_mask(&[cpu].into_iter().collect())?;
    let sockets: Vec<UdpSocket> = (0..FLOWS).map(|_| client(address)).collect::<Result<_>>()?;
    run(&sockets, rate, TIME / 10)?;
    let before = (cpu_time::of_this_thread(), cpu_time::of_this_process());
    let (sent, mut delays) = run(&sockets, rate, TIME)?;
    let own = (cpu_time::of_this_thread() - before.0).0;
    let process = (cpu_time::of_this_process() - before.1).0;
    delays.sort_by(f64::total_cmp);
    let quantile = |part: f64| delays.get((delays.len() as f64 * part) as usize).copied().unwrap_or(f64::NAN);
    let answered = delays.len() as u64;
    Ok((answered, sent - answered, [quantile(0.5), quantile(0.99)], own, process))
}

fn client(address: SocketAddr) -> Result<UdpSocket> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    socket.connect(address)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Request number `number`: the number, and bytes that follow from it.
fn request(number: u64) -> [u8; BYTES] {
    let words = (0..BYTES as u64 / 8).map(|at| number.wrapping_add(at.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let mut bytes = [0; BYTES];
    bytes.chunks_exact_mut(8).zip(words).for_each(|(to, word)| to.copy_from_slice(&word.to_le_bytes()));
    bytes
}

/// Sends for so long, in turn on all sockets. Returns how many were sent, and the delays in µs.
fn run(sockets: &[UdpSocket], rate: f64, time: Duration) -> Result<(u64, Vec<f64>)> {
    let total = (rate * time.as_secs_f64()) as u64;
    let (begun, mut sent, mut next, mut delays) = (Instant::now(), 0, 0, Vec::with_capacity(total as usize));
    let due = |number: u64| number as f64 / rate;
    let mut seen = vec![false; total as usize];
    let mut answer = [0; BYTES + 1];
    while delays.len() < total as usize {
        let now = begun.elapsed().as_secs_f64();
        if sent == total && now > due(total) + LAST.as_secs_f64() {
            break;
        }
        // A late client sends what is due at once, a few at a time.
        for _ in 0..4 {
            if sent < total && due(sent) <= now {
                sockets[sent as usize % sockets.len()].send(&request(sent))?;
                sent += 1;
            }
        }
        for _ in 0..8 {
            next = (next + 1) % sockets.len();
            while let Ok(length) = sockets[next].recv(&mut answer) {
                let number = u64::from_le_bytes(answer[..8].try_into()?);
                let is_whole = length == BYTES && number < sent && answer[..BYTES] == request(number);
                if is_whole && !std::mem::replace(&mut seen[number as usize], true) {
                    delays.push((begun.elapsed().as_secs_f64() - due(number)) * 1e6);
                } else if !is_whole {
                    return Err("a wrong answer".into());
                }
            }
        }
    }
    Ok((sent, delays))
}
