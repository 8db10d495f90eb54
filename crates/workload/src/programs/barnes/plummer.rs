//! Random bodies of Plummer models (Aarseth, Hénon & Wielen 1974).

use super::Vector;
use crate::programs::input::random;
use crate::random::Random;
use core::f64::consts::PI;
use rand::RngExt;

/// How far apart the two galaxies are, in each coordinate, in SPLASH-2's input.
const APART: f64 = 4.0;

/// The share of the mass that is drawn from; the rest lies far out.
const INNER: f64 = 0.999;

/// Places and velocities of `bodies` in two Plummer models, in units of Hénon: mass 1, energy −1/4.
pub(super) fn two_galaxies(bodies: u64, seed: u64) -> Vec<(Vector, Vector)> {
    let mut random = random(seed);
    (0..bodies)
        .map(|index| {
            let (place, velocity) = body(&mut random);
            let shift = if index < bodies / 2 { 0.0 } else { APART };
            (place.map(|coordinate| coordinate + shift), velocity)
        })
        .collect()
}

fn body(random: &mut Random) -> (Vector, Vector) {
    let scale = 3.0 * PI / 16.0;
    let mass: f64 = random.random_range(0.0..INNER);
    let radius = 1.0 / (mass.max(1e-9).powf(-2.0 / 3.0) - 1.0).sqrt();
    let place = direction(random).map(|coordinate| coordinate * radius * scale);
    // The share of the escape velocity, by von Neumann's rejection.
    let share = loop {
        let share: f64 = random.random_range(0.0..1.0);
        let density = share * share * (1.0 - share * share).powf(3.5);
        if random.random_range(0.0..0.1) < density {
            break share;
        }
    };
    let speed = share * 2.0_f64.sqrt() / (1.0 + radius * radius).powf(0.25);
    (place, direction(random).map(|coordinate| coordinate * speed / scale.sqrt()))
}

/// A random direction, by rejection from a cube.
fn direction(random: &mut Random) -> Vector {
    loop {
        let vector: Vector = [(); 3].map(|()| random.random_range(-1.0..1.0));
        let square: f64 = vector.iter().map(|coordinate| coordinate * coordinate).sum();
        if square > 1e-6 && square <= 1.0 {
            return vector.map(|coordinate| coordinate / square.sqrt());
        }
    }
}
