//! All programs under one type, for who chooses one by name.

use super::{
    Barnes, Cholesky, Em3d, Fft, Fmm, Gauss, Image, Lu, Prepared, Program, Radix, SharedMemory, WaterSp,
    WrongResult,
};
use serde::{Deserialize, Serialize};
use warmcore_units::Fault;

/// How large an input is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// As in the thesis.
    Published,
    /// Scaled down for quick runs.
    Quick,
}

macro_rules! catalogue {
    ($($program:ident $name:literal),+ $(,)?) => {
        /// Any of the programs, with its input.
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
        #[serde(tag = "name")]
        pub enum AnyProgram {
            $(#[doc = concat!("`", $name, "`")] #[serde(rename = $name)] $program($program),)+
        }

        /// Any of the programs, laid out.
        #[derive(Debug)]
        pub enum AnyPrepared {
            $(#[doc = concat!("`", $name, "`")] $program(<$program as Program>::Prepared),)+
        }

        impl AnyProgram {
            /// The names of all programs, in order.
            pub const NAMES: &[&str] = &[$($name),+];

            /// The seed that its input is made from.
            #[must_use]
            pub const fn seed(&self) -> u64 {
                match self {
                    $(Self::$program(program) => program.seed,)+
                }
            }

            /// The program of this name with its published or quick input.
            ///
            /// # Errors
            /// If there is none of this name.
            pub fn from_name(name: &str, size: Size) -> Result<Self, Fault> {
                match (name, size) {
                    $(($name, Size::Published) => Ok(Self::$program($program::default())),
                    ($name, Size::Quick) => Ok(Self::$program($program::quick())),)+
                    _ => Err(Fault::new("program", name, format!("one of {}", Self::NAMES.join(", ")))),
                }
            }
        }

        impl Program for AnyProgram {
            type Prepared = AnyPrepared;

            fn name(&self) -> &'static str {
                match self {
                    $(Self::$program(program) => program.name(),)+
                }
            }

            fn prepare(&self, image: &mut Image, processors: u32) -> Result<AnyPrepared, Fault> {
                Ok(match self {
                    $(Self::$program(program) => AnyPrepared::$program(program.prepare(image, processors)?),)+
                })
            }
        }

        impl Prepared for AnyPrepared {
            fn run<M: SharedMemory>(&self, memory: &M) {
                match self {
                    $(Self::$program(program) => program.run(memory),)+
                }
            }

            fn check(&self, image: &Image) -> Result<(), WrongResult> {
                match self {
                    $(Self::$program(program) => program.check(image),)+
                }
            }

            fn digest(&self, image: &Image) -> u64 {
                match self {
                    $(Self::$program(program) => program.digest(image),)+
                }
            }
        }
    };
}

catalogue! {
    Barnes "barnes",
    Cholesky "cholesky",
    Em3d "em3d",
    Fft "fft",
    Fmm "fmm",
    Gauss "gauss",
    Lu "lu",
    Radix "radix",
    WaterSp "water-sp",
}
