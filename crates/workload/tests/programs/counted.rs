//! What the programs do on one processor: the table of facts in the documentation of `programs`.

use crate::uniprocessor::{self, Counts};
use warmcore_workload::programs::{
    Barnes, Cholesky, Em3d, Fft, Fmm, Gauss, Image, Lu, Pace, Prepared, Program, Radix, WaterSp,
};

/// Runs `program` alone.
fn count(program: &impl Program) -> (Image, Counts) {
    let mut image = Image::new();
    let prepared = program.prepare(&mut image, 1).expect("a possible size");
    let counts = uniprocessor::run(&prepared, &mut image);
    prepared.check(&image).expect("a right result");
    (image, counts)
}

/// Counts what `program` does and prints a row of the table. The cycles must be near those of Table 5.3 in millions, if
/// they are published.
fn row(program: &impl Program, pace: Pace, published: Option<f64>) {
    let (image, counts) = count(program);
    let million = |count: u64| (count as f64 / 1e5).round() / 10.0;
    println!(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        program.name(),
        (image.words().len() * 8) >> 20,
        million(counts.loads.get()),
        million(counts.stores.get()),
        million(counts.misses.get()),
        million(counts.tlb_misses.get()),
        million(counts.cycles.get()),
        pace.factor,
        million(counts.total()),
        published.map_or("–".to_owned(), |million| million.to_string()),
        counts.locks.get(),
        counts.barriers.get(),
    );
    if let Some(published) = published {
        let ratio = counts.total() as f64 / 1e6 / published;
        assert!((0.98..1.02).contains(&ratio), "{}: {ratio} of Table 5.3", program.name());
    }
}

#[test]
#[ignore = "runs every program at the thesis's size, which takes a minute when it is optimised"]
fn table_of_the_default_inputs() {
    println!(
        "| program | MB | loads | stores | cache misses | TLB misses | computing | factor | cycles | Table 5.3 | locks | barriers |"
    );
    row(&Barnes::default(), Barnes::default().pace, Some(2284.0));
    row(&Cholesky::default(), Cholesky::default().pace, Some(976.0));
    row(&Em3d::default(), Em3d::default().pace, Some(740.0));
    row(&Fft::default(), Fft::default().pace, Some(2489.0));
    row(&Fmm::default(), Fmm::default().pace, Some(3351.0));
    row(&Radix::default(), Radix::default().pace, Some(903.0));
    row(&WaterSp::default(), WaterSp::default().pace, Some(3965.0));
    row(&Lu::default(), Lu::default().pace, None);
    row(&Gauss::default(), Gauss::default().pace, None);
}

#[test]
#[ignore = "prints what the test above does, for other inputs"]
fn table_of_the_inputs_of_splash_2() {
    row(&Barnes { steps: 2, ..Barnes::default() }, Barnes::default().pace, None);
    row(&Fft { points: 1 << 16, ..Fft::default() }, Fft::default().pace, None);
    row(&Fmm::default(), Fmm::default().pace, None);
    row(&Lu { order: 512, ..Lu::default() }, Lu::default().pace, None);
    row(&Radix { keys: 1 << 20, ..Radix::default() }, Radix::default().pace, None);
    row(&WaterSp { molecules: 512, ..WaterSp::default() }, WaterSp::default().pace, None);
}

#[test]
fn references_are_as_many_as_the_algorithms_have() {
    let keys = 1 << 12;
    let (_, counts) = count(&Radix { keys, ..Radix::default() });
    // Two passes: a load to count and a load to move each key, and a store.
    let [loads, stores] = [counts.loads.get(), counts.stores.get()];
    assert!((4 * keys..4 * keys + 8 * 1024).contains(&loads), "{loads}");
    assert!((2 * keys..2 * keys + 8 * 1024).contains(&stores), "{stores}");

    let order = 96;
    let (_, counts) = count(&Lu { order, ..Lu::default() });
    // Two thirds of order³ flops, one load for two of them, and some for columns that are held in private.
    let products = order.pow(3) / 3;
    assert!((products..2 * products).contains(&counts.loads.get()), "{counts:?}");

    let (_, counts) = count(&Em3d { nodes: 1000, degree: 7, iterations: 3, ..Em3d::default() });
    assert_eq!(counts.loads.get(), 3 * 2000 * (4 + 3 * 7));
    assert_eq!(counts.stores.get(), 3 * 2000);
}
