/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Replays a log of warmcore_policy::runqueue::log, read from standard input, through decide.h, the decisions of the
 * scheduler in the kernel. Prints how many picks it made, or ends with 1 and the first line that it decides otherwise.
 * Arguments: the members of struct rq_parameters from decay_numerator on but attach.
 */
#include "../bpf/decide.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASKS 256
#define CPUS 64
#define LINE 128

struct task {
	struct rq_task rq;
	int waiting;
};

static struct rq_parameters parameters;
static struct task tasks[TASKS];
static int ran_last[CPUS], yielded[CPUS];
static u64 now, enqueued;

static struct task *task(int id)
{
	if (id < 0 || id >= TASKS)
		exit(2);
	return &tasks[id];
}

static int processor(int cpu)
{
	if (cpu < 0 || cpu >= CPUS)
		exit(2);
	return cpu;
}

static void add(int id, int base, int attached)
{
	task(id)->rq = (struct rq_task){ .base = base, .last_cpu = RQ_NONE, .attached = attached, .id = id };
}

static void enqueue(int id)
{
	task(id)->waiting = 1;
	task(id)->rq.queued = enqueued++;
}

static int pick(int cpu)
{
	struct rq_search search = { .now = now, .cpu = cpu, .ran_last = ran_last[cpu], .yielded = yielded[cpu] };
	struct rq_key best = { 0 }, key;
	int chosen = RQ_NONE;

	yielded[cpu] = RQ_NONE;
	for (int id = 0; id < TASKS; id++) {
		if (!tasks[id].waiting)
			continue;
		key = rq_key(&parameters, &tasks[id].rq, &search);
		if (key.allowed && (chosen == RQ_NONE || rq_better(&key, &best))) {
			best = key;
			chosen = id;
		}
	}
	if (chosen != RQ_NONE)
		tasks[chosen].waiting = 0;
	return chosen;
}

static void stop(int id, int cpu, const char *cause)
{
	struct rq_task *rq = &task(id)->rq;

	rq->last_cpu = cpu;
	rq->last_ran = now;
	ran_last[cpu] = id;
	yielded[cpu] = !strcmp(cause, "yield") && parameters.exclude_yielder ? id : RQ_NONE;
	if (!strcmp(cause, "exit")) {
		/* The id names another task later. */
		for (int other = 0; other < CPUS; other++) {
			if (ran_last[other] == id)
				ran_last[other] = RQ_NONE;
			if (yielded[other] == id)
				yielded[other] = RQ_NONE;
		}
	} else if (strcmp(cause, "block")) {
		enqueue(id);
	}
}

/* Returns 1 if the line is a pick, 0 if it is another event, -1 if it is a pick of another task. */
static int replay(const char *line)
{
	int id, cpu, base, attached = RQ_NONE;
	char cause[16], word[16];

	if (sscanf(line, "%*u add task%d base %d attached cpu%d", &id, &base, &attached) >= 2) {
		add(id, base, attached);
	} else if (sscanf(line, "%*u enqueue task%d", &id) == 1) {
		enqueue(id);
	} else if (sscanf(line, "%*u pick cpu%d %15s", &cpu, word) == 2) {
		id = RQ_NONE;
		if (strcmp(word, "none") && sscanf(word, "task%d", &id) != 1)
			exit(2);
		return pick(processor(cpu)) == id ? 1 : -1;
	} else if (sscanf(line, "%*u tick task%d", &id) == 1) {
		task(id)->rq.cpu = rq_tick(task(id)->rq.cpu, parameters.cap);
	} else if (sscanf(line, "%*u stop task%d cpu%d %15s", &id, &cpu, cause) == 3) {
		stop(id, processor(cpu), cause);
	} else if (sscanf(line, "%*u %15s", word) == 1 && !strcmp(word, "decay")) {
		for (id = 0; id < TASKS; id++)
			tasks[id].rq.cpu = rq_decay(tasks[id].rq.cpu, parameters.decay_numerator,
						    parameters.decay_denominator);
	} else {
		exit(2);
	}
	return 0;
}

int main(int argc, char **argv)
{
	char line[LINE];
	long picks = 0;

	if (argc != 8)
		return 2;
	parameters.decay_numerator = atoi(argv[1]);
	parameters.decay_denominator = atoi(argv[2]);
	parameters.a_p = atoi(argv[3]);
	parameters.a_t = atoi(argv[4]);
	parameters.form = atoi(argv[5]);
	parameters.cap = atoi(argv[6]);
	parameters.exclude_yielder = atoi(argv[7]);
	for (int cpu = 0; cpu < CPUS; cpu++)
		ran_last[cpu] = yielded[cpu] = RQ_NONE;

	while (fgets(line, sizeof(line), stdin)) {
		now = strtoull(line, NULL, 10);
		switch (replay(line)) {
		case 1:
			picks++;
			break;
		case -1:
			printf("%s", line);
			return 1;
		}
	}
	printf("%ld\n", picks);
	return 0;
}
