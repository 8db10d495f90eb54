//! Running connections and their counts.

use super::end_handle::{EndHandle, Ends};
use super::error::TransferError;
use super::options::{Direction, Load};
use super::placement::ConnectionPlacement;
use super::site::{ConnectionEnds, Site};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};
use warmcore_linux::SchedulerCounts;

/// Time between two checks whether the user has stopped.
const STOP_INTERVAL: Duration = Duration::from_millis(50);
/// Time between two checks that every end is still running.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Connections that transfer bytes until this is dropped.
pub struct RunningTransfer {
    connections: Vec<ConnectionEnds>,
    direction: Direction,
}

impl RunningTransfer {
    /// Opens a connection for each of `places`, with its packets and ends placed there.
    ///
    /// # Errors
    /// If packets cannot be steered, or an end cannot be started or connected.
    pub fn start(
        site: &Site,
        ends: &Ends,
        load: Load,
        places: &[ConnectionPlacement],
    ) -> Result<Self, TransferError> {
        Ok(Self { connections: site.connect(ends, load, places)?, direction: load.direction })
    }

    fn ends(&mut self) -> impl Iterator<Item = &mut EndHandle> {
        self.connections.iter_mut().flat_map(|connection| [&mut connection.near, &mut connection.far])
    }

    /// Process ids of the ends on this machine.
    pub fn programs(&mut self) -> Vec<u32> {
        self.ends().filter_map(|end| end.process_id()).collect()
    }

    /// Bytes received so far, by connection.
    ///
    /// # Errors
    /// If an end has ended.
    pub fn received(&mut self) -> Result<Vec<u64>, TransferError> {
        let direction = self.direction;
        self.connections
            .iter_mut()
            .map(|connection| connection.receiver(direction).count().map(|count| count.bytes))
            .collect()
    }

    /// What the scheduler did to each end on this machine.
    pub(super) fn scheduled(&mut self) -> Result<Vec<SchedulerCounts>, TransferError> {
        let here = self.ends().filter(|end| end.is_local());
        here.map(|end| end.count().map(|count| count.scheduled)).collect()
    }

    /// Waits for `length` while the ends run.
    ///
    /// # Errors
    /// If an end has ended, or `stop` is set.
    pub fn wait(&mut self, length: Duration, stop: &AtomicBool) -> Result<(), TransferError> {
        let begun = Instant::now();
        let mut look = CHECK_INTERVAL;
        while let Some(left) = length.checked_sub(begun.elapsed()) {
            if stop.load(Ordering::Relaxed) {
                return Err(TransferError::Interrupted);
            }
            if begun.elapsed() > look {
                self.ends().try_for_each(|end| end.count().map(drop))?;
                look += CHECK_INTERVAL;
            }
            sleep(left.min(STOP_INTERVAL));
        }
        Ok(())
    }
}
