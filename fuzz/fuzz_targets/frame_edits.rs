//! Sequences of valid frames with a few bytes changed and, if asked, the IP header checksum made
//! right again, so that the fuzzer gets past it to what lies behind.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use warmcore_fuzz::frames::{FLOWS, Forms, config};
use warmcore_stack::wire::checksum::Sum;
use warmcore_stack::wire::vlan::Tags;
use warmcore_stack::wire::{FrameBuilder, LinkKind};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    choice: u8,
    frames: Vec<Edited<'a>>,
}

#[derive(Arbitrary, Debug)]
struct Edited<'a> {
    second_flow: bool,
    udp_checksum: bool,
    service_tag: Option<u16>,
    customer_tag: Option<u16>,
    repair_ip_checksum: bool,
    payload: &'a [u8],
    bytes: Vec<(u8, u8)>,
    length: Option<u16>,
}

thread_local! {
    static FORMS: [Forms; 4] = [0, 1, 2, 3].map(|choice| Forms::new(config(choice)));
}

fuzz_target!(|input: Input<'_>| {
    let link = config(input.choice).link;
    FORMS.with(|forms| {
        for frame in input.frames.iter().filter_map(|edited| edited.frame(link)) {
            forms[usize::from(input.choice & 3)].receive(&frame);
        }
    });
});

impl Edited<'_> {
    /// The frame, unless the payload does not fit one.
    fn frame(&self, link: LinkKind) -> Option<Vec<u8>> {
        let flow = FLOWS[usize::from(self.second_flow)];
        let tags = Tags { service: self.service_tag, customer: self.customer_tag };
        let builder = FrameBuilder { tags, udp_checksum: self.udp_checksum, ..FrameBuilder::new(link, flow) };
        let mut frame = vec![0; builder.frame_length(self.payload.len())];
        builder.write(self.payload, &mut frame).ok()?;
        for (at, byte) in &self.bytes {
            if let Some(target) = frame.get_mut(usize::from(*at)) {
                *target = *byte;
            }
        }
        if let Some(length) = self.length {
            frame.resize(usize::from(length) % 10_000, 0);
        }
        if self.repair_ip_checksum {
            let link_header = link.header() + link.tags(&frame).length();
            repair_ip_checksum(frame.get_mut(link_header..)?);
        }
        Some(frame)
    }
}

fn repair_ip_checksum(datagram: &mut [u8]) {
    let length = datagram.first().map_or(0, |first| usize::from(first & 0xf) * 4);
    let Some(header) = datagram.get_mut(..length).filter(|header| header.len() >= 20) else { return };
    header[10..12].fill(0);
    let checksum = Sum::ZERO.with(header).checksum();
    header[10..12].copy_from_slice(&checksum);
}
