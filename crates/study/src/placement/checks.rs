//! Whether the whole host is visible, who would undo a plan, and what its figures rest on.

use super::change::MIN_GAIN;
use super::context::Proposal;
use super::performance::Performance;
use super::target_threads::TargetThread;
use super::{Context, Goal, Unplaceable, channels, device_queues, gain, isolation};
use std::collections::BTreeSet;
use warmcore_linux::Inventory;
use warmcore_linux::inventory::Managed;
use warmcore_linux::tuning::rivals::{self, Interference};
use warmcore_linux::tuning::{Plan, Setting};
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// Checks that the whole host is visible and writable, and not only a container's part of it.
pub(super) fn check_visible(picture: &Inventory) -> Result<(), Unplaceable> {
    if let Some(why) = picture.restriction() {
        return Err(Unplaceable::Restricted(why));
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
pub(super) fn notes(context: &Context<'_>, proposal: &Proposal, plan: &Plan) -> Vec<String> {
    let mut notes = vec![seen(context)];
    let interferences = rivals::in_inventory(plan, context.picture);
    notes.extend(interferences.iter().map(ToString::to_string));
    notes.extend(renumbered(plan, &interferences));
    notes.extend(unmovable(context));
    if context.request.interrupt_cores.is_some() {
        notes.push("Other programs than the readers may still run on the cores for interrupts.".to_owned());
    }
    notes.extend(unknown_whether_managed(context));
    notes.extend(kept_here(context, proposal));
    notes.extend(farther(context, proposal));
    notes.extend(channels::hints(context));
    notes.extend(memory_stays(context, proposal, plan));
    notes.extend(siblings(context, proposal));
    if context.costs.is_ok() {
        notes.push(
            "Gains are those of the UDP/IP receive path that the profile was measured with, for packets that are \
             spread over queues as interrupts are, and over readers as the bytes that they receive are, or as their busy time \
             is where bytes are not known."
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
        0 if !context.request.interfaces.is_empty() => "readers are not looked for with --nic".to_owned(),
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

/// Interrupts that a program with a list of exceptions will find under new numbers.
fn renumbered(plan: &Plan, interferences: &[Interference]) -> Option<String> {
    let changes_channels = plan.lines.iter().any(|line| matches!(line.set, Setting::Channels { .. }));
    let with_list = interferences.iter().find_map(|of| match of {
        Interference::Undoes(rival, _) => rival.arguments.as_ref().map(|_| rival.name),
        _ => None,
    })?;
    changes_channels.then(|| {
        format!(
            "A change of channels gives interrupts new numbers: when the plan is applied, `warmcore host show` tells the line \
             that keeps {with_list} off them."
        )
    })
}

/// Programs that their users keep on the cpus of the target threads.
fn kept_here(context: &Context<'_>, proposal: &Proposal) -> Option<String> {
    let isolates = context.request.goal == Goal::Isolation;
    let who =
        isolates.then(|| isolation::unmoved(context, &proposal.assignment)).filter(|who| !who.is_empty())?;
    Some(format!(
        "On the cores of the threads meant stays who may run nowhere else, as somebody has set it: {}.",
        who.into_iter().collect::<Vec<_>>().join(", ")
    ))
}

/// What gets farther away, where somebody asks for cores that do nothing else.
fn farther(context: &Context<'_>, proposal: &Proposal) -> Option<String> {
    let [now, then] = [&context.current, &proposal.layout];
    let parts = [
        ("taken in on another node than their card's", now.far_from_device, then.far_from_device),
        ("processed on another node than their readers'", now.crossing.remote, then.crossing.remote),
    ];
    let grow = parts.into_iter().filter(|&(_, now, then)| then > now + MIN_GAIN);
    let words = grow.map(|(what, now, then)| {
        format!("{:.0}% of the packets are {what}, {:.0}% now", then * 100.0, now * 100.0)
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| format!("Under this plan {}.", words.join(", and ")))
}

/// Memory does not move with a process that goes to another node than it ran on last.
fn memory_stays(context: &Context<'_>, proposal: &Proposal, plan: &Plan) -> Option<String> {
    let node = |cpu: CpuId| context.pool.get(cpu).map(|cpu| cpu.node);
    let leaves = |(thread, cpus): &(&TargetThread<'_>, &CpuSet)| {
        let last = node(thread.last_cpu());
        last.is_some() && !cpus.is_empty() && cpus.iter().all(|cpu| node(cpu) != last)
    };
    let threads = context.threads.iter().zip(&proposal.assignment.threads).filter(leaves);
    let moved: BTreeSet<&str> = threads.map(|(thread, _)| thread.thread.process.as_str()).collect();
    let places = plan.lines.iter().any(|line| line.set.places_threads());
    (places && !moved.is_empty()).then(|| {
        format!(
            "What {} allocated so far stays in the memory of the node that it leaves: started anew under the plan it \
             allocates near, or migratepages(8) moves what it has.",
            moved.into_iter().collect::<Vec<_>>().join(", ")
        )
    })
}

/// What the kernel's profile does not tell of readers beside their packets.
fn siblings(context: &Context<'_>, proposal: &Proposal) -> Option<String> {
    let is_measured = context.costs.as_ref().ok()?.placed()?.sibling.is_some();
    let [now, then] = [&context.current, &proposal.layout].map(|layout| layout.crossing.sibling);
    (!is_measured && now.max(then) > MIN_GAIN).then(|| {
        format!(
            "{:.1}% of the packets are processed on the other hardware thread of their reader's core, {:.1}% under the plan: \
             the profile holds no such, so they count like another core's or like the reader's own, whichever saves less.",
            now * 100.0,
            then * 100.0
        )
    })
}

fn unmovable(context: &Context<'_>) -> Option<String> {
    let planned: Vec<_> = context.queues.iter().filter(|queue| queue.is_planned).collect();
    let count = planned.iter().filter(|queue| !queue.is_movable()).count();
    let managed = "the kernel manages it, or it cannot be named";
    (count > 0).then(|| format!("{count} of {} queues stay where they are: {managed}.", planned.len()))
}

fn unknown_whether_managed(context: &Context<'_>) -> Option<String> {
    let is_unknown =
        context.queues.iter().any(|queue| queue.is_planned && queue.interrupt.managed == Managed::Unknown);
    is_unknown.then(|| {
        "Which interrupts the kernel manages is not to be seen here: if one of the plan refuses, `warmcore host apply` \
         takes back all."
            .to_owned()
    })
}
