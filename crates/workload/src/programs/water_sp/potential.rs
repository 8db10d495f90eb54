//! Forces between and within water molecules.
//!
//! Between molecules: the simple point charge model (Berendsen et al. 1981), with charges on all three atoms and a Lennard-Jones
//! potential of the oxygens, faded out smoothly before the cutoff of the oxygens' distance. Within a molecule: springs between
//! its three atoms, as stiff as those of its flexible form (Wu, Tepper & Voth 2006), whose angle is a spring of the hydrogens
//! here. SPLASH-2 has another parametrisation with one more charge site: 14 distances of a pair instead of nine.
//!
//! Units: ångström, femtosecond, dalton, elementary charge; so energies are in 10⁴ kJ/mol.

use crate::programs::cost::{CALL, DIVIDE, FLOP, INTEGER, LOOP, PRIVATE, SQUARE_ROOT};

/// Coordinates of a molecule, or forces on it: oxygen, hydrogen, hydrogen.
pub(super) type Atoms = [f64; 9];

/// Masses of the atoms.
pub(super) const MASSES: [f64; 3] = [15.9994, 1.008, 1.008];

const CHARGES: [f64; 3] = [-0.82, 0.41, 0.41];

/// The energy of two elementary charges at a distance of 1.
const COULOMB: f64 = 0.138_935_458;

/// Depth and zero of the Lennard-Jones potential.
const DEPTH: f64 = 6.5e-5;
const DIAMETER: f64 = 3.166;

/// Length at rest and stiffness of the springs of oxygen and hydrogen, and of both hydrogens.
pub(super) const BOND: f64 = 1.0;
const BOND_STIFFNESS: f64 = 0.4431;
pub(super) const SPREAD: f64 = 1.632_98;
const SPREAD_STIFFNESS: f64 = 0.0953;

/// Where the potential begins to fade, as a share of the cutoff.
const FADE: f64 = 0.9;

/// Computing of the nine distances of two molecules, each way round the box.
pub(super) const DISTANCES: u32 = CALL + 15 * FLOP + 6 * INTEGER + 9 * (8 * FLOP + PRIVATE);

/// Computing of the forces of one molecule on another at these distances: charges, Lennard-Jones, and fading.
pub(super) const PAIR: u32 =
    9 * (12 * FLOP + SQUARE_ROOT + DIVIDE + 2 * PRIVATE + LOOP) + 35 * FLOP + SQUARE_ROOT + DIVIDE;

/// Computing of the forces within a molecule.
pub(super) const WITHIN: u32 = 3 * (20 * FLOP + SQUARE_ROOT + DIVIDE + LOOP);

/// The vector from atom `b` of one molecule to atom `a` of another, and its square.
#[inline(always)]
fn apart(one: &Atoms, a: usize, other: &Atoms, b: usize) -> ([f64; 3], f64) {
    let vector = [0, 1, 2].map(|k| one[3 * a + k] - other[3 * b + k]);
    (vector, vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2])
}

#[inline(always)]
fn push(forces: &mut Atoms, atom: usize, vector: [f64; 3], factor: f64) {
    for k in 0..3 {
        forces[3 * atom + k] += factor * vector[k];
    }
}

/// How much of the potential is left at this distance, and its derivative.
#[inline(always)]
fn fading(distance: f64, cutoff: f64) -> (f64, f64) {
    let width = cutoff * (1.0 - FADE);
    let x = (distance - cutoff * FADE) / width;
    if x <= 0.0 {
        (1.0, 0.0)
    } else if x >= 1.0 {
        (0.0, 0.0)
    } else {
        (1.0 - x * x * (3.0 - 2.0 * x), -6.0 * x * (1.0 - x) / width)
    }
}

/// Adds the forces on molecule `one` by the `other`, and returns their energy; `None` beyond the cutoff of the oxygens. All nine
/// distances are computed before that is known, as in SPLASH-2.
#[inline]
pub(super) fn add_pair(one: &Atoms, other: &Atoms, cutoff: f64, forces: &mut Atoms) -> Option<f64> {
    let pairs: [([f64; 3], f64); 9] = core::array::from_fn(|pair| apart(one, pair / 3, other, pair % 3));
    let (between, square) = pairs[0];
    if square >= cutoff * cutoff {
        return None;
    }
    let distance = square.sqrt();
    let (left, slope) = fading(distance, cutoff);
    let sixth = (DIAMETER * DIAMETER / square).powi(3);
    let mut energy = 4.0 * DEPTH * sixth * (sixth - 1.0);
    push(forces, 0, between, left * 24.0 * DEPTH * sixth * (2.0 * sixth - 1.0) / square);
    for (pair, (vector, square)) in pairs.into_iter().enumerate() {
        let inverse = 1.0 / square.sqrt();
        let charges = COULOMB * CHARGES[pair / 3] * CHARGES[pair % 3] * inverse;
        energy += charges;
        push(forces, pair / 3, vector, left * charges * inverse * inverse);
    }
    push(forces, 0, between, -slope * energy / distance);
    Some(left * energy)
}

/// Adds the forces within a molecule, and returns their energy.
#[inline]
pub(super) fn add_within(molecule: &Atoms, forces: &mut Atoms) -> f64 {
    let springs =
        [(0, 1, BOND, BOND_STIFFNESS), (0, 2, BOND, BOND_STIFFNESS), (1, 2, SPREAD, SPREAD_STIFFNESS)];
    let mut energy = 0.0;
    for (a, b, rest, stiffness) in springs {
        let (vector, square) = apart(molecule, a, molecule, b);
        let distance = square.sqrt();
        let stretch = distance - rest;
        energy += 0.5 * stiffness * stretch * stretch;
        let factor = stiffness * stretch / distance;
        push(forces, a, vector, -factor);
        push(forces, b, vector, factor);
    }
    energy
}

/// `other` moved round the periodic box of this `side` to where its oxygen is nearest to that of `one`. Oxygens lie inside the
/// box.
#[inline(always)]
pub(super) fn nearest_image(one: &Atoms, other: &Atoms, side: f64) -> Atoms {
    let shift = [0, 1, 2].map(|k| {
        let apart = other[k] - one[k];
        if apart > side / 2.0 {
            -side
        } else if apart < -side / 2.0 {
            side
        } else {
            0.0
        }
    });
    core::array::from_fn(|k| other[k] + shift[k % 3])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two molecules whose oxygens are `distance` apart.
    fn pair(distance: f64) -> (Atoms, Atoms) {
        let one = [0.0, 0.0, 0.0, 0.8, 0.6, 0.0, -0.3, 0.9, 0.3];
        let mut other = [0.0, 0.0, 0.0, 0.6, 0.0, 0.8, 0.1, -0.9, 0.4];
        for atom in 0..3 {
            other[3 * atom] += distance;
        }
        (one, other)
    }

    /// Asserts that `forces` are how `energy` falls when each coordinate of `molecule` grows.
    fn assert_gradient(molecule: &Atoms, forces: &Atoms, energy: impl Fn(&Atoms) -> f64) {
        for k in 0..9 {
            let moved = |by: f64| {
                let mut moved = *molecule;
                moved[k] += by;
                energy(&moved)
            };
            let fall = (moved(-1e-5) - moved(1e-5)) / 2e-5;
            assert!((forces[k] - fall).abs() < 1e-9, "coordinate {k}: {} and {fall}", forces[k]);
        }
    }

    #[test]
    fn forces_are_the_gradient_of_the_energy() {
        let cutoff = 6.0;
        // Near, where the potential fades, and beyond.
        for distance in [2.8, 4.0, 5.7, 6.5] {
            let (one, other) = pair(distance);
            let mut forces = [0.0; 9];
            let energy = |one: &Atoms, forces: &mut Atoms| add_pair(one, &other, cutoff, forces);
            assert_eq!(energy(&one, &mut forces).is_some(), distance < cutoff);
            assert_gradient(&one, &forces, |one| energy(one, &mut [0.0; 9]).unwrap_or(0.0));
        }
        let (one, _) = pair(3.0);
        let mut forces = [0.0; 9];
        add_within(&one, &mut forces);
        assert_gradient(&one, &forces, |one| add_within(one, &mut [0.0; 9]));
    }

    #[test]
    fn a_molecule_beyond_the_border_is_near() {
        let one = [0.5, 5.0, 5.0, 1.5, 5.0, 5.0, 0.5, 6.0, 5.0];
        let other = [9.5, 5.0, 5.0, 9.0, 5.0, 5.0, 9.5, 6.0, 5.0];
        let image = nearest_image(&one, &other, 10.0);
        assert_eq!(image, [-0.5, 5.0, 5.0, -1.0, 5.0, 5.0, -0.5, 6.0, 5.0]);
    }
}
