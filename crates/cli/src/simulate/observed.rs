//! What `simulate packet` writes besides its summary: a folder of tables with a report, and a file of events.

use super::summary;
use crate::args::SimulatePacketArguments;
use crate::args::observe::ObserveArguments;
use crate::calibrate::existing;
use crate::costs::ChosenProfile;
use crate::folder::{self, Folder, RESULTS};
use crate::misuse::{OrMisuse, misuse};
use crate::{point, provenance};
use miette::IntoDiagnostic;
use std::path::Path;
use warmcore_record::atomic_file;
use warmcore_record::{Columns, Manifest};
use warmcore_scenario::PacketScenario;
use warmcore_sim::packet::{Observations, Observed, Point, PointResult};
use warmcore_study::observed::{TABLES, document, tables};
use warmcore_units::Nanos;

const REPORT: &str = "report.html";
const SCENARIO: &str = "scenario.toml";
/// Packets whose events are written.
const EVENT_PACKETS: u64 = 10_000;

/// How events are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum EventFormat {
    Arrow,
    Parquet,
    Csv,
    TraceViewer,
}

/// What is asked for besides the summary, checked.
pub(super) struct Wanted<'a> {
    arguments: &'a ObserveArguments,
    pub(super) observations: Observations,
    folder: Option<Folder>,
    events: Option<(&'a Path, EventFormat)>,
}

impl<'a> Wanted<'a> {
    /// What `arguments` ask for. Checks everything that can be checked before a simulation.
    pub(super) fn new(arguments: &'a SimulatePacketArguments) -> miette::Result<Self> {
        let observe = &arguments.observe;
        let has_place = observe.out.is_some() || arguments.json;
        for (option, is_given) in [
            ("histogram", observe.histogram),
            ("by-stream", observe.by_stream),
            ("time-series", observe.time_series.is_some()),
            ("warm-up", observe.warm_up),
        ] {
            if is_given && !has_place {
                return Err(misuse(format!(
                    "--{option} gives a table, which the summary has no place for: give --out DIR or --json too"
                )));
            }
        }
        if observe.force && observe.out.is_none() && observe.events.is_none() {
            return Err(misuse("--force has no effect here: nothing is written without --out or --events"));
        }
        let events = observe
            .events
            .as_deref()
            .map(|path| Ok::<_, miette::Report>((path, format(path)?)))
            .transpose()?;
        if let Some((path, _)) = events {
            atomic_file::check(path, existing(observe.force)).or_misuse()?;
        }
        let writes = observe.out.is_some();
        let observations = Observations {
            quantiles: observe.quantiles.clone(),
            slower_than: observe.slower_than.map(Nanos),
            histogram: observe.histogram || writes,
            streams: observe.by_stream,
            window: observe.time_series.map(Nanos),
            warmup: observe.warm_up || writes,
        };
        let open = |path: &Path| {
            let names: Vec<String> = TABLES
                .iter()
                .flat_map(|table| [format!("{table}.parquet"), format!("{table}.csv")])
                .collect();
            let own = [RESULTS.parquet, RESULTS.csv, REPORT, SCENARIO];
            let files: Vec<&str> = own.into_iter().chain(names.iter().map(String::as_str)).collect();
            Folder::open(path, existing(observe.force), &files)
        };
        let folder = observe.out.as_deref().map(open).transpose()?;
        Ok(Self { arguments: observe, observations, folder, events })
    }

    /// Simulates `point`.
    pub(super) fn simulate(&self, point: Point) -> miette::Result<(PointResult, Observed)> {
        let done = if self.observations.is_empty() {
            point.simulate().map(|result| (result, Observed::default()))
        } else {
            point.observe(&self.observations)
        };
        done.map_err(|error| self.taken_back(point::explained(error)))
    }

    /// Removes what was made for results that there are none of.
    pub(super) fn taken_back(&self, error: miette::Report) -> miette::Report {
        match &self.folder {
            Some(folder) => folder.taken_back(error),
            None => error,
        }
    }

    /// Writes the events of `point`, if they are asked for.
    pub(super) fn write_events(&self, point: &Point, manifest: &Manifest) -> miette::Result<()> {
        let Some((path, format)) = self.events else { return Ok(()) };
        let trace =
            point.events(self.arguments.event_packets.unwrap_or(EVENT_PACKETS)).map_err(point::explained)?;
        let table = || Columns::new(trace.columns()).into_diagnostic();
        let content = match format {
            EventFormat::Arrow => table()?.to_arrow(manifest).into_diagnostic()?,
            EventFormat::Parquet => table()?.to_parquet(manifest).into_diagnostic()?,
            EventFormat::Csv => table()?.to_csv().into_bytes(),
            EventFormat::TraceViewer => {
                trace.timeline().to_trace_json(manifest).into_diagnostic()?.into_bytes()
            }
        };
        folder::write(path, &content, existing(self.arguments.force))
    }

    /// Writes the folder, if one is asked for. Returns where its report is.
    pub(super) fn write_folder(
        &self,
        scenario: &PacketScenario,
        costs: &ChosenProfile,
        result: &PointResult,
        observed: &Observed,
        manifest: &Manifest,
    ) -> miette::Result<String> {
        let Some(folder) = &self.folder else { return Ok(String::new()) };
        let repeatable = provenance::repeatable(manifest);
        let own = warmcore_study::point::columns(&[(scenario.clone(), *result)]).into_diagnostic()?;
        folder.write_table(&RESULTS, &own, &repeatable)?;
        for table in tables(observed).into_diagnostic()? {
            let parquet = table.columns.to_parquet(&repeatable).into_diagnostic()?;
            folder.write(&format!("{}.parquet", table.name), &parquet)?;
            folder.write(&format!("{}.csv", table.name), table.columns.to_csv().as_bytes())?;
        }
        folder.write(SCENARIO, toml::to_string(scenario).into_diagnostic()?.as_bytes())?;
        let page = document(scenario, result, observed, &costs.in_words(), manifest.clone());
        folder.write(REPORT, warmcore_report::render(&page).as_bytes())?;
        Ok(format!("\nThe report: {}\n", folder.file(REPORT).display()))
    }

    /// The quantiles and the share of slower packets, if they are asked for, as text.
    pub(super) fn in_words(observed: &Observed) -> String {
        let quantiles = match observed.quantiles.is_empty() {
            true => String::new(),
            false => summary::quantiles(&observed.quantiles),
        };
        quantiles + &observed.slower.as_ref().map(summary::slower).unwrap_or_default()
    }
}

/// The format that the ending of `path` asks for.
fn format(path: &Path) -> miette::Result<EventFormat> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("arrow") => Ok(EventFormat::Arrow),
        Some("parquet") => Ok(EventFormat::Parquet),
        Some("csv") => Ok(EventFormat::Csv),
        Some("json") => Ok(EventFormat::TraceViewer),
        _ => Err(misuse(format!(
            "--events is {}: expected a file that ends in .arrow, .parquet or .csv, for data tools, or in .json, for trace viewers",
            crate::visible::visible(path.display())
        ))),
    }
}
