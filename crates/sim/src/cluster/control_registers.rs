//! Cachable control registers: how a protocol processor beyond the bus reads its dispatch register, and what it writes to the
//! device (Falsafi 1998, §3.2, §4.1 and §5.2.2).
//!
//! A processor polls its dispatch register in its cache, where that costs the bus nothing. When an event comes to the head of
//! the queue, the device takes the register's line out of the cache, and the next poll fetches it across the bus. So it
//! is one transaction for each event that is dispatched, and none while a thread has nothing to do. Messages, tags and the flags that
//! resume processors are written across the bus. A finite-state machine and embedded processors have all of that on the device.
//!
//! Table 5.1 has the time of these transactions in its rows. They also keep others from the bus, and wait for it: that comes in
//! addition.

use warmcore_coherence::Step;

/// How many transactions without data `step` takes, by a processor that reaches its device across the bus or is on it.
pub(super) const fn transactions(step: Step, across_bus: bool) -> u64 {
    match (step, across_bus) {
        // Caches must be told, whoever changes the tag.
        (Step::ChangeTag, _) => 1,
        (_, false) => 0,
        // In the processor's cache, or with the data of the block.
        (Step::LookUpDirectory | Step::ReverseTranslate | Step::FetchAndSend, true) => 0,
        // The fault's state and the message; the flag, and its fetch by who waits.
        (Step::SendRequest | Step::Resume, true) => 2,
        // The dispatch register.
        (Step::DetectFault | Step::DispatchAtHome | Step::DispatchAtCacher, true) => 1,
        // The message, or the tag.
        (Step::SendControl | Step::Place, true) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dispatch_register_crosses_the_bus_once_for_each_event() {
        for dispatched in [Step::DetectFault, Step::DispatchAtHome, Step::DispatchAtCacher] {
            assert_eq!((transactions(dispatched, true), transactions(dispatched, false)), (1, 0));
        }
    }
}
