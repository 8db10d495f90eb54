//! Reports the progress of a calibration to an observer.

/// The progress of a calibration.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    /// Name of the current stage.
    pub stage: &'static str,
    /// The fraction of the whole that is done, from 0 to 1; never decreases.
    pub done: f64,
}

/// Receives the progress. It is called between runs, never during one.
pub type Observer<'a> = dyn FnMut(Progress) + 'a;

/// Converts the progress of a stage to that of the whole calibration.
pub(crate) struct ProgressReporter<'a> {
    observer: &'a mut Observer<'a>,
    stage: &'static str,
    from: f64,
    to: f64,
    last: f64,
}

impl<'a> ProgressReporter<'a> {
    pub(crate) fn new(observer: &'a mut Observer<'a>) -> Self {
        Self { observer, stage: "", from: 0.0, to: 0.0, last: 0.0 }
    }

    /// Starts a stage that ends when the fraction `to` of the whole is done.
    pub(crate) fn begin(&mut self, stage: &'static str, to: f64) {
        (self.stage, self.from, self.to) = (stage, self.to, to);
        self.at(0.0);
    }

    /// Reports that the fraction `part` of the stage is done.
    pub(crate) fn at(&mut self, part: f64) {
        let done = self.from + (self.to - self.from) * part.clamp(0.0, 1.0);
        self.last = self.last.max(done);
        (self.observer)(Progress { stage: self.stage, done: self.last });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_never_falls_and_ends_where_the_stages_end() {
        let mut seen = Vec::new();
        let mut observer = |progress: Progress| seen.push(progress.done);
        let mut report = ProgressReporter::new(&mut observer);
        report.begin("one", 0.5);
        report.at(0.8);
        report.at(0.2);
        report.at(7.0);
        report.begin("two", 1.0);
        report.at(1.0);
        assert!(seen.is_sorted() && seen.last() == Some(&1.0), "{seen:?}");
    }
}
