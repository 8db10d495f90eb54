//! How connections begin, and how they are refused.

use super::{Opener, config, connect, connected, flow, net};
use crate::PORT;
use std::io::ErrorKind;
use std::net::TcpStream;
use warmcore_stack::tcp::{End, Event, State};

/// The connection opens, and both sides close it in turn; then ours is over.
fn opens_and_closes(opener: Opener) {
    let Some(mut net) = net(super::MTU, None) else { return };
    connected(&mut net, opener, config(), drop::<TcpStream>, |host, id| {
        assert_eq!(host.connection(id).event(), Some(Event::Connected));
        host.until("closed by the kernel", |host| host.connection(id).is_at_end());
        host.connection(id).close();
        host.until("closed", |host| host.state(id) == State::Closed);
        assert_eq!(host.connection(id).end(), Some(End::Closed));
    });
}

#[test]
fn we_connect_and_the_kernel_accepts() {
    opens_and_closes(Opener::Us);
}

#[test]
fn the_kernel_connects_and_we_accept() {
    opens_and_closes(Opener::Kernel);
}

#[test]
fn the_kernel_refuses_us_at_a_closed_port() {
    let Some((_net, mut host)) = net(super::MTU, None) else { return };
    let id = host.connect(flow(), config());
    host.until("refused", |host| host.state(id) == State::Closed);
    assert_eq!(host.connection(id).end(), Some(End::Refused));
}

#[test]
fn we_refuse_the_kernel_at_a_closed_port() {
    let Some((net, mut host)) = net(super::MTU, None) else { return };
    // The port beside it is open.
    host.listen(PORT + 1, config());
    let refused = net.run(&mut host, || connect().map(drop), |_| {});
    assert_eq!(refused.map_err(|error| error.kind()), Err(ErrorKind::ConnectionRefused));
}
