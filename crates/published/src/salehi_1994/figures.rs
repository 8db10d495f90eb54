//! The figures in words, for a reader who has never seen Salehi 1994: what each is about, and what the paper
//! says it shows.

use crate::PublishedFigure;

/// The figures, in the order of the paper.
pub const FIGURES: [PublishedFigure; 18] = [
    TABLE_2, FIGURE_4, FIGURE_7A, FIGURE_7B, FIGURE_8A, FIGURE_8B, FIGURE_9A, FIGURE_9B, FIGURE_10A,
    FIGURE_10B, FIGURE_11A, FIGURE_11B, FIGURE_12, FIGURE_13A, FIGURE_13B, FIGURE_14, FIGURE_15, HOSTS,
];

const TABLE_2: PublishedFigure = PublishedFigure {
    name: "table-2",
    label: "Table 2",
    title: "what one packet costs",
    about: "Each row is an experiment that brings the caches into one state: whether the packet's session, and \
    the tables that find it, were last written on this processor or on another. The columns say \
    whether the thread's stack is here, and whether the first cache level holds the protocol. \
    Everything else in this report follows from these times.",
    states: "acquiring locks costs little as long as their cache lines stay; it is their migration that \
             makes Locking slow. A migrating thread stack costs about 20 µs, and a fully cold cache far \
             more than any migration.",
};

const FIGURE_4: PublishedFigure = PublishedFigure {
    name: "4",
    label: "figure 4",
    title: "how fast other work flushes the caches",
    about: "When a processor is not processing packets it runs other work, and that work displaces the \
    protocol from its caches. The curves show which fraction of each cache level has been displaced \
    after the other work has run for x. They follow from a published model of how many distinct \
    cache lines a program touches, with the constants of a large multiprogrammed trace.",
    states: "the second level, being 32 times as large, keeps the protocol much longer than the first.",
};

const FIGURE_7A: PublishedFigure = PublishedFigure {
    name: "7a",
    label: "figure 7(a)",
    title: "choice of a processor under Locking",
    about: "One protocol stack, protected by locks, is shared by eight processors. Which idle processor \
    should take the next packet: the one that worked on packets last (MRU), the one that did so \
    longest ago (LRU), or the one that the packet's stream belongs to (Wired-Streams)? \
    The delay is from a packet's arrival to the end of its processing.",
    states: "MRU is best across most rates, by about a quarter against LRU at low rates, where \
    Wired-Streams lies between them. To the left all curves rise toward fully cold caches (284.3 \
    µs); to the right they rise because packets queue.",
};

const FIGURE_7B: PublishedFigure = PublishedFigure {
    name: "7b",
    label: "figure 7(b)",
    title: "pools of threads and free memory under Locking",
    about: "A protocol thread's stack and the lists of free memory are written with every packet. If they \
            are kept per processor, their cache lines stay; if there is one pool for all, they move from \
            processor to processor. Salehi 1994 does not say how processors were chosen in this figure: \
            MRU is shown, LRU can be picked.",
    states: "keeping threads per processor gains 10 to 15%, free memory 5 to 10%.",
};

const FIGURE_8A: PublishedFigure = PublishedFigure {
    name: "8a",
    label: "figure 8(a)",
    title: "capacity by choice of a processor under Locking",
    about: "The same as figure 7(a), near the highest rate that each policy keeps up with.",
    states: "Wired-Streams supports about 20% more packets, since a packet takes 103 µs at high load \
             instead of 125 µs: the stream's data need not migrate. MRU and LRU converge.",
};

const FIGURE_8B: PublishedFigure = PublishedFigure {
    name: "8b",
    label: "figure 8(b)",
    title: "capacity by pools under Locking",
    about: "The same as figure 7(b), near the highest rates.",
    states: "free memory per processor raises the capacity by about 5%; threads do not change it, since \
             at high load a thread rarely leaves its processor.",
};

const FIGURE_9A: PublishedFigure = PublishedFigure {
    name: "9a",
    label: "figure 9(a)",
    title: "choice of a processor under independent stacks",
    about: "Now there are eight independent stacks without locks inside; each stream belongs to one of \
            them, and a stack works on one packet at a time (IPS). The policies choose the processor on \
            which a stack runs.",
    states: "Wired-Streams is best across most rates. (Salehi 1994 also says here that all policies keep processors \
    busy while packets wait, which its own sections 3 and 6.4 deny.)",
};

const FIGURE_9B: PublishedFigure = PublishedFigure {
    name: "9b",
    label: "figure 9(b)",
    title: "pools of threads and free memory under independent stacks",
    about: "As figure 7(b), under IPS.",
    states: "the general behaviour is that under Locking.",
};

const FIGURE_10A: PublishedFigure = PublishedFigure {
    name: "10a",
    label: "figure 10(a)",
    title: "capacity by choice of a processor under independent stacks",
    about: "As figure 8(a), under IPS.",
    states: "the policies cannot be told apart: at high load stacks stay where they are, and a packet \
             takes 57.4 µs.",
};

const FIGURE_10B: PublishedFigure = PublishedFigure {
    name: "10b",
    label: "figure 10(b)",
    title: "capacity by pools under independent stacks",
    about: "As figure 8(b), under IPS.",
    states: "free memory per processor raises the capacity by 15%, more than under Locking, since packets \
             take less time otherwise.",
};

const FIGURE_11A: PublishedFigure = PublishedFigure {
    name: "11a",
    label: "figure 11(a)",
    title: "end-to-end latency under Locking",
    about: "A client waits for more than the server's protocol processing: its own processing, the \
    network, the server's answer. Let all of that take V times the best receive time (57.4 µs in \
    Salehi 1994). The curves show by how much affinity scheduling shortens the whole. Salehi 1994 \
    does not say what it compared. Compared here are the better of MRU and Wired-Streams with pools per \
    processor, and LRU with global pools.",
    states: "the reduction is significant even where the rest takes long; the V = 0 curve, an upper \
             bound, lies around 40 to 50%.",
};

const FIGURE_11B: PublishedFigure = PublishedFigure {
    name: "11b",
    label: "figure 11(b)",
    title: "end-to-end latency under independent stacks",
    about: "As figure 11(a), under IPS.",
    states: "the reduction is greater than under Locking. Checksumming the largest packets in software \
             takes 139 µs, V = 2.4, and leaves it significant.",
};

const FIGURE_12: PublishedFigure = PublishedFigure {
    name: "12",
    label: "figure 12",
    title: "Locking against independent stacks",
    about: "Both ways to make the stack parallel, each under MRU and Wired-Streams, with all pools per \
            processor.",
    states: "delay is about 50% lower under IPS, and its capacity 79% (Wired-Streams) to 118% (MRU) higher.",
};

const FIGURE_13A: PublishedFigure = PublishedFigure {
    name: "13a",
    label: "figure 13(a)",
    title: "batches of equal size",
    about: "Packets arrive b at a time, all of one stream, as the fragments of a large message do. The \
            rate counts packets. Under IPS they queue at their stack; under Locking other processors can \
            help.",
    states: "Locking has lower delay for all b; IPS keeps up with much higher rates.",
};

const FIGURE_13B: PublishedFigure = PublishedFigure {
    name: "13b",
    label: "figure 13(b)",
    title: "batches of geometric size",
    about: "As figure 13(a), but the number of packets in a batch varies geometrically around b.",
    states: "the variation makes IPS worse still.",
};

const FIGURE_14: PublishedFigure = PublishedFigure {
    name: "14",
    label: "figure 14",
    title: "the Hybrid",
    about: "Where the packets of a stream do not depend on each other, any stack may process any packet \
            (\"multiple-open\" streams): each processor has its own stack, and all packets wait in one \
            queue. Salehi 1994 does not say in which order they are taken from it. Both rules are shown: \
            first come first served, and same stream first, where a processor prefers packets of the \
            stream it has just worked on.",
    states: "the Hybrid's capacity is close to that of IPS, and it takes bursts as well as Locking.",
};

const FIGURE_15: PublishedFigure = PublishedFigure {
    name: "15",
    label: "figure 15",
    title: "one stream on more processors",
    about: "How many packets per second of a single stream can the host process, as it gets more processors?",
    states: "under the Hybrid each processor adds one packet per 57.4 µs, under Locking one per 105.1 µs, \
             and under IPS with single-open streams nothing. Locking outperforms IPS with more than two \
             processors.",
};

const HOSTS: PublishedFigure = PublishedFigure {
    name: "hosts",
    label: "other hosts",
    title: "capacity on 2 to 32 processors",
    about: "Salehi 1994 gives all results for eight processors, and says in section 6 that other numbers showed \
    similar trends. It has no figure of them. This one shows the capacities of the settings of \
    figure 12 on hosts with as many streams as processors.",
    states: "results for 2 to 32 processors show similar trends.",
};
