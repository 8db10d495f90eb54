//! Plans for hosts of every kind: reviewed tables, properties, and the result of applying them.

mod applied;
mod faults;
mod hosts;
mod properties;
mod renaming;
mod scene;
mod sketch;
mod tables;

use hosts::{Host, all};
use warmcore_costs::Profile;
use warmcore_linux::fake::Tree;
use warmcore_linux::{Inventory, Probe};
use warmcore_study::placement::{Goal, HostPlacement, Request, Target, Unplaceable, place};

const GOALS: [Goal; 3] = [Goal::Throughput, Goal::Latency, Goal::Isolation];

fn picture(tree: Tree) -> Inventory {
    Probe::fake(tree).inventory().expect("a sound tree")
}

fn planned(picture: &Inventory, subject: &Target, goal: Goal) -> Result<HostPlacement, Unplaceable> {
    let profile = Profile::sgi_challenge_xl();
    place(picture, &Request { target: subject, goal, rate: None, profile: Some(&profile) })
}

/// Every plan: of every host, for every goal, with and without costs.
fn plans() -> Vec<(Host, Inventory, Goal, HostPlacement)> {
    let profile = Profile::sgi_challenge_xl();
    let mut plans = Vec::new();
    for host in all() {
        let picture = picture(host.tree.clone());
        for (goal, profile) in GOALS.into_iter().flat_map(|goal| [(goal, None), (goal, Some(&profile))]) {
            let request = Request { target: &host.subject, goal, rate: None, profile };
            if let Ok(placement) = place(&picture, &request) {
                plans.push((host.clone(), picture.clone(), goal, placement));
            }
        }
    }
    plans
}
