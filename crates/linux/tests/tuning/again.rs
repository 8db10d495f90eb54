//! What is done to a journal that an undo has left open, because somebody else has changed a value.

use crate::scene::Scene;

const THEIRS: &str = "sys/class/net/eth0/queues/rx-0/rps_flow_cnt";

/// A value that the first undo gives back; the plan wants 32768.
const BACK: &str = "proc/sys/net/core/rps_sock_flow_entries";

/// A machine with a plan of which an undo could not take one value back.
fn left_open() -> Scene {
    let scene = Scene::new();
    scene.apply_through(&scene.disk()).unwrap();
    scene.write(THEIRS, "77\n");
    let undone = scene.undo_through(&scene.disk(), false).unwrap().unwrap();
    assert!(!undone.is_complete(), "{undone:?}");
    scene
}

#[test]
fn changes_that_were_taken_back_are_not_confirmed() {
    let scene = left_open();
    let disk = scene.disk();
    let path = scene.journals.path().join("active.journal");
    let text = std::fs::read_to_string(&path).unwrap();
    for is_whole in [true, false] {
        if !is_whole {
            // The undo was killed before it had ended.
            let killed: String =
                text.split_inclusive('\n').filter(|line| !line.contains("taken_back")).collect();
            assert_ne!(killed, text);
            std::fs::write(&path, killed).unwrap();
        }
        let mut journal = scene.journals.open(&disk, false).unwrap().unwrap();
        let refused = journal.confirm().unwrap_err().to_string();
        assert!(refused.contains("too late to confirm the changes"), "{refused}");
        let is_told = refused.contains("RFS flows of eth0 rx-0: somebody else has set it to 77 since");
        assert_eq!(is_told, is_whole, "{refused}");
        assert!(!journal.content().confirmed);
    }
}

#[test]
fn a_value_that_is_back_is_not_taken_away_though_the_plan_has_it() {
    for force in [false, true] {
        let scene = left_open();
        scene.write(BACK, "32768\n");
        let undone = scene.undo_through(&scene.disk(), force).unwrap().unwrap();
        assert_eq!(scene.read(BACK), "32768\n", "force {force}: {undone:?}");
        assert_eq!(undone.is_complete(), force, "{undone:?}");
    }
}

#[test]
fn what_stands_decides_where_the_end_of_the_journal_is_lost() {
    let scene = left_open();
    scene.write(BACK, "32768\n");
    let path = scene.journals.path().join("active.journal");
    let text = std::fs::read_to_string(&path).unwrap();
    let lost: String = text.split_inclusive('\n').filter(|line| !line.contains("restored = ")).collect();
    assert_ne!(lost, text);
    std::fs::write(&path, lost).unwrap();
    scene.undo_through(&scene.disk(), false).unwrap();
    assert_eq!(scene.read(BACK), "0\n");
}
