//! An event that the protocol does not allow in a state.

use crate::cacher::CachedBlock;
use crate::home::DirectoryEntry;
use crate::tempest::Event;
use core::fmt;

/// An event that cannot happen in a state if every node keeps to the protocol and the network keeps order.
///
/// Whoever returns it has changed nothing and asked for no action.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Unexpected {
    /// What happened, and who caused it.
    pub event: Event,
    /// In which state it found the block.
    pub state: State,
}

/// Where and in which state an [`Unexpected`] event found a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum State {
    /// On the home.
    Home(DirectoryEntry),
    /// On another node.
    Cacher(CachedBlock),
}

impl fmt::Display for Unexpected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.event {
            Event::Fault { cpu, access } => write!(f, "a {access:?} fault of {cpu}")?,
            Event::Message { from, message } => write!(f, "{message:?} from {from}")?,
            Event::Unmap => write!(f, "an unmapped page")?,
        }
        match self.state {
            State::Home(entry) => write!(f, " was not expected by the home of a block in state {entry:?}"),
            State::Cacher(block) => {
                write!(f, " was not expected by a node with the block in state {block:?}")
            }
        }
    }
}

impl core::error::Error for Unexpected {}
