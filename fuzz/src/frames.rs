//! What the fuzz targets of frames share: one of each form of the stack, and what must hold after a frame.

use warmcore_stack::wire::{LinkKind, arp, classify};
use warmcore_stack::{Config, Flow, IndependentStacks, LockingStack, Pool, References, SerialStack};
use warmcore_units::StackId;

const STACK: StackId = StackId(0);
const SEGMENTS: usize = 2;

/// The flows that are open in every form.
pub const FLOWS: [Flow; 2] = [Flow::synthetic(1), Flow::synthetic(2)];

/// A link with checksums verified, or not.
#[must_use]
pub fn config(choice: u8) -> Config {
    let link = if choice & 1 == 0 { LinkKind::Fddi } else { LinkKind::Ethernet };
    Config { link, verify_udp_checksum: choice & 2 == 0 }
}

/// All forms of the stack, with [`FLOWS`] open.
pub struct Forms {
    link: LinkKind,
    pool: Pool,
    serial: SerialStack,
    locking: LockingStack,
    independent: IndependentStacks,
    multiple_open: IndependentStacks,
}

impl Forms {
    /// Fresh stacks.
    ///
    /// # Panics
    /// If a flow cannot be opened, which is a bug.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let mut forms = Self {
            link: config.link,
            pool: Pool::new(SEGMENTS),
            serial: SerialStack::new(config),
            locking: LockingStack::new(config),
            independent: IndependentStacks::new(1, config),
            multiple_open: IndependentStacks::new(2, config),
        };
        for flow in &FLOWS {
            forms.serial.open(flow).expect("the flows differ");
            forms.locking.open(flow).expect("the flows differ");
            forms.independent.open(STACK, flow).expect("the flows differ");
            forms.multiple_open.open_everywhere(flow).expect("the flows differ");
        }
        forms
    }

    /// Receives `frame` in every form, and reads it as every other reader does.
    ///
    /// # Panics
    /// If the forms disagree, a reference is left, a segment is lost, the readers disagree, or a
    /// reply to a request cannot be written.
    pub fn receive(&self, frame: &[u8]) {
        let pool = &self.pool;
        let serial = self.serial.receive(pool, frame, |d| (d.stream, d.payload.to_vec()));
        let locking = self.locking.receive(pool, frame, |d| (d.stream, d.payload.to_vec()));
        let independent = self.independent.receive(STACK, pool, frame, |d| (d.stream, d.payload.to_vec()));
        assert_eq!(serial, locking);
        let multiple = self.multiple_open.receive(STACK, pool, frame, |d| (d.stream, d.payload.to_vec()));
        assert_eq!(serial, independent);
        assert_eq!(serial, multiple);
        assert_eq!(self.serial.references(), References::default());
        assert_eq!(self.locking.references(), References::default());
        assert_eq!(self.independent.references(STACK), Some(References::default()));
        assert_eq!(pool.available(), SEGMENTS);
        assert_eq!(classify(self.link, frame), Flow::parse(self.link, frame).map(|flow| flow.key()));
        if let Some(request) = arp::request(frame) {
            let reply =
                request.reply(FLOWS[0].destination_link, &mut [0; arp::MAX_REPLY]).map(|reply| reply.len());
            assert!(reply.is_ok(), "{request:?}: {reply:?}");
        }
    }
}
