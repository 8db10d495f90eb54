//! Sums what a file of events says of each key: lines of `key value`, from a path or standard input.
//!
//! ```text
//! printf 'b 2\na 1\nb 3\n' | cargo run --example consumer
//! ```
//!
//! Each line is parsed and added up by a handler, which is given the sum of its key. All lines of one key go to the same sum
//! one after the other, and those of other keys run beside them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::process::ExitCode;
use warmcore_dispatch::Dispatcher;

/// A line's value.
struct Event {
    line: usize,
    value: String,
}

/// What is known of a key.
#[derive(Default)]
struct Sum {
    total: i64,
    /// The first line that could not be added, and why.
    wrong: Option<(usize, String)>,
}

impl Sum {
    fn add(&mut self, Event { line, value }: Event) {
        let result = value
            .parse::<i64>()
            .map_err(|_| format!("the value `{value}`; expected a whole number"))
            .and_then(|value| self.total.checked_add(value).ok_or_else(|| "a sum beyond 64 bits".to_owned()));
        match result {
            Ok(total) => self.total = total,
            Err(what) => drop(self.wrong.get_or_insert((line, what))),
        }
    }
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
    let consumer = Dispatcher::<String, Event>::builder()
        .state(|_| Sum::default())
        .build(|sum: &mut Sum, event: Event| sum.add(event))
        .map_err(|error| error.to_string())?;
    for (line, text) in (1..).zip(lines.lines()) {
        let text = text.map_err(|error| format!("cannot read {name}, line {line}: {error}"))?;
        if text.trim().is_empty() {
            continue;
        }
        let mut words = text.split_whitespace();
        let (Some(key), Some(value), None) = (words.next(), words.next(), words.next()) else {
            return Err(format!("{name}, line {line}: `{text}`; expected `key value`"));
        };
        let event = Event { line, value: value.to_owned() };
        consumer.dispatch(key.to_owned(), event).map_err(|error| error.to_string())?;
    }
    let sums: BTreeMap<String, Sum> = consumer.into_states().into_iter().collect();
    if let Some((line, what)) = sums.values().filter_map(|sum| sum.wrong.as_ref()).min() {
        return Err(format!("{name}, line {line}: {what}"));
    }
    let mut out = io::stdout().lock();
    for (key, Sum { total, .. }) in &sums {
        writeln!(out, "{key} {total}").map_err(|error| format!("cannot write the sums: {error}"))?;
    }
    Ok(())
}
