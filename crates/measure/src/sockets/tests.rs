//! The experiments themselves, for real: in namespaces where they may be made, else over loopback.

use super::*;
use crate::sockets::experiment::{Part, Probe, Situation};
use warmcore_costs::socket::{Delivery, LastUsed, SoftirqCpu};

/// Runs each experiment once on this machine.
fn run_each(experiments: &[SocketExperiment], packets: usize) -> Vec<Outcome> {
    let machine = warmcore_linux::Probe::new().machine().unwrap().machine;
    let processors = Processors::of(&machine).unwrap();
    let site = Site::new().unwrap();
    let (timer, stop) = (Timer::calibrate(), AtomicBool::new(false));
    let context = SocketContext {
        processors: &processors,
        site: &site,
        timer: &timer,
        stop: &stop,
        payload_bytes: 100,
    };
    println!("{:?}, {:?}", site.network(), site.instead);
    let can_steer = site.steer(Some(processors.reader)).and_then(|()| site.steer(None)).is_ok();
    let possible = SocketExperiment::all(&processors.kinds(), can_steer);
    let mut workloads = [Workload::new(1).unwrap(), Workload::new(2).unwrap()];
    let mut outcomes = Vec::new();
    for experiment in experiments {
        if possible.contains(experiment) {
            outcomes.push(context.run(*experiment, packets, &mut workloads).unwrap());
        } else {
            println!("skipped: {experiment}, which this machine or our privilege does not allow");
        }
    }
    outcomes
}

fn turns(softirq: SoftirqCpu, delivery: Delivery, work_us: u32, probe: Probe) -> SocketExperiment {
    SocketExperiment::Turns(Situation { softirq, delivery, last_used: LastUsed::Here, work_us }, probe)
}

fn median(outcome: &Outcome, part: Part) -> f64 {
    let mut times = outcome.times[&part].clone();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Every datagram is received and its bytes are checked by the run itself; what is here is that each part is there.
#[test]
fn every_experiment_times_its_parts() {
    use Delivery::{InCall, Interrupt};
    use SoftirqCpu::{OtherCore, Reader};
    let experiments = [
        (turns(Reader, InCall, 0, Probe::Calls), vec![Part::Call, Part::Receive]),
        (turns(OtherCore, InCall, 10, Probe::Calls), vec![Part::Call, Part::Receive]),
        (turns(Reader, Interrupt, 0, Probe::Calls), vec![Part::Call, Part::Softirq, Part::Receive]),
        (turns(OtherCore, InCall, 0, Probe::Halves), vec![Part::Call, Part::Send, Part::Softirq]),
        (turns(OtherCore, InCall, 0, Probe::Answer), vec![Part::Call, Part::Send, Part::Softirq]),
        (turns(Reader, InCall, 0, Probe::Handler), vec![Part::Call, Part::Handler]),
        (SocketExperiment::EmptyPoll, vec![Part::Receive]),
        (SocketExperiment::Batch(8), vec![Part::Receive]),
        (SocketExperiment::Asleep, vec![Part::Call, Part::Arrival, Part::ReaderCpu]),
    ];
    for (experiment, parts) in experiments {
        for outcome in run_each(&[experiment], 40) {
            assert_eq!(outcome.packets, 40);
            for part in parts.clone() {
                let times = outcome.times.get(&part);
                assert!(times.is_some_and(|times| !times.is_empty()), "{experiment}: no {part:?}");
                assert!((1.0..1e9).contains(&median(&outcome, part)), "{experiment}: {part:?} {times:?}");
            }
        }
    }
}

/// With wide room: other programs share the processor, but not in the median of packets.
#[test]
fn a_part_is_shorter_than_the_whole_and_other_work_makes_nothing_faster() {
    let (own, call) = (SoftirqCpu::Reader, Delivery::InCall);
    let asked = [(0, Probe::Calls), (0, Probe::Whole), (1_000, Probe::Calls)];
    let outcomes = run_each(&asked.map(|(work, probe)| turns(own, call, work, probe)), 60);
    let [hot, whole, cold] = outcomes.as_slice() else { panic!("one processor is enough for each") };
    let (call, receive) = (median(hot, Part::Call), median(hot, Part::Receive));
    let whole = median(whole, Part::Whole);
    assert!(call < 1.3 * whole && receive < 0.8 * whole, "{call} + {receive}, {whole} as one");
    assert!((0.6..1.6).contains(&((call + receive) / whole)), "{call} + {receive}, {whole} as one");
    assert!(median(cold, Part::Receive) > 0.8 * receive, "{} after {receive}", median(cold, Part::Receive));
}

#[test]
fn the_halves_of_a_call_make_the_call() {
    let halves = turns(SoftirqCpu::Reader, Delivery::InCall, 0, Probe::Halves);
    for Outcome { times, .. } in run_each(&[halves], 40) {
        let sums =
            times[&Part::Send].iter().zip(&times[&Part::Softirq]).map(|(send, softirq)| send + softirq);
        for (sum, call) in sums.zip(&times[&Part::Call]) {
            assert!((sum - call).abs() < 1.0, "{sum} and {call}");
        }
    }
}

#[test]
fn a_stopped_calibration_ends_at_once() {
    let machine = warmcore_linux::Probe::new().machine().unwrap().machine;
    let stop = AtomicBool::new(true);
    let ended = calibrate_sockets(&machine, &SocketPlan::quick(), &mut |_| {}, &stop);
    assert!(matches!(ended, Err(CalibrateError::Interrupted)), "{ended:?}");
}
