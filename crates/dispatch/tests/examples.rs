//! The examples as their users run them: as processes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// An example that has not ended by then does not end.
const LONGEST: Duration = Duration::from_secs(60);

/// A process that does not outlive its test, however that ends.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Cargo builds examples with all tests of a package, but not with `--test`. It puts them beside the
/// directory of test executables.
fn example(name: &str) -> Command {
    let test = std::env::current_exe().expect("the test's own path");
    let profile = test.ancestors().nth(2).expect("target/<profile>/deps/<test>");
    let path: PathBuf = [profile, "examples".as_ref(), name.as_ref()].iter().collect();
    let path = path.with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        path.exists(),
        "{} is missing; expected `cargo build --examples` before `cargo test --test examples`",
        path.display()
    );
    Command::new(path)
}

/// Runs an example to its end. What it prints must fit into a pipe.
fn run(mut command: Command, input: &str) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = Process(command.spawn().expect("the example starts"));
    let mut stdin = process.0.stdin.take().expect("it is piped");
    // An example that fails early does not read everything.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let since = Instant::now();
    let status = loop {
        if let Some(status) = process.0.try_wait().expect("the example can be waited for") {
            break status;
        }
        assert!(since.elapsed() < LONGEST, "the example has not ended after {LONGEST:?}");
        thread::sleep(Duration::from_millis(5));
    };
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    process.0.stdout.take().expect("it is piped").read_to_end(&mut stdout).expect("its output");
    process.0.stderr.take().expect("it is piped").read_to_end(&mut stderr).expect("its errors");
    Output { status, stdout, stderr }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("examples print text")
}

#[test]
fn the_bank_keeps_its_money() {
    let output = run(example("bank"), "");
    let printed = text(&output.stdout);
    assert!(output.status.success(), "{printed}{}", text(&output.stderr));
    assert!(printed.contains("audits: 20, of which wrong: 0\n"), "{printed}");
    assert!(printed.contains("total: 6400, expected: 6400\n"), "{printed}");
}

#[test]
fn the_consumer_sums_standard_input() {
    let input: String = (0..10_000).map(|n| format!("key{} {n}\n", n % 3)).collect();
    let output = run(example("consumer"), &input);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let sum = |rest| (0..10_000).filter(|n| n % 3 == rest).sum::<u64>();
    let expected = format!("key0 {}\nkey1 {}\nkey2 {}\n", sum(0), sum(1), sum(2));
    assert_eq!(text(&output.stdout), expected);
}

#[test]
fn the_consumer_sums_a_file() {
    let path = std::env::temp_dir().join(format!("dispatch-consumer-{}", std::process::id()));
    std::fs::write(&path, "b 2\na 1\n\nb -3\n").expect("a temporary file");
    let mut command = example("consumer");
    command.arg(&path);
    let output = run(command, "");
    let _ = std::fs::remove_file(&path);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "a 1\nb -1\n");
}

#[test]
fn the_consumer_says_what_is_wrong_and_where() {
    let rows = [
        ("a 1\nb x\n", "standard input, line 2: the value `x`; expected a whole number"),
        ("a 1\n\nb\n", "standard input, line 3: `b`; expected `key value`"),
        ("a 9223372036854775807\na 1\n", "standard input, line 2: a sum beyond 64 bits"),
    ];
    for (input, expected) in rows {
        let output = run(example("consumer"), input);
        assert_eq!(output.status.code(), Some(1), "{input}");
        assert_eq!(text(&output.stderr), format!("consumer: {expected}\n"));
        assert_eq!(text(&output.stdout), "");
    }
    let mut missing = example("consumer");
    missing.arg("no/such/file");
    let output = run(missing, "");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("cannot open no/such/file"), "{}", text(&output.stderr));
}

struct Client {
    stream: TcpStream,
    answers: BufReader<TcpStream>,
}

impl Client {
    fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_nodelay(true).expect("an option of every stream");
        stream.set_read_timeout(Some(LONGEST)).expect("a timeout");
        let answers = BufReader::new(stream.try_clone().expect("a second handle"));
        Self { stream, answers }
    }

    fn send(&mut self, lines: &str) {
        self.stream.write_all(lines.as_bytes()).expect("the server reads");
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("the server answers");
        line
    }
}

/// Sends many commands at once, of keys that nobody else uses, and looks at the answers key by key.
fn converse(address: &str, me: usize) {
    let mut client = Client::connect(address);
    for round in 0..25 {
        let key = |n| format!("client{me}-key{n}");
        for n in 0..8 {
            let key = key(n);
            client.send(&format!("SET {key} a {round}\nGET {key}\nDEL {key}\nGET {key}\nDEL {key}\n"));
        }
        let mut answers: Vec<String> = (0..8 * 5).map(|_| client.answer()).collect();
        for n in 0..8 {
            let key = key(n);
            let of_key: String =
                answers.extract_if(.., |line| line.starts_with(&format!("{key} "))).collect();
            let expected = format!("{key} OK\n{key} = a {round}\n{key} DELETED\n{key} NONE\n{key} NONE\n");
            assert_eq!(of_key, expected);
        }
        assert_eq!(answers, [""; 0]);
    }
    client.send("PUT x\n");
    assert_eq!(client.answer(), "ERROR `PUT x`; expected SET key value, GET key, DEL key, or QUIT\n");
    client.send("QUIT\n");
    assert_eq!(client.answer(), "", "the server ends the connection");
}

#[test]
fn the_server_answers_two_clients_in_order() {
    let mut command = example("kv_server");
    command.arg("127.0.0.1:0").stdout(Stdio::piped());
    let mut server = Process(command.spawn().expect("the example starts"));
    let mut first = String::new();
    let mut stdout = BufReader::new(server.0.stdout.take().expect("it is piped"));
    stdout.read_line(&mut first).expect("the server says where it listens");
    let address = first.trim().strip_prefix("listening on ").expect("the server says where it listens");
    thread::scope(|scope| {
        for me in 0..2 {
            scope.spawn(move || converse(address, me));
        }
    });
    let mut later = Client::connect(address);
    later.send("SET shared value\n");
    assert_eq!(later.answer(), "shared OK\n");
    let mut other = Client::connect(address);
    other.send("GET shared\n");
    assert_eq!(other.answer(), "shared = value\n");
}

#[test]
fn the_server_says_what_is_wrong_with_an_address() {
    let mut command = example("kv_server");
    command.arg("nowhere");
    let output = run(command, "");
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr);
    assert!(error.starts_with("kv_server: cannot listen on `nowhere`: "), "{error}");
    assert!(error.contains("expected a free address"), "{error}");
}
