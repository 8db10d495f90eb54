//! `warmcore simulate packet`.

use crate::args::SimulatePacketArguments;
use crate::{point, terminal};
use miette::IntoDiagnostic;
use std::path::Path;
use std::time::Instant;
use warmcore_sim::packet::simulate;
use warmcore_study::point::Figures;

pub(crate) fn run(arguments: &SimulatePacketArguments) -> miette::Result<()> {
    let scenario = point::scenario(arguments)?;
    if arguments.print_scenario {
        return crate::print(toml::to_string(&scenario).into_diagnostic()?.as_bytes());
    }
    let profile = point::profile(&scenario.profile)?;
    let began = Instant::now();
    let result = simulate(&scenario, &profile, Path::new(point::HERE)).map_err(point::explained)?;
    let seconds = began.elapsed().as_secs_f64();

    if !arguments.json {
        return crate::print(terminal::point::summary(&scenario, &result, seconds).as_bytes());
    }
    let figures = Figures::of_scenario(&scenario).and(Figures::of_result(&result)).and_wall_time(seconds);
    let object = serde_json::to_string_pretty(&figures).into_diagnostic()?;
    crate::print(format!("{object}\n").as_bytes())
}
