/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the scheduler uses of the kernel. Fields, enumerators and members are found by their names when the program is
 * loaded (BPF CO-RE), so neither order nor values here need to be those of the running kernel.
 */
#ifndef WARMCORE_KERNEL_H
#define WARMCORE_KERNEL_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;
typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;
typedef __s64 s64;
typedef _Bool bool;
#define true 1
#define false 0

/* From the kernel's stable interface (uapi/linux/bpf.h). */
enum { BPF_MAP_TYPE_RINGBUF = 27, BPF_MAP_TYPE_TASK_STORAGE = 29, BPF_F_NO_PREALLOC = 1, BPF_ANY = 0 };
#define BPF_LOCAL_STORAGE_GET_F_CREATE 1

#define PF_KTHREAD 0x00200000

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct cpumask {
	unsigned long bits[1];
};

struct sched_ext_entity {
	u32 flags;
	u64 slice;
};

struct task_struct {
	unsigned int flags;
	int pid;
	int nr_cpus_allowed;
	const struct cpumask *cpus_ptr;
	unsigned short migration_disabled;
	struct sched_ext_entity scx;
};

struct scx_init_task_args {
	bool fork;
};

struct scx_exit_info {
	s64 exit_code;
	const char *reason;
	char *msg;
};

#pragma clang attribute pop

enum scx_dsq_id_flags { SCX_DSQ_LOCAL = 0x8000000000000002ULL };
enum scx_kick_flags { SCX_KICK_IDLE = 1, SCX_KICK_PREEMPT = 2 };
enum scx_enq_flags { SCX_ENQ_WAKEUP = 1, SCX_ENQ_PREEMPT = 1ULL << 32 };
enum scx_ent_flags { SCX_TASK_QUEUED = 1 };

/* The value that the running kernel gives an enumerator. */
#define VALUE(type, name) bpf_core_enum_value(enum type, name)

/* Iterates over a dispatch queue. */
struct bpf_iter_scx_dsq {
	u64 opaque[6];
} __attribute__((aligned(8)));

struct sched_ext_ops {
	s32 (*select_cpu)(struct task_struct *p, s32 prev_cpu, u64 wake_flags);
	void (*enqueue)(struct task_struct *p, u64 enq_flags);
	void (*dispatch)(s32 cpu, struct task_struct *prev);
	void (*tick)(struct task_struct *p);
	void (*running)(struct task_struct *p);
	void (*stopping)(struct task_struct *p, bool runnable);
	bool (*yield)(struct task_struct *from, struct task_struct *to);
	s32 (*init_task)(struct task_struct *p, struct scx_init_task_args *args);
	s32 (*init)(void);
	void (*exit)(struct scx_exit_info *info);
	u32 timeout_ms;
	char name[128];
};

#endif
