//! A section for each figure.

use super::charts::{chart, table_2};
use super::claims::{belonging, capitalised, of_figure, unbroken};
use super::words::words;
use crate::salehi_1994::{Concluded, Figure, Reproduction, Verdict};
use warmcore_record::{Block, Section};

/// The sections of all figures asked for.
#[must_use]
pub fn sections(reproduction: &Reproduction) -> Vec<Section> {
    reproduction.options.wanted().map(|figure| section(reproduction, figure)).collect()
}

fn section(reproduction: &Reproduction, figure: Figure) -> Section {
    let words = words(figure);
    let name = figure.to_string();
    let mut blocks = match figure {
        Figure::Table2 => vec![Block::Table(table_2(&reproduction.options.profile))],
        _ => chart(reproduction, figure).map(Block::Chart).into_iter().collect(),
    };
    if reproduction.options.is_published_machine() {
        blocks.extend(found(reproduction, figure).into_iter().map(Block::Paragraph));
    }
    blocks.extend(of_figure(reproduction, figure).map(Block::Table));
    Section {
        heading: format!("{}: {}", capitalised(&name), words.title),
        anchor: format!("figure-{}", figure.name()),
        intro: vec![words.about.to_owned(), format!("In the source: {}", words.source)],
        blocks,
        folded: false,
    }
}

/// What is found of the claims about a figure: how many hold, then what is otherwise.
fn found(reproduction: &Reproduction, figure: Figure) -> Vec<String> {
    let claims: Vec<&Concluded> = belonging(reproduction, figure).collect();
    let otherwise = claims.iter().filter(|concluded| concluded.verdict != Verdict::Holds);
    let otherwise: Vec<String> = otherwise.map(|concluded| in_words(concluded)).collect();
    let first = match (claims.len(), otherwise.len()) {
        (0, _) => return Vec::new(),
        (1, 0) => "What we find: the one claim about it holds.".to_owned(),
        (all, 0) => format!("What we find: all {all} claims about it hold."),
        (all, others) => format!("What we find: {} of {all} claims about it hold. Otherwise:", all - others),
    };
    std::iter::once(first).chain(otherwise).collect()
}

fn in_words(concluded: &Concluded) -> String {
    let Concluded { claim, verdict, .. } = concluded;
    let text = format!(
        "\"{}\" {verdict}: published {}, ours {}. {}",
        claim.says.trim_end_matches('.'),
        claim.published,
        concluded.ours(),
        concluded.reason()
    );
    unbroken(&text)
}
