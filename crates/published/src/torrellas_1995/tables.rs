//! Tables II to V of the text, as printed.

/// One of the five applications (Table I).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum App {
    /// Blocked matrix multiplication.
    Matrix,
    /// Sparse factorisation.
    Cholesky,
    /// Rarefied flow.
    Mp3d,
    /// Parallel compilation.
    Pmake,
    /// Database.
    Oracle,
}

/// Edges of the bins of Table II, in milliseconds.
pub const EDGES_MS: [f64; 8] = [1.0, 5.0, 9.0, 13.0, 17.0, 21.0, 25.0, 30.0];

/// What Tables II to IV say of an application.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Characteristics {
    /// Percent of dispatch intervals in each bin (Table II).
    pub intervals: [f64; 7],
    /// Percent of terminations (Table III): end of quantum, semaphore, synchronisation, and system call, TLB fault and other
    /// together.
    pub ends: [f64; 4],
    /// Thousands of misses in a cache reload (Table IV).
    pub reload: f64,
    /// Median effective time slice in milliseconds (Table IV).
    pub slice_ms: f64,
    /// Thousands of misses as an intervening application (Table IV).
    pub intervening: f64,
    /// Processes (§2 and Table I).
    pub processes: u32,
}

impl App {
    /// All of them, in the order of the tables.
    pub const ALL: [Self; 5] = [Self::Matrix, Self::Cholesky, Self::Mp3d, Self::Pmake, Self::Oracle];

    /// Its name in the text.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Matrix => "Matrix",
            Self::Cholesky => "Cholesky",
            Self::Mp3d => "Mp3d",
            Self::Pmake => "Pmake",
            Self::Oracle => "Oracle",
        }
    }

    /// What Tables II to IV say of it.
    #[must_use]
    pub const fn characteristics(self) -> Characteristics {
        let (intervals, ends, [reload, slice_ms, intervening], processes) = match self {
            Self::Matrix => {
                ([3.0, 1.0, 0.0, 1.0, 1.0, 1.0, 93.0], [94.6, 2.2, 0.0, 3.2], [3.0, 30.0, 6.0], 4)
            }
            Self::Cholesky => {
                ([19.0, 9.0, 5.0, 5.0, 5.0, 8.0, 49.0], [46.2, 2.3, 47.9, 3.6], [1.0, 25.0, 5.0], 4)
            }
            Self::Mp3d => {
                ([17.0, 9.0, 8.0, 5.0, 14.0, 11.0, 36.0], [26.2, 10.1, 60.7, 3.0], [0.0, 20.0, 18.0], 4)
            }
            Self::Pmake => {
                ([40.0, 11.0, 8.0, 6.0, 7.0, 8.0, 20.0], [21.5, 47.5, 0.0, 31.0], [0.5, 5.0, 1.5], 8)
            }
            Self::Oracle => {
                ([67.0, 32.0, 1.0, 0.0, 0.0, 0.0, 0.0], [1.1, 39.2, 21.9, 37.8], [2.0, 3.0, 2.5], 12)
            }
        };
        Characteristics { intervals, ends, reload, slice_ms, intervening, processes }
    }
}

/// A workload of Table V, or one of the two of figure 5.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Workload {
    /// Matrix + Matrix.
    MatrixMatrix,
    /// Matrix + Cholesky.
    MatrixCholesky,
    /// Matrix + Mp3d.
    MatrixMp3d,
    /// Pmake + Matrix.
    PmakeMatrix,
    /// Pmake + Cholesky.
    PmakeCholesky,
    /// Pmake + Pmake.
    PmakePmake,
    /// Oracle.
    Oracle,
    /// Pmake + Matrix + Matrix.
    PmakeMatrixMatrix,
    /// Oracle + Matrix + Matrix.
    OracleMatrixMatrix,
}

/// A row of Table V: time in seconds, misses in millions and idle percent of the standard scheduler; then the changes of time and
/// misses in percent under light, heavy and attached scheduling, and idle percent under the last.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TableV {
    /// Execution time in seconds, misses in millions, idle percent.
    pub standard: [f64; 3],
    /// Change of time and misses in percent.
    pub light: [f64; 2],
    /// The same.
    pub heavy: [f64; 2],
    /// The same, and idle percent.
    pub attached: [f64; 3],
}

impl Workload {
    /// Those of Table V, in its order.
    pub const TABLE_V: [Self; 7] = [
        Self::MatrixMatrix,
        Self::MatrixCholesky,
        Self::MatrixMp3d,
        Self::PmakeMatrix,
        Self::PmakeCholesky,
        Self::PmakePmake,
        Self::Oracle,
    ];
    /// Those of figure 5.
    pub const FIGURE_5: [Self; 3] = [Self::Oracle, Self::PmakeMatrixMatrix, Self::OracleMatrixMatrix];

    /// Its applications.
    #[must_use]
    pub const fn applications(self) -> &'static [App] {
        match self {
            Self::MatrixMatrix => &[App::Matrix, App::Matrix],
            Self::MatrixCholesky => &[App::Matrix, App::Cholesky],
            Self::MatrixMp3d => &[App::Matrix, App::Mp3d],
            Self::PmakeMatrix => &[App::Pmake, App::Matrix],
            Self::PmakeCholesky => &[App::Pmake, App::Cholesky],
            Self::PmakePmake => &[App::Pmake, App::Pmake],
            Self::Oracle => &[App::Oracle],
            Self::PmakeMatrixMatrix => &[App::Pmake, App::Matrix, App::Matrix],
            Self::OracleMatrixMatrix => &[App::Oracle, App::Matrix, App::Matrix],
        }
    }

    /// Its name in the text.
    #[must_use]
    pub fn name(self) -> String {
        let names: Vec<&str> = self.applications().iter().map(|app| app.name()).collect();
        names.join(" + ")
    }

    /// Its row of Table V; none for those of figure 5 alone.
    #[must_use]
    pub const fn row(self) -> Option<TableV> {
        let (standard, light, heavy, attached) = match self {
            Self::MatrixMatrix => ([16.8, 11.2, 2.0], [-6.1, -36.3], [-6.8, -39.4], [-1.1, -9.1, 2.0]),
            Self::MatrixCholesky => ([17.3, 11.1, 2.0], [-4.2, -13.4], [-6.6, -18.3], [1.0, -15.7, 5.0]),
            Self::MatrixMp3d => ([14.6, 20.7, 2.0], [0.5, -8.7], [-3.6, -15.6], [11.0, 17.4, 2.0]),
            Self::PmakeMatrix => ([52.6, 49.7, 4.0], [-10.3, -11.8], [-2.5, -15.6], [44.1, -13.4, 36.0]),
            Self::PmakeCholesky => ([43.1, 46.2, 10.0], [-7.5, -6.7], [-5.2, -9.7], [45.9, -6.8, 39.0]),
            Self::PmakePmake => ([60.0, 70.5, 21.0], [-1.6, -6.5], [-1.2, -8.0], [75.7, 1.8, 54.0]),
            Self::Oracle => ([64.8, 141.4, 12.0], [-8.0, -7.1], [-7.0, -8.1], [15.6, -11.4, 29.0]),
            Self::PmakeMatrixMatrix | Self::OracleMatrixMatrix => return None,
        };
        Some(TableV { standard, light, heavy, attached })
    }
}
