//! Grids, their rows and their data sets: what the package `warmcore.sweeping` is made of.

mod own;

pub(crate) use own::{OwnRow, grid_row, grid_table};

use crate::failure::{Class, Complaint, Failure};
use crate::interruptible::{interruptible, interruptible_watched, on_threads};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use warmcore_record::DataSet as Written;
use warmcore_record::dataset::{Begin, DataSetError, Row};
use warmcore_record::remedy::{Remedied as _, Remedy};
use warmcore_scenario::document::{self, Checked as _, DocumentError};
use warmcore_scenario::grid::{AnyScenario, Axis, Grid};
use warmcore_study::grid::order::order;
use warmcore_study::grid::{Plan as Checked, PlanError, PointFailed, Ran, RunError, inspect, run};
use warmcore_units::Fault;

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::Fault(fault) => fault.into(),
            PlanError::Resolve(error) => Self::plain(Class::Profile, error),
            PlanError::Partition { ref field, ref known } => {
                let message = error.to_string();
                let (field, expected) =
                    (Some("partition_by".to_owned()), Some(format!("one of {known}; not {field}")));
                Self::Unusable(Class::Sweep, Complaint { message, field, expected, ..Complaint::default() })
            }
            PlanError::Interrupted => Self::Interrupted(None),
            PlanError::Text(error) => Self::Broken(error.to_string()),
        }
    }
}

impl From<PointFailed> for Failure {
    fn from(failed: PointFailed) -> Self {
        match failed {
            PointFailed::Fault(fault) => fault.into(),
            PointFailed::Interrupted => Self::Interrupted(None),
            other => Self::plain(Class::Sweep, other),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Point(failed) => failed.into(),
            RunError::Keep(error) => error.into(),
            RunError::Threads(_) => Self::Broken(error.to_string()),
            RunError::Interrupted => Self::Interrupted(None),
        }
    }
}

impl From<DataSetError> for Failure {
    fn from(error: DataSetError) -> Self {
        let argument = |remedy| match remedy {
            Remedy::Resume => Some("resume=True"),
            Remedy::BeginAnew => Some("overwrite=True"),
            Remedy::OtherFolder => Some("`out`"),
            _ => None,
        };
        Self::plain(Class::DataSet, error.in_words(argument))
    }
}

/// The bits of the part of a sweep that is done when none is.
const NOTHING: u64 = 0.0_f64.to_bits();

/// What a document can hold.
const UNFIT: &str = "a number below 2^63, a text, true or false, a list or a table";

/// A JSON value as a document has it. `path` names it if that cannot be.
fn value(path: &str, json: serde_json::Value) -> Result<toml::Value, Fault> {
    use serde_json::Value as Json;
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    Ok(match json {
        Json::Bool(flag) => flag.into(),
        Json::String(text) => text.into(),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.into(),
            (None, Some(quantity)) if number.is_f64() => quantity.into(),
            _ => return Err(Fault::new(path, number, UNFIT)),
        },
        Json::Array(items) => {
            let item = |(place, item): (usize, Json)| value(&below(&place.to_string()), item);
            toml::Value::Array(items.into_iter().enumerate().map(item).collect::<Result<_, _>>()?)
        }
        Json::Object(fields) => {
            let field = |(name, field): (String, Json)| Ok((name.clone(), value(&below(&name), field)?));
            toml::Value::Table(fields.into_iter().map(field).collect::<Result<_, Fault>>()?)
        }
        Json::Null => return Err(Fault::new(path, "missing", UNFIT)),
    })
}

/// The values of an axis along `fields`, in a JSON list. One field alone has its values, several have a list for each point.
fn axis(fields: Vec<String>, values: &str) -> Result<Axis, Failure> {
    let path = fields.join(", ");
    let values: Vec<serde_json::Value> = serde_json::from_str(values).map_err(broken)?;
    let values = values.into_iter().map(|one| value(&path, one)).collect::<Result<_, _>>()?;
    Ok(match <[String; 1]>::try_from(fields) {
        Ok([field]) => Axis { field: Some(field), values, ..Axis::default() },
        Err(fields) => Axis { fields, values, ..Axis::default() },
    })
}

/// The address of a Dask scheduler, as its library takes it.
#[pyfunction]
pub(crate) fn scheduler_address(address: &str) -> PyResult<String> {
    let refused = |fault: Fault| {
        let expected = format!("\"local\", a Dask client, or {}", fault.expected);
        Failure::Unusable(Class::Scheduler, Fault { expected, ..fault }.into())
    };
    Ok(warmcore_study::grid::scheduler_address(address).map_err(refused)?)
}

fn broken(error: impl ToString) -> Failure {
    Failure::Broken(error.to_string())
}

/// A grid whose points can be simulated. Rows are the same bits wherever they are found.
#[pyclass(frozen, module = "warmcore")]
pub(crate) struct Plan {
    plan: Checked,
}

#[pymethods]
impl Plan {
    /// The plan of the grid in a TOML `text`, or in the file at `path`. A worker need not check what its client has checked.
    #[new]
    #[pyo3(signature = (text = None, path = None, checked = false))]
    fn new(py: Python<'_>, text: Option<&str>, path: Option<PathBuf>, checked: bool) -> PyResult<Self> {
        Self::made(py, |stop| {
            let grid: Grid = match (text, path) {
                (Some(text), None) => document::parse(text, "grid.toml".as_ref()).map_err(unfit)?,
                (_, Some(path)) => document::read(&path).map_err(unfit)?,
                (None, None) => {
                    return Err(Failure::plain(Class::Scenario, "neither a text nor a path is given"));
                }
            };
            Ok(if checked { Checked::unchecked(grid) } else { Checked::new_until(grid, stop) }?)
        })
    }

    /// The plan of the grid of a JSON `scenario` along `axes`: each has its fields, and a JSON list of values.
    #[staticmethod]
    fn along(
        py: Python<'_>,
        model: &str,
        scenario: &str,
        axes: Vec<(Vec<String>, String)>,
    ) -> PyResult<Self> {
        Self::made(py, |stop| {
            let model = toml::Value::String(model.to_owned()).try_into().map_err(broken)?;
            let toml::Value::Table(scenario) = value("", serde_json::from_str(scenario).map_err(broken)?)?
            else {
                return Err(broken("the scenario is no table"));
            };
            let axes = axes.into_iter().map(|(fields, values)| axis(fields, &values));
            let grid = Grid::new(model, scenario, axes.collect::<Result<_, _>>()?);
            grid.check().map_err(|fault| grid.named(fault))?;
            Ok(Checked::new_until(grid, stop)?)
        })
    }

    /// The grid's document, which stands for itself.
    #[getter]
    fn text(&self) -> &str {
        self.plan.text()
    }

    /// The checksum of the document.
    #[getter]
    fn identity(&self) -> String {
        self.plan.identity().to_string()
    }

    /// What is simulated.
    #[getter]
    fn model(&self) -> String {
        self.plan.points().grid().model.to_string()
    }

    /// The fields that are varied.
    #[getter]
    fn fields(&self) -> Vec<String> {
        self.plan.points().fields().map(ToOwned::to_owned).collect()
    }

    /// How many points there are.
    fn __len__(&self) -> usize {
        usize::try_from(self.plan.points().count()).unwrap_or(usize::MAX)
    }

    /// The point of this index in words.
    fn point(&self, index: u64) -> String {
        self.plan.points().in_words(index)
    }

    /// The TOML of the scenario of a point; the rate of one with a load is none of its own.
    fn scenario(&self, index: u64) -> PyResult<String> {
        let mut point = self.plan.points().get(index).map_err(Failure::from)?;
        if let (Some(_), AnyScenario::Packet(scenario)) = (point.load, &mut point.scenario) {
            scenario.rate_per_s = None;
        }
        Ok(point.scenario.to_toml().map_err(broken)?)
    }

    /// The rows of these points, one after the other, as texts for [`DataSet::add`].
    fn rows(&self, py: Python<'_>, indices: Vec<u64>) -> PyResult<Vec<String>> {
        let rows = py.detach(|| {
            // One processor for each caller: whoever calls this has others for the other points.
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(broken)?;
            pool.install(|| {
                // A worker ends a task by ending its process.
                let never = Arc::default();
                let row = |index| text(&self.plan.row(index, &never)?);
                indices.into_iter().map(row).collect::<Result<Vec<String>, Failure>>()
            })
        });
        Ok(rows?)
    }
}

impl Plan {
    /// What `make` makes, which Ctrl-C ends.
    fn made(
        py: Python<'_>,
        make: impl FnOnce(&AtomicBool) -> Result<Checked, Failure> + Send,
    ) -> PyResult<Self> {
        let plan = interruptible(py, |stop| on_threads(|| make(&stop)))?;
        Ok(Self { plan })
    }
}

fn unfit(error: DocumentError) -> Failure {
    Failure::Unusable(Class::Scenario, Complaint::from(error))
}

/// A row as TOML, which keeps every bit of a number.
fn text(row: &Row) -> Result<String, Failure> {
    Ok(toml::Value::try_from(row).map_err(broken)?.to_string())
}

fn row(text: &str) -> Result<Row, Failure> {
    #[derive(serde::Deserialize)]
    struct Line {
        row: Row,
    }
    let line: Line = toml::from_str(&format!("row = {text}")).map_err(broken)?;
    Ok(line.row)
}

/// A data set that is being written.
#[pyclass(frozen, module = "warmcore")]
pub(crate) struct DataSet {
    set: Mutex<Option<Written>>,
}

#[pymethods]
impl DataSet {
    /// Takes the folder at `path` for the rows of `plan`. `begin` is what to do about a data set that is there: "new" refuses
    /// it, "resume" continues it, "anew" removes it.
    #[new]
    #[pyo3(signature = (plan, path, begin, partition_by = None))]
    fn new(plan: &Plan, path: PathBuf, begin: &str, partition_by: Option<&str>) -> PyResult<Self> {
        let begin = match begin {
            "resume" => Begin::Resume,
            "anew" => Begin::Anew,
            _ => Begin::New,
        };
        let contents = plan.plan.contents(partition_by).map_err(Failure::from)?;
        let set = Written::open(&path, contents, begin).map_err(Failure::from)?;
        Ok(Self { set: Mutex::new(Some(set)) })
    }

    /// The points whose rows are not known, in the order in which to begin them, with the seconds that each may take.
    fn missing(&self, py: Python<'_>, plan: &Plan) -> PyResult<Vec<(u64, f64)>> {
        let points = interruptible(py, |stop| {
            self.locked(|set| {
                let known = |index| set.knows(index);
                on_threads(|| order(&plan.plan, known, &stop).ok_or(Failure::Interrupted(None)))
            })
        });
        Ok(points?)
    }

    /// Simulates every point of `plan` whose row is not known on this machine's threads, `jobs` at a time, and adds the rows.
    /// `progress` is called now and then, when more are done, with the rows that are known and the part of the work that is done,
    /// 0 to 1. Returns how many points were simulated, and the seconds that all threads together spent in them.
    #[pyo3(signature = (plan, jobs, progress))]
    fn run(
        &self,
        py: Python<'_>,
        plan: &Plan,
        jobs: Option<u32>,
        progress: &Bound<'_, PyAny>,
    ) -> PyResult<(u64, f64)> {
        let progress = progress.clone().unbind();
        let done = (AtomicU64::new(0), AtomicU64::new(NOTHING));
        let told = AtomicU64::new(NOTHING);
        let work = |set: &Written, stop: &Arc<AtomicBool>| {
            let note = |part: f64| {
                done.0.store(set.known(), Ordering::Relaxed);
                done.1.store(part.to_bits(), Ordering::Release);
            };
            on_threads(|| Ok(run(&plan.plan, set, jobs, note, stop)?))
        };
        let said = |py: Python<'_>| {
            // Rows are counted before the part is said.
            let part = done.1.load(Ordering::Acquire);
            if told.swap(part, Ordering::Relaxed) == part {
                return Ok(());
            }
            let known = done.0.load(Ordering::Relaxed);
            progress.call1(py, (known, f64::from_bits(part))).map(drop)
        };
        let ran = interruptible_watched(py, |stop| self.locked(|set| work(set, &stop)), said);
        let Ran { points, busy_s } = ran?;
        Ok((points, busy_s))
    }

    /// Adds rows by their points' indices.
    fn add(&self, py: Python<'_>, rows: Vec<(u64, String)>) -> PyResult<()> {
        self.with(py, |set| rows.iter().try_for_each(|(index, text)| Ok(set.add(*index, row(text)?)?)))
    }

    /// How many rows are known.
    fn known(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |set| Ok(set.known()))
    }

    /// Marks it as whole; nothing can be added any more.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let set = self.taken();
        py.detach(|| set.map(Written::finish).transpose()).map_err(Failure::from)?;
        Ok(())
    }

    /// Gives the folder back.
    fn close(&self) {
        drop(self.taken());
    }
}

impl DataSet {
    fn taken(&self) -> Option<Written> {
        self.set.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Written) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        Ok(py.detach(|| self.locked(work))?)
    }

    fn locked<T>(&self, work: impl FnOnce(&Written) -> Result<T, Failure>) -> Result<T, Failure> {
        let set = self.set.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        work(set.as_ref().ok_or_else(|| Failure::plain(Class::DataSet, "the data set is closed"))?)
    }
}

/// The manifest, as JSON, of the finished data set in the folder at `path`, whose files are as they were written.
#[pyfunction]
pub(crate) fn manifest(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let description = py.detach(|| inspect(&path)).map_err(Failure::from)?;
    Ok(serde_json::to_string(&description).map_err(broken)?)
}
