//! Reads the model name of the processor.

use super::{Shortfall, Warnings};
use crate::tree::{Tree, field_of};

/// The keys of the model name in `/proc/cpuinfo`: x86 and some ARM; MIPS; POWER; RISC-V.
const KEYS: [&str; 4] = ["model name", "cpu model", "cpu", "uarch"];

/// Reads the model name; adds a warning if there is none.
pub(super) fn read(tree: &Tree, warnings: &mut Warnings) -> String {
    let text = tree.text("proc/cpuinfo").unwrap_or_default();
    KEYS.iter().find_map(|key| field_of(&text, key)).or_else(|| arm(&text)).unwrap_or_else(|| {
        warnings.add(Shortfall::ModelName);
        "unknown processor".to_owned()
    })
}

/// Describes a 64-bit ARM core, which has implementer and part numbers but no name.
fn arm(cpuinfo: &str) -> Option<String> {
    let implementer = field_of(cpuinfo, "CPU implementer")?;
    let part = field_of(cpuinfo, "CPU part")?;
    let designer = match implementer.as_str() {
        "0x41" => "Arm",
        "0x46" => "Fujitsu",
        "0x48" => "HiSilicon",
        "0x4e" => "NVIDIA",
        "0x51" => "Qualcomm",
        "0x61" => "Apple",
        "0xc0" => "Ampere",
        other => return Some(format!("ARM processor of implementer {other}, part {part}")),
    };
    Some(format!("{designer} processor, part {part}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;

    fn name_in(cpuinfo: &str) -> (String, usize) {
        let mut tree = fake::Tree::default();
        tree.put("proc/cpuinfo", cpuinfo);
        let mut warnings = Warnings::default();
        let name = read(&Tree::Fake(tree), &mut warnings);
        (name, warnings.into_list().len())
    }

    #[test]
    fn the_name_is_found_on_every_architecture() {
        let x86 = "processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n";
        assert_eq!(name_in(x86), ("AMD EPYC".to_owned(), 0));
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(name_in(arm), ("Arm processor, part 0xd0c".to_owned(), 0));
        let power = "processor\t: 0\ncpu\t\t: POWER9, altivec supported\n";
        assert_eq!(name_in(power), ("POWER9, altivec supported".to_owned(), 0));
        assert_eq!(name_in("processor : 0\n"), ("unknown processor".to_owned(), 1));
    }
}
