//! Memory banks: one bank with a write buffer in the controller (Falsafi 1998, §4.3.1), or infinitely interleaved (§5.3.1).

use super::timing::Timing;

/// The banks of a node's memory.
#[derive(Clone, Debug)]
pub(super) struct Bank {
    single: bool,
    busy: u64,
    entries: u32,
    free: u64,
    waiting: u32,
    /// Cycles in which the bank was busy.
    pub(super) used: u64,
}

impl Bank {
    pub(super) fn new(timing: &Timing, single: bool) -> Self {
        Self { single, busy: timing.bank, entries: timing.write_buffer.max(1), free: 0, waiting: 0, used: 0 }
    }

    fn access(&mut self, start: u64) {
        self.free = start + self.busy;
        self.used += self.busy;
    }

    /// Lets the write buffer drain while the bank would have been idle until `now`.
    fn drain(&mut self, now: u64) {
        while self.waiting > 0 && self.free + self.busy <= now {
            self.access(self.free);
            self.waiting -= 1;
        }
    }

    /// A read that comes at `now`: how long it waits. Reads pass the write buffer.
    pub(super) fn read(&mut self, now: u64) -> u64 {
        if !self.single {
            self.used += self.busy;
            return 0;
        }
        self.drain(now);
        let start = self.free.max(now);
        self.access(start);
        start - now
    }

    /// A write that comes at `now`: how long it keeps the bus waiting, because the write buffer is full.
    pub(super) fn write(&mut self, now: u64) -> u64 {
        if !self.single {
            self.used += self.busy;
            return 0;
        }
        self.drain(now);
        if self.waiting == 0 {
            self.free = self.free.max(now);
        }
        let mut stall = 0;
        if self.waiting == self.entries {
            self.access(self.free);
            self.waiting -= 1;
            stall = self.free.saturating_sub(now);
        }
        self.waiting += 1;
        stall
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_of_a_single_bank_wait_for_each_other() {
        let timing = Timing::default();
        let mut bank = Bank::new(&timing, true);
        assert_eq!((bank.read(100), bank.read(100)), (0, timing.bank));
        let mut interleaved = Bank::new(&timing, false);
        assert_eq!((interleaved.read(100), interleaved.read(100)), (0, 0));
    }

    #[test]
    fn four_writes_wait_in_the_buffer_and_a_fifth_on_the_bus() {
        let timing = Timing::default();
        let mut bank = Bank::new(&timing, true);
        assert_eq!([0; 4].map(|_| bank.write(1000)), [0; 4]);
        assert_eq!(bank.write(1000), timing.bank);
        // All are drained after a while, so that a read does not wait.
        assert_eq!(bank.read(1000 + 10 * timing.bank), 0);
    }
}
