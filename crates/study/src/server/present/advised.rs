//! Which way to share a port to use at which rate, in words and pictures.

use super::charts::{CPU, DELAY, Line};
use super::in_words;
use crate::server::advice::{RateAdvice, ServerAdvice, ServerFindings, Verified};
use crate::server::figures::ServerFigures;
use warmcore_costs::server::UserFile;
use warmcore_record::chart::Style;
use warmcore_record::document::{Confidence, ConfidenceLevel, KeyFigure, ReportVerdict, Statement};
use warmcore_record::table::{Cell, Row};
use warmcore_record::{Block, Chart, Section, Table};
use warmcore_scenario::ServerPolicy;
use warmcore_units::{Estimate, Nanos};

/// The answer in a sentence or two.
#[must_use]
pub fn headline(advice: &ServerAdvice) -> String {
    let Some(at) = advice.spoken() else {
        return "No way to share a port keeps up with any of the rates that were predicted.".to_owned();
    };
    let Some(cheapest) = &at.cheapest else { return "No policy keeps up.".to_owned() };
    let mut text = match cheapest.most() {
        Some((other, saving)) if !cheapest.equals().any(|equal| equal == other) => format!(
            "At {} requests a second, {} takes {} less processor time than {}{}.",
            rounded(at.rate.0),
            in_words(cheapest.policy),
            share(saving),
            in_words(other),
            advice
                .verified
                .map_or_else(String::new, |verified| format!("; run here, {} less", share(verified.saving)))
        ),
        _ => format!(
            "At {} requests a second, all ways to share a port cost the same, as far as the costs are known.",
            rounded(at.rate.0)
        ),
    };
    let low = advice.rates.first().and_then(|at| at.cheapest.as_ref());
    if let Some(low) = low.filter(|low| low.policy != cheapest.policy)
        && !low.equals().any(|equal| equal == cheapest.policy)
        && let Some(last) = last_of(advice, low.policy)
    {
        text += &format!(" Up to {}, use {}.", rounded(last), in_words(low.policy));
    }
    if let Some((policy, figures)) = quickest(at, cheapest.policy) {
        text += &format!(
            " Requests wait less with {}: {} ± {} on average.",
            in_words(policy),
            figures.delay.mean,
            Nanos(figures.delay.half())
        );
    }
    text
}

/// The policy with the shortest mean delay, if it is shorter than that of `cheapest` beyond what both are uncertain by.
fn quickest(at: &RateAdvice, cheapest: ServerPolicy) -> Option<(ServerPolicy, ServerFigures)> {
    let delay = |figures: &ServerFigures| figures.delay.mean.0;
    let (policy, figures) =
        *at.figures.iter().min_by(|one, other| delay(&one.1).total_cmp(&delay(&other.1)))?;
    let (_, other) = at.figures.iter().find(|(policy, _)| *policy == cheapest)?;
    let uncertain = figures.delay.half().hypot(other.delay.half());
    (delay(other) - delay(&figures) > uncertain).then_some((policy, figures))
}

/// The highest of the lowest rates at all of which `policy` is the cheapest.
fn last_of(advice: &ServerAdvice, policy: ServerPolicy) -> Option<f64> {
    let is_cheapest =
        |at: &&RateAdvice| at.cheapest.as_ref().is_some_and(|cheapest| cheapest.policy == policy);
    advice.rates.iter().take_while(is_cheapest).last().map(|at| at.rate.0)
}

/// A rate with two digits that count, and its thousands apart.
fn rounded(rate: f64) -> String {
    let digits = 10_f64.powf(rate.max(1.0).log10().floor() - 1.0);
    let whole = ((rate / digits).round() * digits) as u64;
    let text = whole.to_string();
    let groups: Vec<&str> = text
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| core::str::from_utf8(group).unwrap_or_default())
        .collect();
    groups.join(",")
}

fn share(saving: Estimate<f64>) -> String {
    let half = saving.half_width.map_or_else(String::new, |half| format!(" ± {:.0}%", half * 100.0));
    format!("{:.0}%{half}", saving.mean * 100.0)
}

/// The verdict that begins with the server, and goes on with that on the path `in_memory`.
#[must_use]
pub fn leading(servers: &ServerFindings, in_memory: ReportVerdict) -> ReportVerdict {
    let Some(first) = servers.advice.first() else { return in_memory };
    let microscope = Statement {
        text: format!("In a receive path in memory: {}", in_memory.headline),
        evidence: Vec::new(),
        confidence: in_memory.confidence.clone().unwrap_or(Confidence {
            level: ConfidenceLevel::Moderate,
            reason: "it claims nothing uncertain".to_owned(),
        }),
    };
    ReportVerdict {
        headline: headline(first),
        confidence: Some(confidence(first)),
        scope: format!(
            "The first lines speak for UDP servers on Linux's own network stack, on {} cores of the machine that the costs are of; what \
             is said to be in memory, and the figures beside it, speak for a receive path in user space.",
            first.processors
        ),
        figures: in_memory.figures.into_iter().map(of_memory).collect(),
        statements: servers
            .advice
            .iter()
            .map(statement)
            .chain([microscope])
            .chain(in_memory.statements)
            .collect(),
        ..in_memory
    }
}

/// A figure that stands beside the answer for the kernel's path.
fn of_memory(figure: KeyFigure) -> KeyFigure {
    KeyFigure { meaning: format!("in memory: {}", figure.meaning), ..figure }
}

/// The answer for one handler, with the cheapest policy at each rate.
fn statement(advice: &ServerAdvice) -> Statement {
    let at = |at: &RateAdvice| {
        let cheapest = at.cheapest.as_ref()?;
        let (other, saving) = cheapest.most()?;
        let equals: Vec<String> = cheapest.equals().map(|policy| policy.to_string()).collect();
        let or = if equals.is_empty() { String::new() } else { format!(", or {}", equals.join(", ")) };
        Some(format!(
            "at {} requests/s: {}{or}; {} less than {other}",
            rounded(at.rate.0),
            cheapest.policy,
            share(saving)
        ))
    };
    Statement {
        text: format!(
            "Handler: {}. {}",
            handler(advice.state_bytes, advice.library.as_ref()),
            headline(advice)
        ),
        evidence: advice.rates.iter().filter_map(at).collect(),
        confidence: confidence(advice),
    }
}

/// High only if what was predicted was found when it was run.
fn confidence(advice: &ServerAdvice) -> Confidence {
    let saving = advice.spoken().and_then(|at| at.cheapest.as_ref()?.most()).map(|(_, saving)| saving);
    let is_sure = |saving: &Estimate<f64>| saving.half_width.is_some_and(|half| saving.mean > half);
    let (level, reason) = match (saving, advice.verified) {
        (Some(saving), Some(Verified { saving: run, .. })) if is_sure(&run) && saving.agrees_with(&run) => (
            ConfidenceLevel::High,
            format!(
                "predicted {} less from single requests and bursts, and {} less when it was run",
                share(saving),
                share(run)
            ),
        ),
        (Some(saving), Some(Verified { saving: run, .. })) if is_sure(&run) => (
            ConfidenceLevel::Moderate,
            format!("predicted {} less, but {} less when it was run", share(saving), share(run)),
        ),
        (Some(saving), Some(Verified { saving: run, .. })) => (
            ConfidenceLevel::Low,
            format!(
                "predicted {} less, but {} less when it was run, which may be none",
                share(saving),
                share(run)
            ),
        ),
        (Some(saving), None) if is_sure(&saving) => (
            ConfidenceLevel::Moderate,
            format!("{} less, predicted from single requests and bursts, and not run", share(saving)),
        ),
        _ => (ConfidenceLevel::Low, "the costs do not tell the policies apart".to_owned()),
    };
    Confidence { level, reason }
}

/// The chart that shows the answer.
#[must_use]
pub fn chart(advice: &[ServerAdvice]) -> Chart {
    CPU.chart(
        "What worker, softirq and the sender's call take for a request; lower is better. Bands are 95% intervals.",
        "Handler",
        views(advice),
    )
}

fn views(advice: &[ServerAdvice]) -> Vec<(String, Vec<Line>)> {
    let lines = |advice: &ServerAdvice| {
        let line = |(colour, policy): (usize, ServerPolicy)| {
            let of = |at: &RateAdvice| {
                let found = at.figures.iter().find(|(other, _)| *other == policy);
                found.map(|(_, figures)| (at.rate, *figures))
            };
            let figures = advice.rates.iter().filter_map(of).collect();
            Line { name: policy.to_string(), style: Style::Line, colour, figures }
        };
        ServerPolicy::BASIC.into_iter().enumerate().map(line).collect()
    };
    advice
        .iter()
        .map(|advice| (handler(advice.state_bytes, advice.library.as_ref()), lines(advice)))
        .collect()
}

/// The handler in words.
#[must_use]
pub fn handler(state_bytes: usize, library: Option<&UserFile>) -> String {
    match state_bytes {
        _ if library.is_some() => library.map_or_else(String::new, |library| library.name.clone()),
        0 => "echo".to_owned(),
        bytes if bytes % 1024 == 0 => format!("{} KiB of its flow's state", bytes >> 10),
        bytes => format!("{bytes} bytes of its flow's state"),
    }
}

/// The section on a server, for a reader who does not know the mechanisms.
#[must_use]
pub fn section(advice: &[ServerAdvice], notes: &[String]) -> Section {
    let tables = advice.iter().map(|advice| Block::Table(table(advice)));
    Section {
        heading: "Your server: which way to share its port".to_owned(),
        anchor: "server".to_owned(),
        intro: vec![
            "A request comes through the kernel: a softirq on one processor puts it into a socket, and a worker of the server, \
             there or elsewhere, is woken up, receives it, handles it, and replies. Workers can share one socket, and the last \
             or the first to sleep is woken first; or each has a socket of its own, and a hash, a program, or the processor on which \
             a packet arrived decides which."
                .to_owned(),
            "What single requests and short bursts cost was measured on this machine, where caches are hot or have cooled down while \
             nothing ran. Random requests at each rate were then simulated with these costs. Intervals are those of \
             the costs."
                .to_owned(),
        ],
        blocks: notes
            .iter()
            .cloned()
            .map(Block::Note)
            .chain([Block::Chart(DELAY.chart(
                "From the time at which a request is due until its reply is back.",
                "Handler",
                views(advice),
            ))])
            .chain(tables)
            .collect(),
        folded: false,
    }
}

fn table(advice: &ServerAdvice) -> Table {
    let row = |at: &RateAdvice| {
        let cell = |policy: ServerPolicy| {
            let found = at.figures.iter().find(|(other, _)| *other == policy);
            found.map_or(Cell::missing("does not keep up"), |(_, figures)| {
                let cpu = figures.cpu();
                let half = cpu.half_width.map(Nanos::micros).filter(|half| half.is_finite());
                Cell::value(Estimate { mean: cpu.mean.micros(), half_width: half }, 1)
            })
        };
        let cheapest = at.cheapest.as_ref().map_or_else(String::new, |cheapest| {
            let equals: Vec<String> = cheapest.equals().map(|policy| policy.to_string()).collect();
            let or = if equals.is_empty() { String::new() } else { format!(" (or {})", equals.join(", ")) };
            format!("{}{or}", cheapest.policy)
        });
        let cells = ServerPolicy::BASIC.into_iter().map(cell).chain([Cell::text(cheapest)]).collect();
        Row::new(rounded(at.rate.0), cells)
    };
    let names = ServerPolicy::BASIC.map(|policy| policy.to_string());
    Table {
        id: format!("server-{}", advice.state_bytes),
        caption: format!(
            "Processor time for a request, in µs, by requests per second; handler: {}; {} processors",
            handler(advice.state_bytes, advice.library.as_ref()),
            advice.processors
        ),
        header: Table::simple_header(
            ["requests/s".to_owned()].into_iter().chain(names).chain(["cheapest".to_owned()]),
        ),
        rows: advice.rates.iter().map(row).collect(),
        notes: Vec::new(),
    }
}
