//! Round trips between two hosts, of which the last is traced.

use super::host::Host;
use super::{LabError, Protocols};
use crate::riscv::Image;
use crate::trace::Trace;

/// Round trips before the traced one: the window has grown, maps and lists have what they need.
const WARM_UP: u64 = 20;
/// Time between two round trips, in microseconds.
const PERIOD: u64 = 1000;
/// The clients' connection needs no more exchanges than this to be established.
const HANDSHAKE: u32 = 4;

/// Whether a packet classifier says which frames take the inlined path (§3.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Classifying {
    /// As in the source's measurements: every frame does.
    #[default]
    No,
    /// A frame that does not take it goes through the layers.
    Yes,
}

/// The changes of §2.2 that have a switch. The source's improved stack has all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Switches {
    /// Received messages are refreshed in place (§2.2.2).
    pub refresh_in_place: bool,
    /// Fields of LANCE descriptors are changed where they are (§2.2.4).
    pub direct_descriptors: bool,
    /// The cached entry of a map is tested where it is looked up (§2.2.3).
    pub inline_cache_test: bool,
    /// No multiplication and division for windows (§2.2.2).
    pub avoid_division: bool,
    /// A packet classifier in front of the inlined path.
    pub classifying: Classifying,
}

impl Switches {
    /// All changes, and no classifier.
    pub const IMPROVED: Self = Self {
        refresh_in_place: true,
        direct_descriptors: true,
        inline_cache_test: true,
        avoid_division: true,
        classifying: Classifying::No,
    };

    /// No change.
    pub const ORIGINAL: Self = Self {
        refresh_in_place: false,
        direct_descriptors: false,
        inline_cache_test: false,
        avoid_division: false,
        classifying: Classifying::No,
    };

    /// The bits that the program understands.
    fn bits(self) -> u64 {
        let Self { refresh_in_place, direct_descriptors, inline_cache_test, avoid_division, classifying } =
            self;
        let classifies = classifying == Classifying::Yes;
        let switches = [refresh_in_place, direct_descriptors, inline_cache_test, avoid_division, classifies];
        switches.into_iter().rev().fold(0, |bits, is_on| bits << 1 | u64::from(is_on))
    }
}

/// Traces a request and its response on the client, between two hosts with the program of `image`.
///
/// # Errors
/// If the image is not the laboratory's program, or the program fails.
pub fn trace(image: &Image, protocols: Protocols, switches: Switches) -> Result<Trace, LabError> {
    let mut pair = Pair::new(image, protocols, switches)?;
    pair.connect()?;
    for _ in 0..WARM_UP {
        pair.round_trip(None)?;
    }
    let mut trace = Trace::new(image.functions().to_vec());
    pair.round_trip(Some(&mut trace))?;
    Ok(trace)
}

struct Pair<'a> {
    client: Host<'a>,
    server: Host<'a>,
    protocols: Protocols,
    send: String,
    interrupt: String,
    round_trips: u64,
}

impl<'a> Pair<'a> {
    fn new(image: &'a Image, protocols: Protocols, switches: Switches) -> Result<Self, LabError> {
        let host = |is_server| Host::new(image, protocols, is_server, switches.bits());
        let function = |half: &str| format!("lab_{}_{half}", protocols.infix());
        let (send, interrupt) = (function("send"), function("interrupt"));
        Ok(Self { client: host(false)?, server: host(true)?, protocols, send, interrupt, round_trips: 0 })
    }

    /// Opens the connection, if the stack has one.
    fn connect(&mut self) -> Result<(), LabError> {
        if self.protocols == Protocols::Rpc {
            return Ok(());
        }
        self.client.path("lab_tcp_begin", None)?;
        for _ in 0..HANDSHAKE {
            self.exchange(&mut None)?;
        }
        match self.client.call("lab_tcp_is_open", &[])? {
            0 => Err(LabError::Unanswered { received: 0, round_trips: 0 }),
            _ => Ok(()),
        }
    }

    /// A request and its response.
    fn round_trip(&mut self, mut trace: Option<&mut Trace>) -> Result<(), LabError> {
        self.round_trips += 1;
        let now = self.round_trips * PERIOD;
        self.client.call("lab_time", &[now])?;
        self.server.call("lab_time", &[now])?;
        self.client.path(&self.send, trace.as_deref_mut())?;
        // The first call of RPC is refused once, until the peers know each other's boot ids.
        while self.exchange(&mut trace)? {}
        let received = self.client.call("lab_received", &[])?;
        if received != self.round_trips {
            return Err(LabError::Unanswered { received, round_trips: self.round_trips });
        }
        match self.client.call("lab_unexpected", &[])? {
            0 => Ok(()),
            unexpected => Err(LabError::Unexpected(unexpected)),
        }
    }

    /// Carries all frames to the server, and what it answers to the client. Returns whether there were any.
    fn exchange(&mut self, trace: &mut Option<&mut Trace>) -> Result<bool, LabError> {
        let mut any = false;
        while let Some(frame) = self.client.take()? {
            any = true;
            self.server.put(&frame)?;
            self.server.path(&self.interrupt, None)?;
        }
        while let Some(frame) = self.server.take()? {
            any = true;
            self.client.put(&frame)?;
            self.client.path(&self.interrupt, trace.as_deref_mut())?;
        }
        Ok(any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::Form;

    #[test]
    fn the_paths_of_both_stacks_are_as_long_as_the_source_s_in_every_form() {
        for form in Form::ALL {
            let image = form.image().expect("a sound image");
            for protocols in Protocols::ALL {
                let trace = trace(&image, protocols, Switches::IMPROVED).expect("a round trip");
                assert!(trace.steps().len() > 3000, "{form:?} {protocols:?}: {}", trace.steps().len());
            }
        }
    }

    #[test]
    fn each_change_of_the_source_that_has_a_switch_saves_instructions_of_tcp() {
        let image = Form::Std.image().expect("a sound image");
        let length = |switches| {
            let trace = trace(&image, Protocols::TcpIp, switches).expect("a round trip");
            trace.steps().len()
        };
        let improved = length(Switches::IMPROVED);
        let without = [
            Switches { refresh_in_place: false, ..Switches::IMPROVED },
            Switches { direct_descriptors: false, ..Switches::IMPROVED },
            Switches { inline_cache_test: false, ..Switches::IMPROVED },
        ];
        for switches in without {
            assert!(length(switches) > improved, "{switches:?}");
        }
        assert!(length(Switches::ORIGINAL) > improved);
    }
}
