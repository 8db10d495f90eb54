//! The tables as printed.

use super::points::{Build, CacheCounts, Protocols};

/// Table 1: changes of §2.2, and the instructions that each saves on the TCP/IP path. A [`Saving`](super::Saving) has one of
/// these names.
pub const TABLE_1: [(&str, u64); 7] = [
    ("Change bytes and shorts to words in TCP state", 324),
    ("More efficiently refresh message after processing", 208),
    ("Use USC in LANCE to avoid descriptor copying", 171),
    ("Inlined hash-table cache test", 120),
    ("Various inlining", 119),
    ("Avoid integer division", 90),
    ("Other minor changes", 39),
];

/// The printed total of [`TABLE_1`].
pub const TOTAL_1: u64 = 1071;

/// A column of Table 2.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Kernel {
    /// Round trip, in microseconds.
    pub round_trip: f64,
    /// Instructions executed.
    pub instructions: u64,
    /// Processing time, in cycles.
    pub cycles: u64,
    /// Cycles per instruction.
    pub cpi: f64,
}

/// Table 2: the TCP/IP stack before the changes of §2.2, and after.
pub const TABLE_2: [Kernel; 2] = [
    Kernel { round_trip: 377.7, instructions: 5821, cycles: 18_941, cpi: 3.26 },
    Kernel { round_trip: 351.0, instructions: 4750, cycles: 15_688, cpi: 3.30 },
];

/// A row of Table 3, in instructions; what the source leaves empty is `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Traced {
    /// What is counted.
    pub part: &'static str,
    /// On an 80386, from Clark et al. 1989.
    pub i386: Option<u64>,
    /// DEC Unix v3.2c.
    pub dec_unix: Option<u64>,
    /// The improved x-kernel.
    pub x_kernel: Option<u64>,
}

/// Table 3.
pub const TABLE_3: [Traced; 4] = [
    Traced { part: "in ipintr", i386: Some(57), dec_unix: Some(248), x_kernel: None },
    Traced { part: "in tcp_input", i386: Some(276), dec_unix: Some(406), x_kernel: None },
    Traced { part: "between IP input and TCP input", i386: None, dec_unix: Some(262), x_kernel: Some(437) },
    Traced {
        part: "between TCP input and socket input",
        i386: None,
        dec_unix: Some(1188),
        x_kernel: Some(1004),
    },
];

/// Table 4: a round trip in microseconds, and its standard deviation.
#[must_use]
pub const fn table_4(stack: Protocols, build: Build) -> [f64; 2] {
    match (stack, build) {
        (Protocols::TcpIp, Build::Bad) => [498.8, 0.29],
        (Protocols::TcpIp, Build::Std) => [351.0, 0.28],
        (Protocols::TcpIp, Build::Out) => [336.1, 0.37],
        (Protocols::TcpIp, Build::Clo) => [325.5, 0.07],
        (Protocols::TcpIp, Build::Pin) => [317.1, 0.03],
        (Protocols::TcpIp, Build::All) => [310.8, 0.27],
        (Protocols::Rpc, Build::Bad) => [457.1, 0.20],
        (Protocols::Rpc, Build::Std) => [399.2, 0.29],
        (Protocols::Rpc, Build::Out) => [394.6, 0.10],
        (Protocols::Rpc, Build::Clo) => [383.1, 0.20],
        (Protocols::Rpc, Build::Pin) => [367.3, 0.19],
        (Protocols::Rpc, Build::All) => [365.5, 0.26],
    }
}

/// What Table 5 takes off Table 4 for the controller, in microseconds.
pub const CONTROLLER: f64 = 210.0;

/// Table 5's slowdown over ALL, in percent, as printed.
#[must_use]
pub const fn slowdown_5(stack: Protocols, build: Build) -> f64 {
    match (stack, build) {
        (Protocols::TcpIp, Build::Bad) => 186.5,
        (Protocols::TcpIp, Build::Std) => 40.2,
        (Protocols::TcpIp, Build::Out) => 25.1,
        (Protocols::TcpIp, Build::Clo) => 14.6,
        (Protocols::TcpIp, Build::Pin) => 6.3,
        (Protocols::Rpc, Build::Bad) => 59.0,
        (Protocols::Rpc, Build::Std) => 21.7,
        (Protocols::Rpc, Build::Out) => 18.7,
        (Protocols::Rpc, Build::Clo) => 11.3,
        (Protocols::Rpc, Build::Pin) => 1.2,
        (_, Build::All) => 0.0,
    }
}

/// Table 4's slowdown over ALL, in percent.
#[must_use]
pub fn slowdown_4(stack: Protocols, build: Build) -> f64 {
    100.0 * (table_4(stack, build)[0] / table_4(stack, Build::All)[0] - 1.0)
}

/// Table 6: the caches of instructions, of data with the write buffer, and of the board.
#[must_use]
pub const fn table_6(stack: Protocols, build: Build) -> [CacheCounts; 3] {
    let row = match (stack, build) {
        (Protocols::TcpIp, Build::Bad) => [[700, 4718, 224], [459, 1862, 31], [863, 1390, 110]],
        (Protocols::TcpIp, Build::Std) => [[586, 4750, 72], [492, 1845, 56], [800, 1286, 0]],
        (Protocols::TcpIp, Build::Out) => [[547, 4728, 69], [462, 1841, 40], [731, 1183, 0]],
        (Protocols::TcpIp, Build::Clo) => [[483, 4684, 27], [455, 1862, 34], [678, 1074, 0]],
        (Protocols::TcpIp, Build::Pin) => [[484, 4245, 66], [406, 1668, 27], [630, 1015, 0]],
        (Protocols::TcpIp, Build::All) => [[414, 4215, 10], [401, 1682, 28], [596, 913, 0]],
        (Protocols::Rpc, Build::Bad) => [[721, 4253, 176], [556, 1663, 19], [995, 1544, 14]],
        (Protocols::Rpc, Build::Std) => [[590, 4291, 31], [547, 1635, 14], [1004, 1379, 0]],
        (Protocols::Rpc, Build::Out) => [[542, 4257, 26], [556, 1629, 19], [951, 1313, 0]],
        (Protocols::Rpc, Build::Clo) => [[488, 4227, 7], [547, 1664, 13], [845, 1213, 0]],
        (Protocols::Rpc, Build::Pin) => [[402, 3471, 14], [453, 1310, 19], [694, 972, 0]],
        (Protocols::Rpc, Build::All) => [[374, 3468, 0], [450, 1330, 13], [662, 931, 0]],
    };
    [counts(row[0]), counts(row[1]), counts(row[2])]
}

const fn counts([misses, accesses, replacements]: [u64; 3]) -> CacheCounts {
    CacheCounts { misses, accesses, replacements }
}

/// A row of Table 7 for one stack.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Costs {
    /// Processing time, in microseconds.
    pub microseconds: f64,
    /// Its standard deviation.
    pub deviation: f64,
    /// Instructions of the trace.
    pub length: u64,
    /// Memory cycles per instruction.
    pub memory_cpi: f64,
    /// Cycles per instruction with a perfect memory.
    pub instruction_cpi: f64,
}

/// Table 7.
#[must_use]
pub const fn table_7(stack: Protocols, build: Build) -> Costs {
    let (microseconds, deviation, memory_cpi, instruction_cpi) = match (stack, build) {
        (Protocols::TcpIp, Build::Bad) => (167.0, 1.75, 4.58, 1.61),
        (Protocols::TcpIp, Build::Std) => (89.6, 0.34, 1.58, 1.72),
        (Protocols::TcpIp, Build::Out) => (84.1, 0.12, 1.50, 1.61),
        (Protocols::TcpIp, Build::Clo) => (77.2, 0.36, 1.28, 1.61),
        (Protocols::TcpIp, Build::Pin) => (69.9, 0.48, 1.31, 1.57),
        (Protocols::TcpIp, Build::All) => (66.1, 0.48, 1.17, 1.57),
        (Protocols::Rpc, Build::Bad) => (154.2, 0.47, 4.66, 1.69),
        (Protocols::Rpc, Build::Std) => (85.1, 0.53, 1.69, 1.78),
        (Protocols::Rpc, Build::Out) => (81.0, 0.16, 1.65, 1.68),
        (Protocols::Rpc, Build::Clo) => (71.0, 0.29, 1.25, 1.69),
        (Protocols::Rpc, Build::Pin) => (57.7, 0.18, 1.25, 1.66),
        (Protocols::Rpc, Build::All) => (49.2, 0.12, 0.81, 1.67),
    };
    let length = table_6(stack, build)[0].accesses;
    Costs { microseconds, deviation, length, memory_cpi, instruction_cpi }
}

/// The steps of Table 8, from one build to a better one.
pub const STEPS: [(Build, Build); 5] = [
    (Build::Bad, Build::Clo),
    (Build::Std, Build::Out),
    (Build::Out, Build::Clo),
    (Build::Out, Build::Pin),
    (Build::Pin, Build::All),
];

/// Table 8 as printed: the part of saved b-cache accesses that is due to instructions (%), what a round trip and processing save
/// (µs), and saved accesses of the b-cache and of memory.
#[must_use]
pub const fn table_8(stack: Protocols, step: (Build, Build)) -> Option<[f64; 5]> {
    Some(match (stack, step) {
        (Protocols::TcpIp, (Build::Bad, Build::Clo)) => [97.0, 86.7, 89.8, 316.0, 110.0],
        (Protocols::TcpIp, (Build::Std, Build::Out)) => [114.0, 7.4, 5.5, 103.0, 0.0],
        (Protocols::TcpIp, (Build::Out, Build::Clo)) => [91.0, 5.3, 6.9, 109.0, 0.0],
        (Protocols::TcpIp, (Build::Out, Build::Pin)) => [70.0, 9.5, 14.2, 168.0, 0.0],
        (Protocols::TcpIp, (Build::Pin, Build::All)) => [93.0, 3.2, 3.8, 102.0, 0.0],
        (Protocols::Rpc, (Build::Bad, Build::Clo)) => [99.0, 74.0, 83.2, 331.0, 14.0],
        (Protocols::Rpc, (Build::Std, Build::Out)) => [71.0, 4.6, 4.1, 66.0, 0.0],
        (Protocols::Rpc, (Build::Out, Build::Clo)) => [94.0, 11.5, 10.0, 100.0, 0.0],
        (Protocols::Rpc, (Build::Out, Build::Pin)) => [67.0, 27.3, 23.3, 341.0, 0.0],
        (Protocols::Rpc, (Build::Pin, Build::All)) => [95.0, 1.8, 8.5, 41.0, 0.0],
        _ => return None,
    })
}

/// Table 9: the unused part of i-cache blocks (%) and the size of the path in instructions, for STD and OUT.
#[must_use]
pub const fn table_9(stack: Protocols) -> [(f64, u64); 2] {
    match stack {
        Protocols::TcpIp => [(21.0, 5841), (15.0, 3856)],
        Protocols::Rpc => [(22.0, 5085), (16.0, 3641)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn savings_add_up_to_the_printed_total_and_to_table_2() {
        assert_eq!(TABLE_1.iter().map(|(_, saved)| saved).sum::<u64>(), TOTAL_1);
        assert_eq!(TABLE_2[0].instructions - TABLE_2[1].instructions, TOTAL_1);
    }

    #[test]
    fn processing_time_is_the_cycles_per_instruction_times_the_length() {
        for stack in Protocols::ALL {
            for build in Build::ALL {
                let row = table_7(stack, build);
                let cycles = (row.memory_cpi + row.instruction_cpi) * row.length as f64;
                assert!((row.microseconds * 175.0 / cycles - 1.0).abs() < 0.003, "{stack} {build}");
            }
        }
    }

    #[test]
    fn table_8_follows_from_tables_6_and_7_but_its_columns_of_i_are_exchanged() {
        for (stack, other) in [(Protocols::TcpIp, Protocols::Rpc), (Protocols::Rpc, Protocols::TcpIp)] {
            for step @ (from, to) in STEPS {
                let saved = |cache: usize, count: fn(&CacheCounts) -> u64| {
                    count(&table_6(stack, from)[cache]) as f64 - count(&table_6(stack, to)[cache]) as f64
                };
                let accesses = saved(2, |cache| cache.accesses);
                let share = 100.0 * (accesses - saved(1, |cache| cache.misses)) / accesses;
                let [_, _, time, printed, memory] = table_8(stack, step).expect("a step of the table");
                assert_eq!(accesses, printed);
                assert_eq!(saved(2, |cache| cache.replacements), memory);
                let faster = table_7(stack, from).microseconds - table_7(stack, to).microseconds;
                assert!((faster - time).abs() < 0.06, "{stack} {from} {to}");
                let of_other = table_8(other, step).expect("a step of the table")[0];
                assert!((share - of_other).abs() <= 0.7, "{stack} {from} {to}: {share}, {of_other}");
            }
        }
    }

    #[test]
    fn two_slowdowns_of_table_5_are_misprinted() {
        let mut wrong = Vec::new();
        for stack in Protocols::ALL {
            for build in Build::ALL {
                let adjusted = |build| table_4(stack, build)[0] - CONTROLLER;
                let slowdown = 100.0 * (adjusted(build) / adjusted(Build::All) - 1.0);
                if (slowdown - slowdown_5(stack, build)).abs() > 0.06 {
                    wrong.push((stack, build));
                }
            }
        }
        assert_eq!(wrong, [(Protocols::TcpIp, Build::Std), (Protocols::Rpc, Build::Bad)]);
    }
}
