//! A policy that is written in Python, as the simulator asks for it.

mod costs;
mod raised;

pub(crate) use costs::{CostFunction, Found, PythonCosts};
pub(crate) use raised::Raised;

use pyo3::intern;
use pyo3::prelude::*;
use raised::{copied, fraction, refused};
use rand_core::Rng;
use warmcore_policy as policy;
use warmcore_units::CpuId;

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

impl<const COMMON: bool> policy::Policy for PythonPolicy<COMMON> {
    const QUEUES: policy::Queues = if COMMON { policy::Queues::Common } else { policy::Queues::PerProcessor };
    const USES_LOAD: bool = !COMMON;

    fn place(
        &mut self,
        request: policy::Request,
        view: &impl policy::View,
        random: &mut impl Rng,
    ) -> policy::Decision {
        if self.raised.is_set() {
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
