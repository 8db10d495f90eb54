//! One HTML file from a [`Document`]: the verdict first, then what supports it.
//!
//! The file opens offline. Nothing in it asks anybody for anything (its own content policy forbids
//! that), everything but the charts works without JavaScript, and all text is escaped, so a document
//! may say anything. It reads on a phone, in print, without colour vision, and by ear.
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
//! | `behind` | turns a chart into tables of the same numbers |
//! | `grid` | turns a table into cells with footnotes |
//! | `numbers`, `text` | show a figure with its half-width and unit, and words as they are |
//! | `palette` | colours and patterns that anybody can tell apart |
//! | `embed` | puts data and the charting library into the page |

mod axes;
mod behind;
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

/// The report as one HTML file.
///
/// Any document can be rendered; one that [`Document::validate`] refuses may have charts or links
/// that do not work.
///
/// # Panics
/// Never: the templates are checked when this crate is compiled, and a string takes all they write.
#[must_use]
pub fn render(document: &Document) -> String {
    page::Page::new(document).render().expect("a string takes whatever is written to it")
}
