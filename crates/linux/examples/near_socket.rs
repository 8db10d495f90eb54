//! A server that keeps its thread near the packets it reads. It accepts a connection, asks the kernel which
//! cpu receives its packets, and keeps to the cpus that share that cpu's last-level cache.
//!
//! The example connects to itself, so that it runs anywhere.

use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use warmcore_linux::{Probe, current_cpu, near};
use warmcore_topology::{CpuSet, Within};

/// Echoes what one connection of `listener` sends. Returns the cpus that the thread stayed on.
fn serve(listener: &TcpListener) -> Result<CpuSet, Box<dyn Error + Send + Sync>> {
    let machine = Probe::new().machine()?.machine;
    let (mut stream, _) = listener.accept()?;
    let mut message = [0; 64];
    let mut kept = CpuSet::default();
    loop {
        let count = stream.read(&mut message)?;
        if count == 0 {
            return Ok(kept);
        }
        // The kernel knows the receiving cpu only once a packet has arrived.
        if kept.is_empty() {
            kept = near::stay_near(&stream, Within::LastLevelCache, &machine)?;
            let cpu = near::receiving_cpu(&stream)?.map_or_else(String::new, |cpu| cpu.to_string());
            println!("packets on cpu {cpu}, this thread on {kept}, now {}", current_cpu());
        }
        stream.write_all(&message[..count])?;
    }
}

/// Sends a message and reads its echo.
fn ask(address: std::net::SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(b"where are you?")?;
    let mut echo = [0; 14];
    stream.read_exact(&mut echo)?;
    Ok(String::from_utf8_lossy(&echo).into_owned())
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let server = std::thread::spawn(move || serve(&listener));
    println!("echo: {}", ask(address)?);
    server.join().expect("the server does not panic")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_linux::affinity;

    #[test]
    fn the_server_answers_and_stays_where_it_may() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || (serve(&listener), affinity::mask()));
        assert_eq!(ask(address).unwrap(), "where are you?");
        let (kept, mask) = server.join().unwrap();
        let kept = kept.unwrap();
        assert!(!kept.is_empty() && mask == Ok(kept.clone()), "{kept}: {mask:?}");
    }
}
