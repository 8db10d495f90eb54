//! Mosberger 1996 as data, and the evidence for its claims in a report.

use super::points::Measurements;
use super::{charts, claims, columns};
use crate::{Claim, Conclusion, Evidence, PublishedFigure, Source};
use warmcore_record::columns::ColumnsError;
use warmcore_record::{Block, Chart, Columns};

/// Mosberger, Peterson, Bridges & O'Malley 1996.
#[must_use]
pub fn source() -> Source<Measurements> {
    Source {
        name: "mosberger-1996",
        short: "Mosberger 1996",
        subject: "code layout and protocol latency",
        citation: "David Mosberger, Larry L. Peterson, Patrick G. Bridges and Sean O'Malley, \"Analysis of Techniques to Improve \
                   Protocol Processing Latency\", University of Arizona, TR 96-03, 1996",
        story: &STORY,
        figures: FIGURES.to_vec(),
        claims: claims::all(),
        conclusions: &CONCLUSIONS,
        choices: &CHOICES,
        glossary: &GLOSSARY,
    }
}

const STORY: [&str; 3] = [
    "A small packet takes a processor through some thousands of instructions, each of which is executed about once. Where these lie in memory \
    decides how often it waits for them. In 1996 Mosberger and others moved exceptional code out of the way (outlining), placed copies of \
    the path's functions side by side (cloning), and made one function of the whole path (path-inlining). They traced two protocol stacks, \
    TCP/IP and RPC, in six builds, and sent the traces through simulated caches of a DEC 3000/600.",
    "This report has both stacks written again, in layers as there, for a 64-bit RISC processor that executes them one instruction at a time. A \
    request and its response are traced on the client's side, and the traces go through the same caches: 8 KB each for \
    instructions and data, 2 MB behind them, direct-mapped, with blocks of 32 bytes. Round trips are those of the same source compiled for this machine, if such programs were given \
    (`--native`).",
    "The builds are: STD has none of the techniques. OUT has outlining; CLO also cloning; BAD is CLO placed as badly as can be. PIN has \
    outlining and path-inlining, ALL also cloning.",
];

const FIGURES: [PublishedFigure; 11] = [
    PublishedFigure::new(
        "table-1",
        "table 1",
        "what changes for RISC machines save",
        "Instructions of the TCP/IP path that each change of §2.2 saves. They come before the techniques, and every build has them.",
        "words for bytes and shorts save the most; all together save 1071 instructions.",
    ),
    PublishedFigure::new(
        "table-2",
        "table 2",
        "TCP/IP before and after these changes",
        "Instructions and cycles without any of the changes, and with all of them.",
        "almost 20 % fewer instructions are executed, and cycles per instruction do not change significantly.",
    ),
    PublishedFigure::new(
        "table-3",
        "table 3",
        "how long the path is",
        "Instructions that an incoming segment takes in IP and in TCP, beside those of other implementations. Those in one function were not \
        counted for the x-kernel.",
        "the stack is as long as that of a production system.",
    ),
    PublishedFigure::new(
        "figure-2",
        "figure 2",
        "what outlining and cloning do to the i-cache",
        "A drawing of blocks of the i-cache, with gaps that are fetched and never executed. Here it is a count of them.",
        "outlining makes gaps fewer within functions, and cloning between them.",
    ),
    PublishedFigure::new(
        "classifier",
        "the packet classifier",
        "what it costs to know the path",
        "A path that is one function needs a classifier, which says of a packet that it takes that path. The builds are measured without.",
        "the best classifiers take about 1 to 4 µs per packet.",
    ),
    PublishedFigure::new(
        "table-4",
        "table 4",
        "round trips",
        "How long a request and its response take, by build. Our round trips are those of this machine, so only which build is \
        faster is judged; by how much is shown.",
        "each technique shortens the round trip; BAD is the longest by far, ALL the shortest.",
    ),
    PublishedFigure::new(
        "table-5",
        "table 5",
        "round trips without the network controller",
        "The same, less 210 µs that the controller takes. No controller takes part in ours.",
        "STD is 40 % slower than ALL for TCP/IP, and BAD 186 %.",
    ),
    PublishedFigure::new(
        "table-6",
        "table 6",
        "misses",
        "Misses of the caches of instructions, of data (with the write buffer) and of the board. A replacement miss is one of a line that had \
        been there: a better layout avoids it.",
        "cloning avoids most replacement misses of instructions; path-inlining alone does not.",
    ),
    PublishedFigure::new(
        "table-7",
        "table 7",
        "cycles per instruction",
        "Processing time, the length of the trace, and its cycles per instruction: those of waiting for memory (mCPI), and those with a perfect memory \
        (iCPI).",
        "mCPI of the worst build is 3.9 (TCP/IP) and 5.8 times (RPC) that of the best.",
    ),
    PublishedFigure::new(
        "table-8",
        "table 8",
        "what each technique saves",
        "Processing time and b-cache accesses that each step saves, and which part of these accesses is due to instructions (I).",
        "more than 90 % of what outlining and cloning save is due to the i-cache, in all but one case.",
    ),
    PublishedFigure::new(
        "table-9",
        "table 9",
        "what outlining does to the path's size",
        "The part of fetched blocks that is never executed, and the size of the path, without outlining (STD) and with it (OUT).",
        "the unused part falls from 21 to 15 %, and a third of the code is outlined.",
    ),
];

const CONCLUSIONS: [Conclusion; 7] = [
    Conclusion {
        text: "Where code lies decides how long protocol processing waits for memory.",
        claims: &["mcpi-factor-tcp", "mcpi-factor-rpc", "mcpi-factor-both", "mcpi-std-35", "mcpi-above-1"],
    },
    Conclusion {
        text: "Outlining, cloning and path-inlining each make processing faster, and all together the most.",
        claims: &["each-helps", "cycles-order", "mcpi-order"],
    },
    Conclusion {
        text: "Cloning into a bipartite layout avoids replacement misses of instructions; path-inlining alone does not.",
        claims: &["clo-fewer", "clo-tcp-27", "clo-rpc-7", "all-rpc-none", "pin-keeps", "pin-keeps-rpc"],
    },
    Conclusion {
        text: "Outlining makes code denser, and serves a stack of large functions more than one of small ones.",
        claims: &["unused-6", "gaps-outlining", "out-tcp"],
    },
    Conclusion {
        text: "Cloning and path-inlining serve a stack of many small functions more than one of large ones.",
        claims: &["clo-rpc", "pin-rpc"],
    },
    Conclusion {
        text: "What outlining and cloning save is due to the i-cache, with one exception.",
        claims: &["due-90", "due-71"],
    },
    Conclusion {
        text: "Round trips become shorter in the same order.",
        claims: &["round-trip-bad-worst", "round-trip-order", "round-trip-outlining"],
    },
];

const CHOICES: [&str; 9] = [
    "Alpha is not the instruction set here. Figures of tables count as printed within 15 %, as for any program that had to be written again.",
    "The text does not say how many cycles memory is away, beyond the b-cache's 10. 50 is assumed, which no claim was used to choose; the 100 MB/s of §5 are \
    56 cycles for a block. What depends on it, which is BAD, and PIN and ALL a little, has an interval that reaches over all from 20 to 130.",
    "Nothing overlaps in the model: each stall is waited for alone. mCPI is the stall cycles of a path that resumes, over its instructions: the caches next \
    to the processor are empty, since other code ran in between, and the b-cache holds what the path left there. Counts of misses are from cold \
    caches, as in table 6.",
    "The text does not say how BAD was made. Ours has every function at the same place of the i-cache, and 28 also at the same place of the b-cache, which is \
    what the machine's 64 MB have room for. With 12, TCP/IP has about as many replacement misses there as the text's 110. Neither number follows from the text, \
    so BAD's values have an interval over both, at every distance of memory. That it is the worst is what it was built for, and is counted as fitted.",
    "The source linked STD by hand so that it does not thrash, changing the order of object files. Here STD, OUT and PIN have our linker's own order, and random \
    ones of all the program's functions, executed or not: what linkers may make of a program whose functions have a section each.",
    "In the source the server of RPC was always ALL, and each TCP/IP host had the build. Here both hosts have the build in both stacks, so what a step saves \
    on the client's side is half of a round trip; relative slowdowns of RPC are twice what they would be for one host.",
    "I of table 8 is the part of saved b-cache accesses that are neither misses of the d-cache nor writes that were not merged. What is fetched ahead \
    counts for the i-cache, as footnote 4 says.",
    "The size of table 9 is that of the main line: of each function that is executed, the instructions up to its last executed block.",
    "Not repeated: the round trip without the changes of §2.2, throughput, DEC Unix, the comparison of micro-positioning with bipartite layouts (§3.2), and \
    whether refreshing messages overlaps with communication.",
];

const GLOSSARY: [(&str, &str); 12] = [
    ("mCPI", "memory cycles per instruction: how many cycles an instruction waits for memory, on average."),
    (
        "iCPI",
        "instruction cycles per instruction: how many cycles it takes if no access to memory has to wait.",
    ),
    ("i-cache, d-cache", "the first caches of a processor, for instructions and for data."),
    ("b-cache", "the backup cache behind both, on the board: 2 MB for instructions and data."),
    (
        "write buffer",
        "holds blocks that were written until the b-cache takes them; a write to a block that it holds is merged.",
    ),
    ("cold miss", "a miss of a block that was never there."),
    ("replacement miss", "a miss of a block that had been there, and that another one displaced."),
    ("outlining", "moving code that is rarely executed, such as error handling, behind what is executed."),
    (
        "cloning",
        "copying the functions of a path to a place of their own, where they lie as the path needs them.",
    ),
    ("path-inlining", "making one function of all functions on a path, across layers."),
    (
        "bipartite layout",
        "functions that a path executes once lie in one part of the i-cache, in the order of execution; those that it calls again and again in the other, \
        where they stay.",
    ),
    (
        "packet classifier",
        "finds out before any protocol is entered whether a packet takes the path that was inlined.",
    ),
];

const CAVEATS: [&str; 3] = [
    "Where a technique places functions (CLO, ALL), the simulated values are exact: one trace, one layout. Where their order is left to the linker (STD, \
    OUT, PIN), a value is the mean over its own order and random ones of all functions, and its interval is the range in which 95 % of them lie, since a user \
    gets one order. Differences are over all pairs of orders. The interval of BAD is over what the text leaves open of it, \
    and that of PIN and ALL also over the distance of memory.",
    "Round trips, if there are any, have 95 % intervals over blocks in which all builds took turns. They are those of this machine, whose caches hold the \
    whole path; sizes of tables 4 and 5 are shown and not judged.",
    "Traces hold what the client executes, from cold caches. In the source, processing times were measured, on a machine that kept some blocks between \
    round trips; its misses were simulated, as ours.",
];

impl Evidence for Measurements {
    fn machine(&self) -> String {
        let round_trips = match self.has_round_trips() {
            true => format!("round trips on {}", self.machine),
            false => "no round trips".to_owned(),
        };
        format!(
            "simulated caches of a DEC 3000/600, memory {} cycles away; {round_trips}",
            self.memory_cycles
        )
    }

    /// All but how fast the source's machine is.
    fn judges(&self, claim: &Claim<Self>) -> bool {
        !claims::OF_ITS_MACHINE.contains(&claim.id)
    }

    fn lead(&self) -> Option<Chart> {
        charts::lead(self)
    }

    fn blocks(&self, figure: &str) -> Vec<Block> {
        charts::blocks(self, figure)
    }

    fn notes(&self) -> Vec<String> {
        CAVEATS.map(str::to_owned).into_iter().chain(self.missing.iter().cloned()).collect()
    }

    fn results(&self) -> Result<Columns, ColumnsError> {
        columns::results(self)
    }
}

#[cfg(test)]
mod tests;
