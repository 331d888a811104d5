/* place.h -- the cores of this machine, and their assignment to ranks.
 *
 *   cores.c reads /sys --> place.c: a pure function of cores and options --> bind.c: CPU sets
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BIND_PLACE_H
#define GW_BIND_PLACE_H

#include <sched.h>

#include "job/job.h"

enum { PLACE_CPUS = 8192, PLACE_UNITS = UNIT_MACHINE + 1 };
#define PLACE_SET_BYTES CPU_ALLOC_SIZE(PLACE_CPUS)

/* A core, or a hardware thread where those are bound. */
struct core {
    int unit[PLACE_UNITS]; /* which unit of each kind it belongs to, numbered from 0 without gaps in the order of CPUs */
    int numa;              /* the kernel's number of its NUMA node (UNIT_NUMA) */
    cpu_set_t *cpus;       /* of PLACE_CPUS */
};
struct cores {
    struct core *at;
    int n;
};

/* cores.c: those of our cpuset; of `list` alone where it is not NULL.  With the hardware threads of each that we may use.
 * `units`: PLACE_UNIT() of the kinds of unit that are looked at; the others are not filled in, as each costs files of /sys for each CPU. */
#define PLACE_UNIT(unit) (1u << (unit))
struct cores bind_cores_find(const char *list, unsigned units);
void bind_cores_free(struct cores *c);
void bind_cores_split(struct cores *c);           /* hardware threads in place of cores */
char *bind_cores_reserve(struct cores *c, int n); /* takes the last n out, for progress threads: their CPUs, "3,7"; the caller's */
int bind_cores_units(const struct cores *c, enum unit unit); /* how many there are */

/* place.c */
struct core_list {
    int *at;
    int n;
}; /* numbers of cores */
enum place_result { PLACE_OK, PLACE_NO_ROOM };
/* The cores of each rank, out[0..n_ranks); lists are the caller's (free at).  NO_ROOM: there are not enough; then there are no lists. */
/* The units that it looks at. */
unsigned bind_place_units(const struct place_wanted *w);
enum place_result bind_place_make(const struct cores *c, const struct place_wanted *w, int n_ranks, struct core_list *out);
#endif
