use super::*;
use warmcore_costs::Profile;
use warmcore_record::chart::Chart;
use warmcore_sim::packet::{Observations, Point};
use warmcore_units::PerSecond;

fn observed(rate: f64, replications: u32) -> (PacketScenario, PointResult, Observed) {
    let mut scenario = PacketScenario { rate_per_s: Some(PerSecond(rate)), ..PacketScenario::default() };
    scenario.run.packets = Some(60_000);
    scenario.run.replications = replications;
    let wanted = Observations {
        quantiles: vec![0.5, 0.9],
        slower_than: Some(Nanos(1e6)),
        histogram: true,
        streams: true,
        window: Some(Nanos(1e6)),
        warmup: true,
    };
    let traffic = scenario.traffic.open().expect("traffic");
    let profile = Profile::sgi_challenge_xl();
    let point = Point::new(&scenario, &traffic, &profile).expect("a point");
    let (result, observed) = point.observe(&wanted).expect("a result");
    (scenario, result, observed)
}

fn report(rate: f64, replications: u32) -> Document {
    let (scenario, result, observed) = observed(rate, replications);
    document(&scenario, &result, &observed, "Whose costs.", Manifest::now("warmcore", "0.1.0"))
}

fn points(chart: &Chart, series: usize) -> &[warmcore_record::chart::Point] {
    &chart.views[0].series[series].points
}

#[test]
fn a_report_is_sound_and_its_first_chart_is_the_distribution() {
    for replications in [1, 3] {
        let document = report(20_000.0, replications);
        document.validate().expect("it is sound");
        let charts: Vec<&Chart> = document.charts().collect();
        let ids: Vec<&str> = charts.iter().map(|chart| chart.id.as_str()).collect();
        let expected = [
            "distribution",
            "warm-up",
            "time-delay",
            "time-present",
            "time-rate",
            "time-utilisation",
            "stream-delay",
        ];
        assert_eq!(ids, expected);
        for series in 0..2 {
            // The area under a curve, over the logarithm of time.
            let curve = points(charts[0], series);
            let width = (curve[1].x / curve[0].x).ln();
            let shares: f64 = curve.iter().map(|point| point.y.mean * width).sum();
            assert!((shares - 1.0).abs() < 1e-6, "{shares}");
        }
        assert_eq!(charts[1].views[0].series.len(), replications as usize);
        // The start that was cut is shaded, and lies within the run.
        let (region, settled) = (&charts[1].views[0].regions[0], points(charts[1], 0));
        assert!(region.to > 0.0 && region.to < settled.last().expect("points").x);
        assert!((100..=500).contains(&points(charts[2], 0).len()));
        assert_eq!(points(charts[6], 0).len(), 8);
    }
}

#[test]
fn a_saturated_host_has_a_report_of_its_time_series() {
    let document = report(200_000.0, 1);
    document.validate().expect("it is sound");
    assert!(document.verdict.headline.starts_with("The host is saturated"), "{}", document.verdict.headline);
    assert_eq!(document.charts().count(), 4);
}

#[test]
fn every_part_has_a_table_under_its_name() {
    let (_, _, observed) = observed(20_000.0, 1);
    let tables = tables(&observed).expect("tables");
    let names: Vec<&str> = tables.iter().map(|table| table.name).collect();
    assert_eq!(names, TABLES);
    assert!(tables.iter().all(|table| table.columns.rows() > 0));
}
