//! Where a scenario gets the costs of processing from.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Where the machine's costs come from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ProfileSource {
    /// Measured on this machine: `"measure"`.
    Measure,
    /// The machine of Salehi 1994: `"sgi-challenge-xl"`.
    SgiChallengeXl,
    /// A profile that was measured before, by its path.
    File(PathBuf),
}

impl TryFrom<String> for ProfileSource {
    type Error = &'static str;

    fn try_from(source: String) -> Result<Self, Self::Error> {
        match source.as_str() {
            "" => Err("an empty profile: give \"measure\", \"sgi-challenge-xl\" or the path of a profile"),
            "measure" => Ok(Self::Measure),
            "sgi-challenge-xl" => Ok(Self::SgiChallengeXl),
            path => Ok(Self::File(PathBuf::from(path))),
        }
    }
}

impl From<ProfileSource> for String {
    fn from(source: ProfileSource) -> Self {
        match source {
            ProfileSource::Measure => "measure".to_owned(),
            ProfileSource::SgiChallengeXl => "sgi-challenge-xl".to_owned(),
            ProfileSource::File(path) => path.to_string_lossy().into_owned(),
        }
    }
}
