//! What each figure is about, for a reader who has never seen the source, and what the source
//! says it shows.

use crate::salehi_1994::Figure;

/// The words around a figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Words {
    /// What it shows, as a title.
    pub title: &'static str,
    /// The question it answers, and how to read it.
    pub about: &'static str,
    /// What the source says it shows.
    pub source: &'static str,
    /// What the reader should see in ours.
    pub caption: &'static str,
}

/// The words around `figure`.
#[must_use]
pub const fn words(figure: Figure) -> Words {
    match figure {
        Figure::Table2 => TABLE_2,
        Figure::F4 => FIGURE_4,
        Figure::F7a => FIGURE_7A,
        Figure::F7b => FIGURE_7B,
        Figure::F8a => FIGURE_8A,
        Figure::F8b => FIGURE_8B,
        Figure::F9a => FIGURE_9A,
        Figure::F9b => FIGURE_9B,
        Figure::F10a => FIGURE_10A,
        Figure::F10b => FIGURE_10B,
        Figure::F11a => FIGURE_11A,
        Figure::F11b => FIGURE_11B,
        Figure::F12 => FIGURE_12,
        Figure::F13a => FIGURE_13A,
        Figure::F13b => FIGURE_13B,
        Figure::F14 => FIGURE_14,
        Figure::F15 => FIGURE_15,
        Figure::Hosts => HOSTS,
    }
}

const TABLE_2: Words = Words {
    title: "what one packet costs",
    about: "Each row is an experiment that brings about one state of the caches: whether the packet's \
            session, and the tables that find it, were last written on this processor or on another. The \
            columns tell whether the thread's stack is here, and whether the first cache level holds the \
            protocol. Everything else in this report follows from these times.",
    source: "acquiring locks costs little as long as their cache lines stay; it is their migration that \
             makes Locking slow. A migrating thread stack costs about 20 µs, and a fully cold cache far \
             more than any migration.",
    caption: "",
};

const FIGURE_4: Words = Words {
    title: "how fast other work flushes the caches",
    about: "Whenever a processor does not process packets, it runs other work, and that work displaces \
            the protocol from its caches. The curves show which fraction of each cache level is gone \
            after the other work has run for x. They follow from a published model of how many distinct \
            cache lines a program touches, with the constants of a large multiprogrammed trace.",
    source: "the second level, being 32 times as large, keeps the protocol much longer than the first.",
    caption: "Computed, not simulated: the curves have no intervals.",
};

const FIGURE_7A: Words = Words {
    title: "choice of a processor under Locking",
    about: "One protocol stack, protected by locks, is shared by eight processors. Which idle processor \
            should take the next packet: the one that worked on packets last (MRU), the one for which \
            that is longest ago (LRU), or the one that the packet's stream belongs to (Wired-Streams)? \
            The delay is from a packet's arrival to the end of its processing.",
    source: "MRU is best across most rates, by about a quarter against LRU at low rates, where \
             Wired-Streams lies between them. To the left all curves rise toward fully cold caches (284.3 \
             µs), to the right they rise because packets queue.",
    caption: "The lower, the better. Where a curve ends, its policy no longer keeps up.",
};

const FIGURE_7B: Words = Words {
    title: "pools of threads and free memory under Locking",
    about: "A protocol thread's stack and the lists of free memory are written with every packet. If they \
            are kept per processor, their cache lines stay; if there is one pool for all, they move from \
            processor to processor. The source does not say how processors were chosen in this figure: \
            MRU is shown, LRU can be picked.",
    source: "keeping threads per processor gains 10 to 15%, free memory 5 to 10%.",
    caption: "Four ways to keep the two pools, all else equal.",
};

const FIGURE_8A: Words = Words {
    title: "capacity by choice of a processor under Locking",
    about: "The same as figure 7(a), near the highest rate that each policy keeps up with.",
    source: "Wired-Streams supports about 20% more packets, since a packet takes 103 µs at high load \
             instead of 125 µs: the stream's data need not migrate. MRU and LRU converge.",
    caption: "Vertical lines mark the capacities. Points beyond 90% of a capacity come from shorter runs.",
};

const FIGURE_8B: Words = Words {
    title: "capacity by pools under Locking",
    about: "The same as figure 7(b), near the highest rates.",
    source: "free memory per processor raises the capacity by about 5%; threads do not change it, since \
             at high load a thread rarely leaves its processor.",
    caption: "Vertical lines mark the capacities.",
};

const FIGURE_9A: Words = Words {
    title: "choice of a processor under independent stacks",
    about: "Now there are eight independent stacks without locks inside; each stream belongs to one of \
            them, and a stack works on one packet at a time (IPS). The policies choose the processor on \
            which a stack runs.",
    source: "Wired-Streams is best across most rates. (It also says that all policies keep processors \
             busy while packets wait, which its own sections 3 and 6.4 deny.)",
    caption: "Delays rise to the right much earlier than under Locking: packets wait for their stack \
              although processors are idle.",
};

const FIGURE_9B: Words = Words {
    title: "pools of threads and free memory under independent stacks",
    about: "As figure 7(b), under IPS.",
    source: "the general behaviour is that under Locking.",
    caption: "The gain of free memory grows toward high rates, where its pool limits the capacity.",
};

const FIGURE_10A: Words = Words {
    title: "capacity by choice of a processor under independent stacks",
    about: "As figure 8(a), under IPS.",
    source: "the policies cannot be told apart: at high load stacks stay where they are, and a packet \
             takes 57.4 µs.",
    caption: "One vertical line: the capacities are equal.",
};

const FIGURE_10B: Words = Words {
    title: "capacity by pools under independent stacks",
    about: "As figure 8(b), under IPS.",
    source: "free memory per processor raises the capacity by 15%, more than under Locking, since packets \
             take less time otherwise.",
    caption: "Vertical lines mark the capacities.",
};

const FIGURE_11A: Words = Words {
    title: "end-to-end latency under Locking",
    about: "A client waits for more than the server's protocol processing: its own processing, the \
            network, the server's answer. Let all of that take V times the best receive time (57.4 µs in \
            the source). The curves show by how much affinity scheduling shortens the whole. The source \
            does not say what it compared; we take the better of MRU and Wired-Streams with pools per \
            processor, against LRU with global pools.",
    source: "the reduction is significant even where the rest takes long; the V = 0 curve, an upper \
             bound, lies around 40 to 50%.",
    caption: "The higher, the more affinity scheduling gains.",
};

const FIGURE_11B: Words = Words {
    title: "end-to-end latency under independent stacks",
    about: "As figure 11(a), under IPS.",
    source: "the reduction is greater than under Locking. Checksumming the largest packets in software \
             takes 139 µs, V = 2.4, and leaves it significant.",
    caption: "The higher, the more affinity scheduling gains.",
};

const FIGURE_12: Words = Words {
    title: "Locking against independent stacks",
    about: "Both ways to make the stack parallel, each under MRU and Wired-Streams, with all pools per \
            processor.",
    source: "delay is about 50% lower under IPS, and its capacity 79% (Wired-Streams) to 118% (MRU) higher.",
    caption: "Colours are policies, dashes are approaches.",
};

const FIGURE_13A: Words = Words {
    title: "batches of equal size",
    about: "Packets arrive b at a time, all of one stream, as the fragments of a large message do. The \
            rate counts packets. Under IPS they queue at their stack; under Locking other processors can \
            help.",
    source: "Locking has lower delay for all b; IPS keeps up with much higher rates.",
    caption: "Colours are batch sizes, dashes are approaches; both under MRU.",
};

const FIGURE_13B: Words = Words {
    title: "batches of geometric size",
    about: "As figure 13(a), but the number of packets in a batch varies geometrically around b.",
    source: "the variation makes IPS worse still.",
    caption: "Colours are batch sizes, dashes are approaches; both under MRU.",
};

const FIGURE_14: Words = Words {
    title: "the Hybrid",
    about: "Where the packets of a stream do not depend on each other, any stack may process any packet \
            (\"multiple-open\" streams): each processor has its own stack, and all packets wait in one \
            queue. The source does not say in which order they are taken from it. Both rules are shown: \
            first come first served, and same stream first, where a processor prefers packets of the \
            stream it has just worked on.",
    source: "the Hybrid's capacity is close to that of IPS, and it takes bursts as well as Locking.",
    caption: "Colours are the ways to run packets, dashes the mean batch sizes (geometric); all under MRU.",
};

const FIGURE_15: Words = Words {
    title: "one stream on more processors",
    about: "How many packets per second of a single stream can the host process, as it gets more processors?",
    source: "under the Hybrid each processor adds one packet per 57.4 µs, under Locking one per 105.1 µs, \
             and under IPS with single-open streams nothing. Locking outperforms IPS with more than two \
             processors.",
    caption: "Every point is simulated under overload.",
};

const HOSTS: Words = Words {
    title: "capacity on 2 to 32 processors",
    about: "The source gives all results for eight processors, and says in section 6 that others showed \
            similar trends. It has no figure of them; this one shows the capacities of the settings of \
            figure 12 on hosts with as many streams as processors.",
    source: "results for 2 to 32 processors show similar trends.",
    caption: "Both axes are logarithmic: a capacity that grows with the processors is a straight line.",
};
