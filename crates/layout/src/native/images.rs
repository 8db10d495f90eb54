//! The files that a process has in its memory, and what they name there.

use super::{NativeError, within};
use crate::program::{Marker, MarkerError, Program};
use crate::trace::{Function, Trace};
use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use warmcore_linux::StopPoint;
use warmcore_linux::stepping::{Mapping, Stepper};

/// The longest vDSO, in bytes: it has a few pages.
const LONGEST_VDSO: u64 = 1 << 20;

/// A file in memory.
#[derive(Debug)]
struct Image {
    program: Program,
    bias: u64,
    /// Where its code lies.
    code: Range<u64>,
}

/// Files that a process executes, its own first.
#[derive(Debug, Default)]
pub(super) struct Images {
    images: Vec<Image>,
    /// The files that were looked at, also those that name nothing.
    seen: HashSet<PathBuf>,
}

impl Images {
    /// Adds the files that were not there before.
    pub(super) fn refresh(&mut self, stepper: &Stepper) -> Result<(), NativeError> {
        let own = stepper.executable()?;
        let mut mappings = stepper.mappings()?;
        mappings.retain(|mapping| mapping.executable && is_image(&mapping.name));
        mappings.sort_by_key(|mapping| (mapping.name != own, mapping.start));
        for mapping in mappings {
            if self.seen.insert(mapping.name.clone()) {
                self.images.extend(load(stepper, &mapping, mapping.name == own)?);
            }
        }
        Ok(())
    }

    /// Where a marker is: in the program itself, or else in a library that has exactly this name.
    pub(super) fn place(&self, marker: &Marker, stepper: &Stepper) -> Result<StopPoint, MarkerError> {
        let place = |image: &Image| {
            let place = image.program.locate(marker)?;
            within::check(marker, &place, image.bias, stepper)?;
            Ok(place.point.moved(image.bias))
        };
        let Some((own, libraries)) = self.images.split_first() else {
            return Err(MarkerError::Malformed { text: marker.to_string() });
        };
        match place(own) {
            Err(
                error @ (MarkerError::Unknown { .. }
                | MarkerError::Stripped { .. }
                | MarkerError::OtherAddress { .. }),
            ) => {
                let named = libraries.iter().find(|image| image.program.has(marker));
                named.map_or(Err(error), place)
            }
            decided => decided,
        }
    }

    /// The functions of the program, and of the libraries that some path enters.
    pub(super) fn functions(&self, paths: &[Trace]) -> Vec<Function> {
        let executed = || paths.iter().flat_map(Trace::instructions).map(|instruction| instruction.address);
        let is_entered = |image: &Image| executed().any(|address| image.code.contains(&address));
        let entered =
            self.images.iter().enumerate().filter(|(index, image)| *index == 0 || is_entered(image));
        entered.flat_map(|(_, image)| image.program.functions(image.bias)).collect()
    }
}

fn is_image(name: &Path) -> bool {
    name.is_absolute() || is_vdso(name)
}

fn is_vdso(name: &Path) -> bool {
    name.as_os_str() == "[vdso]"
}

/// Loads the file that was mapped. A mapped file that is no library, and one that is gone, names nothing.
fn load(stepper: &Stepper, mapping: &Mapping, is_own: bool) -> Result<Option<Image>, NativeError> {
    let parsed = if is_vdso(&mapping.name) {
        let mut bytes = vec![0; (mapping.end - mapping.start).min(LONGEST_VDSO) as usize];
        Program::parse(&mapping.name.display().to_string(), stepper.read(mapping.start, &mut bytes))
    } else {
        Program::read(&mapping.name)
    };
    match parsed {
        Err(error) if is_own => Err(error.into()),
        Err(_) => Ok(None),
        Ok(program) => {
            let code = mapping.start..mapping.end;
            Ok(program.bias(mapping.offset, mapping.start).map(|bias| Image { program, bias, code }))
        }
    }
}
