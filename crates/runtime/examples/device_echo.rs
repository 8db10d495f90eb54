//! A UDP echo server: answers up to 1,024 senders at a time on port 7 of an address, with an independent stack
//! for each processor, and each sender's packets always in the same one.
//!
//! ```sh
//! cargo run --release -p warmcore-runtime --example device_echo -- eth0 10.0.0.9 60
//! ```
//!
//! The address must not be one of this machine's kernel, which would answer for it itself.

use std::error::Error;
use std::time::Duration;
use warmcore_costs::Profile;
use warmcore_runtime::driver::device::NewSenders;
use warmcore_runtime::from_scenario::usable_cores;
use warmcore_runtime::{Context, Setup, run};
use warmcore_scenario::{
    DriverKind, Live, PacketScenario, Parallelism, ProcessorPolicy, Scheduling, Traffic,
};
use warmcore_stack::Delivery;
use warmcore_units::Nanos;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [interface, address, seconds] = &arguments[..] else {
        return Err("expected INTERFACE ADDRESS SECONDS, such as `eth0 10.0.0.9 60`".into());
    };
    let length = Nanos::from_secs(seconds.parse()?);
    let scenario = PacketScenario {
        processors: usable_cores()?.len() as u32,
        scheduling: Scheduling {
            approach: Parallelism::Ips,
            policy: ProcessorPolicy::WiredStreams,
            ..Scheduling::default()
        },
        traffic: Traffic { streams: 1024, ..Traffic::default() },
        live: Live {
            driver: DriverKind::PacketSocket,
            interface: Some(interface.clone()),
            address: Some(address.parse()?),
            port: 7,
            work_kib: 0,
            ..Live::default()
        },
        ..PacketScenario::default()
    };
    let Setup { options, mut driver, new_senders, .. } = Setup::new(&scenario, &Profile::sgi_challenge_xl())?;

    let echo = |delivery: &Delivery<'_>, context: &mut Context<'_>| context.reply(delivery.payload);
    let report = run(&options, &mut driver, &[], &echo, |watch| {
        let goes_on = |senders: &NewSenders| senders.admit(watch, Duration::from_millis(100));
        while watch.elapsed() < length && new_senders.as_ref().is_some_and(goes_on) {}
    })?;
    println!("{} packets answered", report.total().packets() - report.total().unanswered);
    Ok(())
}
