//! The report: for a reader who has never seen the source.
//!
//! | module | part of it |
//! |---|---|
//! | [`verdict`] | how much of the source holds, and its main conclusions |
//! | [`claims`] | every claim: published, ours, verdict, reason |
//! | [`figures`] | a section for each figure |
//! | [`charts`] | the charts of these |
//! | [`words`] | what each figure is about, and what the source shows in it |
//! | [`limits`] | the choices that the text leaves open, and the words of the field |

pub mod charts;
pub mod claims;
pub mod figures;
pub mod limits;
pub mod verdict;
pub mod words;

use crate::salehi_1994::{Reproduction, SOURCE};
use warmcore_record::{Document, Manifest, Section};

/// The report on `reproduction`, with its provenance.
#[must_use]
pub fn document(reproduction: &Reproduction, manifest: Manifest) -> Document {
    let published = reproduction.options.is_published_machine();
    let machine = &reproduction.options.profile.name;
    let (title, subtitle) = if published {
        (
            "Scheduling for cache affinity, 1994: every claim tried again".to_owned(),
            format!("{SOURCE}. Machine: {machine}, as published."),
        )
    } else {
        (format!("The figures of 1994, redrawn for {machine}"), format!("After {SOURCE}."))
    };
    let mut sections = vec![question(published)];
    sections.extend(claims::section(reproduction));
    sections.extend(figures::sections(reproduction));
    sections.push(limits::readings(reproduction));
    sections.push(limits::glossary());
    Document { title, subtitle, verdict: verdict::verdict(reproduction), sections, manifest }
}

fn question(published: bool) -> Section {
    let story = "Receiving a network packet is short work: 57 to 284 µs on the machine of the source. How \
                 long it takes depends on what the processor finds in its caches. If another packet has \
                 just been processed there, the protocol's code and data are still there; if other work \
                 has run since, or another processor has written the lines last, they must be fetched \
                 first. So it matters on which processor a packet is processed. Salehi, Kurose and \
                 Towsley measured these times in 1994 on an eight-processor SGI Challenge XL and \
                 simulated what several ways of scheduling make of them.";
    let report = if published {
        "This report does their simulation again, from the published times (their Table 2 and section 5), \
         and sets what the text says beside what comes out. No constant was fitted to their results. \
         Where the text leaves a choice open, the choice made is listed at the end. The source's curves \
         survive only as captions, so the text is what ours is compared with."
    } else {
        "This report draws their figures for another machine, from that machine's own measured costs. \
         What the source states is about its own machine, and is not judged here; it is shown beside what \
         this machine would do."
    };
    Section {
        heading: "What this report is about".to_owned(),
        anchor: "question".to_owned(),
        intro: vec![story.to_owned(), report.to_owned()],
        blocks: Vec::new(),
        folded: false,
    }
}
