//! Checks that a profile was measured, with packets like those of the runs it is to predict.
//!
//! A run from memory hands out frames that were prepared before it and stay in cache. The calibration of a
//! study writes every packet anew, as a network card does, so that reading it misses. Such costs are those of
//! a network card's packets, and would predict too long times for a run from memory.

use core::fmt::Display;
use warmcore_costs::profile::Kind;
use warmcore_costs::{FrameLines, Packets, Profile};
use warmcore_scenario::Live;
use warmcore_units::{Bytes, Fault};

/// The properties of the packets in a run from memory.
#[must_use]
pub fn of_run(live: &Live) -> Packets {
    Packets {
        frames: FrameLines::Resident,
        transport: live.transport,
        payload_bytes: live.payload_bytes.into(),
        checksum: live.verifies_checksum(),
        handler_bytes: live.handler_bytes as usize,
        reply_bytes: live.reply_bytes.into(),
    }
}

/// Refuses a profile that was not measured by this program, or was measured with other packets.
///
/// # Errors
/// The first field of the profile that does not fit, with the value that would.
pub fn check(profile: &Profile, live: &Live) -> Result<(), Fault> {
    if profile.provenance.kind == Kind::Published {
        let expected =
            "measured: runs on this machine are predicted with the costs of a machine that ran this program";
        return Err(Fault::new("provenance.kind", "published", expected));
    }
    let Some(measured) = profile.provenance.packets else { return Ok(()) };
    let run = of_run(live);
    let differs = |field: &str, found: &dyn Display, expected: String| {
        Err(Fault::new(format!("provenance.packets.{field}"), found, expected))
    };
    if measured.frames != run.frames {
        let expected = "resident: the frames of a run stay in cache. Frames that are written anew for each packet \
                        miss, so packets would be predicted to take too long";
        return differs("frames", &"written", expected.to_owned());
    }
    if measured.transport != run.transport {
        let expected = format!("{}, as `live.transport`", run.transport);
        return differs("transport", &measured.transport, expected);
    }
    if measured.reply_bytes != run.reply_bytes {
        let expected = format!("{}, as `live.reply_bytes`", run.reply_bytes);
        return differs("reply_bytes", &measured.reply_bytes, expected);
    }
    if measured.checksum != run.checksum {
        return differs(
            "checksum",
            &measured.checksum,
            format!("{}, as `live.verify_udp_checksum`", run.checksum),
        );
    }
    if measured.handler_bytes != run.handler_bytes {
        let expected = format!("{}, as `live.handler_bytes`", run.handler_bytes);
        return differs("handler_bytes", &measured.handler_bytes, expected);
    }
    if run.checksum && measured.payload_bytes != run.payload_bytes {
        let expected =
            format!("{}, as `live.payload_bytes`: checksums are computed over them", run.payload_bytes);
        return differs("payload_bytes", &measured.payload_bytes, expected);
    }
    Ok(())
}

/// Above this ratio of the longest measured t(x) to the fully cold time, a packet after much other work takes
/// longer than any packet of the model.
const BEYOND_COLD: f64 = 1.15;

/// What a reader of the comparison must know: that `profile` does not say what its packets were like, that
/// handlers touch more data than in the calibration, or that packets are colder than the model allows.
#[must_use]
pub fn doubts(profile: &Profile, live: &Live, streams: u32) -> Vec<String> {
    let unknown = profile.provenance.packets.is_none().then(|| {
        "The profile does not say what its packets were like. If they were written anew for each packet, as in a \
        study, and did not stay in cache as those of the runs do, all times in the stack are predicted too long."
            .to_owned()
    });
    let all = Bytes(u64::from(live.handler_bytes) * u64::from(streams));
    let nearest = profile.levels.first().filter(|level| all > level.geometry.size);
    let crowded = nearest.map(|level| {
        format!(
            "The handlers of all {streams} streams together touch {all}, and {} holds {}. The calibration had \
            two streams, whose memory stays there: times in the stack are predicted too short.",
            level.name, level.geometry.size
        )
    });
    unknown.into_iter().chain(crowded).chain(beyond_cold(profile)).collect()
}

fn beyond_cold(profile: &Profile) -> Option<String> {
    let curve = profile.intervened.as_ref()?;
    let longest = curve.points.iter().max_by(|one, other| one.time.mean.total_cmp(&other.time.mean))?;
    let cold = profile.times.get(curve.approach).fully_cold.mean;
    (longest.time.mean / cold > BEYOND_COLD).then(|| {
        format!(
            "After {} of other work, a packet took {} in the calibration, and {cold} with caches made fully \
            cold: the other work displaces more than caches, such as address translations. In the model no packet takes \
            longer than the latter: at low rates, times in the stack are predicted too short.",
            longest.x, longest.time.mean
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_costs::profile::{CurvePoint, MeasuredCurve};
    use warmcore_costs::{Approach, Measured};
    use warmcore_units::Nanos;

    /// A profile that was measured.
    fn measured() -> Profile {
        let mut profile = Profile::sgi_challenge_xl();
        profile.provenance.kind = Kind::Measured;
        profile
    }

    #[test]
    fn published_costs_are_refused_under_any_name() {
        let mut profile = Profile { name: "mine".to_owned(), ..Profile::sgi_challenge_xl() };
        let field = |profile: &Profile| check(profile, &Live::default()).err().map(|fault| fault.field);
        assert_eq!(field(&profile).as_deref(), Some("provenance.kind"));
        profile.provenance.kind = Kind::Measured;
        assert_eq!(field(&profile), None);
    }

    /// The field for which a profile with such packets is refused.
    fn refused(packets: Option<Packets>, live: &Live) -> Option<String> {
        let mut profile = measured();
        profile.provenance.packets = packets;
        check(&profile, live).err().map(|fault| fault.field)
    }

    #[test]
    fn times_of_other_packets_are_refused_by_field() {
        let live = Live::default();
        let alike = of_run(&live);
        assert_eq!(refused(Some(alike), &live), None);
        let written = Packets { frames: FrameLines::Written, ..alike };
        assert_eq!(refused(Some(written), &live).as_deref(), Some("provenance.packets.frames"));
        let touching = Live { handler_bytes: 512, ..live.clone() };
        assert_eq!(refused(Some(alike), &touching).as_deref(), Some("provenance.packets.handler_bytes"));
        let verifying = Live { verify_udp_checksum: true, ..live };
        assert_eq!(refused(Some(alike), &verifying).as_deref(), Some("provenance.packets.checksum"));
    }

    #[test]
    fn the_payload_matters_where_it_is_read() {
        let live = Live { payload_bytes: 64, ..Live::default() };
        let longer = Live { payload_bytes: 1024, ..live.clone() };
        assert_eq!(refused(Some(of_run(&longer)), &live), None);
        let [live, longer] = [live, longer].map(|live| Live { verify_udp_checksum: true, ..live });
        assert_eq!(
            refused(Some(of_run(&longer)), &live).as_deref(),
            Some("provenance.packets.payload_bytes")
        );
    }

    #[test]
    fn only_unknown_conditions_are_doubted() {
        let mut profile = measured();
        assert_eq!(refused(profile.provenance.packets, &Live::default()), None);
        let doubted = |profile: &Profile, live: &Live| doubts(profile, live, 8).len();
        assert_eq!(doubted(&profile, &Live::default()), 1);
        profile.provenance.packets = Some(of_run(&Live::default()));
        assert_eq!(doubted(&profile, &Live::default()), 0);
        let touching = Live { handler_bytes: 1 << 16, ..Live::default() };
        assert_eq!(doubted(&profile, &touching), 1);
        for (factor, doubts) in [(0.9, 0), (2.0, 1)] {
            let time = profile.times.independent_stacks.fully_cold.mean * factor;
            let point = CurvePoint { x: Nanos(1e9), time: Measured::published(time) };
            profile.intervened = Some(MeasuredCurve {
                workload: String::new(),
                approach: Approach::IndependentStacks,
                fitted: true,
                points: vec![point],
            });
            assert_eq!(doubted(&profile, &Live::default()), doubts, "{factor}");
        }
    }
}
