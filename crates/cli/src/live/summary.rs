//! The summary of a finished run, for readers who see one for the first time.

use super::finished::Finished;
use crate::terminal::{estimate, parts, table};
use warmcore_runtime::driver::device::SenderCounts;
use warmcore_runtime::report::Steady;
use warmcore_runtime::tally::Block;
use warmcore_units::{Estimate, Nanos};

/// The summary of a run.
pub(super) fn summary(finished: &Finished) -> String {
    let steady = finished.report.steady();
    let total = finished.report.total();
    let head = head(finished);
    let measured = if steady.is_empty() {
        undisturbed_nowhere(&total)
    } else {
        let delays = [steady.overall_delay(), steady.delay()].map(|delay| finished.held(delay));
        let means = means(delays, steady.disturbed());
        format!("{means}\n\n{}\n\n{}", figures(finished, &steady), situations(&steady))
    };
    let reached = reached(finished, &total).map(|said| format!("{said}\n")).unwrap_or_default();
    format!(
        "{head}\n\n{reached}{measured}\n\n{}\n\n{}\n{}\n",
        workers(finished),
        books(finished, &total),
        ended(finished, &steady)
    )
}

/// What is known if no packet arrived while all workers ran.
fn undisturbed_nowhere(total: &Block) -> String {
    let nothing =
        "No packet was finished while the machine let all workers run: nothing can be said of the policy.";
    if total.packets() == 0 {
        return nothing.to_owned();
    }
    let (packets, seen) = (total.packets() as f64, total.all_packets());
    format!(
        "{nothing}\nWith all that disturbed it, the mean delay was {}, of which {} in service; p50 {}, p99 {}.",
        seen.delay / packets,
        seen.busy() / packets,
        Nanos(seen.delays.quantile(0.5)),
        Nanos(seen.delays.quantile(0.99))
    )
}

/// `Locking, MRU on cpus 0 and 1; packets arrive at 20.0 k/s (poisson)`.
fn head(finished: &Finished) -> String {
    let Finished { scenario, setup, .. } = finished;
    let cpus: Vec<String> = setup.options.cpus.iter().map(|cpu| cpu.0.to_string()).collect();
    let arrivals = match (setup.rate, &setup.new_senders) {
        (Some(rate), _) => format!("packets arrive at {rate} ({})", scenario.traffic.process.name()),
        (None, _) if scenario.live.interface.is_some() => {
            format!("packets come from {}", scenario.live.interface.as_deref().unwrap_or_default())
        }
        (None, _) => "packets come as fast as they are taken in".to_owned(),
    };
    format!("{} on cpu {}; {arrivals}", scenario.scheduling, cpus.join(", "))
}

/// Smaller shares of lost packets are not mentioned.
const WORTH_SAYING: f64 = 0.01;
/// The relative error of a short run's rate, by chance and because of its start.
const RATE_ERROR: f64 = 0.1;

/// Says if the rate was not reached, or packets were dropped.
fn reached(finished: &Finished, total: &Block) -> Option<String> {
    let [came, processed] = finished.achieved();
    let came_of_all = finished.setup.driver.received() + finished.report.lost;
    let dropped = (total.overflowed + finished.report.lost) as f64 / came_of_all.max(1) as f64;
    if dropped > WORTH_SAYING {
        return Some(format!(
            "Overloaded: of {came}, {processed} were processed; {:.1}% were dropped. The figures below are \
             those of the other packets.",
            dropped * 100.0
        ));
    }
    let asked = finished.setup.rate?;
    let processed_late = processed.0 < asked.0 * (1.0 - RATE_ERROR);
    processed_late.then(|| {
        format!(
            "The rate was not reached: {asked} was asked for, {came} arrived, and {processed} were processed."
        )
    })
}

/// The mean delay over all packets, and over those that nothing disturbed, which the tables below are of.
fn means([overall, clean]: [Estimate<Nanos>; 2], disturbed: f64) -> String {
    let overall = estimate(&overall);
    match disturbed {
        0.0 => format!("Mean delay: {overall} over all packets."),
        disturbed => format!(
            "Mean delay: {overall} over all packets; {} over the {:.1}% of them that were undisturbed: from \
             their arrival to their end the machine let every worker run. The tables below are of these.",
            estimate(&clean),
            (1.0 - disturbed) * 100.0
        ),
    }
}

fn figures(finished: &Finished, steady: &Steady) -> String {
    let time = |time| parts(&finished.held(time));
    let mut table = table(["", "", "95% ±", "what it is"]);
    let mut row = |name: &str, [mean, half]: [String; 2], meaning: &str| {
        table.add_row([name.to_owned(), mean, half, meaning.to_owned()]);
    };
    row("mean delay", time(steady.delay()), "from a packet's arrival to the end of its processing");
    row("mean service", time(steady.service()), "the part of it in which a processor works");
    row("p50", time(steady.quantile(0.5)), "half of the packets are faster");
    row("p99", time(steady.quantile(0.99)), "one in a hundred is slower");
    row("p99.9", time(steady.quantile(0.999)), "one in a thousand is slower");
    row("throughput", parts(&steady.throughput()), "packets finished");
    table.to_string()
}

/// What packets found in the caches, and their mean service times.
fn situations(steady: &Steady) -> String {
    let total = steady.total().clean.packets() as f64;
    let mut table = table(["found written where (Table 2 of Salehi 1994)", "packets", "mean service"]);
    for (situation, served) in steady.situations() {
        table.add_row([
            situation.to_string(),
            format!("{:.1}%", served.packets as f64 * 100.0 / total),
            (served.time / served.packets as f64).to_string(),
        ]);
    }
    table.to_string()
}

fn workers(finished: &Finished) -> String {
    let mut table = table(["cpu", "packets", "protocol work", "stalls", "longest"]);
    let report = &finished.report;
    for (worker, cpu) in report.workers.iter().zip(&finished.setup.options.cpus) {
        let done = &worker.total;
        let moved = done.moved.map(|to| format!(" (moved to cpu {})", to.0)).unwrap_or_default();
        table.add_row([
            format!("{}{moved}", cpu.0),
            done.packets().to_string(),
            format!("{:.1}%", done.busy() / report.duration * 100.0),
            done.stalls.count.to_string(),
            done.stalls.longest.to_string(),
        ]);
    }
    table.to_string()
}

/// What became of every packet.
fn books(finished: &Finished, total: &Block) -> String {
    let report = &finished.report;
    let refused: Vec<String> =
        total.refused.iter().map(|(reason, count)| format!("{count} refused ({reason})")).collect();
    let others = [
        (total.overflowed, "dropped as too many were held"),
        (total.failed, "failed in the handler"),
        (report.given_up, "given up at the end"),
        (report.lost, "lost before they were received"),
        (total.unanswered, "delivered, but their answers could not be sent"),
    ];
    let others =
        others.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    let all: Vec<String> =
        [format!("{} delivered", total.packets())].into_iter().chain(refused).chain(others).collect();
    let forwarded = match total.forwarded {
        0 => String::new(),
        packets => {
            format!(" {packets} were forwarded from the worker that received them to that of their stream.")
        }
    };
    let senders = senders(finished.senders.unwrap_or_default());
    format!(
        "Of {} packets: {}.{forwarded}{senders}",
        finished.setup.driver.received() + report.lost,
        all.join(", ")
    )
}

/// What became of senders when all streams were in use.
fn senders(counts: SenderCounts) -> String {
    let SenderCounts { closed, refused } = counts;
    let closed = (closed > 0).then(|| format!("{closed} idle streams were closed for new senders"));
    let refused = (refused > 0).then(|| format!("{refused} senders were refused for want of a stream"));
    let said: Vec<String> = closed.into_iter().chain(refused).collect();
    if said.is_empty() { String::new() } else { format!(" {}.", said.join("; ")) }
}

fn ended(finished: &Finished, steady: &Steady) -> String {
    let early = if finished.interrupted || finished.failure.is_some() { "Ended early. " } else { "" };
    let disturbed = match steady.disturbed() {
        0.0 => String::new(),
        share => format!(
            "; so are {:.1}% of the packets, which were disturbed: the machine kept a worker from running meanwhile",
            share * 100.0
        ),
    };
    let rounds = match finished.rounds() {
        Some(rounds) if rounds > 1.0 => {
            format!(" The trace is shorter: its packets came {rounds:.1} times, one round after the other.")
        }
        _ => String::new(),
    };
    let heavy = match finished.held(Estimate::published(Nanos::ZERO)).half_width {
        Some(_) => " No interval holds for arrivals of infinite variance, and delays have none.",
        None => "",
    };
    format!(
        "{early}{:.2} s, of which {:.2} s are measured: the beginning is left out{disturbed}.{rounds}{heavy}",
        finished.report.duration.secs(),
        steady.duration().secs()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_runtime::Report;
    use warmcore_runtime::tally::{Blocks, PacketStats, Served};

    /// A worker that finished the given number of packets in each block, each in the given time.
    fn worker(clean: (u64, Nanos), disturbed: (u64, Nanos)) -> Blocks {
        let seen = |(packets, each): (u64, Nanos)| {
            let time = each * packets as f64;
            let mut seen = PacketStats { delay: time, ..PacketStats::default() };
            seen.situations[0] = Served { packets, time };
            seen
        };
        let block =
            |number| Block { number, clean: seen(clean), disturbed: seen(disturbed), ..Block::default() };
        Blocks { last: (0..200).map(block).collect(), ..Blocks::default() }
    }

    fn means_of(worker: Blocks) -> String {
        let none = (Nanos::ZERO, Vec::new());
        let report =
            Report { duration: none.0, workers: vec![worker], streams: none.1, given_up: 0, lost: 0 };
        let steady = report.steady();
        means([steady.overall_delay(), steady.delay()], steady.disturbed())
    }

    /// The mean of the few that nothing disturbed is not taken for that of all.
    #[test]
    fn the_mean_of_all_stands_before_that_of_the_undisturbed() {
        let said = means_of(worker((25, Nanos(1_370.0)), (975, Nanos(4e6))));
        assert!(said.starts_with("Mean delay: 3.90 ms ± 0.00 ns over all packets; 1.37 µs ±"), "{said}");
        assert!(said.contains("over the 2.5% of them that were undisturbed"), "{said}");
        let said = means_of(worker((25, Nanos(1_370.0)), (0, Nanos::ZERO)));
        assert!(said.starts_with("Mean delay: 1.37 µs ±") && said.ends_with("over all packets."), "{said}");
    }
}
