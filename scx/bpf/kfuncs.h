/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The functions of the kernel that the scheduler calls. */
#ifndef WARMCORE_KFUNCS_H
#define WARMCORE_KFUNCS_H

/* The iterator inside of bpf_for_each. */
#define BPF_FOR_EACH_ITER (&___it)

s32 scx_bpf_create_dsq(u64 dsq_id, s32 node) __ksym;
bool scx_bpf_test_and_clear_cpu_idle(s32 cpu) __ksym;
s32 scx_bpf_pick_idle_cpu(const struct cpumask *allowed, u64 flags) __ksym;
void scx_bpf_kick_cpu(s32 cpu, u64 flags) __ksym;
s32 scx_bpf_task_cpu(const struct task_struct *p) __ksym;
u32 scx_bpf_nr_cpu_ids(void) __ksym;
bool bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *mask) __ksym;
int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, u64 dsq_id, u64 flags) __ksym;
struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it) __ksym;
void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it) __ksym;
bool scx_bpf_dsq_move(struct bpf_iter_scx_dsq *it__iter, struct task_struct *p, u64 dsq_id, u64 enq_flags) __ksym;

/* Since Linux 6.19 this one says whether the task was inserted. */
bool scx_bpf_dsq_insert___v2___compat(struct task_struct *p, u64 dsq_id, u64 slice, u64 enq_flags) __ksym __weak;
void scx_bpf_dsq_insert___v1(struct task_struct *p, u64 dsq_id, u64 slice, u64 enq_flags) __ksym __weak;
/* Since Linux 6.19; earlier kernels let a scheduler write the field. */
bool scx_bpf_task_set_slice___new(struct task_struct *p, u64 slice) __ksym __weak;

static inline void insert(struct task_struct *p, u64 dsq_id, u64 slice, u64 enq_flags)
{
	if (bpf_ksym_exists(scx_bpf_dsq_insert___v2___compat))
		scx_bpf_dsq_insert___v2___compat(p, dsq_id, slice, enq_flags);
	else
		scx_bpf_dsq_insert___v1(p, dsq_id, slice, enq_flags);
}

static inline void set_slice(struct task_struct *p, u64 slice)
{
	if (bpf_ksym_exists(scx_bpf_task_set_slice___new))
		scx_bpf_task_set_slice___new(p, slice);
	else
		p->scx.slice = slice;
}

#endif
