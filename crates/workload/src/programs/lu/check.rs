//! The residual of the factors.

use super::PreparedLu;
use crate::programs::input::random;
use crate::programs::{Image, WrongResult};
use rand::RngExt;

/// How large a residual may be, relative to the diagonal, for each row.
const TOLERANCE: f64 = 1e-15;

impl PreparedLu {
    /// The lower factor, whose diagonal is 1, times the upper factor times `vector`.
    fn times(&self, image: &Image, vector: &[f64]) -> Vec<f64> {
        let element = |row: usize, column: usize| image.load_f64(self.element(row as u64, column as u64));
        let order = vector.len();
        let upper: Vec<f64> = (0..order)
            .map(|row| (row..order).map(|column| element(row, column) * vector[column]).sum())
            .collect();
        let below = |row: usize| (0..row).map(|column| element(row, column) * upper[column]).sum::<f64>();
        (0..order).map(|row| upper[row] + below(row)).collect()
    }

    /// Checks the product of both factors.
    pub(super) fn check_product(&self, image: &Image) -> Result<(), WrongResult> {
        // A vector of random elements: a wrong element of a factor changes the product.
        let mut random = random(self.input.seed.wrapping_add(1));
        let vector: Vec<f64> = (0..self.input.order).map(|_| random.random_range(0.5..1.0)).collect();
        let found = self.times(image, &vector);
        let limit = TOLERANCE * self.input.order as f64 * (2.0 * self.input.order as f64);
        let mut result = Ok(());
        self.input.for_each_row(|row, elements| {
            let expected: f64 = elements.iter().zip(&vector).map(|(element, x)| element * x).sum();
            let found = found[row as usize];
            // A comparison that is false for NaN too.
            let near = (found - expected).abs() <= limit;
            if result.is_ok() && !near {
                result = Err(WrongResult {
                    what: format!("row {row} of the product of the factors, times a vector"),
                    expected: format!("{expected} within {limit:.1e}"),
                    found: found.to_string(),
                });
            }
        });
        result
    }
}
