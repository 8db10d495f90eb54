//! The simulator of SMP clusters: anchors of the thesis, and coherence over the whole machine.

mod anchors;
mod bandwidth;
mod coherent;
mod programs;
mod refused;
mod tester;
