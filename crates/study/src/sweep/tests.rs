//! Sweeps in the library: requests, points, the report and stops.

use super::*;
use std::sync::Mutex;
use warmcore_record::{Manifest, Values};
use warmcore_scenario::document;
use warmcore_scenario::document::Checked;
use warmcore_scenario::{Parallelism, ProcessorPolicy, RunLength, Stacks, TrafficError};

fn request(axes: Axes) -> Request {
    let run = RunLength { precision: 0.1, max_packets: 20_000, ..RunLength::default() };
    Request { schema: Request::SCHEMA, axes, scenario: PacketScenario { run, ..PacketScenario::default() } }
}

fn axes() -> Axes {
    Axes {
        rates_per_s: [5_000.0, 70_000.0].map(PerSecond).to_vec(),
        approaches: vec![Parallelism::Locking, Parallelism::Ips],
        policies: vec![ProcessorPolicy::Mru, ProcessorPolicy::WiredStreams],
        processors: vec![2, 8],
        ..Axes::default()
    }
}

fn planned(request: Request) -> Result<SweepPlan, PointError> {
    SweepPlan::new(request, &Profile::sgi_challenge_xl())
}

fn swept(request: Request) -> Swept {
    let never = AtomicBool::new(false);
    let plan = planned(request).unwrap();
    plan.run(&Profile::sgi_challenge_xl(), |_| None, |_, _| Ok(()), |_, _| (), &never).unwrap()
}

#[test]
fn a_request_survives_its_document() {
    let request = request(axes());
    let text = toml::to_string(&request).unwrap();
    assert_eq!(document::parse::<Request>(&text, "sweep.toml".as_ref()).unwrap(), request);
}

#[test]
fn every_combination_has_its_row_and_every_curve_its_points() {
    let swept = swept(request(axes()));
    assert_eq!((swept.points.len(), swept.curves().count()), (16, 8));
    for curve in swept.curves() {
        let rates: Vec<f64> = curve.iter().map(|(_, result)| result.rate.0).collect();
        assert_eq!(rates, [5_000.0, 70_000.0]);
        assert!(curve.iter().all(|(scenario, _)| scenario.scheduling == curve[0].0.scheduling));
    }
    let columns = swept.columns().unwrap();
    assert_eq!(columns.rows(), 16);
    let column = |name: &str| &columns.columns().iter().find(|column| column.name == name).unwrap().values;
    let (Values::Flags(saturated), Values::Floats(delays)) = (column("saturated"), column("mean_delay"))
    else {
        panic!("flags and floats")
    };
    // Locking saturates below 70,000/s on two processors, so its delay is null, not a large number.
    assert!(saturated.contains(&Some(true)) && saturated.contains(&Some(false)));
    for (saturated, delay) in saturated.iter().zip(delays) {
        assert_eq!(*saturated, Some(delay.is_none()));
    }
}

#[test]
fn the_report_is_sound() {
    let swept = swept(request(axes()));
    let document = present::document(&swept, "Costs: mine.", Manifest::now("warmcore", "0"));
    assert_eq!(document.validate(), Ok(()));
    assert_eq!(document.charts().count(), 3);
}

#[test]
fn loads_are_fractions_of_each_curves_capacity() {
    let axes = Axes { loads: vec![0.5], rates_per_s: Vec::new(), processors: vec![8], ..axes() };
    let swept = swept(request(axes));
    assert_eq!(swept.points.len(), 4);
    for (_, result) in &swept.points {
        let load = result.rate.0 / result.capacity.rate.mean.0;
        assert!((load - 0.5).abs() < 0.01, "{load}");
    }
}

#[test]
fn a_sweep_with_an_impossible_point_is_refused_before_it_begins() {
    let refused = |request: Request| match planned(request) {
        Err(PointError::Scenario(fault) | PointError::Traffic(TrafficError::Field(fault))) => fault.field,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(request(Axes { processors: vec![8, 0], ..axes() })), "processors");
    assert_eq!(refused(request(Axes { loads: vec![0.5], ..axes() })), "axes.loads");
    assert_eq!(refused(request(Axes { loads: vec![-0.5], rates_per_s: Vec::new(), ..axes() })), "axes.loads");
    assert_eq!(refused(request(Axes { rates_per_s: Vec::new(), ..axes() })), "rate_per_s");
    let mut many = request(axes());
    many.scenario.stacks = Stacks::Count(9);
    assert_eq!(refused(many), "stacks");
}

#[test]
fn known_points_are_not_simulated_again() {
    let first = swept(request(axes()));
    let simulated = Mutex::new(0);
    let known = |scenario: &PacketScenario| {
        let half = scenario.processors == 2;
        first.points.iter().find(|(point, _)| half && point == scenario).map(|(_, result)| *result)
    };
    let finished = |_: &PacketScenario, _: &PointResult| {
        *simulated.lock().unwrap() += 1;
        Ok(())
    };
    let never = AtomicBool::new(false);
    let plan = planned(request(axes())).unwrap();
    let again = plan.run(&Profile::sgi_challenge_xl(), known, finished, |_, _| (), &never);
    assert_eq!(again.unwrap(), first);
    assert_eq!(simulated.into_inner().unwrap(), 8);
}

#[test]
fn a_stop_is_obeyed() {
    let plan = planned(request(axes())).unwrap();
    let stopped = AtomicBool::new(true);
    let ended = plan.run(&Profile::sgi_challenge_xl(), |_| None, |_, _| Ok(()), |_, _| (), &stopped);
    assert!(matches!(ended, Err(SweepError::Interrupted)));
}
