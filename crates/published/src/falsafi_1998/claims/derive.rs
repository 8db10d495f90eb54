//! Steps that recipes are made of. They give plain values; intervals come from evaluating the recipe more than once
//! ([`uncertainty`](crate::falsafi_1998::uncertainty)).

pub(super) use crate::claim::stated_in;
use crate::falsafi_1998::runs::Found;
use crate::falsafi_1998::work::App;
use crate::{Finding, Reading, Value, ValueAt};

/// How a printed gain of a program is read: from half to one and a half times as much.
pub(super) const fn gain(percent: f64) -> Reading {
    Reading::Near(percent, 0.5 * percent)
}

/// A value.
pub(super) fn one(value: Found<f64>) -> Option<Finding> {
    cases([("", "", value)])
}

/// Values at several places.
pub(super) fn at<P: Into<String>>(found: impl IntoIterator<Item = (P, Found<f64>)>) -> Option<Finding> {
    cases(found.into_iter().map(|(place, value)| ("", place, value)))
}

/// The same for several cases; without any value if one of them is missing.
pub(super) fn cases<C: Into<String>, P: Into<String>>(
    found: impl IntoIterator<Item = (C, P, Found<f64>)>,
) -> Option<Finding> {
    let at = |(case, place, value): (C, P, Found<f64>)| {
        Ok(ValueAt::new(place, Value::exact(value?)).in_case(case))
    };
    match found.into_iter().map(at).collect::<Found<Vec<_>>>() {
        Ok(found) => Finding::new(found, ""),
        Err(reason) => Some(Finding::nothing(reason)),
    }
}

/// A value of each of `apps`.
pub(super) fn each(
    apps: impl IntoIterator<Item = App>,
    value: impl Fn(App) -> Found<f64>,
) -> Option<Finding> {
    at(apps.into_iter().map(|app| (app.name(), value(app))))
}

/// How many of `values` are above zero.
pub(super) fn above_zero(values: impl IntoIterator<Item = Found<f64>>) -> Found<f64> {
    let values = values.into_iter().collect::<Found<Vec<_>>>()?;
    Ok(values.into_iter().filter(|&value| value > 0.0).count() as f64)
}

/// The least of `values`.
pub(super) fn least(values: impl IntoIterator<Item = Found<f64>>) -> Found<f64> {
    let values = values.into_iter().collect::<Found<Vec<_>>>()?;
    values.into_iter().reduce(f64::min).ok_or_else(|| "There are no values.".to_owned())
}

/// The greatest of `values`.
pub(super) fn greatest(values: impl IntoIterator<Item = Found<f64>>) -> Found<f64> {
    let values = values.into_iter().collect::<Found<Vec<_>>>()?;
    values.into_iter().reduce(f64::max).ok_or_else(|| "There are no values.".to_owned())
}

/// `a - b`.
pub(super) fn minus(a: Found<f64>, b: Found<f64>) -> Found<f64> {
    Ok(a? - b?)
}

/// By how many percent `a` exceeds `b`.
pub(super) fn above(a: Found<f64>, b: Found<f64>) -> Found<f64> {
    Ok(100.0 * (a? / b? - 1.0))
}

/// `a / b`.
pub(super) fn over(a: Found<f64>, b: Found<f64>) -> Found<f64> {
    Ok(a? / b?)
}

/// The first node size of 2 to `most` from which on all `gains` are above zero; `most + 1` if there is none.
pub(super) fn break_even(most: u32, gains: impl Fn(u32) -> Found<f64>) -> Found<f64> {
    let gains = (2..=most).map(gains).collect::<Found<Vec<_>>>()?;
    let behind = gains.iter().rposition(|&gain| gain <= 0.0);
    Ok(behind.map_or(2, |last| last + 3) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_break_even_is_the_first_size_from_which_on_all_gain() {
        let of = |gains: [f64; 4]| break_even(5, |n| Ok(gains[n as usize - 2])).unwrap();
        assert_eq!(of([1.0, 1.0, 1.0, 1.0]), 2.0);
        assert_eq!(of([-1.0, -1.0, 1.0, 1.0]), 4.0);
        assert_eq!(of([1.0, -1.0, 1.0, 1.0]), 4.0);
        assert_eq!(of([-1.0, -1.0, -1.0, -1.0]), 6.0);
    }

    #[test]
    fn a_missing_value_gives_its_reason_and_no_verdict() {
        let finding = at([("here", Ok(1.0)), ("there", Err("No result.".to_owned()))]).unwrap();
        assert_eq!((finding.found.len(), finding.note.as_str()), (0, "No result."));
    }
}
