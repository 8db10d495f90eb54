//! A real program, asked for real: in a namespace where it may be made, else over loopback.

use super::*;
use std::io::Read;
use std::net::TcpListener;

fn machine() -> Machine {
    warmcore_linux::Probe::new().machine().unwrap().machine
}

/// Measures a shell command for a moment.
fn measured(script: &str, asked: Asked) -> Result<ProgramProfile, CalibrateError> {
    let words = ["sh", "-c", script].map(OsString::from).to_vec();
    let plan =
        ProgramPlan { budget: Duration::from_millis(500), ..ProgramPlan::new(words, asked, true, 1994) };
    calibrate_program(&machine(), &plan, &mut |_| {}, &AtomicBool::new(false))
}

fn datagrams() -> Asked {
    Asked::Datagrams(Payloads::equal(64))
}

#[test]
fn a_program_that_ends_or_hides_is_refused() {
    let error = |script| measured(script, datagrams()).unwrap_err().to_string();
    assert!(
        error("exit 3").contains("`sh` ended (exit status: 3) before it listened"),
        "{}",
        error("exit 3")
    );
    let missing = ProgramPlan::new(vec!["/no/such/server".into()], datagrams(), true, 1);
    let missing = calibrate_program(&machine(), &missing, &mut |_| {}, &AtomicBool::new(false));
    assert!(missing.unwrap_err().to_string().contains("/no/such/server"));
}

#[test]
fn a_user_who_stops_is_heard_while_the_program_starts() {
    let plan = ProgramPlan::new(vec!["sleep".into(), "1000".into()], datagrams(), true, 1);
    let stopped = calibrate_program(&machine(), &plan, &mut |_| {}, &AtomicBool::new(true));
    assert!(matches!(stopped, Err(CalibrateError::Interrupted)));
}

/// The server is a thread of this process, since no program for it need be installed.
#[test]
fn a_response_is_taken_from_an_open_connection() {
    let site = Site::new().unwrap();
    let listener = site.at_server(|address| TcpListener::bind((address, 0))).unwrap().unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 1000];
        while stream.read(&mut request).unwrap_or(0) > 0 {
            use std::io::Write;
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").unwrap();
        }
    });
    let asked = Asked::Http("/".to_owned());
    let mut connection = connection::Connection::open(&site, address, &asked).unwrap();
    let (request, mut buffer) = (http::get("/", "host"), Vec::new());
    for _ in 0..3 {
        let before = warmcore_linux::realtime::now();
        assert!(connection.send(&request).unwrap());
        let reply = (0..5_000).find_map(|_| {
            std::thread::sleep(Duration::from_millis(1));
            connection.reply(&mut buffer).unwrap()
        });
        assert!(reply.expect("a response") >= before);
    }
}
