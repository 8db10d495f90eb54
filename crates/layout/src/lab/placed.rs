//! The laboratory's programs with the functions of a path cloned elsewhere: the source's CLO, BAD and ALL.

use super::{LabError, Protocols, Switches, trace};
use crate::cloning::{self, clone_functions};
use crate::order::{CallGraph, Placement, Site, Strategy};
use crate::riscv::Image;
use crate::trace::Trace;

/// A program in which `strategy` has placed clones of the functions that its path executes.
///
/// A clone's size is known only when it was made: calls between clones are shorter. So clones are made once in the order of
/// their first execution, traced and placed, and then made again.
///
/// # Errors
/// If the program cannot be traced, or its functions not be cloned or placed.
pub fn placed(
    image: &Image,
    protocols: Protocols,
    strategy: Strategy,
    site: &Site,
) -> Result<Image, LabError> {
    let traced = trace(image, protocols, Switches::IMPROVED)?;
    let first = clones(image, &place(&traced, Strategy::Linear, site)?, &traced)?;
    let traced = trace(&first, protocols, Switches::IMPROVED)?;
    clones(image, &place(&traced, strategy, site)?, &traced)
}

fn place(traced: &Trace, strategy: Strategy, site: &Site) -> Result<Placement, LabError> {
    let graph = CallGraph::new(traced);
    Ok(strategy.place(traced, &graph, site)?)
}

/// `image` with clones of the functions of `placement`, which may itself be of clones.
fn clones(image: &Image, placement: &Placement, traced: &Trace) -> Result<Image, LabError> {
    let mut placements = Vec::new();
    for placed in placement.placed() {
        let symbol = traced.functions()[placed.function as usize].symbol.as_str();
        let original = symbol.strip_suffix(cloning::SUFFIX).unwrap_or(symbol);
        placements.push((image.function_index(original)?, placed.address));
    }
    Ok(clone_functions(image, &placements)?.image)
}
