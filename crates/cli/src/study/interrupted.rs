//! Going on with a study that was interrupted, or failed, once its costs were known.

use super::{PROFILE, REPORT, SCENARIO};
use crate::args::StudyArguments;
use crate::calibrate::look_at_machine;
use crate::misuse::misuse;
use crate::{documents, messages};
use miette::miette;
use std::path::PathBuf;
use warmcore_costs::Profile;
use warmcore_scenario::Study;
use warmcore_topology::Machine;

/// A folder with the costs of a study, and what it asked for, but no report, which is written last.
pub(super) struct InterruptedStudy {
    folder: PathBuf,
}

impl InterruptedStudy {
    /// The unfinished study where `arguments` say to write; `None` if there is none, or if it is not to be kept.
    pub(super) fn find(arguments: &StudyArguments) -> Option<Self> {
        let folder = &arguments.out;
        let has = |file: &str| folder.join(file).symlink_metadata().is_ok();
        let is_kept = has(PROFILE) && has(SCENARIO) && !has(REPORT) && !arguments.output.force;
        is_kept.then(|| Self { folder: folder.clone() })
    }

    /// The costs that it measured on this machine.
    pub(super) fn costs(&self, arguments: &StudyArguments) -> miette::Result<(Profile, Option<Machine>)> {
        let machine = look_at_machine(arguments.output.json)?;
        let file = self.folder.join(PROFILE);
        let profile: Profile = documents::read(&file)?;
        if profile.name != machine.name {
            return Err(misuse(format!(
                "{} is of another machine ({}): give --force to measure this one, or another place with --out",
                file.display(),
                profile.name
            )));
        }
        Ok((profile, Some(machine)))
    }

    /// Says whose costs are taken.
    pub(super) fn tell(&self) {
        let file = self.folder.join(PROFILE);
        messages::note(format_args!(
            "going on with {}, which the unfinished study measured; --force measures again",
            file.display()
        ));
    }

    /// Refuses to go on as a `study` that was asked for in another way.
    pub(super) fn refuse_others(&self, study: &Study) -> miette::Result<()> {
        if documents::read::<Study>(&self.folder.join(SCENARIO))? == *study {
            return Ok(());
        }
        Err(misuse(format!(
            "{} holds an unfinished study with other settings (see its {SCENARIO}): repeat its command to go on with \
             it, give --force to begin anew, or another place with --out",
            self.folder.display()
        )))
    }
}

/// The end of a study that was interrupted while it predicted, and how to go on.
pub(super) fn report() -> miette::Report {
    messages::print("the costs are kept: the same command goes on with them");
    miette!("interrupted")
}
