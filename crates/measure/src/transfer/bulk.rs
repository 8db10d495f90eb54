//! Sends or receives bytes over a connection as ttcp does: writes of one size, or reads, and nothing else.

use super::instruction::Role;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};
use warmcore_units::{Bytes, PerSecond};

/// Most bytes of one read. The second cache level of today's cores can hold several times as much, so
/// the copied data is still in it when the buffer is written again.
const READ_SIZE: usize = 128 << 10;

/// Time between two bursts of a sender with a rate.
const TICK: Duration = Duration::from_millis(1);

/// Sends or receives on `stream` until the connection is closed, which is an error. `moved` holds the
/// number of bytes so far.
///
/// # Errors
/// The reason for the end.
pub(super) fn bulk(mut stream: &TcpStream, role: Role, moved: &AtomicU64) -> io::Result<()> {
    match role {
        Role::Send(size, None) => send(&mut stream, size, moved),
        Role::Send(size, Some(rate)) => send_at(&mut stream, size, rate, moved),
        Role::Receive => receive(&mut stream, moved),
    }
}

fn send(to: &mut impl Write, size: Bytes, moved: &AtomicU64) -> io::Result<()> {
    let bytes = vec![0x5a; size.len()];
    loop {
        to.write_all(&bytes)?;
        advance(moved, size.0);
    }
}

/// Sends at most at `rate` bits per second, and catches up after a delay.
fn send_at(to: &mut impl Write, size: Bytes, rate: PerSecond, moved: &AtomicU64) -> io::Result<()> {
    let bytes = vec![0x5a; size.len()];
    let (begun, mut sent) = (Instant::now(), 0.0);
    loop {
        let due = begun.elapsed().as_secs_f64() * rate.0 / 8.0;
        if sent + size.0 as f64 > due {
            sleep(TICK);
        } else {
            to.write_all(&bytes)?;
            advance(moved, size.0);
            sent += size.0 as f64;
        }
    }
}

fn receive(from: &mut impl Read, moved: &AtomicU64) -> io::Result<()> {
    let mut bytes = vec![0; READ_SIZE];
    loop {
        match from.read(&mut bytes) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(length) => advance(moved, length as u64),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Adds to a counter with only one writer, so that no locked instruction is needed.
fn advance(moved: &AtomicU64, bytes: u64) {
    moved.store(moved.load(Ordering::Relaxed) + bytes, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accepts this many bytes, then fails.
    struct Narrow(usize);

    impl Write for Narrow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            if taken == 0 { Err(ErrorKind::BrokenPipe.into()) } else { Ok(taken) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn only_complete_writes_are_counted() {
        let moved = AtomicU64::new(0);
        let ended = send(&mut Narrow(1000), Bytes(64), &moved).unwrap_err();
        assert_eq!((ended.kind(), moved.into_inner()), (ErrorKind::BrokenPipe, 1000 / 64 * 64));
    }

    #[test]
    fn bytes_are_counted_until_the_end_of_the_stream() {
        let moved = AtomicU64::new(0);
        let ended = receive(&mut &vec![1; 300_000][..], &moved).unwrap_err();
        assert_eq!((ended.kind(), moved.into_inner()), (ErrorKind::UnexpectedEof, 300_000));
    }

    #[test]
    fn a_sender_keeps_to_its_rate() {
        let (moved, begun) = (AtomicU64::new(0), Instant::now());
        let rate = PerSecond(8.0 * 64_000.0);
        send_at(&mut Narrow(6_400), Bytes(64), rate, &moved).unwrap_err();
        assert_eq!(moved.into_inner(), 6_400);
        assert!(begun.elapsed() >= Duration::from_millis(99), "{:?}", begun.elapsed());
    }
}
