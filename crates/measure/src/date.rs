//! Today's date, for a profile's provenance.

use std::time::{SystemTime, UNIX_EPOCH};

/// Today in UTC, as ISO 8601 writes it: `1994-10-15`. Empty where the clock is before 1970.
pub(crate) fn today() -> String {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    since_1970.map_or_else(|_| String::new(), |since| date(since.as_secs() / (24 * 60 * 60)))
}

/// The date so many days after 1970-01-01.
fn date(mut days: u64) -> String {
    let mut year = 1970;
    while days >= days_of_year(year) {
        days -= days_of_year(year);
        year += 1;
    }
    let mut month = 1;
    while days >= days_of_month(year, month) {
        days -= days_of_month(year, month);
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02}", days + 1)
}

const fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

const fn days_of_year(year: u64) -> u64 {
    if is_leap(year) { 366 } else { 365 }
}

const fn days_of_month(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_by_the_calendar() {
        // As `date -u -d @$((days * 86400)) +%F` prints them.
        for (days, expected) in [
            (0, "1970-01-01"),
            (9_053, "1994-10-15"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_453, "2025-12-31"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(date(days), expected);
        }
    }
}
