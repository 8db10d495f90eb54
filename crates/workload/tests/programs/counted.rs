//! What the programs do on one processor: the table of facts in the documentation of `programs`.

use crate::uniprocessor::{self, Counts};
use warmcore_workload::programs::{
    Barnes, Cholesky, Em3d, Fft, Fmm, Gauss, Image, Lu, Prepared, Program, Radix, WaterSp,
};

/// Runs `program` alone and prints a row of the table.
fn count(program: &impl Program) -> Counts {
    let mut image = Image::new();
    let prepared = program.prepare(&mut image, 1).expect("a possible size");
    let counts = uniprocessor::run(&prepared, &mut image);
    prepared.check(&image).expect("a right result");
    let million = |count: u64| (count as f64 / 1e6 * 10.0).round() / 10.0;
    println!(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        program.name(),
        image.words().len() * 8 >> 20,
        million(counts.loads.get()),
        million(counts.stores.get()),
        million(counts.misses.get()),
        million(counts.cycles.get()),
        million(counts.total()),
        counts.locks.get(),
        counts.barriers.get(),
    );
    counts
}

#[test]
#[ignore = "runs every program at the thesis's size, which takes minutes"]
fn table_of_the_default_inputs() {
    println!(
        "| program | MB | loads | stores | misses | computing | cycles without misses | locks | barriers |"
    );
    count(&Barnes::default());
    count(&Cholesky::default());
    count(&Em3d::default());
    count(&Fft::default());
    count(&Fmm::default());
    count(&Radix::default());
    count(&WaterSp::default());
    count(&Lu::default());
    count(&Gauss::default());
}

#[test]
fn references_are_as_many_as_the_algorithms_have() {
    let keys = 1 << 12;
    let counts = count(&Radix { keys, ..Radix::default() });
    // Two passes: a load to count and a load to move each key, and a store.
    let [loads, stores] = [counts.loads.get(), counts.stores.get()];
    assert!((4 * keys..4 * keys + 8 * 1024).contains(&loads), "{loads}");
    assert!((2 * keys..2 * keys + 8 * 1024).contains(&stores), "{stores}");

    let order = 96;
    let counts = count(&Lu { order, ..Lu::default() });
    // Two thirds of order³ flops, one load for two of them, and some for columns that are held in private.
    let products = order.pow(3) / 3;
    assert!((products..2 * products).contains(&counts.loads.get()), "{counts:?}");

    let counts = count(&Em3d { nodes: 1000, degree: 7, iterations: 3, ..Em3d::default() });
    assert_eq!(counts.loads.get(), 3 * 2000 * (4 + 3 * 7));
    assert_eq!(counts.stores.get(), 3 * 2000);
}
