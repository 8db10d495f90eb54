//! Figures of run queues with their intervals, in words.

use warmcore_units::Estimate;

/// With one digit.
pub(crate) fn plain(estimate: &Estimate<f64>) -> String {
    match estimate.half() {
        _ if estimate.mean.is_nan() => "–".to_owned(),
        half if half.is_finite() => format!("{:.1} ± {half:.1}", estimate.mean),
        _ => format!("{:.1} (no interval)", estimate.mean),
    }
}

/// With two digits and a unit.
pub(crate) fn with_unit(estimate: &Estimate<f64>, unit: &str) -> String {
    match estimate.half() {
        _ if estimate.mean.is_nan() => "–".to_owned(),
        half if half.is_finite() => format!("{:.2} ± {half:.2} {unit}", estimate.mean),
        _ => format!("{:.2} {unit} (no interval)", estimate.mean),
    }
}
