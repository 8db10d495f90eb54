//! What somebody has changed in a data set is an error that names the file.

use super::{ROWS, contents, files, open, row};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use warmcore_record::DataSet;
use warmcore_record::dataset::{Begin, Cell, Description, Head, Kind, Layout, Row, inspect};
use warmcore_record::remedy::Remedied as _;

fn finished(folder: &Path) -> Description {
    let set = open(folder, Begin::New).unwrap();
    (0..u64::from(ROWS)).for_each(|number| set.add(number, row(number)).unwrap());
    set.finish().unwrap()
}

/// A change of a manifest.
type Spoil = fn(&mut Value);

/// Changes the manifest in `folder`.
fn change(folder: &Path, change: impl FnOnce(&mut Value)) {
    let path = folder.join("_manifest.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut manifest);
    fs::write(path, manifest.to_string()).unwrap();
}

#[test]
fn another_document_is_refused_and_stays() {
    for is_finished in [true, false] {
        let place = tempfile::tempdir().unwrap();
        if is_finished {
            drop(finished(place.path()));
        } else {
            drop(open(place.path(), Begin::New).unwrap());
        }
        let document = place.path().join("_grid.toml");
        for text in ["another document", "the document\n# more", ""] {
            fs::write(&document, text).unwrap();
            let before = files(place.path());
            let error = open(place.path(), Begin::Resume).map(drop).unwrap_err().in_words(|_| None);
            assert!(error.contains("_grid.toml` is damaged: it is another document than that of"), "{error}");
            assert!(error.contains("remove it and resume, which writes it again"), "{error}");
            assert_eq!(files(place.path()), before);
        }
        fs::remove_file(&document).unwrap();
        drop(open(place.path(), Begin::Resume).unwrap());
        assert_eq!(fs::read_to_string(&document).unwrap(), "the document");
    }
}

#[test]
fn a_manifest_of_another_program_model_or_form_is_not_continued() {
    let cases: [(&str, Spoil); 4] = [
        ("another program: there other, here test", |it| it["program"] = "other".into()),
        ("another version of the program: there 0, here 1", |it| it["version"] = "0".into()),
        ("another model: there cluster, here packet", |it| it["model"] = "cluster".into()),
        ("another form: there 2 varied fields, here 1 varied fields", |it| it["leading"] = 2.into()),
    ];
    for (told, spoil) in cases {
        let place = tempfile::tempdir().unwrap();
        finished(place.path());
        change(place.path(), spoil);
        let before = files(place.path());
        let error = open(place.path(), Begin::Resume).map(drop).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
        assert_eq!(files(place.path()), before);
    }
}

/// A file that is a part in all but its columns or rows, with the checksum that the manifest is given.
fn replace_part(folder: &Path, other: &Path) {
    let content = fs::read(other.join("part-00000.parquet")).unwrap();
    fs::write(folder.join("part-00000.parquet"), &content).unwrap();
    change(folder, |manifest| {
        manifest["parts"][0]["bytes"] = content.len().into();
        manifest["parts"][0]["crc32"] = format!("{:08x}", crc32fast::hash(&content)).into();
    });
}

#[test]
fn a_manifest_that_lies_is_refused() {
    let cases: [(&str, Spoil); 8] = [
        ("lists the part `part-00000.parquet` twice", |it| it["parts"][1] = it["parts"][0].clone()),
        ("its parts have 0 rows, expected 150", |it| it["parts"] = json!([])),
        ("its parts have 214 rows, expected 150", |it| {
            let mut more = it["parts"][0].clone();
            more["file"] = "more.parquet".into();
            it["parts"].as_array_mut().unwrap().push(more);
        }),
        ("its parts have 150 rows, expected 149", |it| it["rows"] = 149.into()),
        ("has no rows, length or checksum", |it| {
            drop(it["parts"][2].as_object_mut().unwrap().remove("crc32"));
        }),
        ("divided by `policy`, which is none of its columns", |it| it["partition_by"] = "policy".into()),
        ("a name twice", |it| it["columns"][1] = it["columns"][0].clone()),
        ("fewer than the varied fields", |it| it["leading"] = 9.into()),
    ];
    for (problem, spoil) in cases {
        let place = tempfile::tempdir().unwrap();
        finished(place.path());
        change(place.path(), spoil);
        let before = files(place.path());
        let error = inspect(place.path()).unwrap_err().to_string();
        assert!(error.contains("_manifest.json` is damaged") && error.contains(problem), "{error}");
        let error = open(place.path(), Begin::Resume).map(drop).unwrap_err().to_string();
        assert!(
            error.contains("_manifest.json` is damaged") || error.contains("another partition"),
            "{error}"
        );
        assert_eq!(files(place.path()), before);
        drop(open(place.path(), Begin::Anew).unwrap());
    }
}

#[test]
fn rows_and_columns_are_those_of_the_files() {
    let place = tempfile::tempdir().unwrap();
    let error_after = |spoil: &dyn Fn(&Path)| {
        let folder = tempfile::tempdir_in(place.path()).unwrap();
        finished(folder.path());
        spoil(folder.path());
        let error = inspect(folder.path()).unwrap_err().to_string();
        assert!(error.contains("part-00000.parquet` is damaged"), "{error}");
        error
    };
    let error = error_after(&|folder| {
        change(folder, |it| {
            it["parts"][0]["rows"] = 65.into();
            it["parts"][1]["rows"] = 63.into();
        });
    });
    assert!(error.contains("it has 64 rows, the manifest says 65"), "{error}");
    let error = error_after(&|folder| change(folder, |it| it["columns"][1]["name"] = "mean_delay".into()));
    assert!(
        error.contains("has the column `delay` of DOUBLE where the manifest says `mean_delay`"),
        "{error}"
    );
    let error = error_after(&|folder| change(folder, |it| it["columns"][1]["kind"] = "integer".into()));
    assert!(error.contains("the manifest says `delay` of INT64"), "{error}");
    let error = error_after(&|folder| change(folder, |it| drop(it["columns"].as_array_mut().unwrap().pop())));
    assert!(error.contains("the column `ended`, which the manifest does not say"), "{error}");
    // A part of another data set, by its checksum the right one.
    let other = place.path().join("other");
    let mut with = contents("b", "1", Layout::new(ROWS), None);
    let head = Head { name: "lost".to_owned(), unit: String::new(), kind: Kind::Flag };
    with.description.columns.insert(2, head);
    let set = DataSet::open(&other, with, Begin::New).unwrap();
    for number in 0..u64::from(ROWS) {
        let Row(mut cells) = row(number);
        cells.insert(1, Cell::Flag(true));
        set.add(number, Row(cells)).unwrap();
    }
    set.finish().unwrap();
    let error = error_after(&|folder| replace_part(folder, &other));
    assert!(error.contains("the column `lost` of BOOLEAN where the manifest says `ended`"), "{error}");
}

#[test]
fn units_and_origin_are_those_of_the_files() {
    let cases: [(&str, Spoil); 4] = [
        ("its column `delay` has no unit where the manifest says `ms`", |it| {
            it["columns"][1]["unit"] = "ms".into();
        }),
        ("test 1 wrote it, the manifest says test 0", |it| it["version"] = "0".into()),
        ("test 1 wrote it, the manifest says other 1", |it| it["program"] = "other".into()),
        ("another grid than the manifest says", |it| it["grid"] = "b".into()),
    ];
    for (told, spoil) in cases {
        let place = tempfile::tempdir().unwrap();
        finished(place.path());
        inspect(place.path()).unwrap();
        change(place.path(), spoil);
        let error = inspect(place.path()).unwrap_err().to_string();
        assert!(error.contains("part-00000.parquet` is damaged") && error.contains(told), "{error}");
    }
}

#[test]
fn a_pipe_in_place_of_a_file_is_refused_without_waiting() {
    for name in ["part-00001.parquet", "_manifest.json", "_grid.toml"] {
        let place = tempfile::tempdir().unwrap();
        finished(place.path());
        let path = place.path().join(name);
        fs::remove_file(&path).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let told = format!("{name}`: it is a pipe, expected a regular file");
        let error = open(place.path(), Begin::Resume).map(drop).unwrap_err().to_string();
        assert!(error.contains(&told), "{error}");
        if name != "_grid.toml" {
            let error = inspect(place.path()).unwrap_err().to_string();
            assert!(error.contains(&told), "{error}");
        }
    }
}

#[test]
fn a_data_set_whose_manifest_is_damaged_is_begun_anew() {
    let place = tempfile::tempdir().unwrap();
    let layout = || Layout::partitioned(ROWS, "seed", |row| (row % 2).to_string());
    drop(DataSet::open(place.path(), contents("a", "1", layout(), Some("seed")), Begin::New).unwrap());
    fs::create_dir(place.path().join("seed=1")).unwrap();
    for name in ["seed=1/part-00003.parquet", "part-00001.parquet", "_part-00002.journal", "_notes.txt"] {
        fs::write(place.path().join(name), "").unwrap();
    }
    fs::write(place.path().join("_manifest.json"), "{").unwrap();
    let other = place.path().join("seed=1/thesis.tex");
    fs::write(&other, "").unwrap();
    let before = files(place.path());
    for begin in [Begin::Resume, Begin::New] {
        let error = open(place.path(), begin).map(drop).unwrap_err().in_words(|_| None);
        assert!(error.contains("_manifest.json` is damaged"), "{error}");
        assert!(error.ends_with(": fetch it again, or begin anew"), "{error}");
    }
    let error = open(place.path(), Begin::Anew).map(drop).unwrap_err().to_string();
    assert!(error.contains("has other files (seed=1/thesis.tex)"), "{error}");
    assert_eq!(files(place.path()), before);
    fs::remove_file(other).unwrap();
    drop(open(place.path(), Begin::Anew).unwrap());
    let names: Vec<String> = files(place.path()).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["_grid.toml", "_manifest.json", "_notes.txt"]);
    assert!(!place.path().join("seed=1").exists());
}

#[test]
fn a_file_that_the_manifest_does_not_list_is_refused() {
    let place = tempfile::tempdir().unwrap();
    finished(place.path());
    let more = place.path().join("seed=1");
    fs::create_dir(&more).unwrap();
    inspect(place.path()).expect("an empty folder is no part");
    fs::copy(place.path().join("part-00000.parquet"), more.join("part-00003.parquet")).unwrap();
    for error in [
        inspect(place.path()).unwrap_err().to_string(),
        open(place.path(), Begin::Resume).map(drop).unwrap_err().to_string(),
    ] {
        assert!(error.contains("seed=1/part-00003.parquet` is no part of the data set"), "{error}");
    }
    fs::remove_file(more.join("part-00003.parquet")).unwrap();
    // Data tools leave such names alone.
    fs::write(place.path().join("_notes.txt"), "").unwrap();
    inspect(place.path()).expect("whole");
}

#[test]
fn a_value_that_was_changed_in_a_journal_is_no_result() {
    let place = tempfile::tempdir().unwrap();
    let set = open(place.path(), Begin::New).unwrap();
    (0..4).for_each(|number| set.add(number, row(number)).unwrap());
    drop(set);
    let journal = place.path().join("_part-00000.journal");
    let text = fs::read_to_string(&journal).unwrap();
    for (from, to) in [("0.5", "0.25"), ("row 2", "row 3"), ("key = [\"2\"]", "key = [\"9\"]")] {
        assert!(text.contains(from), "{text}");
        fs::write(&journal, text.replace(from, to)).unwrap();
        let error = open(place.path(), Begin::Resume).map(drop).unwrap_err().to_string();
        assert!(error.contains("_part-00000.journal` is damaged: row "), "{error}");
    }
    fs::write(&journal, &text).unwrap();
    assert_eq!(open(place.path(), Begin::Resume).unwrap().known(), 4);
}

#[test]
fn a_file_of_an_unfinished_data_set_is_the_part_that_it_is_named() {
    let place = tempfile::tempdir().unwrap();
    finished(place.path());
    let content = fs::read(place.path().join("part-00002.parquet")).unwrap();
    let unfinished = tempfile::tempdir().unwrap();
    drop(open(unfinished.path(), Begin::New).unwrap());
    fs::write(unfinished.path().join("part-00000.parquet"), content).unwrap();
    let error = open(unfinished.path(), Begin::Resume).map(drop).unwrap_err().to_string();
    assert!(
        error.contains("part-00000.parquet` is damaged: it has 22 rows, the manifest says 64"),
        "{error}"
    );
}
