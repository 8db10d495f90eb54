//! A data set that somebody reads, and the grid that asked for it.

use std::fs;
use std::path::Path;
use warmcore_record::dataset::description::GRID;
use warmcore_record::dataset::{self, DataSetError, Description};
use warmcore_scenario::grid::Identity;

/// The description of the finished data set in `folder`, whose files and whose grid are as they were written.
///
/// # Errors
/// As [`dataset::inspect`], and if the document in the folder is another one.
pub fn inspect(folder: &Path) -> Result<Description, DataSetError> {
    let description = dataset::inspect(folder)?;
    let path = folder.join(GRID);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(source) => return Err(DataSetError::File { step: "read", path, source }),
    };
    let found = Identity::new(&[&text]).to_string();
    if found != description.grid {
        let problem = format!("its checksum is {found}, and the manifest says {}", description.grid);
        return Err(DataSetError::Damaged { path, problem });
    }
    Ok(description)
}
