//! Where a request ends in what a connection carries.

use super::input::Input;
use core::fmt;
use core::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Bytes of a length before a request or a reply.
const LENGTH: usize = 4;

/// How requests and replies follow each other on a connection.
#[derive(Clone)]
pub enum Frames {
    /// Each is preceded by its length in four bytes, the most significant first. The handler sees and gives neither.
    Length,
    /// Each is a line. Its end, `\n`, is taken off requests and added to replies; a `\r` before it is left.
    Lines,
    /// A function of what has arrived and is not handled yet, one byte at least, says where the first request ends. Requests
    /// are handed over whole, with all of their bytes, and replies are sent as given. The function is called again with
    /// every arrival until the request is whole; a panic counts as invalid.
    By(FindFrame),
}

/// A function that finds the first request in what has arrived.
pub type FindFrame = Arc<dyn Fn(&[u8]) -> Frame + Send + Sync>;

/// What begins the bytes of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Frame {
    /// A request of so many bytes, all of which are there.
    Whole(usize),
    /// The beginning of a request.
    Partial,
    /// No request: the connection is closed, and its [handler told](crate::server::Closed::Invalid) why.
    Invalid(&'static str),
}

/// What is next on a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Cut {
    /// A request: where its bytes are in the input.
    Request(Range<usize>),
    /// More must arrive: so many bytes, as far as that is known.
    Partial(usize),
    /// A request that is longer than allowed.
    TooLong,
    /// No request: why.
    Invalid(&'static str),
}

impl Frames {
    /// Takes the next request, of at most `longest` bytes, out of `input`.
    pub(super) fn cut(&self, input: &mut Input, longest: usize) -> Cut {
        let bytes = input.rest();
        if bytes.is_empty() {
            return Cut::Partial(LENGTH);
        }
        match self {
            Self::Length => {
                let Some(length) = bytes.first_chunk::<LENGTH>() else {
                    return Cut::Partial(LENGTH - bytes.len());
                };
                let length = u32::from_be_bytes(*length) as usize;
                if length > longest {
                    return Cut::TooLong;
                }
                match (LENGTH + length).checked_sub(bytes.len()) {
                    None | Some(0) => Cut::Request(input.take(LENGTH, length, 0)),
                    Some(missing) => Cut::Partial(missing),
                }
            }
            Self::Lines => {
                let seen = input.seen.min(bytes.len());
                match bytes[seen..].iter().position(|&byte| byte == b'\n').map(|at| seen + at) {
                    Some(length) if length <= longest => Cut::Request(input.take(0, length, 1)),
                    None if bytes.len() <= longest => {
                        input.seen = bytes.len();
                        Cut::Partial(1)
                    }
                    _ => Cut::TooLong,
                }
            }
            Self::By(frame) => {
                let length = bytes.len();
                match catch_unwind(AssertUnwindSafe(|| frame(bytes))) {
                    Ok(Frame::Whole(whole)) if whole > longest => Cut::TooLong,
                    Ok(Frame::Whole(whole)) if whole > 0 && whole <= length => {
                        Cut::Request(input.take(0, whole, 0))
                    }
                    Ok(Frame::Partial) if length < longest => Cut::Partial(1),
                    Ok(Frame::Partial) => Cut::TooLong,
                    Ok(Frame::Invalid(why)) => Cut::Invalid(why),
                    Ok(Frame::Whole(_)) => Cut::Invalid(
                        "the function of the frames found a request of no bytes, or of more than there are",
                    ),
                    Err(_) => Cut::Invalid("the function of the frames panicked"),
                }
            }
        }
    }

    /// Appends a reply to `bytes`. Returns whether it can be framed: not if it has 4 GiB.
    pub(super) fn append(&self, bytes: &mut Vec<u8>, reply: &[u8]) -> bool {
        if matches!(self, Self::Length) {
            let Ok(length) = u32::try_from(reply.len()) else { return false };
            bytes.extend_from_slice(&length.to_be_bytes());
        }
        bytes.extend_from_slice(reply);
        if matches!(self, Self::Lines) {
            bytes.push(b'\n');
        }
        true
    }
}

impl fmt::Debug for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Length => "Length",
            Self::Lines => "Lines",
            Self::By(_) => "By(..)",
        })
    }
}
