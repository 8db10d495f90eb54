//! Round trips between two hosts of one process.

use std::time::{Duration, Instant};
use warmcore_lab::graph::tcp::TcpHost;
use warmcore_lab::switches::Switches;

fn pass(from: &TcpHost, to: &TcpHost) {
    let mut frame = [0; 1536];
    while let Some(length) = from.adaptor().take(&mut frame) {
        assert!(to.adaptor().put(&frame[..length]), "there is space for a frame");
        to.interrupt().expect("the frame is for somebody");
    }
}

fn main() {
    let switches = Switches::from_bits(0xf);
    let (client, server) = (TcpHost::new(false, switches), TcpHost::new(true, switches));
    let exchange = || {
        pass(&client, &server);
        pass(&server, &client);
    };
    client.begin().expect("the client begins");
    exchange();
    exchange();
    assert!(client.is_open());
    let times = 100_000_u64;
    let start = Instant::now();
    for round in 0..times {
        let now = Duration::from_micros(100 * round);
        client.host().now.set(now);
        server.host().now.set(now);
        client.send().expect("there is space");
        exchange();
        assert_eq!(client.counts().received.get(), round + 1);
    }
    assert_eq!(client.counts().unexpected.get(), 0);
    println!("{:.0} ns a round trip", start.elapsed().as_nanos() as f64 / times as f64);
}
