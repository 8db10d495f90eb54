/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the scheduler and its loader share. */
#ifndef WARMCORE_SCHEDULER_H
#define WARMCORE_SCHEDULER_H

#include "decide.h"

/* Cpu numbers are below it: a power of two. */
#define MAX_CPUS 1024

/* The most waiting tasks that a logged decision lists: a power of two. */
#define MAX_CANDIDATES 32

/*
 * A search in progress. It stands in memory that the verifier does not follow: else it would look at every number of
 * waiting tasks on its own, and give up.
 */
struct search_state {
	struct rq_search search;
	struct rq_task candidate;
	struct rq_key best;
	s32 chosen;
	u32 count;
};

/* What a processor knows and counts. Only it writes here. */
struct cpu_state {
	/* The last task of the queue that ran here, and one that has just yielded. */
	s32 ran_last;
	s32 yielded;
	/* The running task of the queue, for those who wake others: RQ_NONE if there is none. */
	s32 running;
	s32 running_base;
	u64 running_usage;
	/* The last timer interrupt that counted, and the time since when the task runs, in ticks. */
	u64 tick;
	u64 running_since;
	/* How often the queue was searched, the same task went on, a task began to run, and it last ran elsewhere. */
	u64 searches;
	u64 kept;
	u64 dispatches;
	u64 migrations;
	u64 ticks;
	u64 yields;
	u64 preemptions;
	/* How often a found task was taken by another processor meanwhile. */
	u64 lost;
	/* The longest that a task waited in the queue. */
	u64 longest_wait_ns;
	struct search_state state;
} __attribute__((aligned(64)));

/* A search and what it found. */
struct decision {
	struct rq_search search;
	s32 chosen;
	/* How many candidates there were; those beyond MAX_CANDIDATES are not listed. */
	u32 count;
	struct rq_task candidates[MAX_CANDIDATES];
};

#endif
