//! Names with line breaks neither break a line of the journal nor begin one.

use crate::scene::{Scene, plan};
use std::fs;
use warmcore_linux::tuning::{Plan, Setting};

/// The plan, for a server of this name.
fn plan_for(of: &str) -> Plan {
    let mut plan = plan();
    for line in &mut plan.lines {
        if let Setting::Thread { name, .. } = &mut line.set {
            of.clone_into(name);
        }
    }
    plan
}

fn assert_applied_and_undone(scene: &Scene, plan: &Plan, context: &str) {
    let before = scene.snapshot();
    scene.apply_plan_through(plan, &scene.disk()).unwrap();
    assert_ne!(scene.snapshot(), before, "{context}");
    let text = fs::read_to_string(scene.journals.path().join("active.journal")).unwrap();
    assert!(
        text.lines().all(|line| line.starts_with("entry = {") && line.ends_with('}')),
        "{context}: {text}"
    );
    scene.assert_restorable(&before, context);
}

#[test]
fn a_process_with_line_breaks_in_its_name_is_placed_and_released() {
    for name in ["ser\nver", "ser\r\nver", "\n", "a\n'''\"\"\"\\"] {
        let scene = Scene::new();
        scene.write("proc/4242/comm", &format!("{name}\n"));
        let stat = scene.read("proc/4242/stat").replace("(server)", &format!("({name})"));
        scene.write("proc/4242/stat", &stat);
        assert_applied_and_undone(&scene, &plan_for(name), &format!("{name:?}"));
    }
}

#[test]
fn a_name_injects_no_line_into_the_journal() {
    let set = "{ global_flows = { flows = 32768 } }";
    let step = format!("entry = {{ step = {{ line = 0, set = {set}, original = ['64'] }} }}");
    for line in [step.as_str(), "entry = { restored = 0 }", "entry = { confirmed = true }"] {
        let scene = Scene::new();
        assert_applied_and_undone(&scene, &plan_for(&format!("x\n{line}\ny")), line);
    }
}

#[test]
fn a_root_with_a_line_break_in_its_name_is_undone() {
    let scene = Scene::named("a\nb");
    assert!(scene.root.to_str().unwrap().contains('\n'));
    assert_applied_and_undone(&scene, &plan(), "a line break in the root");
}
