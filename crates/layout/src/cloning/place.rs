//! Where clones are, beside everything else in memory.

use super::error::CloneError;
use crate::riscv::Segment;
use crate::trace::Function;

/// Clones with a larger gap between them are in segments of their own.
const GAP: u64 = 1 << 20;

/// Adds `clones`, functions with their words, to `segments`, in as few executable segments as they take. Gaps hold
/// zeros, which are no instructions.
///
/// # Errors
/// If they overlap one another or what is there.
pub(super) fn add(
    segments: &mut Vec<Segment>,
    mut clones: Vec<(Function, Vec<u32>)>,
) -> Result<(), CloneError> {
    clones.sort_by_key(|(function, _)| function.address);
    let mut new: Vec<Segment> = Vec::new();
    for (function, words) in &clones {
        refuse_overlap(segments.iter().chain(&new), function)?;
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        match new.last_mut().filter(|last| joins(last, function, segments)) {
            Some(last) => {
                last.bytes.resize((function.address - last.address) as usize, 0);
                last.bytes.extend(bytes);
            }
            None => new.push(segment(function.address, bytes.collect())),
        }
    }
    segments.extend(new);
    segments.sort_by_key(|segment| segment.address);
    Ok(())
}

const fn segment(address: u64, bytes: Vec<u8>) -> Segment {
    Segment { address, bytes, writable: false, executable: true }
}

fn end(segment: &Segment) -> u64 {
    segment.address + segment.bytes.len() as u64
}

/// Whether `function` follows `last` closely, with no other segment in between.
fn joins(last: &Segment, function: &Function, others: &[Segment]) -> bool {
    let between = |other: &Segment| other.address >= last.address && other.address < function.address;
    function.address - end(last) <= GAP && !others.iter().any(between)
}

fn refuse_overlap<'a>(
    segments: impl IntoIterator<Item = &'a Segment>,
    function: &Function,
) -> Result<(), CloneError> {
    let (first, beyond) = (function.address, function.address + function.size);
    let overlaps = |other: &Segment| first < end(other) && other.address < beyond;
    if segments.into_iter().any(overlaps) {
        let name = function.name.trim_end_matches(super::SUFFIX).to_owned();
        return Err(CloneError::Overlap { function: name, address: first });
    }
    Ok(())
}
