//! A path of a server with several threads and several clients.

use crate::compiled::compile;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::thread;
use std::time::Duration;
use warmcore_layout::native::{self, Request};
use warmcore_layout::trace::Trace;
use warmcore_linux::stepping::Launch;

/// Asks for as long as there are answers.
fn ask(note: &Path) {
    let address = (0..1000).find_map(|_| {
        thread::sleep(Duration::from_millis(10));
        std::fs::read_to_string(note).ok()
    });
    let Some(mut stream) = address.and_then(|address| TcpStream::connect(address).ok()) else { return };
    let mut answer = [0; 16];
    while stream.write_all(&[1; 16]).is_ok() && stream.read_exact(&mut answer).is_ok() {
        assert_eq!(answer[0], 7);
    }
}

/// The functions in the order of their first instruction.
fn functions(trace: &Trace) -> Vec<&str> {
    let mut names = Vec::new();
    for step in trace.steps() {
        let name =
            trace.function_at(step.instruction.address).map(|index| trace.functions()[index].name.as_str());
        if let Some(name) = name.filter(|name| !names.contains(name)) {
            names.push(name);
        }
    }
    names
}

fn addresses(trace: &Trace) -> Vec<u64> {
    trace.steps().map(|step| step.instruction.address).collect()
}

#[test]
fn the_path_of_a_request_through_a_server_is_cut_out_and_repeats() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--edition=2024", "-Copt-level=1", "-Cforce-frame-pointers=no"];
    let program = compile(folder.path(), "rustc", "server.rs", &options);
    let note = folder.path().join("port");
    let traced = thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| ask(&note));
        }
        native::trace(&Request {
            launch: Launch::new([program.as_os_str(), note.as_os_str()]),
            first: "server::receive".parse().unwrap(),
            last: "server::send".parse().unwrap(),
            passes: 20,
            finish: false,
        })
    });
    let paths = traced.unwrap().paths;
    assert_eq!(paths.len(), 20);
    let names = functions(&paths[0]);
    let position = |wanted: &str| names.iter().position(|name| *name == wanted);
    let order = ["server::receive", "server::handle", "server::parse", "server::look_up"].map(position);
    assert!(order.is_sorted() && order.iter().all(Option::is_some), "{order:?} in {names:?}");
    assert_eq!(order[0], Some(0));
    assert_eq!(position("server::send"), None, "{names:?}");
    for path in &paths[1..] {
        assert_eq!(addresses(path), addresses(&paths[0]));
    }
}
