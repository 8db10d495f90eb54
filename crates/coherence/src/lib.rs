//! Stache, the directory protocol of fine-grain distributed shared memory, in the words of Tempest, as pure transitions
//! (Falsafi, *Fine-Grain Protocol Execution Mechanisms & Scheduling Policies on SMP Clusters*, 1998, §4, §5.1).
//!
//! A transition takes a state and an event, and yields the next state and what is to be done. It reads no clock, moves
//! no data and sends nothing: its *driver* does. A simulator of clusters is one driver, and the tests of this crate are
//! another, which visits every state of small clusters. So what is checked is what is simulated.
//!
//! # Memory
//!
//! Every page of the shared address space has a *home* node, which keeps its data and a *directory*: for each block, who
//! has a copy. Other nodes keep copies in a part of their own memory, the [page cache](PageCache). Memory is allocated by
//! page and kept coherent by block: a block has, on every node, a fine-grain [`Tag`] that says what that
//! node's processors may do with it. An access that it does not permit is a *block access fault*.
//!
//! Within a node, the bus keeps the processors' caches coherent. The protocol sees nodes.
//!
//! # Who does what
//!
//! | a node that caches the block: [`CachedBlock`] | | the home: [`DirectoryEntry`] |
//! |---|---|---|
//! | a fault sends a request, once for all its processors | `ReadRequest`, `WriteRequest`, `UpgradeRequest` → | serves it, or queues it while the entry is *busy* |
//! | places the block, resumes the processors | ← `ReadReply`, `WriteReply` (data), `UpgradeReply` | sends a copy, the only copy, or leave to write |
//! | gives its copy up | ← `Invalidate`, `Downgrade`, `Recall` | before another may write, or read what this one writes |
//! | answers every demand once | `Acknowledge`, `Return` (data) → | serves the request once all have answered |
//! | its page leaves the page cache | `Writeback` (data) → | has the block for itself again |
//!
//! No two nodes other than the home speak to each other. A page that leaves drops what was only read without a word: the
//! home may think that a node still reads, and gets its acknowledgement all the same.
//!
//! # What a caching node does
//!
//! ```text
//!              ReadRequest, ReadReply                 UpgradeRequest, UpgradeReply
//!            ┌────────────────────────────► ReadOnly ──────────────────────────────┐
//!            │                               │    ▲                                ▼
//!         Invalid ◄──────────────────────────┘    └─────────────────────────── ReadWrite
//!            ▲ │         Invalidate, page leaves           Downgrade            ▲   │
//!            │ └────────────────────────────────────────────────────────────────┘   │
//!            │                      WriteRequest, WriteReply                        │
//!            └──────────────────────────────────────────────────────────────────────┘
//!                                     Recall, page leaves
//! ```
//!
//! While a request is outstanding, further faults of the node wait with it. An invalidation may come first and take the
//! copy that an upgrade was asked for; the home then sends the block.
//!
//! # What the home does
//!
//! [`Sharing`] says who has the block; the home's own tag follows from it. "Busy" states wait for answers.
//!
//! | state | home's tag | read request | write or upgrade request | answers, writebacks |
//! |---|---|---|---|---|
//! | `Home` | ReadWrite | send a copy → `Shared` | send the block → `Exclusive` | |
//! | `Shared` | ReadOnly | send a copy | invalidate all others → `Invalidating`; if there are none → `Exclusive` | |
//! | `Exclusive` | Invalid | downgrade the owner → `Recalling` | recall from the owner → `Recalling` | writeback → `Home` |
//! | `Invalidating` (busy) | ReadOnly | queue | queue | last acknowledgement: grant → `Exclusive`, or `Home` for the home itself |
//! | `Recalling` (busy) | Invalid | queue | queue | block returned, or acknowledged after a writeback: grant → `Shared`, `Exclusive` or `Home` |
//!
//! A node has one request under way for a block, so the queue is a set of nodes. They are served in turn by number, so
//! that each waits for at most one request of each other node.
//!
//! # What it needs from the network and from its driver
//!
//! - Messages **about one block from one node to another arrive in order**, and each arrives once. Those about different
//!   blocks may overtake each other, and so may messages of different nodes. A node with several send queues has to choose
//!   the queue by block (or put sequence numbers on messages): otherwise two nodes come to write one block.
//! - Handlers of one block on one node run one at a time, and a handler's actions are done before the next one of that
//!   block begins. Dispatch by [`Event::object`] gives that, in parallel for different blocks (PStache).
//! - An [`Action`] that moves a block sets the tag at the same time, as far as processors can see.
//! - A resumed processor tries again and may find that the block has been taken away meanwhile; then it faults again.
//!   Whether a processor gets anywhere that is resumed late and often is a matter of the driver's timing.
//! - An event that cannot be if all this holds is refused as [`Unexpected`], with state and sender; nothing changes.
//!
//! # What it costs
//!
//! Which handler ran ([`Handler::steps`]) and what it did ([`Action::step`]) name the rows of the source's Table 5.1, so
//! that a simulator can charge each its time; [`Step::moves_block`] tells those that grow with the block.
//!
//! # An example
//!
//! Node 1 reads a block of node 0 while the home has it for itself.
//!
//! ```
//! use warmcore_coherence::{Access, Action, CachedBlock, DirectoryEntry, Event, Message, Sharing, Step, Tag};
//! use warmcore_units::{CpuId, NodeId};
//!
//! let (home, reader) = (NodeId(0), NodeId(1));
//! let mut cached = CachedBlock::default();
//! let mut entry = DirectoryEntry::default();
//! let mut actions = Vec::new();
//!
//! // Request: a processor's load finds the tag Invalid.
//! let fault = Event::Fault { cpu: CpuId(3), access: Access::Read };
//! let handler = cached.handle(home, fault, |action| actions.push(action))?;
//! assert_eq!(actions, [Action::Send { to: home, message: Message::ReadRequest }]);
//! assert_eq!((handler.steps(), actions[0].step()), (&[Step::DetectFault][..], Step::SendRequest));
//!
//! // Reply: the home sends the block, and from now on faults itself when it writes.
//! actions.clear();
//! let request = Event::Message { from: reader, message: Message::ReadRequest };
//! entry.handle(home, request, |action| actions.push(action))?;
//! let (message, tag) = (Message::ReadReply, Tag::ReadOnly);
//! assert_eq!(actions, [Action::SendBlock { to: reader, message, tag }]);
//! assert_eq!((entry.sharing(), entry.tag()), (Sharing::Shared, Tag::ReadOnly));
//!
//! // Response: the block is placed, and processor 3 tries again.
//! actions.clear();
//! let reply = Event::Message { from: home, message: Message::ReadReply };
//! cached.handle(home, reply, |action| actions.push(action))?;
//! assert_eq!(actions[0], Action::PlaceBlock { tag: Tag::ReadOnly });
//! assert_eq!(actions[1], Action::Resume([CpuId(3)].into_iter().collect()));
//! assert!(cached.tag().permits(Access::Read));
//!
//! // The same reply once more is no event of the protocol.
//! let refused = cached.handle(home, reply, |_| unreachable!()).expect_err("nothing was asked for");
//! assert!(refused.to_string().starts_with("ReadReply from node0 was not expected"));
//! # Ok::<(), warmcore_coherence::Unexpected>(())
//! ```
#![no_std]

extern crate alloc;

pub mod action;
pub mod cacher;
pub mod home;
pub mod message;
pub mod page_cache;
pub mod set;
pub mod tempest;
pub mod unexpected;

pub use action::{Action, Handler, Step};
pub use cacher::{CachedBlock, Request};
pub use home::{DirectoryEntry, Sharing};
pub use message::Message;
pub use page_cache::{NoFrame, PageCache};
pub use set::{CpuSet, NodeSet};
pub use tempest::{Access, Event, Object, Tag};
pub use unexpected::{State, Unexpected};
