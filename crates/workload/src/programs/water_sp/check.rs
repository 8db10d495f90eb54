//! Checks of forces, energy and momentum.

use super::potential::{self, Atoms, MASSES};
use super::{ENERGY, FORCES, PLACES, PreparedWaterSp, VELOCITIES, kinetic_energy};
use crate::programs::vector::vector_at;
use crate::programs::{Image, WrongResult};

/// Molecules whose forces are computed again from all others, if there are as many.
const SAMPLES: u64 = 4096;

/// How far a force or an energy may be from the one that is summed in another order: relative to the largest ones.
const ROUNDING: f64 = 1e-11;

/// How much of the kinetic energy the total may gain or lose with steps of [`STEP`]. The error grows with the square of the step.
const CONSERVATION: f64 = 1e-3;
/// SPLASH-2's step, in femtoseconds.
const STEP: f64 = 0.15;

fn wrong(what: String, expected: f64, found: f64) -> WrongResult {
    WrongResult { what, expected: expected.to_string(), found: found.to_string() }
}

/// Whether two numbers are as near as `limit`; false for NaN.
fn near(expected: f64, found: f64, limit: f64) -> bool {
    (expected - found).abs() <= limit
}

impl PreparedWaterSp {
    fn all(&self, image: &Image, part: u64) -> Vec<Atoms> {
        (0..self.input.molecules).map(|index| vector_at(image, self.molecule(index).word(part))).collect()
    }

    /// Forces and energies of single molecules against the sum over all others, without cells.
    pub(super) fn check_molecules(&self, image: &Image) -> Result<(), WrongResult> {
        let places = self.all(image, PLACES);
        let forces = self.all(image, FORCES);
        let limit = ROUNDING * forces.iter().flatten().fold(1e-6, |most, force| force.abs().max(most));
        for index in (0..places.len()).step_by(self.input.molecules.div_ceil(SAMPLES) as usize) {
            let (exact, energy) = self.direct_sum(&places, index);
            let found = image.load_f64(self.molecule(index as u64).word(ENERGY));
            if !near(energy, found, limit) {
                return Err(wrong(format!("energy of molecule {index}"), energy, found));
            }
            for k in 0..9 {
                if !near(exact[k], forces[index][k], limit) {
                    let what = format!("force {k} on molecule {index}");
                    return Err(wrong(what, exact[k], forces[index][k]));
                }
            }
        }
        Ok(())
    }

    fn direct_sum(&self, places: &[Atoms], index: usize) -> (Atoms, f64) {
        let mut forces = [0.0; 9];
        let mut energy = potential::add_within(&places[index], &mut forces);
        for other in (0..places.len()).filter(|&other| other != index) {
            let image = potential::nearest_image(&places[index], &places[other], self.grid.side);
            let shared = potential::add_pair(&places[index], &image, self.input.cutoff, &mut forces);
            energy += shared.unwrap_or(0.0) / 2.0;
        }
        (forces, energy)
    }

    /// Energy and momentum of all molecules together.
    pub(super) fn check_sums(&self, image: &Image) -> Result<(), WrongResult> {
        let velocities = self.all(image, VELOCITIES);
        let kinetic: f64 = velocities.iter().map(kinetic_energy).sum();
        let potential: f64 =
            (0..self.input.molecules).map(|index| image.load_f64(self.molecule(index).word(ENERGY))).sum();
        let total = |turn: u32| image.load_f64(self.energies.word(u64::from(turn)));
        let last = total(self.input.steps);
        let scale = kinetic + potential.abs();
        if !near(kinetic + potential, last, ROUNDING * scale) {
            return Err(wrong("total energy".to_owned(), kinetic + potential, last));
        }
        let conserved = CONSERVATION * kinetic * (self.input.step / STEP).max(1.0).powi(2);
        if !near(total(0), last, conserved) {
            return Err(wrong("total energy after the last step".to_owned(), total(0), last));
        }
        for k in 0..3 {
            let moment =
                |velocity: &Atoms| (0..3).map(|atom| MASSES[atom] * velocity[3 * atom + k]).sum::<f64>();
            let momentum: f64 = velocities.iter().map(moment).sum();
            // Pulls of the two molecules of a pair cancel up to rounding.
            let sizes = |velocity: &Atoms| {
                (0..3).map(|atom| MASSES[atom] * velocity[3 * atom + k].abs()).sum::<f64>()
            };
            let limit = ROUNDING * velocities.iter().map(sizes).sum::<f64>();
            if !near(0.0, momentum, limit) {
                return Err(wrong(format!("momentum {k}"), 0.0, momentum));
            }
        }
        Ok(())
    }
}
