//! `warmcore calibrate --server`: a finished program, measured from outside.

use super::{existing, look_at_machine};
use crate::args::served::AskedRequests;
use crate::args::values::ProgramLine;
use crate::args::{CalibrateArguments, CalibratedPath};
use crate::misuse::{OrMisuse, misuse};
use crate::server::service;
use crate::unused_options::refuse;
use crate::{folder, interrupt, json, progress, terminal};
use miette::{IntoDiagnostic, WrapErr};
use std::ffi::OsString;
use std::path::Path;
use warmcore_linux::{Program, orphans};
use warmcore_measure::requests::service::Payloads;
use warmcore_measure::{Asked, ProgramPlan, Progress, calibrate_program};
use warmcore_record::atomic_file;

/// Where the profile goes if nothing else is said.
const PROFILE: &str = "server.toml";
/// Bytes of a datagram if nothing else is said.
const BYTES: usize = 256;

pub(super) fn run(arguments: &CalibrateArguments, line: &ProgramLine) -> miette::Result<()> {
    let reason = "--server measures a program as it is";
    refuse("transport", arguments.transport.is_some(), reason)?;
    refuse("reply", arguments.reply.is_some(), reason)?;
    refuse("intervening", arguments.intervening.intervening.is_some(), reason)?;
    let asked = asked(arguments)?;
    let words: Vec<OsString> = line.iter().map(Into::into).collect();
    if !line.iter().any(|word| word.contains(ProgramPlan::PORT)) {
        return Err(misuse(
            "--server has no `{port}`, which stands for the port where the program is to listen, such as './my-server --port \
             {port}'",
        ));
    }
    Program::find(&words).or_misuse().wrap_err("--server")?;
    let plan = ProgramPlan::new(words, asked, arguments.quick, arguments.seed.unwrap_or(1994));
    let out = arguments.out.as_deref().unwrap_or_else(|| Path::new(PROFILE));
    let existing = existing(arguments.output.force);
    atomic_file::check(out, existing).or_misuse()?;

    let stop = interrupt::catch()?;
    let machine = look_at_machine(arguments.output.json)?;
    let bar = progress::bar("measuring");
    let mut observer = |at: Progress| {
        bar.set_message(at.stage);
        progress::set(&bar, at.done);
    };
    orphans::adopt().into_diagnostic().wrap_err("cannot adopt what the program leaves behind")?;
    let profile = calibrate_program(&machine, &plan, &mut observer, stop);
    orphans::end_all();
    bar.finish_and_clear();
    let profile = profile.into_diagnostic().wrap_err("cannot measure this program")?;
    let text = toml::to_string(&profile).into_diagnostic()?;
    folder::write(out, text.as_bytes(), existing)?;
    if arguments.output.json {
        return crate::output::print(json::line(&profile)?.as_bytes());
    }
    let shown = terminal::program::profile(&profile);
    crate::output::print(format!("{shown}\nThe profile is in {}.\n", out.display()).as_bytes())
}

/// What the program is asked, over the transport that --path may name.
fn asked(arguments: &CalibrateArguments) -> miette::Result<Asked> {
    let asked = match &arguments.served.requests {
        Some(AskedRequests::Http(path)) => Asked::Http(path.clone()),
        Some(AskedRequests::Equal(bytes)) => Asked::Datagrams(Payloads::zeros(*bytes)),
        Some(AskedRequests::Capture(_)) => Asked::Datagrams(service::payloads(&arguments.served, BYTES)?),
        None if arguments.path == Some(CalibratedPath::TcpSocket) => Asked::Http("/".to_owned()),
        None => Asked::Datagrams(Payloads::zeros(arguments.payload.unwrap_or(BYTES).min(Payloads::LONGEST))),
    };
    let (fitting, name) = match asked {
        Asked::Http(_) => (CalibratedPath::TcpSocket, "HTTP, expected --path tcp-socket or none"),
        Asked::Datagrams(_) => (CalibratedPath::UdpSocket, "datagrams, expected --path udp-socket or none"),
    };
    match arguments.path {
        Some(path) if path != fitting => {
            Err(misuse(format!("--path does not fit --requests: they are {name}")))
        }
        _ => Ok(asked),
    }
}
