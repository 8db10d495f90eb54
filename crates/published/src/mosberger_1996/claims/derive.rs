//! Steps that recipes are made of.

pub(super) use crate::claim::stated_in;
use crate::mosberger_1996::values::{Found, Quantity};
use crate::mosberger_1996::{Build, Measurements, Protocols};
use crate::reading::REWRITTEN;
use crate::{Finding, Reading, Value, ValueAt};

/// How a figure of a table is read, if ours is given in percent of it.
pub(super) const AS_PRINTED: Reading = Reading::Rewritten(100.0);

/// A bound that is a figure of a table itself, such as "more than 3.9" of a printed 3.91: met as such a figure is.
pub(super) const fn more_than_printed(figure: f64) -> Reading {
    Reading::MoreThan(figure * (1.0 - REWRITTEN))
}

/// The recipe of a column of a table.
pub(super) const IN_PERCENT: &str = "ours in percent of the printed figure, for every build of both stacks";

/// A value.
pub(super) fn one(value: Found<impl Into<Value>>) -> Option<Finding> {
    cases([("", "", value)])
}

/// Values at several places.
pub(super) fn at<P: Into<String>>(
    found: impl IntoIterator<Item = (P, Found<impl Into<Value>>)>,
) -> Option<Finding> {
    cases(found.into_iter().map(|(place, value)| ("", place, value)))
}

/// The same for several cases; without any value, but with the reason, if one of them is missing.
pub(super) fn cases<C: Into<String>, P: Into<String>>(
    found: impl IntoIterator<Item = (C, P, Found<impl Into<Value>>)>,
) -> Option<Finding> {
    let values: Found<Vec<ValueAt>> =
        found.into_iter().map(|(case, place, value)| Ok(ValueAt::new(place, value?).in_case(case))).collect();
    match values {
        Ok(found) => Finding::new(found, ""),
        Err(reason) => Some(Finding::nothing(reason)),
    }
}

/// A value of each stack, which is a case of its own.
pub(super) fn both<V: Into<Value>>(value: impl Fn(Protocols) -> Found<V>) -> Option<Finding> {
    cases(Protocols::ALL.map(|stack| (stack.to_string(), "", value(stack))))
}

/// A value of each of these builds of both stacks.
pub(super) fn each<V: Into<Value>>(
    builds: &[Build],
    value: impl Fn(Protocols, Build) -> Found<V>,
) -> Option<Finding> {
    let value = &value;
    cases(Protocols::ALL.into_iter().flat_map(|stack| {
        builds.iter().map(move |&build| (stack.to_string(), build.to_string(), value(stack, build)))
    }))
}

/// A value of each of these steps, from one build to another, of both stacks.
pub(super) fn steps<V: Into<Value>>(
    steps: &[(Build, Build)],
    value: impl Fn(Protocols, Build, Build) -> Found<V>,
) -> Option<Finding> {
    let value = &value;
    cases(Protocols::ALL.into_iter().flat_map(|stack| {
        steps
            .iter()
            .map(move |&(from, to)| (stack.to_string(), format!("{from} to {to}"), value(stack, from, to)))
    }))
}

/// A quantity of every build in percent of the printed one.
pub(super) fn printed(
    m: &Measurements,
    quantity: Quantity,
    figure: impl Fn(Protocols, Build) -> f64,
) -> Option<Finding> {
    each(&Build::ALL, |stack, build| {
        Ok(m.spread(stack, build, quantity)?.in_percent_of(figure(stack, build)))
    })
}

/// By how many percent a quantity falls in each of these steps.
pub(super) fn falls(m: &Measurements, quantity: Quantity, of: &[(Build, Build)]) -> Option<Finding> {
    steps(of, |stack, from, to| Ok(m.spread(stack, to, quantity)?.below(&m.spread(stack, from, quantity)?)))
}

/// `ours` in percent of the figure that is `printed`.
pub(super) fn in_percent(ours: u64, printed: u64) -> Value {
    Value::exact(100.0 * ours as f64 / printed as f64)
}
