//! The reproduction of Torrellas 1995 gives what its data say, whatever the open parameters.

use std::sync::atomic::AtomicBool;
use warmcore_published::torrellas_1995::predictions::{Policy, Quantity};
use warmcore_published::torrellas_1995::{Open, Precision, Workload, predict, source};
use warmcore_published::{ClaimVerdict, document};
use warmcore_record::Manifest;

#[test]
fn the_fit_reaches_the_standard_column_and_predictions_fall_where_the_text_has_them() {
    let precision = Precision { runs: 6, calibration: 6, sensitivity: 0 };
    let predictions = predict(Open::default(), 1, precision, |_, _| {}, &AtomicBool::new(false)).unwrap();
    let standard = predictions
        .estimate(Workload::MatrixMatrix, Policy::Standard, |run| run.mean_completion_s())
        .unwrap();
    assert!((standard.mean / 16.8 - 1.0).abs() < 0.02, "{standard:?}");
    let change = |policy, quantity| {
        predictions.change(Workload::MatrixMatrix, policy, Policy::Standard, quantity).unwrap().mean
    };
    for (policy, time, misses) in
        [(Policy::Light, -6.1, -36.3), (Policy::Heavy, -6.8, -39.4), (Policy::Attached, -1.1, -9.1)]
    {
        let (ours, fewer) = (change(policy, Quantity::Time), change(policy, Quantity::Misses));
        assert!((ours - time).abs() < 1.5 && (fewer - misses).abs() < 5.5, "{policy}: {ours} {fewer}");
    }
    let source = source();
    let figures = source.figures_named(&["II", "V", "1", "2", "5"].map(str::to_owned)).unwrap();
    let reproduction = source.conclude(predictions, figures);
    assert!(reproduction.claims.iter().all(|one| one.verdict != ClaimVerdict::NotDerived));
    assert!(document(&reproduction, Manifest::now("test", "0")).validate().is_ok());
}
