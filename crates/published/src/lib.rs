//! What the literature has published, as data, each with the recipe that obtains it again.
//!
//! A source's module holds its figures (which points to simulate, how its curves are drawn from
//! them) and its claims (what the text says, how our value is derived, and a verdict computed from
//! the two). Where the source has measured rather than simulated, whoever runs its experiment anew hands
//! in what came of it. Nothing here bends the model to reach a number: a claim that does not hold is shown
//! as one that does not.
//!
//! | module | source |
//! |---|---|
//! | [`foong_2004`] | Foong, Fung & Newell, "Improved Linux SMP Scaling: User-directed Processor Affinity", Intel, 2004 |
//! | [`salehi_1994`] | Salehi, Kurose & Towsley, "Scheduling for Cache Affinity in Parallelized Communication Protocols", CMPSCI Technical Report 94-75, October 1994 |

pub mod foong_2004;
pub mod salehi_1994;
