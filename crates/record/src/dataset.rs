//! A data set: the rows of a large table as they are found, in any order, kept in a folder of Parquet files.
//!
//! ```text
//! results/
//!   _manifest.json            what it is, which files it has, whether all are there
//!   _grid.toml                the document that asked for it
//!   part-00000.parquet        rows 0 to 63
//!   _part-00001.journal       rows of part 1 that are known, until all of them are
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`row`] | a row, and the columns that rows make |
//! | [`layout`] | which row lies in which file |
//! | [`description`] | the manifest |
//! | [`inspection`] | whether files are those that the manifest says |
//! | `clearing` | removing a data set, so that another one is begun |
//! | `kept` | a row in a journal, with a checksum |
//! | [`faults`] | why a data set cannot be begun, continued or read |
//!
//! What is where follows from the document alone, so a finished data set has the same bytes whatever order rows came in,
//! and however often its writer was ended. A part is written under another name and renamed; until then each of its rows is in
//! its journal. Names begin with `_` where data tools are to leave a file alone. One process writes at a time, which holds the
//! folder's lock.

mod clearing;
pub mod description;
pub mod faults;
pub mod inspection;
mod kept;
pub mod layout;
pub mod row;

pub use description::Description;
pub use faults::DataSetError;
pub use inspection::inspect;
pub use layout::{Layout, Part};
pub use row::{Cell, Head, Kind, Row};

use crate::atomic_file::{self, Existing};
use crate::{Columns, Journal, OwnedFolder};
use description::{GRID, MANIFEST, WrittenPart};
use kept::KeptRow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What to do about what is in the folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Begin {
    /// Refuse a folder that has a data set.
    New,
    /// Continue the data set that is there; begin it if there is none.
    Resume,
    /// Remove the data set that is there, and begin anew.
    Anew,
}

/// What a data set is to hold.
pub struct Contents<'a> {
    /// What it is, without its parts.
    pub description: Description,
    /// Where its rows lie.
    pub layout: Layout,
    /// The text of the document that asks for it.
    pub grid: &'a str,
    /// The cells of a row's first columns, which are known beforehand.
    pub leading: Leading,
}

/// Gives the first cells of the row of this number.
pub type Leading = Box<dyn Fn(u64) -> Row + Send + Sync>;

/// A data set that is being written.
pub struct DataSet {
    folder: OwnedFolder,
    description: Description,
    layout: Layout,
    leading: Leading,
    state: Mutex<State>,
}

struct State {
    is_known: Vec<bool>,
    known: u64,
    written: usize,
    open: HashMap<usize, OpenPart>,
}

struct OpenPart {
    journal: Journal<KeptRow>,
    rows: BTreeMap<u32, Row>,
}

impl DataSet {
    /// Takes the folder at `path` for a data set of these `contents`.
    ///
    /// # Errors
    /// If the folder is in use, has another data set or other files, or cannot be written.
    pub fn open(path: &Path, contents: Contents<'_>, begin: Begin) -> Result<Self, DataSetError> {
        let folder = OwnedFolder::take(path)?;
        let opened = Self::opened(&folder, contents, begin);
        match opened {
            Ok((description, layout, leading, state)) => {
                let set = Self { folder, description, layout, leading, state: Mutex::new(state) };
                set.recover()?;
                Ok(set)
            }
            Err(error) => {
                folder.remove_made();
                Err(error)
            }
        }
    }

    fn opened(
        folder: &OwnedFolder,
        contents: Contents<'_>,
        begin: Begin,
    ) -> Result<(Description, Layout, Leading, State), DataSetError> {
        let Contents { mut description, layout, grid, leading } = contents;
        let path = folder.path();
        description.parts = layout.parts().iter().map(WrittenPart::planned).collect();
        let earlier = match description::read(path) {
            Err(DataSetError::Damaged { .. }) if begin == Begin::Anew => {
                clearing::clear_by_names(path)?;
                None
            }
            other => other?,
        };
        match earlier {
            None => description::refuse_other_files(path)?,
            Some(_) if begin == Begin::New => {
                return Err(DataSetError::Exists { path: path.to_owned() });
            }
            Some(earlier) if begin == Begin::Resume => {
                earlier.check(path)?;
                earlier.refuse_other(&description, path)?;
                Description::refuse_other_document(path, grid)?;
                earlier.check_written(path)?;
            }
            Some(earlier) => clearing::clear(path, &earlier)?,
        }
        remove_unfinished(path, &layout);
        // Of a finished one, this takes back that it is finished; of all others it changes nothing.
        let write = |name: &str, bytes: &[u8]| atomic_file::write(&path.join(name), bytes, Existing::Replace);
        write(MANIFEST, description.to_json()?.as_bytes())?;
        write(GRID, grid.as_bytes())?;
        let rows = usize::try_from(layout.rows()).unwrap_or(usize::MAX);
        let state = State { is_known: vec![false; rows], known: 0, written: 0, open: HashMap::new() };
        Ok((description, layout, leading, state))
    }

    /// Finds the rows that an earlier process has found.
    fn recover(&self) -> Result<(), DataSetError> {
        let mut state = self.state();
        for (number, part) in self.layout.parts().iter().enumerate() {
            let journal = self.journal_path(number);
            if self.file(part).exists() {
                // It may have been ended between the last row's file and its journal's removal.
                drop(fs::remove_file(&journal));
                part.rows.iter().for_each(|&row| state.is_known[row as usize] = true);
                state.known += part.rows.len() as u64;
                state.written += 1;
            } else if journal.exists() {
                let open = self.open_part(number)?;
                open.rows.keys().for_each(|&row| state.is_known[row as usize] = true);
                state.known += open.rows.len() as u64;
                state.open.insert(number, open);
                if self.is_full(&state, number) {
                    self.close(&mut state, number)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the row of this number. One that is known already is left as it is: a row is the same whoever finds it.
    ///
    /// # Errors
    /// If it is no row of this data set, or cannot be kept.
    pub fn add(&self, number: u64, row: Row) -> Result<(), DataSetError> {
        row.check(&self.description.columns[self.leading_columns()..])
            .map_err(|problem| DataSetError::Row { number, problem })?;
        let Some(part) = self.layout.part_of(number) else {
            let problem = format!("there are {} rows", self.layout.rows());
            return Err(DataSetError::Row { number, problem });
        };
        let mut state = self.state();
        let place = number as usize;
        if state.is_known[place] {
            return Ok(());
        }
        let open = match state.open.entry(part) {
            Entry::Occupied(open) => open.into_mut(),
            Entry::Vacant(none) => none.insert(self.open_part(part)?),
        };
        open.journal.append(&number.to_string(), &KeptRow::new(row.clone(), number)?)?;
        open.rows.insert(place as u32, row);
        state.is_known[place] = true;
        state.known += 1;
        if self.is_full(&state, part) {
            self.close(&mut state, part)?;
        }
        Ok(())
    }

    /// Whether the row of this number is known.
    #[must_use]
    pub fn knows(&self, number: u64) -> bool {
        self.state().is_known.get(number as usize).copied().unwrap_or(false)
    }

    /// How many rows are known.
    #[must_use]
    pub fn known(&self) -> u64 {
        self.state().known
    }

    /// How many parts are written, and of how many.
    #[must_use]
    pub fn written(&self) -> (usize, usize) {
        (self.state().written, self.layout.parts().len())
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Marks the data set as whole, once every row is known.
    ///
    /// # Errors
    /// If rows are missing, or the manifest cannot be written.
    pub fn finish(mut self) -> Result<Description, DataSetError> {
        let (written, parts) = self.written();
        let path = self.path().to_owned();
        if written < parts {
            return Err(DataSetError::Unfinished { path, written, parts });
        }
        for part in &mut self.description.parts {
            part.measure(&path)?;
        }
        self.description.complete = true;
        let text = self.description.to_json()?;
        atomic_file::write(&path.join(MANIFEST), text.as_bytes(), Existing::Replace)?;
        Ok(self.description)
    }

    fn leading_columns(&self) -> usize {
        self.description.leading
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, part: &Part) -> PathBuf {
        self.path().join(&part.file)
    }

    fn journal_path(&self, part: usize) -> PathBuf {
        self.path().join(journal_name(part))
    }

    fn open_part(&self, number: usize) -> Result<OpenPart, DataSetError> {
        let path = self.journal_path(number);
        let subject = format!("{}\npart {number}", self.description.subject());
        let journal: Journal<KeptRow> = Journal::resume(&path, &subject)?;
        let heads = &self.description.columns[self.leading_columns()..];
        let mut rows = BTreeMap::new();
        for &row in &self.layout.parts()[number].rows {
            if let Some(kept) = journal.known(&row.to_string()) {
                let checked = kept.checked(row.into(), heads);
                let damaged = |problem| DataSetError::Damaged { path: path.clone(), problem };
                rows.insert(row, checked.map_err(damaged)?);
            }
        }
        Ok(OpenPart { journal, rows })
    }

    fn is_full(&self, state: &State, part: usize) -> bool {
        let rows = state.open.get(&part).map_or(0, |open| open.rows.len());
        rows == self.layout.parts()[part].rows.len()
    }

    /// Writes the part of this `number`, of which every row is known, and removes its journal.
    fn close(&self, state: &mut State, number: usize) -> Result<(), DataSetError> {
        let Some(OpenPart { rows, journal }) = state.open.remove(&number) else { return Ok(()) };
        let part = &self.layout.parts()[number];
        let table = rows.into_iter().map(|(row, figures)| (self.leading)(row.into()).followed_by(figures));
        let columns = row::columns(&self.description.columns, table)?;
        let names: BTreeSet<&str> =
            self.description.columns_of_files().map(|head| head.name.as_str()).collect();
        let kept = columns.columns().iter().filter(|column| names.contains(column.name.as_str()));
        let columns = Columns::new(kept.cloned().collect())?;
        let file = self.file(part);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(|source| DataSetError::File {
                step: "create",
                path: folder.to_owned(),
                source,
            })?;
        }
        columns.write_parquet(&file, Existing::Replace, &self.description.provenance())?;
        drop(journal);
        drop(fs::remove_file(self.journal_path(number)));
        state.written += 1;
        Ok(())
    }
}

/// Removes what writers that were killed have left of files of this layout.
fn remove_unfinished(path: &Path, layout: &Layout) {
    let mut names: BTreeMap<PathBuf, BTreeSet<OsString>> = BTreeMap::new();
    let journals = (0..layout.parts().len()).map(journal_name);
    let files = layout.parts().iter().map(|part| part.file.clone()).chain(journals);
    for file in files.chain([MANIFEST.to_owned(), GRID.to_owned()]) {
        let file = path.join(file);
        if let (Some(folder), Some(name)) = (file.parent(), file.file_name()) {
            names.entry(folder.to_owned()).or_default().insert(name.to_owned());
        }
    }
    for (folder, names) in names {
        atomic_file::remove_unfinished(&folder, |name| names.contains(name));
    }
}

fn journal_name(part: usize) -> String {
    format!("_part-{part:05}.journal")
}
