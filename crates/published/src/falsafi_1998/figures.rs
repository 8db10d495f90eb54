//! The tables and figures in words, for a reader who has never seen the thesis.

use crate::PublishedFigure;

/// All of them, in the order of the thesis.
#[must_use]
pub fn figures() -> Vec<PublishedFigure> {
    [&CHAPTER_4[..], &CHAPTER_5[..]].concat()
}

const CHAPTER_4: [PublishedFigure; 9] = [
    PublishedFigure::new(
        "4-2",
        "figure 4-2",
        "the cost of interrupts, on small nodes",
        "Two nodes send each other requests, and compute between them. One processor does both the computing and the protocol \
         (Single), or two share both (Floating), or one of two does the protocol alone (Fixed). The curves are execution times over \
         those of Fixed, against the part of the time that a thread would compute if the protocol were never contended. A \
         null handler only answers; fetch-block moves 128 bytes.",
        "dedicating a processor helps light protocols, programs that communicate much, and machines with slow interrupts.",
    ),
    PublishedFigure::new(
        "4-3",
        "figure 4-3",
        "more processors per node, microbenchmarks",
        "The same on nodes of two to six processors, with interrupts of 0.5 µs: time under Floating over time under Fixed on as many.",
        "Fixed is faster with three or more processors, by up to 75 % for the null handler and at most 20 % for fetch-block.",
    ),
    PublishedFigure::new(
        "4-4",
        "figure 4-4",
        "cost over performance, microbenchmarks",
        "A processor costs 30 % of a node with one. A system is cost-effective if its speedup over such a node exceeds the rise in \
         cost, and most cost-effective where the quotient is lowest.",
        "for the null handler Fixed is always the most cost-effective; for fetch-block it depends on how much is computed.",
    ),
    PublishedFigure::new(
        "table-4-1",
        "Table 4.1",
        "programs and inputs of chapter 4",
        "The programs were written again from published descriptions of their algorithms. Each computes real results, which are \
         checked at the end of every run.",
        "",
    ),
    PublishedFigure::new(
        "4-5",
        "figure 4-5",
        "programs under Fixed and Floating",
        "Sixteen nodes share memory in blocks of 128 bytes, by the directory protocol Stache in software. Speedup over nodes of one \
         processor.",
        "Floating is better with two or three processors per node, Fixed with four or more.",
    ),
    PublishedFigure::new(
        "table-4-2",
        "Table 4.2",
        "sensitivity to the interrupt overhead",
        "Execution times of nodes with one processor (Single) and with two under Floating, over those of two under Fixed.",
        "slow interrupts ruin Single, and cost Floating at most 45 %.",
    ),
    PublishedFigure::new(
        "4-6",
        "figure 4-6",
        "greater and smaller blocks",
        "Figure 4-5 with blocks of 64 and 256 bytes. A greater block makes the protocol heavier, since most of its time goes into \
         moving data.",
        "Floating gains on Fixed with heavier protocols, unless false sharing makes for more messages.",
    ),
    PublishedFigure::new(
        "4-7",
        "figure 4-7",
        "smaller caches",
        "Figure 4-5 with caches of 16 and 128 KB. Under Floating the protocol's data displace those of the program; but programs \
         whose data do not fit spend their time elsewhere than in the protocol.",
        "smaller caches favour Floating: Fixed pays off from five processors per node instead of four.",
    ),
    PublishedFigure::new(
        "4-8",
        "figure 4-8",
        "cost over performance, programs",
        "As figure 4-4, for a program that communicates moderately and one that hardly does, with fast and with slow interrupts.",
        "Floating is the most cost-effective, unless interrupts are slow and the program communicates.",
    ),
];

const CHAPTER_5: [PublishedFigure; 14] = [
    PublishedFigure::new(
        "table-5-1-rows",
        "Table 5.1",
        "steps of a remote read",
        "What each step of a remote read takes, if nothing is in its way: in hardware (S-COMA), in software on an embedded processor \
         (Hurricane), and in software on a processor of the SMP (Hurricane-1). The simulator has these numbers from the table.",
        "software multiplies the occupancies for requests and responses; replies, which wait for memory anyway, suffer less.",
    ),
    PublishedFigure::new(
        "table-5-1",
        "Table 5.1",
        "a remote read as a whole",
        "The round trip of a remote read through the simulated machine: processor, caches, bus, tags, device, network.",
        "440, 584 and 1164 cycles.",
    ),
    PublishedFigure::new(
        "5-5",
        "figure 5-5",
        "bandwidth of a device",
        "How many bytes per second a node's device can reply with to many requesting nodes, and how many the requests of its own \
         processors can bring, with one, two and four protocol processors. Several protocol processors share the protocol's data, which \
         then migrate between their caches.",
        "parallel protocol execution lets software reach and exceed the hardware's reply bandwidth, but not its request bandwidth.",
    ),
    PublishedFigure::new(
        "5-6",
        "figure 5-6",
        "bandwidth with other blocks",
        "The same with blocks of 32 and 128 bytes.",
        "greater blocks favour software, and parallel software most.",
    ),
    PublishedFigure::new(
        "5-7",
        "figure 5-7",
        "bandwidth with slower protocol processors",
        "The same for Hurricane with protocol processors of 200 and 400 MHz.",
        "more processors matter more than faster ones for replies, and the reverse for requests.",
    ),
    PublishedFigure::new(
        "table-5-2",
        "Table 5.2",
        "programs and inputs of chapter 5",
        "The programs were written again from published descriptions of their algorithms. Each computes real results, which are \
         checked at the end of every run.",
        "",
    ),
    PublishedFigure::new(
        "table-5-3",
        "Table 5.3",
        "uniprocessor times and speedups",
        "How long each program takes on one processor, and how much faster it is on 64 with S-COMA. The first was used to set how \
         many cycles our programs compute between references.",
        "water-sp speeds up almost linearly, the programs that communicate most hardly.",
    ),
    PublishedFigure::new(
        "5-8",
        "figure 5-8",
        "performance of all systems",
        "Eight nodes of eight processors, blocks of 64 bytes: speedups over those of S-COMA. Hurricane-1's dedicated processors are in \
         addition to the eight; Hurricane-1 Mult has none.",
        "four embedded processors equal hardware; Hurricane-1 Mult reaches three quarters of it without any extra processor.",
    ),
    PublishedFigure::new(
        "5-9",
        "figure 5-9",
        "smaller and greater nodes, Hurricane",
        "The same 64 processors as 16 nodes of 4 and as 4 nodes of 16.",
        "greater nodes demand more of each device, and parallel protocol execution gains.",
    ),
    PublishedFigure::new(
        "5-10",
        "figure 5-10",
        "smaller and greater nodes, Hurricane-1",
        "The same for Hurricane-1.",
        "on greater nodes more processors are idle at a time, and Mult comes closer to hardware.",
    ),
    PublishedFigure::new(
        "5-11",
        "figure 5-11",
        "smaller and greater blocks, Hurricane",
        "Figure 5-8 with blocks of 32 and 128 bytes.",
        "greater blocks bring software closer to hardware, except where they are falsely shared.",
    ),
    PublishedFigure::new(
        "5-12",
        "figure 5-12",
        "smaller and greater blocks, Hurricane-1",
        "The same for Hurricane-1.",
        "it gains more by greater blocks than Hurricane.",
    ),
    PublishedFigure::new(
        "5-13",
        "figure 5-13",
        "slower protocol processors",
        "Figure 5-8 for Hurricane with protocol processors of 200 and 400 MHz.",
        "where many events are under way, more processors help more than faster ones.",
    ),
    PublishedFigure::new(
        "scatter",
        "scatter",
        "what a cycle of latency changes",
        "Every program with a network latency of 99, 100 and 101 cycles, on 16 nodes of one or two processors with blocks of 128 bytes \
         (chapter 4) and on 8 nodes of 8 with blocks of 64 (chapter 5). A cycle changes who comes first, and so where a program's values \
         lie by accident. A claim that less than this decides is undecided.",
        "",
    ),
];
