//! Traces come back as they were, and nothing else is taken for one.

use super::format::{CLASSES, ReadError, WriteError};
use super::{Access, Event, Function, Instruction, Reader, Registers, Trace, Writer};
use proptest::prelude::*;
use proptest::sample::select;
use warmcore_cachesim::Kind;

fn function() -> impl Strategy<Value = Function> {
    (".{0,8}", "[a-z_0-9]{0,12}", any::<u64>(), any::<u64>())
        .prop_map(|(name, symbol, address, size)| Function { name, symbol, address, size })
}

fn instruction() -> impl Strategy<Value = Instruction> {
    let address = prop_oneof![(0_u64..64).prop_map(|place| 0x1_0000 + 4 * place), any::<u64>()];
    (address, any::<u8>(), select(CLASSES.to_vec()), any::<u64>(), any::<u64>(), any::<Option<u64>>())
        .prop_map(|(address, length, class, reads, writes, target)| {
            let (reads, writes) = (Registers(reads), Registers(writes));
            Instruction { address, length, class, reads, writes, target }
        })
}

fn access() -> impl Strategy<Value = Access> {
    let address = prop_oneof![0x8000_u64..0x8100, any::<u64>()];
    (address, any::<u16>(), select(Kind::ALL.to_vec())).prop_map(|(address, size, kind)| Access {
        address,
        size,
        kind,
    })
}

fn trace(most: usize) -> impl Strategy<Value = Trace> {
    let steps = prop::collection::vec((instruction(), prop::collection::vec(access(), 0..6)), 0..most);
    (prop::collection::vec(function(), 0..4), steps).prop_map(|(functions, steps)| {
        let mut trace = Trace::new(functions);
        for (instruction, accesses) in steps {
            trace.push(&instruction, &accesses);
        }
        trace
    })
}

fn written(trace: &Trace) -> Vec<u8> {
    let mut bytes = Vec::new();
    trace.write(&mut bytes).unwrap();
    bytes
}

proptest! {
    #[test]
    fn what_is_written_is_read(trace in trace(80)) {
        prop_assert_eq!(Trace::read(written(&trace).as_slice()).unwrap(), trace);
    }

    #[test]
    fn a_trace_that_was_cut_anywhere_is_refused(trace in trace(12)) {
        let bytes = written(&trace);
        for length in 0..bytes.len() {
            let error = Trace::read(&bytes[..length]).unwrap_err();
            let expected = match error {
                ReadError::NoTrace => length < 8,
                ReadError::Truncated { offset } => offset == length as u64,
                _ => false,
            };
            prop_assert!(expected, "{} of {} bytes: {}", length, bytes.len(), error);
        }
    }

    #[test]
    fn a_trace_with_a_changed_bit_is_refused(trace in trace(12)) {
        let mut bytes = written(&trace);
        for bit in 0..8 * bytes.len() {
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(Trace::read(bytes.as_slice()).is_err(), "bit {}", bit);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn no_bytes_lead_to_a_panic(noise in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Trace::read(noise.as_slice());
        let _ = Trace::read([b"WARMTRC\n\x01\x00", noise.as_slice()].concat().as_slice());
        let _ = Trace::read([b"WARMTRC\n\x01", noise.as_slice()].concat().as_slice());
    }
}

fn refusal(bytes: &[&[u8]]) -> String {
    Trace::read(bytes.concat().as_slice()).unwrap_err().to_string()
}

#[test]
fn a_refusal_says_what_is_wrong_where() {
    let begun: &[u8] = b"WARMTRC\n\x01\x00";
    let huge: &[u8] = &[0xff, 0xff, 0xff, 0xff, 0x7f];
    let cases: [(&[&[u8]], &str); 9] = [
        (&[b"\x7fELF...."], "it is no trace; expected one to begin with `WARMTRC`"),
        (&[b"WARMTRC\n\x07"], "the trace has version 7; expected 1"),
        (&[begun], "the trace ends at offset 10, within a record; expected it to have been finished"),
        (
            &[b"WARMTRC\n\x01", huge],
            "at offset 9 of the trace: 34359738367 functions are too many; expected at most 16777216",
        ),
        (
            &[b"WARMTRC\n\x01\x01", huge],
            "at offset 10 of the trace: 34359738367 bytes of a name are too many; expected at most 65536",
        ),
        (&[begun, &[2]], "at offset 10 of the trace: instruction 0 is executed, but only 0 are defined"),
        (&[begun, &[0, 5]], "at offset 11 of the trace: it says that it has 5 steps, and has 0"),
        (
            &[begun, &[1, 0, 4, 11]],
            "at offset 14 of the trace: an unknown class of instructions; expected one below 11",
        ),
        (
            &[begun, &[0xff; 10]],
            "at offset 20 of the trace: a number of more than 64 bits; expected a varint that fits",
        ),
    ];
    for (bytes, expected) in cases {
        assert_eq!(refusal(bytes), expected);
    }
    let changed = refusal(&[begun, &[0, 0, 1, 2, 3, 4]]);
    assert!(
        changed.starts_with("at offset 12 of the trace: the checksum is 0x04030201, expected 0x"),
        "{changed}"
    );
    let good = written(&Trace::default());
    assert_eq!(refusal(&[&good, &[0]]), "at offset 16 of the trace: more follows the end; expected nothing");
}

#[test]
fn what_has_no_place_is_not_written() {
    let name = "x".repeat(1 << 17);
    let long = Function { name, symbol: String::new(), address: 0, size: 0 };
    let refused = Writer::new(Vec::new(), &[long]).unwrap_err();
    assert!(matches!(refused, WriteError::TooMany { found: 0x2_0000, limit: 0x1_0000, .. }), "{refused}");
}

#[test]
fn straight_code_takes_a_byte_a_step_and_the_end_comes_again() {
    let class = CLASSES[0];
    let at = |address| Instruction {
        address,
        length: 4,
        class,
        reads: Registers(0),
        writes: Registers(2),
        target: None,
    };
    let mut writer = Writer::new(Vec::new(), &[]).unwrap();
    for _ in 0..1000 {
        for place in 0..100 {
            writer.step(&at(0x1000 + 4 * place), &[]).unwrap();
        }
    }
    let bytes = writer.finish().unwrap();
    assert!(bytes.len() < 103_000, "{}", bytes.len());
    let mut reader = Reader::new(bytes.as_slice()).unwrap();
    for number in 0..100_000 {
        let Event::Step(step) = reader.event().unwrap() else { panic!("only {number} steps") };
        assert_eq!((*step.instruction, step.accesses.len()), (at(0x1000 + number % 100 * 4), 0));
    }
    assert_eq!(reader.event().unwrap(), Event::End(100_000));
    assert_eq!(reader.event().unwrap(), Event::End(100_000));
}
