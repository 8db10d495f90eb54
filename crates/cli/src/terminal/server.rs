//! A comparison of a server's predictions in a terminal.

use super::{estimate, table};
use warmcore_study::compare::present::percent;
use warmcore_study::server::best::best;
use warmcore_study::server::compare::ServerComparison;
use warmcore_study::server::point::{JudgedQuantity, ServerPoint, Term};
use warmcore_study::server::present::compared::headline;

/// Every point of `comparison`.
pub(crate) fn comparison(comparison: &ServerComparison) -> String {
    let mut points =
        table(["sharing", "load", "rate", "delay", "error", "cpu time", "error", "judged", "term at fault"]);
    for compared in &comparison.compared {
        for point in &compared.points {
            let measured = |quantity: JudgedQuantity| {
                point
                    .measured
                    .map_or_else(|| "not known".to_owned(), |figures| estimate(&quantity.value_in(&figures)))
            };
            points.add_row([
                compared.policy.to_string(),
                format!("{:.0}%", point.load * 100.0),
                point.rate.to_string(),
                measured(JudgedQuantity::Delay),
                error(point, JudgedQuantity::Delay),
                measured(JudgedQuantity::Cpu),
                error(point, JudgedQuantity::Cpu),
                point.judgement().map_or_else(
                    || point.unjudged().unwrap_or("no").to_owned(),
                    |judgement| judgement.to_string(),
                ),
                point.term().unwrap_or(Term::None).to_string(),
            ]);
        }
    }
    let mut text = format!("\n{points}\nErrors are predicted over measured, less one.\n");
    for best in best(comparison).iter().filter(|best| best.matters()) {
        text += &format!(
            "At {}, {} is least with {} ({:.0}% more with the worst); predicted was {}, which measured {:.0}% more.\n",
            best.rate,
            best.quantity,
            best.measured,
            best.spread * 100.0,
            best.predicted,
            best.regret * 100.0
        );
    }
    for note in &comparison.notes {
        text += &format!("note: {note}\n");
    }
    text + &format!("\n{}\n", headline(comparison))
}

fn error(point: &ServerPoint, quantity: JudgedQuantity) -> String {
    match point.error(quantity) {
        Some(error) if point.unjudged().is_none() => percent(&error),
        _ => "not judged".to_owned(),
    }
}
