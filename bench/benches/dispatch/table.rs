//! What came of it, contestant by contestant.

use crate::contest::Runs;
use crate::contestant::Role;
use crate::handler::Handler;
use crate::mix::Mix;
use crate::verdict::Verdict;
use core::fmt;
use serde::Serialize;
use warmcore_stats::Spread;

/// Everybody on the same events.
#[derive(Serialize)]
pub(crate) struct Table {
    workload: String,
    handler: String,
    events: usize,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    role: Role,
    /// Those that it got: fewer than others if it is slow.
    events: usize,
    events_per_s: Spread,
    /// Round by round, how many times the inline loop's rate that is.
    times_inline: Spread,
    /// Round by round, how many times a peer's rate ours is.
    ours_times: Option<Spread>,
    verdict: Option<Verdict>,
    order_violations: u64,
    runs_dropped: usize,
    runs_disturbed: usize,
}

impl Table {
    /// Of those who have run at all. The inline loop is the first.
    pub(crate) fn new(mix: Mix, handler: Handler, events: usize, all: Vec<Runs>) -> Self {
        let ran: Vec<Runs> = all.into_iter().filter(|runs| !runs.rates.is_empty()).collect();
        let inline = Spread(ran[0].rates.clone());
        let ours = ran.iter().find(|runs| runs.role == Role::Ours);
        let ours = ours.map(|ours| (Spread(ours.rates.clone()), ours.violations));
        let rows = ran.into_iter().map(|runs| Row::new(runs, &inline, ours.as_ref())).collect();
        Self { workload: mix.to_string(), handler: handler.to_string(), events, rows }
    }

    /// The verdicts on all peers, and what lost ones are about.
    pub(crate) fn verdicts(&self) -> impl Iterator<Item = (Verdict, String)> {
        let about = |row: &Row| format!("{}, {}: {}", self.workload, self.handler, row.name);
        self.rows.iter().filter_map(move |row| Some((row.verdict?, about(row))))
    }
}

impl Row {
    fn new(runs: Runs, inline: &Spread, ours: Option<&(Spread, u64)>) -> Self {
        let events_per_s = Spread(runs.rates);
        let compared = ours.filter(|_| runs.role == Role::Peer).map(|(ours, violations)| {
            let times = ours.over(&events_per_s);
            let verdict = Verdict::new(&times, *violations, runs.violations);
            (times, verdict)
        });
        let (ours_times, verdict) = compared.unzip();
        Self {
            name: runs.name,
            role: runs.role,
            events: runs.events,
            times_inline: events_per_s.over(inline),
            events_per_s,
            ours_times,
            verdict,
            order_violations: runs.violations,
            runs_dropped: runs.dropped,
            runs_disturbed: runs.disturbed,
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, {}, {} events", self.workload, self.handler, self.events)?;
        writeln!(f, "  {:24} {:>22} {:>12} {:>24}", "", "M events/s", "times inline", "ours is times")?;
        self.rows.iter().try_for_each(|row| writeln!(f, "  {}", row.line(self.events)))
    }
}

impl Row {
    fn line(&self, events: usize) -> String {
        let rate = format!("{:.2}", self.events_per_s.map(|rate| rate / 1e6));
        let inline = self.times_inline.median();
        let ours = self.ours_times.as_ref().map_or_else(String::new, |times| format!("{times:.2}"));
        let verdict = self.verdict.map_or_else(String::new, |verdict| verdict.to_string());
        let mut line = format!("{:24} {rate:>22} {inline:>12.2} {ours:>24} {verdict:5}", self.name);
        let mut note = |said: bool, text: String| {
            if said {
                line += &text;
            }
        };
        note(self.events < events, format!("  the first {} events only", self.events));
        note(self.order_violations > 0, format!("  OUT OF ORDER: {}", self.order_violations));
        note(self.runs_dropped > 0, format!("  {} runs repeated", self.runs_dropped));
        note(self.runs_disturbed > 0, format!("  {} runs disturbed", self.runs_disturbed));
        line.trim_end().to_owned()
    }
}
