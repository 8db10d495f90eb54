//! A key-value server on TCP: lines of `SET key value`, `GET key`, `DEL key`, and `QUIT`.
//!
//! The address is its argument; by default it is a free port of the loopback.
//!
//! A thread for each connection reads commands and dispatches each under the slot that its key falls
//! into. Handlers own the slots: the commands of one key are carried out and answered in the order in
//! which a client sent them. Answers name their key, as those of different keys may change places.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use warmcore_dispatch::{Dispatcher, Turn};

/// Keys that fall into the same one wait for each other; others never do.
const SLOTS: usize = 1024;
const EXPECTED: &str = "expected SET key value, GET key, DEL key, or QUIT";
/// A client that reads no answers for so long is cut off: a handler must not wait for it.
const PATIENCE: Duration = Duration::from_secs(1);

struct Command {
    key: String,
    action: Action,
    client: Arc<Mutex<TcpStream>>,
}

enum Action {
    Set(String),
    Get,
    Del,
}

struct Store {
    hasher: RandomState,
    slots: Vec<Mutex<HashMap<String, String>>>,
}

impl Store {
    fn slot(&self, key: &str) -> usize {
        self.hasher.hash_one(key) as usize % SLOTS
    }

    fn handle(&self, slot: usize, Command { key, action, client }: Command) {
        // The mutex never makes anybody wait: no other handler with this slot as its key runs now. It is
        // there for Rust, which cannot know.
        let mut values = self.slots[slot].try_lock().expect("nobody else touches this slot now");
        let answer = match action {
            Action::Set(value) => {
                values.insert(key.clone(), value);
                "OK".to_owned()
            }
            Action::Get => values.get(&key).map_or("NONE".to_owned(), |value| format!("= {value}")),
            Action::Del => values.remove(&key).map_or("NONE", |_| "DELETED").to_owned(),
        };
        drop(values);
        answer_to(&client, &format!("{key} {answer}\n"));
    }
}

/// This lock is real: handlers of different keys may answer one client at once.
fn answer_to(client: &Mutex<TcpStream>, answer: &str) {
    let mut stream = client.lock().unwrap_or_else(PoisonError::into_inner);
    if stream.write_all(answer.as_bytes()).is_err() {
        // The client is gone, or does not read. Its reader sees that by this, too.
        let _ = stream.shutdown(std::net::Shutdown::Both);
    }
}

fn parse(line: &str) -> Option<(&str, Action)> {
    let mut words = line.trim().splitn(3, ' ');
    match (words.next()?, words.next()?, words.next()) {
        ("SET", key, Some(value)) => Some((key, Action::Set(value.to_owned()))),
        ("GET", key, None) => Some((key, Action::Get)),
        ("DEL", key, None) => Some((key, Action::Del)),
        _ => None,
    }
}

fn converse(stream: TcpStream, store: &Store, commands: &Dispatcher<usize, Command>) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    let client = Arc::new(Mutex::new(stream.try_clone()?));
    for line in BufReader::new(stream).lines() {
        let line = line?;
        if line.trim() == "QUIT" {
            break;
        }
        let Some((key, action)) = parse(&line) else {
            answer_to(&client, &format!("ERROR `{line}`; {EXPECTED}\n"));
            continue;
        };
        let command = Command { key: key.to_owned(), action, client: client.clone() };
        commands.dispatch(store.slot(key), command).map_err(|error| io::Error::other(error.to_string()))?;
    }
    Ok(())
}

fn serve(address: &str) -> Result<(), String> {
    let listener = TcpListener::bind(address).map_err(|error| {
        format!("cannot listen on `{address}`: {error}; expected a free address as 127.0.0.1:7000")
    })?;
    let own = listener.local_addr().map_err(|error| error.to_string())?;
    println!("listening on {own}");
    let slots = (0..SLOTS).map(|_| Mutex::default()).collect();
    let store = Arc::new(Store { hasher: RandomState::new(), slots });
    let owner = store.clone();
    let handler = move |turn: &Turn<'_, usize, Command>, command| {
        let slot = turn.key().expect("every command is dispatched under its slot");
        owner.handle(*slot, command);
    };
    let commands = Dispatcher::<usize, Command>::builder().build(handler);
    let commands = Arc::new(commands.map_err(|error| error.to_string())?);
    for stream in listener.incoming() {
        let (store, commands) = (store.clone(), commands.clone());
        let talk = move |stream| converse(stream, &store, &commands);
        thread::spawn(move || stream.and_then(talk).unwrap_or_else(|error| eprintln!("kv_server: {error}")));
    }
    Ok(())
}

fn main() -> ExitCode {
    serve(&std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned()))
        .map_err(|error| eprintln!("kv_server: {error}"))
        .map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}
