//! What the literature has published, as data, each with the recipe that obtains it again.
//!
//! A source's module holds its figures (which points to simulate, how its curves are drawn from
//! them) and its claims (what the text says, how our value is derived, and a verdict computed from
//! the two). Nothing here bends the model to reach a number: a claim that does not hold is shown
//! as one that does not.
//!
//! | module | source |
//! |---|---|
//! | [`salehi_1994`] | Salehi, Kurose & Towsley, "Scheduling for Cache Affinity in Parallelized Communication Protocols", CMPSCI Technical Report 94-75, October 1994 |

pub mod salehi_1994;
