//! Prints results: medians, quartiles, and ratios to the first column.

/// The time per packet of one receiver in each round, in nanoseconds.
pub(crate) struct Column {
    name: &'static str,
    rounds: Vec<f64>,
}

impl Column {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, rounds: Vec::new() }
    }

    pub(crate) fn push(&mut self, nanos: f64) {
        self.rounds.push(nanos);
    }

    /// The ratio of each round's time to that of `base` in the same round.
    fn ratios(&self, base: &Self) -> Vec<f64> {
        self.rounds.iter().zip(&base.rounds).map(|(own, base)| own / base).collect()
    }
}

/// First quartile, median, third quartile.
fn quartiles(values: &[f64]) -> [f64; 3] {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| sorted[(sorted.len() - 1) * quarter / 4])
}

/// Prints one line per receiver, with its ratio to the first.
pub(crate) fn print(title: &str, columns: &[Column]) {
    println!("{title}");
    for column in columns {
        let [low, median, high] = quartiles(&column.rounds);
        let [ratio_low, ratio, ratio_high] = quartiles(&column.ratios(&columns[0]));
        println!(
            "  {:<22} {median:>7.1} ns/packet [{low:.1}, {high:.1}]   {ratio:.2} of smoltcp's [{ratio_low:.2}, {ratio_high:.2}]",
            column.name
        );
    }
    println!();
}
