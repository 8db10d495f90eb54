//! The plan of each host as a table for reviewers. `WARMCORE_REWRITE=1` regenerates the tables.

use super::{GOALS, all, observed, planned};
use std::fs;
use std::path::Path;
use warmcore_study::placement::{Goal, HostPlacement, PlannedLine, Unplaceable};

/// Maximum lines of a goal in the table.
const LINES: usize = 16;

#[test]
fn every_host_has_the_plan_that_was_reviewed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/placement/plans");
    let hosts = all();
    assert!(hosts.len() >= 10);
    for host in hosts {
        let observed = observed(&host.tree);
        let text: String =
            GOALS.iter().map(|&goal| table(goal, &planned(&observed, &host.subject, goal))).collect();
        let file = folder.join(format!("{}.txt", host.name));
        if std::env::var_os("WARMCORE_REWRITE").is_some() {
            fs::write(&file, &text).expect("a table can be written");
        }
        let reviewed = fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(text, reviewed, "the plan of {} is another one than was reviewed", host.name);
    }
}

fn table(goal: Goal, placement: &Result<HostPlacement, Unplaceable>) -> String {
    let mut text = format!("## {goal}\n\n");
    match placement {
        Ok(placement) => rows(&mut text, placement),
        Err(why) => text.push_str(&format!("No plan: {why}\n")),
    }
    text + "\n"
}

/// The lines that change something, each reason and gain once where it holds for the next lines too.
fn rows(text: &mut String, placement: &HostPlacement) {
    let changes: Vec<&PlannedLine> = placement.lines.iter().filter(|line| line.changes).collect();
    let mut said = String::new();
    for line in changes.iter().take(LINES) {
        let why = format!("    {}\n    {}\n", line.reason, line.gain);
        text.push_str(&format!("{}: {} -> {}\n", line.set, line.from, line.to));
        if why != said {
            text.push_str(&why);
            said = why;
        }
    }
    if let Some(more) = changes.len().checked_sub(LINES).filter(|&more| more > 0) {
        text.push_str(&format!("and {more} more\n"));
    }
    let kept = placement.lines.len() - changes.len();
    if kept > 0 {
        text.push_str(&format!("{kept} lines hold already\n"));
    }
    for note in &placement.notes {
        text.push_str(&format!("Note: {note}\n"));
    }
}
