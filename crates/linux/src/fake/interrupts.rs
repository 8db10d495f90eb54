//! Writes the text of `/proc/interrupts`, in the format of `show_interrupts` in the kernel's
//! `kernel/irq/proc.c`, and of x86's `arch_show_interrupts` for the architecture's lines.

use super::Tree;
use core::fmt::{self, Write};
use warmcore_units::CpuId;

/// A table in the format of `/proc/interrupts`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InterruptTable(String);

/// Width of an interrupt's number, in characters. The kernel widens it when there are more interrupts.
const WIDTH: usize = 3;

impl InterruptTable {
    /// Starts a table with a header for `cpus`, the online ones.
    #[must_use]
    pub fn new(cpus: &[CpuId]) -> Self {
        let mut text = Self(" ".repeat(WIDTH + 8));
        for cpu in cpus {
            text.add(format_args!("CPU{:<8}", cpu.0));
        }
        text.add(format_args!("\n"));
        text
    }

    /// Adds an interrupt with one count per cpu, its number at the chip, and how it is triggered. Some
    /// architectures write `Level` or `Edge` as a word of its own; others join their word to the
    /// number.
    pub fn line(
        &mut self,
        number: u32,
        counts: &[u64],
        chip: &str,
        (input, trigger): (Option<u64>, Option<&str>),
        actions: &[String],
    ) {
        self.add(format_args!("{number:>WIDTH$}:"));
        self.counts(counts);
        self.add(format_args!(" {chip:>8}"));
        match input {
            Some(input) => self.add(format_args!(" {input:>WIDTH$}")),
            None => self.add(format_args!(" {:WIDTH$}", "")),
        }
        match trigger {
            Some(level @ ("Level" | "Edge")) => self.add(format_args!(" {level:<8}")),
            Some(word) => self.add(format_args!("-{word:<8}")),
            None => {}
        }
        if !actions.is_empty() {
            self.add(format_args!("  {}", actions.join(", ")));
        }
        self.add(format_args!("\n"));
    }

    /// Adds a line of the architecture, with one count per cpu or a single total.
    pub fn special(&mut self, label: &str, counts: &[u64], description: &str) {
        self.add(format_args!("{label:>WIDTH$}:"));
        self.counts(counts);
        if !description.is_empty() {
            self.add(format_args!("   {description}"));
        }
        self.add(format_args!("\n"));
    }

    fn counts(&mut self, counts: &[u64]) {
        for count in counts {
            self.add(format_args!(" {count:>10}"));
        }
    }

    fn add(&mut self, text: fmt::Arguments<'_>) {
        self.0.write_fmt(text).expect("a string takes whatever is written to it");
    }
}

impl Tree {
    /// Replaces how often each online cpu handled interrupt `number`.
    ///
    /// # Panics
    /// If there is no such interrupt.
    pub fn put_interrupt_counts(&mut self, number: u32, counts: &[u64]) {
        let table = self.files.get_mut("proc/interrupts").expect("a table of interrupts");
        let label = format!("{number}:");
        let replaced = |line: &str| {
            let rest = line.trim_start().strip_prefix(&label)?;
            let after = rest.split_whitespace().skip(counts.len()).collect::<Vec<_>>().join(" ");
            let counts = counts.iter().map(|count| format!(" {count:>10}")).collect::<String>();
            Some(format!("{number:>WIDTH$}:{counts} {after}"))
        };
        assert!(table.lines().any(|line| replaced(line).is_some()), "no interrupt {number}");
        let lines = table.lines().map(|line| replaced(line).unwrap_or_else(|| line.to_owned()));
        *table = lines.map(|line| line + "\n").collect();
    }
}

impl fmt::Display for InterruptTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
