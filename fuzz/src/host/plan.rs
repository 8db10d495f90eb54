//! Applies documents as plans, and undoes them.

use super::{Machine, assert_printable};
use std::path::Path;
use warmcore_linux::tuning::admission::AdmissionError;
use warmcore_linux::tuning::step::StepError;
use warmcore_linux::tuning::{AdmissionOptions, Plan, PlanDocument, admit, changes, steps};
use warmcore_scenario::document::DocumentError;

/// The name of every document.
const NAME: &str = "plan.toml";

/// Checks `document`, applies it to `machine` if it is sound, and undoes it.
///
/// # Panics
/// If a refusal does not name a field or line of the document, anything is not as before in the end, or something
/// outside the machine was touched.
pub fn apply_and_undo(machine: &Machine, document: &[u8]) {
    let Ok(text) = str::from_utf8(document) else { return };
    let plan = match PlanDocument::parse(text.to_owned(), Path::new(NAME)) {
        Ok(PlanDocument { plan, .. }) => plan,
        Err(error) => return assert_names_line(text, &error),
    };
    match admit(&plan, &machine.scene.disk(), &AdmissionOptions::default()) {
        Ok(_) => {}
        Err(AdmissionError::Mismatch(faults)) => {
            for fault in faults {
                assert_names_field(&plan, &fault.field, &fault.to_string());
            }
            return;
        }
        Err(error) => panic!("the machine is sound: {error}"),
    }
    match steps(&plan, &machine.scene.disk()) {
        Ok(proposals) => {
            if !changes(proposals).is_empty() {
                change_and_undo(machine, &plan);
            }
        }
        Err(StepError::Absent(fault)) => assert_names_field(&plan, &fault.field, &fault.to_string()),
        Err(StepError::Unreadable { line, set, source }) => {
            assert!(line < plan.lines.len(), "{line}");
            assert_printable(&format!("{set}: {source}"));
        }
        Err(StepError::Unrestorable { line, set, fault }) => {
            assert!(line < plan.lines.len(), "{line}");
            assert_printable(&format!("{set}: {fault}"));
        }
    }
    machine.assert_outside_untouched();
}

fn change_and_undo(machine: &Machine, plan: &Plan) {
    if let Err(refused) = machine.scene.apply_plan_through(plan, &machine.scene.disk()) {
        assert_printable(&refused);
        assert!(
            refused.starts_with("line ") && refused.contains("everything is as it was before"),
            "{refused}"
        );
        assert!(machine.scene.journals.active().expect("a readable journal").is_none(), "{refused}");
    }
    machine.scene.assert_restorable(&machine.before, "a plan");
}

/// Panics unless the error names a line of `text` and can be shown.
fn assert_names_line(text: &str, error: &DocumentError) {
    let message = error.to_string();
    assert!(!message.contains('\n'), "{message:?}");
    let line = match error {
        DocumentError::Malformed { line, .. } => line,
        DocumentError::Invalid { line, fault, .. } => {
            let top = fault.field.split('.').next();
            assert!(matches!(top, Some("lines" | "machine" | "schema")), "{message}");
            line
        }
        DocumentError::Unreadable { .. } => panic!("{message}"),
    };
    assert!((1..=text.split('\n').count()).contains(line), "{message}");
    assert!(message.starts_with(&format!("{NAME}:{line}: ")), "{message}");
}

/// Panics unless `message` can be shown and `field` leads to a place in `plan`.
fn assert_names_field(plan: &Plan, field: &str, message: &str) {
    assert_printable(message);
    let mut parts = field.split('.');
    let is_place = match parts.next() {
        Some("lines") => match parts.next() {
            Some(index) => index.parse::<usize>().is_ok_and(|index| index < plan.lines.len()),
            None => plan.lines.is_empty(),
        },
        Some("machine" | "schema") => true,
        _ => false,
    };
    assert!(is_place, "{message}");
}
