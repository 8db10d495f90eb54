//! A profile or a point as a document: read, or refused with file, line and field.

use std::path::Path;
use warmcore_costs::Profile;
use warmcore_scenario::PacketScenario;
use warmcore_scenario::document::{parse, read};

const PUBLISHED: &str = include_str!("../../costs/profiles/sgi-challenge-xl.toml");

fn refusal(from: &str, to: &str) -> String {
    let text = PUBLISHED.replacen(from, to, 1);
    assert_ne!(text, PUBLISHED, "`{from}` is in the profile");
    parse::<Profile>(&text, Path::new("mine.toml")).expect_err("it is refused").to_string()
}

/// The line, from 1, that contains `text` in the published profile.
fn line(text: &str) -> usize {
    1 + PUBLISHED.lines().position(|line| line.contains(text)).expect("it is there")
}

#[test]
fn a_valid_document_is_read() {
    let profile: Profile = parse(PUBLISHED, Path::new("sgi.toml")).expect("it is valid");
    assert_eq!(profile, Profile::sgi_challenge_xl());
}

#[test]
fn an_error_states_file_line_field_and_what_was_expected() {
    let negative = refusal("release = { mean = 4520.0 }", "release = { mean = -4520.0 }");
    let place = format!("mine.toml:{}: ", line("release ="));
    assert!(negative.starts_with(&place), "{negative}");
    assert!(negative.contains("`free_memory.release.mean` is -4520 ns"), "{negative}");
    assert!(negative.contains("expected between 0 ns and 1 s (1000000000 ns)"), "{negative}");

    let hot_slower = refusal("mean = 66600.0", "mean = 96600.0");
    assert!(hot_slower.contains(&format!("mine.toml:{}", line("66600.0"))), "{hot_slower}");
    assert!(hot_slower.contains("`times.locking.cached.A1.cold.0.mean` is 91900 ns"), "{hot_slower}");
}

#[test]
fn malformed_incomplete_or_misspelt_documents_are_refused_with_the_line() {
    let malformed = refusal("schema = 1", "schema = = 1");
    assert!(malformed.contains(&format!("mine.toml:{}", line("schema ="))), "{malformed}");
    let missing = refusal("name = \"SGI Challenge XL\"\n", "");
    assert!(missing.contains("missing field `name`"), "{missing}");
    let misspelt = refusal("log_d =", "logd =");
    assert!(misspelt.contains("unknown field `logd`, expected one of"), "{misspelt}");
    assert!(misspelt.contains(&format!("mine.toml:{}", line("log_d ="))), "{misspelt}");
    let text = refusal("w = 2.19827", "w = \"much\"");
    assert!(text.contains("invalid type: string"), "{text}");
}

#[test]
fn a_later_version_is_reported_before_its_unknown_fields() {
    let later = refusal("schema = 1", "schema = 7\nnovelty = true");
    assert!(later.contains("`schema` is 7, expected 1: a later version"), "{later}");
}

#[test]
fn the_error_for_a_missing_file_names_it() {
    let error = read::<Profile>(Path::new("no/such/profile.toml")).expect_err("it is refused").to_string();
    assert!(error.starts_with("cannot read the profile no/such/profile.toml"), "{error}");
}

#[test]
fn no_type_of_a_programming_language_is_named() {
    for (document, expected) in [
        ("processors = 'many'", "expected a whole number from 0 to 4294967295"),
        ("processors = -1", "expected a whole number from 0 to 4294967295"),
        ("seed = -1", "expected a whole number of at least 0"),
        ("rate_per_s = 'fast'", "expected a number"),
        ("run = 3", "expected a table"),
        ("[scheduling]\npolicy = 'nearest'", "unknown name `nearest`, expected one of"),
    ] {
        let error = parse::<PacketScenario>(document, Path::new("mine.toml"));
        let error = error.expect_err("it is refused").to_string();
        assert!(error.contains(expected) && !error.contains("struct"), "{error}");
    }
}
