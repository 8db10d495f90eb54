//! Changing where the kernel and its users' threads run, so that every change can be taken back.
//!
//! ```text
//! Plan ──► admission ──► steps: setting, now, wanted ──► journal ──► apply ──► undo
//!          (does it fit    (identity resolved, value       (on the     (write,   (restore
//!           this machine?)  read)                           disk first) read back) in reverse)
//! ```
//!
//! | module | what it knows |
//! |---|---|
//! | [`plan`] | what a plan says, and what no plan may say |
//! | [`fingerprint`] | for which kind of machine a plan was made |
//! | [`admission`] | whether a plan may be applied here |
//! | [`rivals`] | who would undo it |
//! | [`place`] | where a setting stands now: its file or thread, and in which notation |
//! | [`step`] | one change that is to be made, with what stands there now |
//! | [`journal`], [`entries`] | what was to be changed, and how far that got |
//! | [`apply`](mod@apply) | to make the changes, or none of them |
//! | [`undo`](mod@undo) | to take them back |
//! | [`watch`] | to take them back when nobody confirms them |
//! | [`persist`] | how systemd and udev would apply a plan at every start |
//! | [`system`] | the only door to files and threads, which a test can jam |
//! | [`refusal`] | what the kernel's refusal of a value means |
//!
//! What must always hold: no value is changed before the journal that names it is on the disk; and
//! whatever happens after that, [`undo()`](undo::undo) finds there what it needs. The kernel forgets
//! all these settings when the machine restarts, so nothing after the journal's beginning needs to
//! outlive a failure of power, only the death of a process.

pub mod admission;
pub mod apply;
pub(crate) mod bitmap;
pub mod entries;
pub mod fingerprint;
mod interrupt;
pub mod journal;
mod locate_error;
pub mod location;
pub mod persist;
pub mod plan;
pub mod refusal;
pub mod rivals;
pub mod step;
pub mod system;
mod thread;
pub mod undo;
pub mod watch;

pub use admission::{AdmissionOptions, admit};
pub use apply::{ApplyError, Outcome, apply};
pub use fingerprint::Fingerprint;
pub use journal::{Journal, JournalDirectory, JournalError};
pub use plan::{Line, Plan, Setting};
pub use refusal::Refusal;
pub use step::{Proposal, Step, changes, steps};
pub use system::{Disk, System};
pub use undo::{UndoOutcome, UndoReport, undo};
