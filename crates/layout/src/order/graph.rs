//! Who calls whom in a trace, and how often.

use crate::trace::{Class, Function, Trace};
use hashbrown::HashMap;
use std::collections::BTreeMap;
use warmcore_units::{Bytes, Fault};

/// A function of a [`CallGraph`], as its place in the order of first invocation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    /// As an index into a table with an entry for each function of the graph.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A function that was executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node {
    /// Its index in [`Trace::functions`].
    pub function: u32,
    /// Its bytes, up to where another function begins; at least 1.
    pub size: Bytes,
    /// How often it was entered at its first byte: by a call, by a jump or a branch from another function, by running into it,
    /// by a return that goes there, or as the first of the trace.
    pub invocations: u64,
    /// Instructions of it that were executed.
    pub steps: u64,
}

/// The functions that a trace executed and the calls between them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallGraph {
    nodes: Vec<Node>,
    calls: BTreeMap<(NodeId, NodeId), u64>,
}

/// All functions together have no more bytes.
const MAX_BYTES: u64 = 1 << 40;

/// There are no more functions.
const MAX_FUNCTIONS: usize = 1 << 24;

impl CallGraph {
    /// The graph of `trace`. A call from one function to another is any transfer of control that is no return: calls, jumps to
    /// another function's beginning (tail calls), also jumps into its middle and back (parts that a compiler has moved out
    /// of a function).
    #[must_use]
    pub fn new(trace: &Trace) -> Self {
        Self::restricted(trace, |_| true)
    }

    /// The graph of those functions that `is_movable`. Others are taken for code of no function: no strategy places them.
    #[must_use]
    pub fn restricted(trace: &Trace, is_movable: impl Fn(&Function) -> bool) -> Self {
        let function = |address| {
            let at = trace.function_at(address)?;
            is_movable(&trace.functions()[at]).then_some(at as u32)
        };
        let functions: Vec<Option<u32>> =
            trace.instructions().iter().map(|one| function(one.address)).collect();
        let mut graph = Self { nodes: Vec::new(), calls: BTreeMap::new() };
        let mut known: HashMap<u32, NodeId> = HashMap::new();
        let mut before: Option<(Option<NodeId>, Class, u64)> = None;
        for (at, _) in trace.executed() {
            let instruction = &trace.instructions()[at];
            let id = functions[at]
                .map(|function| *known.entry(function).or_insert_with(|| graph.add(trace, function)));
            if let Some(id) = id {
                let is_first =
                    instruction.address == trace.functions()[graph.node(id).function as usize].address;
                graph.arrive(id, is_first, before, instruction.address);
            }
            before = Some((id, instruction.class, instruction.end()));
        }
        graph
    }

    fn add(&mut self, trace: &Trace, function: u32) -> NodeId {
        self.nodes.push(Node {
            function,
            size: trace.function_size(function as usize),
            invocations: 0,
            steps: 0,
        });
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// A step of `id`, perhaps its `first` instruction, comes after `before`.
    fn arrive(
        &mut self,
        id: NodeId,
        first: bool,
        before: Option<(Option<NodeId>, Class, u64)>,
        address: u64,
    ) {
        let node = &mut self.nodes[id.index()];
        node.steps += 1;
        let Some((from, class, end)) = before else {
            node.invocations += 1;
            return;
        };
        let recursive = class == Class::Call && first && end != address;
        if from == Some(id) && !recursive {
            return;
        }
        // A return to a function's beginning is none: somebody made a call of it.
        node.invocations += u64::from(first);
        if let Some(from) = from.filter(|_| class != Class::Return) {
            *self.calls.entry((from, id)).or_default() += 1;
        }
    }

    /// The functions, by first execution.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Their identifiers, in the same order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// One function.
    ///
    /// # Panics
    /// If `id` is of another graph.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// All calls, by caller and callee, with how often.
    pub fn calls(&self) -> impl Iterator<Item = (NodeId, NodeId, u64)> + '_ {
        self.calls.iter().map(|(&(from, to), &times)| (from, to, times))
    }

    /// Whether it is a library function: "executed multiple times per path" (Mosberger et al. 1996, §3.2).
    ///
    /// # Panics
    /// If `id` is of another graph.
    #[must_use]
    pub fn is_library(&self, id: NodeId) -> bool {
        self.node(id).invocations > 1
    }

    /// Checks that addresses of all functions can be reckoned with.
    pub(super) fn check(&self) -> Result<(), Fault> {
        let bytes = self.nodes.iter().fold(0_u64, |sum, node| sum.saturating_add(node.size.0));
        if bytes > MAX_BYTES {
            return Err(Fault::new(
                "functions",
                format!("{bytes} bytes"),
                format!("at most {MAX_BYTES} together"),
            ));
        }
        if self.nodes.len() > MAX_FUNCTIONS {
            return Err(Fault::new("functions", self.nodes.len(), format!("at most {MAX_FUNCTIONS}")));
        }
        Ok(())
    }
}
