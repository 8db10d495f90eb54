//! A data set that somebody reads, and the grid that asked for it.

use std::path::Path;
use warmcore_record::dataset::description::{GRID, MANIFEST, document};
use warmcore_record::dataset::{self, DataSetError, Description};
use warmcore_scenario::grid::{Axis, Grid, Identity};

/// The description of the finished data set in `folder`, whose files and whose grid are as they were written.
///
/// # Errors
/// As [`dataset::inspect`], and if the document in the folder is another one.
pub fn inspect(folder: &Path) -> Result<Description, DataSetError> {
    let description = dataset::inspect(folder)?;
    let path = folder.join(GRID);
    let text = document(folder)?;
    let found = Identity::new(&[&text]).to_string();
    if found != description.grid {
        let problem = format!("its checksum is {found}, and the manifest says {}", description.grid);
        return Err(DataSetError::Damaged { path, problem });
    }
    let grid: Option<Grid> = str::from_utf8(&text).ok().and_then(|text| toml::from_str(text).ok());
    let Some(grid) = grid else {
        let problem = "it is no grid of this version".to_owned();
        return Err(DataSetError::Damaged { path, problem });
    };
    let other = |what: &str, there: String, said: String| {
        let problem = format!("it says {said} as the {what}, and the grid `{GRID}` has {there}");
        Err(DataSetError::Damaged { path: folder.join(MANIFEST), problem })
    };
    if grid.model.to_string() != description.model {
        return other("model", format!("`{}`", grid.model), format!("`{}`", description.model));
    }
    let varied: Vec<&str> = grid.axes.iter().flat_map(Axis::fields).collect();
    let leading: Vec<&str> =
        description.columns[..description.leading].iter().map(|head| head.name.as_str()).collect();
    if varied != leading {
        return other("varied fields", varied.join(", "), leading.join(", "));
    }
    Ok(description)
}
