//! Joins the lines of an event: a command may hold newlines, and the kernel writes them as they are.
//!
//! An event with such commands looks like lines that cannot be read. They are kept until, with what follows, they can.

use super::event::{Line, SchedRecord, holds_event, parse};
use super::recorder::Recorded;

/// The longest beginning of an event that is kept: far more than three commands and the rest of a line.
const LONGEST: usize = 1024;

/// The beginning of an event whose end has not come yet.
#[derive(Debug, Default)]
pub(super) struct Joiner {
    begun: String,
}

impl Joiner {
    /// Takes the next line; hands its event over if that is complete, and counts what it is.
    pub(super) fn line(&mut self, line: &str, recorded: &mut Recorded, on: &mut dyn FnMut(&SchedRecord<'_>)) {
        match parse(line) {
            Line::Record(record) => {
                recorded.malformed += self.end();
                recorded.events += 1;
                on(&record);
            }
            Line::Lost(lost) => {
                recorded.malformed += self.end();
                recorded.lost += lost;
            }
            Line::Other if self.begun.is_empty() => {}
            Line::Other | Line::Malformed => self.join(line, recorded, on),
        }
    }

    fn join(&mut self, line: &str, recorded: &mut Recorded, on: &mut dyn FnMut(&SchedRecord<'_>)) {
        if !self.begun.is_empty() {
            self.begun.push('\n');
        }
        self.begun.push_str(line);
        if let Line::Record(record) = parse(&self.begun) {
            recorded.events += 1;
            on(&record);
            self.begun.clear();
        } else if self.begun.len() > LONGEST {
            recorded.malformed += self.end();
        }
    }

    /// Gives up what has begun. Returns how many lines are lost by that: none if it was the beginning of the command that
    /// a complete line starts with.
    pub(super) fn end(&mut self) -> u64 {
        let begun = std::mem::take(&mut self.begun);
        if holds_event(&begun) || begun.len() > LONGEST { begun.split('\n').count() as u64 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched_trace::SchedEvent;

    /// What is counted of `text`, and the commands that stop.
    fn read(text: &str) -> (Recorded, Vec<String>) {
        let (mut joiner, mut recorded, mut commands) = (Joiner::default(), Recorded::default(), Vec::new());
        let mut on = |record: &SchedRecord<'_>| {
            if let SchedEvent::Switch { command, .. } = record.event {
                commands.push(command.to_owned());
            }
        };
        text.lines().for_each(|line| joiner.line(line, &mut recorded, &mut on));
        recorded.malformed += joiner.end();
        (recorded, commands)
    }

    fn switch(from: &str, to: &str) -> String {
        format!(
            "{from:>16}-7       [000] d..2. 1.5: sched_switch: prev_comm={from} prev_pid=7 prev_prio=120 prev_state=S ==> \
             next_comm={to} next_pid=9 next_prio=120\n"
        )
    }

    #[test]
    fn commands_with_newlines_are_read() {
        for name in ["a\nb", "\n", "\n\n\na", "#x\n#y\n", "a\n: sched_\nb", "1\n2\n3\n4\n5\n6\n7\n8"] {
            let text =
                switch("plain", name) + &switch(name, "plain") + &switch(name, name) + &switch("plain", "x");
            let (recorded, commands) = read(&text);
            assert_eq!((recorded.events, recorded.malformed), (4, 0), "{name:?}");
            assert_eq!(commands, ["plain", name, name, "plain"]);
        }
    }

    #[test]
    fn what_is_no_event_is_counted_once_and_takes_none_with_it() {
        let cut = "x-7 [000] d..2. 1.5: sched_switch: prev_comm=x prev_pid\n";
        let (recorded, commands) = read(&(cut.to_owned() + &switch("a", "b") + cut));
        assert_eq!((recorded.events, recorded.malformed), (1, 2));
        assert_eq!(commands, ["a"]);
        let (recorded, _) = read(&format!("{cut}CPU:1 [LOST 5 EVENTS]\n{}", switch("a", "b")));
        assert_eq!((recorded.events, recorded.lost, recorded.malformed), (1, 5, 1));
        let (recorded, _) = read(&format!("{}\n", "y".repeat(3000)));
        assert_eq!(recorded.malformed, 1);
    }
}
