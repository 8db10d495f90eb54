//! Plans for hosts of every kind: reviewed tables, properties, and the result of applying them.

mod again;
mod applied;
mod choice;
mod faults;
mod hosts;
mod interrupt_cores;
mod isolation;
mod kernel;
mod library;
mod masks;
mod mismatch;
mod named;
mod noise;
mod properties;
mod renaming;
mod scene;
mod sketch;
mod steering;
mod tables;
mod words;

use hosts::{Host, all};
use warmcore_costs::Profile;
use warmcore_linux::Probe;
use warmcore_linux::fake::Tree;
use warmcore_linux::inventory::Observation;
use warmcore_study::placement::{Goal, HostPlacement, PacketCosts, Request, Target, Unplaceable, place};

const GOALS: [Goal; 3] = [Goal::Throughput, Goal::Latency, Goal::Isolation];

/// What is seen of the host within ten seconds.
fn observed(tree: &Tree) -> Observation {
    let [earlier, later] = [tree.earlier(10.0), tree.clone()].map(Probe::fake);
    Observation::of_probes(&earlier, &later).expect("sound trees")
}

fn request<'a>(subject: &'a Target, goal: Goal, profile: Option<&'a Profile>) -> Request<'a> {
    Request {
        target: subject,
        interfaces: &[],
        interrupt_cores: None,
        channels: false,
        threaded_napi: false,
        pin: false,
        goal,
        rate: None,
        costs: profile.map(PacketCosts::Stack),
    }
}

fn planned(observed: &Observation, subject: &Target, goal: Goal) -> Result<HostPlacement, Unplaceable> {
    place(observed, &request(subject, goal, Some(&Profile::sgi_challenge_xl())))
}

/// Every plan: of every host, for every goal, with and without costs, pinned and not.
fn plans() -> Vec<(Host, Observation, Goal, HostPlacement)> {
    let profile = Profile::sgi_challenge_xl();
    let mut plans = Vec::new();
    for host in all() {
        let observed = observed(&host.tree);
        let costs = [None, Some(&profile)];
        let ways = costs.into_iter().flat_map(|costs| [(costs, false), (costs, true)]);
        for (goal, (profile, pin)) in
            GOALS.into_iter().flat_map(|goal| ways.clone().map(move |way| (goal, way)))
        {
            let request = Request { pin, ..request(&host.subject, goal, profile) };
            if let Ok(placement) = place(&observed, &request) {
                plans.push((host.clone(), observed.clone(), goal, placement));
            }
        }
    }
    plans
}
