// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A time-sharing scheduler with cache affinity for sched_ext: Torrellas, Tucker & Gupta 1995, sections 4 and 5. All
 * runnable tasks wait in one queue; a processor that has nothing to run, or whose task has used up its quantum, searches
 * it. decide.h decides, and this file tells it what happens.
 *
 * Kernel threads bound to one processor are outside of this: they run there before anything in the queue.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "kfuncs.h"
#include "scheduler.h"

char _license[] SEC("license") = "Dual MIT/GPL";

/* The queue. Its tasks stand in the order in which they were enqueued. */
#define QUEUE 0

/* How often a search is repeated whose task was taken by another processor. */
#define TRIES 4

/* Shows the verifier that an index is below a power of two. In C the compiler could check one copy and use another. */
#define MASK(index, bound) asm volatile("%0 &= %1" : "+w"(index) : "i"((bound) - 1))

const volatile struct rq_parameters parameters = {};
/* Whether decisions go to `decisions`. */
const volatile bool logs = false;

struct cpu_state cpus[MAX_CPUS];
/* Decisions that found no room in `decisions`. */
u64 unlogged;
/* Why the kernel unloaded the scheduler: empty until then. */
char exit_reason[128];
char exit_message[256];
/* The processor to which the next task is attached. */
static u32 next_attached;

struct task {
	/* CPU time in the lower half, and the number of decays that it has seen in the upper. */
	u64 usage;
	u64 last_ran;
	s32 last_cpu;
	s32 attached;
	/* When it was enqueued, while it waits. */
	u64 waits_since_ns;
	/* Whether a processor was woken for it. */
	bool has_cpu;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} decisions SEC(".maps");

static struct task *task_of(struct task_struct *p)
{
	return bpf_task_storage_get(&tasks, p, NULL, 0);
}

/* The loader has checked that cpu numbers are below MAX_CPUS; the verifier is shown it. */
static struct cpu_state *cpu_of(s32 cpu)
{
	u32 index = cpu;

	MASK(index, MAX_CPUS);
	return &cpus[index];
}

static u64 now_in_ticks(void)
{
	return bpf_ktime_get_ns() / parameters.tick_ns;
}

/* `usage` after the decays up to `now`. Called by its number of arguments only, so the verifier looks at it once. */
__noinline u64 usage_at(u64 usage, u64 now)
{
	u32 cpu = usage, seen = usage >> 32, due = now / parameters.decay_period;

	for (int i = 0; i <= RQ_CAP && seen + i != due && cpu; i++)
		cpu = rq_decay(cpu, parameters.decay_numerator, parameters.decay_denominator);
	return (u64)due << 32 | cpu;
}

/* Threads of the kernel that are bound to a processor do not take part. */
static bool takes_part(const struct task_struct *p)
{
	return !((p->flags & PF_KTHREAD) && p->nr_cpus_allowed == 1);
}

static bool may_run_on(const struct task_struct *p, s32 cpu)
{
	if (p->migration_disabled && scx_bpf_task_cpu(p) != cpu)
		return false;
	return bpf_cpumask_test_cpu(cpu, p->cpus_ptr);
}

/* Compares the candidate of `cpu` with the best so far. */
__noinline int compare(u32 cpu)
{
	struct rq_parameters constants = parameters;
	struct search_state *state = &cpu_of(cpu)->state;
	struct rq_key key = rq_key(&constants, &state->candidate, &state->search);

	if (!key.allowed)
		return 0;
	if (state->chosen == RQ_NONE || rq_better(&key, &state->best)) {
		state->best = key;
		state->chosen = state->candidate.id;
	}
	state->count++;
	return 1;
}

/* Takes a task into account; `task` belongs to `p`, and `last_cpu` and `last_ran` are as the search should see them. */
static void consider(struct cpu_state *here, struct task_struct *p, const struct task *task, s32 last_cpu,
		     u64 last_ran, struct decision *log)
{
	struct search_state *state = &here->state;
	u32 index = state->count;

	state->candidate.base = 0;
	state->candidate.cpu = usage_at(task->usage, state->search.now);
	state->candidate.last_cpu = last_cpu;
	state->candidate.attached = task->attached;
	state->candidate.last_ran = last_ran;
	state->candidate.queued = index;
	state->candidate.id = p->pid;
	if (!compare(state->search.cpu) || !log || index >= MAX_CANDIDATES)
		return;
	MASK(index, MAX_CANDIDATES);
	log->candidates[index] = state->candidate;
}

/* Searches the queue, and `prev` besides, for who runs next on `here`; RQ_NONE if there is none. */
static s32 search_queue(struct cpu_state *here, struct task_struct *prev, struct decision *log)
{
	struct search_state *state = &here->state;
	struct task_struct *p;
	struct task *task;

	state->chosen = RQ_NONE;
	state->count = 0;
	bpf_for_each(scx_dsq, p, QUEUE, 0) {
		task = task_of(p);
		if (task && may_run_on(p, state->search.cpu))
			consider(here, p, task, task->last_cpu, task->last_ran, log);
	}
	/* Who has just run stands behind all others. */
	task = prev ? task_of(prev) : NULL;
	if (task)
		consider(here, prev, task, state->search.cpu, state->search.now, log);
	if (log) {
		log->search = state->search;
		log->chosen = state->chosen;
		log->count = state->count;
	}
	return state->chosen;
}

/* Takes the task `pid` out of the queue, to run here; false if it is no longer there. */
static bool take(s32 pid)
{
	struct task_struct *p;

	bpf_for_each(scx_dsq, p, QUEUE, 0) {
		if (p->pid == pid)
			return scx_bpf_dsq_move(BPF_FOR_EACH_ITER, p, VALUE(scx_dsq_id_flags, SCX_DSQ_LOCAL), 0);
	}
	return false;
}

SEC("struct_ops/dispatch")
void BPF_PROG(warmcore_dispatch, s32 cpu, struct task_struct *prev)
{
	struct cpu_state *here = cpu_of(cpu);
	struct rq_search *search = &here->state.search;
	struct decision *log = NULL;
	s32 chosen, last;

	if (prev && !((prev->scx.flags & VALUE(scx_ent_flags, SCX_TASK_QUEUED)) && takes_part(prev)))
		prev = NULL;
	search->cpu = cpu;
	search->now = now_in_ticks();
	last = here->ran_last;
	/* One instruction may not load from two kinds of memory. */
	barrier_var(last);
	search->ran_last = prev ? prev->pid : last;
	search->yielded = here->yielded;
	here->yielded = RQ_NONE;

	for (int i = 0; i < TRIES; i++) {
		if (logs)
			log = bpf_ringbuf_reserve(&decisions, sizeof(*log), 0);
		if (logs && !log)
			__sync_fetch_and_add(&unlogged, 1);
		chosen = search_queue(here, prev, log);
		if (log)
			bpf_ringbuf_submit(log, 0);
		here->searches++;
		if (chosen == RQ_NONE)
			return;
		if (prev && chosen == prev->pid) {
			here->kept++;
			set_slice(prev, parameters.quantum_ns);
			return;
		}
		if (take(chosen))
			return;
		here->lost++;
	}
}

/* A processor that may run the task and is idle; it counts as busy from now on. RQ_NONE if there is none. */
static s32 idle_cpu_for(struct task_struct *p, const struct task *task)
{
	s32 attached = task->attached, last = task->last_cpu, cpu;

	if (attached != RQ_NONE)
		return scx_bpf_test_and_clear_cpu_idle(attached) ? attached : RQ_NONE;
	/* All idle processors search the queue: with affinity the one wins where the task ran last. */
	if (parameters.a_p && last != RQ_NONE && may_run_on(p, last) && scx_bpf_test_and_clear_cpu_idle(last))
		return last;
	cpu = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
	return cpu < 0 ? RQ_NONE : cpu;
}

SEC("struct_ops/select_cpu")
s32 BPF_PROG(warmcore_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	struct task *task = task_of(p);
	s32 cpu;

	if (!task || !takes_part(p))
		return prev_cpu;
	cpu = idle_cpu_for(p, task);
	task->has_cpu = cpu != RQ_NONE;
	if (cpu != RQ_NONE)
		return cpu;
	return task->attached != RQ_NONE ? task->attached : prev_cpu;
}

/* Section 5.3: a task that wakes up takes the processor where it was woken, if its priority is better. */
static void preempt(struct task_struct *p, const struct task *task, u64 usage)
{
	s32 cpu = task->attached != RQ_NONE ? task->attached : bpf_get_smp_processor_id();
	struct cpu_state *there = cpu_of(cpu);
	u64 now = now_in_ticks();

	if (there->running == RQ_NONE || !may_run_on(p, cpu))
		return;
	if (rq_priority(0, usage_at(usage, now)) <
	    rq_priority(there->running_base, usage_at(there->running_usage, now))) {
		__sync_fetch_and_add(&there->preemptions, 1);
		scx_bpf_kick_cpu(cpu, VALUE(scx_kick_flags, SCX_KICK_PREEMPT));
	}
}

SEC("struct_ops/enqueue")
void BPF_PROG(warmcore_enqueue, struct task_struct *p, u64 enq_flags)
{
	struct task *task = task_of(p);
	bool has_cpu;
	u64 usage;
	s32 cpu;

	if (!task || !takes_part(p)) {
		insert(p, VALUE(scx_dsq_id_flags, SCX_DSQ_LOCAL), parameters.quantum_ns,
		       enq_flags | VALUE(scx_enq_flags, SCX_ENQ_PREEMPT));
		return;
	}
	has_cpu = task->has_cpu;
	usage = task->usage;
	task->has_cpu = false;
	task->waits_since_ns = bpf_ktime_get_ns();
	insert(p, QUEUE, parameters.quantum_ns, enq_flags);
	if (has_cpu)
		return;
	cpu = idle_cpu_for(p, task);
	if (cpu != RQ_NONE)
		scx_bpf_kick_cpu(cpu, VALUE(scx_kick_flags, SCX_KICK_IDLE));
	else if (enq_flags & VALUE(scx_enq_flags, SCX_ENQ_WAKEUP))
		preempt(p, task, usage);
}

SEC("struct_ops/running")
void BPF_PROG(warmcore_running, struct task_struct *p)
{
	s32 cpu = scx_bpf_task_cpu(p);
	struct cpu_state *here = cpu_of(cpu);
	struct task *task = task_of(p);
	u64 now_ns = bpf_ktime_get_ns();
	u64 since;

	if (!task || !takes_part(p))
		return;
	since = task->waits_since_ns;
	if (since && now_ns > since && now_ns - since > here->longest_wait_ns)
		here->longest_wait_ns = now_ns - since;
	task->waits_since_ns = 0;
	here->dispatches++;
	if (task->last_cpu != RQ_NONE && task->last_cpu != cpu)
		here->migrations++;
	here->running_base = 0;
	here->running_usage = task->usage;
	here->running_since = now_ns / parameters.tick_ns;
	here->running = p->pid;
}

SEC("struct_ops/tick")
void BPF_PROG(warmcore_tick, struct task_struct *p)
{
	struct cpu_state *here = cpu_of(scx_bpf_task_cpu(p));
	struct task *task = task_of(p);
	u64 now = now_in_ticks(), seen, usage;
	u32 cpu;

	if (!task || !takes_part(p) || now == here->tick)
		return;
	/* The kernel's own tick may be longer or shorter than ours; ours does not count while another task ran. */
	seen = here->tick + 1 < here->running_since ? here->running_since : here->tick + 1;
	here->tick = now;
	usage = usage_at(task->usage, now);
	cpu = usage;
	for (int i = 0; i <= RQ_CAP && seen + i <= now; i++) {
		cpu = rq_tick(cpu, parameters.cap);
		here->ticks++;
	}
	task->usage = usage >> 32 << 32 | cpu;
	here->running_usage = task->usage;
}

SEC("struct_ops/stopping")
void BPF_PROG(warmcore_stopping, struct task_struct *p, bool runnable)
{
	s32 cpu = scx_bpf_task_cpu(p);
	struct cpu_state *here = cpu_of(cpu);
	struct task *task = task_of(p);

	if (!task || !takes_part(p))
		return;
	task->last_cpu = cpu;
	task->last_ran = now_in_ticks();
	here->ran_last = p->pid;
	here->running = RQ_NONE;
}

SEC("struct_ops/yield")
bool BPF_PROG(warmcore_yield, struct task_struct *from, struct task_struct *to)
{
	struct cpu_state *here = cpu_of(scx_bpf_task_cpu(from));

	if (to)
		return false;
	if (takes_part(from)) {
		here->yields++;
		if (parameters.exclude_yielder)
			here->yielded = from->pid;
	}
	set_slice(from, 0);
	return false;
}

SEC("struct_ops/init_task")
s32 BPF_PROG(warmcore_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	struct task *task = bpf_task_storage_get(&tasks, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	u32 count = scx_bpf_nr_cpu_ids();
	s32 cpu;

	if (!task)
		return -12; /* ENOMEM */
	task->usage = now_in_ticks() / parameters.decay_period << 32;
	task->last_cpu = RQ_NONE;
	task->attached = RQ_NONE;
	/* Who has processors of its own keeps them, and so do the kernel's threads. */
	if (parameters.attach && !(p->flags & PF_KTHREAD) && count) {
		cpu = __sync_fetch_and_add(&next_attached, 1) % count;
		if (bpf_cpumask_test_cpu(cpu, p->cpus_ptr))
			task->attached = cpu;
	}
	return 0;
}

SEC("struct_ops.s/init")
s32 BPF_PROG(warmcore_init)
{
	for (int i = 0; i < MAX_CPUS; i++) {
		cpus[i].ran_last = RQ_NONE;
		cpus[i].yielded = RQ_NONE;
		cpus[i].running = RQ_NONE;
	}
	return scx_bpf_create_dsq(QUEUE, -1);
}

SEC("struct_ops/exit")
void BPF_PROG(warmcore_exit, struct scx_exit_info *info)
{
	bpf_probe_read_kernel_str(exit_message, sizeof(exit_message), info->msg);
	bpf_probe_read_kernel_str(exit_reason, sizeof(exit_reason), info->reason);
}

SEC(".struct_ops.link")
struct sched_ext_ops warmcore = {
	.select_cpu = (void *)warmcore_select_cpu,
	.enqueue = (void *)warmcore_enqueue,
	.dispatch = (void *)warmcore_dispatch,
	.tick = (void *)warmcore_tick,
	.running = (void *)warmcore_running,
	.stopping = (void *)warmcore_stopping,
	.yield = (void *)warmcore_yield,
	.init_task = (void *)warmcore_init_task,
	.init = (void *)warmcore_init,
	.exit = (void *)warmcore_exit,
	.timeout_ms = 10000,
	.name = "warmcore",
};
