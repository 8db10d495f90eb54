//! A user's request handler: a shared library with the functions of `include/warmcore_handler.h`.
//!
//! Foreign code may crash, or never return. So a command that loads a library runs in a process of its own, and the one that
//! the user started watches it:
//!
//! ```text
//! supervise ──► child: the same command ──► HandlerLibrary::open ──► LibraryFlow::request
//!     ▲                                                                    │
//!     └──────────── CallRecord: the calls under way, by worker ◄───────────┘
//! ```
//!
//! # Invariants
//! - Which call is under way is written before the call, into memory that both processes share: it outlives a crash.
//! - The child does not outlive its supervisor, however that ends; unless the library undoes what makes it so.
//! - What is done stays done: once results are written, the child is ended, and the library's destructors do not run.

mod call_record;
#[allow(unsafe_code)]
mod library;
mod supervise;

pub use call_record::{Call, CallRecord, Function};
pub use library::{HandlerLibrary, LibraryError, LibraryFlow, ReplyTooLong};
pub use supervise::{SupervisedEnd, is_supervised, supervise, take_stdout};
