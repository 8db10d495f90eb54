//! The memory bus of a node: 100 MHz, 256 bits, split transactions (Falsafi 1998, §1.3.1).
//!
//! A transaction takes the address part for one cycle of the bus; its data, if any, take the data part later. Whoever finds
//! a part taken waits in turn. Data wait for those of earlier transactions, as if all came equally late. Transactions
//! begin at any processor cycle: they are not aligned to cycles of the bus, so that a miss that meets no other takes what
//! Table 5.1 says.

use super::bank::Bank;
use super::occupancy::BUS_WIDTH;
use super::timing::Timing;

/// The two parts of a bus, with the memory behind it.
#[derive(Clone, Debug)]
pub(super) struct Bus {
    timing: Timing,
    line_beats: u64,
    address_free: u64,
    data_free: u64,
    pub(super) bank: Bank,
    /// Cycles in which the address part was taken, and the data part.
    pub(super) address_busy: u64,
    pub(super) data_busy: u64,
    /// Cycles that transactions waited for either part.
    pub(super) waited: u64,
}

/// Who supplies a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Supplier {
    Memory,
    /// A cache or a block buffer.
    Cache,
}

impl Bus {
    pub(super) fn new(timing: Timing, line_bytes: u64, bank: Bank) -> Self {
        Self {
            timing,
            line_beats: line_bytes.div_ceil(BUS_WIDTH),
            address_free: 0,
            data_free: 0,
            bank,
            address_busy: 0,
            data_busy: 0,
            waited: 0,
        }
    }

    /// A transaction without data that is asked for at `now`: when it has the bus.
    pub(super) fn address(&mut self, now: u64) -> u64 {
        let start = now.max(self.address_free);
        self.waited += start - now;
        self.address_free = start + self.timing.address;
        self.address_busy += self.timing.address;
        start
    }

    /// So many transactions without data by one processor, the first at `now` and each after the one before: how long the
    /// first waits.
    pub(super) fn uncached(&mut self, now: u64, transactions: u64) -> u64 {
        if transactions == 0 {
            return 0;
        }
        let start = self.address(now);
        self.address_free += (transactions - 1) * self.timing.address;
        self.address_busy += (transactions - 1) * self.timing.address;
        start - now
    }

    /// Data of a transaction that had the bus at `start`: how long they wait for data of others.
    fn data(&mut self, start: u64, beats: u64) -> u64 {
        let wait = self.data_free.saturating_sub(start);
        self.waited += wait;
        self.data_free = start + wait + beats * self.timing.beat;
        self.data_busy += beats * self.timing.beat;
        wait
    }

    /// A line that is asked for at `now`: when it has come.
    pub(super) fn fill(&mut self, now: u64, supplier: Supplier) -> u64 {
        let start = self.address(now);
        let wait = if supplier == Supplier::Memory { self.bank.read(start) } else { 0 };
        start + self.timing.fill + wait + self.data(start, self.line_beats)
    }

    /// A line that is written back at `now`, which nobody waits for.
    pub(super) fn write_back(&mut self, now: u64) {
        let start = self.address(now);
        let stall = self.bank.write(start);
        self.data(start + stall, self.line_beats);
    }

    /// Moves a block of `bytes` to the device at `now`: how long it waits for bus and memory, in addition to what the step takes
    /// alone.
    pub(super) fn move_block(&mut self, now: u64, bytes: u64, supplier: Supplier) -> u64 {
        let start = self.address(now);
        let beats = bytes.div_ceil(BUS_WIDTH);
        // Lines follow each other, which the step's time has. The bank is busy with each.
        let lines = if supplier == Supplier::Memory { beats.div_ceil(self.line_beats) } else { 0 };
        let wait = (0..lines).map(|_| self.bank.read(start)).reduce(|first, _| first).unwrap_or(0);
        start - now + wait + self.data(start, beats)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bus() -> Bus {
        let timing = Timing::default();
        Bus::new(timing, 64, Bank::new(&timing, false))
    }

    #[test]
    fn a_lone_line_takes_what_table_5_1_says() {
        assert_eq!(bus().fill(1000, Supplier::Memory), 1063);
    }

    #[test]
    fn transactions_at_one_time_wait_for_either_part() {
        let mut bus = bus();
        let done = [0; 3].map(|_| bus.fill(1000, Supplier::Cache));
        // Addresses are 4 cycles apart, data 8.
        assert_eq!(done, [1063, 1071, 1079]);
        assert_eq!((bus.address_busy, bus.data_busy), (12, 24));
    }

    #[test]
    fn a_block_keeps_a_single_bank_busy_with_each_of_its_lines() {
        let timing = Timing::default();
        let mut bus = Bus::new(timing, 64, Bank::new(&timing, true));
        assert_eq!(bus.move_block(0, 256, Supplier::Memory), 0);
        assert_eq!(bus.bank.used, 4 * timing.bank);
        assert_eq!(bus.fill(1000, Supplier::Memory), 1063);
    }
}
