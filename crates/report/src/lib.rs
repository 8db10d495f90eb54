//! Renders a [`Document`] as one HTML file: the verdict first, then the evidence.
//!
//! The file opens offline and requests nothing from the network (its own content policy forbids that).
//! Everything but the charts works without JavaScript. All text is escaped, so a document may contain any
//! text. The page is made for phones, for print, for readers without colour vision and for screen readers.
//!
//! ```text
//! Document ─► page (HTML, by templates) ──────────────► one file
//!         └─► figure (JSON, for plotly.js) ─► charts.js ─┘
//! ```
//!
//! | module | does |
//! |---|---|
//! | `page` | arranges a document as the templates under `templates/` need it |
//! | `figure`, `axes`, `shapes`, `legend` | turn a chart into what plotly.js draws |
//! | `data_tables` | turns a chart into tables of the same numbers |
//! | `cache_map` | turns a map of a cache into squares and their tables |
//! | `grid` | turns a table into cells with footnotes |
//! | `numbers`, `text` | format values with half-widths and units, and escape text |
//! | `palette` | colours and patterns that everybody can distinguish |
//! | `embed` | puts data and the charting library into the page |

mod axes;
mod cache_map;
mod data_tables;
mod embed;
mod figure;
mod grid;
mod legend;
mod numbers;
mod page;
mod palette;
mod shapes;
mod text;

use askama::Template;
use warmcore_record::Document;

/// Renders `document` as one HTML file.
///
/// Any document can be rendered. If [`Document::validate`] refuses it, some charts or links may not work.
///
/// # Panics
/// Never: the templates are checked when this crate is compiled, and writing to a string cannot fail.
#[must_use]
pub fn render(document: &Document) -> String {
    page::Page::new(document).render().expect("a string takes whatever is written to it")
}

/// Whether a file that starts with `head` was written by [`render`].
#[must_use]
pub fn is_report(head: &str) -> bool {
    head.contains("<meta name=\"generator\" content=\"warmcore ")
}
