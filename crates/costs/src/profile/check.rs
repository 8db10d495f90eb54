//! Plausibility checks of a profile, made before anything is computed from it.

use super::{ApproachTimes, CacheLevel, Measured, Profile, ReceiveTimes};
use crate::situation::{Approach, Experiment, ThreadStack};
use warmcore_units::{Checked, Fault, Nanos};

/// The longest time allowed: no packet takes a second, and a simulation with unbounded times would not end.
const LONGEST: Nanos = Nanos::from_secs(1.0);
/// The most ways of a cache.
const MOST_WAYS: u32 = 1 << 16;

impl Checked for Profile {
    const WHAT: &'static str = "profile";
    const SCHEMA: u32 = Self::SCHEMA;

    fn check(&self) -> Result<(), Fault> {
        Self::check(self)
    }
}

impl Profile {
    /// Refuses a profile of another version, an incomplete one, and physically impossible values.
    ///
    /// # Errors
    /// The first invalid field, with what was found and what was expected.
    pub fn check(&self) -> Result<(), Fault> {
        Fault::check_schema(self.schema, Self::SCHEMA)?;
        if let Some(handover) = self.provenance.handover {
            check_time("provenance.handover", handover)?;
        }
        for (name, cost) in [("interrupt", self.provenance.interrupt), ("wake_up", self.provenance.wake_up)] {
            if let Some(cost) = cost {
                check_time(&format!("provenance.{name}.mean"), cost.mean)?;
            }
        }
        check_levels(&self.levels)?;
        self.intervening.check("intervening")?;
        for approach in Approach::ALL {
            let key = match approach {
                Approach::Locking => "locking",
                Approach::IndependentStacks => "independent-stacks",
            };
            check_approach(&format!("times.{key}"), self.times.get(approach), self.levels.len())?;
        }
        if let Some(free_memory) = &self.free_memory {
            check_duration("free_memory.acquire", &free_memory.acquire)?;
            check_duration("free_memory.release", &free_memory.release)?;
        }
        for (index, point) in self.intervened.iter().flat_map(|curve| &curve.points).enumerate() {
            let field = format!("intervened.points.{index}");
            if !(point.x.0.is_finite() && point.x >= Nanos::ZERO) {
                let expected = "a finite duration, not negative";
                return Err(Fault::new(format!("{field}.x"), format!("{} ns", point.x.0), expected));
            }
            check_positive(&format!("{field}.time"), &point.time)?;
        }
        Ok(())
    }
}

fn check_levels(levels: &[CacheLevel]) -> Result<(), Fault> {
    if levels.is_empty() {
        return Err(Fault::new("levels", "empty", "at least one cache level"));
    }
    let mut smaller = 0;
    for (index, level) in levels.iter().enumerate() {
        let field = |name: &str| format!("levels.{index}.{name}");
        let geometry = &level.geometry;
        let way = geometry.line.0.checked_mul(u64::from(geometry.ways)).unwrap_or(0);
        if way == 0 || geometry.size.0 < way {
            let expected = "a line size and a number of ways above 0 that fit into the size";
            let found = format!("{} in lines of {}, {} ways", geometry.size, geometry.line, geometry.ways);
            return Err(Fault::new(field("geometry"), found, expected));
        }
        if geometry.size.0 <= smaller {
            let expected = format!("more than the level before it ({smaller})");
            return Err(Fault::new(field("geometry.size"), geometry.size.0, expected));
        }
        if geometry.ways > MOST_WAYS {
            let expected = format!("at most {MOST_WAYS}");
            return Err(Fault::new(field("geometry.ways"), geometry.ways, expected));
        }
        if level.shared_by == 0 {
            return Err(Fault::new(field("shared_by"), 0, "1 (private) or more"));
        }
        smaller = geometry.size.0;
    }
    Ok(())
}

fn check_approach(field: &str, times: &ApproachTimes, levels: usize) -> Result<(), Fault> {
    check_positive(&format!("{field}.fully_cold"), &times.fully_cold)?;
    for experiment in [Experiment::A1, Experiment::A2] {
        if !times.cached.contains_key(&experiment) {
            let expected = "hot and cold times, which can be measured with one processor";
            return Err(Fault::new(format!("{field}.cached.{experiment}"), "missing", expected));
        }
    }
    for thread_stack in ThreadStack::ALL {
        let key = match thread_stack {
            ThreadStack::Cached => "cached",
            ThreadStack::Migrates => "migrates",
        };
        for (experiment, receive) in times.with(thread_stack) {
            check_receive(&format!("{field}.{key}.{experiment}"), receive, levels)?;
        }
    }
    let hot = &times.cached[&Experiment::A1].hot;
    check_order(&format!("{field}.fully_cold.mean"), hot, &times.fully_cold)
}

fn check_receive(field: &str, receive: &ReceiveTimes, levels: usize) -> Result<(), Fault> {
    check_positive(&format!("{field}.hot"), &receive.hot)?;
    if receive.cold.len() + 1 != levels {
        let expected = format!("{} (one for each level but the last)", levels - 1);
        return Err(Fault::new(format!("{field}.cold"), format!("{} times", receive.cold.len()), expected));
    }
    let mut warmer = &receive.hot;
    for (index, cold) in receive.cold.iter().enumerate() {
        check_positive(&format!("{field}.cold.{index}"), cold)?;
        check_order(&format!("{field}.cold.{index}.mean"), warmer, cold)?;
        warmer = cold;
    }
    Ok(())
}

/// Checks that a colder state is not faster than a warmer one by more than the half-widths of both.
fn check_order(field: &str, warmer: &Measured, colder: &Measured) -> Result<(), Fault> {
    let slack = [warmer, colder].into_iter().filter_map(|time| time.half_width).sum::<Nanos>();
    if colder.mean + slack < warmer.mean {
        let expected = format!("at least the {} ns of the warmer state", warmer.mean.0);
        return Err(Fault::new(field, format!("{} ns", colder.mean.0), expected));
    }
    Ok(())
}

fn check_positive(field: &str, time: &Measured) -> Result<(), Fault> {
    if time.mean.0 <= 0.0 {
        let expected = format!("a duration above 0 ns, at most 1 s ({} ns)", LONGEST.0);
        return Err(Fault::new(format!("{field}.mean"), found(time.mean), expected));
    }
    check_duration(field, time)
}

/// Checks an overhead, which is a difference of two means and may be negative within its half-width.
fn check_duration(field: &str, time: &Measured) -> Result<(), Fault> {
    let slack = time.half_width.unwrap_or(Nanos::ZERO);
    check_time(&format!("{field}.half_width"), slack)?;
    if time.mean.0 < 0.0 && time.mean + slack >= Nanos::ZERO {
        return Ok(());
    }
    check_time(&format!("{field}.mean"), time.mean)
}

/// `time` in nanoseconds, in scientific notation if it is very large.
fn found(time: Nanos) -> String {
    if time.0.abs() < 1e15 { format!("{} ns", time.0) } else { format!("{:e} ns", time.0) }
}

fn check_time(field: &str, time: Nanos) -> Result<(), Fault> {
    if (Nanos::ZERO..=LONGEST).contains(&time) {
        return Ok(());
    }
    Err(Fault::new(field, found(time), format!("between 0 ns and 1 s ({} ns)", LONGEST.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{FrameLines, Packets};
    use warmcore_topology::Geometry;
    use warmcore_units::{Bytes, Transport};

    const WIDE: Geometry = Geometry { size: Bytes(1 << 40), line: Bytes(64), ways: 1 };

    /// The field for which the published profile is refused after `spoil` has changed it.
    fn refused(spoil: impl FnOnce(&mut Profile)) -> String {
        let mut profile = Profile::sgi_challenge_xl();
        spoil(&mut profile);
        profile.check().expect_err("a spoilt profile is refused").field
    }

    #[test]
    fn the_published_profile_is_valid_and_complete() {
        let profile = Profile::sgi_challenge_xl();
        profile.check().unwrap();
        assert!(profile.is_complete());
    }

    #[test]
    fn impossible_values_are_refused_with_their_field() {
        let a1 = |p: &mut Profile| p.times.locking.cached.remove(&Experiment::A1);
        assert_eq!(refused(|p| p.schema = 2), "schema");
        assert_eq!(refused(|p| p.levels.clear()), "levels");
        assert_eq!(refused(|p| p.levels[0].shared_by = 0), "levels.0.shared_by");
        assert_eq!(refused(|p| p.levels.swap(0, 1)), "levels.1.geometry.size");
        assert_eq!(refused(|p| p.levels[1].geometry.ways = 0), "levels.1.geometry");
        let mut no_ways = Profile::sgi_challenge_xl();
        no_ways.levels[0].geometry.ways = 0;
        let fault = no_ways.check().unwrap_err();
        assert!(fault.found.ends_with("in lines of 32 B, 0 ways"), "{}", fault.found);
        assert_eq!(refused(|p| p.intervening.w = f64::NAN), "intervening.w");
        assert_eq!(refused(|p| drop(a1(p))), "times.locking.cached.A1");
        assert_eq!(
            refused(|p| p.times.independent_stacks.fully_cold.mean = Nanos(-1.0)),
            "times.independent-stacks.fully_cold.mean"
        );
        assert_eq!(
            refused(|p| p.free_memory.as_mut().unwrap().release.mean = Nanos(-5.0)),
            "free_memory.release.mean"
        );
        assert_eq!(
            refused(|p| p.levels[1].geometry = Geometry { ways: 1 << 17, ..WIDE }),
            "levels.1.geometry.ways"
        );
        assert_eq!(refused(|p| p.intervening.references_per_us = 1e300), "intervening.references_per_us");
        assert_eq!(refused(|p| p.provenance.handover = Some(Nanos(2e9))), "provenance.handover");
    }

    /// With a time of 1e300 ns a simulation would never end.
    #[test]
    fn times_over_a_second_are_refused_with_the_allowed_range() {
        for spoil in [
            (|p, time| p.times.locking.fully_cold.mean = time) as fn(&mut Profile, Nanos),
            |p, time| p.times.locking.fully_cold.half_width = Some(time),
            |p, time| p.free_memory.as_mut().unwrap().acquire.mean = time,
            |p, time| {
                p.times.independent_stacks.migrates.get_mut(&Experiment::B3).unwrap().cold[0].mean = time;
            },
        ] {
            let spoilt = |time| {
                let mut profile = Profile::sgi_challenge_xl();
                spoil(&mut profile, Nanos(time));
                profile.check()
            };
            for time in [1.001e9, 1e300, f64::NAN] {
                let fault = spoilt(time).unwrap_err();
                assert!(fault.expected.contains("1 s (1000000000 ns)"), "{fault}");
            }
        }
    }

    #[test]
    fn hot_times_above_cold_ones_are_refused_unless_half_widths_explain_it() {
        let slow_hot = |half_width: Option<f64>| {
            move |p: &mut Profile| {
                let b3 = p.times.locking.migrates.get_mut(&Experiment::B3).unwrap();
                b3.hot.mean = b3.cold[0].mean + Nanos(10.0);
                b3.hot.half_width = half_width.map(Nanos);
            }
        };
        assert_eq!(refused(slow_hot(None)), "times.locking.migrates.B3.cold.0.mean");
        assert_eq!(refused(slow_hot(Some(9.0))), "times.locking.migrates.B3.cold.0.mean");
        let mut profile = Profile::sgi_challenge_xl();
        slow_hot(Some(11.0))(&mut profile);
        profile.check().unwrap();
    }

    #[test]
    fn a_profile_survives_a_toml_round_trip() {
        let mut profile = Profile::sgi_challenge_xl();
        let packets = Packets {
            frames: FrameLines::Resident,
            transport: Transport::Rpc,
            payload_bytes: 64,
            checksum: true,
            handler_bytes: 256,
            reply_bytes: 32,
        };
        profile.provenance.packets = Some(packets);
        let text = toml::to_string(&profile).unwrap();
        assert_eq!(toml::from_str::<Profile>(&text).unwrap(), profile);
    }
}
