//! Any bytes as a frame.
//!
//! The first byte chooses link, checksums and flow. The others are combined by exclusive or with
//! a valid frame of their number: every frame can be reached, and zeros are a valid one, so the
//! fuzzer starts behind the checksums and not before them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use warmcore_fuzz::frames::{FLOWS, Forms, config};
use warmcore_stack::wire::{FrameBuilder, LinkKind, ipv4, udp};

thread_local! {
    static FORMS: [Forms; 4] = [0, 1, 2, 3].map(|choice| Forms::new(config(choice)));
}

fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else { return };
    let mut frame = valid_frame(config(*choice).link, usize::from(choice >> 2 & 1), bytes.len());
    for (target, byte) in frame.iter_mut().zip(bytes) {
        *target ^= byte;
    }
    FORMS.with(|forms| forms[usize::from(choice & 3)].receive(&frame));
});

/// A valid frame of `length` bytes, or zeros if there is none.
fn valid_frame(link: LinkKind, flow: usize, length: usize) -> Vec<u8> {
    let mut frame = vec![0; length];
    let headers = link.header() + ipv4::HEADER + udp::HEADER;
    if let Some(payload) = length.checked_sub(headers) {
        // Fails only if there is no such frame, and leaves zeros then.
        let _ = FrameBuilder::new(link, FLOWS[flow]).write(&vec![0; payload], &mut frame);
    }
    frame
}
