//! A policy and costs that are written in Python, as the simulator asks for them.

use crate::failure::{Class, Complaint, Failure};
use pyo3::intern;
use pyo3::prelude::*;
use rand_core::Rng;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use warmcore_costs::{self as costs, CostModel, ExecutionModel};
use warmcore_policy as policy;
use warmcore_units::{CpuId, Nanos};
use warmcore_workload::random::Random;
use warmcore_workload::{Key, Purpose};

/// Calls between two looks for signals: code that runs in C looks for none itself.
const CALLS: u32 = 256;
/// What a packet may take, ns: less is lost in rounding, and with more, all that arrives meanwhile is kept.
const COSTS: std::ops::RangeInclusive<f64> = 1.0..=1e9;

/// The first exception of a run. Once there is one, no more packets arrive.
#[derive(Clone, Default)]
pub(crate) struct Raised {
    first: Arc<OnceLock<Mutex<Option<PyErr>>>>,
    stop: Arc<AtomicBool>,
    calls: Arc<AtomicU32>,
}

impl Raised {
    /// The flag that is set when the run shall end.
    pub(crate) fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// # Errors
    /// The exception, if there was one.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let first = self.first.get().and_then(|first| first.lock().ok()?.take());
        first.map_or(Ok(()), |raised| Err(Failure::Interrupted(Some(raised))))
    }

    /// Looks for signals, every so many calls.
    fn glance(&self, py: Python<'_>) -> PyResult<()> {
        match self.calls.fetch_add(1, Ordering::Relaxed) % CALLS {
            0 => py.check_signals(),
            _ => Ok(()),
        }
    }

    #[cold]
    fn note(&self, error: PyErr) {
        // Later ones may follow from the first.
        let _ = self.first.set(Mutex::new(Some(error)));
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Run the packet now, on this idle processor.
#[pyclass(frozen, eq, hash, module = "warmcore._native")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Run {
    /// The processor.
    #[pyo3(get)]
    cpu: u32,
}

/// Let the packet wait in this processor's queue, or in the common one.
#[pyclass(frozen, eq, hash, module = "warmcore._native")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Wait {
    /// The processor.
    #[pyo3(get)]
    cpu: u32,
}

#[pymethods]
impl Run {
    #[new]
    fn new(cpu: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { cpu: number(cpu)? })
    }

    fn __repr__(&self) -> String {
        format!("Run({})", self.cpu)
    }

    const fn __getnewargs__(&self) -> (u32,) {
        (self.cpu,)
    }
}

#[pymethods]
impl Wait {
    #[new]
    fn new(cpu: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { cpu: number(cpu)? })
    }

    fn __repr__(&self) -> String {
        format!("Wait({})", self.cpu)
    }

    const fn __getnewargs__(&self) -> (u32,) {
        (self.cpu,)
    }
}

/// The number of a processor.
fn number(cpu: &Bound<'_, PyAny>) -> PyResult<u32> {
    cpu.extract().or_else(|_| Err(refused("cpu", &cpu.repr()?.to_string(), "a processor's number from 0")))
}

/// What a model in Python says is impossible.
fn refused(field: &str, found: &str, expected: &str) -> PyErr {
    let complaint = Complaint {
        message: format!("`{field}` is {found}, expected {expected}"),
        field: Some(field.to_owned()),
        found: Some(found.to_owned()),
        expected: Some(expected.to_owned()),
    };
    Failure::Unusable(Class::Scenario, complaint).into()
}

/// A packet that needs a processor.
#[pyclass(frozen, get_all, module = "warmcore")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    /// When it arrived, ns since the start of the run.
    now: f64,
    /// Its stream.
    stream: u32,
    /// The stack that processes it if it runs at home.
    stack: u32,
    /// The processor that its stream or stack is assigned to.
    home: u32,
    /// The processor that last wrote its session's lines; `None` if none did.
    last: Option<u32>,
    /// A random number from 0 to 1, drawn from the scenario's seed: policies that draw stay reproducible.
    random: f64,
}

/// What a policy sees of the processors when a packet arrives. It is a copy, valid after the call too.
#[pyclass(frozen, module = "warmcore")]
#[derive(Clone, Debug)]
pub(crate) struct View {
    idle: Vec<bool>,
    loads: Vec<u32>,
    /// How many processors there are.
    #[pyo3(get)]
    processors: u32,
    /// The idle processor that ran protocol code last; `None` if all are busy.
    #[pyo3(get)]
    most_recent: Option<u32>,
    /// The idle processor that has run no protocol code for longest; `None` if all are busy.
    #[pyo3(get)]
    least_recent: Option<u32>,
    /// How many processors are running protocol code.
    #[pyo3(get)]
    busy: u32,
    /// How many packets wait in all queues together.
    #[pyo3(get)]
    waiting: u32,
}

#[pymethods]
impl View {
    /// Whether `cpu` runs no protocol code; false of a processor that is not there.
    fn is_idle(&self, cpu: usize) -> bool {
        self.idle.get(cpu).copied().unwrap_or(false)
    }

    /// The idle processors, by number.
    #[getter]
    fn idle(&self) -> Vec<usize> {
        (0..self.idle.len()).filter(|&cpu| self.idle[cpu]).collect()
    }

    /// How many packets are at `cpu`, in service or in its queue. Known under queues per processor.
    fn load(&self, cpu: usize) -> Option<u32> {
        self.loads.get(cpu).copied()
    }

    /// The loads of all processors, by number; empty under a common queue.
    #[getter]
    fn loads(&self) -> Vec<u32> {
        self.loads.clone()
    }
}

/// A policy in Python. Packets wait in one queue for all processors if `COMMON`, or in one for each.
pub(crate) struct PythonPolicy<const COMMON: bool> {
    policy: Py<PyAny>,
    raised: Raised,
}

impl<const COMMON: bool> PythonPolicy<COMMON> {
    pub(crate) const fn new(policy: Py<PyAny>, raised: Raised) -> Self {
        Self { policy, raised }
    }

    fn ask(
        &self,
        request: policy::Request,
        view: &impl policy::View,
        random: f64,
    ) -> PyResult<policy::Decision> {
        Python::attach(|py| {
            self.raised.glance(py)?;
            let [request, view] = [
                seen_request(request, random).into_pyobject(py)?.into_any(),
                seen_view(view, !COMMON).into_pyobject(py)?.into_any(),
            ];
            let answer = self.policy.bind(py).call_method1(intern!(py, "place"), (request, view))?;
            if let Ok(run) = answer.cast::<Run>() {
                return Ok(policy::Decision::Run(CpuId(run.get().cpu)));
            }
            if let Ok(wait) = answer.cast::<Wait>() {
                return Ok(policy::Decision::Wait(CpuId(wait.get().cpu)));
            }
            let found = answer.repr()?.to_string();
            Err(refused("policy.place()", &found, "wc.Run(cpu) or wc.Wait(cpu)"))
        })
    }
}

impl<const COMMON: bool> Clone for PythonPolicy<COMMON> {
    /// A deep copy, so that each run begins with the policy as it was given.
    fn clone(&self) -> Self {
        let policy = Python::attach(|py| copied(py, &self.policy, &self.raised));
        Self { policy, raised: self.raised.clone() }
    }
}

/// A deep copy of a model, so that each run begins with it as it was given.
fn copied(py: Python<'_>, model: &Py<PyAny>, raised: &Raised) -> Py<PyAny> {
    let copy = || Ok(py.import("copy")?.call_method1("deepcopy", (model,))?.unbind());
    copy().unwrap_or_else(|error| {
        raised.note(error);
        model.clone_ref(py)
    })
}

/// A number from 0 to 1.
fn fraction(random: &mut impl Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

impl<const COMMON: bool> policy::Policy for PythonPolicy<COMMON> {
    const QUEUES: policy::Queues = if COMMON { policy::Queues::Common } else { policy::Queues::PerProcessor };
    const USES_LOAD: bool = !COMMON;

    fn place(
        &mut self,
        request: policy::Request,
        view: &impl policy::View,
        random: &mut impl Rng,
    ) -> policy::Decision {
        if self.raised.stop.load(Ordering::Relaxed) {
            return policy::Decision::Wait(request.home);
        }
        self.ask(request, view, fraction(random)).unwrap_or_else(|error| {
            self.raised.note(error);
            policy::Decision::Wait(request.home)
        })
    }
}

fn seen_request(request: policy::Request, random: f64) -> Request {
    let policy::Request { now, stream, stack, home, last } = request;
    Request {
        now: now.0,
        stream: stream.0,
        stack: stack.0,
        home: home.0,
        last: last.map(|cpu| cpu.0),
        random,
    }
}

fn seen_view(view: &impl policy::View, with_loads: bool) -> View {
    let processors = view.processors();
    let all = || (0..processors).map(CpuId);
    View {
        idle: all().map(|cpu| view.is_idle(cpu)).collect(),
        loads: if with_loads { all().map(|cpu| view.load(cpu)).collect() } else { Vec::new() },
        processors,
        most_recent: view.most_recent().map(|cpu| cpu.0),
        least_recent: view.least_recent().map(|cpu| cpu.0),
        busy: view.busy(),
        waiting: view.waiting(),
    }
}

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
            Some(function) if !self.raised.stop.load(Ordering::Relaxed) => {
                self.ask(function, found, nearest, usual).map_or_else(
                    |error| {
                        self.raised.note(error);
                        usual
                    },
                    Nanos,
                )
            }
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
