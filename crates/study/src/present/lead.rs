//! The chart of the advice: the recommended combinations and the common default.

use super::curves::{Delay, RESAMPLED, rate_line};
use super::phrases::in_brief;
use super::shading::shading;
use crate::Findings;
use crate::decide::Advice;
use crate::predictions::HostPredictions;
use warmcore_record::Chart;
use warmcore_record::chart::{Axis, Look, Series, Unit, View};
use warmcore_scenario::Combination;

/// A colour that no policy has.
const INK: usize = 4;

/// The delays under the advised combinations and the common default. All other combinations with
/// per-processor pools start hidden. `None` if nothing was predicted.
#[must_use]
pub fn chart(findings: &Findings) -> Option<Chart> {
    let (host, advice) = (findings.hosts.first()?, findings.advice.first()?);
    let view = |(pick, delay): (usize, Delay)| View {
        picks: vec![pick],
        series: series(host, advice, delay),
        ..shading(&advice.regions)
    };
    Some(Chart {
        id: "advice".to_owned(),
        title: "How long a packet takes".to_owned(),
        caption: format!(
            "Predicted, from a packet's arrival to the end of its processing. To the left packets are rare, and \
            other work displaces the protocol from the caches in between; to the right packets wait for each \
            other. The shading says what to use at which rate; the area between two choices shows where their border may \
            lie. {RESAMPLED}"
        ),
        x: Axis::log("packets arriving per second", Unit::per_second()),
        y: Axis::log("delay of a packet", Unit::seconds()),
        choices: vec![Delay::choice()],
        views: Delay::ALL.into_iter().enumerate().map(view).collect(),
    })
}

fn series(host: &HostPredictions, advice: &Advice, delay: Delay) -> Vec<Series> {
    let combination = |curve: usize| host.curves[curve].combination;
    let advised = |curve: usize| advice.regions.iter().any(|region| region.best == combination(curve));
    let common = |curve: usize| combination(curve) == Combination::COMMON_DEFAULT;
    let line = |group: &str, curve: usize| Series {
        group: Some(group.to_owned()),
        ..rate_line(in_brief(combination(curve)), host, curve, delay.figure)
    };
    let all = || 0..host.curves.len();
    let recommended = all()
        .filter(|&curve| advised(curve))
        .map(|curve| Series { emphasised: true, ..line("Recommended", curve) });
    let rest = || all().filter(|&curve| !advised(curve));
    let default = rest().filter(|&curve| common(curve)).map(|curve| {
        let line = line("The common default", curve);
        Series { look: line.look.map(|look| Look { colour: INK, ..look }), ..line }
    });
    let others = rest()
        .filter(|&curve| !common(curve) && combination(curve).has_own_pools())
        .map(|curve| Series { hidden: true, ..line("Others", curve) });
    recommended.chain(default).chain(others).collect()
}
