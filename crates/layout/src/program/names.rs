//! Finds the symbol that a user means.

use super::symbols::Symbol;
use super::{Marker, MarkerError, MarkerKind, Program};
use warmcore_units::spelling::changes;

/// How many names an error lists.
const LISTED: usize = 5;

impl Program {
    /// Whether it has exactly the name of `marker`.
    #[must_use]
    pub fn has(&self, marker: &Marker) -> bool {
        let is_code = marker.kind == MarkerKind::Code;
        self.symbols.iter().any(|symbol| {
            symbol.is_code == is_code && is(symbol, &marker.name) && lies_at(symbol, marker.address)
        })
    }

    /// The code or object that `name` means, which lies at `address` if that is given.
    pub(super) fn find(
        &self,
        name: &str,
        is_code: bool,
        address: Option<u64>,
    ) -> Result<&Symbol, MarkerError> {
        let all = || self.symbols.iter().filter(move |symbol| symbol.is_code == is_code);
        if all().next().is_none() || (self.is_stripped() && !all().any(|symbol| is(symbol, name))) {
            return Err(MarkerError::Stripped { name: name.to_owned(), program: self.name().to_owned() });
        }
        let what = if is_code { "function" } else { "object" };
        let program = || self.name().to_owned();
        let mut elsewhere = Vec::new();
        for means in [is, ends_with, contains] {
            let mut found: Vec<&Symbol> = all().filter(|symbol| means(symbol, name)).collect();
            found.dedup_by_key(|symbol| symbol.address);
            elsewhere.extend(found.iter().map(|symbol| symbol.address));
            found.retain(|symbol| lies_at(symbol, address));
            match found[..] {
                [] => {}
                [symbol] => return Ok(symbol),
                _ => return Err(ambiguous(name, &found)),
            }
        }
        let name = name.to_owned();
        if let (Some(address), false) = (address, elsewhere.is_empty()) {
            elsewhere.dedup();
            let found = elsewhere.iter().take(LISTED).map(|address| format!("{address:#x}")).collect();
            return Err(MarkerError::OtherAddress { name, what, program: program(), address, found });
        }
        let nearest = nearest(&name, all());
        Err(MarkerError::Unknown { name, what, program: program(), nearest })
    }
}

fn lies_at(symbol: &Symbol, address: Option<u64>) -> bool {
    address.is_none_or(|address| symbol.address == address)
}

fn is(symbol: &Symbol, name: &str) -> bool {
    symbol.symbol == name || symbol.name == name
}

fn ends_with(symbol: &Symbol, name: &str) -> bool {
    symbol.name.strip_suffix(name).is_some_and(|before| before.ends_with("::"))
}

fn contains(symbol: &Symbol, name: &str) -> bool {
    symbol.name.contains(name)
}

fn ambiguous(name: &str, found: &[&Symbol]) -> MarkerError {
    let occurs_once =
        |is_it: &dyn Fn(&Symbol) -> bool| found.iter().filter(|other| is_it(other)).count() == 1;
    let mut equal = false;
    let shown = |symbol: &&Symbol| {
        if occurs_once(&|other| other.name == symbol.name) {
            symbol.name.clone()
        } else if occurs_once(&|other| other.symbol == symbol.symbol) {
            symbol.symbol.clone()
        } else {
            equal = true;
            format!("{}@{:#x}", symbol.symbol, symbol.address)
        }
    };
    let mut candidates: Vec<String> = found.iter().take(LISTED).map(shown).collect();
    if found.len() > LISTED {
        candidates.push(format!("and {} more", found.len() - LISTED));
    }
    MarkerError::Ambiguous { name: name.to_owned(), candidates, equal }
}

/// The names that take the fewest changes to become `name`, with or without the modules before them.
fn nearest<'a>(name: &str, all: impl Iterator<Item = &'a Symbol>) -> Vec<String> {
    let distance = |symbol: &Symbol| {
        let last = symbol.name.rsplit("::").next().unwrap_or_default();
        changes(name, last).min(changes(name, &symbol.name))
    };
    let mut names: Vec<(usize, &str)> = all
        .map(|symbol| (distance(symbol), symbol.name.as_str()))
        .filter(|(distance, _)| *distance <= name.len() / 2)
        .collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().take(LISTED).map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(symbol: &str, address: u64, is_code: bool) -> Symbol {
        Symbol {
            name: format!("{:#}", rustc_demangle::demangle(symbol)),
            symbol: symbol.to_owned(),
            address,
            size: 16,
            is_code,
        }
    }

    fn program(symbols: Vec<Symbol>) -> Program {
        Program { name: "server".to_owned(), symbols, segments: Vec::new(), has_symbol_table: true }
    }

    fn sample() -> Program {
        program(vec![
            symbol("_ZN6server6handle17h05af221e174051e9E", 16, true),
            symbol("_ZN6server12handle_error17h05af221e174051e9E", 32, true),
            symbol("_ZN6server4recv17h05af221e174051e9E", 48, true),
            symbol("_ZN6server4recv17h15af221e174051e9E", 64, true),
            symbol("main", 80, true),
            symbol("main_alias", 80, true),
            symbol("requests", 96, false),
        ])
    }

    #[test]
    fn names_are_found_whole_by_their_end_and_by_a_part() {
        let program = sample();
        let find = |name: &str| program.find(name, true, None).map(|symbol| symbol.address);
        assert_eq!(find("server::handle"), Ok(16));
        assert_eq!(find("handle"), Ok(16), "the other merely contains it");
        assert_eq!(find("_error"), Ok(32));
        assert_eq!(find("_ZN6server4recv17h15af221e174051e9E"), Ok(64));
        assert_eq!(find("mai"), Ok(80), "two names of one place");
        assert_eq!(program.find("requests", false, None).map(|symbol| symbol.address), Ok(96));
    }

    #[test]
    fn what_is_not_found_or_not_alone_is_explained() {
        let program = sample();
        let refused = |name: &str| program.find(name, true, None).unwrap_err().to_string();
        let twice = refused("recv");
        assert!(twice.contains("`_ZN6server4recv17h05af221e174051e9E`, `_ZN6server4recv17h15af"), "{twice}");
        let parts = refused("hand");
        assert!(parts.contains("could be `server::handle`, `server::handle_error`: write more"), "{parts}");
        assert_eq!(refused("hendle"), "server has no function `hendle`; nearest: `server::handle`");
        assert_eq!(refused("zzzzzz"), "server has no function `zzzzzz`");
        let mut stripped = program.clone();
        stripped.has_symbol_table = false;
        let refused = stripped.find("absent", true, None).unwrap_err().to_string();
        assert!(refused.contains("strip = \"none\""), "{refused}");
    }

    #[test]
    fn equal_names_are_told_apart_by_their_addresses() {
        let program = program(vec![symbol("twin", 16, true), symbol("twin", 32, true)]);
        let refused = |address| program.find("twin", true, address).unwrap_err().to_string();
        let twice = "`twin` could be `twin@0x10`, `twin@0x20`: write it with one of these addresses";
        assert_eq!(refused(None), twice);
        assert_eq!(program.find("twin", true, Some(32)).map(|symbol| symbol.address), Ok(32));
        let elsewhere = refused(Some(8));
        assert!(
            elsewhere.starts_with("server has no function `twin` at 0x8, but at `0x10`, `0x20`"),
            "{elsewhere}"
        );
    }
}
