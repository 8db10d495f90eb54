use super::super::engine::run;
use super::super::inspect;
use super::super::order::order;
use super::*;
use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use warmcore_record::DataSet;
use warmcore_record::dataset::Begin;
use warmcore_scenario::document::parse;
use warmcore_sim::packet::simulate;

const GRID: &str = r#"
schema = 1
[[axes]]
field = "scheduling.policy"
values = ["mru", "lru"]
[[axes]]
field = "load"
values = [0.3, 0.6]
[[axes]]
field = "traffic.streams"
values = [8, 16]
[scenario.run]
precision = 0.2
max_packets = 20000
"#;
static NEVER: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

fn plan(text: &str) -> Plan {
    Plan::new(parse(text, Path::new("grid.toml")).expect("a grid")).expect("possible points")
}

fn swept(plan: &Plan, folder: &Path, threads: u32) {
    let set =
        DataSet::open(folder, plan.contents(None).expect("no partition"), Begin::Resume).expect("a folder");
    run(plan, &set, Some(threads), |_| (), &NEVER).expect("all points");
    set.finish().expect("complete");
}

fn files(folder: &Path) -> Vec<Vec<u8>> {
    ["_manifest.json", "_grid.toml", "part-00000.parquet"]
        .map(|name| fs::read(folder.join(name)).expect("it is there"))
        .to_vec()
}

#[test]
fn a_data_set_has_the_same_bytes_on_any_number_of_threads_and_from_its_own_document() {
    let place = tempfile::tempdir().unwrap();
    let ours = plan(GRID);
    swept(&ours, &place.path().join("one"), 1);
    swept(&ours, &place.path().join("four"), 4);
    assert_eq!(files(&place.path().join("one")), files(&place.path().join("four")));
    // What a worker elsewhere makes of the document.
    let theirs = Plan::unchecked(toml::from_str(ours.text()).expect("a grid")).expect("a plan");
    assert_eq!(theirs.identity(), ours.identity());
    for index in (0..8).rev() {
        let text = |plan: &Plan| {
            toml::Value::try_from(plan.row(index, &NEVER).expect("a row")).expect("a value").to_string()
        };
        assert_eq!(text(&ours), text(&theirs));
    }
    let description = inspect(&place.path().join("one")).expect("complete");
    let names: Vec<&str> = description.columns.iter().map(|head| head.name.as_str()).collect();
    assert_eq!(names[..4], ["scheduling.policy", "load", "traffic.streams", "arrival_rate"]);
    let delay = description.columns.iter().find(|head| head.name == "mean_delay").expect("a figure");
    assert_eq!(delay.unit, "ns");
    // The model and the varied fields are those of the document.
    let manifest = place.path().join("one/_manifest.json");
    let whole = fs::read_to_string(&manifest).expect("the manifest");
    for (from, to, told) in [
        ("\"packet\"", "\"cluster\"", "`cluster` as the model, and the grid `_grid.toml` has `packet`"),
        ("\"leading\": 3", "\"leading\": 2", "scheduling.policy, load as the varied fields"),
    ] {
        assert!(whole.contains(from), "{whole}");
        fs::write(&manifest, whole.replace(from, to)).expect("it can be written");
        let error = inspect(&place.path().join("one")).expect_err("another model").to_string();
        assert!(error.contains("_manifest.json` is damaged: it says ") && error.contains(told), "{error}");
    }
    fs::write(&manifest, whole).expect("it can be written");
    // The document is the one that the manifest means.
    let document = place.path().join("one/_grid.toml");
    fs::write(&document, ours.text().replace("0.6", "0.7")).expect("it can be written");
    let error = inspect(&place.path().join("one")).expect_err("another grid").to_string();
    assert!(error.contains("_grid.toml` is damaged: its checksum is"), "{error}");
}

#[test]
fn a_row_is_what_the_point_alone_would_give() {
    let text = GRID.replace("\"load\"\nvalues = [0.3, 0.6]", "\"rate_per_s\"\nvalues = [20000.0, 30000.0]");
    let plan = plan(&text);
    let scenario = match plan.points().get(3).expect("a point").scenario {
        AnyScenario::Packet(scenario) => *scenario,
        other => panic!("{other:?}"),
    };
    let alone = simulate(&scenario, &Profile::sgi_challenge_xl()).expect("a result");
    assert_eq!(plan.row(3, &NEVER).expect("a row"), Row::first(&figures::packet(&alone)));
}

#[test]
fn the_longest_points_are_begun_first() {
    let precise = GRID.replace("precision = 0.2", "precision = 0.005").replace("max_packets = 20000\n", "");
    let plan = plan(&precise);
    let all = order(&plan, |index| index == 2, &NEVER).expect("nobody stops it");
    let order: Vec<u64> = all.into_iter().map(|(index, _)| index).collect();
    // The higher load takes longer; 2 is known, and equal ones stay in order.
    assert_eq!(order.len(), 7);
    let load = |index: u64| plan.points().at(index)[1].as_float().expect("a load");
    assert!(order.windows(2).all(|pair| load(pair[0]) >= load(pair[1])), "{order:?}");
}

#[test]
fn every_model_has_rows() {
    let cluster = "schema = 1\nmodel = 'cluster'\n[[axes]]\nfield = 'machine.network_cycles'\nvalues = [100, 200]\n\
                   [scenario.machine]\nnodes = 2\nprocessors = 1\n[scenario.microbenchmark]\nname = 'remote-read'";
    let runqueue = "schema = 1\nmodel = 'runqueue'\n[[axes]]\nfield = 'seed'\nfrom = 1\nto = 2\n[scenario]\nruns = 2\n\
                    [[scenario.applications]]\nname = 'a'\nprocesses = 3\nwork_ms = 500.0\nbursts = { tail_ms = 5.0 }\nends = { reschedule = 1.0 }";
    for text in [cluster, runqueue] {
        let plan = plan(text);
        let rows: Vec<Row> = (0..2).map(|index| plan.row(index, &NEVER).expect("a row")).collect();
        assert_ne!(rows[0], rows[1], "{text}");
        assert_eq!(rows[0].0.len(), plan.figures().len());
        assert!(plan.seconds(0) > 0.0);
    }
}

#[test]
fn impossible_points_are_refused_before_anything_runs() {
    let refused = |text: &str| {
        let grid = parse(text, Path::new("grid.toml")).expect("a grid");
        Plan::new(grid).map(drop).expect_err("refused").to_string()
    };
    let stacks = "schema = 1\n[[axes]]\nfield = 'stacks'\nvalues = [4, 99]\n[scenario]\nrate_per_s = 1e4\n\
                  scheduling = { approach = 'ips' }";
    let told = refused(stacks);
    assert!(told.starts_with("`stacks` is 99") && told.ends_with("(at the point stacks = 99)"), "{told}");
    let told = refused("schema = 1\n[[axes]]\nfield = 'seed'\nvalues = [1]");
    assert!(told.contains("rate"), "{told}");
    let told = refused("schema = 1\n[[axes]]\nfield = 'profile'\nvalues = ['/none/profile.toml']");
    assert!(told.contains("/none/profile.toml"), "{told}");
    let plan = plan(GRID);
    let told = plan.contents(Some("seed")).map(drop).expect_err("not varied").to_string();
    assert!(told.contains("one of the fields that are varied: scheduling.policy, load"), "{told}");
}

#[test]
fn a_stop_ends_the_check_of_points_and_their_order() {
    let stop = AtomicBool::new(true);
    let grid = parse(GRID, Path::new("grid.toml")).expect("a grid");
    assert!(matches!(Plan::new_until(grid, &stop), Err(PlanError::Interrupted)));
    assert_eq!(order(&plan(GRID), |_| false, &stop), None);
}

#[test]
fn a_stop_ends_a_sweep_and_keeps_what_is_found() {
    let place = tempfile::tempdir().unwrap();
    let plan = plan(GRID);
    let set = DataSet::open(place.path(), plan.contents(None).expect("none"), Begin::New).expect("a folder");
    let stop = Arc::new(AtomicBool::new(false));
    let ended = run(&plan, &set, Some(1), |_| stop.store(true, Ordering::Relaxed), &stop);
    assert!(matches!(ended, Err(super::super::RunError::Interrupted)));
    assert_eq!(set.known(), 1);
    drop(set);
    swept(&plan, place.path(), 2);
}
