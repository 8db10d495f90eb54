//! What instructions take if memory never makes them wait: the iCPI of Mosberger et al. 1996, §4.4.2, Table 7.
//!
//! The source fed its traces "into a CPU simulator" that "adds a fixed penalty for each taken branch", and says no more
//! of it. This is a model of such a processor: instructions issue in their order, one in a cycle or two of an aligned
//! pair, each once what it reads is there. What no trace tells is not modelled: shifts of the Alpha 21064 take two
//! cycles, but are [`Class::Integer`](crate::trace::Class) here and take one, so that its iCPI is rather too low.

mod predictor;
mod run;

pub use run::{PipelineFigures, PipelineRun};

use crate::trace::{Class, Trace};
use serde::{Deserialize, Serialize};
use warmcore_units::{Bytes, Cycles, Fault};

/// How many instructions may issue in one cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Issue {
    /// One.
    Single,
    /// Two that follow each other within an aligned block of so many bytes, and are of different kinds: one of {loads,
    /// stores, branches, jumps, calls, returns}, {integer instructions}, {floating point}, the other of another.
    AlignedPair(Bytes),
}

/// How branches are predicted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BranchPrediction {
    /// Always right.
    Perfect,
    /// Backward ones are taken, forward ones are not.
    Static,
    /// As the same branch went the last time; the first time as [`Static`](Self::Static). No two branches share a bit.
    OneBit,
}

/// When the result of an instruction can be read, in cycles after its issue; 1 is the next cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latencies {
    /// Of all that is not named below.
    pub integer: Cycles,
    /// Of integer multiplication; the multiplier takes no other before.
    pub multiply: Cycles,
    /// Of integer division; the same unit.
    pub divide: Cycles,
    /// Of a load that hits.
    pub load: Cycles,
    /// Of floating point.
    pub float: Cycles,
}

/// A processor that issues in order, before a memory that never makes it wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// How many issue in a cycle.
    pub issue: Issue,
    /// When results are there.
    pub latencies: Latencies,
    /// How branches are predicted. Direct jumps and calls are foreseen; indirect ones never are, unless prediction is perfect.
    pub prediction: BranchPrediction,
    /// Returns that are predicted: those of so many innermost calls.
    pub return_stack: u32,
    /// Cycles in which nothing issues after what goes elsewhere, and was foreseen.
    pub taken: Cycles,
    /// Cycles in which nothing issues after what was not foreseen, taken or not.
    pub mispredicted: Cycles,
}

impl Pipeline {
    /// The Alpha 21064 of Mosberger et al. 1996, §4.1, as far as this model goes. Pairs within an aligned quadword, loads
    /// after 3 cycles, longword multiplication 21, floating point 6, one bit of history for each branch that begins
    /// with the sign of its displacement, a stack of four returns, a mispredicted branch 4 cycles: "Alpha 21064 and Alpha
    /// 21064A Microprocessors Hardware Reference Manual" (Digital, EC-Q9ZUC), chapter 2. One cycle after a taken
    /// branch: there too; the source says only that its penalty is fixed. The Alpha has no integer division (the
    /// source, §2.2.2): its 64 cycles stand for a routine of a bit a cycle, and are ours.
    #[must_use]
    pub const fn alpha_21064() -> Self {
        Self {
            issue: Issue::AlignedPair(Bytes(8)),
            latencies: Latencies {
                integer: Cycles(1),
                multiply: Cycles(21),
                divide: Cycles(64),
                load: Cycles(3),
                float: Cycles(6),
            },
            prediction: BranchPrediction::OneBit,
            return_stack: 4,
            taken: Cycles(1),
            mispredicted: Cycles(4),
        }
    }

    /// One instruction in a cycle, and nothing waits: iCPI is 1.
    #[must_use]
    pub const fn scalar() -> Self {
        let one = Cycles(1);
        Self {
            issue: Issue::Single,
            latencies: Latencies { integer: one, multiply: one, divide: one, load: one, float: one },
            prediction: BranchPrediction::Perfect,
            return_stack: 0,
            taken: Cycles(0),
            mispredicted: Cycles(0),
        }
    }

    /// Checks that such a processor can be.
    ///
    /// # Errors
    /// If a pair's block is no power of two of 4 to 64 bytes, or a latency is not 1 to 2²⁰ cycles, or a penalty is longer.
    pub fn check(&self) -> Result<(), Fault> {
        const MOST: u64 = 1 << 20;
        if let Issue::AlignedPair(block) = self.issue
            && !(block.0.is_power_of_two() && (4..=64).contains(&block.0))
        {
            return Err(Fault::new("issue.aligned-pair", block, "a power of two, 4 to 64 bytes"));
        }
        let Latencies { integer, multiply, divide, load, float } = self.latencies;
        let named = [
            ("integer", integer),
            ("multiply", multiply),
            ("divide", divide),
            ("load", load),
            ("float", float),
        ];
        if let Some((name, found)) = named.into_iter().find(|(_, found)| !(1..=MOST).contains(&found.0)) {
            return Err(Fault::new(format!("latencies.{name}"), found, format!("1 to {MOST}")));
        }
        let penalties = [("taken", self.taken), ("mispredicted", self.mispredicted)];
        match penalties.into_iter().find(|(_, found)| found.0 > MOST) {
            Some((name, found)) => Err(Fault::new(name, found, format!("at most {MOST}"))),
            None => Ok(()),
        }
    }

    /// What `trace` takes on it, from an empty pipeline and empty predictors.
    ///
    /// # Errors
    /// If [`check`](Self::check) finds a fault.
    pub fn run(&self, trace: &Trace) -> Result<PipelineFigures, Fault> {
        self.check()?;
        let mut run = PipelineRun::new(*self);
        let mut steps = trace.steps().map(|step| step.instruction).peekable();
        while let Some(instruction) = steps.next() {
            run.issue(instruction, steps.peek().map(|next| next.address));
        }
        Ok(run.figures())
    }

    const fn latency(&self, class: Class) -> u64 {
        match class {
            Class::Multiply => self.latencies.multiply.0,
            Class::Divide => self.latencies.divide.0,
            Class::Load => self.latencies.load.0,
            Class::Float => self.latencies.float.0,
            _ => self.latencies.integer.0,
        }
    }
}
