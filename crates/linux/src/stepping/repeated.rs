//! String instructions that a prefix repeats: the processor stops after each element when it steps.

/// The length in bytes of the repeated string instruction that `bytes` begin with; `None` if they begin with another.
/// Prefixes and opcodes: Intel's manual, volume 2, §2.1.1 and "REP/REPE/REPZ/REPNE/REPNZ".
pub(super) fn length(bytes: &[u8]) -> Option<u64> {
    let is_prefix =
        |byte: &u8| matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x64 | 0x65 | 0x66 | 0x67 | 0xf2 | 0xf3);
    let prefixes = bytes.iter().take_while(|byte| is_prefix(byte)).count();
    if !bytes[..prefixes].iter().any(|byte| matches!(byte, 0xf2 | 0xf3)) {
        return None;
    }
    let rex = usize::from(matches!(bytes.get(prefixes), Some(0x40..=0x4f)));
    let opcode = bytes.get(prefixes + rex)?;
    matches!(opcode, 0x6c..=0x6f | 0xa4..=0xa7 | 0xaa..=0xaf).then_some((prefixes + rex + 1) as u64)
}

#[cfg(test)]
mod tests {
    use super::length;

    #[test]
    fn repeated_string_instructions_are_told_from_others() {
        assert_eq!(length(&[0xf3, 0xa4, 0x90]), Some(2), "rep movsb");
        assert_eq!(length(&[0xf3, 0x48, 0xab]), Some(3), "rep stosq");
        assert_eq!(length(&[0x66, 0xf3, 0xa5]), Some(3), "rep movsw");
        assert_eq!(length(&[0xf2, 0xae]), Some(2), "repne scasb");
        assert_eq!(length(&[0xa4]), None, "movsb, once");
        assert_eq!(length(&[0xf3, 0x0f, 0x1e, 0xfa]), None, "endbr64");
        assert_eq!(length(&[0xf3, 0xc3]), None, "rep ret");
        assert_eq!(length(&[0xf3]), None);
        assert_eq!(length(&[]), None);
    }
}
