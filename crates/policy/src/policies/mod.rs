//! The policies.
//!
//! | policy | schedules for | when a packet waits although a processor is idle |
//! |---|---|---|
//! | [`MostRecentlyUsed`] | code affinity | never |
//! | [`LeastRecentlyUsed`] | nothing: the baseline of Salehi 1994 | never |
//! | [`WiredStreams`] | stream affinity | if its own processor is busy |
//! | [`HomeFirst`] | stream affinity, where all processors have the stream open | never |
//! | [`HomeStealing`] | stream affinity, without waiting for it | never |
//! | [`JoinShortestQueue`], [`PowerOfTwo`] | short queues | if another processor finishes sooner than expected |
//! | [`CentralQueue`] | nothing | never |
//! | [`Patient`] | code affinity, even at the price of waiting | until the queue is long |
//! | [`Adaptive`] | whichever affinity pays off for recent packets | while packets are gathered on one processor |

pub mod adaptive;
mod central;
mod home;
mod patient;
mod recent;
mod shortest;

pub use adaptive::Adaptive;
pub use central::CentralQueue;
pub use home::{HomeFirst, HomeStealing, WiredStreams};
pub use patient::Patient;
pub use recent::{LeastRecentlyUsed, MostRecentlyUsed};
pub use shortest::{JoinShortestQueue, PowerOfTwo};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Decision, Policy, Recency, Request, View};
    use alloc::vec::Vec;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;
    use warmcore_units::{CpuId, Nanos, StackId, StreamId};

    /// Processors with given loads; `idle` lists those with none, least recently used first.
    pub(super) struct Processors {
        loads: Vec<u32>,
        idle: Recency,
    }

    impl Processors {
        pub(super) fn new(loads: &[u32], idle: &[u32]) -> Self {
            let mut order = Recency::empty(loads.len().try_into().unwrap());
            idle.iter().for_each(|&cpu| order.push(cpu));
            Self { loads: loads.to_vec(), idle: order }
        }
    }

    impl View for Processors {
        fn processors(&self) -> u32 {
            self.loads.len().try_into().unwrap()
        }
        fn is_idle(&self, cpu: CpuId) -> bool {
            self.idle.contains(cpu.0)
        }
        fn most_recent(&self) -> Option<CpuId> {
            self.idle.newest().map(CpuId)
        }
        fn least_recent(&self) -> Option<CpuId> {
            self.idle.oldest().map(CpuId)
        }
        fn busy(&self) -> u32 {
            self.loads.iter().map(|&load| u32::from(load > 0)).sum()
        }
        fn load(&self, cpu: CpuId) -> u32 {
            self.loads[cpu.index()]
        }
        fn waiting(&self) -> u32 {
            self.loads.iter().map(|load| load.saturating_sub(1)).sum()
        }
    }

    const HOME: CpuId = CpuId(3);
    const REQUEST: Request =
        Request { now: Nanos::ZERO, stream: StreamId(3), stack: StackId(0), home: HOME, last: None };

    fn place(policy: &mut impl Policy, view: &Processors) -> Decision {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        policy.place(REQUEST, view, &mut random)
    }

    /// Reports the loads in `view` to `policy` one by one, as a driver would.
    fn tell(policy: &mut impl Policy, view: &Processors) {
        for (cpu, &load) in view.loads.iter().enumerate() {
            (1..=load).for_each(|load| policy.loaded(CpuId::from(cpu), load));
        }
    }

    #[test]
    fn with_all_idle_each_policy_chooses_its_processor() {
        let view = Processors::new(&[0; 4], &[2, 0, 3, 1]);
        assert_eq!(place(&mut MostRecentlyUsed, &view), Decision::Run(CpuId(1)));
        assert_eq!(place(&mut LeastRecentlyUsed, &view), Decision::Run(CpuId(2)));
        assert_eq!(place(&mut WiredStreams, &view), Decision::Run(HOME));
        assert_eq!(place(&mut HomeFirst, &view), Decision::Run(HOME));
        assert_eq!(place(&mut HomeStealing::new(4), &view), Decision::Run(HOME));
        assert_eq!(place(&mut JoinShortestQueue::new(4), &view), Decision::Run(CpuId(0)));
        assert_eq!(place(&mut Patient::new(4.0), &view), Decision::Run(CpuId(1)));
        assert!(matches!(place(&mut PowerOfTwo, &view), Decision::Run(_)));
        assert!(matches!(place(&mut CentralQueue::new(4), &view), Decision::Run(_)));
    }

    #[test]
    fn with_the_home_busy_a_wired_stream_waits_and_others_go_elsewhere() {
        let view = Processors::new(&[0, 2, 0, 1], &[2, 0]);
        assert_eq!(place(&mut WiredStreams, &view), Decision::Wait(HOME));
        assert_eq!(place(&mut HomeFirst, &view), Decision::Run(CpuId(0)));
        assert_eq!(place(&mut HomeStealing::new(4), &view), Decision::Run(CpuId(0)));
        let mut central = CentralQueue::new(4);
        tell(&mut central, &Processors::new(&[0, 1, 0, 1], &[2, 0]));
        assert!(matches!(place(&mut central, &view), Decision::Run(CpuId(0 | 2))));
    }

    #[test]
    fn with_all_busy_packets_wait_where_the_policy_says() {
        let view = Processors::new(&[3, 2, 1, 2], &[]);
        assert!(matches!(place(&mut MostRecentlyUsed, &view), Decision::Wait(_)));
        assert!(matches!(place(&mut LeastRecentlyUsed, &view), Decision::Wait(_)));
        assert_eq!(place(&mut WiredStreams, &view), Decision::Wait(HOME));
        let mut shortest = JoinShortestQueue::new(4);
        tell(&mut shortest, &view);
        assert_eq!(place(&mut shortest, &view), Decision::Wait(CpuId(2)));
        let mut stealing = HomeStealing::new(4);
        tell(&mut stealing, &view);
        assert_eq!(stealing.steal(CpuId(2), &view), Some(CpuId(0)));
        stealing.loaded(CpuId(0), 2);
        stealing.loaded(CpuId(0), 1);
        assert_eq!(stealing.steal(CpuId(2), &view), Some(CpuId(1)));
    }

    #[test]
    fn nobody_steals_a_packet_in_service() {
        let view = Processors::new(&[1, 1, 0, 1], &[2]);
        let mut stealing = HomeStealing::new(4);
        tell(&mut stealing, &view);
        assert_eq!(stealing.steal(CpuId(2), &view), None);
    }

    #[test]
    fn the_power_of_two_never_picks_the_longest_of_all() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
        let view = Processors::new(&[2, 9, 1, 2], &[]);
        let picks: Vec<_> = (0..1_000).map(|_| PowerOfTwo.place(REQUEST, &view, &mut random)).collect();
        assert!(!picks.contains(&Decision::Wait(CpuId(1))));
        // The shortest queue is among the two half of the time: 500 times, standard deviation 16.
        let shortest = picks.iter().filter(|&&pick| pick == Decision::Wait(CpuId(2))).count();
        assert!((420..=580).contains(&shortest), "{shortest}");
    }

    /// §8: with N processors running, a packet waits until the queue exceeds N times cold over hot.
    #[test]
    fn patient_waits_for_a_warm_processor_until_the_queue_is_long() {
        let mut patient = Patient::new(1.5);
        assert!(matches!(place(&mut patient, &Processors::new(&[1, 0], &[1])), Decision::Wait(_)));
        assert_eq!(place(&mut patient, &Processors::new(&[2, 0], &[1])), Decision::Run(CpuId(1)));
        assert!(matches!(place(&mut patient, &Processors::new(&[3, 1, 0], &[2])), Decision::Wait(_)));
    }
}
