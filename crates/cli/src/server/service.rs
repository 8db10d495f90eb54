//! What a server is asked, and who answers, from the flags.

use crate::args::served::{AskedRequests, ServedArguments};
use crate::misuse::{OrMisuse, misuse};
use crate::{messages, supervised};
use miette::WrapErr;
use std::path::Path;
use std::sync::Arc;
use warmcore_costs::server::UserFile;
use warmcore_files::LONGEST_CAPTURE;
use warmcore_linux::handler_library::HandlerLibrary;
use warmcore_measure::requests::service::{Payloads, ServedHandler, Service};
use warmcore_units::Transport;
use warmcore_workload::trace::Requests;

/// The longest library, in bytes.
const LONGEST_LIBRARY: u64 = 1 << 30;

/// Who answers: the library named, or a handler that uses so many bytes of its flow's state.
pub(crate) fn handler(flags: &ServedArguments, state_bytes: usize) -> miette::Result<ServedHandler> {
    let Some(file) = &flags.handler else { return Ok(ServedHandler::State(state_bytes)) };
    let named = user_file(
        file,
        &warmcore_files::read(file, LONGEST_LIBRARY)
            .or_misuse()
            .wrap_err_with(|| format!("--handler: cannot read `{}`", file.display()))?,
    );
    let library = HandlerLibrary::open(file, supervised::record()?).or_misuse().wrap_err("--handler")?;
    Ok(ServedHandler::Library(Arc::new(library), named))
}

/// What is asked: the requests named, or `payload_bytes` zeros.
pub(crate) fn payloads(flags: &ServedArguments, payload_bytes: usize) -> miette::Result<Payloads> {
    let file = match &flags.requests {
        None => return Ok(Payloads::equal(payload_bytes)),
        Some(AskedRequests::Equal(bytes)) => return Ok(Payloads::equal(*bytes)),
        Some(AskedRequests::Http(_)) => {
            return Err(misuse("--requests http: asks a program, expected `calibrate --server` with it"));
        }
        Some(AskedRequests::Capture(file)) => file,
    };
    let context = || format!("--requests: cannot use `{}`", file.display());
    let bytes = warmcore_files::read(file, LONGEST_CAPTURE).or_misuse().wrap_err_with(context)?;
    let Requests { port, payloads, incomplete } =
        Requests::parse(&bytes).or_misuse().wrap_err_with(context)?;
    let count = payloads.len();
    let payloads =
        Payloads::captured(payloads, user_file(file, &bytes)).map_err(|error| misuse(error.to_string()));
    let left_out = match incomplete {
        0 => String::new(),
        some => format!("; {some} more are left out, since they are fragments or were not captured whole"),
    };
    messages::note(format_args!(
        "the requests are the {count} datagrams to port {port} in {}{left_out}",
        file.display()
    ));
    payloads.wrap_err_with(context)
}

/// Both.
pub(crate) fn service(
    flags: &ServedArguments,
    state_bytes: usize,
    payload_bytes: usize,
) -> miette::Result<Service> {
    // The payloads first: who names a wrong capture learns of it before a library is run.
    let payloads = payloads(flags, payload_bytes)?;
    Ok(Service { handler: handler(flags, state_bytes)?, payloads, transport: Transport::Udp })
}

fn user_file(file: &Path, contents: &[u8]) -> UserFile {
    let name = file.file_name().unwrap_or(file.as_os_str());
    UserFile { name: name.to_string_lossy().into_owned(), crc32: crc32fast::hash(contents) }
}
