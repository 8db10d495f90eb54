//! A sweep on the workers of a Dask scheduler, by the Python package of this program.

use crate::args::ResumableArguments;
use crate::args::grid::EngineArguments;
use crate::misuse::misuse;
use crate::{interrupt, messages};
use miette::{IntoDiagnostic, WrapErr, miette};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use warmcore_record::dataset::description::MANIFEST;
use warmcore_study::grid::Plan;
use warmcore_study::grid::plan::VERSION;

/// How long a scheduler is waited for, in seconds.
const WAIT_S: u64 = 10;

/// The exit status of Python where the arguments, or what is in the folder, cannot be used.
const MISUSE: i32 = 2;

/// Lets Python sweep `plan` on the workers of the scheduler at `address`. The grid goes to its standard input.
pub(super) fn run(
    plan: &Plan,
    address: &str,
    engine: &EngineArguments,
    output: &ResumableArguments,
) -> miette::Result<()> {
    let python = engine.python.as_deref().unwrap_or(Path::new("python3"));
    check(python)?;
    let mut command = Command::new(python);
    command.args(["-m", "warmcore.sweeping", "-", "--dask", address, "--out"]).arg(&output.out);
    command.args(["--dask-timeout", &engine.dask_timeout.unwrap_or(WAIT_S).to_string()]);
    command.args(engine.partition_by.iter().flat_map(|field| ["--partition-by", field]));
    for (flag, is_given) in [("--resume", output.resume), ("--force", output.force), ("--json", output.json)]
    {
        command.args(is_given.then_some(flag));
    }
    // Ctrl-C goes to both; the child cancels its tasks and keeps what is finished, and this process waits for that.
    interrupt::catch()?;
    messages::detail(format_args!("running {} -m warmcore.sweeping", python.display()));
    let unable = || format!("cannot run {}", python.display());
    let mut child = command.stdin(Stdio::piped()).spawn().into_diagnostic().wrap_err_with(unable)?;
    if let Some(mut input) = child.stdin.take() {
        // A child that ended already says why itself.
        drop(input.write_all(plan.text().as_bytes()));
    }
    let status = child.wait().into_diagnostic().wrap_err_with(unable)?;
    // What is wrong is on standard error already.
    match status.code() {
        Some(0) => Ok(()),
        Some(MISUSE) => Err(misuse("the sweep on Dask was not begun")),
        _ if output.out.join(MANIFEST).exists() => Err(miette!(
            "the sweep on Dask ended early ({status}); finished points are kept: --resume continues"
        )),
        _ => Err(miette!("the sweep on Dask ended before its first point ({status})")),
    }
}

/// Whether `python` has this program's package, and what else it needs.
fn check(python: &Path) -> miette::Result<()> {
    let script = "import distributed, warmcore, warmcore.sweeping; print(warmcore.__version__)";
    let found = Command::new(python).args(["-c", script]).stdin(Stdio::null()).output();
    let found = found
        .into_diagnostic()
        .wrap_err_with(|| format!("--dask: cannot run {}: name a Python with --python", python.display()))?;
    let error = String::from_utf8_lossy(&found.stderr);
    let version = String::from_utf8_lossy(&found.stdout);
    match (found.status.success(), version.trim()) {
        (true, VERSION) => Ok(()),
        (true, other) => Err(miette!(
            "--dask: {} has warmcore {other}, expected {VERSION}, the version of this program: install that wheel, or name \
             another Python with --python",
            python.display()
        )),
        (false, _) => Err(miette!(
            "--dask: {} lacks the packages `warmcore` and `distributed` ({}): install the wheel with its extra `dask`, or \
             name another Python with --python",
            python.display(),
            error.trim().rsplit('\n').next().unwrap_or_default()
        )),
    }
}
