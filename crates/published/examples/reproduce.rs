//! Reproduces Salehi, Kurose & Towsley 1994 and writes the report, the points and the claims:
//! `cargo run --release -p warmcore-published --example reproduce -- FOLDER [--quick] [FIGURE]...`

use std::collections::BTreeSet;
use std::error::Error;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use warmcore_published::salehi_1994::{
    Figure, Options, Reproduction, Summary, columns, present, reproduce, summary,
};
use warmcore_record::{Existing, Manifest, whole};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let folder = PathBuf::from(words.next().ok_or("give the folder to write to")?);
    std::fs::create_dir_all(&folder)?;
    let (mut options, mut figures) = (Options::default(), BTreeSet::new());
    for word in words {
        match word.as_str() {
            "--quick" => options = Options::quick(),
            figure => figures.extend(Figure::named(figure)?),
        }
    }
    if !figures.is_empty() {
        options.figures = Some(figures);
    }
    let begun = Instant::now();
    let tell = |done: usize, of: usize| {
        if done.is_multiple_of(100) || done == of {
            eprintln!("{done} of {of} points after {:.1?}", begun.elapsed());
        }
    };
    let reproduction = reproduce(options, |_| None, |_, _| Ok(()), tell, &AtomicBool::new(false))?;
    println!("simulated in {:.1?}", begun.elapsed());
    for concluded in &reproduction.claims {
        println!(
            "{}\t{}\t{}\t{}",
            concluded.claim.id,
            concluded.claim.published,
            concluded.ours(),
            concluded.verdict
        );
    }
    println!("{:?}", Summary::of(&reproduction).verdicts);
    precision(&reproduction);
    write(&reproduction, &folder)
}

/// How precise the points are, and which of them are not.
fn precision(reproduction: &Reproduction) {
    let points: usize = reproduction.evidence.settings().map(|(_, curve)| curve.points.len()).sum();
    let unsettled: Vec<_> = reproduction.evidence.unsettled(reproduction.options.precision).collect();
    for (setting, point) in &unsettled {
        println!("not settled: {} at {}", setting.scheduling, point.rate);
    }
    println!("{points} points; {} of those below 90% of capacity missed the precision", unsettled.len());
}

fn write(reproduction: &Reproduction, folder: &std::path::Path) -> Result<(), Box<dyn Error>> {
    let manifest = Manifest::now("reproduce", env!("CARGO_PKG_VERSION"));
    let document = present::document(reproduction, manifest.clone());
    document.validate()?;
    let page = warmcore_report::render(&document);
    whole::write(&folder.join("report.html"), page.as_bytes(), Existing::Replace)?;
    columns::points(reproduction)?.write_parquet(
        &folder.join("points.parquet"),
        Existing::Replace,
        &manifest,
    )?;
    summary::claims(reproduction)?.write_parquet(
        &folder.join("claims.parquet"),
        Existing::Replace,
        &manifest,
    )?;
    let claims = serde_json::to_string_pretty(&Summary::of(reproduction))?;
    whole::write(&folder.join("claims.json"), claims.as_bytes(), Existing::Replace)?;
    Ok(())
}
