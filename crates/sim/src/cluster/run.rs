//! Runs a program on a machine.

use super::agenda::Agenda;
use super::bank::Bank;
use super::block_buffer::BlockBuffer;
use super::bus::Bus;
use super::cache::Cache;
use super::device::{CustomDevice, HANDLERS, Thread};
use super::error::Error;
use super::in_flight::InFlight;
use super::layout::Layout;
use super::machine::{Device, Machine, MemoryKind};
use super::memory::{BlockState, Memory, PAGE_WORDS};
use super::network::Network;
use super::node::{Node, Sizes};
use super::outcome::Outcome;
use super::paging::Paging;
use super::processor::{Local, Processor};
use super::scheduling::Multiplexing;
use super::synchronization::Synchronization;
use super::system::{Compute, MESSAGES, State, System};
use super::tally::{Count, DeviceTally, NetworkTally, NodeTally};
use super::tlb::Tlb;
use core::cell::Cell;
use core::ops::ControlFlow;
use corosensei::Coroutine;
use corosensei::stack::DefaultStack;
use std::collections::VecDeque;
use std::rc::Rc;
use warmcore_coherence::Tag;
use warmcore_policy::pdq::{Design, Pdq};
use warmcore_units::NodeId;
use warmcore_workload::programs::image::PAGE;
use warmcore_workload::programs::{Image, Prepared, Program};

/// A program's stack.
const STACK_BYTES: usize = 1 << 20;

/// Lines that a cache can tell apart.
const LINES: u64 = 1 << 29;

/// What a run may take, and who watches it.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// After how many cycles a program that has not ended is given up.
    pub limit: u64,
    /// Told how far the simulation is: when it begins, every few milliseconds, and when it ends. It may stop it.
    pub watch: &'a dyn Fn(Moment) -> ControlFlow<()>,
}

/// How far a simulation is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment {
    /// Cycles simulated.
    pub cycles: u64,
    /// Loads and stores of shared data by all processors until then.
    pub references: u64,
}

impl Options<'static> {
    /// A run that may take `limit` cycles, and that nobody watches.
    #[must_use]
    pub const fn within(limit: u64) -> Self {
        Self { limit, watch: &|_| ControlFlow::Continue(()) }
    }
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options::within(u64::MAX)
    }
}

/// Runs `program` on `machine`: lays out its data, lets all compute processors execute it, and checks its results.
///
/// # Errors
/// If the machine is impossible, the data do not fit, the program cannot end, or its results are wrong.
pub fn run<P>(machine: &Machine, program: &P, options: &Options<'_>) -> Result<Outcome, Error>
where
    P: Program,
    P::Prepared: 'static,
{
    let (mut system, prepared) = lay_out(machine, program)?;
    system.run(options)?;
    finish(&system, &*prepared)
}

/// The machine with the data of `program`, which each processor is to execute.
pub(super) fn lay_out<P>(machine: &Machine, program: &P) -> Result<(System, Rc<P::Prepared>), Error>
where
    P: Program,
    P::Prepared: 'static,
{
    machine.check()?;
    let mut image = Image::new();
    let prepared = Rc::new(program.prepare(&mut image, machine.compute_processors())?);
    let program = prepared.clone();
    let body = move |processor: &Processor<'_>| program.run(processor);
    Ok((build(machine, image, &Rc::new(body))?, prepared))
}

/// What a run came to that has ended, if its results are right.
pub(super) fn finish(system: &System, program: &impl Prepared) -> Result<Outcome, Error> {
    let image = final_image(system);
    program.check(&image).map_err(Error::Wrong)?;
    Ok(outcome(system, program.digest(&image)))
}

/// The machine at the start, with `body` for each processor to execute.
pub(super) fn build<B>(machine: &Machine, image: Image, body: &Rc<B>) -> Result<System, Error>
where
    B: Fn(&Processor<'_>) + 'static,
{
    let nodes = machine.nodes as usize;
    let per_node = machine.processors as usize;
    let bytes = 8 * image.words().len() as u64;
    let layout = Rc::new(Layout::new(image, machine.nodes, machine.processors, machine.block_bytes));
    let lines = u64::from(layout.pages()) * PAGE / machine.line_bytes;
    // The directory and the translation tables take less than as much again.
    if 3 * lines >= LINES {
        return Err(Error::TooLarge { bytes, most: LINES / 3 * machine.line_bytes });
    }
    let sizes = Sizes {
        line_bytes: machine.line_bytes,
        block_bytes: machine.block_bytes,
        protocol_lines: lines as u32 + 1 + threads(machine) * machine.timing.thread_lines,
    };
    let pages = layout.synchronization_pages();
    let space = Synchronization::new(pages, machine.block_bytes, machine.nodes, machine.processors);
    let space = Rc::new(space);
    let nodes: Vec<Node> =
        (0..nodes).map(|node| build_node(machine, NodeId(node as u32), layout.clone(), sizes)).collect();
    let processors = (0..machine.compute_processors() as usize)
        .map(|number| {
            let stack =
                DefaultStack::new(STACK_BYTES).map_err(|_| Error::NoStack { number: number as u32 })?;
            let node = &nodes[number / per_node];
            let local = Rc::new(Local {
                number: number as u32,
                processors: machine.compute_processors(),
                clock: Cell::new(0),
                limit: Cell::new(0),
                references: Cell::new(0),
                synchronizing: Cell::new(None),
                synchronized: Cell::new(0),
                cache: node.caches[number % per_node].clone(),
                tlb: Tlb::new(),
                memory: node.memory.clone(),
                line_shift: machine.line_bytes.trailing_zeros(),
                tlb_miss: machine.timing.tlb_miss,
                page_fault: machine.timing.page_fault,
                tlb_misses: Cell::new(0),
                page_faults: Cell::new(0),
                synchronization: space.clone(),
                interruptible: node.device.multiplexing.is_some(),
                masked: Cell::new(false),
                pending: Cell::new(false),
            });
            let (here, body) = (local.clone(), body.clone());
            Ok(Compute {
                local,
                program: Coroutine::with_stack(stack, move |core, ()| body(&Processor::new(here, core))),
                state: State::Running,
                misses: Count::default(),
                remote_misses: Count::default(),
                page_waits: Count::default(),
                protocol: 0,
                interrupts: Count::default(),
                stolen: 0,
                deferred: None,
            })
        })
        .collect::<Result<_, Error>>()?;
    let multiplexed = nodes.iter().any(|node| node.device.multiplexing.is_some());
    Ok(System {
        network: Network::new(machine.timing, nodes.len()),
        layout,
        nodes,
        processors,
        per_node,
        multiplexed,
        messages: [0; MESSAGES.len()],
        agenda: Agenda::default(),
        in_flight: InFlight::default(),
        run_ahead: machine.run_ahead,
        now: 0,
        #[cfg(test)]
        defect: None,
    })
}

/// Protocol threads of a node.
fn threads(machine: &Machine) -> u32 {
    match machine.device {
        Device::SComa {} | Device::FLOATING => 1,
        Device::MULT => machine.processors,
        device => device.protocol_processors(),
    }
}

fn build_node(machine: &Machine, node: NodeId, layout: Rc<Layout>, sizes: Sizes) -> Node {
    let (threads, own_caches) = (threads(machine), machine.device.protocol_processors());
    let sets = (machine.cache_bytes / machine.line_bytes) as u32;
    let compute = machine.processors as usize;
    let bank = Bank::new(&machine.timing, machine.memory == MemoryKind::SingleBank);
    let multiplexing = machine
        .device
        .is_multiplexed()
        .then(|| Multiplexing::new(machine.device == Device::FLOATING, compute));
    let thread = |number| Thread {
        cache: (own_caches > 0).then_some(compute + number as usize),
        run: None,
        buffer: BlockBuffer::new((machine.block_buffer_bytes / machine.line_bytes) as usize),
        spare: VecDeque::new(),
    };
    let design = machine.dispatch.unwrap_or(Design::DynamicDemultiplexing { window: None, id_bits: None });
    let device = CustomDevice {
        pdq: Pdq::new(threads, design),
        threads: (0..threads).map(thread).collect(),
        occupancy: machine.occupancy(),
        across_bus: matches!(machine.device, Device::Hurricane1 { .. } | Device::Typhoon1 { .. }),
        multiplexing,
        handlers: [Count::default(); HANDLERS.len()],
        tally: DeviceTally::default(),
    };
    let frames = machine.page_cache_pages.map_or(usize::MAX, |pages| pages as usize);
    Node {
        timing: machine.timing,
        sizes,
        memory: Rc::new(Memory::new(node, layout, frames)),
        paging: Paging::default(),
        caches: Cache::of_node(machine.processors + own_caches, sets).into_iter().map(Rc::new).collect(),
        bus: Bus::new(machine.timing, machine.line_bytes, bank),
        device,
        watched: vec![0; compute],
        woken: Vec::new(),
    }
}

/// The contents of the shared address space when nothing is under way: each block from a node that may read it.
fn final_image(system: &System) -> Image {
    let mut image = system.layout.image().clone();
    let block_words = system.layout.block_words();
    let per_page = PAGE_WORDS / block_words;
    for page in system.layout.program_pages() {
        let home = &system.nodes[system.layout.home(page).index()].memory;
        if home.page(page).is_none() {
            continue;
        }
        for number in 0..per_page {
            let block = page * per_page as u32 + number as u32;
            let memory = match home.state(block).get() {
                BlockState::Home(entry) if entry.tag() == Tag::Invalid => {
                    entry.holders().first().map_or(home, |holder| &system.nodes[holder.index()].memory)
                }
                _ => home,
            };
            let first = block as usize * block_words;
            memory.fetch(block, &mut image.words_mut()[first..first + block_words]);
        }
    }
    image
}

pub(super) fn outcome(system: &System, digest: u64) -> Outcome {
    let processors = system.breakdowns();
    let node = |node: &Node| NodeTally {
        device: DeviceTally {
            handlers: HANDLERS
                .into_iter()
                .zip(node.device.handlers)
                .filter(|(_, count)| count.times > 0)
                .collect(),
            ..node.device.tally.clone()
        },
        bus_address: node.bus.address_busy,
        bus_data: node.bus.data_busy,
        bus_waited: node.bus.waited,
        memory: node.bus.bank.used,
        pages: node.memory.pages_touched(),
        pages_unmapped: node.paging.unmapped,
    };
    Outcome {
        cycles: processors.iter().map(|processor| processor.end).max().unwrap_or(0),
        digest,
        episodes: system
            .processors
            .first()
            .map(|first| first.local.synchronization.episodes.take())
            .unwrap_or_default(),
        nodes: system.nodes.iter().map(node).collect(),
        network: NetworkTally {
            messages: MESSAGES.into_iter().zip(system.messages).filter(|&(_, times)| times > 0).collect(),
            bytes: system.network.bytes,
            waited: system.network.waited,
        },
        processors,
    }
}
