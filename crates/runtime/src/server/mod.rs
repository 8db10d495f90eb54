//! A server on the kernel's UDP or TCP sockets, for programs of any kind: an ordinary address, no privilege, no scenario and no
//! profile. The same handler also runs [on an interface](#on-an-interface) below them.
//!
//! ```
//! use warmcore_runtime::server::{Policy, Server};
//!
//! let server = Server::bind("127.0.0.1:0")?.policy(Policy::ByFlow).workers(1).state(|_peer| 0_u64);
//! let running = server.start(|count, request, reply| {
//!     *count += 1;
//!     reply.send(format!("{count}: ").as_bytes());
//!     reply.send(request.bytes);
//! })?;
//! let client = std::net::UdpSocket::bind("127.0.0.1:0")?;
//! client.send_to(b"hello", running.local_addr())?;
//! let mut answer = [0; 100];
//! for expected in [&b"1: "[..], b"hello"] {
//!     let length = client.recv(&mut answer)?;
//!     assert_eq!(&answer[..length], expected);
//! }
//! let report = running.stop()?;
//! assert_eq!((report.total().requests, report.total().replies), (1, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A flow is what one address and port sends, on [TCP](Server::bind_tcp) a connection. Its first request opens it, or that
//! the connection is accepted: the server makes its state, and hands it to the [`Handler`] with this request and all that follow, until the
//! flow expires, is evicted, or the handler or the peer closes it. Each worker, a thread pinned to a core, receives requests in
//! batches (of one connection, or of all senders), calls the handler, and sends the batch's replies together. The
//! [`Policy`] says which worker gets which request; [`Frames`] says where requests on a connection end.
//!
//! | module | holds |
//! |---|---|
//! | `builder`, `launch`, `running` | a server before it runs, its start, and its end |
//! | `policy`, `gathering` | which worker processes a request, and how many the adaptive policy uses |
//! | `handler`, `reply` | the user's side |
//! | `service` | calls of the handler, timers, and the ends of flows |
//! | `flows` | the flows: their states, timers, and who was idle longest |
//! | `transport` | what lies beneath: the two that follow. All that they share is compiled for each |
//! | `datagrams` | UDP: the loop of a worker, and a datagram's way to its flow |
//! | `connections` | TCP: accepting, frames, a connection's turn, and its end |
//! | `keeper` | the thread that calls timers of flows that have no worker |
//! | `control`, `counts`, `report` | what all threads share, what they count, and how it is shown |
//! | `signals` | SIGTERM |
//!
//! # Invariants
//! - A flow's state is with one thread at a time. Datagrams that come meanwhile wait at the flow, at most 1,024.
//! - Requests of a connection are handled in their order and answered in it, under every policy.
//! - Each datagram that a worker received is handled, or counted as overflowed or abandoned. Those that the kernel dropped
//!   before are counted too.
//! - A handler that panics loses its request and by default its flow's state, and nothing else. A panic elsewhere ends the
//!   whole server with an error.
//! - Under policies with a [worker for each flow](Policy::keeps_order), all calls for a flow are made on that worker's thread,
//!   timers included, unless it is [on an interface](#on-an-interface) that moves flows.
//!
//! # On an interface
//! [`Server::on_interface`] takes the place of [`Server::bind`]: the same handler, builder, report and end, below the kernel's
//! UDP. Workers receive frames, check them layer by layer as the protocol stack does, and write the frames of the replies.
//! ARP for the address is answered.
//!
//! | policy | packet socket | XDP | TUN |
//! |---|---|---|---|
//! | `ByFlow` | a socket for each worker, by our program | a queue of the interface for each worker, by its hash | a queue for each worker, by the kernel's hash |
//! | `KernelHash` | the same, by the kernel's hash | the same | the same |
//! | `ByCpu` | the same, by the cpu where the frame arrives | refused | refused |
//! | `SharedLifo`, `SharedFifo` | one socket | one receive queue; refused if there are more | one queue |
//!
//! What differs from the kernel's sockets:
//! - Addresses are IPv4. A request or reply fits one frame: fragments are refused and [counted](Report::refused), a reply of more
//!   than 1,472 bytes (or the interface's MTU less 28) is [unsent](Counts::unsent).
//! - A datagram can be sent to who has sent something before, since only then the link address is known; others are unsent.
//!   Over TUN anybody can be reached.
//! - An interface may move a flow to another queue. So with XDP and TUN and several workers a flow's state is behind a lock,
//!   and a thread of its own calls timers, as under the shared policies.
//! - If the interface is deleted, the server ends with an error.
//!
//! # What a slow handler holds up
//! With a worker for each flow: all flows of its worker, and the replies of the batch that it is in. Workers that see slow
//! requests receive fewer at once: as many as take 100 µs. Under the shared policies a worker takes one request at a time, so
//! a slow one holds up nothing but its own flow, as long as there are other workers. A peer that does not read its replies
//! holds up nobody: its own requests wait.
//!
//! # The stack of a handler
//! A handler runs on its worker's thread, with a stack of [2 MiB](Server::stack_size) and a guard page.

mod builder;
mod connections;
mod control;
mod counts;
mod datagrams;
mod error;
mod flows;
mod gathering;
mod handler;
mod keeper;
mod launch;
mod policy;
mod reply;
mod report;
mod running;
mod service;
mod signals;
mod transport;

pub use builder::Server;
pub use connections::{FindFrame, Frame, Frames};
pub use counts::Counts;
pub use datagrams::interface::Device;
pub use error::ServerError;
pub use handler::{AfterPanic, Closed, Handler, Request};
pub use policy::Policy;
pub use reply::Reply;
pub use report::{Report, WorkerReport};
pub use running::{Running, Sender};

/// What a worker may take before it sends replies, or turns to other connections, in nanoseconds: so that the first reply
/// does not wait long for the last.
const BATCH_TIME: u64 = 100_000;
