//! `warmcore run`.

mod figures;
mod finished;
mod summary;
mod view;

use crate::args::live::{LiveArguments, RunLiveArguments, RunnableArguments};
use crate::args::values::each_cpu;
use crate::json::{self, Versioned};
use crate::messages::{self, Level};
use crate::misuse::misuse;
use crate::point::{self, set};
use crate::{documents, exit, flags, interrupt, server, unused_options};
use console::Term;
use figures::RunFigures;
use finished::Finished;
use miette::{IntoDiagnostic, miette};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use view::View;
use warmcore_costs::Profile;
use warmcore_runtime::driver::DriverError;
use warmcore_runtime::driver::device::SenderCounts;
use warmcore_runtime::from_scenario::{usable_cores, weighs_costs};
use warmcore_runtime::metrics::{Endpoint, text};
use warmcore_runtime::{OnStuck, Report, RunError, Setup, SetupError};
use warmcore_scenario::document::Checked;
use warmcore_scenario::{DriverKind, Live, PacketScenario, ProfileSource};
use warmcore_topology::CpuSet;
use warmcore_workload::Capture;

/// Version of what `--json` prints. Version 2 has `disturbed_share` in place of `disturbed_packets` and
/// `undisturbed_packets`, calls the figures of all packets `overall_…` and those of the whole run `whole_run_…`.
const SCHEMA: u32 = 2;
/// Time between two checks whether the run is to end.
const TICK: Duration = Duration::from_millis(50);
/// Time between two pictures of the live view.
const REFRESH: Duration = Duration::from_secs(1);

pub(crate) fn run(arguments: &RunLiveArguments) -> miette::Result<()> {
    if let Some(transport) = server::asked(&arguments.runnable) {
        return server::run::run(arguments, transport);
    }
    unused_options::refuse("sharing", arguments.sharing.is_some(), server::NO_PORT)?;
    server::refuse_served(&arguments.runnable.served)?;
    let scenario = scenario(&arguments.runnable)?;
    let given = &arguments.runnable.scenario.given;
    unused_options::check_profile(given, &scenario)?;
    unused_options::check_unused(given, &scenario.unused_live())?;
    if arguments.print_scenario {
        return crate::output::print(toml::to_string(&scenario).into_diagnostic()?.as_bytes());
    }
    let profile = documents::profile(&scenario.profile)?;
    let mut setup = Setup::new(&scenario, &profile).map_err(unusable)?;
    setup.options.on_stuck = OnStuck::new(|error| exit::end_with(&miette!("{error}")));
    let endpoint = arguments.metrics.map(Endpoint::bind).transpose().map_err(|error| miette!("{error}"))?;
    tell_notes(&scenario, setup.capture.as_ref(), endpoint.as_ref());
    describe(&scenario, &setup, &profile);
    let stop = interrupt::catch()?;
    let view = (!arguments.json && messages::says(Level::Normal)).then(Term::stderr).filter(Term::is_term);

    let (ended, senders) = attend(&mut setup, &scenario.live, endpoint.as_ref(), view, stop);
    let (report, failure) = until_then(ended).map_err(failed)?;
    messages::detail(format_args!("the run ended after {}", report.duration));
    let interrupted = stop.load(Ordering::SeqCst);
    let finished = Finished { scenario, setup, report, senders, interrupted, failure };
    crate::output::print(shown(&finished, arguments.json)?.as_bytes())?;
    if let Some(failure) = finished.failure {
        return Err(miette!("{failure}"));
    }
    if finished.interrupted {
        return Err(miette!("interrupted"));
    }
    Ok(())
}

/// The checked scenario of a run, from flags and the document they name. Without a number of processors, it is
/// that of the cpus named or of this machine's usable cores.
pub(crate) fn scenario(flags: &RunnableArguments) -> miette::Result<PacketScenario> {
    let mut scenario = point::from_flags(&flags.scenario)?;
    set_live(&mut scenario.live, &flags.live);
    scenario.processors = match (flags.processors, &scenario.live.cpus) {
        (Some(processors), _) => processors,
        (None, cpus) if !cpus.is_empty() => u32::try_from(cpus.len()).into_diagnostic()?,
        (None, _) if documents::names(flags.scenario.document.as_deref(), "processors") => {
            scenario.processors
        }
        (None, _) => u32::try_from(usable_cores().into_diagnostic()?.len()).into_diagnostic()?,
    };
    scenario.check().map_err(|fault| flags::refused(&fault))?;
    scenario.check_runnable().map_err(|fault| flags::refused(&fault))?;
    unused_options::check_live(&flags.scenario.given, &scenario)?;
    Ok(scenario)
}

fn set_live(live: &mut Live, flags: &LiveArguments) {
    set(&mut live.driver, flags.driver);
    live.interface = flags.interface.clone().or(live.interface.take());
    live.address = flags.address.or(live.address);
    set(&mut live.port, flags.port);
    set(&mut live.transport, flags.transport);
    set(&mut live.seconds, flags.seconds);
    set(&mut live.mode, flags.mode);
    set(&mut live.work_kib, flags.work_kib);
    set(&mut live.payload_bytes, flags.payload);
    live.verify_udp_checksum |= flags.verify_udp_checksum;
    set(&mut live.handler_ns, flags.handler_ns);
    set(&mut live.handler_bytes, flags.handler_bytes);
    set(&mut live.reply_bytes, flags.reply);
    set(&mut live.capacity, flags.capacity);
    set(&mut live.overload, flags.overload);
    set(&mut live.shutdown, flags.shutdown);
    if !flags.cpus.is_empty() {
        live.cpus = each_cpu(&flags.cpus);
    }
}

/// Says with --verbose what is run where, and with whose costs.
fn describe(scenario: &PacketScenario, setup: &Setup, profile: &Profile) {
    let cpus: CpuSet = setup.options.cpus.iter().copied().collect();
    messages::detail(match weighs_costs(scenario) {
        true => format!("the policy weighs costs: those of {}", profile.name),
        false => "the policy weighs no costs: no profile is used".to_owned(),
    });
    let source = scenario.live.interface.as_deref().unwrap_or("memory");
    messages::detail(format_args!("packets come from {source}; {} streams are open", setup.flows.len()));
    messages::detail(format_args!(
        "running {} on cpus {cpus} for {} s",
        scenario.scheduling, scenario.live.seconds
    ));
}

fn tell_notes(scenario: &PacketScenario, capture: Option<&Capture>, endpoint: Option<&Endpoint>) {
    if let Some(capture) = capture {
        messages::note(format_args!("the trace: {capture}"));
    }
    if weighs_costs(scenario) && scenario.profile == ProfileSource::SgiChallengeXl {
        messages::note(format_args!(
            "`{}` weighs costs, and uses those of the machine of Salehi 1994. For those of this machine give \
             --profile with a file that `warmcore calibrate` wrote",
            scenario.scheduling.policy
        ));
    }
    if scenario.live.driver == DriverKind::Tun {
        messages::note(
            "the TUN interface is down when it is made: give it a peer address and bring it up with `ip`",
        );
    }
    if let Some(endpoint) = endpoint {
        messages::status(format_args!("metrics: http://{}/metrics", endpoint.address()));
    }
}

/// Runs `setup` for as long as `live` says or until `stop` is set; meanwhile new senders are admitted,
/// metrics served and the view refreshed.
fn attend(
    setup: &mut Setup,
    live: &Live,
    endpoint: Option<&Endpoint>,
    term: Option<Term>,
    stop: &AtomicBool,
) -> (Result<Report, RunError>, Option<SenderCounts>) {
    let cpus = setup.options.cpus.clone();
    let new_senders = setup.new_senders.take();
    let length = Duration::from_secs_f64(live.seconds);
    let ended = setup.run(|watch| {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            if let Some(endpoint) = endpoint {
                scope.spawn(|| endpoint.serve(&over, || text(watch, &cpus)));
            }
            let mut view = term.map(|term| View::new(term, &cpus, REFRESH));
            let ends = Instant::now() + length;
            let goes_on = |tick| match &new_senders {
                Some(new_senders) => new_senders.admit(watch, tick),
                None => !watch.wait(tick),
            };
            while let Some(left) = ends.checked_duration_since(Instant::now())
                && !stop.load(Ordering::SeqCst)
                && goes_on(left.min(TICK))
            {
                if let Some(view) = &mut view {
                    view.refresh(watch);
                }
            }
            over.store(true, Ordering::Relaxed);
        });
    });
    let senders = new_senders.map(|senders| senders.counts());
    if let Some(SenderCounts { refused: 1.., .. }) = senders {
        let (streams, idle) = (setup.options.streams, Live::STREAM_IDLE.as_secs());
        messages::note(format_args!(
            "all {streams} streams were taken at times, none of them idle for {idle} s, and further senders refused: \
             give more --streams"
        ));
    }
    (ended, senders)
}

/// The results of a run; for one that failed after it had some, with why it ended.
fn until_then(ended: Result<Report, RunError>) -> Result<(Report, Option<String>), RunError> {
    match ended {
        Ok(report) => Ok((report, None)),
        Err(error) => {
            let said = error.to_string();
            match error {
                RunError::Queue { report, .. } => Ok((*report, Some(said))),
                error => Err(error),
            }
        }
    }
}

fn shown(finished: &Finished, json: bool) -> miette::Result<String> {
    if !json {
        return Ok(summary::summary(finished));
    }
    json::pretty(&Versioned::new(SCHEMA, RunFigures::new(finished)))
}

/// Why a scenario cannot be run here, with flags beside fields.
pub(crate) fn unusable(error: SetupError) -> miette::Report {
    match error {
        SetupError::Field(fault) => flags::refused(&fault),
        SetupError::Traffic(error) => point::traffic_explained(error),
        SetupError::Profile(error) => point::unfit_profile(&error),
        SetupError::Driver(error) => undriven(&error),
        error => miette!("{error}"),
    }
}

/// Why a driver cannot be opened. The memory driver opens nothing: it refuses its fields only.
fn undriven(error: &DriverError) -> miette::Report {
    match error.driver {
        "memory" => misuse(error.to_string()),
        _ => miette!("{error}"),
    }
}

/// Why a run ended.
pub(crate) fn failed(error: RunError) -> miette::Report {
    match error {
        RunError::Option { field, found, expected } => {
            misuse(format!("--{field} is {found}, expected {expected}"))
        }
        RunError::Driver(error) => undriven(&error),
        error => miette!("{error}"),
    }
}
