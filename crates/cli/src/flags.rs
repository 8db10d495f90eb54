//! Fields of documents and the flags that set them, for errors in the words of who typed a flag.

use crate::misuse::misuse;
use warmcore_units::Fault;

/// The fields whose flags are not called like the field, tables being left out.
const FLAGS: [(&str, &str); 12] = [
    ("payload-bytes", "payload"),
    ("reply-bytes", "reply"),
    ("rate-per-s", "rate"),
    ("popularity", "zipf"),
    ("batch.mean", "batch"),
    ("batch.distribution", "batch-distribution"),
    ("process.trace.file", "trace"),
    ("process.trace.time-scale", "time-scale"),
    ("process", "process"),
    ("limit", "queue-limit"),
    ("scope", "queue-scope"),
    ("distribution", "service"),
];

/// The tables of a document, which flags do not name.
const TABLES: [&str; 9] =
    ["axes.", "effects.", "live.", "prediction.", "queues.", "run.", "scheduling.", "service.", "traffic."];

/// The flag that sets `field` of the document.
pub(crate) fn flag(field: &str) -> String {
    let field = field.replace('_', "-");
    let field = TABLES.into_iter().find_map(|table| field.strip_prefix(table)).unwrap_or(&field);
    let is_in =
        |table: &str| field.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let named = FLAGS.into_iter().find(|(table, _)| is_in(table)).map(|(_, flag)| flag);
    named.or_else(|| field.split('.').next()).unwrap_or(field).to_owned()
}

/// The parameter of --process that sets `field`, if that is one.
fn parameter(field: &str) -> Option<String> {
    let parameter = field.strip_prefix("traffic.process.").filter(|_| flag(field) == "process")?;
    parameter.split('.').next_back().map(|parameter| parameter.replace('_', "-"))
}

/// What is asked of the simulator beside a scenario, and so is no field of its document.
const NO_FIELDS: [&str; 5] = ["quantiles", "slower_than", "time_series", "event_packets", "p99_below"];

/// Refuses the value at `fault`, naming the flag beside the field.
pub(crate) fn refused(fault: &Fault) -> miette::Report {
    let Fault { field, found, expected } = fault;
    let flag = flag(field);
    let parameter = parameter(field).map(|parameter| format!(": `{parameter}`")).unwrap_or_default();
    let in_a_scenario = match NO_FIELDS.contains(&field.as_str()) {
        true => String::new(),
        false => format!(" (in a scenario: `{field}`)"),
    };
    let expected = with_flags(expected);
    misuse(format!("--{flag}{parameter} is {found}, expected {expected}{in_a_scenario}"))
}

/// `text`, in which each field of a scenario, in backquotes, has its flag before it.
pub(crate) fn with_flags(text: &str) -> String {
    let is_field = |word: &str| {
        TABLES.into_iter().any(|table| word.strip_prefix(table).is_some_and(|rest| !rest.contains(' ')))
    };
    let words = text.split('`').enumerate().map(|(place, word)| match place % 2 {
        0 => word.to_owned(),
        _ if is_field(word) => format!("--{} (`{word}`)", flag(word)),
        _ => format!("`{word}`"),
    });
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Arguments;
    use clap::CommandFactory;
    use warmcore_scenario::Effects;

    /// The flags of `simulate packet` and `run`.
    fn flags() -> Vec<String> {
        let mut command = Arguments::command();
        command.build();
        let simulate =
            command.find_subcommand("simulate").and_then(|simulate| simulate.find_subcommand("packet"));
        let commands = [simulate, command.find_subcommand("run")];
        let arguments = commands.into_iter().flat_map(|command| command.expect("a command").get_arguments());
        arguments.filter_map(|flag| flag.get_long().map(str::to_owned)).collect()
    }

    #[test]
    fn fields_in_a_text_have_their_flags() {
        let message = with_flags("see `run.max_packets` or `traffic.batch.mean`, not `seed` or `live`");
        assert_eq!(
            message,
            "see --max-packets (`run.max_packets`) or --batch (`traffic.batch.mean`), not `seed` or `live`"
        );
    }

    #[test]
    fn every_effect_has_its_flag() {
        let (flags, effects) = (flags(), toml::Table::try_from(Effects::NONE).expect("effects are a table"));
        for field in effects.keys() {
            assert!(flags.contains(&flag(&format!("effects.{field}"))), "{field}");
        }
    }

    /// Every field that a check may refuse has a flag, and that flag is there.
    #[test]
    fn every_field_has_its_flag() {
        let flags = flags();
        for (field, expected) in [
            ("rate_per_s", "rate"),
            ("processors", "processors"),
            ("stacks", "stacks"),
            ("profile", "profile"),
            ("scheduling.queue", "queue"),
            ("scheduling.thread_order", "thread-order"),
            ("run.precision", "precision"),
            ("run.max_packets", "max-packets"),
            ("run.packets", "packets"),
            ("run.warmup_packets", "warmup-packets"),
            ("effects.checksum_ns_per_byte", "checksum-ns-per-byte"),
            ("traffic.streams", "streams"),
            ("traffic.process.closed.think_us", "process"),
            ("service.distribution.erlang", "service"),
            ("queues.limit", "queue-limit"),
            ("queues.scope", "queue-scope"),
            ("priorities", "priorities"),
            ("speeds", "speeds"),
            ("traffic.batch.mean", "batch"),
            ("traffic.popularity.zipf", "zipf"),
            ("traffic.process.trains.cars", "process"),
            ("traffic.process.trace.time_scale", "time-scale"),
            ("traffic.process.trace.file", "trace"),
            ("traffic.sizes.0.weight", "sizes"),
            ("traffic.send_fraction", "send-fraction"),
            ("live.driver", "driver"),
            ("live.interface", "interface"),
            ("live.address", "address"),
            ("live.port", "port"),
            ("live.cpus", "cpus"),
            ("live.seconds", "seconds"),
            ("live.mode", "mode"),
            ("live.work_kib", "work-kib"),
            ("live.payload_bytes", "payload"),
            ("live.verify_udp_checksum", "verify-udp-checksum"),
            ("live.handler_ns", "handler-ns"),
            ("live.handler_bytes", "handler-bytes"),
            ("live.transport", "transport"),
            ("live.reply_bytes", "reply"),
            ("live.capacity", "capacity"),
            ("live.overload", "overload"),
            ("live.shutdown", "shutdown"),
        ] {
            assert_eq!(flag(field), expected, "{field}");
            assert!(flags.iter().any(|flag| flag == expected), "--{expected}");
        }
    }
}
