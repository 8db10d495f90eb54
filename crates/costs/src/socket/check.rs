//! Plausibility checks of a socket profile, made before anything is computed from it.

use super::{DatagramTimes, SocketPath, SocketProfile};
use crate::profile::Measured;
use warmcore_units::{Checked, Fault, Nanos};

/// The longest time allowed: no part of a datagram's way takes a second.
const LONGEST: Nanos = Nanos::from_secs(1.0);

impl Checked for SocketProfile {
    const WHAT: &'static str = "socket profile";
    const SCHEMA: u32 = Self::SCHEMA;

    fn check(&self) -> Result<(), Fault> {
        Self::check(self)
    }
}

impl SocketProfile {
    /// Refuses a document of another version, and physically impossible values.
    ///
    /// # Errors
    /// The first invalid field, with what was found and what was expected.
    pub fn check(&self) -> Result<(), Fault> {
        Fault::check_schema(self.schema, Self::SCHEMA)?;
        if self.path == SocketPath::TcpSocket && self.servers.is_empty() {
            return Err(Fault::new("servers", "empty", "the costs of at least one handler"));
        }
        if self.path == SocketPath::UdpSocket && self.datagrams.is_empty() {
            return Err(Fault::new("datagrams", "empty", "the times of at least one situation"));
        }
        for (index, row) in self.datagrams.iter().enumerate() {
            let field = format!("datagrams.{index}");
            check_x(&field, row.x)?;
            check_datagram(&field, row)?;
        }
        for (index, reply) in self.replies.iter().enumerate() {
            let field = format!("replies.{index}");
            check_x(&field, reply.x)?;
            check_time(&format!("{field}.call"), &reply.call)?;
            check_time(&format!("{field}.send"), &reply.send)?;
            check_part(&format!("{field}.send"), &reply.send, &reply.call)?;
        }
        for (index, handler) in self.handlers.iter().enumerate() {
            let field = format!("handlers.{index}");
            check_x(&field, handler.x)?;
            check_time(&format!("{field}.time"), &handler.time)?;
        }
        for (index, batch) in self.batches.iter().enumerate() {
            if batch.datagrams == 0 {
                return Err(Fault::new(format!("batches.{index}.datagrams"), 0, "1 or more"));
            }
            check_time(&format!("batches.{index}.each"), &batch.each)?;
        }
        for (index, server) in self.servers.iter().enumerate() {
            server.check(&format!("servers.{index}"))?;
        }
        self.empty_poll.iter().try_for_each(|time| check_time("empty_poll", time))?;
        self.asleep.iter().try_for_each(|asleep| {
            check_time("asleep.call", &asleep.call)?;
            check_time("asleep.arrival", &asleep.arrival)?;
            check_time("asleep.reader_cpu", &asleep.reader_cpu)
        })
    }
}

fn check_datagram(field: &str, row: &DatagramTimes) -> Result<(), Fault> {
    let times = [
        ("call", Some(&row.call)),
        ("send", row.send.as_ref()),
        ("softirq", row.softirq.as_ref()),
        ("receive", Some(&row.receive)),
        ("whole", row.whole.as_ref()),
    ];
    for (name, time) in times {
        if let Some(time) = time {
            check_time(&format!("{field}.{name}"), time)?;
        }
    }
    if let Some(whole) = &row.whole {
        check_part(&format!("{field}.call"), &row.call, whole)?;
        check_part(&format!("{field}.receive"), &row.receive, whole)?;
    }
    Ok(())
}

fn check_x(field: &str, x: Nanos) -> Result<(), Fault> {
    if x.0.is_finite() && x >= Nanos::ZERO {
        return Ok(());
    }
    Err(Fault::new(format!("{field}.x"), format!("{} ns", x.0), "a finite duration, not negative"))
}

/// Checks that a part is no longer than the whole by more than the half-widths of both.
fn check_part(field: &str, part: &Measured, whole: &Measured) -> Result<(), Fault> {
    let slack = [part, whole].into_iter().filter_map(|time| time.half_width).sum::<Nanos>();
    if part.mean > whole.mean + slack {
        let expected = format!("at most the {} ns of the whole", whole.mean.0);
        return Err(Fault::new(format!("{field}.mean"), format!("{} ns", part.mean.0), expected));
    }
    Ok(())
}

pub(crate) fn check_time(field: &str, time: &Measured) -> Result<(), Fault> {
    let expected = || format!("a duration above 0 ns, at most 1 s ({} ns)", LONGEST.0);
    if !(time.mean.0 > 0.0 && time.mean <= LONGEST) {
        return Err(Fault::new(format!("{field}.mean"), format!("{} ns", time.mean.0), expected()));
    }
    match time.half_width {
        Some(half) if half < Nanos::ZERO || half.0.is_nan() => {
            Err(Fault::new(format!("{field}.half_width"), format!("{} ns", half.0), "0 ns or more"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Kind, Provenance};
    use crate::socket::{AsleepTimes, Delivery, LastUsed, Network, SocketPath, SoftirqCpu};

    fn time(mean: f64) -> Measured {
        Measured { half_width: Some(Nanos(mean / 100.0)), runs: 10, ..Measured::published(Nanos(mean)) }
    }

    fn profile() -> SocketProfile {
        let row = |softirq_cpu, receive, whole| DatagramTimes {
            softirq_cpu,
            delivery: Delivery::InCall,
            socket: LastUsed::Here,
            x: Nanos::ZERO,
            call: time(4_400.0),
            send: Some(time(2_000.0)),
            softirq: Some(time(2_400.0)),
            receive: time(receive),
            whole,
        };
        SocketProfile {
            schema: SocketProfile::SCHEMA,
            path: SocketPath::UdpSocket,
            name: "a machine".to_owned(),
            provenance: Provenance {
                kind: Kind::Measured,
                source: "a test".to_owned(),
                date: "2026-11-27".to_owned(),
                handover: None,
                handover_range: None,
                interrupt: None,
                wake_up: None,
                runs: None,
                packets: None,
                notes: Vec::new(),
            },
            network: Network::Veth,
            payload_bytes: 64,
            datagrams: vec![
                row(SoftirqCpu::Reader, 800.0, Some(time(5_200.0))),
                row(SoftirqCpu::OtherCore, 1_100.0, None),
            ],
            replies: Vec::new(),
            handlers: Vec::new(),
            batches: Vec::new(),
            empty_poll: Some(time(200.0)),
            asleep: Some(AsleepTimes {
                call: time(5_400.0),
                arrival: time(8_500.0),
                reader_cpu: time(3_100.0),
            }),
            servers: Vec::new(),
        }
    }

    fn refused(spoil: impl FnOnce(&mut SocketProfile)) -> String {
        let mut profile = profile();
        spoil(&mut profile);
        profile.check().expect_err("a spoilt profile is refused").field
    }

    #[test]
    fn a_profile_survives_a_toml_round_trip() {
        let profile = profile();
        profile.check().unwrap();
        let text = toml::to_string(&profile).unwrap();
        assert_eq!(toml::from_str::<SocketProfile>(&text).unwrap(), profile);
    }

    #[test]
    fn impossible_values_are_refused_with_their_field() {
        assert_eq!(refused(|p| p.schema = 2), "schema");
        assert_eq!(refused(|p| p.datagrams.clear()), "datagrams");
        assert_eq!(refused(|p| p.datagrams[1].x = Nanos(f64::NAN)), "datagrams.1.x");
        assert_eq!(refused(|p| p.datagrams[1].receive.mean = Nanos(0.0)), "datagrams.1.receive.mean");
        assert_eq!(refused(|p| p.datagrams[0].softirq = Some(time(2e9))), "datagrams.0.softirq.mean");
        let negative = |p: &mut SocketProfile| p.datagrams[0].call.half_width = Some(Nanos(-1.0));
        assert_eq!(refused(negative), "datagrams.0.call.half_width");
    }

    #[test]
    fn a_part_longer_than_the_whole_is_refused_unless_half_widths_explain_it() {
        assert_eq!(refused(|p| p.datagrams[0].receive = time(5_400.0)), "datagrams.0.receive.mean");
        let mut profile = profile();
        profile.datagrams[0].call = time(5_250.0);
        profile.check().unwrap();
    }

    #[test]
    fn sleeping_costs_what_it_adds_to_a_reader_that_looks() {
        let wake_up = profile().wake_up().unwrap();
        assert_eq!(wake_up.delay.mean, Nanos(8_500.0 - 4_400.0 - 1_100.0));
        assert_eq!(wake_up.sender_cpu.mean, Nanos(1_000.0));
        assert_eq!(wake_up.reader_cpu.mean, Nanos(2_000.0));
        assert!((wake_up.delay.half() - 85.0_f64.hypot(44.0).hypot(11.0)).abs() < 1e-9);
    }
}
