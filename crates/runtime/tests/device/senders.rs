//! More senders than streams.

use crate::{OURS, PORT, Peers, TIMEOUT, scenario};
use std::net::{Ipv4Addr, UdpSocket};
use std::thread;
use std::time::Duration;
use warmcore_costs::Profile;
use warmcore_linux::net::lab::{Lab, LinkOptions};
use warmcore_linux::net::privilege_missing;
use warmcore_runtime::driver::device::SenderCounts;
use warmcore_runtime::{RunHandle, Setup};
use warmcore_scenario::{DriverKind, Parallelism, ProcessorPolicy, Scheduling};

/// An hour: no stream is idle for so long here.
const NEVER: Duration = Duration::from_secs(3600);

/// A sender with a port of its own.
pub(crate) struct Sender(UdpSocket);

impl Sender {
    pub(crate) fn new(peers: Peers<'_>) -> Self {
        let socket = peers.namespace.run(|| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))).unwrap().unwrap();
        socket.connect((peers.address, PORT)).unwrap();
        Self(socket)
    }

    /// Whether a question is answered within `longest`.
    fn is_answered(&self, longest: Duration) -> bool {
        self.0.set_read_timeout(Some(longest)).unwrap();
        self.0.send(b"who am I?").unwrap();
        self.0.recv(&mut [0; 16]).is_ok()
    }

    pub(crate) fn ask(&self) {
        assert!(self.is_answered(TIMEOUT), "no answer");
    }
}

/// Serves senders with `streams` streams, which may be closed after `idle`, while `visit` makes and uses senders. `None`
/// without the privilege.
fn serve(
    approach: Parallelism,
    (streams, idle): (u32, Duration),
    visit: impl FnOnce(&dyn Fn() -> Sender) + Send,
) -> Option<SenderCounts> {
    if let Some(missing) = privilege_missing() {
        println!("skipped: needs {missing}");
        return None;
    }
    let lab = Lab::new(&LinkOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let mut scenario = scenario(DriverKind::PacketSocket, approach, OURS, &lab.link.near.name);
    scenario.traffic.streams = streams;
    if approach == Parallelism::Locking {
        scenario.scheduling = Scheduling { approach, policy: ProcessorPolicy::Mru, ..Scheduling::default() };
    }
    let mut setup = Setup::new(&scenario, &Profile::sgi_challenge_xl()).unwrap();
    let mut new_senders = setup.new_senders.take().unwrap();
    new_senders.close_after(idle);
    let peers = Peers { namespace: &lab.far, address: OURS };
    let sender = move || Sender::new(peers);
    let attend = |watch: &RunHandle<'_>| {
        thread::scope(|scope| {
            let visit = scope.spawn(move || visit(&sender));
            while !visit.is_finished() && new_senders.admit(watch, Duration::from_millis(5)) {}
        });
    };
    lab.near.run(|| setup.run(attend)).unwrap().unwrap();
    Some(new_senders.counts())
}

#[test]
fn every_new_sender_is_answered_when_others_are_idle() {
    for approach in [Parallelism::Locking, Parallelism::Ips, Parallelism::Hybrid] {
        let counts = serve(approach, (4, Duration::ZERO), |sender| {
            let senders: Vec<Sender> = (0..12).map(|_| sender()).collect();
            senders.iter().for_each(Sender::ask);
            // Its stream has been closed meanwhile; it gets another.
            senders[0].ask();
        });
        assert!(counts.is_none_or(|counts| counts == SenderCounts { closed: 9, refused: 0 }), "{counts:?}");
    }
}

#[test]
fn the_stream_that_has_been_idle_for_longest_is_closed() {
    let counts = serve(Parallelism::Ips, (2, Duration::ZERO), |sender| {
        let [first, second, third] = [sender(), sender(), sender()];
        [&first, &second, &first, &third, &first].into_iter().for_each(Sender::ask);
    });
    assert!(counts.is_none_or(|counts| counts == SenderCounts { closed: 1, refused: 0 }), "{counts:?}");
}

#[test]
fn a_sender_is_refused_while_no_stream_is_idle() {
    let counts = serve(Parallelism::Ips, (2, NEVER), |sender| {
        let [first, second, third] = [sender(), sender(), sender()];
        [&first, &second].into_iter().for_each(Sender::ask);
        for _ in 0..2 {
            assert!(!third.is_answered(Duration::from_millis(200)));
        }
        [&first, &second].into_iter().for_each(Sender::ask);
    });
    assert!(counts.is_none_or(|counts| counts == SenderCounts { closed: 0, refused: 1 }), "{counts:?}");
}

/// One that was refused is answered once another has been idle for long enough.
#[test]
fn a_refused_sender_is_admitted_later() {
    let counts = serve(Parallelism::Ips, (1, Duration::from_millis(500)), |sender| {
        let [first, second] = [sender(), sender()];
        first.ask();
        let asked = (0..100).find(|_| second.is_answered(Duration::from_millis(100)));
        assert!(asked.is_some(), "it is refused for ever");
    });
    assert!(counts.is_none_or(|counts| counts.closed == 1), "{counts:?}");
}
