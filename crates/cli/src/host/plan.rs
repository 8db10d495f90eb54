//! `warmcore host plan`.

use super::inventory::observed;
use crate::args::host::PlanArguments;
use crate::calibrate::existing;
use crate::documents::HostCosts;
use crate::json::{self, Versioned};
use crate::misuse::{OrMisuse, misuse};
use crate::probe::look;
use crate::{folder, messages, terminal};
use miette::{IntoDiagnostic, miette};
use std::path::Path;
use warmcore_linux::Probe;
use warmcore_linux::inventory::{BlindSpot, Inventory};
use warmcore_record::atomic_file;
use warmcore_study::placement::{HostPlacement, Request, Target, Unplaceable, place};

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;

pub(crate) fn run(arguments: &PlanArguments) -> miette::Result<()> {
    if let Some(file) = &arguments.out {
        atomic_file::check(file, existing(arguments.force)).or_misuse()?;
    }
    let costs = arguments.profile.as_ref().map(HostCosts::read).transpose()?;
    // What no plan can be made for is not watched.
    let observed = observed(arguments.root.as_deref(), arguments.sample, |inventory| {
        inventory.restriction().map_or(Ok(()), |why| Err(no_plan(&Unplaceable::Restricted(why))))
    })?;
    let evident = Target::Evident;
    let request = Request {
        target: arguments.subject.as_ref().unwrap_or(&evident),
        interfaces: &arguments.interfaces,
        interrupt_cores: arguments.interrupt_cores.map(usize::from),
        channels: arguments.channels,
        threaded_napi: arguments.threaded_napi,
        pin: arguments.pin,
        goal: arguments.goal,
        rate: arguments.rate,
        costs: costs.as_ref().map(HostCosts::costs),
    };
    describe(&request, costs.as_ref());
    let placement = place(&observed, &request).map_err(|why| match why {
        Unplaceable::NoThreads(_) if arguments.subject.is_some() => misuse(format!("--for: {why}")),
        Unplaceable::NoInterface { .. } | Unplaceable::Unchangeable { .. } => misuse(format!("--nic: {why}")),
        why @ Unplaceable::NoQueues => unread(&observed.inventory, &why),
        why => no_plan(&why),
    })?;
    let changes = placement.lines.iter().filter(|line| line.changes).count();
    messages::detail(format_args!(
        "planned {} lines, of which {changes} change something",
        placement.lines.len()
    ));
    if let Some(file) = &arguments.out {
        write(file, arguments.force, &placement)?;
    }
    let summary = || terminal::plan::summary(&placement) + &priced(costs.as_ref(), arguments);
    let text = match (arguments.json, &arguments.out) {
        (true, _) => json::pretty(&Versioned::new(SCHEMA, &placement))?,
        (false, Some(file)) => summary() + &next(file),
        (false, None) => {
            // The plan alone is on standard output, so that `apply` takes what a shell writes to a file.
            messages::status(summary());
            document(&placement)?
        }
    };
    crate::output::print(text.as_bytes())
}

/// Of which path and machine the costs are, and whether that is another machine than the one that is planned for.
fn priced(costs: Option<&HostCosts>, arguments: &PlanArguments) -> String {
    let Some(costs) = costs else {
        return "To know the gains, measure what packets cost on this host: `warmcore calibrate --path udp-socket`, then \
                --profile udp-socket.toml.\n"
            .to_owned();
    };
    let mut text = costs.described() + "\n";
    let planned = look(arguments.root.as_deref(), Probe::machine).ok().and_then(Result::ok);
    if let (HostCosts::Kernel(profile), Some(planned)) = (costs, planned)
        && planned.machine.name != profile.name
    {
        text += &format!(
            "This host is {}: what is said of gains holds for {}, and the same may cost more or less here.\n",
            planned.machine.name, profile.name
        );
    }
    text
}

fn no_plan(why: &Unplaceable) -> miette::Report {
    miette!("no plan: {why}")
}

/// The refusal where no interrupt is seen, with what stands in place of their file.
fn unread(inventory: &Inventory, why: &Unplaceable) -> miette::Report {
    let is_unread = |spot: &&BlindSpot| matches!(spot, BlindSpot::InterruptsUnread(_));
    match inventory.blind_spots.iter().find(is_unread) {
        Some(spot) => miette!("no plan: {why}; {spot}"),
        None => no_plan(why),
    }
}

/// Says with --verbose what is planned for, and with which costs.
fn describe(request: &Request<'_>, costs: Option<&HostCosts>) {
    let Request { target, goal, rate, .. } = request;
    let rate = rate.map_or_else(|| "as seen".to_owned(), |rate| rate.to_string());
    messages::detail(format_args!(
        "planning for {goal}, with the threads of {target}; packets arrive at: {rate}"
    ));
    if costs.is_none() {
        messages::detail("costs: unknown, as no --profile is given");
    }
}

fn write(file: &Path, force: bool, placement: &HostPlacement) -> miette::Result<()> {
    folder::write(file, document(placement)?.as_bytes(), existing(force))
}

/// The plan as the document that `host apply` reads.
fn document(placement: &HostPlacement) -> miette::Result<String> {
    toml::to_string(&placement.plan).into_diagnostic()
}

/// How to go on with the plan in `file`.
fn next(file: &Path) -> String {
    let file = file.display();
    format!("The plan: {file}. `warmcore host apply {file}` shows what it would change.\n")
}
