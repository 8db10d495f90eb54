//! Reads the kernel's masks of cpus and other numbers.

use crate::bitmap;
use crate::probe::Malformed;
use crate::tree::Tree;
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// Reads the numbers of the bits set in the mask in `file`, ascending.
pub(super) fn bits(tree: &Tree, file: &str) -> Result<Option<Vec<u32>>, Malformed> {
    let Some(text) = tree.text(file) else { return Ok(None) };
    let bits = bitmap::from_text(&text)
        .ok_or_else(|| tree.malformed(file, &text, "a mask such as `00000000,0000000f`"))?;
    Ok(Some(bits.into_iter().collect()))
}

/// Reads the cpus in the mask in `file`.
pub(super) fn cpus(tree: &Tree, file: &str) -> Result<Option<CpuSet>, Malformed> {
    Ok(bits(tree, file)?.map(|bits| bits.into_iter().map(CpuId).collect()))
}
