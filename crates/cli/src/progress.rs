//! Progress bars on standard error; silent when it is not a terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// How fine the bars are.
const STEPS: u64 = 1_000;

/// A bar named `stage`.
pub(crate) fn bar(stage: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:22} {bar:40} {percent:>3}%  {elapsed_precise}");
    let bar = ProgressBar::new(STEPS).with_message(stage);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// `part` (0 to 1) of the bar's stage is done.
pub(crate) fn set(bar: &ProgressBar, part: f64) {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the bar")]
    bar.set_position((part.clamp(0.0, 1.0) * STEPS as f64) as u64);
}
