//! `warmcore host show --watch`: repeated looks, each with the rates since the previous one.

use super::inventory::{Printed, looked};
use super::picture::picture;

use crate::{json, messages};
use console::{Term, truncate_str};
use miette::IntoDiagnostic;
use std::thread::sleep;
use std::time::Duration;
use warmcore_linux::inventory::Observation;
use warmcore_linux::{Probe, cpu_time};
use warmcore_study::placement::mismatch;
use warmcore_units::Nanos;

/// The greatest share of a cpu that looking and drawing may take.
const COST: f64 = 0.01;

/// Looks every `asked`, or less often to keep to [`COST`], until the process is ended.
pub(super) fn run(probe: &Probe, asked: Duration, json: bool) -> miette::Result<()> {
    messages::detail(format_args!("looking at the machine every {asked:?}, until you press Ctrl-C"));
    let mut screen = Screen::new(json);
    let mut before = looked(Observation::once(probe))?;
    screen.show(&before, None)?;
    let mut spent = cpu_time::of_this_process();
    let mut cost = spent;
    loop {
        let pause = pause(asked, cost);
        sleep(pause);
        let now = looked(before.next(probe))?;
        screen.show(&now, (pause > asked).then_some(pause))?;
        before = now;
        let total = cpu_time::of_this_process();
        cost = total - spent;
        spent = total;
    }
}

/// The pause after a look that took `cost` of cpu time.
fn pause(asked: Duration, cost: Nanos) -> Duration {
    asked.max(Duration::from_secs_f64((cost / COST).secs().max(0.0)))
}

/// Shows pictures: in place on a terminal, one after the other elsewhere.
struct Screen {
    terminal: Option<Term>,
    json: bool,
    /// Lines of the last picture.
    lines: usize,
}

impl Screen {
    fn new(json: bool) -> Self {
        Self { terminal: Some(Term::stdout()).filter(|term| !json && term.is_term()), json, lines: 0 }
    }

    /// Shows a picture; `slower` is the pause where looks come less often than asked for.
    fn show(&mut self, observed: &Observation, slower: Option<Duration>) -> miette::Result<()> {
        let mismatch = mismatch(observed);
        if self.json {
            let line = json::line(&Printed::new(observed, &mismatch))?;
            return crate::output::print(line.as_bytes());
        }
        let mut text = picture(observed, &mismatch);
        if let Some(pause) = slower {
            let share = COST * 100.0;
            text += &format!(
                "Looks are {:.1} s apart, to take no more than {share}% of a cpu.\n",
                pause.as_secs_f64()
            );
        }
        match &self.terminal {
            Some(terminal) => {
                self.lines = replace(terminal, &text, self.lines).into_diagnostic()?;
                Ok(())
            }
            None => crate::output::print((text + "\n").as_bytes()),
        }
    }
}

/// Draws `text` over the last `lines` lines, cut to the size of the terminal.
fn replace(terminal: &Term, text: &str, lines: usize) -> std::io::Result<usize> {
    let (height, width) = terminal.size();
    let room = usize::from(height).saturating_sub(1).max(1);
    let shown: Vec<_> =
        text.lines().take(room).map(|line| truncate_str(line, usize::from(width).max(20), "…")).collect();
    terminal.clear_last_lines(lines)?;
    terminal.write_line(&shown.join("\n"))?;
    Ok(shown.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dear_look_is_taken_less_often() {
        let second = Duration::from_secs(1);
        assert_eq!(pause(second, Nanos::from_secs(0.002)), second);
        assert_eq!(pause(second, Nanos::from_secs(0.03)), 3 * second);
        assert_eq!(pause(second, Nanos(-1.0)), second);
    }
}
