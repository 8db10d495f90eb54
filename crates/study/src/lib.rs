//! The closed loop: measure, predict, decide, and say it.
//!
//! | module | step |
//! |---|---|
//! | [`predict`] | every combination of policies at every load, simulated |
//! | [`decide`] | which combination to use in which region of load, and how sure that is |

pub mod decide;
pub mod predict;
