//! What cannot be started says why.

use crate::server;
use std::net::UdpSocket;
use warmcore_runtime::server::{Policy, Server, ServerError};

#[test]
fn a_port_in_use_is_named_with_its_user() {
    let other = UdpSocket::bind("127.0.0.1:0").unwrap();
    for policy in Policy::UDP {
        let server = Server::bind(other.local_addr().unwrap()).unwrap().policy(policy);
        let message = server.start(|(), _, _| ()).unwrap_err().to_string();
        assert!(message.contains("is in use by "), "{message}");
    }
}

#[test]
fn mistakes_are_named() {
    let message = Server::bind("here").unwrap_err().to_string();
    assert!(message.contains("ADDRESS:PORT"), "{message}");
    for (wrong, name) in [
        (server().workers(0), "workers"),
        (server().flows(0), "flows"),
        (server().longest_request(0), "longest_request"),
        (server().stack_size(100), "stack_size"),
    ] {
        let error = wrong.start(|(), _, _| ()).unwrap_err();
        assert!(matches!(error, ServerError::Option { option, .. } if option == name), "{error}");
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let server = server().metrics(taken.local_addr().unwrap());
    assert!(matches!(server.start(|(), _, _| ()), Err(ServerError::Metrics(_))));
}
