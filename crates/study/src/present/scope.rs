//! For what a study speaks, and for what it does not.

use crate::Findings;
use warmcore_costs::profile::Kind;

/// Which path and which machine the verdict is about.
#[must_use]
pub fn scope(findings: &Findings) -> String {
    let name = &findings.profile.name;
    let count = findings.hosts.first().map_or_else(String::new, |host| cores(host.processors));
    let machine = match findings.profile.provenance.kind {
        Kind::Measured => format!("{count} of the machine it was measured on ({name})"),
        Kind::Published => format!("{count} with the costs published for the {name}"),
    };
    format!(
        "This speaks for a user-space UDP receive path in memory, not for Linux's own network stack, for {machine}, and \
         for as many equally busy streams as cores: with more streams the choice may be another."
    )
}

fn cores(count: u32) -> String {
    if count == 1 { "1 core".to_owned() } else { format!("{count} cores") }
}
