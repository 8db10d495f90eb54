//! How the values of flags are read that are no numbers: names, lists of cpus, programs, profiles, sizes.
//!
//! No name stands here: those of policies and the like are the ones that documents use, asked of
//! the types themselves.

use super::whole;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command};
use core::fmt;
use core::ops::RangeInclusive;
use serde::de::{DeserializeOwned, IntoDeserializer, value};
use std::ffi::OsStr;
use std::sync::Arc;
use warmcore_scenario::limits::MAX_PROCESSORS;
use warmcore_scenario::{ProfileSource, Stacks};
use warmcore_topology::CpuSet;
use warmcore_workload::Size;

/// Reads the names that documents use for `T`; the help lists them.
pub(crate) fn names<T>() -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    one_of(Names::list::<T>().to_vec(), |name| T::deserialize(deserializer::<value::Error>(name)).ok())
}

/// Reads one of `names` by `read`, also as reports print it: in letters of either case, with spaces for hyphens. The
/// help lists the names.
pub(crate) fn one_of<T, F>(names: Vec<&'static str>, read: F) -> impl TypedValueParser<Value = T>
where
    T: Clone + Send + Sync + 'static,
    F: Fn(&str) -> Option<T> + Clone + Send + Sync + 'static,
{
    NameParser { names: PossibleValuesParser::new(names), read }
}

#[derive(Clone)]
struct NameParser<F> {
    names: PossibleValuesParser,
    read: F,
}

impl<T, F> TypedValueParser for NameParser<F>
where
    T: Clone + Send + Sync + 'static,
    F: Fn(&str) -> Option<T> + Clone + Send + Sync + 'static,
{
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        let plain = value.to_string_lossy().trim().to_lowercase().replace(' ', "-");
        let name = self.names.parse_ref(command, arg, OsStr::new(&plain));
        // The error quotes what was typed.
        let name = name.or_else(|_| self.names.parse_ref(command, arg, value))?;
        (self.read)(&name).ok_or_else(|| clap::Error::new(ErrorKind::InvalidValue).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.names.possible_values()
    }
}

fn deserializer<E: serde::de::Error>(name: &str) -> value::StrDeserializer<'_, E> {
    name.into_deserializer()
}

/// The names of a type's variants, which it tells when it is given another one.
#[derive(Debug)]
struct Names(&'static [&'static str]);

impl Names {
    fn list<T: DeserializeOwned>() -> &'static [&'static str] {
        T::deserialize(deserializer::<Self>("")).map_or_else(|Self(names)| names, |_| &[])
    }
}

impl serde::de::Error for Names {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self(&[])
    }

    fn unknown_variant(_: &str, names: &'static [&'static str]) -> Self {
        Self(names)
    }
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected one of {}", self.0.join(", "))
    }
}

impl core::error::Error for Names {}

/// Reads a seed: any number that a document can hold.
pub(crate) fn seed() -> impl TypedValueParser<Value = u64> {
    const MAX: u64 = i64::MAX as u64;
    whole::count::<u64>(0..=MAX)
}

/// Reads a number of processors.
pub(crate) fn processors() -> impl TypedValueParser<Value = u32> {
    whole::count::<u32>(1..=MAX_PROCESSORS.into())
}

/// A number of independent stacks, or the name of a rule.
pub(crate) fn stacks(text: &str) -> Result<Stacks, String> {
    let count = || whole::count(whole::ANY_32_BITS)(text).map(Stacks::Count);
    text.to_lowercase()
        .parse()
        .or_else(|_: String| count())
        .map_err(|_| "expected a whole number, `per-processor` or `per-stream`".to_owned())
}

/// Cpus that were typed as one number or as a range.
pub(crate) type CpuRange = RangeInclusive<u32>;

/// An element of a list of cpus: `0`, or `0-3` as lists are printed.
pub(crate) fn cpus(text: &str) -> Result<CpuRange, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let cpu = |text: &str| text.trim().parse().ok().filter(|cpu| *cpu < CpuSet::LIMIT);
    match (cpu(first), cpu(last)) {
        (Some(first), Some(last)) if first <= last => Ok(first..=last),
        _ => Err(format!("expected cpus such as 0 or 0-3, below {}", CpuSet::LIMIT)),
    }
}

/// Every cpu of a list, in the order in which they were typed.
pub(crate) fn each_cpu(list: &[CpuRange]) -> Vec<u32> {
    list.iter().cloned().flatten().collect()
}

/// A program and its arguments.
pub(crate) type ProgramLine = Arc<[String]>;

/// A program and its arguments, with quotes as in a shell.
pub(crate) fn program(line: &str) -> Result<ProgramLine, &'static str> {
    let words = shlex::split(line).filter(|words| !words.is_empty());
    words.map(Arc::from).ok_or("expected a program and its arguments, with quotes in pairs")
}

/// Where the costs come from: a built-in profile, or a file.
pub(crate) fn profile(text: &str) -> Result<ProfileSource, &'static str> {
    ProfileSource::try_from(text.to_owned())
}

/// A size of packets and its weight: `64:3`, or `64` for a weight of 1.
pub(crate) fn size(text: &str) -> Result<Size, String> {
    let (bytes, weight) = text.split_once(':').unwrap_or((text, "1"));
    let expected = || format!("expected BYTES:WEIGHT, such as 64:3, with at most {} bytes", u16::MAX);
    Ok(Size {
        bytes: whole::bytes(0..=u16::MAX.into())(bytes).map_err(|_| expected())?,
        weight: weight.trim().parse().map_err(|_| expected())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_scenario::{Parallelism, ProcessorPolicy};

    #[test]
    fn a_type_tells_its_own_names() {
        assert_eq!(Names::list::<Parallelism>(), ["locking", "independent-stacks", "ips", "hybrid"]);
        let policies = Names::list::<ProcessorPolicy>();
        assert!(
            policies.contains(&"mru") && policies.contains(&"wired") && policies.contains(&"hash-stealing")
        );
    }

    #[test]
    fn a_name_is_read_as_documents_and_reports_spell_it() {
        use ProcessorPolicy::{HashStealing, Mru, Patient, PowerOfTwo, ShortestQueue, WiredStreams};
        let parse = |text: &str| names().parse_ref(&Command::new("test"), None, OsStr::new(text)).ok();
        for policy in ProcessorPolicy::ALL {
            assert_eq!(parse(&policy.to_string()), Some(policy), "as reports print it");
        }
        for (text, policy) in [
            ("mru", Mru),
            ("wired", WiredStreams),
            ("WIRED-streams", WiredStreams),
            ("Shortest Queue", ShortestQueue),
            ("power-of-two", PowerOfTwo),
            ("hash-stealing", HashStealing),
            ("patient", Patient),
        ] {
            assert_eq!(parse(text), Some(policy), "{text}");
        }
        assert_eq!(parse("best"), None);
        let approach = |text: &str| names().parse_ref(&Command::new("test"), None, OsStr::new(text)).ok();
        for (text, parallelism) in [
            ("Locking", Parallelism::Locking),
            ("IPS", Parallelism::Ips),
            ("independent-stacks", Parallelism::Ips),
            ("Independent Stacks", Parallelism::Ips),
        ] {
            assert_eq!(approach(text), Some(parallelism), "{text}");
        }
    }

    #[test]
    fn cpus_are_read_as_they_are_printed() {
        assert_eq!((cpus("3"), cpus("0-2")), (Ok(3..=3), Ok(0..=2)));
        assert_eq!(each_cpu(&[4..=4, 0..=2]), [4, 0, 1, 2]);
        for text in ["", "-", "2-0", "0-", "a", "0-4294967295"] {
            assert!(cpus(text).is_err(), "{text}");
        }
    }

    #[test]
    fn stacks_are_a_number_or_a_rule() {
        assert_eq!((stacks("1k"), stacks("Per-Stream")), (Ok(Stacks::Count(1000)), Ok(Stacks::PerStream)));
        assert!(stacks("many").is_err() && stacks("-1").is_err());
    }

    #[test]
    fn sizes_have_a_weight_of_one_unless_told_otherwise() {
        assert_eq!(size("64:3"), Ok(Size { bytes: 64, weight: 3.0 }));
        assert_eq!(size("1500"), Ok(Size { bytes: 1500, weight: 1.0 }));
        assert!(size("70000:1").is_err() && size("small").is_err());
    }
}
