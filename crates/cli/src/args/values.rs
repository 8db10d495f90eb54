//! How the values of flags are read: names, profiles, sizes, processes.
//!
//! No name stands here: those of policies and the like are the ones that documents use, asked of
//! the types themselves.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use core::fmt;
use serde::de::{DeserializeOwned, IntoDeserializer, value};
use std::sync::Arc;
use warmcore_scenario::{Process, ProfileSource};
use warmcore_workload::Size;

/// Reads the names that documents use for `T`, in letters of either case; the help lists them.
pub(crate) fn names<T>() -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(Names::list::<T>())
        .try_map(|name| T::deserialize(deserializer::<value::Error>(&name.to_lowercase())))
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

/// A seed: any number that a document can hold.
pub(crate) fn seed() -> impl TypedValueParser<Value = u64> {
    const MAX: u64 = i64::MAX as u64;
    clap::value_parser!(u64).range(..=MAX)
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
    let expected =
        || format!("`{text}`: expected BYTES:WEIGHT, such as 64:3, with at most {} bytes", u16::MAX);
    Ok(Size {
        bytes: super::quantity::bytes(bytes).map_err(|_| expected())?,
        weight: weight.trim().parse().map_err(|_| expected())?,
    })
}

/// A process with its parameters as a document has them: `poisson`, or `trains:cars=8,gap-us=40`.
pub(crate) fn process(text: &str) -> Result<Process, String> {
    let read = |document: toml::Value| {
        document.try_into().map_err(|error: toml::de::Error| error.message().trim().replace('\n', "; "))
    };
    let with = |name: &str, parameters| read(toml::Table::from_iter([(name.to_owned(), parameters)]).into());
    match text.split_once(':') {
        // Of a process that has parameters, the second attempt names the first that is missing.
        None => read(text.into()).or_else(|_| with(text, toml::Table::new().into())),
        Some((name, parameters)) => {
            let parameters = parameters.split(',').map(parameter).collect::<Result<toml::Table, _>>()?;
            with(name, parameters.into())
        }
    }
}

/// `KEY=VALUE`; a value that is no number is a name. Words of a key may be joined as those of a
/// flag are.
fn parameter(text: &str) -> Result<(String, toml::Value), String> {
    let (key, value) = text.split_once('=').ok_or_else(|| format!("`{text}`: expected KEY=VALUE"))?;
    let number = value.trim().parse::<f64>().map(toml::Value::from);
    Ok((key.trim().replace('-', "_"), number.unwrap_or_else(|_| value.trim().into())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_scenario::{Parallelism, ProcessorPolicy};

    #[test]
    fn a_type_tells_its_own_names() {
        assert_eq!(Names::list::<Parallelism>(), ["locking", "ips", "hybrid"]);
        let policies = Names::list::<ProcessorPolicy>();
        assert!(
            policies.contains(&"mru") && policies.contains(&"wired") && policies.contains(&"hash-stealing")
        );
    }

    #[test]
    fn a_process_takes_the_parameters_of_its_document() {
        assert_eq!(process("constant"), Ok(Process::Constant));
        let Ok(Process::Trains(train)) = process("trains:cars=8,gap-us=40,gaps=fixed") else {
            panic!("trains")
        };
        assert_eq!((train.cars, train.gap.micros()), (8.0, 40.0));
        for (text, problem) in [
            ("trains:cars=8", "missing field `gap_us`"),
            ("trains:cars=8,gap=4", "unknown field `gap`, expected one of"),
            ("trains:cars", "expected KEY=VALUE"),
            ("trains", "missing field `cars`"),
            ("sometimes", "unknown variant `sometimes`, expected one of"),
        ] {
            let error = process(text).expect_err(text);
            assert!(error.contains(problem), "{text}: {error}");
        }
    }

    #[test]
    fn sizes_have_a_weight_of_one_unless_told_otherwise() {
        assert_eq!(size("64:3"), Ok(Size { bytes: 64, weight: 3.0 }));
        assert_eq!(size("1500"), Ok(Size { bytes: 1500, weight: 1.0 }));
        assert!(size("70000:1").is_err() && size("small").is_err());
    }
}
