//! A program outside the workspace that serves UDP.

use std::net::UdpSocket;
use warmcore_runtime::server::Server;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::bind("127.0.0.1:0")?.workers(1).state(|_| 0_u32);
    let running = server.start(|count, request, reply| {
        *count += 1;
        reply.send(&[request.bytes, count.to_string().as_bytes()].concat());
    })?;
    let client = UdpSocket::bind("127.0.0.1:0")?;
    let mut answer = [0; 16];
    for expected in ["hello1", "hello2"] {
        client.send_to(b"hello", running.local_addr())?;
        let length = client.recv(&mut answer)?;
        assert_eq!(&answer[..length], expected.as_bytes());
    }
    assert_eq!(running.stop()?.total().replies, 2);
    Ok(())
}
