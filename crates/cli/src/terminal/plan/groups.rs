//! Lines of a plan that say the same of many queues, as one row.

use warmcore_linux::tuning::Setting;
use warmcore_study::placement::PlannedLine;

/// Lines that differ by the number of their queue only, and perhaps by their values.
pub(super) struct Group<'a> {
    lines: Vec<&'a PlannedLine>,
}

/// Groups `lines`, in the order of their first lines.
pub(super) fn groups<'a>(lines: impl Iterator<Item = &'a PlannedLine>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for line in lines {
        match groups.iter_mut().find(|group| group.takes(line)) {
            Some(group) => group.lines.push(line),
            None => groups.push(Group { lines: vec![line] }),
        }
    }
    groups
}

impl Group<'_> {
    fn takes(&self, line: &PlannedLine) -> bool {
        let first = self.lines[0];
        let alike = unnumbered(&first.set).is_some_and(|name| Some(name) == unnumbered(&line.set));
        alike && first.gain == line.gain && reason(first) == reason(line)
    }

    /// How many lines it stands for.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The setting, from the first queue to the last.
    pub(super) fn setting(&self) -> String {
        let [first, last] = self.ends().map(|line| line.set.to_string());
        match self.len() {
            1 => first,
            count => format!("{count}: {first} … {last}"),
        }
    }

    /// The value now, or those of the first and the last queue.
    pub(super) fn from(&self) -> String {
        self.value(|line| &line.from)
    }

    /// The value wanted, or those of the first and the last queue.
    pub(super) fn to(&self) -> String {
        self.value(|line| &line.to)
    }

    fn value(&self, of: fn(&PlannedLine) -> &String) -> String {
        let [first, last] = self.ends().map(of);
        let is_one = self.lines.iter().all(|line| of(line) == first);
        if is_one { first.clone() } else { format!("{first} … {last}") }
    }

    pub(super) fn reason(&self) -> &str {
        match self.len() {
            1 => &self.lines[0].reason,
            _ => reason(self.lines[0]),
        }
    }

    pub(super) fn gain(&self) -> String {
        self.lines[0].gain.to_string()
    }

    fn ends(&self) -> [&PlannedLine; 2] {
        [self.lines[0], self.lines[self.len() - 1]]
    }
}

/// The reason of a line without the cpu that it names first: `to cpu 3, a core of its own near the device`.
fn reason(line: &PlannedLine) -> &str {
    match line.reason.split_once(", ") {
        Some((cpu, why)) if cpu.starts_with("to cpu ") => why,
        _ => &line.reason,
    }
}

/// The name of a setting of a queue without the queue's number; `None` for other settings.
fn unnumbered(set: &Setting) -> Option<String> {
    match set {
        Setting::Interrupt { device, action: Some(action), .. } => {
            Some(format!("interrupt {device} {}", action.replace(|c: char| c.is_ascii_digit(), "")))
        }
        Setting::RpsCpus { interface, .. } => Some(format!("rps {interface}")),
        Setting::RpsFlows { interface, .. } => Some(format!("rfs {interface}")),
        Setting::XpsCpus { interface, .. } => Some(format!("xps {interface}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_linux::Probe;
    use warmcore_linux::fake::hosts;
    use warmcore_linux::inventory::Observation;
    use warmcore_study::placement::{Goal, Request, Target, place};

    #[test]
    fn queues_of_one_kind_are_one_row_from_the_first_to_the_last() {
        let tree = hosts::two_socket_server();
        let [earlier, later] = [tree.earlier(10.0), tree].map(Probe::fake);
        let observed = Observation::of_probes(&earlier, &later).expect("sound trees");
        let request = Request {
            target: &Target::Evident,
            interfaces: &[],
            interrupt_cores: None,
            channels: false,
            threaded_napi: false,
            pin: false,
            goal: Goal::Throughput,
            rate: None,
            costs: None,
        };
        let placement = place(&observed, &request).expect("a plan");
        let groups = groups(placement.lines.iter().filter(|line| line.changes));
        let said: Vec<String> = groups.iter().map(Group::setting).collect();
        let expected = [
            "all threads of server (2000)",
            "64: XPS cpus of eth0 tx-0 … XPS cpus of eth0 tx-63",
            "8: XPS cpus of eth1 tx-0 … XPS cpus of eth1 tx-7",
        ];
        assert_eq!(said, expected);
        assert_eq!(groups[1].to(), "0,32 … 95,127");
    }
}
