//! The progress of a long command, on standard error: a bar in a terminal, and elsewhere a line every few seconds,
//! so that no command is silent for minutes.

use crate::messages::{self, Level};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Steps of a bar.
const STEPS: u64 = 1_000;
/// Time between two lines.
const PAUSE: Duration = Duration::from_secs(5);

/// The progress of stages that follow each other.
pub(crate) enum Progress {
    Bar(ProgressBar),
    Lines(Lines),
    /// Nothing is shown.
    Silent,
}

/// Starts to show progress, with the stage of this name.
pub(crate) fn bar(stage: &str) -> Progress {
    messages::detail(stage);
    if !messages::says(Level::Normal) {
        return Progress::Silent;
    }
    begin(stage, Some(0.0))
}

/// Starts to show progress of a stage of which nobody knows how long it will be.
pub(crate) fn open_ended(stage: &str) -> Progress {
    messages::detail(stage);
    if !messages::says(Level::Normal) {
        return Progress::Silent;
    }
    begin(stage, None)
}

fn begin(stage: &str, part: Option<f64>) -> Progress {
    match io::stderr().is_terminal() {
        true => Progress::Bar(drawn(stage, part.is_some())),
        false => Progress::Lines(Lines::begin(stage, part, PAUSE, messages::print)),
    }
}

/// `part` (0 to 1) of the stage is done.
pub(crate) fn set(progress: &Progress, part: f64) {
    let part = part.clamp(0.0, 1.0);
    match progress {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the bar")]
        Progress::Bar(bar) => bar.set_position((part * STEPS as f64) as u64),
        Progress::Lines(lines) => lines.shared.state().part = Some(part),
        Progress::Silent => {}
    }
}

impl Progress {
    /// What is done now.
    pub(crate) fn set_message(&self, stage: impl Into<String>) {
        let stage = stage.into();
        match self {
            Self::Bar(bar) if bar.message() != stage => {
                bar.suspend(|| messages::detail(&stage));
                bar.set_message(stage);
            }
            Self::Lines(lines) => lines.shared.set_stage(stage),
            Self::Bar(_) | Self::Silent => {}
        }
    }

    /// What there is to say of the stage, besides how far it is.
    pub(crate) fn note(&self, note: String) {
        match self {
            Self::Bar(bar) => bar.set_prefix(note),
            Self::Lines(lines) => lines.shared.state().note = note,
            Self::Silent => {}
        }
    }

    /// All is done: nothing is left on a terminal.
    pub(crate) fn finish_and_clear(self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

fn drawn(stage: &str, has_end: bool) -> ProgressBar {
    let part = if has_end { "{bar:40} {percent:>3}%  " } else { "" };
    let style = ProgressStyle::with_template(&format!("{{msg:22}} {part}{{elapsed_precise}}  {{prefix}}"));
    let bar = ProgressBar::new(STEPS).with_message(stage.to_owned());
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Lines that a thread writes until this is dropped.
pub(crate) struct Lines {
    shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    over: Condvar,
}

struct State {
    stage: String,
    /// How much of it is done, if that is known.
    part: Option<f64>,
    note: String,
    is_over: bool,
}

impl Lines {
    /// Hands a line to `write` after every `pause`.
    fn begin(
        stage: &str,
        part: Option<f64>,
        pause: Duration,
        mut write: impl FnMut(String) + Send + 'static,
    ) -> Self {
        let state = State { stage: stage.to_owned(), part, note: String::new(), is_over: false };
        let shared = Arc::new(Shared { state: Mutex::new(state), over: Condvar::new() });
        let (theirs, began) = (Arc::clone(&shared), Instant::now());
        let writer = thread::spawn(move || {
            while let Some(line) = theirs.line_after(pause, began) {
                write(line);
            }
        });
        Self { shared, writer: Some(writer) }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says a new stage at once if --verbose is given.
    fn set_stage(&self, stage: String) {
        let mut state = self.state();
        if state.stage != stage {
            messages::detail(&stage);
            state.stage = stage;
        }
    }

    /// What there is to say after `pause`; `None` once all is over.
    fn line_after(&self, pause: Duration, began: Instant) -> Option<String> {
        let goes_on = |state: &mut State| !state.is_over;
        let waited = self.over.wait_timeout_while(self.state(), pause, goes_on);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let mut told: Vec<String> = Vec::new();
        told.extend(state.part.map(|part| format!("{}%", (part * 100.0).floor())));
        told.push(format!("{} s so far", began.elapsed().as_secs()));
        told.extend((!state.note.is_empty()).then(|| state.note.clone()));
        (!state.is_over).then(|| format!("{}: {}", state.stage, told.join(", ")))
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.shared.state().is_over = true;
        self.shared.over.notify_all();
        // Its only error is a panic, which has been reported.
        let _ = self.writer.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn lines_say_stage_and_part_and_end_with_the_stage() {
        let (say, said) = mpsc::channel();
        let lines =
            Lines::begin("measuring", Some(0.0), Duration::from_millis(1), move |line| drop(say.send(line)));
        let first = said.recv().unwrap();
        assert!(first.starts_with("measuring: 0%, 0 s"), "{first}");
        let progress = Progress::Lines(lines);
        set(&progress, 0.255);
        progress.set_message("t(x)");
        let later = said.iter().find(|line| line.starts_with("t(x)")).unwrap();
        assert!(later.starts_with("t(x): 25%, "), "{later}");
        progress.finish_and_clear();
        // The writer has ended: the channel closes.
        said.iter().for_each(drop);
    }

    #[test]
    fn a_stage_without_an_end_tells_its_note() {
        let (say, said) = mpsc::channel();
        let lines =
            Lines::begin("simulating", None, Duration::from_millis(1), move |line| drop(say.send(line)));
        let progress = Progress::Lines(lines);
        progress.note("3 ms simulated".to_owned());
        let line = said.iter().find(|line| line.contains("simulated")).unwrap();
        assert_eq!(line, "simulating: 0 s so far, 3 ms simulated");
    }

    #[test]
    fn what_is_over_soon_says_nothing() {
        let (say, said) = mpsc::channel();
        drop(Lines::begin("brief", None, Duration::from_secs(600), move |line| drop(say.send(line))));
        assert_eq!(said.iter().count(), 0);
    }
}
