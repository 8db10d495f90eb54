//! Writes captures in every supported form.

use etherparse::PacketBuilder;

/// A byte order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    Little,
    Big,
}

impl Order {
    pub(crate) const BOTH: [Self; 2] = [Self::Little, Self::Big];

    fn u32(self, value: u32) -> [u8; 4] {
        match self {
            Self::Little => value.to_le_bytes(),
            Self::Big => value.to_be_bytes(),
        }
    }

    fn u16(self, value: u16) -> [u8; 2] {
        match self {
            Self::Little => value.to_le_bytes(),
            Self::Big => value.to_be_bytes(),
        }
    }

    fn words(self, words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| self.u32(*word)).collect()
    }
}

pub(crate) const MICROS: u32 = 0xa1b2_c3d4;
pub(crate) const NANOS: u32 = 0xa1b2_3c4d;
pub(crate) const MODIFIED: u32 = 0xa1b2_cd34;

/// A pcap file with packets given as `(seconds, parts of a second, frame)`.
pub(crate) fn pcap(magic: u32, order: Order, link: u32, packets: &[(u32, u32, Vec<u8>)]) -> Vec<u8> {
    let mut file = order.u32(magic).to_vec();
    file.extend([order.u16(2), order.u16(4)].concat());
    file.extend(order.words(&[0, 0, 65_535, link]));
    for (seconds, parts, frame) in packets {
        let length = frame.len() as u32;
        file.extend(order.words(&[*seconds, *parts, length, length]));
        if magic == MODIFIED {
            file.extend([0; 8]);
        }
        file.extend(frame);
    }
    file
}

/// A pcap file of Ethernet frames a millisecond apart.
pub(crate) fn ethernet(frames: &[Vec<u8>]) -> Vec<u8> {
    let packets: Vec<_> = frames.iter().zip(0..).map(|(frame, at)| (1, at * 1_000, frame.clone())).collect();
    pcap(MICROS, Order::Little, 1, &packets)
}

/// A pcapng file under construction.
pub(crate) struct Pcapng {
    order: Order,
    pub(crate) bytes: Vec<u8>,
}

impl Pcapng {
    /// A file with a section header that names its writer.
    pub(crate) fn new(order: Order) -> Self {
        let mut file = Self { order, bytes: Vec::new() };
        file.section();
        file
    }

    /// Adds a section header.
    pub(crate) fn section(&mut self) -> &mut Self {
        let mut body = self.order.u32(0x1a2b_3c4d).to_vec();
        body.extend([self.order.u16(1), self.order.u16(0)].concat());
        body.extend([0xff; 8]);
        body.extend(self.options(&[(4, b"a writer")]));
        self.block(0x0a0d_0d0a, &body)
    }

    /// Adds the description of an interface.
    pub(crate) fn interface(&mut self, link: u16, options: &[(u16, &[u8])]) -> &mut Self {
        let mut body = [self.order.u16(link), [0; 2]].concat();
        body.extend(self.order.u32(65_535));
        body.extend(self.options(options));
        self.block(1, &body)
    }

    /// Adds a completely captured packet at a time in the interface's ticks.
    pub(crate) fn packet(
        &mut self,
        interface: u32,
        ticks: u64,
        frame: &[u8],
        flags: Option<u32>,
    ) -> &mut Self {
        let length = frame.len() as u32;
        let mut body = self.order.words(&[interface, (ticks >> 32) as u32, ticks as u32, length, length]);
        body.extend(padded(frame));
        if let Some(flags) = flags {
            let flags = self.order.u32(flags);
            body.extend(self.options(&[(2, &flags)]));
        }
        self.block(6, &body)
    }

    /// Adds any block.
    pub(crate) fn block(&mut self, block_type: u32, body: &[u8]) -> &mut Self {
        let length = self.order.u32(body.len() as u32 + 12);
        self.bytes.extend(self.order.u32(block_type));
        self.bytes.extend(length);
        self.bytes.extend(body);
        self.bytes.extend(length);
        self
    }

    fn options(&self, options: &[(u16, &[u8])]) -> Vec<u8> {
        if options.is_empty() {
            return Vec::new();
        }
        let mut bytes: Vec<u8> = options
            .iter()
            .flat_map(|(code, value)| {
                let head = [self.order.u16(*code), self.order.u16(value.len() as u16)].concat();
                head.into_iter().chain(padded(value))
            })
            .collect();
        bytes.extend([0; 4]);
        bytes
    }
}

fn padded(bytes: &[u8]) -> Vec<u8> {
    let mut padded = bytes.to_vec();
    padded.resize(bytes.len().next_multiple_of(4), 0);
    padded
}

/// An Ethernet frame of 60 bytes with a UDP packet over IPv4 from `port`.
pub(crate) fn udp(port: u16) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 9);
    let mut frame = Vec::new();
    builder.udp(port, 53).write(&mut frame, &[0; 18]).unwrap();
    frame
}

/// An Ethernet frame with an ARP request.
pub(crate) fn arp() -> Vec<u8> {
    let mut frame = vec![0xff; 12];
    frame.extend([8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
    frame.extend([0; 20]);
    frame
}
