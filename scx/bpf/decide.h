/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The decisions of `warmcore_policy::runqueue`, in C: what a tick, a decay and a search make of a task's state.
 * Torrellas, Tucker & Gupta 1995, sections 4 and 5. Plain integers, no loops without a bound: the kernel's verifier
 * accepts it, and a test compiles it natively and holds it to the decisions in Rust.
 */
#ifndef WARMCORE_DECIDE_H
#define WARMCORE_DECIDE_H

#ifndef __bpf__
#include <stdint.h>
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
#endif

/* No processor, and no task. */
#define RQ_NONE (-1)

/*
 * The most decays between two looks at a task, and so the greatest cap: a fraction below 1 of whole ticks, rounded
 * down, is less by at least one tick.
 */
#define RQ_CAP 255

enum rq_form { RQ_SIMPLE, RQ_COMPLEX };

struct rq_parameters {
	u64 tick_ns;
	u64 quantum_ns;
	/* In ticks. */
	u64 decay_period;
	u32 decay_numerator;
	u32 decay_denominator;
	u32 a_p;
	u32 a_t;
	/* enum rq_form */
	u32 form;
	u32 cap;
	u32 exclude_yielder;
	/* Whether tasks are attached to processors in turn (section 5.2). */
	u32 attach;
};

/* What a search knows of a task. */
struct rq_task {
	s32 base;
	/* Accumulated CPU time in ticks. */
	u32 cpu;
	s32 last_cpu;
	/* The only processor it may run on, or RQ_NONE. */
	s32 attached;
	/* When it stopped running on `last_cpu`, in ticks. */
	u64 last_ran;
	/* Grows with every enqueueing. */
	u64 queued;
	s32 id;
	u32 unused;
};

/* Who searches the queue. */
struct rq_search {
	u64 now;
	s32 cpu;
	s32 ran_last;
	s32 yielded;
	u32 unused;
};

/* What a search compares, in this order; less is better. */
struct rq_key {
	s64 prio;
	u64 queued;
	u32 yielded;
	u32 allowed;
};

/* A timer interrupt while the task runs. */
static inline u32 rq_tick(u32 cpu, u32 cap)
{
	return cpu < cap ? cpu + 1 : cpu;
}

/* One periodic decay: the fraction is at most 1. */
static inline u32 rq_decay(u32 cpu, u32 numerator, u32 denominator)
{
	return (u64)cpu * numerator / denominator;
}

/* Section 4: a lower value runs first. */
static inline s64 rq_priority(s32 base, u32 cpu)
{
	return (s64)base + cpu / 2;
}

/* What the search takes off the priority: a_p and a_t of section 4, or the variable a_t of section 5.4. */
static inline u32 rq_boost(const struct rq_parameters *parameters, const struct rq_task *task,
			   const struct rq_search *search)
{
	u64 elapsed;

	if (task->last_cpu != search->cpu)
		return 0;
	if (parameters->form == RQ_SIMPLE)
		return parameters->a_p + (task->id == search->ran_last ? parameters->a_t : 0);
	elapsed = search->now > task->last_ran ? search->now - task->last_ran : 0;
	return parameters->a_p + (elapsed < parameters->a_t ? parameters->a_t - (u32)elapsed : 0);
}

static inline struct rq_key rq_key(const struct rq_parameters *parameters, const struct rq_task *task,
				   const struct rq_search *search)
{
	struct rq_key key = {
		.prio = rq_priority(task->base, task->cpu) - rq_boost(parameters, task, search),
		.queued = task->queued,
		.yielded = task->id == search->yielded,
		.allowed = task->attached == RQ_NONE || task->attached == search->cpu,
	};
	return key;
}

/* Whether the search prefers `a` to `b`. A key that is not allowed loses to every other. */
static inline int rq_better(const struct rq_key *a, const struct rq_key *b)
{
	if (a->allowed != b->allowed)
		return a->allowed > b->allowed;
	if (a->yielded != b->yielded)
		return a->yielded < b->yielded;
	if (a->prio != b->prio)
		return a->prio < b->prio;
	return a->queued < b->queued;
}

#endif
