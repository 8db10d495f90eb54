//! The reproduction of Torrellas 1995 gives what its data say, and goes on where it was interrupted.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use warmcore_published::torrellas_1995::calibrate::FitPrecision;
use warmcore_published::torrellas_1995::predictions::{Policy, Quantity};
use warmcore_published::torrellas_1995::{
    Part, Precision, PredictionError, Predictions, Progress, Workload, predict, source,
};
use warmcore_published::{ClaimVerdict, document};
use warmcore_record::{Existing, Journal, Manifest};
use warmcore_sim::runqueue::Tally;

fn predicted(precision: Precision) -> Predictions {
    let stop = AtomicBool::new(false);
    let progress = Progress { known: &|_| None, keep: &|_, _| Ok(()), tell: &|_, _| {}, stop: &stop };
    predict(1, precision, progress).unwrap()
}

#[test]
fn the_fit_reaches_the_standard_column_and_predictions_fall_where_the_text_has_them() {
    let fit = FitPrecision { runs: 6, steps: 12, further: 1 };
    let predictions = predicted(Precision { runs: 6, fit, searches: false, varied: 0 });
    let standard =
        predictions.estimate(Workload::MatrixMatrix, Policy::Standard, Tally::mean_completion_s).unwrap();
    assert!((standard.mean / 16.8 - 1.0).abs() < 0.02, "{standard:?}");
    let change = |policy, quantity| {
        predictions.change(Workload::MatrixMatrix, policy, Policy::Standard, quantity).unwrap().mean
    };
    // Misses of attached processes differ: see the book.
    for (policy, time) in [(Policy::Light, -6.1), (Policy::Heavy, -6.8), (Policy::Attached, -1.1)] {
        let ours = change(policy, Quantity::Time);
        assert!((ours - time).abs() < 3.0, "{policy}: {ours}");
    }
    for (policy, misses) in [(Policy::Light, -36.3), (Policy::Heavy, -39.4)] {
        let ours = change(policy, Quantity::Misses);
        assert!((ours - misses).abs() < 7.0, "{policy}: {ours}");
    }
    let source = source();
    let figures = source.figures_named(&["table-2", "table-5", "1", "2", "5"].map(str::to_owned)).unwrap();
    let reproduction = source.conclude(predictions, figures);
    assert!(reproduction.claims.iter().all(|one| one.verdict != ClaimVerdict::NotDerived));
    assert_eq!(document(&reproduction, Manifest::now("test", "0")).validate(), Ok(()));
}

/// One that searches and varies takes minutes; its parts are kept in the same way.
#[test]
fn an_interrupted_reproduction_goes_on_with_what_is_finished_and_gives_the_same() {
    let fit = FitPrecision { runs: 2, steps: 3, further: 1 };
    let precision = Precision { runs: 2, fit, searches: false, varied: 0 };
    let path = std::env::temp_dir().join(format!("warmcore-torrellas-{}.journal", std::process::id()));
    let stop = AtomicBool::new(false);
    let kept = AtomicUsize::new(0);
    let half = {
        let journal: Journal<Part> = Journal::create(&path, "test", Existing::Replace).unwrap();
        let keep = |key: &str, part: &Part| {
            stop.store(kept.fetch_add(1, Ordering::SeqCst) >= 20, Ordering::SeqCst);
            Ok(journal.append(key, part)?)
        };
        predict(1, precision, Progress { known: &|_| None, keep: &keep, tell: &|_, _| {}, stop: &stop })
    };
    assert!(matches!(half, Err(PredictionError::Interrupted)));
    let first = kept.load(Ordering::SeqCst);

    let journal: Journal<Part> = Journal::resume(&path, "test").unwrap();
    assert_eq!(journal.known_count(), first);
    let again = Mutex::new(0);
    let keep = |key: &str, part: &Part| {
        assert!(journal.known(key).is_none(), "made twice: {key}");
        *again.lock().unwrap() += 1;
        Ok(journal.append(key, part)?)
    };
    let go_on = AtomicBool::new(false);
    let known = |key: &str| journal.known(key).cloned();
    let resumed =
        predict(1, precision, Progress { known: &known, keep: &keep, tell: &|_, _| {}, stop: &go_on });
    let (resumed, whole) = (resumed.unwrap(), predicted(precision));
    assert_eq!(resumed.replicas, whole.replicas);
    assert_eq!(resumed.outcomes, whole.outcomes);
    assert!(first >= 20 && *again.lock().unwrap() > 20);
    std::fs::remove_file(path).unwrap();
}
