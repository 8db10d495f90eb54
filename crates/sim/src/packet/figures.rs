//! Figures of what goes beyond Salehi 1994: what is lost at full queues, and the delays of each class.

use crate::packet::outcome::nanos;
use crate::packet::system::Finished;
use serde::{Deserialize, Serialize};
use warmcore_scenario::Extensions;
use warmcore_stats::batches::BatchMeans;
use warmcore_units::{Estimate, Nanos};

/// The figures of a host's [`Extensions`]; empty without them.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ExtensionFigures {
    /// The fraction of all packets that is lost, where queues are limited. Lost packets have no delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<Estimate<f64>>,
    /// The mean delay of each class, where there are priorities.
    #[serde(default, skip_serializing_if = "ClassDelays::is_empty")]
    pub classes: ClassDelays,
}

/// The mean delay of each class, the most urgent one first.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(from = "Vec<Estimate<Nanos>>", into = "Vec<Estimate<Nanos>>")]
pub struct ClassDelays {
    delays: [Estimate<Nanos>; Extensions::MAX_CLASSES],
    classes: usize,
}

impl Default for ClassDelays {
    fn default() -> Self {
        Self { delays: [Estimate::published(Nanos::ZERO); Extensions::MAX_CLASSES], classes: 0 }
    }
}

impl From<Vec<Estimate<Nanos>>> for ClassDelays {
    fn from(list: Vec<Estimate<Nanos>>) -> Self {
        list.into_iter().collect()
    }
}

impl From<ClassDelays> for Vec<Estimate<Nanos>> {
    fn from(classes: ClassDelays) -> Self {
        classes.as_slice().to_vec()
    }
}

/// Up to [`Extensions::MAX_CLASSES`] of them.
impl FromIterator<Estimate<Nanos>> for ClassDelays {
    fn from_iter<I: IntoIterator<Item = Estimate<Nanos>>>(list: I) -> Self {
        let mut classes = Self::default();
        for (place, delay) in classes.delays.iter_mut().zip(list) {
            *place = delay;
            classes.classes += 1;
        }
        classes
    }
}

impl ClassDelays {
    /// The delays, by class.
    #[must_use]
    pub fn as_slice(&self) -> &[Estimate<Nanos>] {
        &self.delays[..self.classes]
    }

    /// Whether there are no classes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.classes == 0
    }
}

impl ExtensionFigures {
    /// The same figures with infinite half-widths.
    pub(super) fn without_intervals(self) -> Self {
        let open = |delay: &Estimate<Nanos>| Estimate::new(delay.mean, Nanos::INFINITY);
        Self {
            lost: self.lost.map(|lost| Estimate::new(lost.mean, f64::INFINITY)),
            classes: self.classes.as_slice().iter().map(open).collect(),
        }
    }

    /// The figures of several runs; `estimate` gives the mean of their estimates.
    pub(super) fn combined(runs: &[Self], estimate: impl Fn(&[Estimate<f64>]) -> Estimate<f64>) -> Self {
        let lost: Option<Vec<Estimate<f64>>> = runs.iter().map(|run| run.lost).collect();
        let classes = runs.iter().map(|run| run.classes.classes).min().unwrap_or(0);
        let class = |class: usize| {
            let plain = |run: &Self| run.classes.delays[class].map(|time| time.0);
            estimate(&runs.iter().map(plain).collect::<Vec<_>>()).map(Nanos)
        };
        Self { lost: lost.map(|lost| estimate(&lost)), classes: (0..classes).map(class).collect() }
    }
}

/// Collects the figures of a run.
pub(super) struct ExtensionTally {
    /// For each finished packet, how many were lost since the one before.
    lost: Option<BatchMeans>,
    lost_before: u64,
    /// How many streams belong to a class or to a more urgent one.
    bounds: Vec<u32>,
    /// The delays of each class.
    classes: Vec<BatchMeans>,
}

impl ExtensionTally {
    /// Nothing yet. Losses count if queues are `limited`, and classes if there are several.
    pub(super) fn new(limited: bool, extensions: &Extensions) -> Self {
        let bounds = extensions.queues.bounds();
        let classes = if bounds.is_empty() { 0 } else { bounds.len() + 1 };
        Self {
            lost: limited.then(BatchMeans::default),
            lost_before: 0,
            bounds,
            classes: vec![BatchMeans::default(); classes],
        }
    }

    /// Records a finished packet; `lost` packets are lost so far.
    #[inline]
    pub(super) fn push(&mut self, finished: &Finished, lost: u64) {
        if let Some(means) = &mut self.lost {
            means.push([(lost - self.lost_before) as f64]);
            self.lost_before = lost;
        }
        if !self.classes.is_empty() {
            let class = self.bounds.partition_point(|&bound| bound <= finished.packet.stream.0);
            self.classes[class].push([finished.delay().0]);
        }
    }

    pub(super) fn figures(&self) -> ExtensionFigures {
        // Of 1 + x packets, x are lost for each one that is finished.
        let share = |means: &BatchMeans| {
            let [lost] = means.steady().intervals;
            let all = 1.0 + lost.mean;
            Estimate::new(lost.mean / all, lost.half_width / (all * all))
        };
        let delay = |means: &BatchMeans| {
            let [delay] = means.steady().intervals;
            nanos(delay)
        };
        ExtensionFigures {
            lost: self.lost.as_ref().map(share),
            classes: self.classes.iter().map(delay).collect(),
        }
    }
}
