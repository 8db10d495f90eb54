//! For what a study speaks, and for what it does not.

use crate::Findings;
use warmcore_costs::profile::Kind;

/// Which path and which machine the verdict is about.
#[must_use]
pub fn scope(findings: &Findings) -> String {
    let name = &findings.profile.name;
    let machine = match (findings.profile.provenance.kind, findings.hosts.first()) {
        (Kind::Measured, Some(host)) => {
            format!("the machine it was measured on ({name}), {}", cores(host.processors))
        }
        (Kind::Published, Some(host)) => {
            format!("the published costs of the {name}, {}", cores(host.processors))
        }
        (_, None) => name.clone(),
    };
    format!(
        "This speaks for a user-space UDP receive path in memory, not for Linux's own network stack, and for {machine}."
    )
}

fn cores(count: u32) -> String {
    if count == 1 { "1 core".to_owned() } else { format!("{count} cores") }
}
