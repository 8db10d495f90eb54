//! The protocol stack in the form that the approach to parallelism requires.

use warmcore_policy::dispatch::Layout;
use warmcore_scenario::Parallelism;
use warmcore_stack::wire::classify;
use warmcore_stack::{
    Config, Delivery, DropReason, Flow, FlowKey, IndependentStacks, LockingStack, OpenError, Pool,
};
use warmcore_units::{StackId, StreamId};

/// The protocol stack of a run.
pub(crate) struct Protocol {
    form: Form,
    config: Config,
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
    pub(crate) fn new(approach: Parallelism, layout: &Layout, config: Config) -> Self {
        let form = match approach {
            Parallelism::Locking => Form::Locking(Box::new(LockingStack::new(config))),
            Parallelism::Ips => {
                let stacks = IndependentStacks::new(layout.stacks as usize, config);
                Form::Independent(Box::new(stacks), layout.stacks_of_streams())
            }
            Parallelism::Hybrid => {
                Form::Hybrid(Box::new(IndependentStacks::new(layout.processors as usize, config)))
            }
        };
        Self { form, config }
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

    /// The 5-tuple of `frame`, or why no stack would deliver it.
    #[inline]
    pub(crate) fn classify(&self, frame: &[u8]) -> Result<FlowKey, DropReason> {
        classify(self.config.link, frame)
    }

    /// The open stream with 5-tuple `key`.
    #[inline]
    pub(crate) fn find(&self, key: &FlowKey) -> Option<StreamId> {
        match &self.form {
            Form::Locking(stack) => stack.find(key),
            Form::Independent(stacks, _) | Form::Hybrid(stacks) => Some(stacks.find(key)?.1),
        }
    }

    /// Receives `frame` in `stack`, and calls `deliver` at the top.
    #[inline(always)]
    pub(crate) fn receive<R>(
        &self,
        stack: StackId,
        pool: &Pool,
        frame: &[u8],
        deliver: impl FnOnce(Delivery<'_>) -> R,
    ) -> Result<R, DropReason> {
        match &self.form {
            Form::Locking(stack) => stack.receive(pool, frame, deliver),
            Form::Independent(stacks, _) | Form::Hybrid(stacks) => {
                stacks.receive(stack, pool, frame, deliver)
            }
        }
    }
}
