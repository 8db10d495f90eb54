//! The plan of each host as a table for reviewers. `WARMCORE_REWRITE=1` regenerates the tables.

use super::{GOALS, all, picture, planned};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use warmcore_study::placement::{Goal, HostPlacement, Unplaceable};

/// Maximum lines of a goal in the table.
const LINES: usize = 16;

#[test]
fn every_host_has_the_plan_that_was_reviewed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/placement/plans");
    let hosts = all();
    assert!(hosts.len() >= 10);
    for host in hosts {
        let picture = picture(host.tree.clone());
        let text: String =
            GOALS.iter().map(|&goal| table(goal, &planned(&picture, &host.subject, goal))).collect();
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
        Err(why) => writeln!(text, "No plan: {why}").expect("a text can be written to"),
    }
    text + "\n"
}

fn rows(text: &mut String, placement: &HostPlacement) {
    for line in placement.lines.iter().take(LINES) {
        let change = if line.changes { format!("{} -> {}", line.from, line.to) } else { line.to.clone() };
        writeln!(text, "{}: {change}\n    {}\n    {}", line.set, line.reason, line.gain)
            .expect("a text can be written to");
    }
    if let Some(more) = placement.lines.len().checked_sub(LINES).filter(|&more| more > 0) {
        writeln!(text, "and {more} more").expect("a text can be written to");
    }
    for note in &placement.notes {
        writeln!(text, "Note: {note}").expect("a text can be written to");
    }
}
