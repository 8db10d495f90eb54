//! Whether a profile was measured with packets like those of the runs it is to predict.
//!
//! The memory driver of a run hands out frames that were prepared before it and stay in cache. A
//! calibration for a study writes every packet anew, as a network card does, and reading it misses. Such
//! times say how long packets of a network card take, and predict those of a run too long.

use core::fmt::Display;
use warmcore_costs::{FrameLines, Packets, Profile};
use warmcore_scenario::Live;
use warmcore_units::Fault;

/// What the packets of a run from memory are like.
#[must_use]
pub fn of_run(live: &Live) -> Packets {
    Packets {
        frames: FrameLines::Resident,
        payload_bytes: live.payload_bytes.into(),
        checksum: live.verify_udp_checksum,
    }
}

/// Refuses a profile that says that its packets were others.
///
/// # Errors
/// The first field of the profile by which they differ, with what it would have to be.
pub fn check(profile: &Profile, live: &Live) -> Result<(), Fault> {
    let Some(measured) = profile.provenance.packets else { return Ok(()) };
    let run = of_run(live);
    let differs = |field: &str, found: &dyn Display, expected: String| {
        Err(Fault::new(format!("provenance.packets.{field}"), found, expected))
    };
    if measured.frames != run.frames {
        let expected = "resident: the frames of a run stay in cache, while reading those that are written anew for \
                        each packet misses, so that packets would be predicted to take too long";
        return differs("frames", &"written", expected.to_owned());
    }
    if measured.checksum != run.checksum {
        return differs(
            "checksum",
            &measured.checksum,
            format!("{}, as `live.verify_udp_checksum`", run.checksum),
        );
    }
    if run.checksum && measured.payload_bytes != run.payload_bytes {
        let expected =
            format!("{}, as `live.payload_bytes`: checksums are computed over them", run.payload_bytes);
        return differs("payload_bytes", &measured.payload_bytes, expected);
    }
    Ok(())
}

/// What a reader of the comparison must know if `profile` does not say what its packets were like.
#[must_use]
pub fn doubt(profile: &Profile) -> Option<String> {
    profile.provenance.packets.is_none().then(|| {
        "The profile does not say what its packets were like. If they were written anew for each packet, as for a \
         study, and did not stay in cache, as those of the runs do, all times in the stack are predicted too long."
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The field that a profile with such packets is refused for.
    fn refused(packets: Option<Packets>, live: &Live) -> Option<String> {
        let mut profile = Profile::sgi_challenge_xl();
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
    fn a_profile_that_does_not_say_is_doubted_and_no_other() {
        let mut profile = Profile::sgi_challenge_xl();
        assert_eq!(refused(profile.provenance.packets, &Live::default()), None);
        assert!(doubt(&profile).is_some());
        profile.provenance.packets = Some(of_run(&Live::default()));
        assert_eq!(doubt(&profile), None);
    }
}
