//! Whether the whole host is visible, who would undo a plan, and what its figures rest on.

use super::cost_model::Performance;
use super::{Context, Unplaceable, device_queues, gain};
use std::collections::BTreeSet;
use warmcore_linux::Inventory;
use warmcore_linux::inventory::Managed;
use warmcore_linux::tuning::Plan;
use warmcore_linux::tuning::rivals;

/// Checks that the whole host is visible and writable, and not only a container's part of it.
pub(super) fn check_visible(picture: &Inventory) -> Result<(), Unplaceable> {
    let limits = &picture.machine.limits;
    // A process started by the system may not run on isolated cpus, but still sees the whole host.
    let missing =
        picture.machine.online().difference(&limits.allowed).difference(&picture.special_cpus.isolated);
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
pub(super) fn notes(context: &Context<'_>, plan: &Plan) -> Vec<String> {
    let mut notes = vec![seen(context)];
    notes.extend(rivals::in_inventory(plan, context.picture).iter().map(ToString::to_string));
    notes.extend(unmovable(context));
    if context.request.interrupt_cores.is_some() {
        notes.push("Other programs than the readers may still run on the cores for interrupts.".to_owned());
    }
    notes.extend(unknown_whether_managed(context));
    if context.costs.is_ok() {
        notes.push(
            "Gains are those of the UDP/IP receive path that the profile was measured with, for packets that are \
             spread over queues as interrupts are, and over readers as busy time is."
                .to_owned(),
        );
    }
    notes
}

/// What the plan rests on: what happened while the host was observed.
fn seen(context: &Context<'_>) -> String {
    let Some(rates) = context.rates else {
        return "The host was not watched over time: all queues and threads count alike.".to_owned();
    };
    let packets = match device_queues::rate(context.observed) {
        Some(rate) => format!("packets arrived at {rate}"),
        None => "the number of packets is not to be seen".to_owned(),
    };
    let softirq = context.softirq_load().unwrap_or_default();
    let readers: BTreeSet<&str> = context.threads.iter().map(|of| of.thread.process.as_str()).collect();
    let readers = match readers.len() {
        0 => "no process was seen to receive data".to_owned(),
        _ => format!(
            "{} used {:.2} cpus",
            readers.into_iter().collect::<Vec<_>>().join(", "),
            context.thread_load()
        ),
    };
    let seconds = rates.elapsed.secs();
    format!("Seen within {seconds:.1} s: {packets}; softirqs took {softirq:.2} cpus; {readers}.")
}

/// Warns of a plan under which the packets that arrive do not fit.
pub(super) fn overload(now: Option<&Performance>, then: Option<&Performance>) -> Option<String> {
    let [now, then] = [now?.headroom?, then?.headroom?];
    (then.mean < 1.0).then(|| {
        format!(
            "By the profile the host cannot keep up under this plan: {} times the packets that arrive would fit, {} now.",
            gain::plain(then),
            gain::plain(now)
        )
    })
}

fn unmovable(context: &Context<'_>) -> Option<String> {
    let count = context.queues.iter().filter(|queue| !queue.is_movable()).count();
    let managed = "the kernel manages it, or it cannot be named";
    (count > 0).then(|| format!("{count} of {} queues stay where they are: {managed}.", context.queues.len()))
}

fn unknown_whether_managed(context: &Context<'_>) -> Option<String> {
    let is_unknown = context.queues.iter().any(|queue| queue.interrupt.managed == Managed::Unknown);
    is_unknown.then(|| {
        "Which interrupts the kernel manages is not to be seen here: if one of the plan refuses, `warmcore host apply` \
         takes back all."
            .to_owned()
    })
}
