//! What the runs of a scenario need in memory, so that too much is refused before it is asked for.

use super::cache::analytic::Left;
use super::tally::ApplicationTally;
use warmcore_cachesim::CacheDescription;
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::runqueue::{Application, MachineCaches};
use warmcore_units::Fault;

/// The most, in bytes. As many runs as there are threads are simulated at once.
const MOST: f64 = 1e9;

/// What a simulated cache takes for each of its lines, in bytes: its word, and its places in the list and the table by which
/// conflicts are told from want of capacity.
const CACHE_LINE: f64 = 64.0;
/// What watching takes for each line of memory that comes into a cache, in bytes: places in the tables of what was there, and
/// of how it went. Tables are between half and all full.
const SEEN_LINE: f64 = 80.0;

/// Checks that the runs of `scenario` can be had.
///
/// # Errors
/// With what they would need: for what each process left in each cache, for simulated caches, or for what is counted.
pub fn check_memory(scenario: &RunQueueScenario) -> Result<(), Fault> {
    let (cpus, processes) = (scenario.machine.cpus, scenario.processes());
    match &scenario.machine.caches {
        Some(caches) => check_caches(scenario, caches)?,
        None => {
            let states = f64::from(cpus) * f64::from(processes) * size_of::<Left>() as f64;
            let found =
                format!("{cpus} with {processes} processes, which need {} for each run", gigabytes(states));
            refuse("machine.cpus", states, found)?;
        }
    }
    let (applications, runs) = (scenario.applications.len(), scenario.runs);
    let each = ApplicationTally::bytes(scenario.seconds.unwrap_or(0.0));
    let counts = applications as f64 * f64::from(runs) * each;
    let found = format!("{applications} in {runs} runs, whose counts need {}", gigabytes(counts));
    refuse("applications", counts, found)
}

/// Each simulated cache may come to hold every line of every process's memory.
fn check_caches(scenario: &RunQueueScenario, caches: &MachineCaches) -> Result<(), Fault> {
    let memory = |one: &Application| {
        let references = one.references.as_ref();
        references.map_or(0.0, |references| references.all_bytes(one.all_processes()))
    };
    let memory: f64 = scenario.applications.iter().map(memory).sum();
    let cpus = scenario.machine.cpus;
    let bytes = |cache: &CacheDescription| {
        let seen = memory / cache.geometry.line.0 as f64;
        cache.geometry.lines() as f64 * CACHE_LINE + seen * SEEN_LINE
    };
    let all: f64 = caches.description(cpus).caches.iter().map(bytes).sum();
    let found = format!(
        "{cpus} with their caches and {:.0} MB of processes' memory, which need up to {} for each run",
        memory / 1e6,
        gigabytes(all)
    );
    refuse("machine.cpus", all, found)
}

fn refuse(field: &str, bytes: f64, found: String) -> Result<(), Fault> {
    if bytes <= MOST {
        return Ok(());
    }
    Err(Fault::new(field, found, format!("fewer of either: at most {}", gigabytes(MOST))))
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

    #[test]
    fn simulated_caches_need_memory_too() {
        let refusal = |cpus: u32, kib: u32| {
            let text = format!(
                "schema = 1\nseconds = 1\n[machine]\ncpus = {cpus}\ncaches = {{ of = \"sgi-4d-340\" }}\n[[applications]]\n\
                 name = \"a\"\nprocesses = 8\nbursts = {{ tail_ms = 5 }}\nends = {{ block = 1 }}\n\
                 references = {{ per_us = 8, parts = [{{ kib = {kib}, share = 1 }}] }}\n"
            );
            let scenario = parse(&text, Path::new("mix.toml")).unwrap_or_else(|error| panic!("{error}"));
            check_memory(&scenario).err().map(|fault| fault.to_string())
        };
        let found = refusal(16, 16_384).unwrap();
        assert!(
            found.contains("16 with their caches and 134 MB of processes' memory, which need up to"),
            "{found}"
        );
        assert_eq!(refusal(4, 256), None);
        // Many cpus need memory without any of the processes'.
        assert!(refusal(2048, 64).is_some());
    }
}
