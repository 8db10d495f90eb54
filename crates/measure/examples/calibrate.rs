//! Calibrates this machine and prints its times in the layout of Salehi 1994, Table 2. With `--twice`,
//! calibrates twice and prints how many values agree.
//!
//! ```text
//! cargo run --release -p warmcore-measure --example calibrate -- [--quick] [--twice] [--resident] [--transport udp|tcp|rpc]
//!     [--payload N] [--reply N] [--seconds N] [--intervening COMMAND…]
//! ```

use std::error::Error;
use std::ffi::OsString;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use warmcore_costs::profile::ReceiveTimes;
use warmcore_costs::{Approach, Experiment, Measured, Profile, ThreadStack};
use warmcore_linux::Probe;
use warmcore_measure::{Calibration, CalibrationPlan, FrameLines, calibrate};
use warmcore_topology::Machine;
use warmcore_units::Transport;

fn main() -> Result<(), Box<dyn Error>> {
    let (plan, twice) = arguments()?;
    let machine = Probe::new().machine()?.machine;
    let first = measure(&machine, &plan)?;
    print(&first);
    if twice {
        let again = CalibrationPlan { seed: plan.seed + 1, ..plan };
        let second = measure(&machine, &again)?;
        print(&second);
        compare(&first.profile, &second.profile);
    }
    Ok(())
}

fn arguments() -> Result<(CalibrationPlan, bool), Box<dyn Error>> {
    let mut plan = CalibrationPlan::standard();
    let mut twice = false;
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--quick") => plan = CalibrationPlan::quick(),
            Some("--twice") => twice = true,
            Some("--resident") => plan.frames = FrameLines::Resident,
            Some("--transport") => {
                let name = arguments.next();
                let named = |transport: &Transport| name.as_deref() == Some(transport.name().as_ref());
                plan.transport = Transport::ALL.into_iter().find(named).ok_or("--transport needs a name")?;
            }
            Some("--payload") => {
                let bytes = arguments.next().and_then(|text| text.to_str()?.parse().ok());
                plan.payload_bytes = bytes.ok_or("--payload needs a number")?;
            }
            Some("--reply") => {
                let bytes = arguments.next().and_then(|text| text.to_str()?.parse().ok());
                plan.reply_bytes = bytes.ok_or("--reply needs a number")?;
            }
            Some("--seconds") => {
                let seconds = arguments.next().and_then(|text| text.to_str()?.parse().ok());
                plan.budget = Duration::from_secs(seconds.ok_or("--seconds needs a number")?);
            }
            Some("--intervening") => plan.intervening = Some(arguments.by_ref().collect::<Vec<OsString>>()),
            _ => return Err(format!("unknown argument {}", argument.display()).into()),
        }
    }
    Ok((plan, twice))
}

fn measure(machine: &Machine, plan: &CalibrationPlan) -> Result<Calibration, Box<dyn Error>> {
    let mut last = 0.0;
    let mut observer = |progress: warmcore_measure::Progress| {
        if progress.done >= last + 0.1 {
            last = progress.done;
            eprintln!("{:3.0}% {}", 100.0 * progress.done, progress.stage);
        }
    };
    Ok(calibrate(machine, plan, &mut observer, &AtomicBool::new(false))?)
}

fn print(calibration: &Calibration) {
    let Calibration { profile, latencies, .. } = calibration;
    println!("{}, {:.0} s", profile.name, calibration.elapsed.as_secs_f64());
    for latency in latencies {
        println!("  a load from {} takes {}", latency.level, latency.time);
    }
    if let Some(handover) = calibration.profile.provenance.handover {
        println!("  a hand-over between the processors takes {handover}");
    }
    for level in &profile.levels {
        println!("  {} cold: {}", level.name, level.cold_reached.as_deref().unwrap_or("?"));
    }
    for stack in ThreadStack::ALL {
        println!("\n{stack}; per approach: hot, then cold up to each level (ns; * missed the target)");
        for experiment in Experiment::ALL {
            let row = Approach::ALL.map(|approach| {
                let times = profile.times.get(approach).with(stack).get(&experiment);
                format!("{:8}{}", approach.short(), times.map(cells).unwrap_or_default())
            });
            println!("  {experiment}  {}", row.join("   "));
        }
    }
    for approach in Approach::ALL {
        println!("fully cold, {}: {}", approach.short(), cell(&profile.times.get(approach).fully_cold));
    }
    if let Some(pool) = &profile.free_memory {
        println!("free memory: acquire {} release {}", cell(&pool.acquire), cell(&pool.release));
    }
    if let Some(curve) = &profile.intervened {
        println!("\nt(x), {}", curve.workload);
        for point in &curve.points {
            println!("  {:>8}  {}", point.x.to_string(), cell(&point.time));
        }
    }
    if let Some(rate) = calibration.references_per_us {
        println!("  {rate:.0} references/µs");
    }
    for note in &profile.provenance.notes {
        println!("- {note}");
    }
}

fn cells(times: &ReceiveTimes) -> String {
    std::iter::once(&times.hot).chain(&times.cold).map(cell).collect()
}

fn cell(time: &Measured) -> String {
    let half = time.half_width.map_or(f64::NAN, |half| half.0);
    let mark = if time.missed_target { '*' } else { ' ' };
    format!(" {:7.1} ±{half:5.1}{mark} ({:2})", time.mean.0, time.runs)
}

/// All values, each with its name.
fn values(profile: &Profile) -> Vec<(String, Measured)> {
    let mut values = Vec::new();
    for approach in Approach::ALL {
        let times = profile.times.get(approach);
        values.push((format!("{} fully cold", approach.short()), times.fully_cold));
        for stack in ThreadStack::ALL {
            for (experiment, receive) in times.with(stack) {
                for (level, time) in std::iter::once(&receive.hot).chain(&receive.cold).enumerate() {
                    values.push((format!("{} {experiment} {stack} cold {level}", approach.short()), *time));
                }
            }
        }
    }
    if let Some(pool) = &profile.free_memory {
        values.extend([("acquire".to_owned(), pool.acquire), ("release".to_owned(), pool.release)]);
    }
    values
}

fn compare(first: &Profile, second: &Profile) {
    let (first, second) = (values(first), values(second));
    let mut agreeing = 0;
    println!();
    for ((name, a), (_, b)) in first.iter().zip(&second) {
        if a.estimate().agrees_with(&b.estimate()) {
            agreeing += 1;
        } else {
            println!("disagree: {name}:{} and{}", cell(a), cell(b));
        }
    }
    println!("{agreeing} of {} values agree within their half-widths", first.len());
}
