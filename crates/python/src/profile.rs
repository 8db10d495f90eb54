//! Machines' profiles as documents.

use crate::failure::{Class, Complaint, Failure};
use pyo3::prelude::*;
use std::path::PathBuf;
use warmcore_costs::Profile;
use warmcore_scenario::ProfileSource;
use warmcore_scenario::document::{self, DocumentError};

/// The JSON of the profile in the file at `path`; without one, of the machine of Salehi 1994.
#[pyfunction]
#[pyo3(signature = (path))]
pub(crate) fn profile(path: Option<PathBuf>) -> PyResult<String> {
    let profile =
        path.map_or_else(|| Ok(Profile::sgi_challenge_xl()), |path| document::read(&path).map_err(unfit))?;
    Ok(to_json(&profile)?)
}

/// The TOML of the profile in a JSON `document`.
#[pyfunction]
pub(crate) fn profile_toml(document: &str) -> PyResult<String> {
    let profile: Profile = serde_json::from_str(document)
        .map_err(|error| Failure::plain(Class::Profile, format!("not a profile: {error}")))?;
    profile.check().map_err(|fault| Failure::Unusable(Class::Profile, fault.into()))?;
    Ok(toml::to_string(&profile).map_err(|error| Failure::Broken(error.to_string()))?)
}

/// The costs in `text`, or those that a checked scenario names as `source`.
pub(crate) fn chosen(source: &ProfileSource, text: Option<&str>) -> Result<Profile, Failure> {
    match (text, source) {
        (Some(text), _) => parsed(text),
        (None, ProfileSource::File(path)) => document::read(path).map_err(unfit),
        (None, ProfileSource::SgiChallengeXl) => Ok(Profile::sgi_challenge_xl()),
        (None, ProfileSource::Measure) => Err(Failure::plain(
            Class::Profile,
            "`profile` is \"measure\": `warmcore.calibrate()` measures one",
        )),
    }
}

/// Names the `costs` as the `source` of a scenario if they were given as `text` instead of those it names.
pub(crate) fn named_by(source: &mut ProfileSource, costs: &Profile, text: Option<&str>) {
    if text.is_some() {
        *source = ProfileSource::File(costs.name.clone().into());
    }
}

/// The profile in a TOML `text`.
pub(crate) fn parsed(text: &str) -> Result<Profile, Failure> {
    document::parse(text, "profile".as_ref()).map_err(unfit)
}

/// The JSON of `profile`.
pub(crate) fn to_json(profile: &Profile) -> Result<String, Failure> {
    serde_json::to_string(profile).map_err(|error| Failure::Broken(error.to_string()))
}

fn unfit(error: DocumentError) -> Failure {
    Failure::Unusable(Class::Profile, Complaint::from(error))
}
