//! Whether the prediction names the policy that measures best, at each rate.

use super::compare::ServerComparison;
use super::point::{JudgedQuantity, ServerPoint};
use warmcore_scenario::ServerPolicy;
use warmcore_units::PerSecond;

/// Policies that differ by less than this are equally good.
pub const EQUAL: f64 = 0.1;

/// The best policy at one rate, predicted and measured.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Best {
    /// The rate.
    pub rate: PerSecond,
    /// In what it is best.
    pub quantity: JudgedQuantity,
    /// The policy with the least predicted value.
    pub predicted: ServerPolicy,
    /// The policy with the least measured value.
    pub measured: ServerPolicy,
    /// How much more the worst measured, as a fraction of the best.
    pub spread: f64,
    /// Whether the intervals of the best and the worst are apart.
    pub distinct: bool,
    /// How much more the predicted one measured than the best.
    pub regret: f64,
}

impl Best {
    /// Whether policies differ enough for one to be called best, and by more than their intervals.
    #[must_use]
    pub fn matters(&self) -> bool {
        self.distinct && self.spread > EQUAL
    }

    /// Whether the predicted one is as good as the best.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.regret <= EQUAL
    }
}

/// The best policy at each rate, for each quantity, where at least two policies can be judged.
#[must_use]
pub fn best(comparison: &ServerComparison) -> Vec<Best> {
    let rates = comparison.compared.first().map_or(0, |compared| compared.points.len());
    let at = |index: usize| JudgedQuantity::ALL.map(|quantity| best_at(comparison, index, quantity));
    (0..rates).flat_map(at).flatten().collect()
}

fn best_at(comparison: &ServerComparison, index: usize, quantity: JudgedQuantity) -> Option<Best> {
    let values = |point: &ServerPoint| {
        point.unjudged().is_none().then_some(())?;
        let value = |figures| quantity.value_in(figures).mean.0;
        let measured = point.measured.as_ref()?;
        let half = quantity.value_in(measured).half();
        Some((value(point.predicted.as_ref()?), value(measured), half))
    };
    let points: Vec<(ServerPolicy, (f64, f64, f64))> = comparison
        .compared
        .iter()
        .filter_map(|compared| Some((compared.policy, values(compared.points.get(index)?)?)))
        .collect();
    if points.len() < 2 {
        return None;
    }
    let predicted = points.iter().min_by(|one, other| one.1.0.total_cmp(&other.1.0))?;
    let measured = points.iter().min_by(|one, other| one.1.1.total_cmp(&other.1.1))?;
    let worst = points.iter().max_by(|one, other| one.1.1.total_cmp(&other.1.1))?;
    Some(Best {
        rate: comparison.compared[0].points[index].rate,
        quantity,
        predicted: predicted.0,
        measured: measured.0,
        spread: worst.1.1 / measured.1.1 - 1.0,
        distinct: worst.1.1 - measured.1.1 > worst.1.2.hypot(measured.1.2),
        regret: predicted.1.1 / measured.1.1 - 1.0,
    })
}
