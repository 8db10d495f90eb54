//! Electromagnetic waves in three dimensions as a bipartite graph (Culler et al. 1993; Falsafi 1998, Tables 4.1 and 5.2: 76K
//! nodes, degree 5, 15% remote, distance of 16, 10 iterations).
//!
//! Nodes of the electric and the magnetic field depend on nodes of the other field. An iteration computes all electric nodes
//! from the magnetic ones, and then the reverse. The graph is divided into parts. A node depends on nodes of its own part, or,
//! with the remote share's probability, on nodes of a part up to the distance away, in either direction and round the end.
//! The thesis builds the graph for the processors it has: a part for each. The result then depends on their number; with a
//! fixed number of parts it does not. A part's nodes lie on the node of the processor that computes them.
//!
//! The original draws for each node those that depend on it; here it draws those that it depends on, so that every node has
//! the same degree.

use super::cost::{CALL, FLOP, INTEGER, LOOP, Pace};
use super::input::{check_common, digest, owner, random, require, share};
use super::{Address, BarrierId, Image, Prepared, Program, SharedMemory, WrongResult};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use warmcore_units::Fault;

/// Computing for one dependence: a product that is subtracted.
const DEPENDENCE: u32 = 2 * FLOP + INTEGER + LOOP;

/// Words of a node: its value, its degree, where its coefficients are, where the addresses of the other nodes are.
const NODE: u64 = 4;

/// The pace at which a uniprocessor takes the 740 million cycles of Table 5.3.
const UNIPROCESSOR: Pace = Pace::new(1.615);

/// The input.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Em3d {
    /// Nodes of each field. The thesis does not say whether its 76K are those of each field or of both.
    pub nodes: u64,
    /// Nodes of the other field that a node depends on.
    pub degree: u64,
    /// The probability that one of those is in another part.
    pub remote: f64,
    /// How many parts away it may be.
    pub distance: u32,
    /// Parts of the graph; `None` for one for each processor.
    pub parts: Option<u32>,
    /// Times that both fields are computed.
    pub iterations: u32,
    /// Names the random graph.
    pub seed: u64,
    /// Cycles for each counted one.
    pub pace: Pace,
}

impl Default for Em3d {
    fn default() -> Self {
        Self {
            nodes: 76 * 1024,
            degree: 5,
            remote: 0.15,
            distance: 16,
            parts: None,
            iterations: 10,
            seed: 1,
            pace: UNIPROCESSOR,
        }
    }
}

impl Em3d {
    /// A small input for quick runs.
    #[must_use]
    pub fn quick() -> Self {
        Self { nodes: 4 * 1024, ..Self::default() }
    }

    fn check_sizes(&self, processors: u32) -> Result<(), Fault> {
        check_common(self.pace, processors)?;
        require((1..=1 << 22).contains(&self.nodes), "nodes", self.nodes, "1 to 2^22")?;
        require((1..=1 << 10).contains(&self.degree), "degree", self.degree, "1 to 1024")?;
        let edges = self.nodes * self.degree;
        require(edges <= 1 << 25, "degree", self.degree, "no more than 2^25 dependences of a field")?;
        require((0.0..=1.0).contains(&self.remote), "remote", self.remote, "0 to 1")?;
        require(self.distance > 0, "distance", self.distance, "1 or more")?;
        let parts = self.parts.unwrap_or(processors);
        let (field, found) = match self.parts {
            Some(parts) => ("parts", parts),
            None => ("processors", processors),
        };
        let enough = parts > 0 && u64::from(parts) <= self.nodes;
        require(enough, field, found, "1 to `nodes`, so that each part has nodes of both fields")
    }
}

/// The graph: for each node of a field, in order, the nodes of the other that it depends on, and by what coefficients.
#[derive(Debug, Default)]
struct Graph {
    values: [Vec<f64>; 2],
    sources: [Vec<u32>; 2],
    coefficients: [Vec<f64>; 2],
}

impl Graph {
    fn new(input: &Em3d, parts: u32) -> Self {
        let mut random = random(input.seed);
        let each = input.nodes;
        let mut graph = Self::default();
        for field in 0..2 {
            for node in 0..each {
                graph.values[field].push(random.random_range(-1.0..1.0));
                let part = owner(each, node, parts);
                for _ in 0..input.degree {
                    let other = if random.random_bool(input.remote) {
                        let away = random.random_range(1..=input.distance) % parts;
                        let away = if random.random_bool(0.5) { away } else { parts - away };
                        (part + away) % parts
                    } else {
                        part
                    };
                    graph.sources[field].push(random.random_range(share(each, other, parts)) as u32);
                    // Together below 1, so that values stay bounded.
                    graph.coefficients[field].push(random.random_range(0.0..1.0 / input.degree as f64));
                }
            }
        }
        graph
    }
}

/// The graph laid out.
#[derive(Debug)]
pub struct PreparedEm3d {
    input: Em3d,
    parts: u32,
    /// The nodes of each field, in order.
    nodes: [Address; 2],
}

impl Program for Em3d {
    type Prepared = PreparedEm3d;

    fn name(&self) -> &'static str {
        "em3d"
    }

    fn prepare(&self, image: &mut Image, processors: u32) -> Result<PreparedEm3d, Fault> {
        self.check_sizes(processors)?;
        let parts = self.parts.unwrap_or(processors);
        let graph = Graph::new(self, parts);
        let each = self.nodes;
        let mut allocate = |words: u64| [(); 2].map(|()| image.allocate_shared_out(8 * words, processors));
        let nodes = allocate(NODE * each);
        let [sources, coefficients] = [(); 2].map(|()| allocate(self.degree * each));
        for field in 0..2 {
            for node in 0..each {
                let at = nodes[field].word(NODE * node);
                let first = node * self.degree;
                image.store_f64(at, graph.values[field][node as usize]);
                image.store(at.word(1), self.degree);
                image.store(at.word(2), coefficients[field].word(first).0);
                image.store(at.word(3), sources[field].word(first).0);
                for k in first..first + self.degree {
                    let source = u64::from(graph.sources[field][k as usize]);
                    image.store_f64(coefficients[field].word(k), graph.coefficients[field][k as usize]);
                    image.store(sources[field].word(k), nodes[1 - field].word(NODE * source).0);
                }
            }
        }
        Ok(PreparedEm3d { input: self.clone(), parts, nodes })
    }
}

impl Prepared for PreparedEm3d {
    fn run<M: SharedMemory>(&self, memory: &M) {
        let [around, dependence] = [CALL, DEPENDENCE].map(|counted| self.input.pace.cycles(counted));
        let mine = share(self.input.nodes, memory.processor(), memory.processors());
        memory.barrier(BarrierId(0));
        for _ in 0..self.input.iterations {
            for field in self.nodes {
                for node in mine.clone() {
                    let at = field.word(NODE * node);
                    let mut value = memory.load_f64(at);
                    let degree = memory.load(at.word(1));
                    let coefficients = Address(memory.load(at.word(2)));
                    let sources = Address(memory.load(at.word(3)));
                    for k in 0..degree {
                        let source = Address(memory.load(sources.word(k)));
                        value -= memory.load_f64(coefficients.word(k)) * memory.load_f64(source);
                        memory.compute(dependence);
                    }
                    memory.store_f64(at, value);
                    memory.compute(around);
                }
                memory.barrier(BarrierId(0));
            }
        }
    }

    fn check(&self, image: &Image) -> Result<(), WrongResult> {
        let mut graph = Graph::new(&self.input, self.parts);
        let degree = self.input.degree as usize;
        for _ in 0..self.input.iterations {
            for field in 0..2 {
                let [mut values, other] = [field, 1 - field].map(|field| graph.values[field].clone());
                for (node, value) in values.iter_mut().enumerate() {
                    for k in node * degree..(node + 1) * degree {
                        *value -= graph.coefficients[field][k] * other[graph.sources[field][k] as usize];
                    }
                }
                graph.values[field] = values;
            }
        }
        for (field, values) in graph.values.iter().enumerate() {
            for (node, expected) in (0..).zip(values) {
                let found = image.load_f64(self.nodes[field].word(NODE * node));
                if found.to_bits() != expected.to_bits() {
                    let what = format!("node {node} of field {field}");
                    let [expected, found] = [expected.to_string(), found.to_string()];
                    return Err(WrongResult { what, expected, found });
                }
            }
        }
        Ok(())
    }

    fn digest(&self, image: &Image) -> u64 {
        let values =
            |field: Address| (0..self.input.nodes).map(move |node| image.load(field.word(NODE * node)));
        digest(self.nodes.into_iter().flat_map(values))
    }
}
