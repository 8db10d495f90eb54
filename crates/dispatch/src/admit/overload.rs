//! What becomes of events where there is no room.

use crate::arrival::{Arrival, Why};
use crate::error::DispatchError;
use crate::options::Overload;
use crate::shared::{CLOSED, Shared, is_worker};
use crate::slow::SlowWait;
use core::hash::Hash;
use core::time::Duration;
use std::time::Instant;

impl<K: Eq + Hash + Clone, E> Shared<K, E> {
    /// Dispatches, and waits for room if that is what is to be done where there is none.
    ///
    /// # Errors
    /// If the event is refused.
    pub(crate) fn dispatch(&self, arrival: Arrival<K, E>) -> Result<(), DispatchError<E>> {
        match self.try_dispatch(arrival) {
            Ok(()) => Ok(()),
            Err((why, arrival)) => self.overloaded(why, arrival, None),
        }
    }

    /// The same, but waits for `longest` at most.
    ///
    /// # Errors
    /// If the event is refused, or the time is over.
    pub(crate) fn dispatch_within(
        &self,
        arrival: Arrival<K, E>,
        longest: Duration,
    ) -> Result<(), DispatchError<E>> {
        self.try_dispatch(arrival).or_else(|(why, arrival)| self.overloaded(why, arrival, Some(longest)))
    }

    #[cold]
    fn overloaded(
        &self,
        mut why: Why,
        mut arrival: Arrival<K, E>,
        longest: Option<Duration>,
    ) -> Result<(), DispatchError<E>> {
        // One that is too far is no limit.
        let end = longest.and_then(|longest| Instant::now().checked_add(longest));
        let left = || end.map(|end| end.saturating_duration_since(Instant::now()));
        if why != Why::Closed {
            self.overloaded.begin();
        }
        loop {
            if why == Why::Closed || self.settings.overload == Overload::Reject {
                return Err(arrival.refused(why));
            }
            if self.settings.overload == Overload::Shed {
                self.shed();
                return Ok(());
            }
            if is_worker() || left().is_some_and(|left| left.is_zero()) {
                return Err(arrival.refused(why));
            }
            let place = why;
            let slow = SlowWait::begin(Some(&self.waits), || self.describe_room(place));
            self.room_of(why).wait_for(left, || slow.until(self.may_try(why, &arrival)));
            match self.try_dispatch(arrival) {
                Ok(()) => return Ok(()),
                Err(again) => (why, arrival) = again,
            }
        }
    }

    fn describe_room(&self, why: Why) -> String {
        let place = match why {
            Why::Full | Why::Closed => "the dispatcher".to_owned(),
            Why::StrandFull(strand) => format!("strand {strand}"),
            Why::KeyFull(strand) => format!("a key of strand {strand}"),
        };
        format!("room in {place} ({} events are in)", self.bound.events())
    }

    /// Whether it is worth the while to try again: there is room, or there never will be.
    pub(crate) fn may_try(&self, why: Why, arrival: &Arrival<K, E>) -> bool {
        let has_room = match (why, arrival) {
            (
                Why::KeyFull(strand),
                Arrival::Keyed { hash, key, .. } | Arrival::Freshest { hash, key, .. },
            ) => {
                let keyed = &self.strands[strand].back().keyed;
                let events = keyed.events(keyed.find(*hash, key));
                self.settings.key_limit.is_none_or(|limit| events < limit)
            }
            (Why::StrandFull(strand) | Why::KeyFull(strand), _) => {
                let queue = &self.strands[strand];
                !queue.is_full(&mut queue.back(), self.share)
            }
            // To take back what is lent wakes others, which is not to be done here.
            (Why::Full, _) => self.bound.has_lent() || self.bound.has_room(),
            (Why::Closed, _) => true,
        };
        has_room || self.has(CLOSED)
    }
}
