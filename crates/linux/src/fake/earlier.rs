//! The files of a fake host some time before: its counts in proportion to its uptime.

use super::Tree;

impl Tree {
    /// Returns the files as they were `seconds` earlier, on a host that has done the same ever since it
    /// was started. Counts of cpus, interrupts, packets and threads are scaled; all other files are equal, and
    /// so is a host without an uptime.
    ///
    /// # Panics
    /// If the host was started less than `seconds` ago.
    #[must_use]
    pub fn earlier(&self, seconds: f64) -> Self {
        let uptime =
            self.files.get("proc/uptime").and_then(|text| text.split_whitespace().next()?.parse().ok());
        let Some(uptime): Option<f64> = uptime else { return self.clone() };
        assert!(uptime > seconds, "the host was started {uptime} s ago");
        let share = (uptime - seconds) / uptime;
        let mut tree = self.clone();
        for (file, text) in &mut tree.files {
            if let Some(scaled) = scaled(file, text, share) {
                *text = scaled;
            }
        }
        tree.put("proc/uptime", format!("{:.2} 0.00", uptime - seconds));
        tree
    }
}

/// `text` of `file` with its counts multiplied by `share`; `None` if it holds no counts.
fn scaled(file: &str, text: &str, share: f64) -> Option<String> {
    let decimal = |word: &str| word.parse().ok().map(|count: u64| (count as f64 * share).round().to_string());
    let hexadecimal = |word: &str| {
        let count = u32::from_str_radix(word, 16).ok()?;
        Some(format!("{:08x}", (f64::from(count) * share).round() as u32))
    };
    match file {
        "proc/interrupts" | "proc/softirqs" => {
            let columns = text.lines().next()?.split_whitespace().count();
            Some(edited(text, |place, word| decimal(word).filter(|_| (1..=columns).contains(&place))))
        }
        "proc/stat" => Some(edited(text, |place, word| decimal(word).filter(|_| place > 0))),
        "proc/net/softnet_stat" => Some(edited(text, |place, word| hexadecimal(word).filter(|_| place < 10))),
        "warmcore/received.toml" => Some(edited(text, |_, word| {
            // The second number of each pair is one of bytes: `[17, 4096],`.
            let bytes = word.trim_end_matches([',', ']']);
            Some(decimal(bytes)? + &word[bytes.len()..]).filter(|_| word.contains(']'))
        })),
        _ if file.ends_with("/statistics/rx_packets") => Some(edited(text, |_, word| decimal(word))),
        _ if file.starts_with("proc/") && file.ends_with("/stat") => {
            // The 14th and 15th fields are processor times. A name may hold spaces, so fields count from
            // its closing parenthesis, which ends the second one.
            let (name, fields) = text.rsplit_once(") ")?;
            let fields = edited(fields, |place, word| decimal(word).filter(|_| (11..13).contains(&place)));
            Some(format!("{name}) {fields}"))
        }
        _ => None,
    }
}

/// `text` with those words replaced for which `edit` returns another one. It is given the place of the word in
/// its line, and the word. Words of a line are separated by one space afterwards.
fn edited(text: &str, edit: impl Fn(usize, &str) -> Option<String>) -> String {
    let line = |line: &str| {
        let words = line.split_whitespace().enumerate();
        let words = words.map(|(place, word)| edit(place, word).unwrap_or_else(|| word.to_owned()));
        words.collect::<Vec<_>>().join(" ") + "\n"
    };
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::super::hosts;
    use crate::Probe;
    use crate::inventory::Observation;
    use warmcore_units::CpuId;

    #[test]
    fn a_fake_host_has_done_the_same_ever_since_it_was_started() {
        let tree = hosts::small_vm();
        let [earlier, later] = [tree.earlier(10.0), tree].map(Probe::fake);
        let observed = Observation::of_probes(&earlier, &later).expect("sound trees");
        let rates = observed.rates.expect("an uptime");
        assert!((rates.elapsed.secs() - 10.0).abs() < 1e-9);
        let reader = &rates.threads[0];
        assert!(reader.name == "reader" && (reader.share - 60_000.0 / 360_000.0).abs() < 0.002, "{reader:?}");
        let received = rates.cpus.iter().find(|of| of.cpu == CpuId(1)).expect("cpu 1").packets;
        // Interrupts of both queues count as packets of the fake host.
        assert!((received.0 - (99_831.0 + 74_713.0) / 3600.0).abs() < 0.1, "{received}");
        assert_eq!(rates.interrupts[0].id.actions, ["virtio2-input.0"]);
        let packets = rates.interfaces[0].received.expect("a count that has grown");
        assert!((packets.0 - 99_831.0 / 3600.0).abs() < 0.1, "{packets}");
    }
}
