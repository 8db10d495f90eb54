//! Tests of the packet model.
//!
//! | module | compares the simulator with |
//! |---|---|
//! | [`oracle`] | a second, slow and simple implementation, packet by packet |
//! | [`execution`] | the formulas of Salehi 1994 for the execution time, without tables |
//! | [`busiest`] | the bound set by the busiest stack or processor, in theory and packet by packet |
//! | [`recursion`] | the recursions of Lindley and of Kiefer and Wolfowitz, packet by packet |
//! | [`theory`] | queueing theory: how often intervals contain the exact value |
//! | [`invariants`] | properties that hold whatever the costs are |
//! | [`extensions`] | queueing theory: service times that vary, limits, priorities, closed loops, speeds |
//! | [`own`] | models of one's own, through the front door |
//! | [`own_capacity`] | what models of one's own keep up with, as the named ones and in theory |
//! | [`limit`] | the highest rate within a limit of the delay, in theory |
//! | [`observed`] | what is observed besides: quantiles, streams, time series, events |
//! | [`settled`] | the event queue, packet by packet, of hosts that need none |
//! | [`steady`] | the verdict on a point: saturated, near capacity, precise, or not known |
//! | [`scale`] | the same, on a thousand processors with a million streams |

mod busiest;
mod cases;
mod execution;
mod extensions;
mod invariants;
mod limit;
mod listed;
mod machines;
mod observed;
mod oracle;
mod own;
mod own_capacity;
mod recursion;
mod scale;
mod settled;
mod steady;
mod theory;
