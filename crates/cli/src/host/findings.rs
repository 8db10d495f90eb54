//! Words about what is amiss on a host.

use super::mismatch::short;
use super::words::{self, percent};
use crate::terminal::counted;
use crate::visible::visible;
use warmcore_linux::Inventory;
use warmcore_study::placement::{Finding, FindingKind, Mismatch, ReaderEvidence};
use warmcore_topology::CpuSet;

/// `cpu 1`, or `cpus 0-3`.
pub(super) fn cpus(set: &CpuSet) -> String {
    let plural = if set.len() == 1 { "" } else { "s" };
    format!("cpu{plural} {}", short(set))
}

/// What is amiss, a sentence each; one that says so if nothing is.
pub(super) fn sentences(mismatch: &Mismatch, inventory: &Inventory) -> Vec<String> {
    let said: Vec<String> = mismatch.findings.iter().map(|of| sentence(of, inventory)).collect();
    if !said.is_empty() || mismatch.queues.is_empty() {
        return said;
    }
    let unknown = match mismatch.evidence {
        ReaderEvidence::None => ", as far as that can be told without a reader",
        _ => "",
    };
    vec![format!("Nothing is amiss with where packets come in{unknown}.")]
}

/// A finding in one sentence.
pub(super) fn sentence(of: &Finding, inventory: &Inventory) -> String {
    let cpus = cpus(&of.cpus);
    let on = of.interface.as_ref().map(|name| format!(" of {}", visible(name))).unwrap_or_default();
    let queues = || counted(of.count, "queue") + &on;
    let s = if of.count == 1 { "s" } else { "" };
    let better = |what: &str| match of.better.is_empty() {
        true => String::new(),
        false => format!("; {what} {}", self::cpus(&of.better)),
    };
    match of.kind {
        FindingKind::InterruptsOnIsolatedCpus => format!(
            "{} of devices go{} to {cpus}, which are isolated or tickless: each disturbs the thread that has the cpu to \
             itself.",
            counted(of.count, "interrupt"),
            if of.count == 1 { "es" } else { "" }
        ),
        FindingKind::ReadersOnOtherNode => format!(
            "{} of the packets are processed on another node than their readers': they come in on {cpus}{}.",
            percent(of.share.unwrap_or(1.0)),
            better("readers run on")
        ),
        FindingKind::QueuesFarFromCard => format!(
            "{} interrupt{s} {cpus}, on another node than the card{}.",
            queues(),
            better("its node has")
        ),
        FindingKind::QueuesOnSlowCpus => {
            format!("{} interrupt{s} E cores ({cpus}){}.", queues(), better("the P cores are"))
        }
        FindingKind::QueuesOnOneCore => format!(
            "{} share cores ({cpus}), while other cores of the node take none{}.",
            queues(),
            better("such are")
        ),
        FindingKind::ReadersOnOtherCores => format!(
            "{} of the packets are processed on another core of the node than their readers', and do not follow them \
             (RFS): `warmcore host plan` says whether they should.",
            percent(of.share.unwrap_or(1.0))
        ),
        FindingKind::SingleQueue => format!(
            "{} take{s} in all packets on {cpus}, and RPS is off{}.",
            match of.count {
                1 => format!("The only queue{on}"),
                count => format!("{count} interfaces with one queue"),
            },
            better("no packets are taken in on")
        ),
        FindingKind::OneHotQueue => hot_queue(of, inventory),
        FindingKind::Rival => rival(of, inventory),
    }
}

/// How much one queue takes, why that is bad, and what spreads it.
fn hot_queue(of: &Finding, inventory: &Inventory) -> String {
    let card = inventory.interfaces.iter().find(|card| Some(&card.name) == of.interface.as_ref());
    let (Some(card), Some(queue)) = (card, of.queue) else { return String::new() };
    let (name, count) = (visible(&card.name), card.receive.len());
    let evened = format!("`ethtool -X {name} equal {count}` makes it even");
    let table = card.driver_settings.as_ref().and_then(|settings| settings.indirection.as_ref());
    let table = match table.map(|table| (table.0.iter().filter(|&&of| of == queue).count(), table.0.len())) {
        Some((own, all)) if own * count > all + count => {
            format!("its RSS table gives that queue {own} of {all} entries: {evened}")
        }
        Some(_) => {
            "its RSS table is even, so a few connections bring most packets: more of them spread better"
                .to_owned()
        }
        None => format!(
            "either few connections bring most packets, and more of them spread better, or its RSS table is uneven: see \
             `ethtool -x {name}`; {evened}"
        ),
    };
    let others = match of.better.is_empty() {
        true => String::new(),
        false => format!(", such as {}", cpus(&of.better)),
    };
    format!(
        "One queue of {count} of {name}, rx {queue}, takes {} of the card's packets, so {} limits what the card receives; \
         {table}. RPS of that queue (`rps_cpus` of rx-{queue}) hands its packets to other cpus{others}.",
        percent(of.share.unwrap_or(1.0)),
        cpus(&of.cpus)
    )
}

fn rival(of: &Finding, inventory: &Inventory) -> String {
    let found = inventory.rivals.iter().find(|rival| Some(rival.name) == of.program.as_deref());
    let Some(rival) = found else { return String::new() };
    let cards = inventory.interfaces.iter().filter(|interface| interface.is_physical());
    let interrupts = cards.flat_map(|card| inventory.interrupts_of(card)).map(|of| of.number).collect();
    let ban = rival.ban(&interrupts).map(|ban| format!(" {ban}")).unwrap_or_default();
    words::rival(rival) + &ban
}
