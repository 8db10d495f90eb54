//! A plan in a terminal: what moves from where to where, why, and what is gained.

mod groups;

use super::table;
use groups::Group;
use warmcore_study::placement::{HostPlacement, Performance};
use warmcore_units::Estimate;

/// The most lines that get a row.
const ROWS: usize = 24;

/// A row of the prediction: its heading, and its value of either side.
type Row = (&'static str, fn(&Performance) -> String);

pub(crate) fn summary(placement: &HostPlacement) -> String {
    let groups = groups::groups(placement.lines.iter().filter(|line| line.changes));
    let mut table = table(["setting", "from", "to", "why", "gain"]);
    for group in groups.iter().take(ROWS) {
        table.add_row([group.setting(), group.from(), group.to(), group.reason().to_owned(), group.gain()]);
    }
    let mut text = format!("{table}\n");
    let more: usize = groups.iter().skip(ROWS).map(Group::len).sum();
    if more > 0 {
        text += &format!("{more} more changes are in the plan.\n");
    }
    let changes: usize = groups.iter().map(Group::len).sum();
    let unchanged = placement.lines.len() - changes;
    if unchanged > 0 {
        text += &format!("{unchanged} more lines hold what is placed well already.\n");
    }
    text += &format!("\n{}", forecast(placement));
    for note in &placement.notes {
        text += &format!("{note}\n");
    }
    text
}

/// The predicted performance of the host, now and under the plan.
fn forecast(placement: &HostPlacement) -> String {
    let (Some(now), Some(then)) = (&placement.now, &placement.then) else {
        let why = placement.unforeseen.as_deref().unwrap_or("nothing was computed");
        return format!("Gain for {}: unknown: {why}.\n", placement.goal);
    };
    let rate = placement.rate.map(|rate| format!(" at {rate}")).unwrap_or_default();
    let mut table = table(["predicted", "now", "then"]);
    let rows: [Row; 4] = [
        ("a packet costs", |side| side.cost.to_string()),
        ("packets that fit, their readers' work aside", |side| side.capacity.to_string()),
        ("headroom with it, as a multiple of the packets", |side| {
            side.headroom.map_or_else(|| "unknown: no rate; give --rate".to_owned(), factor)
        }),
        ("mean delay on the busiest cpu", |side| {
            side.delay.map_or_else(
                || "unknown: it can hardly keep up, or no rate is known".to_owned(),
                |delay| delay.to_string(),
            )
        }),
    ];
    for (what, of) in rows {
        table.add_row([what.to_owned(), of(now), of(then)]);
    }
    format!("For {}{rate}:\n{table}\n\n", placement.goal)
}

fn factor(factor: Estimate<f64>) -> String {
    let half = factor.half_width.map_or_else(String::new, |half| format!(" ± {half:.2}"));
    format!("{:.2}{half}", factor.mean)
}
