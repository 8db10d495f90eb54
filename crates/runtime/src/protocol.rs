//! The protocol stack in the form that the approach to parallelism requires.

use core::time::Duration;
use warmcore_policy::dispatch::Layout;
use warmcore_scenario::Parallelism;
use warmcore_stack::wire::tcp::parse_frame;
use warmcore_stack::wire::{classify, classify_tcp};
use warmcore_stack::{
    CloseError, Config, Conversations, Delivery, DropReason, Entered, Exchange, Flow, FlowKey,
    IndependentStacks, LockingStack, OpenError, Pool,
};
use warmcore_units::{StackId, StreamId};

/// The protocol stack of a run.
pub(crate) struct Protocol {
    form: Form,
    config: Config,
    conversations: Option<Conversations>,
}

enum Form {
    /// One stack, used by any number of workers at once.
    Locking(Box<LockingStack>),
    /// Several stacks, each used by one worker at a time; and the stack of each stream.
    Independent(Box<IndependentStacks>, Vec<u32>),
    /// One stack for each processor; every stream is open in all of them.
    Hybrid(Box<IndependentStacks>),
}

impl Protocol {
    /// A stack without streams.
    pub(crate) fn new(
        approach: Parallelism,
        layout: &Layout,
        config: Config,
        conversations: Option<Conversations>,
    ) -> Self {
        let stacks = |number: u32| {
            let number = number as usize;
            Box::new(match conversations {
                None => IndependentStacks::new(number, config),
                Some(conversations) => IndependentStacks::conversing(number, config, conversations),
            })
        };
        let form = match (approach, conversations) {
            (Parallelism::Locking, None) => Form::Locking(Box::new(LockingStack::new(config))),
            (Parallelism::Locking, Some(conversations)) => {
                Form::Locking(Box::new(LockingStack::conversing(config, conversations)))
            }
            (Parallelism::Ips, _) => Form::Independent(stacks(layout.stacks), layout.stacks_of_streams()),
            (Parallelism::Hybrid, _) => Form::Hybrid(stacks(layout.processors)),
        };
        Self { form, config, conversations }
    }

    /// Opens a stream for `flow`. `number` is its number in the dispatcher, which the stack assigns
    /// too.
    pub(crate) fn open(&mut self, number: StreamId, flow: &Flow) -> Result<StreamId, OpenError> {
        match &mut self.form {
            Form::Locking(stack) => stack.open(flow),
            Form::Independent(stacks, stack_of) => {
                stacks.open(StackId(stack_of.get(number.index()).copied().unwrap_or_default()), flow)
            }
            Form::Hybrid(stacks) => stacks.open_everywhere(flow),
        }
    }

    /// The number that the next stream gets.
    pub(crate) fn next_stream(&self) -> StreamId {
        match &self.form {
            Form::Locking(stack) => stack.next_stream(),
            Form::Independent(stacks, _) | Form::Hybrid(stacks) => stacks.next_stream(),
        }
    }

    /// Lets the next stream get a free number below `limit` that `fits`, if there is one.
    pub(crate) fn prefer(&mut self, limit: usize, fits: impl Fn(StreamId) -> bool) {
        match &mut self.form {
            Form::Locking(stack) => stack.prefer(limit, fits),
            Form::Independent(stacks, _) | Form::Hybrid(stacks) => stacks.prefer(limit, fits),
        }
    }

    /// Closes a stream whose conversation is over. Returns whether it was.
    pub(crate) fn close_if_idle(&mut self, stream: StreamId) -> Result<bool, CloseError> {
        match &mut self.form {
            Form::Locking(stack) if stack.is_idle(stream) => stack.close(stream)?,
            Form::Independent(stacks, _) | Form::Hybrid(stacks) if stacks.is_idle(stream) => {
                stacks.close(stream)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The 5-tuple of `frame`, or why no stack would deliver it.
    #[inline]
    pub(crate) fn classify(&self, frame: &[u8]) -> Result<FlowKey, DropReason> {
        match self.conversations {
            Some(Conversations::Tcp(_)) => classify_tcp(self.config.link, frame),
            _ => classify(self.config.link, frame),
        }
    }

    /// Why a frame of no stream is refused: a spoilt segment for what is wrong with it.
    pub(crate) fn no_session(&self, frame: &[u8]) -> DropReason {
        match self.conversations {
            Some(Conversations::Tcp(_)) => {
                parse_frame(self.config.link, frame).err().unwrap_or(DropReason::TcpNoSession)
            }
            _ => DropReason::UdpNoSession,
        }
    }

    /// The open stream with 5-tuple `key`.
    #[inline]
    pub(crate) fn find(&self, key: &FlowKey) -> Option<StreamId> {
        match &self.form {
            Form::Locking(stack) => stack.find(key),
            Form::Independent(stacks, _) | Form::Hybrid(stacks) => Some(stacks.find(key)?.1),
        }
    }

    /// Enters `stack` for several frames, with a segment of `pool`.
    #[inline]
    pub(crate) fn enter<'a>(&'a self, stack: StackId, pool: &'a Pool) -> Result<Entered<'a>, DropReason> {
        match &self.form {
            Form::Locking(stack) => Ok(stack.enter(pool)),
            Form::Independent(stacks, _) | Form::Hybrid(stacks) => stacks.enter(stack, pool),
        }
    }

    /// Receives `frame` of a conversation in `stack`, calls `deliver` at the top, and leaves what is to be sent
    /// in `exchange`.
    pub(crate) fn converse(
        &self,
        now: Duration,
        stack: StackId,
        pool: &Pool,
        frame: &[u8],
        exchange: &mut Exchange,
        deliver: impl FnMut(Delivery<'_>, &mut Vec<u8>),
    ) -> Result<(), DropReason> {
        match &self.form {
            Form::Locking(stack) => stack.converse(now, pool, frame, exchange, deliver),
            Form::Independent(stacks, _) | Form::Hybrid(stacks) => {
                stacks.converse(now, stack, pool, frame, exchange, deliver)
            }
        }
    }

    /// Tells the conversations that time has come to `now`: of every `parts`, number `part`.
    pub(crate) fn time_passes(&self, now: Duration, part: usize, parts: usize, exchange: &mut Exchange) {
        match &self.form {
            Form::Locking(stack) => stack.time_passes(now, part, parts, exchange),
            Form::Independent(stacks, _) | Form::Hybrid(stacks) => {
                stacks.time_passes(now, part, parts, exchange);
            }
        }
    }
}
