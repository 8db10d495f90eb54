//! Whether the packet model can be trusted.
//!
//! | module | compares the simulator with |
//! |---|---|
//! | [`oracle`] | a second implementation that is slow and plain, packet by packet |
//! | [`execution`] | the source's formulas for the execution time, without any table |
//! | [`busiest`] | what the busiest stack or processor bounds, in theory and packet by packet |
//! | [`recursion`] | the recursions of Lindley and of Kiefer and Wolfowitz, packet by packet |
//! | [`theory`] | queueing theory, by how often its intervals contain the exact value |
//! | [`invariants`] | what must hold whatever the costs are |
//! | [`steady`] | what is said of a point: saturated, near capacity, precise, or not known |
//! | [`scale`] | the same, on a thousand processors with a million streams |

mod busiest;
mod cases;
mod execution;
mod invariants;
mod listed;
mod machines;
mod oracle;
mod recursion;
mod scale;
mod steady;
mod theory;
