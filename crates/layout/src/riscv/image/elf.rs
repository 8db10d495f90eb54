//! An ELF file, taken apart.

use super::{Image, MOST_MEMORY, Relocation, Segment, Symbols};
use crate::riscv::error::ImageError;
use object::LittleEndian;
use object::elf::{self, FileHeader64, Rela64, Sym64};
use object::read::elf::{FileHeader, ProgramHeader, Rela, SectionHeader, SectionTable, Sym, SymbolTable};

type Header = FileHeader64<LittleEndian>;
type Names<'a> = SymbolTable<'a, Header>;
const ENDIAN: LittleEndian = LittleEndian;

pub(super) fn parse(bytes: &[u8]) -> Result<Image, ImageError> {
    let header = check(bytes)?;
    let sections = header.sections(ENDIAN, bytes).map_err(broken)?;
    let names = sections.symbols(ENDIAN, bytes, elf::SHT_SYMTAB).map_err(broken)?;
    let symbols = symbols(&names)?;
    if symbols.functions.is_empty() {
        return Err(ImageError::NoSymbols);
    }
    Ok(Image {
        segments: segments(header, bytes)?,
        symbols,
        relocations: relocations(&sections, &names, bytes)?,
        entry: header.e_entry(ENDIAN),
    })
}

fn broken(error: object::Error) -> ImageError {
    ImageError::NotElf { problem: error.to_string() }
}

fn check(bytes: &[u8]) -> Result<&Header, ImageError> {
    let header = Header::parse(bytes).map_err(broken)?;
    let machine = header.e_machine(ENDIAN).0;
    if !header.is_little_endian() || machine != elf::EM_RISCV.0 {
        // Of the other byte order, the number reads backwards.
        let machine = if header.is_little_endian() { machine } else { machine.swap_bytes() };
        return Err(ImageError::WrongMachine { machine });
    }
    let kind = header.e_type(ENDIAN);
    if kind != elf::ET_EXEC {
        return Err(ImageError::NotStatic { kind: kind.0 });
    }
    Ok(header)
}

fn segments(header: &Header, bytes: &[u8]) -> Result<Vec<Segment>, ImageError> {
    let mut segments = Vec::new();
    let mut total = 0_u64;
    for program in header.program_headers(ENDIAN, bytes).map_err(broken)? {
        let (address, size) = (program.p_vaddr(ENDIAN), program.p_memsz(ENDIAN));
        if program.p_type(ENDIAN) != elf::PT_LOAD || size == 0 {
            continue;
        }
        let refuse = |problem| ImageError::Segment { address, size, problem };
        total = total.saturating_add(size);
        if total > MOST_MEMORY || address.checked_add(size).is_none() {
            return Err(refuse("does not fit; expected at most 64 MiB in all"));
        }
        let found = program.data(ENDIAN, bytes).map_err(|()| refuse("is not all in the file"))?;
        if found.len() as u64 > size {
            return Err(refuse("has more bytes in the file than in memory"));
        }
        let mut bytes = vec![0; size as usize];
        bytes[..found.len()].copy_from_slice(found);
        let allows = |flag: elf::ProgramFlags| program.p_flags(ENDIAN).0 & flag.0 != 0;
        segments.push(Segment { address, bytes, writable: allows(elf::PF_W), executable: allows(elf::PF_X) });
    }
    segments.sort_by_key(|segment| segment.address);
    refuse_overlaps(&segments)?;
    Ok(segments)
}

fn refuse_overlaps(segments: &[Segment]) -> Result<(), ImageError> {
    for pair in segments.windows(2) {
        let end = pair[0].address + pair[0].bytes.len() as u64;
        if end > pair[1].address {
            let (address, size) = (pair[1].address, pair[1].bytes.len() as u64);
            return Err(ImageError::Segment { address, size, problem: "overlaps the one before it" });
        }
    }
    Ok(())
}

fn symbols(names: &Names<'_>) -> Result<Symbols, ImageError> {
    let mut symbols = Symbols::default();
    for symbol in names.iter() {
        let symbol: &Sym64<LittleEndian> = symbol;
        if symbol.is_undefined(ENDIAN) {
            continue;
        }
        let name = symbol.name(ENDIAN, names.strings()).map_err(broken)?;
        let name = String::from_utf8_lossy(name);
        let (address, size) = (symbol.st_value(ENDIAN), symbol.st_size(ENDIAN));
        match symbol.st_type() {
            elf::STT_FUNC => symbols.add_function(&name, address, size),
            elf::STT_OBJECT => {}
            elf::STT_NOTYPE if !name.is_empty() => {}
            _ => continue,
        }
        symbols.add_address(&name, address, symbol.is_local());
    }
    symbols.sort();
    Ok(symbols)
}

/// The relocations of what is in memory, without those of debugging information.
fn relocations(
    sections: &SectionTable<'_, Header>,
    names: &Names<'_>,
    bytes: &[u8],
) -> Result<Vec<Relocation>, ImageError> {
    let mut relocations = Vec::new();
    for section in sections.iter() {
        let Some((entries, _)) = section.rela(ENDIAN, bytes).map_err(broken)? else { continue };
        let of = sections.section(section.info_link(ENDIAN)).map_err(broken)?;
        if of.sh_flags(ENDIAN).0 & elf::SHF_ALLOC.0 == 0 {
            continue;
        }
        for entry in entries {
            relocations.push(relocation(entry, names)?);
        }
    }
    relocations.sort_by_key(|relocation| relocation.address);
    Ok(relocations)
}

fn relocation(entry: &Rela64<LittleEndian>, names: &Names<'_>) -> Result<Relocation, ImageError> {
    let value = match entry.symbol(ENDIAN, false) {
        Some(index) => names.symbol(index).map_err(broken)?.st_value(ENDIAN),
        None => 0,
    };
    Ok(Relocation {
        address: entry.r_offset(ENDIAN),
        kind: entry.r_type(ENDIAN, false).0,
        target: value.wrapping_add_signed(entry.r_addend(ENDIAN)),
    })
}
