//! The runs that each figure needs, for its charts and for the claims about it.

use super::runs::REQUESTERS;
use super::scatter::ProgramOf;
use super::setup::{INTERRUPTS, LOW, Setup};
use super::system::{PROTOCOL_PROCESSORS, System, hurricane, hurricane_1, slow_hurricane};
use super::work::{App, Work};
use std::collections::BTreeSet;

/// Percentages U of figures 4-2 and 4-3.
pub const UTILIZATIONS: [u32; 6] = [5, 10, 30, 50, 70, 90];
/// Those of figure 4-4.
pub const COST_UTILIZATIONS: [u32; 2] = [30, 70];
/// The high interrupt overhead of figure 4-2.
pub const HIGH: u64 = INTERRUPTS[1];
/// That of Table 4.2 and figure 4-8.
pub const HIGHEST: u64 = INTERRUPTS[2];
/// The greatest node of figures 4-3 and 4-4: the text speaks of four compute processors and more.
pub const MOST_PAIRED: u32 = 6;
/// The greatest node of figures 4-5 to 4-7.
pub const MOST: u32 = 5;
/// The greatest node of figure 4-8: the text speaks of more than six processors.
pub const MOST_COSTED: u32 = 8;
/// The programs of figure 4-8.
pub const COSTED: [App; 2] = [App::Barnes, App::WaterSp];
/// Blocks of figure 4-6.
pub const BLOCKS_4: [u64; 2] = [64, 256];
/// Caches of figure 4-7.
pub const CACHES: [u64; 2] = [16 << 10, 128 << 10];
/// Processors of a node in figures 5-9 and 5-10.
pub const CLUSTERS: [u32; 2] = [4, 16];
/// Blocks of figures 5-6, 5-11 and 5-12.
pub const BLOCKS_5: [u64; 2] = [32, 128];
/// The microbenchmarks of chapter 4.
pub const PROTOCOLS: [fn(u32) -> Work; 2] = [Work::NullHandler, Work::FetchBlock];

/// A node with one processor, which computes and executes the protocol.
#[must_use]
pub const fn single(app: App) -> Setup {
    Setup::chapter_4(System::Floating, 1, app)
}

/// Fixed on nodes of `per_node` processors.
#[must_use]
pub const fn fixed(per_node: u32, app: App) -> Setup {
    Setup::chapter_4(System::Fixed, per_node, app)
}

/// Floating on nodes of `per_node` processors.
#[must_use]
pub const fn floating(per_node: u32, app: App) -> Setup {
    Setup::chapter_4(System::Floating, per_node, app)
}

/// The runs of all `figures`, each once, with their repetitions and those that say how much their programs scatter.
#[must_use]
pub fn setups(figures: &[&str]) -> BTreeSet<Setup> {
    let read = read_by(figures);
    let programs: BTreeSet<ProgramOf> = read.iter().filter_map(ProgramOf::new).collect();
    let repeated = read.into_iter().flat_map(Setup::all_draws);
    repeated.chain(programs.into_iter().flat_map(ProgramOf::perturbed)).collect()
}

/// What the charts of `figures` and the claims about them read.
#[must_use]
pub fn read_by(figures: &[&str]) -> BTreeSet<Setup> {
    figures.iter().flat_map(|figure| of_figure(figure)).collect()
}

/// What a figure and its claims read.
fn of_figure(figure: &str) -> Vec<Setup> {
    let base = |setup| setup;
    match figure {
        "4-2" => interrupts_paired(),
        "4-3" => processors_paired(&UTILIZATIONS),
        "4-4" => processors_paired(&COST_UTILIZATIONS),
        "table-4-2" => interrupts(),
        "4-5" => policies(MOST, &App::CHAPTER_4, base),
        "4-6" => varied(&BLOCKS_4, |bytes, setup| setup.blocks(bytes)),
        "4-7" => varied(&CACHES, |bytes, setup| setup.caches(bytes)),
        "4-8" => [LOW, HIGHEST]
            .into_iter()
            .flat_map(|cycles| policies(MOST_COSTED, &COSTED, move |setup| setup.interrupted(cycles)))
            .collect(),
        "table-5-1" => remote_reads(),
        "5-5" => bandwidths(&System::CHAPTER_5[..7], |setup| setup),
        "5-6" => BLOCKS_5
            .into_iter()
            .flat_map(|bytes| bandwidths(&System::CHAPTER_5[..7], move |setup| setup.blocks(bytes)))
            .collect(),
        "5-7" => bandwidths(&clocked(), base),
        "table-5-3" => App::CHAPTER_5
            .into_iter()
            .flat_map(|app| [Setup::uniprocessor(app), Setup::chapter_5(System::SComa, app)])
            .collect(),
        "5-8" => systems(&System::CHAPTER_5, base),
        "5-9" => clustered(&hurricanes(hurricane)),
        "5-10" => clustered(&hurricanes_1()),
        "5-11" => blocked(&hurricanes(hurricane)),
        "5-12" => blocked(&hurricanes_1()),
        "scatter" => ProgramOf::all().flat_map(ProgramOf::base).collect(),
        "5-13" => systems(&[clocked(), vec![System::SComa]].concat(), base),
        _ => Vec::new(),
    }
}

/// Figure 4-2: two interrupt overheads on nodes of one and two processors.
fn interrupts_paired() -> Vec<Setup> {
    let works = PROTOCOLS.into_iter().flat_map(|protocol| UTILIZATIONS.map(protocol));
    works
        .flat_map(|work| {
            let interrupted = [LOW, HIGH].into_iter().flat_map(move |cycles| {
                [1, 2].map(|per_node| Setup::pair(System::Floating, per_node, work).interrupted(cycles))
            });
            interrupted.chain([Setup::pair(System::Fixed, 2, work)])
        })
        .collect()
}

/// Figures 4-3 and 4-4: both policies on nodes of more processors.
fn processors_paired(utilizations: &[u32]) -> Vec<Setup> {
    let works = PROTOCOLS
        .into_iter()
        .flat_map(|protocol| utilizations.iter().map(move |&utilization| protocol(utilization)));
    works
        .flat_map(|work| {
            let both = (2..=MOST_PAIRED).flat_map(move |per_node| {
                [System::Fixed, System::Floating].map(|system| Setup::pair(system, per_node, work))
            });
            both.chain([Setup::pair(System::Floating, 1, work)])
        })
        .collect()
}

/// Single, and both policies on nodes of two to `most` processors.
fn policies(most: u32, apps: &[App], vary: impl Fn(Setup) -> Setup + Copy) -> Vec<Setup> {
    let of_app = |&app: &App| {
        let both = (2..=most).flat_map(move |per_node| [fixed(per_node, app), floating(per_node, app)]);
        both.chain([single(app)]).map(vary)
    };
    apps.iter().flat_map(of_app).collect()
}

/// The same for some values of a parameter, beside the usual one.
fn varied(values: &[u64], vary: fn(u64, Setup) -> Setup) -> Vec<Setup> {
    let of_value = |&value: &u64| policies(MOST, &App::CHAPTER_4, move |setup| vary(value, setup));
    let varied = values.iter().flat_map(of_value);
    varied.chain(policies(MOST, &App::CHAPTER_4, |setup| setup)).collect()
}

fn interrupts() -> Vec<Setup> {
    let of_app = |app| {
        let interrupted = INTERRUPTS
            .into_iter()
            .flat_map(move |cycles| [single(app), floating(2, app)].map(|setup| setup.interrupted(cycles)));
        interrupted.chain([fixed(2, app)])
    };
    App::CHAPTER_4.into_iter().flat_map(of_app).collect()
}

/// The remote reads of Table 5.1, and those of chapter 4's protocol with all its blocks.
fn remote_reads() -> Vec<Setup> {
    let chapter_5 = [System::SComa, hurricane(1), hurricane_1(1)].map(Setup::remote_read);
    let chapter_4 = [64, 128, 256].map(|bytes| Setup::remote_read(System::Fixed).blocks(bytes));
    chapter_5.into_iter().chain(chapter_4).collect()
}

fn bandwidths(systems: &[System], vary: impl Fn(Setup) -> Setup + Copy) -> Vec<Setup> {
    let of_system = |&system: &System| {
        REQUESTERS.into_iter().flat_map(move |requesters| {
            [Setup::reply(system, requesters), Setup::request(system, requesters)].map(vary)
        })
    };
    systems.iter().flat_map(of_system).collect()
}

/// Hurricane with one, two and four processors of `make`.
fn hurricanes(make: fn(u32) -> System) -> Vec<System> {
    PROTOCOL_PROCESSORS.map(make).to_vec()
}

fn hurricanes_1() -> Vec<System> {
    [hurricanes(hurricane_1), vec![System::Mult]].concat()
}

/// Hurricane with both clocks.
#[must_use]
pub fn clocked() -> Vec<System> {
    [hurricanes(hurricane), hurricanes(slow_hurricane)].concat()
}

fn systems(systems: &[System], vary: impl Fn(Setup) -> Setup + Copy) -> Vec<Setup> {
    let of_system =
        |&system: &System| App::CHAPTER_5.into_iter().map(move |app| vary(Setup::chapter_5(system, app)));
    systems.iter().flat_map(of_system).collect()
}

/// `ours` and S-COMA on smaller and greater nodes, beside those of 8.
fn clustered(ours: &[System]) -> Vec<Setup> {
    let both = [ours, &[System::SComa]].concat();
    let per_node = CLUSTERS.into_iter().chain([8]);
    per_node.flat_map(|per_node| systems(&both, move |setup| setup.clustered(per_node))).collect()
}

/// `ours`, Hurricane with one processor and S-COMA with smaller and greater blocks.
fn blocked(ours: &[System]) -> Vec<Setup> {
    let all = [ours, &[hurricane(1), System::SComa]].concat();
    BLOCKS_5.into_iter().flat_map(|bytes| systems(&all, move |setup| setup.blocks(bytes))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::falsafi_1998::scatter::{PERTURBED, SYSTEMS_5};
    use crate::falsafi_1998::source;

    fn names() -> Vec<&'static str> {
        source().figures.iter().map(|figure| figure.name).collect()
    }

    #[test]
    fn every_run_has_a_key_of_its_own() {
        let all = setups(&names());
        let keys: BTreeSet<String> = all.iter().map(Setup::to_string).collect();
        assert_eq!(keys.len(), all.len());
    }

    #[test]
    fn every_machine_can_stand() {
        for setup in setups(&names()) {
            assert_eq!(setup.machine().check(), Ok(()), "{setup}");
        }
    }

    #[test]
    fn a_figure_needs_its_own_runs_only() {
        let alone = setups(&["5-8"]);
        let perturbed = SYSTEMS_5.len() * (PERTURBED.len() - 1);
        assert_eq!(alone.len(), (System::CHAPTER_5.len() + perturbed) * App::CHAPTER_5.len());
        assert!(setups(&["5-8", "table-5-3"]).len() < alone.len() + 2 * App::CHAPTER_5.len());
    }
}
