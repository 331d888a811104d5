/* node_private.h -- shared by the files of node.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_NODE_NODE_PRIVATE_H
#define GW_NODE_NODE_PRIVATE_H

#include "node/node.h"
#include "boot/segment.h"

void node_heap_open(void *mem, uint64_t bytes);        /* zeroed memory, mapped by every rank of the node */
void node_wait_fences(struct node_door *doors, int n); /* this process does not use membarrier */
void node_wait_open(void);                             /* reads the settings and gw_node.oversubscribed; sets gw_node.fence */
void node_wait_close(void);
/* share.c: whether another program runs on this rank's core, by what the kernel counts.
 * learns: gw_node.spin becomes shared_spin while one does, and alone_spin again. */
void node_share_open(bool learns, uint32_t alone_spin, uint32_t shared_spin);
void node_share_close(void);
bool node_share_is(void);
/* Takes when a yield began and ended (ticks).  True: it was longer than far_too_long because another program ran. */
bool node_share_yielded(uint64_t before, uint64_t after, uint64_t far_too_long);
/* bell.c: the doorbell of a process that also waits for descriptors. */
/* Sleeps while *word == seen and no descriptor is ready; true: one is.  is_service: the one thread of the library that waits.  It sleeps for the
 * whole time, while those of the program look again after a millisecond, if there are several threads. */
bool node_bell_wait(const _Atomic uint32_t *word, uint32_t seen, int64_t timeout_ns, bool is_service);
void node_bell_ring(struct node_door *d) GW_COLD;
void node_bell_close(void);
/* Yields the core.  False: it did not, because another program ran for more than 1.5 ms in a yield of the last 20 ms; the
 * caller sleeps instead. */
bool node_wait_yield(void);
void node_wait_yielded(uint64_t before, uint64_t after); /* reports when a yield began and ended (ticks), for node_wait_yield() */
/* Where the doors and the areas lie in a segment that begins at `base`; h: a copy of its head that has been checked.  The bytes before the
 * areas, which may be more than it has. */
uint64_t node_look(const struct boot_head *h, char *base, struct node_door **doors_out, char **areas_out);
/* Which of the areas is that of a rank on a lane. */
static inline uint64_t node_area_index(int nlocal, int lanes, int local_rank, int lane)
{
    return (uint64_t)(lane ? lane - 1 : lanes - 1) * (uint64_t)nlocal + (uint64_t)local_rank;
}

enum { HW_MAX_CPUS = 8192 };
struct hw_cpus {
    uint64_t bits[HW_MAX_CPUS / 64];
};
/* Where a machine is described: `sys` as /sys/devices/system, `cpuinfo` as /proc/cpuinfo, `cpuid` as gw_cpuid(). */
struct hw_machine {
    const char *sys, *cpuinfo;
    bool (*cpuid)(uint32_t leaf, uint32_t sub, uint32_t out[4]);
};
/* node_hw_of_process for any set of cpus on such a machine. */
void node_hw_instances(const struct hw_machine *m, const struct hw_cpus *mask, int32_t instance_out[NODE_HW_KINDS]);
static inline void hw_cpu_add(struct hw_cpus *set, long cpu)
{
    assert(cpu >= 0 && cpu < HW_MAX_CPUS);
    set->bits[cpu / 64] |= 1ull << cpu % 64;
}
/* hw_cache.c: the cpus that share the cache of a level with `cpu`, by what the processor says (the kernel of a virtual machine may have no
 * caches under /sys).  False: it says nothing of that level. */
bool node_hw_cache_of(const struct hw_machine *m, int cpu, int level, struct hw_cpus *set_out);

#endif
