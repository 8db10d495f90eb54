//! Molecular dynamics of liquid water with a cutoff and cells (SPLASH-2, Woo et al. 1995, §3; Falsafi 1998, Tables 4.1 and 5.2:
//! 4096 molecules).
//!
//! The molecules are in a periodic box that is divided into cells. Each processor has an equal share of the cells, in Morton
//! order, and the molecules in them. A step moves the molecules, puts them into cells, with locks, and computes forces from
//! the molecules of its cell and those that touch it. The forces of a pair are computed twice, once for each molecule, so that no
//! processor writes to another's molecules and sums do not depend on who was first; SPLASH-2 computes them once and adds
//! them with locks. The total energy is summed with a lock, as there: its rounding depends on the order.
//!
//! `potential` says what the forces are. Motion is integrated by the velocity form of Verlet's method, where SPLASH-2 has
//! Gear's of sixth order: a few hundred flops less for a molecule, beside 10⁵ of its forces.

mod check;
mod grid;
mod potential;

use super::cells::CellLists;
use super::cost::{FLOP, INTEGER, LOOP, PRIVATE, Pace};
use super::input::{check_common, digest, random, require, share};
use super::vector::{load_vector, store_vector, write_vector};
use super::{Address, BarrierId, Home, Image, LockId, Prepared, Program, SharedMemory, WrongResult};
use grid::{LEAST_CELLS, PeriodicBox};
use potential::{Atoms, DISTANCES, MASSES, PAIR, WITHIN};
use serde::{Deserialize, Serialize};
use warmcore_units::Fault;

/// Words of a molecule and where its parts are.
const MOLECULE: u64 = 32;
const PLACES: u64 = 0;
const VELOCITIES: u64 = 9;
const FORCES: u64 = 18;
/// Its share of the potential energy.
const ENERGY: u64 = 27;
const LINK: u64 = 28;

/// Computing to find a molecule's cell.
const LOCATE: u32 = 6 * FLOP + 8 * INTEGER;

/// Computing to change nine velocities, and to move nine coordinates and keep them in the box.
const KICK: u32 = 9 * (2 * FLOP + LOOP);
const DRIFT: u32 = 9 * (2 * FLOP + LOOP) + 6 * FLOP;

/// The lock of the total energy: behind those of the cells.
const ENERGY_LOCK: LockId = LockId(1 << 16);

/// The pace at which a uniprocessor takes the 3,965 million cycles of Table 5.3.
const UNIPROCESSOR: Pace = Pace::new(6.319);

/// The input.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WaterSp {
    /// Molecules.
    pub molecules: u64,
    /// Distance of oxygens beyond which molecules do not interact, in ångström. The thesis does not say; SPLASH-2's input has
    /// 6.2, which its authors advise for simulated machines.
    pub cutoff: f64,
    /// The length of a step in femtoseconds.
    pub step: f64,
    /// Steps after the first computation of forces. SPLASH-2's input has three.
    pub steps: u32,
    /// Names the random orientations and velocities.
    pub seed: u64,
    /// Cycles for each counted one.
    pub pace: Pace,
}

impl Default for WaterSp {
    fn default() -> Self {
        Self { molecules: 4096, cutoff: 6.2, step: 0.15, steps: 3, seed: 1, pace: UNIPROCESSOR }
    }
}

impl WaterSp {
    /// A small input for quick runs.
    #[must_use]
    pub fn quick() -> Self {
        Self { molecules: 512, steps: 1, ..Self::default() }
    }

    fn start(&self, grid: &PeriodicBox) -> Vec<(Atoms, Atoms)> {
        grid.start(self.molecules, &mut random(self.seed))
    }
}

/// The molecules laid out.
#[derive(Debug)]
pub struct PreparedWaterSp {
    input: WaterSp,
    grid: PeriodicBox,
    lists: CellLists,
    molecules: Address,
    /// The total energy after each computation of forces, a word each.
    energies: Address,
}

impl Program for WaterSp {
    type Prepared = PreparedWaterSp;

    fn name(&self) -> &'static str {
        "water-sp"
    }

    fn prepare(&self, image: &mut Image, processors: u32) -> Result<PreparedWaterSp, Fault> {
        check_common(self.pace, processors)?;
        require((2..=1 << 20).contains(&self.molecules), "molecules", self.molecules, "2 to 2^20")?;
        let side = grid::side(self.molecules);
        let most = side / LEAST_CELLS as f64;
        let allowed = (1.0..=most).contains(&self.cutoff);
        require(
            allowed,
            "cutoff",
            self.cutoff,
            &format!("1 to {most:.1} Å, a third of the side of the box"),
        )?;
        require((0.0..=0.3).contains(&self.step), "step", self.step, "0 to 0.3 fs")?;
        require(self.steps < 1 << 20, "steps", self.steps, "fewer than 2^20")?;
        let grid = PeriodicBox::new(self.molecules, self.cutoff);
        let lists = CellLists::new(image, grid.cells.pow(3), processors, LINK, self.pace);
        let molecules = image.allocate_shared_out(8 * MOLECULE * self.molecules, processors);
        for (index, (places, velocities)) in (0..).zip(self.start(&grid)) {
            let molecule = molecules.word(MOLECULE * index);
            write_vector(image, molecule.word(PLACES), places);
            write_vector(image, molecule.word(VELOCITIES), velocities);
        }
        let energies = image.allocate(8 * (u64::from(self.steps) + 1), Home::Interleaved);
        Ok(PreparedWaterSp { input: self.clone(), grid, lists, molecules, energies })
    }
}

impl PreparedWaterSp {
    fn molecule(&self, index: u64) -> Address {
        self.molecules.word(MOLECULE * index)
    }

    fn locate<M: SharedMemory>(&self, memory: &M, mine: &[Address]) {
        let locating = self.input.pace.cycles(LOCATE);
        for &molecule in mine {
            let oxygen = load_vector(memory, molecule.word(PLACES));
            memory.compute(locating);
            self.lists.insert(memory, self.grid.locate(oxygen), molecule);
        }
    }

    /// Computes the forces on a molecule in `cell` and its share of the energy.
    fn compute_forces<M: SharedMemory>(&self, memory: &M, cell: u64, molecule: Address) {
        let pace = self.input.pace;
        let [distances, pair] = [DISTANCES, PAIR].map(|counted| pace.cycles(counted));
        let (side, cutoff) = (self.grid.side, self.input.cutoff);
        let places: Atoms = load_vector(memory, molecule.word(PLACES));
        let mut forces = [0.0; 9];
        let mut energy = potential::add_within(&places, &mut forces);
        memory.compute(pace.cycles(WITHIN + 27 * PRIVATE));
        for other in self.grid.around(cell) {
            self.lists.for_each(memory, other, |other| {
                if other == molecule {
                    return;
                }
                let image = potential::nearest_image(&places, &load_vector(memory, other.word(PLACES)), side);
                memory.compute(distances);
                if let Some(shared) = potential::add_pair(&places, &image, cutoff, &mut forces) {
                    energy += shared / 2.0;
                    memory.compute(pair);
                }
            });
        }
        store_vector(memory, molecule.word(FORCES), forces);
        memory.store_f64(molecule.word(ENERGY), energy);
    }

    /// Changes the velocities by half a step of the forces, and returns the kinetic energy.
    fn kick<M: SharedMemory>(&self, memory: &M, molecule: Address) -> f64 {
        let forces: Atoms = load_vector(memory, molecule.word(FORCES));
        let mut velocities: Atoms = load_vector(memory, molecule.word(VELOCITIES));
        for (k, velocity) in velocities.iter_mut().enumerate() {
            *velocity += forces[k] * (self.input.step / 2.0 / MASSES[k / 3]);
        }
        store_vector(memory, molecule.word(VELOCITIES), velocities);
        memory.compute(self.input.pace.cycles(KICK));
        kinetic_energy(&velocities)
    }

    /// Moves a molecule by one step, and round the box if its oxygen leaves it.
    fn drift<M: SharedMemory>(&self, memory: &M, molecule: Address) {
        let velocities: Atoms = load_vector(memory, molecule.word(VELOCITIES));
        let mut places: Atoms = load_vector(memory, molecule.word(PLACES));
        for (place, velocity) in places.iter_mut().zip(velocities) {
            *place += self.input.step * velocity;
        }
        let wrapped = |oxygen: f64| {
            if oxygen < 0.0 {
                self.grid.side
            } else if oxygen >= self.grid.side {
                -self.grid.side
            } else {
                0.0
            }
        };
        let shift = [0, 1, 2].map(|k| wrapped(places[k]));
        for (k, place) in places.iter_mut().enumerate() {
            *place += shift[k % 3];
        }
        store_vector(memory, molecule.word(PLACES), places);
        memory.compute(self.input.pace.cycles(DRIFT));
    }

    /// Adds to the total energy after computation `turn` of the forces.
    fn add_energy<M: SharedMemory>(&self, memory: &M, turn: u32, energy: f64) {
        let at = self.energies.word(u64::from(turn));
        memory.acquire(ENERGY_LOCK);
        memory.store_f64(at, memory.load_f64(at) + energy);
        memory.compute(self.input.pace.cycles(FLOP));
        memory.release(ENERGY_LOCK);
    }
}

fn kinetic_energy(velocities: &Atoms) -> f64 {
    velocities.iter().enumerate().map(|(k, velocity)| 0.5 * MASSES[k / 3] * velocity * velocity).sum()
}

impl Prepared for PreparedWaterSp {
    fn run<M: SharedMemory>(&self, memory: &M) {
        let barrier = || memory.barrier(BarrierId(0));
        let share_of = |items| share(items, memory.processor(), memory.processors());
        let cells = share_of(self.grid.cells.pow(3));
        let first = share_of(self.input.molecules).map(|index| (0, self.molecule(index)));
        let mut mine: Vec<(u64, Address)> = first.collect();
        let mut list = Vec::new();
        for turn in 0..=self.input.steps {
            if turn > 0 {
                for &(_, molecule) in &mine {
                    self.kick(memory, molecule);
                    self.drift(memory, molecule);
                }
            }
            list.clear();
            list.extend(mine.iter().map(|&(_, molecule)| molecule));
            self.lists.clear(memory, cells.clone());
            barrier();
            self.locate(memory, &list);
            barrier();
            mine.clear();
            for cell in cells.clone() {
                self.lists.sort(memory, cell, &mut list);
                mine.extend(list.iter().map(|&molecule| (cell, molecule)));
            }
            barrier();
            let mut energy = 0.0;
            for &(cell, molecule) in &mine {
                self.compute_forces(memory, cell, molecule);
                energy += memory.load_f64(molecule.word(ENERGY));
            }
            if turn > 0 {
                energy += mine.iter().map(|&(_, molecule)| self.kick(memory, molecule)).sum::<f64>();
            } else {
                let velocities = |&(_, molecule): &(u64, Address)| -> Atoms {
                    load_vector(memory, molecule.word(VELOCITIES))
                };
                energy += mine.iter().map(|molecule| kinetic_energy(&velocities(molecule))).sum::<f64>();
            }
            self.add_energy(memory, turn, energy);
            barrier();
        }
    }

    fn check(&self, image: &Image) -> Result<(), WrongResult> {
        self.check_molecules(image)?;
        self.check_sums(image)
    }

    fn digest(&self, image: &Image) -> u64 {
        let words = |index| (PLACES..LINK).map(move |word| image.load(self.molecule(index).word(word)));
        digest((0..self.input.molecules).flat_map(words))
    }
}
