//! The symbols of an ELF file.

use crate::trace::Function;
use object::{File, Object, ObjectSection, ObjectSymbol, SymbolKind};
use rustc_demangle::demangle;

/// A named place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Symbol {
    /// Demangled, without the hash.
    pub(super) name: String,
    /// As the linker knows it.
    pub(super) symbol: String,
    pub(super) address: u64,
    pub(super) size: u64,
    /// Whether it is code; otherwise it is data.
    pub(super) is_code: bool,
}

impl Symbol {
    pub(super) fn function(&self, bias: u64) -> Function {
        Function {
            name: self.name.clone(),
            symbol: self.symbol.clone(),
            address: self.address.wrapping_add(bias),
            size: self.size,
        }
    }
}

/// The code and data that `file` names, in either of its tables, ascending.
pub(super) fn read(file: &File<'_>) -> Vec<Symbol> {
    let mut symbols: Vec<Symbol> =
        file.symbols().chain(file.dynamic_symbols()).filter_map(|symbol| parse(&symbol)).collect();
    symbols.sort_by(|a, b| (a.address, &a.symbol).cmp(&(b.address, &b.symbol)));
    symbols.dedup_by(|a, b| a.address == b.address && a.symbol == b.symbol);
    extend(file, &mut symbols);
    symbols
}

fn parse<'a>(symbol: &impl ObjectSymbol<'a>) -> Option<Symbol> {
    let is_code = match symbol.kind() {
        SymbolKind::Text => true,
        SymbolKind::Data => false,
        _ => return None,
    };
    let name = symbol.name().ok().filter(|name| !name.is_empty())?;
    // The dynamic table has names such as `read@@GLIBC_2.2.5`; nobody writes them so.
    let name = name.split('@').next()?;
    symbol.is_definition().then(|| Symbol {
        name: format!("{:#}", demangle(name)),
        symbol: name.to_owned(),
        address: symbol.address(),
        size: symbol.size(),
        is_code,
    })
}

/// Code without a size, written in assembly, goes on to the next symbol or the end of its section.
fn extend(file: &File<'_>, symbols: &mut [Symbol]) {
    let sections: Vec<(u64, u64)> =
        file.sections().map(|section| (section.address(), section.size())).collect();
    for index in 0..symbols.len() {
        let address = symbols[index].address;
        if symbols[index].size != 0 || !symbols[index].is_code {
            continue;
        }
        let next = symbols[index..].iter().map(|symbol| symbol.address).find(|&next| next > address);
        let section = sections.iter().find(|&&(start, size)| address.wrapping_sub(start) < size);
        let end = section.map(|&(start, size)| start.saturating_add(size));
        if let Some(end) = next.into_iter().chain(end).min() {
            symbols[index].size = end - address;
        }
    }
}
