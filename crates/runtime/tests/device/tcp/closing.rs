//! Half-closed connections, and resets.

use super::stream::{Sink, Source, Stream};
use super::{MTU, Opener, config, connected, net};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use warmcore_stack::tcp::{End, State, UserError};

const FIRST: Stream = Stream { salt: 3, length: 100_000 };
const THEN: Stream = Stream { salt: 4, length: 500_000 };

#[test]
fn the_kernel_closes_its_direction_and_we_send_on() {
    let Some(mut net) = net(MTU, None) else { return };
    let theirs = |socket: TcpStream| {
        FIRST.send(&socket);
        socket.shutdown(Shutdown::Write).unwrap();
        THEN.receive(&socket);
    };
    connected(&mut net, Opener::Us, config(), theirs, |host, id| {
        let (mut sink, mut source) = (Sink::new(FIRST), Source::new(THEN));
        host.until("closed by the kernel", |host| sink.read(host.connection(id)));
        assert_eq!(host.state(id), State::CloseWait);
        host.until("written", |host| source.write(host.connection(id)));
        host.connection(id).close();
        host.until("closed", |host| host.state(id) == State::Closed);
        assert_eq!(host.connection(id).end(), Some(End::Closed));
    });
}

#[test]
fn we_close_our_direction_and_the_kernel_sends_on() {
    let Some(mut net) = net(MTU, None) else { return };
    let theirs = |socket: TcpStream| {
        FIRST.receive(&socket);
        THEN.send(&socket);
    };
    connected(&mut net, Opener::Kernel, config(), theirs, |host, id| {
        let (mut source, mut sink) = (Source::new(FIRST), Sink::new(THEN));
        host.until("written", |host| source.write(host.connection(id)));
        host.connection(id).close();
        host.until("read", |host| sink.read(host.connection(id)));
        assert_eq!(host.connection(id).write(b"more"), Err(UserError::Closing));
        host.until("closed", |host| host.state(id) == State::Closed);
        assert_eq!(host.connection(id).end(), Some(End::Closed));
    });
}

/// A socket that is closed with data unread resets its connection (RFC 2525, §2.17).
#[test]
fn the_kernel_resets_us() {
    for opener in [Opener::Us, Opener::Kernel] {
        let Some(mut net) = net(MTU, None) else { return };
        let theirs = |socket: TcpStream| assert_eq!(socket.peek(&mut [0; 8]).unwrap(), 6);
        connected(&mut net, opener, config(), theirs, |host, id| {
            host.connection(id).write(b"unread").unwrap();
            host.until("reset", |host| host.state(id) == State::Closed);
            assert_eq!(host.connection(id).end(), Some(End::Reset));
            assert_eq!(host.connection(id).write(b"more"), Err(UserError::Ended(End::Reset)));
        });
    }
}

#[test]
fn we_reset_the_kernel() {
    for opener in [Opener::Us, Opener::Kernel] {
        let Some(mut net) = net(MTU, None) else { return };
        let theirs = |mut socket: TcpStream| {
            socket.write_all(b"unread").unwrap();
            socket.read(&mut [0; 8]).map_err(|error| error.kind())
        };
        let read = connected(&mut net, opener, config(), theirs, |host, id| {
            host.until("written to", |host| host.connection(id).readable() == 6);
            host.connection(id).abort();
            assert_eq!(host.connection(id).end(), Some(End::Aborted));
        });
        assert_eq!(read, Err(ErrorKind::ConnectionReset));
    }
}
