//! The programs' images, as `scripts/build-lab` makes them. They are kept, so that nothing here needs a compiler.

use super::LabError;
use crate::riscv::Image;

/// How the one source is compiled.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Form {
    /// Blocks in the order of the source, layers apart: the source's STD.
    Std,
    /// Exceptional blocks at the ends of functions, layers apart: OUT, and by cloning CLO and BAD.
    Out,
    /// As before, with the path inlined: PIN, and by cloning ALL.
    Pin,
}

impl Form {
    /// All.
    pub const ALL: [Self; 3] = [Self::Std, Self::Out, Self::Pin];

    /// Its name among the images.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Std => "std",
            Self::Out => "out",
            Self::Pin => "pin",
        }
    }

    /// The executable file.
    #[must_use]
    pub const fn executable(self) -> &'static [u8] {
        match self {
            Self::Std => include_bytes!("../../images/std.elf"),
            Self::Out => include_bytes!("../../images/out.elf"),
            Self::Pin => include_bytes!("../../images/pin.elf"),
        }
    }

    /// The program.
    ///
    /// # Errors
    /// Never, unless the images are damaged.
    pub fn image(self) -> Result<Image, LabError> {
        Ok(Image::parse(self.executable())?)
    }
}
