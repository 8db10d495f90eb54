//! Whether a marker lies within an instruction: a breakpoint there would change the instruction, and so what the program
//! computes, without stopping it.

use crate::program::{Marker, MarkerError, Place};
use crate::x86;
use warmcore_linux::stepping::Stepper;

/// The longest function that is decoded up to a marker, in bytes.
const LONGEST: u64 = 64 << 20;

/// Checks that `place`, whose file lies `bias` bytes further in memory, is where an instruction begins: decodes the function
/// from its beginning. What lies in no function cannot be checked.
pub(super) fn check(marker: &Marker, place: &Place, bias: u64, stepper: &Stepper) -> Result<(), MarkerError> {
    let Some(function) = place.function.as_ref().filter(|function| function.offset > 0) else {
        return Ok(());
    };
    let start = function.address.wrapping_add(bias);
    // The instruction at the place is not needed, only those before it, and the last of these may end behind it.
    let mut code = vec![0; (function.offset.min(LONGEST) + x86::LONGEST) as usize];
    let code = stepper.read(start, &mut code);
    match x86::beginning_at(code, function.offset) {
        Ok(()) => Ok(()),
        Err((before, after)) => Err(MarkerError::WithinInstruction {
            text: marker.to_string(),
            name: function.name.clone(),
            offset: function.offset,
            before,
            after,
        }),
    }
}
