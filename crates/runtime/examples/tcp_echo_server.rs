//! A TCP server on the kernel's sockets that sends lines back. SIGTERM and Ctrl-C end it in order.
//!
//! ```sh
//! cargo run --release -p warmcore-runtime --example tcp_echo_server -- 0.0.0.0:7777
//! ```

use std::error::Error;
use warmcore_runtime::server::{Frames, Server};

fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:7777".to_owned());
    let server = Server::bind_tcp(&*address, Frames::Lines)?;
    let report = server.serve(|(), request, reply| reply.send(request.bytes))?;
    println!("{} of {} requests answered", report.total().replies, report.total().requests);
    Ok(())
}
