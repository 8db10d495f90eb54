//! The tables as printed.

use super::work::App;
use warmcore_sim::cluster::Occupancy;
use warmcore_workload::programs::{AnyProgram, Size};

/// Table 4.2: execution times of Single and of Floating with two processors over those of Fixed with two, for interrupts of 0.5, 5
/// and 50 µs.
#[must_use]
pub const fn table_4_2(app: App) -> Option<[f64; 6]> {
    Some(match app {
        App::Barnes => [1.17, 1.45, 3.25, 0.69, 0.76, 1.00],
        App::Em3d => [1.41, 1.85, 5.44, 1.04, 1.05, 1.12],
        App::Gauss => [1.01, 1.04, 1.57, 0.72, 0.75, 0.75],
        App::Lu => [1.06, 1.17, 1.99, 0.69, 0.74, 0.92],
        App::WaterSp => [1.03, 1.10, 1.59, 0.54, 0.56, 0.70],
        App::Cholesky | App::Fft | App::Fmm | App::Radix => return None,
    })
}

/// Table 5.3: execution time on a uniprocessor in millions of cycles, and S-COMA's speedup on 8 nodes of 8 processors.
#[must_use]
pub const fn table_5_3(app: App) -> Option<[f64; 2]> {
    Some(match app {
        App::Barnes => [2_284.0, 31.0],
        App::Cholesky => [976.0, 5.0],
        App::Em3d => [740.0, 34.0],
        App::Fft => [2_489.0, 19.0],
        App::Fmm => [3_351.0, 31.0],
        App::Radix => [903.0, 12.0],
        App::WaterSp => [3_965.0, 61.0],
        App::Gauss | App::Lu => return None,
    })
}

/// A row of Table 5.1: cycles of 400 MHz in S-COMA, Hurricane and Hurricane-1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// What happens.
    pub action: &'static str,
    /// Where it happens.
    pub part: Part,
    /// The printed cycles.
    pub published: [u64; 3],
}

/// A part of Table 5.1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The processor that misses, and the network.
    Around,
    /// Request occupancy.
    Request,
    /// Reply occupancy.
    Reply,
    /// Response occupancy.
    Response,
}

/// Table 5.1, in the order of a remote read.
pub const TABLE_5_1: [Row; 13] = [
    row("detect cache miss, issue bus transaction", Part::Around, [5, 5, 5]),
    row("detect block access fault, reverse translation, dispatch handler", Part::Request, [12, 16, 87]),
    row("get fault state, send message", Part::Request, [0, 36, 141]),
    row("network latency of the request", Part::Around, [100, 100, 100]),
    row("dispatch message handler, at home", Part::Reply, [1, 3, 51]),
    row("reverse translation, directory lookup", Part::Reply, [8, 61, 121]),
    row("fetch data, change tag, send message", Part::Reply, [136, 140, 205]),
    row("network latency of the reply", Part::Around, [100, 100, 100]),
    row("dispatch message handler, at cacher", Part::Response, [1, 4, 50]),
    row("reverse translation", Part::Response, [8, 16, 34]),
    row("place data, change tag", Part::Response, [0, 34, 29]),
    row("resume, reissue bus transaction", Part::Response, [6, 6, 178]),
    row("fetch data, complete load", Part::Around, [63, 63, 63]),
];

/// The printed totals.
pub const TOTALS_5_1: [u64; 3] = [440, 584, 1164];

const fn row(action: &'static str, part: Part, published: [u64; 3]) -> Row {
    Row { action, part, published }
}

/// The rows of Table 5.1 in the simulator, for the same three systems.
#[must_use]
pub fn simulated_5_1() -> [[u64; 13]; 3] {
    let timing = warmcore_sim::cluster::Timing::default();
    [Occupancy::S_COMA, Occupancy::HURRICANE, Occupancy::HURRICANE_1].map(|of| {
        [
            timing.issue,
            of.detect_fault,
            of.send_request,
            timing.network,
            of.dispatch_at_home,
            of.look_up_directory,
            of.fetch_and_send,
            timing.network,
            of.dispatch_at_cacher,
            of.reverse_translate,
            of.place,
            of.resume,
            timing.fill,
        ]
    })
}

/// The input of a program in Tables 4.1 and 5.2.
#[must_use]
pub const fn published_input(app: App) -> &'static str {
    match app {
        App::Barnes | App::Fmm => "16K particles",
        App::Cholesky => "tk29.O",
        App::Em3d => "76K nodes, degree 5, 15 % remote, distance of 16, 10 iterations",
        App::Fft => "1M points",
        App::Gauss => "1920 × 1920 matrix",
        App::Lu => "1200 × 1200 matrix, 16 × 16 blocks",
        App::Radix => "4M integers, radix 1024",
        App::WaterSp => "4096 molecules",
    }
}

/// Our input of a program, in words.
#[must_use]
pub fn our_input(app: App, size: Size) -> String {
    match AnyProgram::from_name(app.name(), size) {
        Ok(AnyProgram::Barnes(input)) => format!("{} particles, {} steps", input.bodies, input.steps),
        Ok(AnyProgram::Cholesky(input)) => {
            let (width, height) = input.grid;
            format!("a generated matrix: grid of {width} × {height}, {} unknowns each", input.unknowns)
        }
        Ok(AnyProgram::Em3d(input)) => format!(
            "{} nodes in all, degree {}, {} % remote, distance of {}, {} iterations",
            input.nodes,
            input.degree,
            100.0 * input.remote,
            input.distance,
            input.iterations
        ),
        Ok(AnyProgram::Fft(input)) => format!("{} points", input.points),
        Ok(AnyProgram::Fmm(input)) => format!("{} particles, {} steps", input.particles, input.steps),
        Ok(AnyProgram::Gauss(input)) => format!("{0} × {0} matrix", input.equations),
        Ok(AnyProgram::Lu(input)) => format!("{0} × {0} matrix, {1} × {1} blocks", input.order, input.block),
        Ok(AnyProgram::Radix(input)) => {
            format!("{} integers below {}, radix {}", input.keys, input.key_range, input.radix)
        }
        Ok(AnyProgram::WaterSp(input)) => format!("{} molecules, {} steps", input.molecules, input.steps),
        Err(fault) => fault.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_add_up_to_the_printed_totals() {
        for (system, total) in TOTALS_5_1.into_iter().enumerate() {
            assert_eq!(TABLE_5_1.iter().map(|row| row.published[system]).sum::<u64>(), total);
        }
    }
}
