//! Instructions on their way through a pipeline.

use super::predictor::Predictor;
use super::{Issue, Pipeline};
use crate::trace::{Class, Instruction, Registers};
use serde::{Deserialize, Serialize};
use warmcore_units::Cycles;

/// What a pipeline counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PipelineFigures {
    /// Instructions that issued.
    pub instructions: u64,
    /// What they took: until the cycle in which a next one could issue at the earliest.
    pub cycles: Cycles,
    /// Pairs that issued in one cycle.
    pub pairs: u64,
    /// Times that the next instruction was elsewhere: branches that were taken, jumps, calls and returns.
    pub taken: u64,
    /// Times that this, or that a branch was not taken, was not foreseen.
    pub mispredicted: u64,
    /// Cycles in which an instruction waited for what it reads or for its unit.
    pub waits: Cycles,
    /// Cycles in which nothing issued after a taken or mispredicted branch.
    pub penalties: Cycles,
}

impl PipelineFigures {
    /// Cycles per instruction before a perfect memory: "iCPI". 0 without instructions.
    #[must_use]
    pub fn icpi(&self) -> f64 {
        if self.instructions == 0 { 0.0 } else { self.cycles.0 as f64 / self.instructions as f64 }
    }
}

/// The unit that an instruction needs; a pair needs two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Unit {
    /// Loads, stores and all that goes elsewhere.
    Address,
    Integer,
    Float,
    /// Issues alone.
    All,
}

const fn unit(class: Class) -> Unit {
    match class {
        Class::Load | Class::Store | Class::Branch | Class::Jump | Class::Call | Class::Return => {
            Unit::Address
        }
        Class::Integer | Class::Multiply | Class::Divide => Unit::Integer,
        Class::Float => Unit::Float,
        Class::Other => Unit::All,
    }
}

/// An instruction that issued alone so far.
#[derive(Clone, Copy, Debug)]
struct Single {
    cycle: u64,
    end: u64,
    address: u64,
    unit: Unit,
    writes: Registers,
}

/// A pipeline while instructions go through it.
#[derive(Clone, Debug)]
pub struct PipelineRun {
    pipeline: Pipeline,
    predictor: Predictor,
    /// When each register can be read.
    ready: [u64; 64],
    /// Registers for which one may have to wait.
    pending: u64,
    /// When the unit for multiplication and division is free.
    multiplier: u64,
    /// When the next can issue, if not in a pair.
    clock: u64,
    last: Option<Single>,
    figures: PipelineFigures,
}

impl PipelineRun {
    /// An empty pipeline; what [`Pipeline::check`] finds fault with has no meaning here.
    #[must_use]
    pub fn new(pipeline: Pipeline) -> Self {
        Self {
            predictor: Predictor::new(pipeline.prediction, pipeline.return_stack),
            pipeline,
            ready: [0; 64],
            pending: 0,
            multiplier: 0,
            clock: 0,
            last: None,
            figures: PipelineFigures::default(),
        }
    }

    /// Lets `instruction` issue; `next` is the address of what is executed after it. Returns how much later the next can
    /// issue for it.
    pub fn issue(&mut self, instruction: &Instruction, next: Option<u64>) -> Cycles {
        let before = self.clock;
        let ready = self.ready_at(instruction);
        let cycle = match self.last.take() {
            Some(first) if ready <= first.cycle && self.pairs(&first, instruction) => {
                self.figures.pairs += 1;
                first.cycle
            }
            _ => {
                let cycle = ready.max(self.clock);
                self.figures.waits += Cycles(cycle - self.clock);
                self.last = Some(Single {
                    cycle,
                    end: instruction.end(),
                    address: instruction.address,
                    unit: unit(instruction.class),
                    writes: instruction.writes,
                });
                cycle
            }
        };
        self.clock = self.clock.max(cycle + 1);
        self.write(instruction, cycle);
        if let Some(next) = next {
            self.go_on(instruction, next);
        }
        self.figures.instructions += 1;
        Cycles(self.clock - before)
    }

    /// What has been counted.
    #[must_use]
    pub const fn figures(&self) -> PipelineFigures {
        PipelineFigures { cycles: Cycles(self.clock), ..self.figures }
    }

    /// Counts anew, with empty units; what is known of branches stays.
    pub fn restart(&mut self) {
        let predictor = self.predictor.clone();
        *self = Self { predictor, ..Self::new(self.pipeline) };
    }

    /// When `instruction` has all that it needs, its unit too.
    fn ready_at(&mut self, instruction: &Instruction) -> u64 {
        let unit = match instruction.class {
            Class::Multiply | Class::Divide => self.multiplier,
            _ => 0,
        };
        // A register that is still to be written is not written before.
        let mut waiting = (instruction.reads.0 | instruction.writes.0) & self.pending;
        let mut ready = unit;
        while waiting != 0 {
            let register = waiting.trailing_zeros() as usize;
            waiting &= waiting - 1;
            ready = ready.max(self.ready[register]);
            if self.ready[register] <= self.clock {
                self.pending &= !(1 << register);
            }
        }
        ready
    }

    fn pairs(&self, first: &Single, second: &Instruction) -> bool {
        let Issue::AlignedPair(block) = self.pipeline.issue else { return false };
        let (one, other) = (first.unit, unit(second.class));
        let last = second.end().wrapping_sub(1);
        one != other
            && one != Unit::All
            && other != Unit::All
            && first.end == second.address
            && first.address / block.0 == last / block.0
            && !first.writes.overlaps(second.reads)
            && !first.writes.overlaps(second.writes)
    }

    fn write(&mut self, instruction: &Instruction, cycle: u64) {
        let ready = cycle + self.pipeline.latency(instruction.class);
        if matches!(instruction.class, Class::Multiply | Class::Divide) {
            self.multiplier = ready;
        }
        let mut written = instruction.writes.0;
        self.pending |= written;
        while written != 0 {
            self.ready[written.trailing_zeros() as usize] = ready;
            written &= written - 1;
        }
    }

    /// Goes on to what is at `next`: a penalty if it is elsewhere, or was not foreseen.
    fn go_on(&mut self, instruction: &Instruction, next: u64) {
        let taken = next != instruction.end();
        let foreseen = self.predictor.foresees(instruction, taken, next);
        self.figures.taken += u64::from(taken);
        self.figures.mispredicted += u64::from(!foreseen);
        let penalty = match (foreseen, taken) {
            (false, _) => self.pipeline.mispredicted,
            (true, true) => self.pipeline.taken,
            (true, false) => Cycles(0),
        };
        if taken || !foreseen {
            self.last = None;
        }
        self.clock += penalty.0;
        self.figures.penalties += penalty;
    }
}
