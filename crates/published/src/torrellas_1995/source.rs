//! Torrellas 1995 as data, and the evidence for its claims in a report.

use super::predictions::{Policy, Predictions, Quantity};
use super::tables::Workload;
use super::{charts, claims, gap_charts, gaps};
use crate::{Claim, Conclusion, Evidence, Finding, PublishedFigure, Source};
use warmcore_record::columns::ColumnsError;
use warmcore_record::{Block, Chart, Column, Columns};
use warmcore_sim::runqueue::Tally;

/// Torrellas, Tucker & Gupta 1995.
#[must_use]
pub fn source() -> Source<Predictions> {
    Source {
        name: "torrellas-1995",
        short: "Torrellas 1995",
        subject: "cache affinity in a UNIX run queue",
        citation: "Josep Torrellas, Andrew Tucker and Anoop Gupta, \"Evaluating the Performance of Cache-Affinity Scheduling in \
                   Shared-Memory Multiprocessors\", Journal of Parallel and Distributed Computing, 1995",
        story: &STORY,
        figures: FIGURES.to_vec(),
        claims: claims::all(),
        conclusions: &CONCLUSIONS,
        choices: &CHOICES,
        glossary: &GLOSSARY,
    }
}

const STORY: [&str; 2] = [
    "A process that is picked again on the processor where it ran before may find its state in that processor's cache. In 1995 \
    Torrellas, Tucker and Gupta changed the scheduler of a four-processor workstation so that it favours such processes, and \
    measured scientific programs, parallel compilations and a database with a hardware monitor.",
    "This report simulates that machine and scheduler. The applications are modelled from Tables II to IV and from the columns \
    of Table V that show the standard scheduler. What the text leaves open takes the value under which the standard scheduler comes \
    nearest to what the text says of it, by a rule that sees no other scheduler. All other columns and figures are predictions. \
    Where one differs, every open parameter has been varied over its range, with the calibration made anew, to see whether a gap of \
    the text can be the reason.",
];

const FIGURES: [PublishedFigure; 10] = [
    PublishedFigure::new(
        "table-2",
        "Table II",
        "dispatch intervals",
        "How long a process runs until the kernel inspects the run queue.",
        "",
    ),
    PublishedFigure::new(
        "table-3",
        "Table III",
        "why dispatch intervals end",
        "What ends a dispatch interval.",
        "",
    ),
    PublishedFigure::new(
        "table-4",
        "Table IV",
        "process and workload characteristics",
        "How long a process runs undisturbed, and how much it displaces meanwhile.",
        "",
    ),
    PublishedFigure::new(
        "table-5",
        "Table V",
        "execution times and misses",
        "The standard scheduler, and the changes under affinity and attached scheduling.",
        "affinity removes 7–36 % of misses and up to 10 % of time; attached scheduling slows most workloads down.",
    ),
    PublishedFigure::new(
        "1",
        "figure 1",
        "effective time slices, standard",
        "How long a process runs on a processor without another in between.",
        "slices of several dispatch intervals are rare.",
    ),
    PublishedFigure::new(
        "2",
        "figure 2",
        "effective time slices, light affinity",
        "The same under light affinity.",
        "slices are often as long as eight quanta.",
    ),
    PublishedFigure::new(
        "3",
        "figure 3",
        "CPU time under heavy affinity",
        "Whether applications get equal shares.",
        "the slopes are similar. The text does not name the two workloads.",
    ),
    PublishedFigure::new(
        "4",
        "figure 4",
        "longer and shorter quanta",
        "Execution time with quanta of 10 and 100 ms, and with affinity.",
        "10 ms are uniformly poor; 100 ms are as good as affinity where processes rarely block.",
    ),
    PublishedFigure::new(
        "5",
        "figure 5",
        "complex affinity",
        "Whether it helps to favour all processes that ran here recently.",
        "little: 0–7 %.",
    ),
    PublishedFigure::new(
        "open",
        "open parameters",
        "what the results depend on",
        "Each parameter that the text leaves open: its value, why, and what its other values would give.",
        "",
    ),
];

const CONCLUSIONS: [Conclusion; 5] = [
    Conclusion {
        text: "Affinity scheduling removes cache misses from every workload.",
        claims: &["fewer-misses", "light-misses", "matrix-light", "oracle-light"],
    },
    Conclusion {
        text: "A low level of affinity is enough: a higher one saves more misses, and hardly any time.",
        claims: &["heavy-fewer-misses", "heavy-minimal"],
    },
    Conclusion {
        text: "Even heavy affinity gives two applications of one kind equal shares of the processors, and starves nobody.",
        claims: &["fair", "no-starvation"],
    },
    Conclusion {
        text: "Attaching processes to processors is no alternative.",
        claims: &["attached-slower", "attached-idle"],
    },
    Conclusion {
        text: "Longer quanta do the same where processes rarely block, and nothing where they block often.",
        claims: &["quantum-100", "calm-similar", "oracle-affinity-better"],
    },
];

const CHOICES: [&str; 7] = [
    "Twenty-three open parameters, listed with their values and origins under \"open parameters\". Those that the standard scheduler's data \
    can tell were chosen by the calibration, one after the other, each beginning at its neutral value. Which values they may have is our choice.",
    "An attachment is inherited by what a process starts, so that a make has one processor, as IRIX's manual page runon(1) says; other \
    processes are attached in turn. The level of complex affinity is that of light affinity, which the text recommends.",
    "Priorities: cpu/2 is rounded down, and of equal priorities the longest-waiting is picked. Ties picked otherwise were not tried.",
    "A timer interrupt charges a whole tick to what runs then.",
    "The cache model has three numbers: the state that a process reuses (Table IV), its steady misses, and how many misses of others \
    displace that state, which is calibrated on the misses of Matrix + Matrix under the standard scheduler.",
    "An idle processor takes a process that wakes up; of several, any.",
    "The text says that affinity interacts with the decay so that long-running processes regain less priority than young ones, and that \
    Pmake gains by it. It does not say how; the decay here treats all alike, with three periods, fractions and caps.",
];

const GLOSSARY: [(&str, &str); 3] = [
    ("dispatch interval", "from one inspection of the run queue by a processor to the next"),
    ("effective time slice", "the time that a process runs on a processor without another in between"),
    ("reload", "the misses of a process until the state that it reuses is in the cache again"),
];

impl Evidence for Predictions {
    fn machine(&self) -> String {
        "SGI POWER Station 4D/340, four processors at 33 MHz (simulated)".to_owned()
    }

    fn lead(&self) -> Option<Chart> {
        Some(charts::lead(self))
    }

    fn blocks(&self, figure: &str) -> Vec<Block> {
        use Policy::{Complex, Light, Quantum10, Quantum100, Standard};
        match figure {
            "table-2" => charts::table_ii(self),
            "table-3" => charts::table_iii(self),
            "table-4" => charts::table_iv(self),
            "table-5" => charts::table_v(self),
            "1" => charts::slices(self, "figure-1-slices", Standard),
            "2" => charts::slices(self, "figure-2-slices", Light),
            "3" => charts::figure_3(self),
            "4" => charts::bars(self, "figure-4-times", &Workload::TABLE_V, &[Quantum10, Quantum100, Light]),
            "5" => charts::bars(self, "figure-5-times", &Workload::FIGURE_5, &[Quantum100, Light, Complex]),
            "open" => [gap_charts::chosen(self), gap_charts::sensitivity(self)].concat(),
            _ => Vec::new(),
        }
    }

    fn explain(&self, claim: &Claim<Self>, finding: &Finding) -> String {
        gaps::explain(self, claim, finding)
    }

    fn notes(&self) -> Vec<String> {
        let runs = self.runs();
        let displacing = self.replicas.estimate(|one| one.machine.displacing_misses);
        let not_varied = "What the text leaves open was not varied in this run, so that it gives no reason for what differs. A run without \
                          --quick does, of all figures or with --figure open; it takes minutes.";
        let mut notes = vec![
            format!("Each point is the mean of {runs} independent runs; the text has five experiments. Intervals show the scatter of \
                     runs, not what the model leaves out."),
            "Table IV and Table V contradict each other for Pmake (300 against 371 misses per ms) and for Mp3d (about twice); here \
             Table V decides.".to_owned(),
            format!("Each run is of a calibration of its own, to other runs: intervals hold how sure the calibration is too. Calibrated: \
                     {:.0} \u{b1} {:.0} misses displace all but 1/e of a process's state.", displacing.mean, displacing.half_width),
        ];
        notes.push(match self.gaps.tried.is_empty() {
            true => not_varied.to_owned(),
            false => "Each open parameter was varied alone. Two gaps together may reach what neither does."
                .to_owned(),
        });
        notes
    }

    /// One row for each run.
    fn results(&self) -> Result<Columns, ColumnsError> {
        let rows: Vec<(Workload, Policy, usize, &Tally)> = self
            .outcomes
            .iter()
            .flat_map(|(&(workload, policy), outcome)| {
                outcome.runs.iter().enumerate().map(move |(run, tally)| (workload, policy, run, tally))
            })
            .collect();
        let float = |name: &str, unit: &str, of: fn(&Tally) -> f64| {
            Column::floats(name, unit, rows.iter().map(|row| Some(of(row.3))))
        };
        Columns::new(vec![
            Column::texts("workload", rows.iter().map(|row| Some(row.0.name()))),
            Column::texts("scheduler", rows.iter().map(|row| Some(row.1.to_string()))),
            Column::integers("run", rows.iter().map(|row| i64::try_from(row.2).ok())),
            float("time", "s", |run| Quantity::Time.of(run)),
            float("misses", "", |run| Quantity::Misses.of(run)),
            float("idle", "", |run| run.idle),
            float("dispatches", "", |run| run.dispatches() as f64),
            float("migrations", "", |run| run.migrations() as f64),
        ])
    }
}
