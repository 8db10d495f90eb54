//! Instructions from one layer to the next on the way up: Table 3.

use super::super::points::Stages;
use warmcore_layout::trace::{Step, Trace};

/// When a layer's `pop` is entered the last time: at which executed instruction.
fn entered(trace: &Trace, layer: &str) -> Option<u64> {
    let is_it = |name: &str| name.contains(&format!("::{layer}")) && name.ends_with("::pop");
    let entry = trace.functions().iter().find(|function| is_it(&function.name))?.address;
    let is_entry = |(at, step): (u64, Step<'_>)| (step.instruction.address == entry).then_some(at);
    (0..).zip(trace.steps()).filter_map(is_entry).last()
}

/// From IP to TCP, and from TCP to its user.
pub(super) fn stages(trace: &Trace) -> Option<Stages> {
    let [ip, tcp, user] = ["IpIn", "TcpIn", "TcpTest"].map(|layer| entered(trace, layer));
    let (ip, tcp, user) = (ip?, tcp?, user?);
    Some(Stages { ip_to_tcp: tcp.checked_sub(ip)?, tcp_to_user: user.checked_sub(tcp)? })
}
