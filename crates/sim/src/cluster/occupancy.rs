//! What a handler's steps take: Table 5.1, row by row (Falsafi 1998, §5.3.2), and what follows from it where it is silent.
//!
//! All numbers are cycles of 400 MHz, for blocks of 64 bytes. The table has no rows for three things, and the text states
//! none of them; each follows by one rule from rows that are there:
//!
//! - *A message without data that is no request* costs what sending the request does, the one row that sends without data.
//! - *A change of a tag that moves no block* costs what placing a block does: S-COMA places it at no cost, so the row holds
//!   nothing but the change.
//! - *Other sizes of blocks*: S-COMA's 136 cycles for fetching 64 bytes are twice the 5 + 63 of a miss on the bus. So every
//!   32 bytes, one width of the bus, cost 68 more; the rest of the row does not change.

use warmcore_coherence::Step;

/// Bytes that the bus moves at once: 256 bits (§1.3.1).
pub const BUS_WIDTH: u64 = 32;

/// Cycles for which 32 bytes of a block are fetched from memory: half of S-COMA's row for 64 bytes.
pub const FETCH_32_BYTES: u64 = 68;

/// Cycles of each step, by the rows of Table 5.1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Occupancy {
    /// Request: detect block access fault, reverse translation, dispatch handler.
    pub detect_fault: u64,
    /// Request: get fault state, send message.
    pub send_request: u64,
    /// Reply: dispatch message handler.
    pub dispatch_at_home: u64,
    /// Reply: reverse translation, directory lookup.
    pub look_up_directory: u64,
    /// Reply: fetch data, change tag, send message.
    pub fetch_and_send: u64,
    /// Response: dispatch message handler.
    pub dispatch_at_cacher: u64,
    /// Response: reverse translation.
    pub reverse_translate: u64,
    /// Response: place data, change tag.
    pub place: u64,
    /// Response: resume, reissue bus transaction.
    pub resume: u64,
    /// Not in the table: for each further 32 bytes of a block that is placed. The block buffer takes blocks from the
    /// network, so that memory is not waited for.
    pub place_further_32_bytes: u64,
}

impl Occupancy {
    /// The finite-state machine of S-COMA.
    pub const S_COMA: Self = Self {
        detect_fault: 12,
        send_request: 0,
        dispatch_at_home: 1,
        look_up_directory: 8,
        fetch_and_send: 136,
        dispatch_at_cacher: 1,
        reverse_translate: 8,
        place: 0,
        resume: 6,
        place_further_32_bytes: 0,
    };

    /// An embedded processor of Hurricane at 400 MHz.
    pub const HURRICANE: Self = Self {
        detect_fault: 16,
        send_request: 36,
        dispatch_at_home: 3,
        look_up_directory: 61,
        fetch_and_send: 140,
        dispatch_at_cacher: 4,
        reverse_translate: 16,
        place: 34,
        resume: 6,
        place_further_32_bytes: 0,
    };

    /// An SMP processor with Hurricane-1.
    pub const HURRICANE_1: Self = Self {
        detect_fault: 87,
        send_request: 141,
        dispatch_at_home: 51,
        look_up_directory: 121,
        fetch_and_send: 205,
        dispatch_at_cacher: 50,
        reverse_translate: 34,
        place: 29,
        resume: 178,
        place_further_32_bytes: 0,
    };

    /// An SMP processor with Typhoon-1, whose steps the text does not give. The board is that of Hurricane-1 without its
    /// dispatch queue (Reinhardt et al. 1996, as §5.2 says), so the rows are taken from there.
    ///
    /// *One value is set by a stated round trip*, that of 1204 cycles for blocks of 64 bytes (§4.3.3.3): 40 cycles more in the
    /// dispatch of a fault. Those for 128 and 256 bytes, 1490 and 2055 cycles, say that every further 32 bytes cost 141 to
    /// 143 cycles. Fetching and the network interfaces are 76 of them; the rest is taken to be another transfer over the
    /// bus, at the node that asked.
    pub const TYPHOON_1: Self =
        Self { detect_fault: 127, place_further_32_bytes: FETCH_32_BYTES, ..Self::HURRICANE_1 };

    /// The same steps on an embedded processor with a clock of `mhz`. Only the transfer between memory and network takes the
    /// same time: requests and responses "do not involve memory data transfer" and double with the clock (§5.3.3.2).
    #[must_use]
    pub const fn at_clock(self, mhz: u32) -> Self {
        let transfer = Self::S_COMA.fetch_and_send;
        Self {
            detect_fault: slowed(self.detect_fault, mhz),
            send_request: slowed(self.send_request, mhz),
            dispatch_at_home: slowed(self.dispatch_at_home, mhz),
            look_up_directory: slowed(self.look_up_directory, mhz),
            fetch_and_send: transfer + slowed(self.fetch_and_send - transfer, mhz),
            dispatch_at_cacher: slowed(self.dispatch_at_cacher, mhz),
            reverse_translate: slowed(self.reverse_translate, mhz),
            place: slowed(self.place, mhz),
            resume: slowed(self.resume, mhz),
            place_further_32_bytes: self.place_further_32_bytes,
        }
    }

    /// What `step` takes if nothing is in its way, with blocks of `block_bytes`.
    #[must_use]
    pub const fn cycles(&self, step: Step, block_bytes: u64) -> u64 {
        match step {
            Step::DetectFault => self.detect_fault,
            Step::SendRequest | Step::SendControl => self.send_request,
            Step::DispatchAtHome => self.dispatch_at_home,
            Step::LookUpDirectory => self.look_up_directory,
            Step::FetchAndSend => {
                self.fetch_and_send - 2 * FETCH_32_BYTES + block_bytes / BUS_WIDTH * FETCH_32_BYTES
            }
            Step::DispatchAtCacher => self.dispatch_at_cacher,
            Step::ReverseTranslate => self.reverse_translate,
            Step::Place => {
                let further = (block_bytes / BUS_WIDTH).saturating_sub(2);
                self.place + further * self.place_further_32_bytes
            }
            Step::ChangeTag => self.place,
            Step::Resume => self.resume,
        }
    }
}

/// Cycles of 400 MHz that `cycles` of `mhz` last.
const fn slowed(cycles: u64, mhz: u32) -> u64 {
    (cycles * 400).div_ceil(mhz as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that is on the way of a remote read but the two rows of the cacher.
    fn rows(of: Occupancy) -> u64 {
        let request = of.detect_fault + of.send_request;
        let reply = of.dispatch_at_home + of.look_up_directory + of.fetch_and_send;
        let response = of.dispatch_at_cacher + of.reverse_translate + of.place + of.resume;
        request + reply + response
    }

    #[test]
    fn the_rows_add_up_to_the_totals_of_table_5_1() {
        for (of, total) in
            [(Occupancy::S_COMA, 440), (Occupancy::HURRICANE, 584), (Occupancy::HURRICANE_1, 1164)]
        {
            assert_eq!(5 + rows(of) + 2 * 100 + 63, total);
        }
    }

    #[test]
    fn only_software_slows_with_the_clock() {
        assert_eq!(Occupancy::HURRICANE.at_clock(400), Occupancy::HURRICANE);
        let slow = Occupancy::HURRICANE.at_clock(200);
        assert_eq!((slow.send_request, slow.fetch_and_send), (72, 144));
    }

    #[test]
    fn further_bytes_cost_their_fetch() {
        let at = |bytes| Occupancy::S_COMA.cycles(Step::FetchAndSend, bytes);
        assert_eq!([at(32), at(64), at(128), at(256)], [68, 136, 272, 544]);
    }
}
