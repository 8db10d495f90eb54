//! A data set: the same bytes whatever order rows come in, and refusals of what is another one.

mod damage;

use std::fs;
use std::path::Path;
use warmcore_record::DataSet;
use warmcore_record::dataset::{
    Begin, Cell, Contents, DataSetError, Description, Head, Kind, Layout, Row, inspect,
};
use warmcore_record::remedy::Remedied as _;

const ROWS: u32 = 150;

fn head(name: &str, kind: Kind) -> Head {
    Head { name: name.to_owned(), unit: String::new(), kind }
}

fn contents(grid: &str, version: &str, layout: Layout, partition_by: Option<&str>) -> Contents<'static> {
    Contents {
        description: Description {
            schema: 1,
            program: "test".to_owned(),
            version: version.to_owned(),
            model: "packet".to_owned(),
            grid: grid.to_owned(),
            rows: ROWS.into(),
            partition_by: partition_by.map(str::to_owned),
            leading: 1,
            columns: vec![head("seed", Kind::Integer), head("delay", Kind::Float), head("ended", Kind::Text)],
            complete: false,
            parts: Vec::new(),
        },
        layout,
        grid: "the document",
        leading: Box::new(|row| Row(vec![Cell::Integer(row as i64 % 2)])),
    }
}

fn open(folder: &Path, begin: Begin) -> Result<DataSet, DataSetError> {
    DataSet::open(folder, contents("a", "1", Layout::new(ROWS), None), begin)
}

fn row(number: u64) -> Row {
    let delay = if number == 7 { Cell::MISSING } else { Cell::Float(1.0 / number as f64) };
    Row(vec![delay, Cell::Text(format!("row {number}"))])
}

/// Every file below `folder`, by its path.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                all.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    all.sort();
    all
}

#[test]
fn the_order_of_rows_and_interruptions_leave_no_trace() {
    let place = tempfile::tempdir().unwrap();
    let (straight, broken) = (place.path().join("straight"), place.path().join("broken"));
    let set = open(&straight, Begin::New).unwrap();
    (0..150).for_each(|number| set.add(number, row(number)).unwrap());
    set.finish().unwrap();

    // 97 and 150 have no common factor: every number comes once, far from the one before.
    let order: Vec<u64> = (0..150).map(|step| step * 97 % 150).collect();
    let set = open(&broken, Begin::New).unwrap();
    order[..100].iter().for_each(|&number| set.add(number, row(number)).unwrap());
    drop(set);
    assert!(matches!(inspect(&broken), Err(DataSetError::Unfinished { parts: 3, .. })));
    // Killed in the middle of a line.
    let journal = broken.join("_part-00002.journal");
    let lines = fs::read(&journal).unwrap();
    fs::write(&journal, &lines[..lines.len() - 5]).unwrap();
    let set = open(&broken, Begin::Resume).unwrap();
    assert_eq!(set.known(), 99);
    order.iter().filter(|&&number| !set.knows(number)).collect::<Vec<_>>().into_iter().for_each(|&number| {
        set.add(number, row(number)).unwrap();
        // Found twice, as after a worker was lost.
        set.add(number, row(number)).unwrap();
    });
    set.finish().unwrap();

    assert_eq!(files(&straight), files(&broken));
    let names: Vec<String> = files(&straight).into_iter().map(|(name, _)| name).collect();
    let parts = ["part-00000.parquet", "part-00001.parquet", "part-00002.parquet"];
    assert_eq!(names, [&["_grid.toml", "_manifest.json"][..], &parts].concat());
    assert_eq!(inspect(&straight).unwrap().rows, 150);
    assert_eq!(open(&straight, Begin::Resume).unwrap().known(), 150, "nothing is run again");
}

#[test]
fn an_unfinished_set_cannot_be_finished() {
    let place = tempfile::tempdir().unwrap();
    let set = open(&place.path().join("a"), Begin::New).unwrap();
    set.add(0, row(0)).unwrap();
    assert!(matches!(set.finish(), Err(DataSetError::Unfinished { written: 0, parts: 3, .. })));
}

#[test]
fn a_partition_leaves_its_column_to_the_folders() {
    let place = tempfile::tempdir().unwrap();
    let layout = || Layout::partitioned(ROWS, "seed", |row| (row % 2).to_string());
    let begin = |begin| DataSet::open(place.path(), contents("a", "1", layout(), Some("seed")), begin);
    let set = begin(Begin::New).unwrap();
    (0..150).for_each(|number| set.add(number, row(number)).unwrap());
    let written = set.finish().unwrap();
    assert_eq!(written.parts[0].file, "seed=0/part-00000.parquet");
    assert_eq!(written.parts.len(), 4);
    // Begun anew, nothing of it is left.
    drop(begin(Begin::Anew).unwrap());
    let names: Vec<String> = files(place.path()).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["_grid.toml", "_manifest.json"]);
    assert!(!place.path().join("seed=0").exists());
}

#[test]
fn what_is_another_data_set_is_refused_and_stays() {
    let place = tempfile::tempdir().unwrap();
    let set = open(place.path(), Begin::New).unwrap();
    (0..150).for_each(|number| set.add(number, row(number)).unwrap());
    set.finish().unwrap();
    let before = files(place.path());
    let refused = |contents, begin| {
        DataSet::open(place.path(), contents, begin).map(drop).unwrap_err().in_words(|_| None)
    };
    let plain = |grid, version| contents(grid, version, Layout::new(ROWS), None);
    let told = refused(plain("a", "1"), Begin::New);
    assert!(told.contains("has a data set already: resume it"), "{told}");
    let told = refused(plain("b", "1"), Begin::Resume);
    assert!(told.contains("another grid: there a, here b: begin anew, or give another folder"), "{told}");
    let told = refused(plain("a", "2"), Begin::Resume);
    assert!(told.contains("another version of the program: there 1, here 2"), "{told}");
    let partitioned = Layout::partitioned(ROWS, "seed", |row| (row % 2).to_string());
    let told = refused(contents("a", "1", partitioned, Some("seed")), Begin::Resume);
    assert!(told.contains("another partition: there nothing, here seed"), "{told}");
    assert_eq!(files(place.path()), before);

    let part = place.path().join("part-00001.parquet");
    let content = fs::read(&part).unwrap();
    fs::write(&part, &content[..content.len() - 1]).unwrap();
    let told = inspect(place.path()).unwrap_err().to_string();
    assert!(told.contains("part-00001.parquet` is damaged"), "{told}");
    let manifest = place.path().join("_manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replacen("\"schema\": 1", "\"schema\": 2", 1)).unwrap();
    assert!(inspect(place.path()).unwrap_err().to_string().contains("version of its form: there 2, here 1"));
    fs::write(&manifest, text.replace("part-00001", "../part-00001")).unwrap();
    assert!(inspect(place.path()).unwrap_err().to_string().contains("is not in the folder"));
}

#[test]
fn a_damaged_part_is_not_taken_for_finished_work() {
    let folder = tempfile::tempdir().unwrap();
    let whole = || {
        let set = open(folder.path(), Begin::Resume).unwrap();
        (0..u64::from(ROWS)).for_each(|number| set.add(number, row(number)).unwrap());
        set
    };
    let parts = whole().finish().unwrap().parts;
    let file = folder.path().join(&parts[0].file);
    let good = fs::read(&file).unwrap();
    let mut bad = good.clone();
    bad[good.len() / 2] ^= 1;
    let refused = |content: &[u8]| {
        fs::write(&file, content).unwrap();
        let before = files(folder.path());
        assert!(matches!(open(folder.path(), Begin::Resume), Err(DataSetError::Damaged { .. })));
        assert_eq!(files(folder.path()), before);
    };
    // Of a finished data set, any change is noticed; of an unfinished one, a part that was cut off.
    refused(&bad);
    fs::write(&file, &good).unwrap();
    drop(open(folder.path(), Begin::Resume).unwrap());
    refused(&good[..good.len() / 2]);
    // A part that is not there is found again.
    fs::remove_file(&file).unwrap();
    drop(whole().finish().unwrap());
    assert_eq!(fs::read(&file).unwrap(), good);
}

#[test]
fn a_folder_with_other_files_is_refused() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("notes.txt"), "").unwrap();
    let told = open(place.path(), Begin::Resume).map(drop).unwrap_err().in_words(|_| None);
    assert!(told.contains("other files (notes.txt)"), "{told}");
    assert!(matches!(inspect(place.path()), Err(DataSetError::None { .. })));
    assert_eq!(files(place.path()).len(), 1);
}

#[test]
fn one_process_writes_at_a_time_and_only_rows_that_fit() {
    let place = tempfile::tempdir().unwrap();
    let set = open(place.path(), Begin::New).unwrap();
    assert!(matches!(open(place.path(), Begin::Resume), Err(DataSetError::Folder(_))));
    let refused = |number, row| set.add(number, row).unwrap_err().to_string();
    assert!(refused(150, row(1)).contains("there are 150 rows"));
    assert!(refused(1, Row(vec![Cell::Float(1.0)])).contains("1 values, expected 2"));
    let told = refused(1, Row(vec![Cell::Text("soon".to_owned()), Cell::MISSING]));
    assert!(told.contains("`delay` is Text"), "{told}");
    assert_eq!(set.known(), 0);
}

#[test]
fn what_a_killed_writer_left_is_gone_once_the_data_set_is_resumed() {
    let (straight, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for folder in [&straight, &killed] {
        let set = open(folder.path(), Begin::New).unwrap();
        (0..100).for_each(|number| set.add(number, row(number)).unwrap());
    }
    for name in [".part-00001.parquet.6HIeCN.unfinished", "._manifest.json.aB3dE9.unfinished"] {
        fs::write(killed.path().join(name), "half").unwrap();
    }
    for folder in [&straight, &killed] {
        let set = open(folder.path(), Begin::Resume).unwrap();
        (100..u64::from(ROWS)).for_each(|number| set.add(number, row(number)).unwrap());
        set.finish().unwrap();
    }
    let sorted = |folder: &Path| {
        let mut all = files(folder);
        all.sort();
        all
    };
    assert_eq!(sorted(straight.path()), sorted(killed.path()));
}
