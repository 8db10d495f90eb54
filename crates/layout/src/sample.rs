//! Traces made by hand, for tests.

use crate::trace::{Access, Class, Function, Instruction, Registers, Trace};
use warmcore_cachesim::Kind;

/// An instruction of 4 bytes that touches no register.
pub(crate) const fn plain(address: u64, class: Class) -> Instruction {
    Instruction { address, length: 4, class, reads: Registers(0), writes: Registers(0), target: None }
}

/// A function of `size` bytes at `address`, named by one letter.
pub(crate) fn function(name: &str, address: u64, size: u64) -> Function {
    Function { name: name.to_owned(), symbol: name.to_owned(), address, size }
}

/// A trace of whole functions, none of which touches data: `Call` into one, its instructions, `Return`.
pub(crate) struct Walk {
    pub(crate) trace: Trace,
}

impl Walk {
    pub(crate) fn new(functions: &[Function]) -> Self {
        Self { trace: Trace::new(functions.to_vec()) }
    }

    /// Executes the instructions of `name` that begin at the words `from..to`, the last one of `class`.
    pub(crate) fn words(&mut self, name: &str, from: u64, to: u64, class: Class) -> &mut Self {
        let at = self
            .trace
            .functions()
            .iter()
            .find(|function| function.name == name)
            .expect("it is there")
            .address;
        for word in from..to {
            let class = if word + 1 == to { class } else { Class::Integer };
            self.trace.push(&plain(at + 4 * word, class), &[]);
        }
        self
    }

    /// Executes all of `name` and returns.
    pub(crate) fn whole(&mut self, name: &str) -> &mut Self {
        let size =
            self.trace.functions().iter().find(|function| function.name == name).expect("it is there").size;
        self.words(name, 0, size / 4, Class::Return)
    }

    /// Loads or stores at `address`, at the word `word` of `name`.
    pub(crate) fn data(&mut self, name: &str, word: u64, kind: Kind, address: u64) -> &mut Self {
        let at = self
            .trace
            .functions()
            .iter()
            .find(|function| function.name == name)
            .expect("it is there")
            .address;
        let class = if kind == Kind::Load { Class::Load } else { Class::Store };
        self.trace.push(&plain(at + 4 * word, class), &[Access { address, size: 4, kind }]);
        self
    }
}
