//! How arrival processes are read: `poisson`, or `trains:cars=8,gap-us=40`.

use super::{distribution, quantity};
use toml::{Table, Value};
use warmcore_scenario::Process;

/// The processes that --process takes, each with all its parameters.
const PROCESSES: [&str; 7] = [
    "poisson",
    "constant",
    "periodic",
    "modulated:ratio=10,calm-us=5000,busy-us=500",
    "trains:cars=8,gap-us=40,gaps=fixed",
    "self-similar:alpha=1.4,burst=20,peak=10",
    "closed:window=1,think-us=1000,distribution=exponential",
];

/// The parameters that may be left out.
const OPTIONAL: [&str; 3] = ["gaps", "window", "distribution"];

/// Reads a process and its parameters, which are those of a scenario.
pub(crate) fn parse(text: &str) -> Result<Process, String> {
    let (name, parameters) = split(text);
    let name = name.to_lowercase();
    let Some(example) = PROCESSES.into_iter().find(|example| split(example).0 == name) else {
        let names = PROCESSES.map(|example| split(example).0);
        return Err(format!("there is no process `{name}`: expected {}", listed(&names, "or")));
    };
    let known: Vec<(&str, &str)> =
        split(example).1.map(|parameter| assignment(parameter)).collect::<Result<_, _>>()?;
    let mut given = Table::new();
    for parameter in parameters {
        let (field, value) = value(&name, &known, parameter)?;
        if given.insert(field, value).is_some() {
            return Err(format!("`{parameter}`: the parameter is given twice"));
        }
    }
    let missing = known
        .iter()
        .map(|known| known.0)
        .find(|key| !OPTIONAL.contains(key) && !given.contains_key(&field(key)));
    if let Some(key) = missing {
        return Err(format!("`{name}` lacks `{key}`: expected {example}"));
    }
    let document = match known.is_empty() {
        true => Value::from(name),
        false => Table::from_iter([(name, given.into())]).into(),
    };
    document.try_into().map_err(|error: toml::de::Error| error.message().trim().replace('\n', "; "))
}

/// The name of a process, and its parameters.
fn split(text: &str) -> (&str, impl Iterator<Item = &str>) {
    let (name, parameters) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
    (name.trim(), parameters.into_iter().flat_map(|parameters| parameters.split(',')))
}

/// The key and the value of a parameter.
fn assignment(parameter: &str) -> Result<(&str, &str), String> {
    let assigned = parameter.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
    assigned.ok_or_else(|| format!("`{parameter}`: expected KEY=VALUE"))
}

/// A parameter as a field of a document. `known` are those of the process `name`, with examples of their values.
fn value(name: &str, known: &[(&str, &str)], parameter: &str) -> Result<(String, Value), String> {
    if known.is_empty() {
        return Err(format!("`{name}` takes no parameters, and `{parameter}` is given"));
    }
    let (key, value) = assignment(parameter)?;
    let key = key.to_lowercase().replace('_', "-");
    let Some((_, example)) = known.iter().find(|known| known.0 == key) else {
        let keys: Vec<&str> = known.iter().map(|known| known.0).collect();
        return Err(format!("`{name}` has no parameter `{key}`: expected {}", listed(&keys, "and")));
    };
    if key == "distribution" {
        let distribution = distribution::parse(value)?;
        let read = Value::try_from(distribution).map_err(|error| error.to_string())?;
        return Ok((field(&key), read));
    }
    if key == "window" {
        let window =
            value.parse::<u32>().map_err(|_| format!("`{key}` is `{value}`, expected a whole number"))?;
        return Ok((field(&key), i64::from(window).into()));
    }
    if example.parse::<f64>().is_err() {
        return match value {
            "fixed" | "exponential" => Ok((field(&key), value.into())),
            _ => Err(format!("`{key}` is `{value}`, expected fixed or exponential")),
        };
    }
    let number = match key.ends_with("-us") {
        true => quantity::micros(value).map_err(|expected| format!("`{key}` is `{value}`, {expected}")),
        false => quantity::number(value)
            .map_err(|_| format!("`{key}` is `{value}`, expected a number such as {key}={example}")),
    };
    Ok((field(&key), number?.into()))
}

/// A key as documents have it.
fn field(key: &str) -> String {
    key.replace('-', "_")
}

/// `a, b and c`.
fn listed(names: &[&str], and: &str) -> String {
    match names {
        [names @ .., last] if !names.is_empty() => format!("{} {and} {last}", names.join(", ")),
        names => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_a_process_of_that_name() {
        for example in PROCESSES {
            let process = parse(example).expect(example);
            assert_eq!(process.name(), split(example).0);
            assert_eq!(parse(&example.to_uppercase().replace("FIXED", "fixed")), Ok(process), "{example}");
        }
    }

    #[test]
    fn a_time_may_have_its_unit() {
        assert_eq!(
            parse("modulated:ratio=10,calm-us=5ms,busy_us=500us"),
            parse("modulated:ratio=10,calm-us=5000,busy-us=500")
        );
        assert_eq!(parse("trains:cars=8,gap-us=40"), parse("trains:cars=8,gap-us=0.04ms,gaps=exponential"));
    }

    #[test]
    fn a_refusal_speaks_the_words_of_the_option() {
        for (text, problem) in [
            (
                "foo",
                "there is no process `foo`: expected poisson, constant, periodic, modulated, trains, self-similar or closed",
            ),
            ("poisson:a=1", "`poisson` takes no parameters, and `a=1` is given"),
            ("trains:cars=8", "`trains` lacks `gap-us`: expected trains:cars=8,gap-us=40,gaps=fixed"),
            ("trains", "`trains` lacks `cars`"),
            ("trains:cars=8,gap=4", "`trains` has no parameter `gap`: expected cars, gap-us and gaps"),
            ("trains:cars", "`cars`: expected KEY=VALUE"),
            ("trains:cars=8,gap-us=40,gaps=odd", "`gaps` is `odd`, expected fixed or exponential"),
            ("modulated:ratio=10,calm-us=five", "`calm-us` is `five`, expected microseconds"),
            ("trains:cars=8,cars=9,gap-us=40", "`cars=9`: the parameter is given twice"),
            ("closed:window=1", "`closed` lacks `think-us`"),
            ("closed:think-us=1,window=1.5", "`window` is `1.5`, expected a whole number"),
            ("closed:think-us=1,distribution=odd", "there is no distribution `odd`"),
            ("self-similar:alpha=x", "`alpha` is `x`, expected a number such as alpha=1.4"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(problem), "{text}: {error}");
        }
    }
}
