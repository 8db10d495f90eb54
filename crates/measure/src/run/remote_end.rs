//! The far end of a stream of conversations: it makes the frames that consumers receive, and gets their
//! answers.
//!
//! Its work is never timed. The producer does it in the Prepare phase of a packet: the answers to the
//! stream's last packet arrive, and the next message is sent. Once the conversation is
//! [open](RemoteEnd::open), each message is exactly one frame, which acknowledges the answers.

use crate::error::RunError;
use core::time::Duration;
use warmcore_stack::{Config, Conversations, Exchange, Flow, Peer};

/// Messages by which a conversation is opened, each of [`Conversations::MAX_MESSAGE`] bytes. Together they go
/// once around every buffer of both ends, which have at most 16 KiB, so that all its memory is mapped.
const OPENING_MESSAGES: usize = 16;
/// After how many round trips of an opening message nothing more is sent. The first has those of the handshake
/// too.
const ROUND_TRIPS: usize = 4;
/// What payloads consist of.
const FILLING: u8 = 0x5a;

/// The far end of one stream.
pub(crate) struct RemoteEnd {
    peer: Peer,
    /// What each packet carries.
    payload: Vec<u8>,
    /// The last frame that the peer sent; empty at first.
    frame: Vec<u8>,
    /// Frames from the stack that have not arrived yet.
    answers: Frames,
}

impl RemoteEnd {
    /// The far end of the stream with `flow`, which will send messages of `payload` bytes.
    pub(crate) fn new(config: Config, conversations: Conversations, flow: Flow, payload: usize) -> Self {
        Self {
            peer: Peer::new(config, Some(conversations), flow),
            payload: vec![FILLING; payload],
            frame: Vec::new(),
            answers: Frames::default(),
        }
    }

    /// Opens the conversation, if it is not open, and sends the opening messages. `receive` takes a frame
    /// through the stack, and leaves the answers in `exchange`.
    ///
    /// # Errors
    /// As `receive`; [`RunError::Offer`] if the peer cannot send; and [`RunError::NotOpened`] if frames go to
    /// and fro without end.
    pub(crate) fn open(
        &mut self,
        now: Duration,
        exchange: &mut Exchange,
        mut receive: impl FnMut(&[u8], &mut Exchange) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let message = [FILLING; Conversations::MAX_MESSAGE];
        for _ in 0..OPENING_MESSAGES {
            let mut frames = Frames::default();
            self.peer.offer(now, &message, &mut |frame| frames.push(frame)).map_err(RunError::Offer)?;
            for _ in 0..ROUND_TRIPS {
                let sent = core::mem::take(&mut frames);
                sent.iter().try_for_each(|frame| receive(frame, exchange))?;
                exchange.frames().for_each(|answer| {
                    self.peer.arrives(now, answer, &mut |frame| frames.push(frame));
                });
                exchange.clear();
            }
            if !frames.is_empty() {
                return Err(RunError::NotOpened);
            }
        }
        Ok(())
    }

    /// Lets the pending answers arrive, and sends the next message. Its frame is [`frame`](Self::frame) then.
    ///
    /// What the answers alone make the peer send is left out: acknowledgements and updates of its window, which
    /// the frame of the message has too. They would be additional packets, whose times are others.
    ///
    /// # Errors
    /// The peer cannot send, or sends another number of frames than one.
    pub(crate) fn send(&mut self, now: Duration) -> Result<(), RunError> {
        let Self { peer, payload, frame, answers } = self;
        answers.iter().for_each(|answer| peer.arrives(now, answer, &mut |_| ()));
        answers.clear();
        let mut frames = 0;
        let mut send = |sent: &[u8]| {
            frame.clear();
            frame.extend_from_slice(sent);
            frames += 1;
        };
        peer.offer(now, payload, &mut send).map_err(RunError::Offer)?;
        if frames == 1 { Ok(()) } else { Err(RunError::FrameCount { frames }) }
    }

    /// The frame of the last message; empty before the first.
    #[inline(always)]
    pub(crate) fn frame(&self) -> &[u8] {
        &self.frame
    }

    /// Moves the frames of `exchange` here. They arrive when the next message is sent.
    pub(crate) fn take_answers(&mut self, exchange: &mut Exchange) {
        exchange.frames().for_each(|frame| self.answers.push(frame));
        exchange.clear();
    }

    /// Bytes of answers that have arrived.
    #[cfg(test)]
    pub(crate) const fn received(&self) -> u64 {
        self.peer.received()
    }
}

/// Frames, one after the other, and where each ends. Cleared, it keeps its memory.
#[derive(Default)]
struct Frames {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Frames {
    fn push(&mut self, frame: &[u8]) {
        self.bytes.extend_from_slice(frame);
        self.ends.push(self.bytes.len());
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = core::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end])
    }

    const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}
