//! What the literature has published, as data, each with the recipe that obtains it again.
//!
//! Every source has one form, is judged by one rule and reported in one layout:
//!
//! ```text
//! Source: figures, claims ─┐
//!                          ├─► Reproduction: claims with verdicts ──► layout, summary
//! Evidence: what was ──────┘
//! simulated or measured
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`source`] | a source as data; what its evidence must offer; the two together |
//! | [`claim`] | what the text says, its recipe, and what came of it |
//! | [`reading`] | which values count as the published one |
//! | [`finding`] | what a recipe yields: values with intervals, each at its place |
//! | [`verdict`] | the rule |
//! | [`layout`] | the report |
//! | [`summary`] | the claims for other programs |
//!
//! | source | module |
//! |---|---|
//! | Salehi, Kurose & Towsley, "Scheduling for Cache Affinity in Parallelized Communication Protocols", CMPSCI Technical Report 94-75, October 1994: simulated | [`salehi_1994`] |
//! | Foong, Fung & Newell, "Improved Linux SMP Scaling: User-directed Processor Affinity", Intel, 2004: measured anew | [`foong_2004`] |
//!
//! Nothing here bends the model or the reading to reach a number: a claim that does not hold is shown as
//! one that does not.
//!
//! # How to add a source
//!
//! 1. *Evidence.* In `src/SOURCE/`, write the type that holds what comes of doing it again, and implement
//!    [`Evidence`] for it: the machine, the blocks of each figure, the notes, and the
//!    columns of `results.parquet`. What is simulated is simulated here; what is measured is handed in by
//!    the command line as plain figures, since this room sees nothing live. Points that take long should
//!    be known by a key and be serialisable, so that a journal keeps them (`--resume`).
//! 2. *Data.* Write a function that returns the [`Source`]: its figures in words, its
//!    claims, its conclusions, the choices that its text leaves open. A claim is read *before* its value is
//!    known: take the sentence, write down which values count as it ([`Reading`]) and over
//!    which range it speaks, and say why in the recipe where it could be read otherwise. A recipe returns
//!    one value for each place of that range, or one value; the rule does the rest. "Up to" is the
//!    greatest over the range ([`Value::greatest`]), "similar" has two sides, and
//!    where a sentence names no end of its range, neither does the recipe. If another place of the source
//!    says otherwise, name it in `contradicts`.
//! 3. *Quick.* `--quick` obtains the same places with wider intervals, not fewer places: then it can leave
//!    a claim undecided, but not contradict the full run ([`verdict`]).
//! 4. *Command.* Give the source a subcommand of `warmcore reproduce` with the flags that all have, obtain
//!    the evidence there, and hand it to the one flow, which judges, writes the files and prints.
//! 5. *Tests.* [`Source::check`] finds ids that are not unique, claims without a
//!    figure and conclusions without a claim. `tests/third_source.rs` is a source in a few lines.

pub mod claim;
pub mod finding;
pub mod foong_2004;
pub mod layout;
pub mod reading;
pub mod salehi_1994;
pub mod source;
pub mod summary;
pub mod verdict;

pub use claim::{Claim, Concluded};
pub use finding::{Finding, Found, Value};
pub use layout::document;
pub use reading::Reading;
pub use source::{Conclusion, Evidence, Figure, Reproduction, Source};
pub use summary::Summary;
pub use verdict::Verdict;
