//! What layers are to each other.

use crate::message::Message;

/// Why a message went no further.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lost {
    /// A header is malformed.
    Malformed,
    /// Nobody is there for it.
    Unclaimed,
    /// There is no space for it.
    NoSpace,
}

/// Something that messages go down to.
pub trait Below {
    /// Takes `message` down.
    fn push(&self, message: &mut Message) -> Result<(), Lost>;
}

/// Something that messages come up to.
pub trait Above {
    /// Takes `message` up.
    fn pop(&self, message: &mut Message) -> Result<(), Lost>;
}

/// How a layer finds the one above for what its header says.
pub trait Demux {
    /// Who is above.
    type Above: Above + ?Sized + 'static;

    /// Who is there for messages of `key`.
    fn find(&self, key: u32) -> Option<&'static Self::Above>;
}

/// The one above is assumed: a classifier has looked at the message before (§3.3).
pub struct Assumed<A: 'static> {
    /// What its header must say.
    pub key: u32,
    /// Who is above.
    pub above: &'static A,
}

impl<A: Above> Demux for Assumed<A> {
    type Above = A;

    #[inline(always)]
    fn find(&self, key: u32) -> Option<&'static A> {
        (key == self.key).then_some(self.above)
    }
}
