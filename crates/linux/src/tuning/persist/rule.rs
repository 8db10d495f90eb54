//! The udev rules that apply a plan again when a driver has been loaded again, which resets all settings of its
//! card.
//!
//! A card is matched by its PCI address (`KERNELS` searches the parents of the interface). Its interface is
//! added by the kernel under a first name (`eth0`). udevd renames it after it has processed the rules of that
//! event and before it runs their programs; the kernel then reports the new name as `move`. So a rule with the
//! final name would not match `add`, and other renames would be missed without `move`. An interface without a
//! PCI device, such as a veth, is matched by name.
//!
//! `restart` rather than `try-restart`, so that a card also brings the plan back after a start that failed
//! without it. During boot the requests join the start that waits for the network.

use super::UNIT;
use crate::tuning::pci;
use crate::tuning::plan::{Plan, Setting};
use crate::tuning::system::System;
use std::collections::BTreeSet;

/// Writes the rules for the devices of `plan`; `None` if it has none.
pub(super) fn rules(plan: &Plan, system: &dyn System) -> Option<String> {
    let matches: BTreeSet<String> =
        plan.lines.iter().filter_map(|line| matching(&line.set, system)).collect();
    let run = format!("RUN+=\"/usr/bin/systemctl --no-block restart {UNIT}\"");
    let rules: String = matches.iter().map(|matching| format!("{matching}, {run}\n")).collect();
    let purpose = "# A driver that is loaded again has reset the settings of its card. This applies them again, and also\n\
                   # starts a unit that was stopped: to switch the plan off, remove this file too.\n";
    (!matches.is_empty()).then(|| format!("{purpose}{rules}"))
}

/// Returns the match of the udev event after which a setting has its default.
fn matching(set: &Setting, system: &dyn System) -> Option<String> {
    let card = |address: &str| format!("ACTION==\"add|move\", SUBSYSTEM==\"net\", KERNELS==\"{address}\"");
    match set {
        Setting::Interrupt { device, .. } if pci::interfaces_of(device, system).is_empty() => {
            Some(format!("ACTION==\"bind\", SUBSYSTEM==\"pci\", KERNEL==\"{device}\""))
        }
        Setting::Interrupt { device, .. } => Some(card(device)),
        _ => {
            let name = set.interface()?;
            Some(match pci::device_of(name, system) {
                Some(address) => card(&address),
                None => format!("ACTION==\"add|move\", SUBSYSTEM==\"net\", KERNEL==\"{}\"", escaped(name)),
            })
        }
    }
}

/// Escapes a name in a pattern of udev(7): replaces special characters by `?`.
fn escaped(name: &str) -> String {
    name.chars().map(|c| if "*?[]|\\\"".contains(c) || c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_pattern_and_ends_no_rule() {
        assert_eq!(escaped("a*\n\"b|c"), "a???b?c");
    }
}
