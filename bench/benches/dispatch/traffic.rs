//! The events that everybody gets, here and in other processes.

use crate::case::{Case, Event};
use crate::handler::Handler;
use crate::mix::Mix;
use std::path::PathBuf;
use std::sync::Arc;
use std::{fs, io};
use warmcore_bench::results;

/// Events, and the file from which other processes read their keys.
pub(crate) struct Traffic {
    pub(crate) mix: Mix,
    pub(crate) file: PathBuf,
    events: Arc<[Event]>,
}

impl Traffic {
    /// So many events.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn new(mix: Mix, count: usize) -> io::Result<Self> {
        let sequence = mix.sequence(count);
        let file = results::target().join("bench/keys");
        fs::create_dir_all(file.with_file_name(""))?;
        let bytes: Vec<u8> = sequence.iter().flat_map(|key| key.to_le_bytes()).collect();
        fs::write(&file, bytes)?;
        Ok(Self { mix, file, events: Event::numbered(mix.keys(), sequence.into_iter()) })
    }

    pub(crate) fn count(&self) -> usize {
        self.events.len()
    }

    /// The first `count` events, and what their handler needs.
    pub(crate) fn case(&self, handler: Handler, count: usize) -> Arc<Case> {
        Arc::new(Case::new(Arc::clone(&self.events), count, self.mix.keys(), handler.turns))
    }
}
