//! `warmcore layout trace`.

use super::input;
use crate::args::layout::TraceArguments;
use crate::calibrate::existing;
use crate::misuse::{OrMisuse, misuse};
use crate::{folder, interrupt, progress, terminal};
use miette::{IntoDiagnostic, WrapErr, miette};
use std::ffi::OsString;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::Duration;
use warmcore_layout::lackey::{self, Between};
use warmcore_layout::program::Program;
use warmcore_layout::trace::Trace;
use warmcore_linux::StopPoint;

/// The longest output of lackey's, in bytes: a line has about twenty.
const LONGEST_OUTPUT: u64 = 64 << 30;

/// Paths of a program.
struct Traced {
    paths: Vec<Trace>,
    /// How long each took while it was stepped.
    times: Vec<Duration>,
    /// How the program ended by itself.
    end: Option<String>,
}

pub(super) fn run(arguments: &TraceArguments) -> miette::Result<()> {
    let [program, ..] = &arguments.program[..] else { return Err(misuse("no program is given")) };
    let program = file(program, arguments);
    let inputs = [Some(program.as_path()), arguments.lackey.as_deref()];
    let inputs: Vec<&Path> = inputs.into_iter().flatten().collect();
    input::check_output(&arguments.output, arguments.force, &inputs)?;
    let Traced { mut paths, times, end } = match &arguments.lackey {
        Some(output) => read(arguments, output, &program)?,
        None => traced(arguments)?,
    };
    let lengths: Vec<usize> = paths.iter().map(|path| path.steps().len()).collect();
    let chosen = median(&lengths);
    let trace = paths.swap_remove(chosen);
    let mut bytes = Vec::new();
    trace.write(&mut bytes).into_diagnostic()?;
    folder::write(&arguments.output, &bytes, existing(arguments.force))?;
    let mut text = terminal::layout::traced(&trace, &lengths);
    text += &ended(lengths.len(), arguments.passes.into(), end.as_deref());
    text += &times.get(chosen).map_or_else(String::new, stepped_for);
    text += &next(&arguments.output);
    crate::output::print(text.as_bytes())
}

/// The file of the program: where `PATH` has it if it is to be started. One that cannot be is refused when it is.
fn file(program: &OsString, arguments: &TraceArguments) -> PathBuf {
    let found = || warmcore_linux::Program::find(std::slice::from_ref(program)).ok();
    let found = if arguments.lackey.is_some() { None } else { found() };
    found.unwrap_or_else(|| program.into())
}

/// The place of the median; of two in the middle that of the shorter one, so that it is a pass.
fn median(lengths: &[usize]) -> usize {
    let mut places: Vec<usize> = (0..lengths.len()).collect();
    places.sort_by_key(|&place| lengths[place]);
    places[(lengths.len() - 1) / 2]
}

#[cfg(target_arch = "x86_64")]
fn traced(arguments: &TraceArguments) -> miette::Result<Traced> {
    use warmcore_layout::native::{Request, trace};
    use warmcore_linux::stepping::Launch;
    let mut launch = Launch::new(&arguments.program);
    launch.time = arguments.time_limit;
    launch.stop = Some(interrupt::catch()?);
    let bar = progress::open_ended("tracing");
    let (first, last) = (arguments.from.clone(), arguments.to.clone());
    let passes = arguments.passes.into();
    let traced = trace(&Request { launch, first, last, passes, finish: arguments.finish });
    bar.finish_and_clear();
    let traced = traced.map_err(refused)?;
    Ok(Traced { paths: traced.paths, times: traced.times, end: traced.end.map(|end| end.to_string()) })
}

#[cfg(not(target_arch = "x86_64"))]
fn traced(_: &TraceArguments) -> miette::Result<Traced> {
    Err(misuse("programs are traced on x86-64 only; --lackey reads what valgrind traced"))
}

/// An error, which is wrong usage if the program or a marker was not found.
#[cfg(target_arch = "x86_64")]
fn refused(error: warmcore_layout::native::NativeError) -> miette::Report {
    use warmcore_layout::native::NativeError;
    use warmcore_linux::stepping::SteppingError;
    match error {
        NativeError::Program(_)
        | NativeError::Marker(_)
        | NativeError::Stepping(SteppingError::NoSuchProgram { .. } | SteppingError::NotExecutable { .. }) => {
            misuse(error.to_string())
        }
        error => miette!("{error}"),
    }
}

/// The paths in an output of lackey's.
fn read(arguments: &TraceArguments, output: &Path, program: &Path) -> miette::Result<Traced> {
    interrupt::end_at_once()?;
    let named = || format!("--lackey {}", output.display());
    warmcore_files::check(output, LONGEST_OUTPUT).or_misuse().wrap_err_with(named)?;
    let program = Program::read(program).or_misuse()?;
    let address = |marker| match program.place(marker).or_misuse()? {
        StopPoint::Execute(address) => Ok(address),
        StopPoint::Store { .. } => Err(misuse("--lackey: stores are no markers, expected code")),
    };
    let between = Between { first: address(&arguments.from)?, last: address(&arguments.to)? };
    let file = File::open(output).or_misuse().wrap_err_with(named)?;
    let passes = arguments.passes.into();
    let paths = lackey::read(BufReader::new(file), program.functions(0), Some(between), passes);
    let paths = paths.or_misuse().wrap_err_with(|| {
        format!("{} (a program that may lie anywhere has to be linked with -no-pie)", named())
    })?;
    Ok(Traced { paths, times: Vec::new(), end: None })
}

/// How the program ended, if it did, and how many of the passes asked for there were if not all of them.
fn ended(passes: usize, asked_for: usize, end: Option<&str>) -> String {
    let of = format!("{passes} of the {asked_for} passes that were asked for");
    match end {
        Some(end) if passes < asked_for => format!("The program ended after {of}: {end}.\n"),
        Some(end) => format!("The program ended: {end}.\n"),
        None if passes < asked_for => format!("There are only {of}.\n"),
        None => String::new(),
    }
}

fn stepped_for(time: &Duration) -> String {
    format!(
        "The pass took {:.3} s while it was stepped, far longer than at full speed: what depends on time, such as a time limit \
         in the program, may have gone another way.\n",
        time.as_secs_f64()
    )
}

/// How to go on with the trace in `file`.
fn next(file: &Path) -> String {
    let file = file.display();
    format!(
        "The trace: {file}. `warmcore layout order {file} --output order.txt` orders its functions for the linker.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::{ended, median};

    #[test]
    fn fewer_passes_than_asked_for_are_told() {
        assert_eq!(ended(3, 3, None), "");
        assert_eq!(ended(3, 3, Some("exit status 0")), "The program ended: exit status 0.\n");
        let early = ended(1, 100, Some("exit status 0"));
        assert_eq!(
            early,
            "The program ended after 1 of the 100 passes that were asked for: exit status 0.\n"
        );
        assert_eq!(ended(9, 1000, None), "There are only 9 of the 1000 passes that were asked for.\n");
    }

    #[test]
    fn the_median_is_a_pass() {
        assert_eq!(median(&[7]), 0);
        assert_eq!(median(&[9, 7, 8]), 2);
        assert_eq!(median(&[9, 7, 8, 100]), 2);
    }
}
