//! The profile that a simulation uses: the one that is named, else a measured one in this folder, else that of
//! Salehi 1994.

use crate::args::packet::ScenarioArguments;
use crate::{documents, messages};
use miette::WrapErr;
use std::path::Path;
use warmcore_costs::Profile;
use warmcore_costs::profile::Kind;
use warmcore_scenario::{PacketScenario, ProfileSource};

/// The files that `calibrate` and `study` leave a measured profile in, by default.
const MEASURED: [&str; 2] = ["profile.toml", "study/profile.toml"];

/// Who chose a profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Chosen {
    /// A flag or a document names it.
    Named,
    /// It was found where a measurement leaves it.
    Found,
    /// It is the default: nothing was named, and nothing found.
    Default,
}

/// A profile and who chose it.
pub(crate) struct ChosenProfile {
    pub(crate) profile: Profile,
    chosen: Chosen,
    source: ProfileSource,
}

impl Chosen {
    /// Puts a profile that was measured here into `scenario` if `arguments` name none.
    pub(crate) fn new(scenario: &mut PacketScenario, arguments: &ScenarioArguments) -> Self {
        if arguments.host.profile.is_some() || documents::names(arguments.document.as_deref(), "profile") {
            return Self::Named;
        }
        // Also if it cannot be read: the error then says why.
        match MEASURED.into_iter().find(|file| Path::new(file).symlink_metadata().is_ok()) {
            Some(file) => {
                scenario.profile = ProfileSource::File(file.into());
                Self::Found
            }
            None => Self::Default,
        }
    }

    /// As a word for programs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Named => "named",
            Self::Found => "found",
            Self::Default => "default",
        }
    }
}

impl ChosenProfile {
    /// Reads the profile of a checked `scenario`.
    pub(crate) fn read(scenario: &PacketScenario, chosen: Chosen) -> miette::Result<Self> {
        let profile = documents::profile(&scenario.profile);
        let profile = match chosen {
            Chosen::Found => {
                profile.wrap_err("no --profile is given, and the one found here cannot be used")?
            }
            Chosen::Named | Chosen::Default => profile?,
        };
        let costs = Self { profile, chosen, source: scenario.profile.clone() };
        messages::detail(costs.in_words());
        Ok(costs)
    }

    /// Where the costs come from, in a sentence or two.
    pub(crate) fn in_words(&self) -> String {
        let Profile { name, provenance, .. } = &self.profile;
        let verb = match provenance.kind {
            Kind::Measured => "measured",
            Kind::Published => "published",
        };
        let machine = format!("{name}, {verb} {}", provenance.date);
        match (&self.source, self.chosen) {
            (ProfileSource::File(file), Chosen::Found) => {
                format!("Costs: {}, found here ({machine}); --profile takes another.", file.display())
            }
            (ProfileSource::File(file), _) => format!("Costs: {} ({machine}).", file.display()),
            (_, Chosen::Default) => format!(
                "Costs: those of another machine ({machine}), as no --profile is given and neither {} nor {} is here. \
                 `warmcore calibrate` measures this one.",
                MEASURED[0], MEASURED[1]
            ),
            _ => format!("Costs: {machine}."),
        }
    }

    /// Who chose them, as a word for programs.
    pub(crate) const fn chosen(&self) -> &'static str {
        self.chosen.name()
    }
}
