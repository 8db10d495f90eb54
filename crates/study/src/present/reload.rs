//! t(x), the time of a packet after other work of duration x, and F(x), the fraction of each cache that this
//! work flushes.

use crate::Findings;
use warmcore_costs::displacement::{Displacement, Intervening};
use warmcore_costs::fit::SingleProcessor;
use warmcore_costs::{Approach, Profile};
use warmcore_record::chart::{Axis, Direction, Mark, Point, Series, Style, Unit, View};
use warmcore_record::{Block, Chart, Section};
use warmcore_units::{Estimate, Nanos};

/// The values of x at which curves are drawn: 12 per decade from 100 ns to 10 s.
fn grid() -> impl Iterator<Item = Nanos> {
    (0..=96).map(|step| Nanos(100.0 * 10_f64.powf(f64::from(step) / 12.0)))
}

/// The section with both curves.
#[must_use]
pub fn section(findings: &Findings) -> Section {
    let profile = &findings.profile;
    let mut blocks = vec![Block::Chart(reload(profile)), Block::Chart(flush(profile))];
    if let Some(curve) = &profile.intervened {
        let deviation = SingleProcessor::new(profile, curve.approach)
            .map(|alone| alone.deviation(&curve.points, profile.intervening))
            .unwrap_or_default();
        let Intervening { w, a, b, log_d, references_per_us } = profile.intervening;
        // The references of a program cannot be counted; the published rate is used instead.
        let rate = match curve.fitted && references_per_us == Intervening::MVS.references_per_us {
            true => {
                format!("its references, which cannot be counted, taken as {references_per_us:.0} per µs")
            }
            false => format!("{references_per_us:.0} references per µs"),
        };
        let which = if curve.fitted { "fitted to the points" } else { "those of Salehi 1994, not fitted" };
        blocks.push(Block::Paragraph(format!(
            "Work in between: {}, {rate}. Footprint constants ({which}): \
             W = {w:.4}, a = {a}, b = {b:.4}, log d = {log_d}. The model deviates from the points by {:.0}% \
             (root mean square).",
            curve.workload,
            deviation * 100.0
        )));
    }
    if profile.levels.iter().any(|level| level.shared_by > 1) {
        blocks.push(Block::Note(
            "A cache that processors share is displaced by the work of all of them. Its curve is drawn for one \
            processor working alone (as t(x) was measured) and for all sharers at work (as predictions \
            assume)."
                .to_owned(),
        ));
    }
    Section {
        heading: "How fast the caches forget".to_owned(),
        anchor: "forgetting".to_owned(),
        intro: vec![
            "The longer a processor does other work, the more of the protocol's code and data that work \
             displaces from its caches, first from the small ones near the processor, later from the large \
             ones, and the longer the next packet takes. This is the cost that choosing the most recently \
             used processor avoids."
                .to_owned(),
        ],
        blocks,
        folded: false,
    }
}

fn reload(profile: &Profile) -> Chart {
    let approach = profile.intervened.as_ref().map_or(Approach::IndependentStacks, |curve| curve.approach);
    let modelled = |name: &str, intervening: Intervening| {
        let alone = SingleProcessor::new(profile, approach)?;
        let point =
            |x: Nanos| Point::new(x.secs(), Estimate::published(alone.receive_after(x, intervening).secs()));
        Some(Series::new(name, Style::Curve, grid().map(point).collect()))
    };
    let measured = profile.intervened.as_ref().map(|curve| {
        let points = curve.points.iter().map(|point| {
            let time = point.time.estimate();
            let y = Estimate { mean: time.mean.secs(), half_width: time.half_width.map(Nanos::secs) };
            Point { missed_target: point.time.missed_target, ..Point::new(point.x.secs(), y) }
        });
        Series::new("measured", Style::Points, points.collect())
    });
    let is_published = profile.intervening == Intervening::MVS;
    let name = if is_published { "modelled" } else { "modelled, constants fitted" };
    let published =
        (!is_published).then(|| modelled("modelled, constants of Salehi 1994", Intervening::MVS)).flatten();
    let states = &profile.times.get(approach).fully_cold;
    Chart {
        id: "reload".to_owned(),
        title: "Time of a packet after x of other work: t(x)".to_owned(),
        caption: format!(
            "One processor under {}, everything that packets write last written here.",
            approach.short()
        ),
        x: Axis::log("x, duration of the other work", Unit::seconds()),
        y: Axis::linear("time to receive the packet", Unit::seconds()),
        choices: Vec::new(),
        views: vec![View {
            series: modelled(name, profile.intervening)
                .into_iter()
                .chain(published)
                .chain(measured)
                .collect(),
            marks: vec![Mark { label: "fully cold".to_owned(), axis: Direction::Y, at: states.mean.secs() }],
            ..View::default()
        }],
    }
}

fn flush(profile: &Profile) -> Chart {
    let series = profile.levels.iter().flat_map(|level| {
        let sharers = if level.shared_by > 1 { vec![1, level.shared_by] } else { vec![1] };
        sharers.into_iter().map(move |sharers| {
            let displacement = Displacement::new(profile.intervening, level.geometry, sharers);
            let point = |x: Nanos| Point::new(x.secs(), Estimate::published(displacement.fraction(x)));
            let geometry = level.geometry;
            let name = match sharers {
                1 => format!("{} ({}, {}-way)", level.name, geometry.size, geometry.ways),
                all => format!("{}, all {all} sharers at work", level.name),
            };
            Series::new(name, Style::Curve, grid().map(point).collect())
        })
    });
    Chart {
        id: "flush".to_owned(),
        title: "Fraction of each cache level flushed by x of other work: F(x)".to_owned(),
        caption: "Computed from the footprint constants and the caches' sizes, line sizes and ways."
            .to_owned(),
        x: Axis::log("x, duration of the other work", Unit::seconds()),
        y: Axis::linear("fraction flushed", Unit::plain("")),
        choices: Vec::new(),
        views: vec![View { series: series.collect(), ..View::default() }],
    }
}
