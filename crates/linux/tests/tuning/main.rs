//! Plans on fake machines are applied completely or not at all, and undone byte for byte, whatever fails
//! and whenever the process is killed.

mod again;
mod beneath;
mod channels;
mod counts;
mod faults;
mod groups;
mod journals;
mod killed;
mod lines;
mod moved;
mod outcomes;
mod persist;
mod refusals;
mod resets;
mod scene;
mod threads;
