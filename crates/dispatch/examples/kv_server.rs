//! A key-value server on TCP: lines of `SET key value`, `GET key`, `DEL key`, and `QUIT`.
//!
//! The address is its argument; by default it is a free port of the loopback.
//!
//! A thread for each connection reads commands and dispatches each under its key. A handler is given the key's value: the
//! commands of one key are carried out in the order in which a client sent them. Answers are dispatched under the number of
//! the client, whose stream their handler is given. They name their key, as those of different keys may change places.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use warmcore_dispatch::{BuildError, Dispatcher, StatefulDispatcher, Then};

const EXPECTED: &str = "expected SET key value, GET key, DEL key, or QUIT";
/// A client that reads no answers for so long is cut off: others are not to wait for it.
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);

struct Command {
    client: u64,
    key: String,
    action: Action,
}

enum Action {
    Set(String),
    Get,
    Del,
}

/// A key's value, if it has one. Without, nothing of the key is kept.
type Commands = StatefulDispatcher<String, Command, Option<String>>;

/// What happens to a client.
enum Event {
    Came(TcpStream),
    /// A command of it is under way, or an answer that is none to a command.
    Asked,
    Answer(String),
    Left,
}

/// A client, and how many answers it will get.
#[derive(Default)]
struct Client {
    stream: Option<TcpStream>,
    awaited: u64,
    has_left: bool,
}

type Clients = StatefulDispatcher<u64, Event, Client>;

impl Client {
    fn handle(&mut self, event: Event) -> Then {
        match event {
            Event::Came(stream) => self.stream = Some(stream),
            Event::Asked => self.awaited += 1,
            Event::Answer(text) => {
                self.awaited -= 1;
                if let Some(stream) = &mut self.stream
                    && stream.write_all(text.as_bytes()).is_err()
                {
                    // The client is gone, or does not read. Its reader sees that by this, too.
                    let _ = stream.shutdown(Shutdown::Both);
                }
            }
            Event::Left => self.has_left = true,
        }
        if self.has_left && self.awaited == 0 { Then::Drop } else { Then::Keep }
    }
}

fn carry_out(value: &mut Option<String>, action: Action) -> String {
    match action {
        Action::Set(new) => {
            *value = Some(new);
            "OK".to_owned()
        }
        Action::Get => value.as_ref().map_or("NONE".to_owned(), |value| format!("= {value}")),
        Action::Del => value.take().map_or("NONE", |_| "DELETED").to_owned(),
    }
}

fn start_clients() -> Result<Arc<Clients>, BuildError> {
    let clients = Dispatcher::<u64, Event>::builder().state(|_| Client::default());
    clients.build(|client: &mut Client, event: Event| client.handle(event)).map(Arc::new)
}

fn start_commands(clients: Arc<Clients>) -> Result<Arc<Commands>, BuildError> {
    let handle = move |value: &mut Option<String>, Command { client, key, action }: Command| {
        let answer = carry_out(value, action);
        // It is open as long as there are commands.
        let _ = clients.dispatch(client, Event::Answer(format!("{key} {answer}\n")));
        if value.is_none() { Then::Drop } else { Then::Keep }
    };
    Dispatcher::<String, Command>::builder().state(|_| None).build(handle).map(Arc::new)
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

fn converse(stream: TcpStream, client: u64, clients: &Clients, commands: &Commands) -> io::Result<()> {
    let tell = |event| clients.dispatch(client, event).map_err(|error| io::Error::other(error.to_string()));
    stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
    stream.set_nodelay(true)?;
    tell(Event::Came(stream.try_clone()?))?;
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else { break };
        if line.trim() == "QUIT" {
            break;
        }
        tell(Event::Asked)?;
        let Some((key, action)) = parse(&line) else {
            tell(Event::Answer(format!("ERROR `{line}`; {EXPECTED}\n")))?;
            continue;
        };
        let command = Command { client, key: key.to_owned(), action };
        let sent = commands.dispatch(key.to_owned(), command);
        sent.map_err(|error| io::Error::other(error.to_string()))?;
    }
    tell(Event::Left)
}

fn serve(address: &str) -> Result<(), String> {
    let listener = TcpListener::bind(address).map_err(|error| {
        format!("cannot listen on `{address}`: {error}; expected a free address as 127.0.0.1:7000")
    })?;
    let own = listener.local_addr().map_err(|error| error.to_string())?;
    println!("listening on {own}");
    let clients = start_clients().map_err(|error| error.to_string())?;
    let commands = start_commands(clients.clone()).map_err(|error| error.to_string())?;
    for (client, stream) in (0..).zip(listener.incoming()) {
        let (clients, commands) = (clients.clone(), commands.clone());
        let talk = move |stream| converse(stream, client, &clients, &commands);
        thread::spawn(move || stream.and_then(talk).unwrap_or_else(|error| eprintln!("kv_server: {error}")));
    }
    Ok(())
}

fn main() -> ExitCode {
    serve(&std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned()))
        .map_err(|error| eprintln!("kv_server: {error}"))
        .map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}
