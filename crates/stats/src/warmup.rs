//! How much of a run's start to leave out: MSER (White 1997; White, Cobb & Spratt 2000, who
//! recommend it on means of five observations, "MSER-5").
//!
//! The cut minimises the squared standard error of the mean of the rest: a longer cut reduces the bias of
//! the start, and a cut that is too long wastes observations.

/// How many leading elements of `means` (means of batches of equal size) to leave out.
///
/// At most half of them: a minimum in the second half means that the run is too short to tell.
#[must_use]
pub fn mser(means: &[f64]) -> usize {
    let mut best = (f64::INFINITY, 0);
    let (mut sum, mut squares, mut kept) = (0.0, 0.0, 0.0);
    // Going backwards from the end, each cut costs one step. Using deviations from a value near the mean
    // avoids cancellation in the squares.
    let near = means.last().copied().unwrap_or_default();
    for (cut, mean) in means.iter().enumerate().rev() {
        let deviation = mean - near;
        sum += deviation;
        squares += deviation * deviation;
        kept += 1.0;
        if cut <= means.len() / 2 && kept >= 2.0 {
            let error = (squares - sum * sum / kept) / (kept * kept);
            if error <= best.0 {
                best = (error, cut);
            }
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_that_differs_from_the_rest_is_left_out() {
        let steady = |i: usize| if i.is_multiple_of(2) { 10.0 } else { 11.0 };
        let run: Vec<f64> = (0..100).map(|i| if i < 7 { 50.0 - 5.0 * i as f64 } else { steady(i) }).collect();
        assert_eq!(mser(&run), 7);
    }

    #[test]
    fn a_steady_run_is_kept_and_no_run_loses_more_than_half() {
        let steady: Vec<f64> = (0..100).map(|i| [3.0, 5.0, 4.0, 4.0][i % 4]).collect();
        assert!(mser(&steady) < 4);
        let drifting: Vec<f64> = (0..100).map(f64::from).collect();
        assert!(mser(&drifting) <= 50);
        assert_eq!(mser(&[]), 0);
        assert_eq!(mser(&[1.0]), 0);
    }
}
