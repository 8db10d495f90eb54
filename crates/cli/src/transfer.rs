//! `warmcore transfer`.

pub(crate) mod figures;

use crate::args::transfer::{ComparisonArguments, ServeArguments, TransferArguments, TransferCommand};
use crate::args::values::each_cpu;
use crate::misuse::{OrMisuse, misuse, refuse_repeats};
use crate::{interrupt, json, messages, progress, terminal};
use figures::Comparisons;
use miette::{IntoDiagnostic, WrapErr, miette};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::atomic::AtomicBool;
use warmcore_linux::affinity;
use warmcore_linux::counters::Kernel;
use warmcore_linux::net::privilege_missing;
use warmcore_measure::Model;
use warmcore_measure::blocks::BlockDesign;
use warmcore_measure::transfer::{
    Controller, Ends, Experiment, Load, Network, Server, Site, TransferError, TransferOptions, experiment,
    serve_end,
};
use warmcore_units::{Bytes, CpuId};

/// What is compared over virtual wires.
const OVER_WIRES: [Model; 6] =
    [Model::None, Model::InterruptOnly, Model::ProcessOnly, Model::Full, Model::Crossed, Model::Cpu0];

/// What can be compared between real hosts without touching their interrupts.
const BETWEEN_HOSTS: [Model; 2] = [Model::None, Model::ProcessOnly];

pub(crate) fn run(arguments: &TransferArguments) -> miette::Result<()> {
    match &arguments.command {
        None => compare(&arguments.comparison),
        Some(TransferCommand::Serve(arguments)) => serve(arguments),
        Some(TransferCommand::End) => {
            // It fails when its controller is gone, and then nobody reads an error.
            let _ = serve_end(io::stdin().lock(), io::stdout().lock(), Controller::Local);
            Ok(())
        }
    }
}

fn compare(arguments: &ComparisonArguments) -> miette::Result<()> {
    refuse_repeats("size", &arguments.sizes)?;
    let options = arguments.sizes.iter().map(|&size| options(arguments, Bytes(size)));
    let options: Vec<TransferOptions> = options.collect::<miette::Result<_>>()?;
    for options in &options {
        options.check().map_err(|fault| explained(fault.into()))?;
    }
    let site = match &arguments.to {
        None => wires(arguments.connections, !arguments.no_offloads)?,
        Some(host) => Site::Host(resolved(host)?),
    };
    let experiments = experiments(&options, &site, interrupt::catch()?)?;
    let text = if arguments.json {
        let object = Comparisons::new(&experiments, !arguments.no_offloads, arguments.to.as_deref());
        json::pretty(&object)?
    } else {
        experiments.iter().map(terminal::transfer::comparison).collect()
    };
    crate::output::print(text.as_bytes())
}

/// One experiment after the other.
fn experiments(
    options: &[TransferOptions],
    site: &Site,
    stop: &AtomicBool,
) -> miette::Result<Vec<Experiment>> {
    each(options, |one, progress| {
        experiment(one, site, &Kernel::default(), progress, stop).map_err(explained)
    })
}

/// Calls `run` with each of `options` in turn, with one progress bar for all.
pub(crate) fn each<T>(
    options: &[TransferOptions],
    mut run: impl FnMut(&TransferOptions, &mut dyn FnMut(usize, usize)) -> miette::Result<T>,
) -> miette::Result<Vec<T>> {
    let bar = progress::bar("transferring");
    let of_one = |(place, one): (usize, &TransferOptions)| {
        let mut tell = |done: usize, of: usize| {
            messages::detail(format_args!("run {done} of {of} done"));
            let done = place as f64 + done as f64 / of as f64;
            progress::set(&bar, done / options.len() as f64);
        };
        run(one, &mut tell)
    };
    let all = options.iter().enumerate().map(of_one).collect();
    bar.finish_and_clear();
    all
}

fn options(arguments: &ComparisonArguments, size: Bytes) -> miette::Result<TransferOptions> {
    let default = if arguments.to.is_some() { &BETWEEN_HOSTS[..] } else { &OVER_WIRES };
    let models = if arguments.models.is_empty() { default } else { &arguments.models };
    let load = Load { direction: arguments.direction, size, rate: arguments.rate_mbps };
    let cpus = match &arguments.cpus[..] {
        [] => usable_cpus()?,
        cpus => each_cpu(cpus).into_iter().map(CpuId).collect(),
    };
    // A machine with one cpu has nowhere to put packets apart from their programs.
    let is_left_out =
        |model: &Model| arguments.models.is_empty() && *model == Model::Crossed && cpus.len() < 2;
    if models.iter().any(is_left_out) {
        messages::note("with one cpu the model `crossed` is left out: it keeps packets and programs apart");
    }
    Ok(TransferOptions {
        connections: arguments.connections,
        ends: if arguments.threads { Ends::Threads } else { processes()? },
        load,
        models: models.iter().copied().filter(|model| !is_left_out(model)).collect(),
        window: arguments.seconds,
        blocks: BlockDesign { count: arguments.blocks, ..BlockDesign::default() },
        cpus,
    })
}

/// The cpus that this process may use.
pub(crate) fn usable_cpus() -> miette::Result<Vec<CpuId>> {
    Ok(affinity::mask().into_diagnostic()?.iter().collect())
}

/// This program, as the process of an end.
pub(crate) fn processes() -> miette::Result<Ends> {
    let program = std::env::current_exe().into_diagnostic().wrap_err("cannot tell where this program is")?;
    Ok(Ends::Processes(vec![program.into(), "transfer".into(), "end".into()]))
}

/// A virtual wire for each of `connections`.
pub(crate) fn wires(connections: u8, offloads: bool) -> miette::Result<Site> {
    if let Some(missing) = privilege_missing() {
        return Err(miette!(
            "virtual wires need {missing}: run as root, or transfer to another host with --to HOST:PORT"
        ));
    }
    Network::new(connections, offloads).map(Site::Lab).map_err(explained)
}

fn resolved(host: &str) -> miette::Result<SocketAddr> {
    let found = host.to_socket_addrs().or_misuse();
    let first = found.map(|mut addresses| addresses.next());
    let expected = || format!("--to is `{host}`, expected HOST:PORT of a host that can be found");
    first.wrap_err_with(expected)?.ok_or_else(|| misuse(expected()))
}

/// An error with flags in place of fields.
pub(crate) fn explained(error: TransferError) -> miette::Report {
    match error {
        TransferError::Field(fault) => {
            misuse(format!("--{} is {}, expected {}", fault.field, fault.found, fault.expected))
        }
        TransferError::CannotSteerHost { .. } => misuse(format!("--models with --to: {error}")),
        error => miette!("{error}"),
    }
}

fn serve(arguments: &ServeArguments) -> miette::Result<()> {
    let bind = arguments.bind;
    let server =
        Server::bind(bind).into_diagnostic().wrap_err_with(|| format!("cannot listen on --bind {bind}"))?;
    let stop = interrupt::catch()?;
    let address = server.address();
    crate::output::print(
        format!("serving at {address}: `warmcore transfer --to {address}`; Ctrl-C ends it\n").as_bytes(),
    )?;
    server.serve(stop).into_diagnostic()?;
    Err(miette!("interrupted"))
}
