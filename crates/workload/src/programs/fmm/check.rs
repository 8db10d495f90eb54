//! Accelerations against direct summation.

use super::{ACCELERATION, MASS, PLACE, PreparedFmm, VELOCITY, Vector, pull};
use crate::programs::vector::{length, vector_at};
use crate::programs::{Address, Image, WrongResult};

/// Particles whose acceleration is checked by direct summation, if there are as many.
const SAMPLES: u64 = 2048;

/// The base of the tolerance: with n terms, accelerations are within this to the power of n, relative to the average one.
/// The theory bounds the error by powers of √2/(4−√2) = 0.547, for boxes that are only just well apart.
const TOLERANCE_BASE: f64 = 0.6;

impl PreparedFmm {
    /// Masses, and places when the last accelerations were computed: before the particles moved.
    fn last_places(&self, image: &Image) -> Vec<(f64, Vector)> {
        let before = |particle: Address| {
            let place: Vector = vector_at(image, particle.word(PLACE));
            let velocity: Vector = vector_at(image, particle.word(VELOCITY));
            let place = [0, 1].map(|k| place[k] - self.input.step * velocity[k]);
            (image.load_f64(particle.word(MASS)), place)
        };
        (0..self.input.particles).map(|index| before(self.particle(index))).collect()
    }

    /// Checks sampled accelerations against direct sums.
    pub(super) fn check_accelerations(&self, image: &Image) -> Result<(), WrongResult> {
        let particles = self.last_places(image);
        let exact = |index: usize| {
            let others = particles.iter().enumerate().filter(|(other, _)| *other != index);
            others.fold([0.0; 2], |sum: Vector, (_, &(mass, there))| {
                let pull = pull(particles[index].1, mass, there);
                [sum[0] + pull[0], sum[1] + pull[1]]
            })
        };
        let step = self.input.particles.div_ceil(SAMPLES) as usize;
        let sampled: Vec<(usize, Vector)> =
            (0..particles.len()).step_by(step).map(|index| (index, exact(index))).collect();
        let average = sampled.iter().map(|&(_, exact)| length(exact)).sum::<f64>() / sampled.len() as f64;
        let limit = TOLERANCE_BASE.powi(self.input.terms as i32) * average;
        for (index, exact) in sampled {
            let found: Vector = vector_at(image, self.particle(index as u64).word(ACCELERATION));
            // A comparison that is false for NaN too.
            let near = length([found[0] - exact[0], found[1] - exact[1]]) <= limit;
            if !near {
                return Err(WrongResult {
                    what: format!("acceleration of particle {index}"),
                    expected: format!("{exact:?} within {limit:.1e}"),
                    found: format!("{found:?}"),
                });
            }
        }
        Ok(())
    }
}
