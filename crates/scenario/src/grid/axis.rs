//! An axis of a grid: a field and its values, or several fields that vary together.

use serde::{Deserialize, Serialize};
use toml::Value;
use warmcore_units::Fault;

/// The most values of an axis.
pub const MAX_VALUES: u64 = 1_000_000;

/// What is varied. Either `field` with `values`, or with `from` and `to`; or `fields` with `values` that hold one value for
/// each of them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Axis {
    /// The dotted path of a field of the scenario, such as `traffic.streams`; or `load`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Fields that vary together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// The values in their order; of several `fields`, a list for each point of the axis.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Value>,
    /// The first value of a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Value>,
    /// The last value of a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Value>,
    /// How many values a range has. Without it, a range of whole numbers has all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Whether a range has equal steps or equal ratios.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spacing: Option<Spacing>,
}

/// How the values of a range follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// By equal steps.
    #[default]
    Linear,
    /// By equal ratios.
    Log,
}

impl Axis {
    /// The axis of `field` with these values.
    pub fn new(field: impl Into<String>, values: impl IntoIterator<Item = Value>) -> Self {
        Self { field: Some(field.into()), values: values.into_iter().collect(), ..Self::default() }
    }

    /// The axis on which `fields` vary together; each of `rows` holds a value for each of them.
    pub fn zipped(
        fields: impl IntoIterator<Item = String>,
        rows: impl IntoIterator<Item = Vec<Value>>,
    ) -> Self {
        let values = rows.into_iter().map(Value::Array).collect();
        Self { fields: fields.into_iter().collect(), values, ..Self::default() }
    }

    /// Its fields.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.field.iter().chain(&self.fields).map(String::as_str)
    }

    /// How many points it has.
    ///
    /// # Errors
    /// If it is a range that cannot be.
    pub fn points(&self) -> Result<u64, Fault> {
        match (&self.from, &self.to) {
            (None, None) => Ok(self.values.len() as u64),
            _ => Ok(self.range()?.len()),
        }
    }

    /// The values of each of its points, one for each field.
    ///
    /// # Errors
    /// If the axis is impossible.
    pub fn rows(&self) -> Result<Vec<Vec<Value>>, Fault> {
        self.check()?;
        Ok(match (&self.from, &self.field) {
            (Some(_), _) => self.range()?.values().map(|value| vec![value]).collect(),
            (None, Some(_)) => self.values.iter().map(|value| vec![value.clone()]).collect(),
            (None, None) => self.values.iter().filter_map(|row| row.as_array().cloned()).collect(),
        })
    }

    /// The same axis with its values in a list.
    ///
    /// # Errors
    /// If the axis is impossible.
    pub fn listed(&self) -> Result<Self, Fault> {
        if self.from.is_none() {
            return Ok(self.clone());
        }
        let values = self.rows()?.into_iter().flatten().collect();
        Ok(Self { field: self.field.clone(), values, ..Self::default() })
    }

    /// The listed values of `field`, if it is one of the axis.
    pub(super) fn values_of<'a>(&'a self, field: &str) -> impl Iterator<Item = &'a Value> {
        let place = self.fields().position(|of| of == field);
        let is_single = self.field.is_some();
        self.values.iter().filter_map(move |value| match (place?, is_single) {
            (_, true) => Some(value),
            (place, false) => value.as_array()?.get(place),
        })
    }

    /// # Errors
    /// The first field of the axis that cannot be.
    pub(super) fn check(&self) -> Result<(), Fault> {
        match (&self.field, self.fields.len()) {
            (None, 0) => {
                return Err(Fault::new("field", "missing", "the path of a field, such as `traffic.streams`"));
            }
            (Some(_), 1..) => return Err(Fault::new("fields", "given beside `field`", "one of the two")),
            _ => {}
        }
        if let Some(empty) = self.fields().find(|field| field.split('.').any(str::is_empty)) {
            return Err(Fault::new("field", format!("`{empty}`"), "names with dots between them"));
        }
        match (&self.from, &self.to) {
            (Some(_), Some(_)) if !self.values.is_empty() => {
                Err(Fault::new("values", "given beside `from` and `to`", "a list or a range"))
            }
            (Some(_), Some(_)) if self.field.is_none() => {
                Err(Fault::new("from", "given for several fields", "`values`, with a list for each point"))
            }
            (Some(_), Some(_)) => self.range().map(drop),
            (None, None) if self.count.is_some() || self.spacing.is_some() => {
                Err(Fault::new("from", "missing", "the first value of the range"))
            }
            (None, None) => self.check_list(),
            (None, Some(_)) => Err(Fault::new("from", "missing", "the first value of the range")),
            (Some(_), None) => Err(Fault::new("to", "missing", "the last value of the range")),
        }
    }

    fn check_list(&self) -> Result<(), Fault> {
        if self.values.is_empty() {
            return Err(Fault::new("values", "empty", "at least one value"));
        }
        if let Some(twice) = first_repeated(&self.values) {
            return Err(Fault::new("values", format!("{twice} twice"), "distinct values"));
        }
        let wanted = self.fields.len();
        let is_row = |row: &Value| row.as_array().is_some_and(|row| row.len() == wanted);
        match self.values.iter().find(|row| wanted > 0 && !is_row(row)) {
            Some(other) => {
                let expected = format!("a list of {wanted} values, one for each field");
                Err(Fault::new("values", other, expected))
            }
            None => Ok(()),
        }
    }

    fn range(&self) -> Result<Range, Fault> {
        let (Some(from), Some(to)) = (&self.from, &self.to) else {
            return Err(Fault::new("from", "missing", "the first and the last value of a range"));
        };
        let spacing = self.spacing.unwrap_or_default();
        let range = match (from, to, self.count) {
            (&Value::Integer(from), &Value::Integer(to), None) => {
                if spacing == Spacing::Log {
                    return Err(Fault::new(
                        "count",
                        "missing",
                        "how many values a range by equal ratios has",
                    ));
                }
                if from > to {
                    return Err(Fault::new("to", to, format!("at least {from}, the first value")));
                }
                Range::Whole { from, to }
            }
            (_, _, count) => {
                let number = |name: &str, value: &Value| {
                    let number = value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
                    let number = number.filter(|number| number.is_finite());
                    number.ok_or_else(|| Fault::new(name, value, "a number"))
                };
                let (from, to) = (number("from", from)?, number("to", to)?);
                let count =
                    count.ok_or_else(|| Fault::new("count", "missing", "how many values the range has"))?;
                if from == to {
                    return Err(Fault::new("to", to, "another value than the first"));
                }
                if count < 2 {
                    return Err(Fault::new("count", count, "at least 2, the first and the last value"));
                }
                if spacing == Spacing::Log && !(from > 0.0 && to > 0.0) {
                    return Err(Fault::new("from", from, "numbers above 0 for equal ratios"));
                }
                Range::Spaced { from, to, count, spacing }
            }
        };
        match range.len() {
            0..=MAX_VALUES => Ok(range),
            many => {
                Err(Fault::new("to", format!("the end of {many} values"), format!("at most {MAX_VALUES}")))
            }
        }
    }
}

/// The first value that stands twice. Lists are short, except those of whole numbers and names, which sort.
fn first_repeated(values: &[Value]) -> Option<&Value> {
    let mut texts: Vec<(String, &Value)> = values.iter().map(|value| (as_number(value), value)).collect();
    texts.sort_by(|one, other| one.0.cmp(&other.0));
    texts.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1].1)
}

/// The text of `value`, in which numbers that are equal are written alike: 1000.0 as 1000, and -0.0 as 0.
fn as_number(value: &Value) -> String {
    match value {
        &Value::Float(number) if number.fract() == 0.0 && number.abs() < i64::MAX as f64 => {
            (number as i64).to_string()
        }
        Value::Array(values) => format!("[{}]", values.iter().map(as_number).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

enum Range {
    Whole { from: i64, to: i64 },
    Spaced { from: f64, to: f64, count: u64, spacing: Spacing },
}

impl Range {
    fn len(&self) -> u64 {
        match *self {
            Self::Whole { from, to } => to.abs_diff(from).saturating_add(1),
            Self::Spaced { count, .. } => count,
        }
    }

    fn values(&self) -> Box<dyn Iterator<Item = Value>> {
        match *self {
            Self::Whole { from, to } => Box::new((from..=to).map(Value::Integer)),
            Self::Spaced { from, to, count, spacing } => {
                let last = (count - 1) as f64;
                let at = move |place: u64| match (place, spacing) {
                    // The ends are what was given, without the errors of rounding.
                    (0, _) => from,
                    (place, _) if place + 1 == count => to,
                    (place, Spacing::Linear) => from + (to - from) * (place as f64 / last),
                    (place, Spacing::Log) => from * (to / from).powf(place as f64 / last),
                };
                Box::new((0..count).map(move |place| Value::Float(at(place))))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(text: &str) -> Axis {
        toml::from_str(text).expect("an axis")
    }

    fn values(text: &str) -> Vec<Value> {
        axis(text).rows().expect("possible").into_iter().flatten().collect()
    }

    #[test]
    fn ranges_have_their_ends_and_equal_steps_or_ratios() {
        assert_eq!(values("field = 'seed'\nfrom = 1\nto = 3"), [1, 2, 3].map(Value::Integer));
        let linear = values("field = 'load'\nfrom = 0.1\nto = 0.9\ncount = 3");
        assert_eq!(linear, [0.1, 0.5, 0.9].map(Value::Float));
        let log = values("field = 'rate_per_s'\nfrom = 1e3\nto = 1e5\ncount = 3\nspacing = 'log'");
        assert_eq!((&log[0], &log[2]), (&Value::Float(1e3), &Value::Float(1e5)));
        assert!((log[1].as_float().expect("a number") / 1e4 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_axis_is_refused_with_its_field() {
        for (text, field) in [
            ("values = [1]", "field"),
            ("field = 'a'\nfields = ['b']\nvalues = [1]", "fields"),
            ("field = 'a..b'\nvalues = [1]", "field"),
            ("field = 'a'", "values"),
            ("field = 'a'\nvalues = [1, 2, 1]", "values"),
            ("field = 'a'\nvalues = [1000, 1000.0]", "values"),
            ("field = 'a'\nvalues = [0.0, 0.5, -0.0]", "values"),
            ("field = 'a'\nvalues = [-0.0, 0]", "values"),
            ("fields = ['a', 'b']\nvalues = [[1, 2.0], [1.0, 2]]", "values"),
            ("field = 'a'\nfrom = 1\nto = 1.0\ncount = 3", "to"),
            ("field = 'a'\nvalues = [1]\nfrom = 1\nto = 2", "values"),
            ("field = 'a'\nfrom = 1", "to"),
            ("field = 'a'\nfrom = 2\nto = 1", "to"),
            ("field = 'a'\nfrom = 1\nto = 2000000000", "to"),
            ("field = 'a'\nfrom = 0.5\nto = 1", "count"),
            ("field = 'a'\nfrom = 0.0\nto = 1\ncount = 3\nspacing = 'log'", "from"),
            ("fields = ['a', 'b']\nvalues = [[1, 2], [3]]", "values"),
        ] {
            assert_eq!(axis(text).check().expect_err(text).field, field, "{text}");
        }
    }

    #[test]
    fn values_that_differ_are_points_of_their_own() {
        let text = "field = 'a'\nvalues = [1, 1.5, 9223372036854775807, 1e300, '1', [1], true]";
        assert_eq!(values(text).len(), 7);
    }
}
