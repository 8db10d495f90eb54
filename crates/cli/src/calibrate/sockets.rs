//! `warmcore calibrate` with `--path udp-socket` or `tcp-socket`.

use super::{existing, look_at_machine};
use crate::args::CalibrateArguments;
use crate::args::served::AskedRequests;
use crate::misuse::OrMisuse;
use crate::server::{self, service};
use crate::unused_options::refuse;
use crate::{folder, interrupt, json, terminal};
use miette::{IntoDiagnostic, WrapErr};
use std::path::Path;
use warmcore_measure::SocketPlan;
use warmcore_record::atomic_file;
use warmcore_units::Transport;

pub(super) fn run(arguments: &CalibrateArguments, transport: Transport) -> miette::Result<()> {
    let reason = "the kernel's path is measured, with requests and built-in other work";
    refuse("transport", arguments.transport.is_some(), reason)?;
    refuse("reply", arguments.reply.is_some(), reason)?;
    refuse("intervening", arguments.intervening.intervening.is_some(), reason)?;
    let standard = if arguments.quick { SocketPlan::quick() } else { SocketPlan::standard() };
    let plan = SocketPlan {
        seed: arguments.seed.unwrap_or(standard.seed),
        payload_bytes: match arguments.served.requests {
            Some(AskedRequests::Equal(bytes)) => bytes,
            _ => arguments.payload.unwrap_or(standard.payload_bytes),
        },
        transport,
        ..standard
    };
    let plan = match (&arguments.served.handler, &arguments.served.requests) {
        (None, None) => plan,
        (None, Some(_)) => {
            SocketPlan { requests: Some(service::payloads(&arguments.served, plan.payload_bytes)?), ..plan }
        }
        (Some(_), _) => {
            let service = service::service(&arguments.served, 0, plan.payload_bytes)?;
            SocketPlan { handlers: vec![service.handler], requests: Some(service.payloads), ..plan }
        }
    };
    plan.check().or_misuse().wrap_err("--payload")?;
    let out = arguments.out.as_deref().unwrap_or_else(|| Path::new(server::profile_file(transport)));
    let existing = existing(arguments.output.force);
    atomic_file::check(out, existing).or_misuse()?;

    let stop = interrupt::catch()?;
    let machine = look_at_machine(arguments.output.json)?;
    let profile = server::measure(&machine, &plan, stop);
    let profile = profile.into_diagnostic().wrap_err("cannot measure the kernel's path on this machine")?;
    let text = toml::to_string(&profile).into_diagnostic()?;
    folder::write(out, text.as_bytes(), existing)?;
    if arguments.output.json {
        return crate::output::print(json::line(&profile)?.as_bytes());
    }
    let shown = terminal::sockets::profile(&profile);
    crate::output::print(format!("{shown}\nThe profile is in {}.\n", out.display()).as_bytes())
}
