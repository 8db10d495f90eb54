//! Changes where interrupts, packets and threads are processed, so that every change can be undone.
//!
//! ```text
//! Plan ──► admission ──► steps: setting, now, wanted ──► journal ──► apply ──► undo
//!          (does it fit    (identity resolved, value       (on the     (write,   (restore
//!           this machine?)  read)                           disk first) read back) in reverse)
//! ```
//!
//! | module | purpose |
//! |---|---|
//! | [`plan`] | the plan document and its checks |
//! | `document` | reads a plan that a user names |
//! | [`fingerprint`] | the kind of machine for which a plan was made |
//! | [`admission`] | checks whether a plan may be applied here |
//! | [`rivals`] | finds programs that would undo it |
//! | [`location`] | finds the file or thread of a setting, and the notation of its value |
//! | `locator` | looks for settings, and reads the interrupts of a device once |
//! | `interrupt` | finds interrupts by device and action |
//! | `thread` | finds threads, and reads and sets their masks |
//! | `parse` | the notations of values |
//! | [`step`] | one change, with the current value |
//! | `channels` | what a change of channels brings with it |
//! | `queues` | which queues a plan leaves |
//! | `interface` | which interface a step is of, and where it is now |
//! | [`namespaces`] | whether `/sys` shows the interfaces of this process |
//! | `cpuset` | the file of a control group's cpus |
//! | `spread` | the queues over which hashes spread flows |
//! | [`journal`], [`entries`] | the changes to make, and the progress |
//! | `one_line` | writes an entry so that no text in it breaks the line |
//! | [`apply`](mod@apply) | applies all changes, or none |
//! | [`undo`](mod@undo) | undoes them |
//! | `heirs` | threads and processes that were born of restricted ones, which undo frees too |
//! | `undo_report` | what that has done, and what is left |
//! | `resets` | what giving former channels back resets |
//! | [`watch`] | undoes them unless they are confirmed in time |
//! | [`persist`](mod@persist) | writes files for systemd and udev that keep a plan over reboots and reloaded drivers |
//! | `pci` | which interfaces belong to which PCI device |
//! | [`system`] | all access to files and threads, so that tests can inject faults |
//! | `brief` | shortens values in messages |
//! | `original` | checks an original value before it is written back |
//! | [`refusal`] | explains why the kernel refused a value |
//!
//! Invariant: no value is changed before a journal entry for it is on disk; whatever happens then,
//! [`undo()`](undo::undo) finds what it needs in the journal. A reboot resets all these settings, so
//! later entries need not survive a power failure, only the death of the process.

pub mod admission;
pub mod apply;
mod brief;
mod channels;
mod cpuset;
mod document;
pub mod entries;
pub mod fingerprint;
mod heirs;
mod interface;
mod interrupt;
pub mod journal;
mod journal_error;
mod locate_error;
pub mod location;
mod locator;
pub mod namespaces;
mod one_line;
mod original;
mod parse;
mod pci;
pub mod persist;
pub mod plan;
mod queues;
pub mod refusal;
mod resets;
pub mod rivals;
mod spread;
pub mod step;
pub mod system;
mod thread;
pub mod undo;
mod undo_report;
pub mod watch;

pub use admission::{AdmissionOptions, admit};
pub use apply::{ApplyError, StepOutcome, apply};
pub use document::PlanDocument;
pub use fingerprint::Fingerprint;
pub use heirs::LeftProcess;
pub use interface::{InterfaceIdentity, ReplacedInterface};
pub use interrupt::receive_queue;
pub use journal::{Journal, JournalDirectory};
pub use journal_error::JournalError;
pub use parse::Damage;
pub use plan::{Line, Plan, Promise, Setting};
pub use refusal::Refusal;
pub use step::{Proposal, Step, changes, steps};
pub use system::{Disk, System};
pub use undo::undo;
pub use undo_report::{RenamedInterface, UndoOutcome, UndoReport};
