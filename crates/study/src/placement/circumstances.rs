//! What must be known around a plan: whether this is the host at all, who would undo the plan, and on
//! what its figures rest.

use super::{Scene, Unplaceable};
use warmcore_linux::Inventory;
use warmcore_linux::inventory::Managed;
use warmcore_linux::tuning::Plan;
use warmcore_linux::tuning::rivals;

/// Whether the host is seen, and not what is left of it in a container or under a mask.
pub(super) fn check(picture: &Inventory) -> Result<(), Unplaceable> {
    let limits = &picture.machine.limits;
    // Whoever is started by the system may not run on isolated cpus, and sees the host all the same.
    let missing = picture.machine.online().difference(&limits.allowed).difference(&picture.apart.isolated);
    if let Some(sign) = picture.container.first() {
        return Err(Unplaceable::Restricted(format!("this is a container ({sign})")));
    }
    if !missing.is_empty() {
        let (online, allowed) = (picture.machine.online(), &limits.allowed);
        return Err(Unplaceable::Restricted(format!("this process may use cpus {allowed} of {online} only")));
    }
    if !picture.read_only.is_empty() {
        let places = picture.read_only.join(", ");
        return Err(Unplaceable::Restricted(format!("{places} cannot be written to")));
    }
    match picture.interrupts.is_empty() {
        true => Err(Unplaceable::NoQueues),
        false if picture.interrupts.iter().all(|interrupt| interrupt.allowed.is_none()) => Err(
            Unplaceable::Hidden("/proc/irq is hidden: where interrupts may go is not to be seen".to_owned()),
        ),
        false => Ok(()),
    }
}

/// What else to know, a sentence each.
pub(super) fn notes(scene: &Scene<'_>, plan: &Plan) -> Vec<String> {
    let mut notes: Vec<String> =
        rivals::in_inventory(plan, scene.picture).iter().map(ToString::to_string).collect();
    notes.extend(unmovable(scene));
    notes.extend(unknown_whether_managed(scene));
    if scene.costs.is_ok() {
        notes.push(
            "Gains are those of the UDP/IP receive path that the profile was measured with, for packets that are \
             spread over queues and threads as interrupts and busy time are."
                .to_owned(),
        );
    }
    notes
}

fn unmovable(scene: &Scene<'_>) -> Option<String> {
    let count = scene.flows.iter().filter(|flow| !flow.is_movable()).count();
    let managed = "the kernel manages it, or it cannot be named";
    (count > 0).then(|| format!("{count} of {} queues stay where they are: {managed}.", scene.flows.len()))
}

fn unknown_whether_managed(scene: &Scene<'_>) -> Option<String> {
    let is_unknown = scene.flows.iter().any(|flow| flow.interrupt.managed == Managed::Unknown);
    is_unknown.then(|| {
        "Which interrupts the kernel manages is not to be seen here: if one of the plan refuses, `warmcore host apply` \
         takes back all."
            .to_owned()
    })
}
