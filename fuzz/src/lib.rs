//! What the fuzz targets share: how a document or frame is fed to its readers, and what must hold afterwards.
//!
//! `make fuzz` runs every target for a minute, and `FUZZ_SECONDS=3600 scripts/fuzz host_plan` this one for an hour,
//! with a nightly toolchain and `cargo fuzz`.
//!
//! The targets of plans and journals begin with real documents, which they write themselves. Those of frames and trees
//! need none: zeros are a valid input of theirs.

pub mod frames;
pub mod host;
