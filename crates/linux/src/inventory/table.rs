//! Parses `/proc/interrupts`, as written by the kernel's `show_interrupts` (`kernel/irq/proc.c`): a
//! column for each online cpu, a line for each interrupt, then the lines of the architecture.
//!
//! ```text
//!            CPU0       CPU2
//!  24:          7          0  PCI-MSIX-0000:00:03.0   1-edge      eth0-rx-0
//! 131:          0         12     GICv3  27 Level     arch_timer, other
//! NMI:          0          0   Non-maskable interrupts
//! ERR:          0
//! ```

use crate::probe::Malformed;
use crate::tree::Tree;
use warmcore_units::CpuId;

pub(super) const FILE: &str = "proc/interrupts";

/// The whole file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Table {
    /// The cpus of the columns: the online ones.
    pub(super) cpus: Vec<CpuId>,
    /// Device interrupts.
    pub(super) lines: Vec<Line>,
    /// Counts that the architecture keeps in addition.
    pub(super) special: Vec<Special>,
}

/// An interrupt with a number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Line {
    pub(super) number: u32,
    /// How often each of the table's cpus handled it.
    pub(super) counts: Vec<u64>,
    /// The interrupt controller: `IO-APIC`, `PCI-MSIX-0000:00:03.0`, `GICv3`.
    pub(super) chip: String,
    /// Its number at the controller.
    pub(super) input: Option<u64>,
    /// How it is triggered or handled, in the kernel's words: `edge`, `Level`, `fasteoi`.
    pub(super) trigger: Option<String>,
    /// The names of its handlers; several if it is shared.
    pub(super) actions: Vec<String>,
}

/// A line of the architecture, such as `NMI` or `ERR`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Special {
    pub(super) label: String,
    /// A count for each of the table's cpus, or a single total.
    pub(super) counts: Vec<u64>,
    pub(super) description: String,
}

/// Reads the table of `tree`; empty if the file is hidden.
pub(super) fn read(tree: &Tree) -> Result<Table, Malformed> {
    let Some(text) = tree.text(FILE) else { return Ok(Table::default()) };
    parse(&text).map_err(|fault| tree.malformed(FILE, &fault.found, &fault.expected))
}

/// What is wrong with a line.
#[derive(Clone, PartialEq, Eq, Debug)]
struct LineFault {
    found: String,
    expected: String,
}

fn fault(found: &str, expected: impl Into<String>) -> LineFault {
    LineFault { found: found.trim().to_owned(), expected: expected.into() }
}

fn parse(text: &str) -> Result<Table, LineFault> {
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default();
    let cpus = columns(header).ok_or_else(|| fault(header, HEADER))?;
    let mut table = Table { cpus, ..Table::default() };
    for line in lines {
        let unnamed = || fault(line, "a number or a name, then `:`");
        let (label, rest) = line.split_once(':').ok_or_else(unnamed)?;
        let label = label.trim();
        if label.is_empty() {
            return Err(unnamed());
        }
        if label.bytes().all(|byte| byte.is_ascii_digit()) {
            let number = label.parse().map_err(|_| unnamed())?;
            table.lines.push(numbered(number, rest, table.cpus.len()).map_err(|()| {
                let expected = format!("{} counts, a chip and the names of actions", table.cpus.len());
                fault(line, expected)
            })?);
        } else {
            table.special.push(special(label, rest, table.cpus.len()).map_err(|()| {
                fault(line, format!("a count, or {} of them and a description", table.cpus.len()))
            })?);
        }
    }
    Ok(table)
}

/// The expected header, for error messages.
pub(super) const HEADER: &str = "a header such as `CPU0 CPU1`";

/// Parses the cpus of a header line.
pub(super) fn columns(header: &str) -> Option<Vec<CpuId>> {
    let cpu = |word: &str| word.strip_prefix("CPU")?.parse().ok().map(CpuId);
    let cpus: Option<Vec<CpuId>> = header.split_whitespace().map(cpu).collect();
    cpus.filter(|cpus| !cpus.is_empty())
}

fn numbered(number: u32, mut rest: &str, cpus: usize) -> Result<Line, ()> {
    let mut counts = Vec::with_capacity(cpus);
    for _ in 0..cpus {
        counts.push(word(&mut rest).and_then(count).ok_or(())?);
    }
    let chip = word(&mut rest).ok_or(())?.to_owned();
    let (input, trigger) = input_and_trigger(&mut rest);
    let actions = rest.split(", ").map(str::trim).filter(|action| !action.is_empty());
    Ok(Line { number, counts, chip, input, trigger, actions: actions.map(str::to_owned).collect() })
}

/// Parses `1-edge`, `27 Level`, `27`, `-event`, or nothing.
fn input_and_trigger(rest: &mut &str) -> (Option<u64>, Option<String>) {
    let mut after = *rest;
    let mut input = None;
    let mut trigger = None;
    if let Some((number, handling)) = word(&mut after).map(|word| word.split_once('-').unwrap_or((word, "")))
    {
        input = count(number);
        if input.is_some() || (number.is_empty() && !handling.is_empty()) {
            *rest = after;
            trigger = Some(handling.to_owned()).filter(|handling| !handling.is_empty());
        }
    }
    let mut after = *rest;
    if let (None, Some(level @ ("Level" | "Edge"))) = (&trigger, word(&mut after)) {
        *rest = after;
        trigger = Some(level.to_owned());
    }
    (input, trigger)
}

fn special(label: &str, mut rest: &str, cpus: usize) -> Result<Special, ()> {
    let mut counts = Vec::new();
    while counts.len() < cpus {
        let mut after = rest;
        let Some(number) = word(&mut after).and_then(count) else { break };
        counts.push(number);
        rest = after;
    }
    if counts.len() != cpus && counts.len() != 1 {
        return Err(());
    }
    Ok(Special { label: label.to_owned(), counts, description: rest.trim().to_owned() })
}

/// Parses a count, which consists of digits only.
fn count(word: &str) -> Option<u64> {
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok())?
}

/// Takes the next word off `rest`.
fn word<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let text = rest.trim_start();
    let (word, after) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
    *rest = after;
    (!word.is_empty()).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{self, interrupts};
    use proptest::prelude::*;

    fn line_of(text: &str) -> Line {
        let table = parse(&format!("CPU0 CPU7\n{text}\n")).unwrap_or_else(|fault| panic!("{fault:?}"));
        table.lines.into_iter().next().expect("an interrupt")
    }

    /// Chip, input, trigger, actions.
    type Parsed<'a> = (&'a str, Option<u64>, Option<&'a str>, Vec<&'a str>);

    fn parsed(line: &Line) -> Parsed<'_> {
        let actions = line.actions.iter().map(String::as_str).collect();
        (&line.chip, line.input, line.trigger.as_deref(), actions)
    }

    #[test]
    fn the_notation_of_every_architecture_is_parsed() {
        let cases: [(&str, Parsed<'_>); 8] = [
            (" 9:  1  2   IO-APIC   9-fasteoi   acpi", ("IO-APIC", Some(9), Some("fasteoi"), vec!["acpi"])),
            (
                "38: 0 3 PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0",
                ("PCI-MSIX-0000:00:03.0", Some(1), Some("edge"), vec!["virtio2-input.0"]),
            ),
            (
                "40: 0 3 IR-PCI-MSI 524288-edge      eth0-TxRx-0",
                ("IR-PCI-MSI", Some(524_288), Some("edge"), vec!["eth0-TxRx-0"]),
            ),
            (
                "11: 1 2 GICv3  27 Level     arch_timer",
                ("GICv3", Some(27), Some("Level"), vec!["arch_timer"]),
            ),
            (
                "16: 1 2 IO-APIC 16-fasteoi ahci, eth0",
                ("IO-APIC", Some(16), Some("fasteoi"), vec!["ahci", "eth0"]),
            ),
            ("48: 1 2 xen-dyn    -event     blkif", ("xen-dyn", None, Some("event"), vec!["blkif"])),
            (" 0: 1 2    XT-PIC      timer", ("XT-PIC", None, None, vec!["timer"])),
            ("55: 0 0      None  4", ("None", Some(4), None, vec![])),
        ];
        for (text, expected) in cases {
            let line = line_of(text);
            assert_eq!(parsed(&line), expected, "{text}");
            assert_eq!(line.counts.len(), 2);
        }
    }

    #[test]
    fn columns_are_the_online_cpus_and_lines_of_the_architecture_are_kept_separately() {
        let text = "            CPU0       CPU2       CPU10000\n\
                    NMI:          1          2          3   Non-maskable interrupts\n\
                    IPI0:         4          5 4294967295       Rescheduling interrupts\n\
                    ERR:          6\nMIS:          0\n";
        let table = parse(text).expect("a valid table");
        assert_eq!(table.cpus, [CpuId(0), CpuId(2), CpuId(10_000)]);
        let labels: Vec<(&str, usize)> =
            table.special.iter().map(|line| (line.label.as_str(), line.counts.len())).collect();
        assert_eq!(labels, [("NMI", 3), ("IPI0", 3), ("ERR", 1), ("MIS", 1)]);
        assert_eq!(table.special[1].counts[2], 4_294_967_295);
        assert_eq!(table.special[0].description, "Non-maskable interrupts");
    }

    #[test]
    fn malformed_lines_are_refused_with_file_and_line() {
        for (text, found, expected) in [
            ("CPU0 XYZ", "CPU0 XYZ", "a header such as"),
            ("CPU0 CPU1\n24: 1", "24: 1", "2 counts, a chip"),
            ("CPU0 CPU1\n24: 1 2", "24: 1 2", "2 counts, a chip"),
            ("CPU0 CPU1\n24: 1 -2 chip", "24: 1 -2 chip", "2 counts, a chip"),
            ("CPU0 CPU1 CPU2\nNMI: 1 2 text", "NMI: 1 2 text", "a count, or 3 of them"),
            ("CPU0\nnothing", "nothing", "a number or a name"),
            ("CPU0\n99999999999: 1 chip", "99999999999: 1 chip", "a number or a name"),
        ] {
            let mut tree = fake::Tree::default();
            tree.put(FILE, text);
            let error = read(&Tree::Fake(tree)).expect_err(text).to_string();
            assert!(error.starts_with(&format!("`proc/interrupts` holds `{found}`, expected")), "{error}");
            assert!(error.contains(expected), "{error}");
        }
    }

    fn action() -> impl Strategy<Value = String> {
        "[A-Za-z_][A-Za-z0-9@:._/-]{0,15}"
            .prop_filter("a kind of trigger", |name| !["Level", "Edge"].contains(&name.as_str()))
    }

    fn lines(cpus: usize) -> impl Strategy<Value = Vec<Line>> {
        let counts = prop::collection::vec(0..=u64::from(u32::MAX), cpus);
        let chip = "[A-Za-z][A-Za-z0-9:.-]{0,24}";
        let trigger = prop::sample::select(vec!["edge", "fasteoi", "Level", "Edge"]);
        let input = prop::option::of(0..1_u64 << 40);
        let actions = prop::collection::vec(action(), 0..4);
        let line = (any::<u32>(), counts, chip, input, prop::option::of(trigger), actions).prop_map(
            |(number, counts, chip, input, trigger, actions)| {
                let trigger = trigger.map(str::to_owned);
                Line { number, counts, chip, input, trigger, actions }
            },
        );
        prop::collection::vec(line, 0..20)
    }

    fn specials(cpus: usize) -> impl Strategy<Value = Vec<Special>> {
        let full = (prop::collection::vec(0..=u64::from(u32::MAX), cpus), "[A-Z][a-z -]{0,30}[a-z]");
        let total = (0..=u64::from(u32::MAX)).prop_map(|count| (vec![count], String::new()));
        let special = ("[A-Z][A-Z0-9]{2}", prop_oneof![full, total])
            .prop_map(|(label, (counts, description))| Special { label, counts, description });
        prop::collection::vec(special, 0..6)
    }

    fn table() -> impl Strategy<Value = Table> {
        let cpus = prop::collection::btree_set(0..20_000_u32, 1..12);
        cpus.prop_flat_map(|cpus| {
            let cpus: Vec<CpuId> = cpus.into_iter().map(CpuId).collect();
            (Just(cpus.clone()), lines(cpus.len()), specials(cpus.len()))
                .prop_map(|(cpus, lines, special)| Table { cpus, lines, special })
        })
    }

    proptest! {
        #[test]
        fn a_written_table_is_read_back(table in table()) {
            let mut text = interrupts::InterruptTable::new(&table.cpus);
            for line in &table.lines {
                let handling = (line.input, line.trigger.as_deref());
                text.line(line.number, &line.counts, &line.chip, handling, &line.actions);
            }
            for line in &table.special {
                text.special(&line.label, &line.counts, &line.description);
            }
            prop_assert_eq!(parse(&text.to_string()), Ok(table));
        }

        #[test]
        fn garbage_causes_no_panic(text in "(CPU0 CPU1\n)?(\\PC|\n|[0-9: ]){0,200}") {
            if let Ok(table) = parse(&text) {
                let columns = table.cpus.len();
                prop_assert!(table.lines.iter().all(|line| line.counts.len() == columns));
            }
        }
    }
}
