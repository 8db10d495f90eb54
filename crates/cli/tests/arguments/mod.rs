//! What a user types: names of files that are no text or lead astray, options without effect, programs
//! that are not there. Each is said at once, before anything is measured or written.

mod cluster;
mod files;
mod json;
mod messages;
mod misuse;
mod programs;
mod report;
mod unused_options;
mod words;
