//! The memory of a traced process: its code, its breakpoints, and what lies where.

use super::error::SteppingError;
use libc::pid_t;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// The instruction `int3`, which stops the thread that executes it.
const BREAKPOINT: u8 = 0xcc;

/// The tag of a program's entry in the vector that the kernel passes to it: `AT_ENTRY` of `elf.h`.
const ENTRY: u64 = 9;

/// A range of a process's memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mapping {
    /// The first address.
    pub start: u64,
    /// The address after the last.
    pub end: u64,
    /// Where it begins in its file, in bytes.
    pub offset: u64,
    /// Whether code may be executed in it.
    pub executable: bool,
    /// The path of its file, or a name such as `[vdso]`; empty if it has none.
    pub name: PathBuf,
}

/// The memory of one process.
#[derive(Debug)]
pub(super) struct Memory {
    process: pid_t,
    file: File,
    /// Original bytes of all breakpoints there ever were, and whether they are set now.
    breakpoints: HashMap<u64, (u8, bool)>,
}

impl Memory {
    pub(super) fn open(process: pid_t) -> Result<Self, SteppingError> {
        let file = open(process)?;
        Ok(Self { process, file, breakpoints: HashMap::new() })
    }

    /// Reads what lies at `address`, up to the length of `bytes` and the end of the memory there.
    pub(super) fn read<'a>(&self, address: u64, bytes: &'a mut [u8]) -> &'a [u8] {
        let mut read = 0;
        while read < bytes.len() {
            match self.file.read_at(&mut bytes[read..], address.wrapping_add(read as u64)) {
                Ok(more) if more > 0 => read += more,
                _ => break,
            }
        }
        &bytes[..read]
    }

    /// Sets a breakpoint.
    pub(super) fn set_breakpoint(&mut self, address: u64) -> Result<(), SteppingError> {
        let mut original = [0];
        let unmapped = SteppingError::Unmapped { address };
        if let Some(entry) = self.breakpoints.get_mut(&address) {
            entry.1 = true;
        } else if self.read(address, &mut original).is_empty() {
            return Err(unmapped);
        } else {
            self.breakpoints.insert(address, (original[0], true));
        }
        self.file.write_all_at(&[BREAKPOINT], address).map_err(|_| unmapped)
    }

    /// Takes a breakpoint out. The memory may be gone, and the breakpoint with it.
    pub(super) fn clear_breakpoint(&mut self, address: u64) {
        if let Some((original, set)) = self.breakpoints.get_mut(&address) {
            *set = false;
            let _ = self.file.write_all_at(&[*original], address);
        }
    }

    pub(super) fn clear_breakpoints(&mut self) {
        let addresses: Vec<u64> = self.set().collect();
        for address in addresses {
            self.clear_breakpoint(address);
        }
    }

    fn set(&self) -> impl Iterator<Item = u64> + '_ {
        self.breakpoints.iter().filter(|(_, (_, set))| *set).map(|(&address, _)| address)
    }

    pub(super) fn is_set(&self, address: u64) -> bool {
        self.breakpoints.get(&address).is_some_and(|(_, set)| *set)
    }

    /// Whether a breakpoint of ours is or was at `address`, where the program itself has none.
    pub(super) fn was_breakpoint(&self, address: u64) -> bool {
        self.breakpoints.get(&address).is_some_and(|(original, _)| *original != BREAKPOINT)
    }

    /// Writes all breakpoints again: a child that shared the memory had them taken out.
    pub(super) fn renew_breakpoints(&self) -> Result<(), SteppingError> {
        for address in self.set() {
            let unmapped = |_| SteppingError::Unmapped { address };
            self.file.write_all_at(&[BREAKPOINT], address).map_err(unmapped)?;
        }
        Ok(())
    }

    /// Takes the breakpoints out of the memory of `child`, a copy of this one.
    pub(super) fn clean_copy(&self, child: pid_t) -> Result<(), SteppingError> {
        let memory = open(child)?;
        for address in self.set() {
            let (original, _) = self.breakpoints[&address];
            memory.write_all_at(&[original], address).map_err(system("writing /proc/PID/mem"))?;
        }
        Ok(())
    }

    /// What lies where.
    pub(super) fn mappings(&self) -> Result<Vec<Mapping>, SteppingError> {
        // Paths may have any bytes.
        let maps = fs::read(format!("/proc/{}/maps", self.process));
        let maps = maps.map_err(system("reading /proc/PID/maps"))?;
        Ok(maps.split(|&byte| byte == b'\n').filter_map(parse).collect())
    }

    /// Where the program begins once its libraries are there.
    pub(super) fn entry(&self) -> Result<Option<u64>, SteppingError> {
        let auxv = fs::read(format!("/proc/{}/auxv", self.process));
        let auxv = auxv.map_err(system("reading /proc/PID/auxv"))?;
        let words: Vec<u64> =
            auxv.as_chunks::<8>().0.iter().map(|&bytes| u64::from_ne_bytes(bytes)).collect();
        Ok(words.as_chunks::<2>().0.iter().find(|[tag, _]| *tag == ENTRY).map(|[_, value]| *value))
    }
}

fn system(call: &'static str) -> impl FnOnce(io::Error) -> SteppingError {
    move |source| SteppingError::System { call, source }
}

fn open(process: pid_t) -> Result<File, SteppingError> {
    let path = format!("/proc/{process}/mem");
    OpenOptions::new().read(true).write(true).open(path).map_err(system("opening /proc/PID/mem"))
}

/// Parses a line of `/proc/PID/maps` (proc_pid_maps(5)).
fn parse(line: &[u8]) -> Option<Mapping> {
    let mut fields = line.splitn(6, |&byte| byte == b' ');
    let mut field = || str::from_utf8(fields.next()?).ok();
    let number = |text| u64::from_str_radix(text, 16).ok();
    let (start, end) = field()?.split_once('-')?;
    let executable = field()?.contains('x');
    let offset = number(field()?)?;
    let name = path(fields.nth(2).unwrap_or_default().trim_ascii_start());
    Some(Mapping { start: number(start)?, end: number(end)?, offset, executable, name })
}

/// The path that the kernel writes as `name`: it escapes line feeds, but no backslashes, so that a path may look as if one
/// were escaped.
fn path(name: &[u8]) -> PathBuf {
    const LINE_FEED: &[u8] = b"\\012";
    let as_written = PathBuf::from(OsStr::from_bytes(name));
    if !name.windows(LINE_FEED.len()).any(|part| part == LINE_FEED) || as_written.exists() {
        return as_written;
    }
    let mut path = Vec::new();
    let mut rest = name;
    while let Some((&first, others)) = rest.split_first() {
        let after = rest.strip_prefix(LINE_FEED);
        path.push(if after.is_some() { b'\n' } else { first });
        rest = after.unwrap_or(others);
    }
    OsString::from_vec(path).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_parsed_with_and_without_names() {
        let line = b"555555554000-555555556000 r-xp 00001000 fe:00 123    /a path/with spaces";
        let mapping = Mapping {
            start: 0x5555_5555_4000,
            end: 0x5555_5555_6000,
            offset: 0x1000,
            executable: true,
            name: "/a path/with spaces".into(),
        };
        assert_eq!(parse(line), Some(mapping));
        let anonymous = parse(b"7ffff7fc0000-7ffff7fc4000 rw-p 00000000 00:00 0 ").unwrap();
        assert_eq!((anonymous.name, anonymous.executable), (PathBuf::new(), false));
        assert_eq!(parse(b"nonsense"), None);
    }

    #[test]
    fn names_may_have_any_bytes() {
        let name = |escaped: &[u8]| {
            let line = [b"1000-2000 r-xp 00000000 fe:00 123 ", escaped].concat();
            parse(&line).unwrap().name.into_os_string().into_vec()
        };
        assert_eq!(name(b"/caf\xe9/a\\012b"), b"/caf\xe9/a\nb");
        assert_eq!(name(b"/a\\01"), b"/a\\01");
        let folder = tempfile::tempdir().unwrap();
        let unescaped = folder.path().join("a\\012b");
        fs::write(&unescaped, "").unwrap();
        let unescaped = unescaped.into_os_string().into_vec();
        assert_eq!(name(&unescaped), unescaped, "a file has this very name");
    }
}
