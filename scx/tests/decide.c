/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Plays a machine with decide.h, the decisions of the scheduler in the kernel, and prints what happened as a log of
 * warmcore_policy::runqueue::log. Arguments: seed, events, cpus, then the members of struct rq_parameters from a_p on.
 */
#include "../bpf/decide.h"
#include <stdio.h>
#include <stdlib.h>

#define TASKS 48
#define CPUS 8

enum state { ABSENT, BLOCKED, WAITING, RUNNING };

struct task {
	struct rq_task rq;
	enum state state;
	int cpu;
};

static struct rq_parameters parameters;
static struct task tasks[TASKS];
static int ran_last[CPUS], yielded[CPUS], on[CPUS];
static u64 now, enqueued, generator;
static int names, cpus;

static u64 draw(u64 below)
{
	generator ^= generator << 13;
	generator ^= generator >> 7;
	generator ^= generator << 17;
	return generator % below;
}

static void enqueue(struct task *task)
{
	task->state = WAITING;
	task->rq.queued = enqueued++;
}

static void add(struct task *task)
{
	task->rq = (struct rq_task){ .base = (int)draw(3) * 4, .last_cpu = RQ_NONE, .attached = RQ_NONE, .id = names++ };
	if (!draw(4))
		task->rq.attached = (int)draw(cpus);
	task->state = BLOCKED;
	printf("%llu add task%d base %d", (unsigned long long)now, task->rq.id, task->rq.base);
	if (task->rq.attached != RQ_NONE)
		printf(" attached cpu%d", task->rq.attached);
	putchar('\n');
}

static void pick(int cpu)
{
	struct rq_search search = { .now = now, .cpu = cpu, .ran_last = ran_last[cpu], .yielded = yielded[cpu] };
	struct rq_key best = { 0 }, key;
	int chosen = RQ_NONE;

	yielded[cpu] = RQ_NONE;
	for (int i = 0; i < TASKS; i++) {
		if (tasks[i].state != WAITING)
			continue;
		key = rq_key(&parameters, &tasks[i].rq, &search);
		if (key.allowed && (chosen == RQ_NONE || rq_better(&key, &best))) {
			best = key;
			chosen = i;
		}
	}
	if (chosen == RQ_NONE) {
		printf("%llu pick cpu%d none\n", (unsigned long long)now, cpu);
		return;
	}
	tasks[chosen].state = RUNNING;
	tasks[chosen].cpu = cpu;
	on[cpu] = chosen;
	printf("%llu pick cpu%d task%d\n", (unsigned long long)now, cpu, tasks[chosen].rq.id);
}

static void stop(int cpu)
{
	static const char *const causes[] = { "quantum", "quantum", "preempted", "yield", "reschedule", "block", "exit" };
	struct task *task = &tasks[on[cpu]];
	int cause = (int)draw(7);

	printf("%llu stop task%d cpu%d %s\n", (unsigned long long)now, task->rq.id, cpu, causes[cause]);
	on[cpu] = RQ_NONE;
	task->rq.last_cpu = cpu;
	task->rq.last_ran = now;
	ran_last[cpu] = task->rq.id;
	yielded[cpu] = cause == 3 && parameters.exclude_yielder ? task->rq.id : RQ_NONE;
	if (cause < 5)
		enqueue(task);
	else
		task->state = cause == 5 ? BLOCKED : ABSENT;
}

int main(int argc, char **argv)
{
	long events;

	if (argc != 11)
		return 2;
	generator = strtoull(argv[1], NULL, 10) * 2 + 1;
	events = atol(argv[2]);
	cpus = atoi(argv[3]);
	parameters.a_p = atoi(argv[4]);
	parameters.a_t = atoi(argv[5]);
	parameters.form = atoi(argv[6]);
	parameters.decay_numerator = atoi(argv[7]);
	parameters.decay_denominator = atoi(argv[8]);
	parameters.cap = atoi(argv[9]);
	parameters.exclude_yielder = atoi(argv[10]);
	for (int cpu = 0; cpu < CPUS; cpu++)
		ran_last[cpu] = yielded[cpu] = on[cpu] = RQ_NONE;

	for (long event = 0; event < events; event++) {
		struct task *task = &tasks[draw(TASKS)];
		int cpu = (int)draw(cpus);

		if (!draw(4))
			now += draw(3);
		switch (draw(200)) {
		case 0:
			for (int i = 0; i < TASKS; i++)
				tasks[i].rq.cpu = rq_decay(tasks[i].rq.cpu, parameters.decay_numerator,
							   parameters.decay_denominator);
			printf("%llu decay\n", (unsigned long long)now);
			break;
		case 1 ... 40:
			if (task->state == ABSENT) {
				add(task);
			} else if (task->state == BLOCKED) {
				printf("%llu enqueue task%d\n", (unsigned long long)now, task->rq.id);
				enqueue(task);
			}
			break;
		case 41 ... 90:
			if (on[cpu] != RQ_NONE)
				stop(cpu);
			break;
		case 91 ... 150:
			if (on[cpu] == RQ_NONE)
				pick(cpu);
			break;
		default:
			if (on[cpu] != RQ_NONE) {
				task = &tasks[on[cpu]];
				task->rq.cpu = rq_tick(task->rq.cpu, parameters.cap);
				printf("%llu tick task%d\n", (unsigned long long)now, task->rq.id);
			}
		}
	}
	return 0;
}
