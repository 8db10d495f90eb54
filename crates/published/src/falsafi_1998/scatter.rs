//! What a cycle of network latency changes for a program.
//!
//! A cycle more or less changes who gets a lock first, and so how a program goes on. Each program is run with 99, 100 and 101 cycles
//! on the base machine of its chapter, under a few systems. The relative standard deviation of its cycles, pooled over these systems,
//! is its *scatter*. Every run of the program, on whichever machine, is taken to scatter as much, independently of others
//! ([`uncertainty`](super::uncertainty)); a single processor sends nothing and does not. Under a system whose own deviation is
//! greater, that counts.

use super::measured::Obtained;
use super::plan::{fixed, floating, single};
use super::setup::{NETWORK, Setup};
use super::system::{System, hurricane};
use super::work::{App, Work};
use std::collections::BTreeMap;
use warmcore_stats::interval::t_quantile_95;

/// The network latencies with which programs are run, in cycles.
pub const PERTURBED: [u64; 3] = [NETWORK - 1, NETWORK, NETWORK + 1];
/// The systems of chapter 5 with which they are.
pub const SYSTEMS_5: [System; 4] = [System::SComa, hurricane(1), hurricane(4), System::Mult];

/// A program of a chapter, whose base machine is another than that of the other chapter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ProgramOf {
    /// Whether the chapter is the fourth.
    typhoon_1: bool,
    app: App,
}

impl ProgramOf {
    /// The program of `setup`, if it has one.
    #[must_use]
    pub const fn new(setup: &Setup) -> Option<Self> {
        match setup.work {
            Work::Program(app) => Some(Self { typhoon_1: setup.system.is_typhoon_1(), app }),
            _ => None,
        }
    }

    /// All of both chapters.
    pub fn all() -> impl Iterator<Item = Self> {
        let of = |typhoon_1| move |app| Self { typhoon_1, app };
        App::CHAPTER_4.into_iter().map(of(true)).chain(App::CHAPTER_5.into_iter().map(of(false)))
    }

    /// The base machine of the chapter under a few systems.
    #[must_use]
    pub fn base(self) -> Vec<Setup> {
        let app = self.app;
        match self.typhoon_1 {
            true => vec![single(app), fixed(2, app), floating(2, app)],
            false => SYSTEMS_5.map(|system| Setup::chapter_5(system, app)).to_vec(),
        }
    }

    /// The same with all latencies.
    pub fn perturbed(self) -> impl Iterator<Item = Setup> {
        self.base().into_iter().flat_map(|setup| PERTURBED.map(|network| setup.over_network(network)))
    }

    /// Its name with the chapter.
    #[must_use]
    pub fn name(self) -> String {
        format!("{}, chapter {}", self.app.name(), if self.typhoon_1 { 4 } else { 5 })
    }
}

/// How much the programs scatter.
#[derive(Clone, Debug, Default)]
pub struct Scatter {
    /// Half-width of the 95 % interval of a run's cycles, as a part of them.
    half_widths: BTreeMap<ProgramOf, f64>,
    /// That of the runs under one system alone.
    of_systems: BTreeMap<(ProgramOf, System), f64>,
}

impl Scatter {
    /// That of the programs whose perturbed runs are among `results`.
    #[must_use]
    pub fn new(results: &BTreeMap<Setup, Obtained>) -> Self {
        let half_width = |program: ProgramOf| {
            let groups = program.base().into_iter().map(|setup| cycles(results, setup));
            Some((program, pooled(groups)?))
        };
        let own = |program: ProgramOf| {
            let of = move |setup: Setup| Some(((program, setup.system), pooled([cycles(results, setup)])?));
            program.base().into_iter().filter_map(of).collect::<Vec<_>>()
        };
        Self {
            half_widths: ProgramOf::all().filter_map(half_width).collect(),
            of_systems: ProgramOf::all().flat_map(own).collect(),
        }
    }

    /// Half-width of the 95 % interval of the cycles of `setup`, as a part of them: 0 for what is no program or sends nothing;
    /// infinite if it is not known.
    #[must_use]
    pub fn half_width(&self, setup: &Setup) -> f64 {
        match ProgramOf::new(setup) {
            Some(program) if setup.nodes > 1 => {
                let own = self.of_systems.get(&(program, setup.system)).copied().unwrap_or(0.0);
                self.of_program(program).map_or(f64::INFINITY, |pooled| pooled.max(own))
            }
            _ => 0.0,
        }
    }

    /// That of a run of `program`; `None` if it is not known.
    #[must_use]
    pub fn of_program(&self, program: ProgramOf) -> Option<f64> {
        self.half_widths.get(&program).copied()
    }
}

/// The cycles of `setup` with all latencies, in their order; fewer if a run has no result.
pub(super) fn cycles(results: &BTreeMap<Setup, Obtained>, setup: Setup) -> Vec<f64> {
    let of = |network| match results.get(&setup.over_network(network)) {
        Some(Obtained::Measured(measured)) => Some(measured.cycles as f64),
        _ => None,
    };
    PERTURBED.into_iter().filter_map(of).collect()
}

/// The half-width at 95 % of a value's relative deviation, from the standard deviation pooled over `groups` of values; `None` if no
/// group has two.
fn pooled(groups: impl IntoIterator<Item = Vec<f64>>) -> Option<f64> {
    let (mut squares, mut freedom) = (0.0, 0);
    for group in groups.into_iter().filter(|group| group.len() > 1) {
        let mean = group.iter().sum::<f64>() / group.len() as f64;
        squares += group.iter().map(|value| (value / mean - 1.0).powi(2)).sum::<f64>();
        freedom += group.len() - 1;
    }
    (freedom > 0).then(|| t_quantile_95(freedom as f64) * (squares / freedom as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_are_pooled_over_systems() {
        // Deviations of ±1 % and ±2 % from two means: (2·0.01² + 2·0.02²) / 4 is the variance, with four degrees of freedom.
        let half = pooled([vec![99.0, 100.0, 101.0], vec![196.0, 200.0, 204.0]]).unwrap();
        assert!((half - 2.776 * 0.00025_f64.sqrt()).abs() < 1e-5, "{half}");
        assert_eq!(pooled([vec![7.0, 7.0, 7.0]]), Some(0.0));
        assert_eq!(pooled([vec![7.0], Vec::new()]), None);
    }

    #[test]
    fn what_sends_nothing_does_not_scatter_and_what_is_not_known_has_no_interval() {
        let none = Scatter::default();
        assert_eq!(none.half_width(&Setup::uniprocessor(App::Fft)), 0.0);
        assert_eq!(none.half_width(&Setup::remote_read(System::SComa)), 0.0);
        assert_eq!(none.half_width(&Setup::chapter_5(System::SComa, App::Fft)), f64::INFINITY);
    }
}
