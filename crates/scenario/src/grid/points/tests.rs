use super::super::Model;
use super::*;
use crate::document::{Checked, parse};
use crate::{PacketScenario, ProcessorPolicy};
use std::path::Path;

fn points(text: &str) -> Points {
    let grid: Grid = parse(&format!("schema = 1\n{text}"), Path::new("grid.toml")).expect("a grid");
    Points::new(grid.resolved().expect("no profile is named")).expect("possible axes")
}

fn packet(points: &Points, index: u64) -> PacketScenario {
    match points.get(index).expect("a possible point").scenario {
        AnyScenario::Packet(scenario) => *scenario,
        other => panic!("{other:?}"),
    }
}

const GRID: &str = r#"
[[axes]]
field = "traffic.streams"
values = [8, 64]
[[axes]]
fields = ["processors", "scheduling.policy"]
values = [[4, "mru"], [8, "lru"]]
[[axes]]
field = "seed"
from = 1
to = 3
[scenario]
rate_per_s = 2e4
"#;

#[test]
fn points_are_in_the_order_of_an_odometer() {
    let points = points(GRID);
    assert_eq!(points.count(), 12);
    let at = |index| {
        let scenario = packet(&points, index);
        (scenario.traffic.streams, scenario.processors, scenario.scheduling.policy, scenario.seed)
    };
    assert_eq!(at(0), (8, 4, ProcessorPolicy::Mru, 1));
    assert_eq!(at(1), (8, 4, ProcessorPolicy::Mru, 2));
    assert_eq!(at(3), (8, 8, ProcessorPolicy::Lru, 1));
    assert_eq!(at(11), (64, 8, ProcessorPolicy::Lru, 3));
    assert_eq!(
        points.in_words(11),
        "traffic.streams = 64, processors = 8, scheduling.policy = \"lru\", seed = 3"
    );
}

#[test]
fn every_field_can_be_varied_also_one_that_the_base_leaves_out() {
    let text = "[[axes]]\nfield = 'effects.map_lock_ns'\nvalues = [0.0, 500.0]\n[[axes]]\nfield = \
                'traffic.process'\nvalues = ['poisson', { trains = { cars = 8.0, gap_us = 40.0 } }]";
    let points = points(text);
    assert_eq!(packet(&points, 2).effects.map_lock_ns, 500.0);
    assert!(matches!(packet(&points, 1).traffic.process, crate::Process::Trains(_)));
}

#[test]
fn elements_of_arrays_are_fields_too() {
    let text = "model = 'runqueue'\n[[axes]]\nfield = 'applications.0.processes'\nvalues = [1, 2]\n[scenario]\n\
                [[scenario.applications]]\nname = 'a'\nprocesses = 7\nwork_ms = 1.0";
    let read = points(text).read(1);
    let Ok(PointOfGrid { scenario: AnyScenario::RunQueue(scenario), .. }) = read else { panic!("{read:?}") };
    assert_eq!(scenario.applications[0].processes, 2);
}

fn refused(axis: &str) -> String {
    let points = points(&format!("[[axes]]\n{axis}"));
    (0..points.count()).find_map(|index| points.get(index).err()).expect("refused").to_string()
}

#[test]
fn an_unknown_field_is_refused_with_the_nearest_known_one() {
    let told = refused("field = 'traffic.strems'\nvalues = [8]");
    assert_eq!(
        told,
        "`traffic.strems` is unknown, expected a field of `traffic`; did you mean `traffic.streams`?"
    );
    assert!(refused("field = 'sede'\nvalues = [8]").contains("did you mean `seed`?"));
    assert!(refused("field = 'loda'\nvalues = [0.8]").contains("did you mean `load`?"));
}

#[test]
fn a_wrong_value_is_refused_with_its_field_and_what_would_be_right() {
    let told = refused("field = 'traffic.streams'\nvalues = [8, 'many']");
    assert_eq!(told, "`traffic.streams` is \"many\", expected a whole number from 0 to 4294967295");
    let told = refused("field = 'scheduling.policy'\nvalues = ['mru', 'mruu']");
    assert!(told.starts_with("`scheduling.policy` is \"mruu\", expected one of mru, "), "{told}");
    assert!(told.ends_with("did you mean `mru`?"), "{told}");
    let told = refused("field = 'processors'\nvalues = [8, 0]");
    assert!(
        told.contains("`processors` is 0, expected between 1")
            && told.contains("(at the point processors = 0)")
    );
    assert!(refused("field = 'seed.low'\nvalues = [1]").contains("seed"));
    let told = refused("field = 'load'\nvalues = [0.5, 0]");
    assert!(told.starts_with("`load` is 0, expected a fraction"), "{told}");
}

#[test]
fn more_points_than_anybody_waits_for_are_refused() {
    let axes = "[[axes]]\nfield = 'seed'\nfrom = 1\nto = 100000\n[[axes]]\nfield = 'processors'\nfrom = 1\nto = 1000";
    let told =
        parse::<Grid>(&format!("schema = 1\n{axes}"), Path::new("g.toml")).expect_err("too many").to_string();
    assert!(told.contains("100000 × 1000 = 100000000 points, expected at most 10000000"), "{told}");
}

#[test]
fn a_grid_is_known_by_its_points_and_base() {
    let identity = |text: &str| points(text).grid().identity().expect("a document");
    let listed = "[[axes]]\nfield = 'seed'\nvalues = [1, 2, 3]";
    assert_eq!(identity(listed), identity("[[axes]]\nfield = 'seed'\nfrom = 1\nto = 3"));
    assert_ne!(identity(listed), identity(&format!("{listed}\n[scenario]\nprocessors = 4")));
    let text = toml::to_string(points(listed).grid()).expect("a document");
    let again = parse::<Grid>(&text, Path::new("grid.toml")).expect("the same").resolved().expect("already");
    assert_eq!(again.identity(), points(listed).grid().identity());
}

#[test]
fn contradictions_between_axes_are_refused() {
    let refused =
        |model, axes| Grid::new(model, toml::Table::new(), axes).check().expect_err("refused").found;
    let axis = |field: &str| Axis::new(field, [Value::Float(0.5)]);
    assert_eq!(refused(Model::Packet, vec![axis("load"), axis("rate_per_s")]), "`load` and `rate_per_s`");
    assert_eq!(refused(Model::Runqueue, vec![axis("load")]), "`load`");
    assert!(refused(Model::Packet, vec![axis("seed"), axis("seed")]).starts_with("`seed`"));
}
