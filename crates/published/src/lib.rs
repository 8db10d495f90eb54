//! Published results as data, with the code that reproduces them.
//!
//! A *source* is a publication. All sources have the same form, are judged by one rule and are reported in
//! one layout:
//!
//! ```text
//! Source: figures, claims ─┐
//!                          ├─► Reproduction: claims with verdicts ──► page, summary
//! Evidence: what was ──────┘
//! simulated or measured
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`source`] | a source as data; what its evidence must provide; its reproduction |
//! | [`claim`] | a statement of the text, how our value is derived, and its verdict |
//! | [`reading`] | which values count as the published one |
//! | [`finding`] | the values found for a claim, with intervals and places |
//! | [`verdict`] | the rule by which claims are judged |
//! | [`page`] | the report on a source |
//! | [`summary`] | the claims in a form for other programs |
//!
//! | source | module |
//! |---|---|
//! | Salehi, Kurose & Towsley, "Scheduling for Cache Affinity in Parallelized Communication Protocols", CMPSCI Technical Report 94-75, October 1994: simulated again | [`salehi_1994`] |
//! | Foong, Fung & Newell, "Improved Linux SMP Scaling: User-directed Processor Affinity", Intel, 2004: measured again | [`foong_2004`] |
//! | Torrellas, Tucker & Gupta, "Evaluating the Performance of Cache-Affinity Scheduling in Shared-Memory Multiprocessors", 1995: simulated again | [`torrellas_1995`] |
//! | Mosberger, Peterson, Bridges & O'Malley, "Analysis of Techniques to Improve Protocol Processing Latency", University of Arizona, TR 96-03, 1996: simulated and measured again | [`mosberger_1996`] |
//! | Falsafi, "Fine-Grain Protocol Execution Mechanisms & Scheduling Policies on SMP Clusters", thesis, 1998: simulated again | [`falsafi_1998`] |
//!
//! Neither the model nor the reading of a claim is adjusted to reach a number. A claim that does not hold is
//! shown as one that does not hold.
//!
//! # How to add a source
//!
//! 1. *Evidence.* In `src/SOURCE/`, write the type that holds the results of the reproduction, and implement
//!    [`Evidence`] for it: the machine, the blocks of each figure, the notes, and the columns of
//!    `results.parquet`. Simulations run in this crate. Measurements are passed in as plain figures by the command
//!    line, since this crate has no access to a live machine. If a point takes long, give it a key and make it
//!    serialisable, so that it can be saved in a journal (`--resume`). If points are repeated, let [`Evidence::find`] evaluate the
//!    recipe for each repetition, so that recipes give plain values and intervals come from one place.
//! 2. *Data.* Write a function that returns the [`Source`]: its figures in words, its claims, its conclusions, and
//!    the choices that its text leaves open. Decide how to read a claim *before* its value is known: take the
//!    sentence, write down which values count as stated ([`Reading`]) and over which range, and say why in the
//!    recipe if the sentence is ambiguous. A recipe returns one value for each place of that range, or a single
//!    value; the rule does the rest. "Up to" is the greatest value over the range ([`Value::greatest`]), and
//!    "similar" has two sides. If a sentence names no end of its range, the recipe has none either. If another
//!    place of the source contradicts the claim, name it in `contradicts`. If the model was fitted to it, or it follows from what
//!    the model takes over, its [`Basis`] says so: it is counted apart.
//! 3. *Quick.* `--quick` produces the same places with wider intervals, not fewer places. It can then leave a
//!    claim undecided, but cannot contradict the full run ([`verdict`]).
//! 4. *Command.* Add a subcommand to `warmcore reproduce` with the common flags, produce the evidence there, and
//!    pass it to the common flow, which judges, writes the files and prints.
//! 5. *Tests.* [`Source::check`] finds ids that are not unique, claims without a figure and conclusions without a
//!    claim. `tests/third_source.rs` is an example of a source in a few lines.

mod chapters;
pub mod claim;
pub mod falsafi_1998;
pub mod finding;
pub mod foong_2004;
pub mod mosberger_1996;
pub mod page;
pub mod reading;
pub mod salehi_1994;
pub mod source;
pub mod summary;
pub mod torrellas_1995;
pub mod verdict;

pub use claim::{Basis, Claim, Concluded};
pub use finding::{Finding, Value, ValueAt};
pub use page::document;
pub use reading::Reading;
pub use source::{Conclusion, Evidence, PublishedFigure, Reproduction, Source};
pub use summary::Summary;
pub use verdict::ClaimVerdict;
