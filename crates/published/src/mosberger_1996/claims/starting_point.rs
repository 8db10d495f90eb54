//! §2 and §4.2: what the changes for RISC machines save (Tables 1 and 2), how long the path is (Table 3), and what a classifier
//! costs.

use super::derive::{AS_PRINTED, at, cases, in_percent, one, stated_in};
use crate::mosberger_1996::tables::{TABLE_1, TABLE_2, TABLE_3, TOTAL_1};
use crate::mosberger_1996::values::{CYCLES_PER_MICROSECOND, Found};
use crate::mosberger_1996::{Improvement, Measurements, Protocols, Run, Stages};
use crate::{Claim, Finding, Reading, Value};

pub(super) fn all() -> Vec<Claim<Measurements>> {
    [savings(), improvement(), stages(), classifier()].concat()
}

fn savings() -> Vec<Claim<Measurements>> {
    let of = |recipe| stated_in("2.2.5", &["table-1"], "instructions", recipe);
    vec![
        Claim {
            id: "saving-words-first",
            says: "Words in place of bytes and shorts in TCP's state save the most instructions.",
            published: "324, the most",
            derive: |m| is_rank(m, 0),
            ..of("by how many instructions the saving exceeds the greatest other saving")
        },
        Claim {
            id: "saving-refresh-second",
            says: "Refreshing messages more efficiently saves the second most.",
            published: "208, the second rank",
            derive: |m| is_rank(m, 1),
            ..of(
                "by how many instructions the saving exceeds the greatest of those below it in the table, and by how many it is exceeded by the \
                 one above. Without all of these it has no rank",
            )
        },
        Claim {
            id: "savings-order",
            says: "The savings fall in the order of the table.",
            published: "324, 208, 171, 120, 119, 90, 39",
            derive: savings_fall,
            ..of(
                "by how many instructions each saving exceeds the next one in the table; an order of seven is not derived from fewer",
            )
        },
        Claim {
            id: "savings-sizes",
            says: "The savings are those of the table.",
            published: "324, 208, 171, 120, 119, 90, 39",
            reading: AS_PRINTED,
            unit: "%",
            derive: savings_sizes,
            ..of("ours in percent of the printed figure, for each change that can be taken back")
        },
        Claim {
            id: "savings-total",
            needs: &["table-1", "table-2"],
            says: "All changes together save 1071 instructions.",
            published: "1071",
            reading: Reading::Rewritten(TOTAL_1 as f64),
            derive: |m| {
                one(improved(m).map(|it| {
                    Value::exact(it.original.instructions as f64 - it.improved.instructions as f64)
                }))
            },
            ..of("the instructions of the original less those of the improved stack")
        },
    ]
}

fn improvement() -> Vec<Claim<Measurements>> {
    let of = |unit, recipe| stated_in("2.3", &["table-2"], unit, recipe);
    const EACH: &str = "ours in percent of the printed figure, for the original and the improved stack";
    const FEWER: f64 = 100.0 * (1.0 - TABLE_2[1].instructions as f64 / TABLE_2[0].instructions as f64);
    vec![
        Claim {
            id: "improved-20",
            says: "Almost 20 % fewer instructions are executed.",
            published: "almost 20 % (18.4 % by table 2)",
            reading: Reading::Rewritten(FEWER),
            derive: |m| {
                one(improved(m).map(|it| {
                    let [original, improved] = [it.original, it.improved].map(|run| run.instructions as f64);
                    Value::exact(100.0 * (1.0 - improved / original))
                }))
            },
            ..of("%", "the instructions that the improved stack has less, in percent of the original ones")
        },
        Claim {
            id: "improved-cpi",
            says: "The number of cycles per instruction does not change significantly.",
            published: "3.26 and 3.30",
            reading: Reading::Within(5.0),
            derive: |m| {
                one(improved(m).map(|it| Value::exact(100.0 * (cpi(&it.improved) / cpi(&it.original) - 1.0))))
            },
            ..of(
                "%",
                "by how much CPI rises; up to 5 % is no significant change, as the printed ones differ by 1.2 %",
            )
        },
        Claim {
            id: "improved-lengths",
            says: "The path has 5821 instructions, then 4750.",
            published: "5821 and 4750",
            reading: AS_PRINTED,
            derive: |m| {
                before_and_after(m, |run, column| in_percent(run.instructions, TABLE_2[column].instructions))
            },
            ..of("%", EACH)
        },
        Claim {
            id: "improved-cycles",
            says: "Processing takes 18941 cycles, then 15688.",
            published: "18941 and 15688",
            reading: AS_PRINTED,
            derive: |m| {
                let cycles =
                    before_and_after(m, |run, column| in_percent(run.cycles(), TABLE_2[column].cycles));
                let note = improved(m).map_or_else(|_| String::new(), |it| parts(&it));
                cycles.map(|finding| Finding {
                    note: format!("{} {note}", finding.note).trim().to_owned(),
                    ..finding
                })
            },
            ..of("%", EACH)
        },
    ]
}

fn stages() -> Vec<Claim<Measurements>> {
    let of = |recipe| stated_in("2.3", &["table-3"], "instructions", recipe);
    vec![
        Claim {
            id: "stage-ip",
            says: "437 instructions are executed between IP input and TCP input.",
            published: "437",
            reading: Reading::Rewritten(437.0),
            derive: |m| one(staged(m).map(|it| Value::exact(it.ip_to_tcp as f64))),
            ..of("instructions from the entry of IP's layer to that of TCP's, on the way up")
        },
        Claim {
            id: "stage-tcp",
            says: "1004 instructions are executed between TCP input and the delivery of data to the layer above.",
            published: "1004",
            reading: Reading::Rewritten(1004.0),
            derive: |m| one(staged(m).map(|it| Value::exact(it.tcp_to_user as f64))),
            ..of("instructions from the entry of TCP's layer to that of its user's, on the way up")
        },
        Claim {
            id: "stages-sum",
            says: "Both together are almost as long as in DEC Unix.",
            published: "1441 and 1450",
            reading: AS_PRINTED,
            unit: "%",
            derive: |m| {
                let dec_unix: u64 = TABLE_3[2..].iter().filter_map(|row| row.dec_unix).sum();
                one(staged(m).map(|it| in_percent(it.ip_to_tcp + it.tcp_to_user, dec_unix)))
            },
            ..of("the sum of both in percent of DEC Unix's 1450")
        },
    ]
}

fn classifier() -> Vec<Claim<Measurements>> {
    vec![Claim {
        id: "classifier-cost",
        says: "The best packet classifiers add about 1 to 4 µs per packet.",
        published: "about 1 to 4 µs",
        reading: Reading::AboutBetween(1.0, 4.0),
        derive: |m| {
            let cost = |stack: Protocols| -> Found<Value> {
                let found = m.classified.iter().find(|one| one.stack == stack);
                let found = found.ok_or_else(|| format!("{stack} was not run with a classifier."))?;
                Ok(Value::exact(found.cycles as f64 / CYCLES_PER_MICROSECOND))
            };
            cases(Protocols::ALL.map(|stack| (stack.to_string(), "", cost(stack))))
        },
        ..stated_in(
            "4.2",
            &["classifier"],
            "µs",
            "the cycles that a classifier in front of build ALL adds for one packet, at 175 MHz, from cold caches",
        )
    }]
}

/// The savings of Table 1 that can be taken back, ours and printed, and a note on the others.
fn savings_found(m: &Measurements) -> (Vec<(&'static str, f64, f64)>, String) {
    let ours = |name: &str| m.savings.iter().find(|one| one.technique == name)?.instructions;
    let found =
        TABLE_1.into_iter().filter_map(|(name, printed)| Some((name, ours(name)? as f64, printed as f64)));
    let absent: Vec<&str> =
        TABLE_1.into_iter().map(|(name, _)| name).filter(|name| ours(name).is_none()).collect();
    let note = match absent.is_empty() {
        true => String::new(),
        false => format!("Cannot be taken back here: {}.", absent.join("; ")),
    };
    (found.collect(), note)
}

/// By how much a change of Table 1 saves more than all below it, and less than the one above it.
fn is_rank(m: &Measurements, rank: usize) -> Option<Finding> {
    let (found, note) = savings_found(m);
    let saved = |name: &str| found.iter().find(|(of, ..)| *of == name).map(|(_, ours, _)| *ours);
    let (name, _) = TABLE_1[rank];
    let Some(ours) = saved(name) else {
        return Some(Finding::nothing(format!("\"{name}\" cannot be taken back here.")));
    };
    let above = TABLE_1[..rank].iter().map(|(name, _)| saved(name)).collect::<Option<Vec<f64>>>();
    let Some(above) = above else {
        return Some(Finding::nothing(format!(
            "What ranks above \"{name}\" in the table is not known here. {note}"
        )));
    };
    let below = TABLE_1[rank + 1..].iter().filter_map(|(name, _)| saved(name)).reduce(f64::max);
    let Some(below) = below else {
        return Some(Finding::nothing("No other change can be taken back here."));
    };
    let above = above
        .into_iter()
        .reduce(f64::min)
        .map(|least| ("below the rank above", Ok(Value::exact(least - ours))));
    let margins = [("above those below", Ok(Value::exact(ours - below)))].into_iter().chain(above);
    noted(at(margins), note)
}

/// By how much each change of Table 1 saves more than the next one. An order that lacks some of its members is not derived.
fn savings_fall(m: &Measurements) -> Option<Finding> {
    let (found, note) = savings_found(m);
    if found.len() < TABLE_1.len() {
        let of: Vec<String> = found.iter().map(|(_, ours, _)| ours.to_string()).collect();
        let some = format!("The others save {}, from the top of the table down.", of.join(", "));
        return Some(Finding::nothing(format!("{note} {some}")));
    }
    at(found.windows(2).map(|pair| {
        let [(name, ours, _), (_, next, _)] = [pair[0], pair[1]];
        (name, Ok(Value::exact(ours - next)))
    }))
}

fn savings_sizes(m: &Measurements) -> Option<Finding> {
    let (found, note) = savings_found(m);
    let percent =
        |(name, ours, printed): (&'static str, f64, f64)| (name, Ok(Value::exact(100.0 * ours / printed)));
    noted(at(found.into_iter().map(percent)), note)
}

/// `finding` with a note; nothing, for that reason, if there are no values.
fn noted(finding: Option<Finding>, note: String) -> Option<Finding> {
    Some(match finding {
        Some(finding) => Finding { note, ..finding },
        None => Finding::nothing(note),
    })
}

fn improved(m: &Measurements) -> Found<Improvement> {
    m.improvement.ok_or_else(|| "The stack was not run without the changes of §2.2.".to_owned())
}

fn staged(m: &Measurements) -> Found<Stages> {
    m.stages.ok_or_else(|| "Instructions were not counted between layers.".to_owned())
}

fn before_and_after(m: &Measurements, value: fn(&Run, usize) -> Value) -> Option<Finding> {
    match improved(m) {
        Ok(Improvement { original, improved }) => {
            let runs = [("original", original), ("improved", improved)];
            let column =
                |(column, (name, run)): (usize, (&'static str, Run))| (name, Ok(value(&run, column)));
            at(runs.into_iter().enumerate().map(column))
        }
        Err(reason) => Some(Finding::nothing(reason)),
    }
}

/// By how much the two factors of cycles, length and cycles per instruction, differ from the printed ones.
fn parts(it: &Improvement) -> String {
    let differs = |of: fn(&Run) -> f64, printed: [f64; 2]| {
        [(it.original, printed[0]), (it.improved, printed[1])]
            .map(|(run, printed)| format!("{:+.0} %", 100.0 * (of(&run) / printed - 1.0)))
            .join(" and ")
    };
    let lengths = differs(|run| run.instructions as f64, TABLE_2.map(|row| row.instructions as f64));
    let cpis = differs(cpi, TABLE_2.map(|row| row.cpi));
    format!(
        "Cycles are instructions times CPI; against table 2, ours differ by {lengths} and by {cpis}. Where one is more and the other less, both errors cancel."
    )
}

fn cpi(run: &Run) -> f64 {
    run.memory_cpi() + run.instruction_cpi()
}
