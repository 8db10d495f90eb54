//! Words about what the driver of an interface says.

use crate::visible::visible;
use warmcore_linux::Inventory;
use warmcore_linux::ethtool::{Channels, Coalescing, DriverSettings, Feature, Indirection, Rings, Threaded};
use warmcore_linux::inventory::{BusyPolling, Interface};

/// The most interfaces that get a line.
const INTERFACES: usize = 8;

/// A line for each card whose driver says something, for a terminal.
pub(super) fn lines(inventory: &Inventory) -> Vec<String> {
    let cards: Vec<&Interface> = inventory.interfaces.iter().filter(|card| card.is_physical()).collect();
    let said: Vec<(&Interface, String)> =
        cards.into_iter().filter_map(|card| Some((card, settings(card)?.join("; ")))).collect();
    let more = said.len().saturating_sub(INTERFACES);
    let mut lines: Vec<String> = said
        .iter()
        .take(INTERFACES)
        .map(|(card, settings)| format!("{}: {settings}.", visible(&card.name)))
        .collect();
    lines.extend((more > 0).then(|| format!("What {more} more drivers say is in --json.")));
    lines.extend(busy_polling(inventory.busy_polling));
    lines
}

/// What the driver of `card` says, in parts; `None` if it says nothing.
pub(super) fn settings(card: &Interface) -> Option<Vec<String>> {
    let mut said: Vec<String> = Vec::new();
    if let Some(of) = &card.driver_settings {
        said.extend(of.channels.and_then(channels));
        said.extend(of.indirection.as_ref().map(indirection));
        said.extend(of.features.ntuple.map(ntuple));
        said.extend(of.coalescing.and_then(coalescing));
        said.extend(of.rings.and_then(rings));
    }
    said.extend(napi(card));
    (!said.is_empty()).then_some(said)
}

/// `8 of 16 combined channels`.
fn channels(of: Channels) -> Option<String> {
    let kinds = [
        ("combined", of.combined, of.combined_max),
        ("receive", of.receive, of.receive_max),
        ("transmit", of.transmit, of.transmit_max),
    ];
    let kind = |(name, now, most): (&str, Option<u32>, Option<u32>)| {
        let now = now.filter(|&now| now > 0)?;
        Some(most.map_or_else(|| format!("{now} {name}"), |most| format!("{now} of {most} {name}")))
    };
    let said: Vec<String> = kinds.into_iter().filter_map(kind).collect();
    (!said.is_empty()).then(|| format!("{} channels", said.join(" and ")))
}

/// `RSS over 8 queues, evenly`.
fn indirection(of: &Indirection) -> String {
    let entries = of.entries_by_queue();
    let [least, most] = [entries.values().min(), entries.values().max()].map(|of| of.copied().unwrap_or(0));
    let queues = match entries.len() {
        1 => "1 queue".to_owned(),
        count => format!("{count} queues"),
    };
    match most - least {
        0 | 1 => format!("RSS over {queues}, evenly"),
        _ => format!("RSS over {queues}, with {least} to {most} of {} entries each", of.0.len()),
    }
}

/// Ntuple filters, which accelerated RFS needs.
fn ntuple(of: Feature) -> String {
    let said = match (of.on, of.fixed) {
        (true, _) => "on",
        (false, true) => "not to be had",
        (false, false) => "off, and so is accelerated RFS",
    };
    format!("ntuple {said}")
}

/// `interrupts 50 µs after a packet, adaptively`.
fn coalescing(of: Coalescing) -> Option<String> {
    let after = match (of.receive_usecs, of.receive_frames.filter(|&frames| frames > 0)) {
        (Some(usecs), Some(frames)) => Some(format!("interrupts after {usecs} µs or {frames} packets")),
        (Some(usecs), None) => Some(format!("interrupts after {usecs} µs")),
        (None, Some(frames)) => Some(format!("interrupts after {frames} packets")),
        (None, None) => None,
    };
    let adaptive = of.adaptive_receive.map(|on| if on { "adaptive" } else { "not adaptive" });
    match (after, adaptive) {
        (Some(after), Some(adaptive)) => Some(format!("{after}, {adaptive}")),
        (Some(after), None) => Some(after),
        (None, adaptive) => adaptive.map(|adaptive| format!("interrupts {adaptive}")),
    }
}

/// `rings of 512/512, at most 4096/4096`.
fn rings(of: Rings) -> Option<String> {
    let pair = |receive: Option<u32>, transmit: Option<u32>| {
        let word = |size: Option<u32>| size.map_or_else(|| "?".to_owned(), |size| size.to_string());
        (receive.is_some() || transmit.is_some()).then(|| format!("{}/{}", word(receive), word(transmit)))
    };
    let now = pair(of.receive, of.transmit)?;
    let most = pair(of.receive_max, of.transmit_max).map(|most| format!(", at most {most}"));
    Some(format!("rx/tx rings of {now}{}", most.unwrap_or_default()))
}

/// Where its queues are polled.
fn napi(card: &Interface) -> Option<String> {
    let own = card.driver_settings.as_ref().map(DriverSettings::threaded).unwrap_or_default();
    let is = |mode: Threaded| card.threaded_napi == Some(mode) || own.contains(&mode);
    let mode = if is(Threaded::BusyPoll) {
        "NAPI in threads that poll without pause"
    } else if is(Threaded::On) {
        "NAPI in threads"
    } else if is(Threaded::Off) {
        "NAPI in softirqs"
    } else {
        return None;
    };
    let deferred = card.defer_hard_irqs.filter(|&polls| polls > 0);
    let deferred = deferred.map(|polls| format!(", interrupts deferred by {polls} empty polls"));
    Some(format!("{mode}{}", deferred.unwrap_or_default()))
}

/// Busy polling of sockets, where it is on.
pub(super) fn busy_polling(of: BusyPolling) -> Option<String> {
    let kinds = [("reads", of.read), ("poll and select", of.poll)];
    let on = kinds.into_iter().filter_map(|(name, usecs)| {
        let usecs = usecs.filter(|&usecs| usecs > 0)?;
        Some(format!("{usecs} µs in {name}"))
    });
    let on: Vec<String> = on.collect();
    (!on.is_empty()).then(|| format!("Sockets poll their queue before they sleep: {}.", on.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_driver_says_fits_a_line() {
        let channels = |combined, max| Channels {
            combined: Some(combined),
            combined_max: Some(max),
            ..Channels::default()
        };
        assert_eq!(super::channels(channels(8, 16)).as_deref(), Some("8 of 16 combined channels"));
        assert_eq!(super::channels(Channels::default()), None);
        assert_eq!(indirection(&Indirection(vec![0, 1, 0, 1, 0])), "RSS over 2 queues, evenly");
        let uneven = Indirection(vec![0, 0, 0, 1]);
        assert_eq!(indirection(&uneven), "RSS over 2 queues, with 1 to 3 of 4 entries each");
        let adaptive =
            Coalescing { adaptive_receive: Some(true), receive_usecs: Some(50), ..Coalescing::default() };
        assert_eq!(coalescing(adaptive).as_deref(), Some("interrupts after 50 µs, adaptive"));
        let sizes = Rings { receive: Some(512), receive_max: Some(4096), ..Rings::default() };
        assert_eq!(rings(sizes).as_deref(), Some("rx/tx rings of 512/?, at most 4096/?"));
        assert_eq!(ntuple(Feature { on: false, fixed: true }), "ntuple not to be had");
        let polling = BusyPolling { poll: Some(0), read: Some(50) };
        assert_eq!(
            busy_polling(polling).as_deref(),
            Some("Sockets poll their queue before they sleep: 50 µs in reads.")
        );
    }
}
