//! Sums what a file of events says of each key: lines of `key value`, from a path or standard input.
//!
//! ```text
//! printf 'b 2\na 1\nb 3\n' | cargo run --example consumer
//! ```
//!
//! Each line is parsed and added up by a handler. All lines of one key go to the same sum one after the
//! other, and those of other keys run beside them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use warmcore_dispatch::{Dispatcher, Turn};

/// A line's value, and where it goes.
struct Event {
    line: usize,
    value: String,
    sum: Arc<AtomicI64>,
}

fn main() -> ExitCode {
    match run(std::env::args().nth(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("consumer: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(path: Option<String>) -> Result<(), String> {
    match path {
        None => consume("standard input", io::stdin().lock()),
        Some(path) => {
            let file = File::open(&path).map_err(|error| {
                format!("cannot open {path}: {error}; expected a file of `key value` lines")
            })?;
            consume(&path, BufReader::new(file))
        }
    }
}

fn consume(name: &str, lines: impl BufRead) -> Result<(), String> {
    // Only for what is wrong: no handler takes it while all is well.
    let first_wrong: Mutex<Option<(usize, String)>> = Mutex::new(None);
    let add = |_: &Turn<'_, String, Event>, Event { line, value, sum }: Event| {
        let before = sum.load(Ordering::Relaxed);
        let result = value
            .parse::<i64>()
            .map_err(|_| format!("the value `{value}`; expected a whole number"))
            .and_then(|value| before.checked_add(value).ok_or_else(|| "a sum beyond 64 bits".to_owned()));
        match result {
            // Nobody else adds to this key's sum now: a load and a store do.
            Ok(after) => sum.store(after, Ordering::Relaxed),
            Err(what) => {
                let mut first = first_wrong.lock().unwrap_or_else(PoisonError::into_inner);
                // Handlers of other keys may have seen a later line before.
                if first.as_ref().is_none_or(|(earlier, _)| line < *earlier) {
                    *first = Some((line, what));
                }
            }
        }
    };
    let read = Dispatcher::<String, Event>::builder().scope(add, |consumer| {
        let mut sums: BTreeMap<String, Arc<AtomicI64>> = BTreeMap::new();
        for (line, text) in (1..).zip(lines.lines()) {
            let text = text.map_err(|error| format!("cannot read {name}, line {line}: {error}"))?;
            if text.trim().is_empty() {
                continue;
            }
            let mut words = text.split_whitespace();
            let (Some(key), Some(value), None) = (words.next(), words.next(), words.next()) else {
                return Err(format!("{name}, line {line}: `{text}`; expected `key value`"));
            };
            let sum = sums.entry(key.to_owned()).or_default().clone();
            let event = Event { line, value: value.to_owned(), sum };
            consumer.dispatch(key.to_owned(), event).map_err(|error| error.to_string())?;
        }
        Ok(sums)
    });
    let sums = read.map_err(|error| error.to_string())??;
    if let Some((line, what)) = first_wrong.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(format!("{name}, line {line}: {what}"));
    }
    let mut out = io::stdout().lock();
    for (key, sum) in &sums {
        writeln!(out, "{key} {}", sum.load(Ordering::Relaxed))
            .map_err(|error| format!("cannot write the sums: {error}"))?;
    }
    Ok(())
}
