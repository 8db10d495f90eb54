//! Loading a library and calling it.
//!
//! `unsafe` here is the loading of foreign code, which may do anything, and its calls by the types of
//! `include/warmcore_handler.h`.

use super::call_record::{Call, CallRecord, Function};
use core::ffi::c_void;
use core::ptr;
use libloading::{Library, Symbol};
use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The version of the interface.
const VERSION: u32 = 1;
/// The longest library that is read, in bytes.
const LONGEST: u64 = 1 << 30;

type VersionFunction = unsafe extern "C" fn() -> u32;
type OpenFunction = unsafe extern "C" fn(*const Peer) -> *mut c_void;
type RequestFunction = unsafe extern "C" fn(*mut c_void, *const c_void, usize, *mut c_void, usize) -> usize;
type CloseFunction = unsafe extern "C" fn(*mut c_void);

/// `struct warmcore_peer`.
#[repr(C)]
struct Peer {
    address: [u8; 16],
    port: u16,
}

/// A loaded library. It stays loaded for as long as the process runs: its threads and destructors may still be at work.
#[derive(Debug)]
pub struct HandlerLibrary {
    open: Option<OpenFunction>,
    request: RequestFunction,
    close: Option<CloseFunction>,
    calls: CallRecord,
    fault: OnceLock<ReplyTooLong>,
}

/// Why a library cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// The file cannot be read.
    #[error("cannot read the handler library `{}`: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The dynamic linker refused it.
    #[error(
        "cannot load the handler library `{}`: {reason}; expected a shared library for this machine, as `cc -shared -fPIC` \
         makes it",
        file.display()
    )]
    Unloadable {
        /// The file.
        file: PathBuf,
        /// What the linker says.
        reason: String,
    },
    /// A function is missing.
    #[error(
        "the handler library `{}` has no function `{name}`; expected those of warmcore_handler.h, with C linkage and not hidden",
        file.display()
    )]
    Missing {
        /// The file.
        file: PathBuf,
        /// The function.
        name: &'static str,
    },
    /// It was built for another version of the interface.
    #[error(
        "the handler library `{}` is of version {found} of the interface, expected {VERSION}: build it with the \
         warmcore_handler.h of this release",
        file.display()
    )]
    Version {
        /// The file.
        file: PathBuf,
        /// What it says.
        found: u32,
    },
}

/// A library returned a length beyond the reply's capacity: it may have written over other memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`warmcore_flow_request` returned {length} for request {number}, expected at most its capacity, {capacity} bytes"
)]
pub struct ReplyTooLong {
    /// The number of the request.
    pub number: u64,
    /// What was returned.
    pub length: usize,
    /// The capacity.
    pub capacity: usize,
}

impl HandlerLibrary {
    /// Loads the library in `file`, whose calls are noted in `calls`.
    ///
    /// # Errors
    /// If it cannot be loaded, or lacks a function.
    pub fn open(file: &Path, calls: CallRecord) -> Result<Self, LibraryError> {
        let unreadable = |source| LibraryError::Unreadable { file: file.into(), source };
        warmcore_files::check(file, LONGEST).map_err(unreadable)?;
        // A name without a slash would be looked for in the linker's folders.
        let path = file.canonicalize().map_err(unreadable)?;
        let loading = calls.during(Call { worker: None, function: Function::Load, number: 0 });
        // SAFETY: the user named this library as code to run; what it does when loaded is its affair, and the process that
        // loads it holds nothing else of value.
        let library = unsafe { Library::new(&path) }
            .map_err(|error| LibraryError::Unloadable { file: file.into(), reason: reason(&error) })?;
        let missing = |name| LibraryError::Missing { file: file.into(), name };
        let version: VersionFunction = function(&library, "warmcore_handler_version")
            .ok_or_else(|| missing("warmcore_handler_version"))?;
        // SAFETY: the interface has this function without parameters.
        let found = unsafe { version() };
        if found != VERSION {
            return Err(LibraryError::Version { file: file.into(), found });
        }
        let request = function(&library, "warmcore_flow_request");
        let loaded = Self {
            open: function(&library, "warmcore_flow_open"),
            request: request.ok_or_else(|| missing("warmcore_flow_request"))?,
            close: function(&library, "warmcore_flow_close"),
            fault: OnceLock::new(),
            calls: CallRecord::private().map_err(unreadable)?,
        };
        // It is never unloaded, so its functions may be called for ever.
        core::mem::forget(library);
        drop(loading);
        Ok(Self { calls, ..loaded })
    }

    /// The first reply that was too long.
    #[must_use]
    pub fn fault(&self) -> Option<ReplyTooLong> {
        self.fault.get().copied()
    }

    /// Begins the flow of `peer`, on `worker`, with its request of this `number`.
    #[must_use]
    pub fn flow(self: &Arc<Self>, peer: SocketAddr, worker: usize, number: u64) -> LibraryFlow {
        let _call = self.calls.during(Call { worker: Some(worker), function: Function::Open, number });
        let peer = Peer { address: address(peer.ip()), port: peer.port() };
        // SAFETY: the interface's function reads the peer during the call.
        let state = self.open.map_or(ptr::null_mut(), |open| unsafe { open(&raw const peer) });
        LibraryFlow { library: Arc::clone(self), state, worker }
    }
}

/// The function of this name, of the type that the interface gives it.
fn function<F: Copy>(library: &Library, name: &str) -> Option<F> {
    // SAFETY: the interface says which type a function of this name has; the caller asks for that type.
    let symbol: Option<Symbol<'_, F>> = unsafe { library.get(name.as_bytes()) }.ok();
    symbol.map(|symbol| *symbol)
}

/// What the dynamic linker says.
fn reason(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

fn address(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

/// A flow's state in the library. Dropping it ends the flow.
#[derive(Debug)]
pub struct LibraryFlow {
    library: Arc<HandlerLibrary>,
    state: *mut c_void,
    /// The last worker.
    worker: usize,
}

// SAFETY: the interface says that a flow may be handled by one thread after another; only `&mut self` and `drop` use it.
unsafe impl Send for LibraryFlow {}

impl LibraryFlow {
    /// Lets the library handle a request on `worker`. Returns the length of the reply, at most that of `reply`.
    #[inline]
    pub fn request(&mut self, worker: usize, number: u64, request: &[u8], reply: &mut [u8]) -> usize {
        self.worker = worker;
        let library = &self.library;
        let _call = library.calls.during(Call { worker: Some(worker), function: Function::Request, number });
        let (data, out) = (request.as_ptr().cast(), reply.as_mut_ptr().cast());
        // SAFETY: both slices are alive during the call, the second for writing; the state is what the library returned when
        // the flow began, and `&mut self` keeps others from using it.
        let length = unsafe { (library.request)(self.state, data, request.len(), out, reply.len()) };
        if length > reply.len() {
            let _ = library.fault.set(ReplyTooLong { number, length, capacity: reply.len() });
        }
        length.min(reply.len())
    }
}

impl Drop for LibraryFlow {
    fn drop(&mut self) {
        if let Some(close) = self.library.close {
            let call = Call { worker: Some(self.worker), function: Function::Close, number: 0 };
            let _call = self.library.calls.during(call);
            // SAFETY: the state is what the library returned when the flow began, and ends here, once.
            unsafe { close(self.state) };
        }
    }
}
