//! A comparison of affinity models, for readers who see one for the first time.

use super::{counts, sentence, table};
use warmcore_measure::counts::CountedResults;
use warmcore_measure::transfer::{Ends, Experiment, Results, TransferFigures};
use warmcore_stats::blocks::ChangeVerdict;
use warmcore_units::PerSecond;

/// The results of a comparison.
pub(crate) fn comparison(experiment: &Experiment) -> String {
    format!(
        "\n{}\n\n{}\n\n{}\n\n{}\n\n{}{}\n",
        head(experiment),
        main(experiment),
        changes(experiment),
        behind(experiment),
        counted(experiment),
        notes(experiment)
    )
}

fn head(experiment: &Experiment) -> String {
    let options = &experiment.options;
    let ends = match options.ends {
        Ends::Threads => "threads",
        Ends::Processes(_) => "processes",
    };
    let rate = match options.load.rate {
        Some(PerSecond(rate)) => format!("at {} Mbit/s each", rate / 1e6),
        None => "as fast as they can".to_owned(),
    };
    let cpus: Vec<String> = options.cpus.iter().map(|cpu| cpu.0.to_string()).collect();
    format!(
        "{} connections between {ends} on cpu {}, {}, writes of {}, {rate}; {} blocks of {} s a run",
        options.connections,
        cpus.join(", "),
        options.load.direction.name(),
        options.load.size,
        options.blocks.count,
        options.window.as_secs_f64()
    )
}

/// Medians over the blocks, with the least and the greatest.
fn main(experiment: &Experiment) -> String {
    let mut table = table(["model", "Gbit/s", "cpu use, %", "Gbit per busy cpu-second", "cycles per bit"]);
    for results in &experiment.results {
        table.add_row([
            results.model.to_string(),
            spread(results, 1e-9, 2, |figures| Some(figures.throughput)),
            spread(results, 100.0, 1, |figures| Some(figures.cpu_use)),
            spread(results, 1e-9, 2, |figures| figures.bits_per_busy_second),
            spread(results, 1.0, 3, |figures| figures.cycles_per_bit),
        ]);
    }
    format!("{table}\nMedians, with the least and the greatest of the blocks.")
}

/// Against the base, each with its 95% interval.
fn changes(experiment: &Experiment) -> String {
    let base = experiment.results[0].model;
    let mut table =
        table(["against", "Gbit/s", "Gbit per busy cpu-second", "cycles per bit", "verdict, per cpu-second"]);
    let figures: [fn(&TransferFigures) -> Option<f64>; 3] = [
        |figures| Some(figures.throughput),
        |figures| figures.bits_per_busy_second,
        |figures| figures.cycles_per_bit,
    ];
    let control = figures
        .map(|figure| experiment.against_itself(figure).as_ref().map_or_else(unknown, ToString::to_string));
    table.add_row([format!("{base} itself (A/A)")].into_iter().chain(control).chain(["–".to_owned()]));
    for (place, results) in experiment.results.iter().enumerate().skip(1) {
        let compared = figures.map(|figure| experiment.compared(place, figure));
        let cells =
            compared.map(|compared| compared.map_or_else(unknown, |compared| compared.change.to_string()));
        let verdict =
            compared[1].map_or_else(unknown, |compared| verdict_in_words(compared.verdict).to_owned());
        table.add_row([results.model.to_string()].into_iter().chain(cells).chain([verdict]));
    }
    format!("{table}\nChanges against `{base}`, with their 95% intervals.")
}

/// What the processor counted for each bit, if it did.
fn counted(experiment: &Experiment) -> String {
    if !experiment.coverage.is_any() {
        return String::new();
    }
    let of = |results: &Results| {
        let spread = |event| results.spread(|figures| figures.counted.get(event));
        (results.model, CountedResults::from_fn(spread))
    };
    counts::table("bit", experiment.results.iter().map(of)) + "\n\n"
}

/// Migrations, preemptions and interrupts: medians with the extremes.
fn behind(experiment: &Experiment) -> String {
    let mut table = table([
        "per second",
        "migrations",
        "preemptions",
        "receive softirqs",
        "rescheduling interrupts",
        "idle, %",
        "stolen, %",
    ]);
    for results in &experiment.results {
        table.add_row([
            results.model.to_string(),
            spread(results, 1.0, 0, |figures| figures.migrations),
            spread(results, 1.0, 0, |figures| Some(figures.preemptions)),
            spread(results, 1.0, 0, |figures| figures.receive_softirqs),
            spread(results, 1.0, 0, |figures| figures.rescheduling),
            spread(results, 100.0, 1, |figures| Some(figures.idle)),
            spread(results, 100.0, 1, |figures| Some(figures.stolen)),
        ]);
    }
    table.to_string()
}

fn notes(experiment: &Experiment) -> String {
    let cycles = sentence(&experiment.cycles.to_string());
    let coverage = &experiment.coverage;
    let all = || experiment.results.iter().chain([&experiment.control]);
    let (discarded, disturbed): (usize, usize) =
        (all().map(|results| results.discarded).sum(), all().map(|results| results.disturbed).sum());
    let disturbance = format!(
        "{discarded} runs were repeated because other programs disturbed them; {disturbed} of {} included runs were still \
         disturbed.",
        all().map(|results| results.blocks.len()).sum::<usize>()
    );
    let alone =
        "Both ends of a virtual wire work on this machine: figures are of sender and receiver together.";
    let alone = if experiment.is_on_one_machine { format!("{alone}\n") } else { String::new() };
    format!("{cycles}\n{coverage}\n{alone}{disturbance}")
}

/// `12.3 [12.0, 12.5]`.
fn spread(
    results: &Results,
    scale: f64,
    digits: usize,
    figure: fn(&TransferFigures) -> Option<f64>,
) -> String {
    let shown =
        results.spread(figure).map(|spread| format!("{:.digits$}", spread.map(|value| value * scale)));
    shown.unwrap_or_else(unknown)
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn verdict_in_words(verdict: ChangeVerdict) -> &'static str {
    match verdict {
        ChangeVerdict::More => "more",
        ChangeVerdict::Less => "less",
        ChangeVerdict::NotVisible => "no difference visible",
    }
}
