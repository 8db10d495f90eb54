//! An order of functions in the words of linkers.
//!
//! | form | linker |
//! |---|---|
//! | [`symbol_order`] | lld, `--symbol-ordering-file` |
//! | [`section_order`] | gold, `--section-ordering-file` |
//! | [`script`] | GNU ld, a part of an output section; the only one with gaps |
//!
//! A linker moves sections, not functions: programs must be compiled with a section for each (`-ffunction-sections`; rustc does so).
//! What has none, or has a name that the form cannot write, is not listed but reported ([`Listing`]).

use crate::order::Placement;
use crate::trace::Trace;
use hashbrown::{HashMap, HashSet};
use object::{Object, ObjectSection};
use std::fmt::Write;

/// The sections of the objects that are to be linked, by the functions that have them for their own.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sections {
    of: HashMap<String, String>,
}

/// What compilers put between `.text` and a function's name.
const PREFIXES: [&str; 5] = [".text.unlikely.", ".text.hot.", ".text.startup.", ".text.exit.", ".text."];

impl Sections {
    /// No section yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a section: `.text.NAME` is that of the function `NAME`, as is `.text.hot.NAME`, `.text.unlikely.NAME`,
    /// `.text.startup.NAME` and `.text.exit.NAME`. Others are no function's.
    pub fn add(&mut self, section: &str) {
        if let Some(symbol) = PREFIXES.iter().find_map(|prefix| section.strip_prefix(prefix)) {
            self.of.entry_ref(symbol).or_insert_with(|| section.to_owned());
        }
    }

    /// Adds the sections of an object file.
    ///
    /// # Errors
    /// If it is none that can be read.
    pub fn add_object(&mut self, file: &[u8]) -> Result<(), object::Error> {
        let file = object::File::parse(file)?;
        file.sections()
            .filter_map(|section| section.name().ok().map(str::to_owned))
            .for_each(|name| self.add(&name));
        Ok(())
    }

    /// The section of `symbol`, if it has its own.
    #[must_use]
    pub fn get(&self, symbol: &str) -> Option<&str> {
        self.of.get(symbol).map(String::as_str)
    }
}

/// A file for a linker, and what is not in it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Listing {
    /// What the file has to contain.
    pub text: String,
    /// Symbols without a section of their own, in their order.
    pub without_section: Vec<String>,
    /// Symbols whose name the form cannot write.
    pub unwritable: Vec<String>,
    /// Symbols of which there are several; the linker moves all of them to the place of the first.
    pub ambiguous: Vec<String>,
}

/// A line for each symbol (`--symbol-ordering-file` of lld).
#[must_use]
pub fn symbol_order(trace: &Trace, placement: &Placement, sections: &Sections) -> Listing {
    list(trace, placement, sections, |text, symbol, _, _| writeln!(text, "{symbol}"))
}

/// A line for each section (`--section-ordering-file` of gold).
#[must_use]
pub fn section_order(trace: &Trace, placement: &Placement, sections: &Sections) -> Listing {
    list(trace, placement, sections, |text, _, section, _| writeln!(text, "{section}"))
}

/// Lines for the beginning of an output section of a linker script of GNU ld. They put each function as far from that
/// beginning as it is from the first one of `placement`; the section itself has to begin where that does, modulo the size of
/// the cache. Functions must not be larger than the placement says, or the linker refuses to move back.
#[must_use]
pub fn script(trace: &Trace, placement: &Placement, sections: &Sections) -> Listing {
    list(trace, placement, sections, |text, _, section, offset| {
        writeln!(text, "    . = {offset:#x};\n    *({section})")
    })
}

fn list(
    trace: &Trace,
    placement: &Placement,
    sections: &Sections,
    mut write: impl FnMut(&mut String, &str, &str, u64) -> std::fmt::Result,
) -> Listing {
    let mut listing = Listing::default();
    let mut known = HashSet::new();
    let base = placement.placed().first().map_or(0, |first| first.address);
    for one in placement.placed() {
        let Some(function) = trace.functions().get(one.function as usize) else { continue };
        let symbol = function.symbol.as_str();
        if !known.insert(symbol) {
            listing.ambiguous.push(symbol.to_owned());
        } else if !is_writable(symbol) {
            listing.unwritable.push(symbol.to_owned());
        } else if let Some(section) = sections.get(symbol) {
            // Writing to a string does not fail.
            let _ = write(&mut listing.text, symbol, section, one.address - base);
        } else {
            listing.without_section.push(symbol.to_owned());
        }
    }
    listing
}

/// Whether all three forms take `symbol` for itself: no spaces, patterns, quotes or comments.
fn is_writable(symbol: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.$@-".contains(&byte);
    !symbol.is_empty() && symbol.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Placed;
    use crate::trace::Function;
    use warmcore_units::Bytes;

    fn program() -> (Trace, Placement) {
        let function = |symbol: &str, address| Function {
            name: symbol.to_owned(),
            symbol: symbol.to_owned(),
            address,
            size: 16,
        };
        let symbols = ["_ZN3ip4recvE", "memcpy", "strange *", "eth_in", "eth_in"];
        let functions = symbols.iter().zip(0..).map(|(symbol, at)| function(symbol, 16 * at)).collect();
        let placed = [(3, 0), (0, 64), (1, 96), (2, 128), (4, 160)];
        let placed = placed.map(|(function, at)| Placed { function, address: 0x8000 + at, size: Bytes(16) });
        (Trace::new(functions), Placement::new(placed.to_vec()).expect("none overlaps"))
    }

    fn sections() -> Sections {
        let mut sections = Sections::new();
        [".text", ".text.hot.eth_in", ".text._ZN3ip4recvE", ".data.x"]
            .iter()
            .for_each(|name| sections.add(name));
        sections
    }

    #[test]
    fn each_form_lists_functions_by_address() {
        let (trace, placement) = program();
        let symbols = symbol_order(&trace, &placement, &sections());
        assert_eq!(symbols.text, "eth_in\n_ZN3ip4recvE\n");
        let order = section_order(&trace, &placement, &sections());
        assert_eq!(order.text, ".text.hot.eth_in\n.text._ZN3ip4recvE\n");
        let script = script(&trace, &placement, &sections());
        let expected = "    . = 0x0;\n    *(.text.hot.eth_in)\n    . = 0x40;\n    *(.text._ZN3ip4recvE)\n";
        assert_eq!(script.text, expected);
    }

    #[test]
    fn what_a_linker_cannot_move_is_reported() {
        let (trace, placement) = program();
        let listing = symbol_order(&trace, &placement, &sections());
        assert_eq!(listing.without_section, ["memcpy"]);
        assert_eq!(listing.unwritable, ["strange *"]);
        assert_eq!(listing.ambiguous, ["eth_in"]);
        assert!(Sections::new().add_object(b"no object").is_err());
    }
}
