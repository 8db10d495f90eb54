//! A journal returns its values bit by bit, even if the process that wrote it was killed.

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use warmcore_record::journal::{Journal, JournalError};
use warmcore_record::{Estimate, Existing};

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Result {
    delay: Estimate<f64>,
    counts: [u64; 3],
    missing: Option<f64>,
}

fn result(mean: f64, half_width: f64) -> Result {
    Result { delay: Estimate::new(mean, half_width), counts: [1, 0, 3], missing: None }
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("points.journal");
    (folder, path)
}

fn journal_with(path: &Path, keys: &[&str]) {
    let journal = Journal::create(path, "test", Existing::Refuse).expect("a journal");
    for (key, mean) in keys.iter().zip([1.0, 2.0, 3.0]) {
        journal.append(key, &result(mean, f64::INFINITY)).expect("an entry");
    }
}

fn resumed(path: &Path) -> std::result::Result<Journal<Result>, JournalError> {
    Journal::resume(path, "test")
}

proptest! {
    #[test]
    fn floats_and_keys_survive_a_round_trip(bits: u64, other: u64, key in "\\PC*|[\\s\"'\\\\a-c=]*") {
        let (_folder, path) = place();
        let value = [f64::from_bits(bits), f64::from_bits(other), f64::INFINITY, f64::NEG_INFINITY, -0.0];
        Journal::create(&path, "test", Existing::Refuse).unwrap().append(&key, &value).unwrap();
        let journal = Journal::<[f64; 5]>::resume(&path, "test").unwrap();
        // Any NaN counts as equal to any other.
        let identity = |value: f64| if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() };
        let known = journal.known(&key).unwrap();
        prop_assert_eq!(known.map(identity), value.map(identity));
    }

    /// Wherever the process was killed, the finished entries are there and the rest can be added.
    #[test]
    fn a_journal_cut_anywhere_can_be_resumed(cut in 0_usize..600) {
        let (_folder, path) = place();
        journal_with(&path, &["a", "b", "c"]);
        let text = fs::read(&path).unwrap();
        let cut = cut.min(text.len());
        let complete_lines = text[..cut].iter().filter(|&&byte| byte == b'\n').count();
        prop_assume!(complete_lines > 0);
        fs::write(&path, &text[..cut]).unwrap();
        let journal = resumed(&path).unwrap();
        prop_assert_eq!(journal.known_count(), complete_lines - 1);
        for (key, mean) in ["a", "b", "c"].into_iter().zip([1.0, 2.0, 3.0]) {
            if journal.known(key).is_none() {
                journal.append(key, &result(mean, f64::INFINITY)).unwrap();
            }
        }
        drop(journal);
        prop_assert_eq!(fs::read(&path).unwrap(), text);
    }
}

#[test]
fn an_existing_journal_is_kept_unless_it_may_be_replaced() {
    let (_folder, path) = place();
    journal_with(&path, &["a"]);
    let refused = Journal::<Result>::create(&path, "test", Existing::Refuse).unwrap_err().to_string();
    assert!(refused.contains("exists already"), "{refused}");
    assert_eq!(resumed(&path).unwrap().known("a"), Some(&result(1.0, f64::INFINITY)));
    drop(Journal::<Result>::create(&path, "test", Existing::Replace).unwrap());
    assert_eq!(resumed(&path).unwrap().known_count(), 0);
}

#[test]
fn resuming_a_missing_journal_creates_it() {
    let (_folder, path) = place();
    let journal = resumed(&path).unwrap();
    assert_eq!((journal.known_count(), journal.count()), (0, 0));
    journal.append("a", &result(1.0, 0.5)).unwrap();
    assert_eq!((journal.known_count(), journal.count()), (0, 1));
    let began = journal.began().to_owned();
    drop(journal);
    assert_eq!(resumed(&path).unwrap().began(), began);
}

#[test]
fn a_journal_with_another_subject_is_refused_and_unchanged() {
    let (_folder, path) = place();
    drop(Journal::<Result>::create(&path, "seed = 1\nrate = 2", Existing::Refuse).unwrap());
    let before = fs::read(&path).unwrap();
    let error = Journal::<Result>::resume(&path, "seed = 1\nrate = 3").unwrap_err().to_string();
    assert!(error.contains("it has `rate = 2`, asked for is `rate = 3`"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn an_invalid_line_is_reported_with_its_number() {
    let (_folder, path) = place();
    journal_with(&path, &["a", "b"]);
    let spoilt = fs::read_to_string(&path).unwrap().replacen("counts", "count", 1);
    fs::write(&path, spoilt).unwrap();
    let error = resumed(&path).unwrap_err().to_string();
    assert!(error.contains("points.journal:2: ") && error.contains("counts"), "{error}");
    for torn in ["", "journal = { schema = 1, subj"] {
        fs::write(&path, torn).unwrap();
        let error = resumed(&path).unwrap_err().to_string();
        assert!(error.contains("no first line that was written to its end"), "{error}");
    }
    fs::write(&path, "no journal at all\n").unwrap();
    assert!(resumed(&path).unwrap_err().to_string().contains("points.journal:1: "));
}

#[test]
fn a_journal_in_use_is_refused() {
    let (_folder, path) = place();
    let first = Journal::<Result>::create(&path, "test", Existing::Refuse).unwrap();
    assert!(matches!(resumed(&path), Err(JournalError::InUse { .. })));
    drop(first);
    assert!(resumed(&path).is_ok());
}

#[test]
fn a_value_of_several_lines_is_refused() {
    let (_folder, path) = place();
    let journal = Journal::create(&path, "test", Existing::Refuse).unwrap();
    let error = journal.append("a", &["two\nlines".to_owned()]).unwrap_err().to_string();
    assert!(error.contains("several lines"), "{error}");
}

#[test]
fn a_line_without_a_newline_is_overwritten() {
    let (_folder, path) = place();
    journal_with(&path, &["a"]);
    OpenOptions::new().append(true).open(&path).unwrap().write_all(b"entry = { key = \"b\", val").unwrap();
    let journal = resumed(&path).unwrap();
    assert_eq!((journal.known_count(), journal.known("b")), (1, None));
    journal.append("b", &result(2.0, 0.5)).unwrap();
    drop(journal);
    assert_eq!(resumed(&path).unwrap().known("b"), Some(&result(2.0, 0.5)));
}
