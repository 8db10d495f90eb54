//! The report on a study, for a reader who has never seen the paper.
//!
//! | module | part of the report |
//! |---|---|
//! | [`verdict`] | what to do, what it gains, how sure that is |
//! | [`headline`] | the same in one sentence |
//! | `phrases` | phrases that its sentences share |
//! | [`lead`] | the chart of the advice |
//! | [`scope`] | which receive path, machine and traffic it applies to |
//! | [`actions`] | what to do about it on Linux |
//! | [`curves`] | delay and service time against rate, capacity |
//! | [`times`] | the measured times in the layout of Table 2 of Salehi 1994, and its own times |
//! | [`reload`] | t(x) measured and modelled, and the flush curves F(x) |
//! | [`glossary`] | the terms of the field |

pub mod actions;
pub mod curves;
pub mod glossary;
pub mod headline;
pub mod lead;
mod phrases;
pub mod reload;
pub mod scope;
mod shading;
pub mod times;
pub mod verdict;

use crate::Findings;
use crate::costs::draw::BETWEEN_STUDIES;
use crate::server::advice::ServerFindings;
use crate::server::present::advised;
use warmcore_costs::profile::Kind;
use warmcore_record::{Block, Chart, Document, Manifest, ReportVerdict, Section};

/// The report on `findings`, with its provenance.
#[must_use]
pub fn document(findings: &Findings, manifest: Manifest) -> Document {
    let subject = match findings.profile.provenance.kind {
        Kind::Measured => {
            format!("{}, measured on {}", findings.profile.name, findings.profile.provenance.date)
        }
        Kind::Published => {
            format!("{}, as published: {}", findings.profile.name, findings.profile.provenance.source)
        }
    };
    Document {
        title: "On which processor should protocol work run?".to_owned(),
        subtitle: subject,
        verdict: ReportVerdict { chart: chart(findings), ..verdict::verdict(findings) },
        sections: server_section(findings)
            .into_iter()
            .chain(other_processor_counts(findings))
            .chain([
                question(),
                curves::section(findings),
                times::section(findings),
                reload::section(findings),
                limits(findings),
                glossary::section(),
            ])
            .collect(),
        manifest,
    }
}

/// The chart of the verdict: that of a server on the kernel's sockets, if its costs are known.
fn chart(findings: &Findings) -> Option<Chart> {
    match &findings.servers.advice[..] {
        [] => lead::chart(findings),
        advice => Some(advised::chart(advice)),
    }
}

/// The server, with the chart of the path in memory, which then does not lead.
fn server_section(findings: &Findings) -> Vec<Section> {
    let ServerFindings { advice, notes } = &findings.servers;
    if advice.is_empty() {
        return Vec::new();
    }
    let microscope = Section {
        heading: "Under the microscope: a receive path in memory".to_owned(),
        anchor: "microscope".to_owned(),
        intro: vec![
            "The same question without a kernel around it: a UDP/IP stack in user space receives packets that lie in memory.              Here caches are nearly all that costs, so their effect is seen most clearly. The rest of this report is about              that path."
                .to_owned(),
        ],
        blocks: lead::chart(findings).map(Block::Chart).into_iter().collect(),
        folded: false,
    };
    vec![advised::section(advice, notes), microscope]
}

/// The advice for other numbers of processors, if the user asked for some.
fn other_processor_counts(findings: &Findings) -> Option<Section> {
    let counts: Vec<String> = findings.advice.iter().skip(1).map(|a| a.processors.to_string()).collect();
    let (last, others) = counts.split_last()?;
    let counts = if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) };
    Some(Section {
        heading: format!("On {counts} processors"),
        anchor: "other-processor-counts".to_owned(),
        intro: vec![
            "The same costs on other numbers of processors, assuming that all are like those measured and as near to \
             each other."
                .to_owned(),
        ],
        blocks: vec![Block::Statements(verdict::other_processor_counts(findings))],
        folded: true,
    })
}

fn question() -> Section {
    Section {
        heading: "What this report is about".to_owned(),
        anchor: "question".to_owned(),
        intro: [
            "Receiving a network packet is short work. It touches code, tables and counters that the processor can only use from its caches. If they are \
             still there from the packet before, the work is done quickly; if other work has displaced them, \
             or another processor wrote them last, they must first be fetched, and that can cost more than \
             the work itself. So it matters on which processor a packet is processed, and on which one the \
             packets before it were.",
            "This report answers the question for one machine in three steps. First the receive path of a \
             real UDP/IP protocol stack is timed in every cache situation that scheduling can bring about. \
             Then a simulator, which knows these times, plays random packet arrivals against every \
             combination of scheduling policies and records how long packets take. Last, the combinations \
             are compared. The method is that of Salehi, Kurose and Towsley, \"Scheduling for Cache Affinity \
             in Parallelized Communication Protocols\" (1994).",
        ]
        .map(str::to_owned)
        .to_vec(),
        blocks: Vec::new(),
        folded: false,
    }
}

fn limits(findings: &Findings) -> Section {
    let mut notes: Vec<String> = [
        "Waiting for a lock that another processor holds is not modelled; moving the lock's cache line is. \
         With many processors under Locking the true delays are longer than predicted.",
        "Packets arrive at random (Poisson), one at a time, from as many equally busy streams as there are \
         processors; bursts and unequal streams change the figures, most of all where streams are wired. Whether \
         the choices hold with more streams is said in the verdict.",
        "Processors are busy with other work whenever they process no packets, and packets go first.",
        "Work that one processor does is assumed to displace its own caches, and, of a cache that several \
         processors share, every sharer's work displaces it.",
        "The packet's own data is taken as uncached (a device has just written it), and is not checksummed \
         in software unless the calibration says so.",
    ]
    .map(str::to_owned)
    .to_vec();
    notes.push(between_studies());
    notes.extend(distance(findings));
    let measured_on = findings.machine.as_ref().map(|machine| machine.usable_cores().len());
    if let Some(cores) = measured_on
        && findings.hosts.iter().any(|host| host.processors as usize > cores)
    {
        notes.push(format!(
            "Predictions for more than the {cores} cores of this machine assume that further cores are like \
             these and as near to each other. Lines that migrate between sockets take longer."
        ));
    }
    notes.extend(findings.profile.provenance.notes.iter().cloned());
    Section {
        heading: "What to keep in mind".to_owned(),
        anchor: "limits".to_owned(),
        intro: vec![
            "What the figures do not say, and under which assumptions they were obtained.".to_owned(),
        ],
        blocks: notes.into_iter().map(Block::Note).collect(),
        folded: false,
    }
}

/// What intervals include, and where the interval of rates comes from.
fn between_studies() -> String {
    format!(
        "Intervals of gains and ratios hold what this study does not know: every cost was drawn anew within its \
         own half-width, and everything predicted again. Rates \"with another study's costs at this distance\" allow besides for the \
         speed of a machine that is not the same in every study. A single study cannot measure that: a factor of \
         {:.1} either way is allowed, chosen after six studies in a row on one virtual machine. \
         Where a hypervisor moves the processors nearer or farther, as it may without notice, rates change by more.",
        BETWEEN_STUDIES.exp()
    )
}

/// What another distance between the processors would change.
fn distance(findings: &Findings) -> Option<String> {
    let handover = scope::handover(&findings.profile)?;
    Some(format!(
        "Everything here was measured with the processors so far apart that a cache line takes {handover} from one to \
         the other. Of a machine whose processors share a cache one moment and none the next, as a \
         hypervisor may place them, that is half the truth. What to expect of another distance: of ten quick studies \
         of one virtual machine (AMD EPYC, 2 processors, November 2026), six at 37 to 52 ns and four at 245 to 261 ns, \
         all but one advised the same. But nearer the machine carried three times as much (37 to 41 million packets a \
         second instead of 12 to 13) and 2.6 instead of 2.2 times as much as under the common default, and one of its \
         choices gave way to the other at 270,000 to 830,000 packets a second instead of 74,000 to 102,000. Repeat the \
         study where the program will run."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conclude;
    use std::sync::atomic::AtomicBool;
    use warmcore_costs::Profile;
    use warmcore_scenario::Study;
    use warmcore_units::Nanos;

    /// Links, selectors, columns and coordinates of a report are valid, for a complete profile and for one
    /// measured on a single processor.
    #[test]
    fn the_document_is_sound() {
        let mut one_processor = Profile::sgi_challenge_xl();
        one_processor.free_memory = None;
        for times in [&mut one_processor.times.locking, &mut one_processor.times.independent_stacks] {
            times.migrates.clear();
            times.cached.retain(|experiment, _| !experiment.migrates());
        }
        for (profile, processors) in [(Profile::sgi_challenge_xl(), vec![2, 8]), (one_processor, vec![1])] {
            let mut study = Study::quick(processors);
            study.prediction.rates_per_s = [100.0, 5_000.0].map(warmcore_units::PerSecond).to_vec();
            let findings = conclude(&study, profile, None, &|_, _| (), &AtomicBool::new(false)).unwrap();
            let document = document(&findings, Manifest::now("warmcore", "0"));
            assert_eq!(document.validate(), Ok(()));
            assert_eq!(document.charts().count(), 6);
            says_what_to_do(&document);
            shows_what_the_costs_leave_uncertain(&findings, &document);
        }
    }

    /// The half-widths of charts are wider than those of the simulation alone.
    fn shows_what_the_costs_leave_uncertain(findings: &Findings, document: &Document) {
        let host = &findings.hosts[0];
        let service = document.charts().find(|chart| chart.id == "service").expect("there is one");
        let shown = service.views[0].series[0].points[0].y.half_width.expect("it has one");
        let simulated = host.curves[0].points[0].expect("it keeps up").service.half_width;
        assert!(shown > simulated.map_or(0.0, Nanos::secs), "{shown} and {simulated:?}");
    }

    /// The first screen shows what the verdict applies to, the advised curve, at most three lines, and what
    /// to do. Other numbers of processors are folded.
    fn says_what_to_do(document: &Document) {
        let verdict = &document.verdict;
        assert!(verdict.scope.contains("not for Linux's own"), "{}", verdict.scope);
        assert!((1..=3).contains(&verdict.statements.len()) && !verdict.actions.is_empty());
        let chart = verdict.chart.as_ref().expect("something was predicted");
        assert_eq!(chart.choices[0].options, ["mean", "99th percentile"]);
        for view in &chart.views {
            let shown = view.series.iter().filter(|series| !series.hidden).count();
            let advised: Vec<_> = view.series.iter().filter(|series| series.emphasised).collect();
            assert!((1..=3).contains(&shown), "{shown} curves");
            assert!(
                !advised.is_empty()
                    && advised.iter().all(|series| !series.hidden && !series.points.is_empty())
            );
        }
        let first = |view: usize| chart.views[view].series[0].points[0].y;
        assert!(first(1).mean > first(0).mean, "the 99th percentile is above the mean");
        let folded = |section: &&Section| section.folded;
        let others: Vec<&Section> = document.sections.iter().filter(folded).collect();
        assert!(others.iter().all(|section| matches!(&section.blocks[..], [Block::Statements(_)])));
    }
}
