//! The program: started on a processor, until it listens.

use super::ProgramPlan;
use super::error::ServedProgramError;
use crate::error::{CalibrateError, RunError};
use crate::sockets::error::SocketError;
use crate::sockets::site::Site;
use core::sync::atomic::{AtomicBool, Ordering};
use std::ffi::OsString;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};
use warmcore_linux::net::listening;
use warmcore_linux::{Program, cpu_time, pin_to};
use warmcore_units::{CpuId, Nanos, Transport};

/// How long a program may take until it listens, in seconds.
const START: u64 = 10;
/// Between two looks.
const LOOK: Duration = Duration::from_millis(10);

/// A program that listens. Dropping it ends the program and all that it has started.
pub(crate) struct ServedProgram {
    program: Program,
    pub(crate) name: String,
    pub(crate) address: SocketAddr,
}

impl ServedProgram {
    /// Starts the program of `plan` on `cpu`, and waits until it listens.
    ///
    /// # Errors
    /// If it cannot be started, ends, or does not listen; or if the user stops.
    pub(crate) fn start(
        site: &Site,
        plan: &ProgramPlan,
        cpu: CpuId,
        stop: &AtomicBool,
    ) -> Result<Self, CalibrateError> {
        let transport = plan.asked.transport();
        let started = site.at_server(|address| -> Result<Self, RunError> {
            let port = free_port(transport, address).map_err(SocketError::doing("opening"))?;
            let address = SocketAddr::from((address, port));
            let words: Vec<OsString> = plan.words.iter().map(|word| filled(word, address)).collect();
            let name = words.first().map_or_else(String::new, |word| word.to_string_lossy().into_owned());
            // What it starts inherits the processor and the namespace of this thread.
            let _pinned = pin_to(cpu)?;
            let program = Program::start_with_stderr(&words).map_err(ServedProgramError::Program)?;
            Ok(Self { program, name, address })
        });
        let mut started = started.map_err(RunError::Socket)??;
        let began = Instant::now();
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(CalibrateError::Interrupted);
            }
            started.check("before it listened")?;
            let found = site.at_server(|_| listening(transport, started.address.port()));
            let found = found.map_err(RunError::Socket)?.map_err(SocketError::doing("listing"));
            let found = found.map_err(RunError::Socket)?;
            let reaches = |address: &IpAddr| address.is_unspecified() || *address == started.address.ip();
            if found.iter().any(reaches) {
                return Ok(started);
            }
            let (program, address) = (started.name.clone(), started.address);
            if let Some(&found) = found.first() {
                let elsewhere = ServedProgramError::Elsewhere { program, found, expected: address.ip() };
                return Err(RunError::ServedProgram(elsewhere).into());
            }
            if began.elapsed() > Duration::from_secs(START) {
                let deaf = ServedProgramError::Deaf { program, address, seconds: START, transport };
                return Err(RunError::ServedProgram(deaf).into());
            }
            thread::sleep(LOOK);
        }
    }

    /// Checks that it still runs, at the time that `when` names.
    pub(crate) fn check(&mut self, when: &'static str) -> Result<(), RunError> {
        let status = match self.program.ended() {
            None => return Ok(()),
            Some(status) => status,
        };
        Err(ServedProgramError::Ended { program: self.name.clone(), status, when }.into())
    }

    /// The processor time of its processes so far. One that has ended is not in it any more.
    pub(crate) fn cpu_time(&self) -> Nanos {
        let each = self.program.processes().into_iter().filter_map(cpu_time::of_process);
        each.fold(Nanos::ZERO, |sum, time| sum + time)
    }
}

/// A port at which nobody listens. The namespace is ours, so nobody takes it meanwhile.
fn free_port(transport: Transport, address: Ipv4Addr) -> io::Result<u16> {
    match transport {
        Transport::Tcp => TcpListener::bind((address, 0))?.local_addr(),
        Transport::Udp | Transport::Rpc => UdpSocket::bind((address, 0))?.local_addr(),
    }
    .map(|address| address.port())
}

/// A word with `{port}` and `{address}` replaced. One that is not UTF-8 has neither.
fn filled(word: &OsString, address: SocketAddr) -> OsString {
    let Some(text) = word.to_str() else { return word.clone() };
    let text = text.replace(ProgramPlan::PORT, &address.port().to_string());
    text.replace(ProgramPlan::ADDRESS, &address.ip().to_string()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_anywhere() {
        let address = SocketAddr::from(([10, 0, 0, 1], 7000));
        let of = |text: &str| filled(&text.into(), address);
        assert_eq!(of("--listen={address}:{port}"), "--listen=10.0.0.1:7000");
        assert_eq!(of("udp-l:{port},fork"), "udp-l:7000,fork");
        assert_eq!(of("plain"), "plain");
    }
}
