//! Arranges a document for the templates, which contain no logic beyond loops and choices.

use crate::cache_map::MapPart;
use crate::data_tables::DataView;
use crate::embed;
use crate::figure::DrawnChart;
use crate::grid::{Grid, GridCell};
use crate::legend::{Legend, LegendSeries};
use askama::Template;
use warmcore_record::chart::{Chart, Choice};
use warmcore_record::document::{Confidence, ConfidenceLevel, ReportVerdict, Statement, Term};
use warmcore_record::{Block, Document, Manifest, Section};

/// The whole page.
#[derive(Template)]
#[template(path = "page.html")]
pub(crate) struct Page<'a> {
    title: &'a str,
    subtitle: &'a str,
    verdict: &'a ReportVerdict,
    verdict_chart: Option<ChartPart<'a>>,
    sections: Vec<SectionPart<'a>>,
    manifest: &'a Manifest,
    command: String,
    style: &'static str,
    script: &'static str,
    charting_library: String,
    has_charts: bool,
}

struct SectionPart<'a> {
    section: &'a Section,
    blocks: Vec<BlockPart<'a>>,
}

enum BlockPart<'a> {
    Paragraph(&'a str),
    Chart(ChartPart<'a>),
    Table(Grid<'a>),
    CacheMap(MapPart<'a>),
    Note(&'a str),
    Statements(&'a [Statement]),
    Glossary(&'a [Term]),
}

struct ChartPart<'a> {
    chart: &'a Chart,
    choices: &'a [Choice],
    legend: Vec<LegendGroup<'a>>,
    data: String,
    data_views: Vec<DataView>,
    /// Whether it is on the first screen, where its caption is folded.
    is_first: bool,
    /// Whether any marker is hollow and needs an explanation.
    has_missed: bool,
}

/// The entries of the legend under one heading.
struct LegendGroup<'a> {
    heading: Option<&'a str>,
    entries: Vec<LegendEntry<'a>>,
}

struct LegendEntry<'a> {
    index: usize,
    name: &'a str,
    shown: bool,
    emphasised: bool,
    swatch: String,
}

impl<'a> Page<'a> {
    pub(crate) fn new(document: &'a Document) -> Self {
        let has_charts = document.charts().next().is_some();
        Self {
            title: &document.title,
            subtitle: &document.subtitle,
            verdict: &document.verdict,
            verdict_chart: document
                .verdict
                .chart
                .as_ref()
                .map(|chart| ChartPart { is_first: true, ..ChartPart::new(chart) }),
            sections: document.sections.iter().map(SectionPart::new).collect(),
            manifest: &document.manifest,
            command: document.manifest.command.join(" "),
            style: include_str!("../templates/style.css"),
            script: include_str!("../templates/charts.js"),
            charting_library: if has_charts { embed::charting_library() } else { String::new() },
            has_charts,
        }
    }
}

impl<'a> SectionPart<'a> {
    fn new(section: &'a Section) -> Self {
        let blocks = section.blocks.iter().map(|block| match block {
            Block::Paragraph(text) => BlockPart::Paragraph(text),
            Block::Chart(chart) => BlockPart::Chart(ChartPart::new(chart)),
            Block::Table(table) => BlockPart::Table(Grid::new(table)),
            Block::CacheMap(map) => BlockPart::CacheMap(MapPart::new(map)),
            Block::Note(text) => BlockPart::Note(text),
            Block::Statements(statements) => BlockPart::Statements(statements),
            Block::Glossary(terms) => BlockPart::Glossary(terms),
        });
        Self { section, blocks: blocks.collect() }
    }
}

impl<'a> ChartPart<'a> {
    fn new(chart: &'a Chart) -> Self {
        let legend = Legend::new(chart);
        Self {
            chart,
            choices: &chart.choices,
            data: embed::json(&DrawnChart::new(chart, &legend)),
            legend: legend_groups(&legend),
            data_views: DataView::from_chart(chart),
            is_first: false,
            has_missed: has_missed(chart),
        }
    }
}

fn has_missed(chart: &Chart) -> bool {
    let mut points = chart.views.iter().flat_map(|view| &view.series).flat_map(|series| &series.points);
    points.any(|point| point.missed_target)
}

/// The entries by group, with groups in order of appearance.
fn legend_groups<'a>(legend: &Legend<'a>) -> Vec<LegendGroup<'a>> {
    let mut groups: Vec<LegendGroup<'a>> = Vec::new();
    for (index, LegendSeries { series, appearance, shown, emphasised }) in legend.entries.iter().enumerate() {
        let entry = LegendEntry {
            index,
            name: &series.name,
            shown: *shown,
            emphasised: *emphasised,
            swatch: appearance.swatch(series.style),
        };
        let heading = series.group.as_deref();
        match groups.iter_mut().find(|group| group.heading == heading) {
            Some(group) => group.entries.push(entry),
            None => groups.push(LegendGroup { heading, entries: vec![entry] }),
        }
    }
    groups
}

/// How sure a claim is: a class for the style sheet, dots for a glance, and words.
fn glance(confidence: &Confidence) -> (&'static str, &'static str, &'static str) {
    let level = confidence.level;
    let (class, dots) = match level {
        ConfidenceLevel::High => ("high", "●●●"),
        ConfidenceLevel::Moderate => ("moderate", "●●○"),
        ConfidenceLevel::Low => ("low", "●○○"),
    };
    (class, dots, level.in_words())
}
