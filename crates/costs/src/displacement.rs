//! How much of a cache intervening work displaces: Salehi, Kurose & Towsley 1994, §4.1, eq. 1, after Singh,
//! Stone & Thiebaut 1992; for any associativity, as footnote 7 of Salehi 1994 allows.

use serde::{Deserialize, Serialize};
use warmcore_topology::Geometry;
use warmcore_units::{Fault, Nanos};

/// The non-protocol work that a processor does between packets, given by the constants of its footprint
/// function `u(R, L) = W · L^a · R^b · d^(log L · log R)` (eq. 1; logarithms to base 10): the number of
/// distinct lines of `L` bytes touched by `R` references.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intervening {
    /// Working-set size, `W`.
    pub w: f64,
    /// Spatial locality, `a`.
    pub a: f64,
    /// Temporal locality, `b`.
    pub b: f64,
    /// Interaction of the two, `log10 d`.
    pub log_d: f64,
    /// Memory references per microsecond (in Salehi 1994, the clock rate over `m`).
    pub references_per_us: f64,
}

impl Intervening {
    /// The 200-million-reference trace of a multiprogrammed IBM/370 (MVS) that Salehi 1994 uses, at one
    /// reference per 5 cycles of a 100 MHz processor.
    pub const MVS: Self =
        Self { w: 2.198_27, a: 0.033_233, b: 0.827_457, log_d: -0.130_25, references_per_us: 20.0 };

    /// The largest magnitude of a constant.
    pub const MAX_CONSTANT: f64 = 1e6;

    /// `u`: distinct lines of `line` bytes touched by `references` references. At most one line per
    /// reference, which eq. 1 alone would exceed for a few references.
    #[must_use]
    pub fn footprint(&self, references: f64, line: f64) -> f64 {
        if references < 1.0 {
            return references.max(0.0);
        }
        let exponent = self.b + self.log_d * line.log10();
        (self.w * line.powf(self.a) * references.powf(exponent)).min(references)
    }

    /// Checks the constants; `field` is their path in the document.
    ///
    /// # Errors
    /// The first constant that is no number, is too large, or would let the footprint shrink over time.
    pub fn check(&self, field: &str) -> Result<(), Fault> {
        let positive = [("w", self.w), ("b", self.b), ("references_per_us", self.references_per_us)];
        for (name, value) in positive {
            if !(value > 0.0 && value <= Self::MAX_CONSTANT) {
                let expected = format!("a number above 0, at most {}", Self::MAX_CONSTANT);
                return Err(Fault::new(format!("{field}.{name}"), value, expected));
            }
        }
        for (name, value) in [("a", self.a), ("log_d", self.log_d)] {
            if !(-Self::MAX_CONSTANT..=Self::MAX_CONSTANT).contains(&value) {
                let expected = format!("a number between -{0} and {0}", Self::MAX_CONSTANT);
                return Err(Fault::new(format!("{field}.{name}"), value, expected));
            }
        }
        Ok(())
    }
}

/// `F(x)` of one cache: the fraction of the protocol's lines that work of duration `x` displaces.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Displacement {
    intervening: Intervening,
    geometry: Geometry,
    sharers: f64,
}

impl Displacement {
    /// The displacement of a cache with this `geometry` by `intervening` work on each of the `sharers`
    /// processors that share it (1 for a private cache). The work of all of them displaces a shared cache.
    #[must_use]
    pub fn new(intervening: Intervening, geometry: Geometry, sharers: u32) -> Self {
        Self { intervening, geometry, sharers: f64::from(sharers) }
    }

    /// `F(x)`, between 0 and 1.
    ///
    /// References map independently to the `S` sets, so the number `X` of touched lines that fall into one
    /// set is binomial with parameters `u` and `1/S`. A direct-mapped cache loses the set's line if `X ≥ 1`.
    /// With `A` ways replaced in least-recently-used order, `min(X, A)` of the `A` lines are lost.
    #[must_use]
    pub fn fraction(&self, x: Nanos) -> f64 {
        if x.0 == f64::INFINITY {
            return 1.0;
        }
        let references = x.micros() * self.intervening.references_per_us * self.sharers;
        #[expect(clippy::cast_precision_loss, reason = "line sizes and set counts are far below 2^53")]
        let (line, sets) = (self.geometry.line.0 as f64, self.geometry.sets() as f64);
        let touched = self.intervening.footprint(references, line);
        displaced_of_set(touched, sets, self.geometry.ways)
    }
}

/// `E[min(X, A)] / A` for `X` binomial with parameters `touched` and `1/sets`, and `A` = `ways`.
///
/// `touched` need not be an integer: the probabilities follow from `P(X = 0) = (1 - 1/S)^u` by the
/// recurrence of the binomial distribution, as in the formula of Salehi 1994 for one way.
fn displaced_of_set(touched: f64, sets: f64, ways: u32) -> f64 {
    if sets <= 1.0 {
        return (touched / f64::from(ways)).min(1.0);
    }
    let odds = 1.0 / (sets - 1.0);
    let mut probability = (touched * (-1.0 / sets).ln_1p()).exp();
    let mut kept = 0.0;
    for lines in 0..ways {
        let lines = f64::from(lines);
        kept += probability * (f64::from(ways) - lines);
        probability *= (touched - lines).max(0.0) / (lines + 1.0) * odds;
    }
    (1.0 - kept / f64::from(ways)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_units::Bytes;

    fn geometry(size: Bytes, line: u64, ways: u32) -> Geometry {
        Geometry { size, line: Bytes(line), ways }
    }

    #[test]
    fn one_way_follows_the_formula_of_salehi_1994() {
        let cache = geometry(Bytes::kib(32), 32, 1);
        let x = Nanos::from_micros(1_000.0);
        let touched = Intervening::MVS.footprint(20_000.0, 32.0);
        let expected = 1.0 - (1.0 - 1.0 / 1024.0_f64).powf(touched);
        let fraction = Displacement::new(Intervening::MVS, cache, 1).fraction(x);
        assert!((fraction - expected).abs() < 1e-12, "{fraction} {expected}");
    }

    #[test]
    fn displacement_grows_from_nothing_to_everything() {
        for ways in [1, 2, 8, 16] {
            let curve = Displacement::new(Intervening::MVS, geometry(Bytes::kib(1024), 64, ways), 1);
            let mut last = curve.fraction(Nanos::ZERO);
            assert_eq!(last, 0.0);
            for exponent in 0..=120 {
                let fraction = curve.fraction(Nanos(10_f64.powf(f64::from(exponent) / 10.0)));
                assert!((last..=1.0).contains(&fraction), "{ways} ways at 10^({exponent}/10) ns");
                last = fraction;
            }
            assert!(last > 0.99, "{ways} ways still keep {}", 1.0 - last);
            assert_eq!(curve.fraction(Nanos::INFINITY), 1.0);
        }
    }

    #[test]
    fn sharers_displace_as_much_as_one_processor_in_their_total_time() {
        let cache = geometry(Bytes::kib(1024), 64, 16);
        let shared = Displacement::new(Intervening::MVS, cache, 4).fraction(Nanos::from_micros(500.0));
        let alone = Displacement::new(Intervening::MVS, cache, 1).fraction(Nanos::from_micros(2_000.0));
        assert!((shared - alone).abs() < 1e-12);
    }

    #[test]
    fn a_cache_with_one_set_loses_one_line_per_touched_line() {
        assert_eq!(displaced_of_set(4.0, 1.0, 8), 0.5);
        assert_eq!(displaced_of_set(9.0, 1.0, 8), 1.0);
    }

    #[test]
    fn a_shrinking_footprint_is_refused_with_its_field() {
        let fault = Intervening { b: -1.0, ..Intervening::MVS }.check("intervening").unwrap_err();
        assert_eq!(fault.field, "intervening.b");
    }
}
