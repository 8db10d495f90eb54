//! The names in a program.

use crate::trace::Function;
use hashbrown::HashMap;

/// All names of a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Symbols {
    /// The functions, by address, each address once.
    pub(crate) functions: Vec<Function>,
    /// Where each name is. Of a name that several files use for themselves, one place.
    pub(crate) addresses: HashMap<String, u64>,
}

impl Symbols {
    /// Adds one more function, which no file has.
    pub(crate) fn add(&mut self, function: Function) {
        self.addresses.insert(function.symbol.clone(), function.address);
        let place = self.functions.partition_point(|other| other.address <= function.address);
        self.functions.insert(place, function);
    }

    /// `symbol` names the function of `size` bytes at `address`.
    pub(super) fn add_function(&mut self, symbol: &str, address: u64, size: u64) {
        let (name, symbol) = (demangle(symbol), symbol.to_owned());
        self.functions.push(Function { name, symbol, address, size });
    }

    /// `symbol` stands for `address`; one that all files see wins.
    pub(super) fn add_address(&mut self, symbol: &str, address: u64, is_local: bool) {
        if !is_local || !self.addresses.contains_key(symbol) {
            self.addresses.insert(symbol.to_owned(), address);
        }
    }

    /// Brings everything in order. Of several names for one place one stays.
    pub(super) fn sort(&mut self) {
        Function::one_at_each_address(&mut self.functions);
    }
}

/// A name as its author wrote it, without the compiler's hash.
fn demangle(symbol: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(symbol))
}
