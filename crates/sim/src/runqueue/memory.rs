//! What the runs of a scenario need in memory, so that too much is refused before it is asked for.

use super::cache::analytic::Left;
use super::tally::ApplicationTally;
use warmcore_scenario::RunQueueScenario;
use warmcore_units::Fault;

/// The most, in bytes. As many runs as there are threads are simulated at once.
const MOST: f64 = 1e9;

/// Checks that the runs of `scenario` can be had.
///
/// # Errors
/// With what they would need: for what each process left in each cache, or for what is counted.
pub fn check_memory(scenario: &RunQueueScenario) -> Result<(), Fault> {
    let (cpus, processes) = (scenario.machine.cpus, scenario.processes());
    let states = f64::from(cpus) * f64::from(processes) * size_of::<Left>() as f64;
    if states > MOST {
        let found =
            format!("{cpus} with {processes} processes, which need {} for each run", gigabytes(states));
        return Err(Fault::new(
            "machine.cpus",
            found,
            format!("fewer of either: at most {}", gigabytes(MOST)),
        ));
    }
    let (applications, runs) = (scenario.applications.len(), scenario.runs);
    let each = ApplicationTally::bytes(scenario.seconds.unwrap_or(0.0));
    let counts = applications as f64 * f64::from(runs) * each;
    if counts > MOST {
        let found = format!("{applications} in {runs} runs, whose counts need {}", gigabytes(counts));
        return Err(Fault::new(
            "applications",
            found,
            format!("fewer of either: at most {}", gigabytes(MOST)),
        ));
    }
    Ok(())
}

fn gigabytes(bytes: f64) -> String {
    format!("{:.1} GB", bytes / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use warmcore_scenario::document::parse;

    fn refusal(head: &str, processes: u32, applications: usize) -> Option<String> {
        let application = format!(
            "[[applications]]\nname = \"a\"\nprocesses = {processes}\nwork_ms = 1\nbursts = {{ tail_ms = 5 }}\n\
             ends = {{ block = 1 }}\n"
        );
        let text = format!("schema = 1\n{head}\n{}", application.repeat(applications));
        let scenario = parse(&text, Path::new("mix.toml")).unwrap_or_else(|error| panic!("{error}"));
        check_memory(&scenario).err().map(|fault| fault.to_string())
    }

    #[test]
    fn what_needs_too_much_memory_is_refused_with_how_much() {
        let states = refusal("[machine]\ncpus = 4096", 65_536, 1).unwrap();
        assert!(states.contains("4096 with 65536 processes, which need 6.4 GB for each run"), "{states}");
        let counts = refusal("runs = 5", 1, 30_000).unwrap();
        assert!(counts.contains("30000 in 5 runs, whose counts need 7.2 GB"), "{counts}");
        let long = refusal("seconds = 86400\nruns = 1000", 1, 10).unwrap();
        assert!(long.contains("10 in 1000 runs"), "{long}");
        assert_eq!(refusal("[machine]\ncpus = 4096", 8192, 1), None);
        assert_eq!(refusal("runs = 1000", 1, 12), None);
    }
}
