//! Costs that are written in Python, as the simulator asks for them.

use super::raised::{Raised, copied, fraction, refused};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};
use warmcore_costs::{self as costs, CostModel, ExecutionModel};
use warmcore_units::Nanos;
use warmcore_workload::random::Random;
use warmcore_workload::{Key, Purpose};

/// What a packet may take, ns: less is lost in rounding, and with more, all that arrives meanwhile is kept.
const COSTS: std::ops::RangeInclusive<f64> = 1.0..=1e9;

/// A packet whose service starts, and what it finds.
#[pyclass(frozen, get_all, module = "warmcore")]
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// Which parts of its working set were last written on its processor: `"A1, thread stack cached"` (Table 2 of Salehi 1994).
    situation: String,
    /// The packet's stream.
    stream: u32,
    /// The processor that works on it.
    cpu: u32,
    /// The packet's size in bytes; 0 where no size is modelled.
    bytes: u16,
    /// How long its processor ran no protocol code before, ns; infinite if it never did.
    idle: f64,
    /// What the profile says it takes, ns.
    usual: f64,
    /// A random number from 0 to 1, drawn from the scenario's seed: costs that draw stay reproducible.
    random: f64,
}

/// What packets cost: as the profile says, or a function in Python of that.
pub(crate) struct PythonCosts {
    model: ExecutionModel,
    function: Option<CostFunction>,
    raised: Raised,
}

/// A function in Python of what a packet finds. Clones are one function.
#[derive(Clone)]
pub(crate) struct CostFunction {
    /// As it was given.
    given: Arc<Py<PyAny>>,
    /// As it is in this run, and what it draws.
    now: Arc<Mutex<(Py<PyAny>, Random)>>,
    raised: Raised,
}

impl CostFunction {
    pub(crate) fn new(py: Python<'_>, function: &Py<PyAny>, raised: &Raised) -> Self {
        let any = Key { seed: 0, point: 0, replication: 0 }.stream(Purpose::OwnCost);
        Self {
            given: Arc::new(function.clone_ref(py)),
            now: Arc::new(Mutex::new((function.clone_ref(py), any))),
            raised: raised.clone(),
        }
    }

    /// Begins a run: with a deep copy of the function as it was given, and with the random numbers of this name.
    pub(crate) fn begin(&self, key: Key) {
        let function = Python::attach(|py| copied(py, &self.given, &self.raised));
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = (function, key.stream(Purpose::OwnCost));
    }

    /// The function, and a number that it may use.
    fn next(&self, py: Python<'_>) -> (Py<PyAny>, f64) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        (now.0.clone_ref(py), fraction(&mut now.1))
    }
}

impl PythonCosts {
    pub(crate) const fn new(model: ExecutionModel, function: Option<CostFunction>, raised: Raised) -> Self {
        Self { model, function, raised }
    }

    fn ask(&self, function: &CostFunction, found: &costs::Found, idle: Nanos, usual: Nanos) -> PyResult<f64> {
        Python::attach(|py| {
            self.raised.glance(py)?;
            let (function, random) = function.next(py);
            let service = Found {
                situation: found.situation.to_string(),
                stream: found.stream.0,
                cpu: found.cpu.0,
                bytes: found.bytes,
                idle: idle.0,
                usual: usual.0,
                random,
            };
            let cost = function.bind(py).call1((service,))?;
            match cost.extract() {
                Ok(ns) if COSTS.contains(&ns) => Ok(ns),
                _ => Err(refused("cost()", &cost.repr()?.to_string(), "a time from 1 to 1e9 ns")),
            }
        })
    }
}

impl CostModel for PythonCosts {
    fn receive(&self, found: &costs::Found, idle: impl Fn(usize) -> Nanos) -> Nanos {
        let nearest = idle(0);
        let usual = CostModel::receive(&self.model, found, idle);
        match &self.function {
            Some(function) if !self.raised.is_set() => self.ask(function, found, nearest, usual).map_or_else(
                |error| {
                    self.raised.note(error);
                    usual
                },
                Nanos,
            ),
            _ => usual,
        }
    }

    fn sharers(&self) -> Vec<u32> {
        CostModel::sharers(&self.model)
    }

    fn acquire_overhead(&self) -> Nanos {
        CostModel::acquire_overhead(&self.model)
    }

    fn release_overhead(&self) -> Nanos {
        CostModel::release_overhead(&self.model)
    }
}
