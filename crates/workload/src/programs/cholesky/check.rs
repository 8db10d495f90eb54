//! The factor in an image, and its residual.

use super::PreparedCholesky;
use crate::programs::input::random;
use crate::programs::{Image, WrongResult};
use rand::RngExt;

/// How large a residual may be, relative to the diagonal.
const TOLERANCE: f64 = 1e-12;

impl PreparedCholesky {
    /// Calls `see` with row, column and value of every element of the factor.
    pub(super) fn for_each_element(&self, image: &Image, mut see: impl FnMut(usize, usize, f64)) {
        for (number, panel) in self.panels.iter().enumerate() {
            for column in 0..panel.width {
                let at = self.column(number, column);
                for (place, &row) in panel.rows.iter().enumerate().skip(column) {
                    see(row as usize, panel.first as usize + column, image.load_f64(at.word(place as u64)));
                }
            }
        }
    }

    /// Checks the product of the factor and its transpose.
    pub(super) fn check_product(&self, image: &Image) -> Result<(), WrongResult> {
        // A vector of random elements: a wrong element of the factor changes the product.
        let mut random = random(self.input.seed.wrapping_add(1));
        let vector: Vec<f64> = (0..self.matrix.order()).map(|_| random.random_range(0.5..1.0)).collect();
        let mut expected = vec![0.0; vector.len()];
        let mut scale = 0.0_f64;
        for element in self.matrix.elements(self.input.seed) {
            let (row, column) = (element.row as usize, element.column as usize);
            expected[row] += element.value * vector[column];
            if row != column {
                expected[column] += element.value * vector[row];
            }
            scale = scale.max(element.value);
        }
        // The factor times its transpose times the vector.
        let mut product = vec![0.0; vector.len()];
        self.for_each_element(image, |row, column, value| product[column] += value * vector[row]);
        let mut found = vec![0.0; vector.len()];
        self.for_each_element(image, |row, column, value| found[row] += value * product[column]);
        let limit = TOLERANCE * scale;
        for (row, (expected, found)) in expected.iter().zip(&found).enumerate() {
            // A comparison that is false for NaN too.
            let near = (expected - found).abs() <= limit;
            if !near {
                return Err(WrongResult {
                    what: format!("row {row} of the factor times its transpose, times a vector"),
                    expected: format!("{expected} within {limit:.1e}"),
                    found: found.to_string(),
                });
            }
        }
        Ok(())
    }
}
