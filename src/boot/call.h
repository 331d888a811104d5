/* call.h -- the names of the MPI calls by number, for error messages and for mpiexec, which reads the number of a rank's last call in the
 * segment.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_CALL_H
#define GW_BOOT_CALL_H

#include <stddef.h>
#include <stdint.h>

/* Generated (gen/names.py): the names of calls 1, 2, ... with their ends, and where each begins.  One text and places in it, because
 * pointers would have to be relocated in every process that starts. */
extern const char boot_call_texts[];
extern const uint16_t boot_call_places[];
extern const uint32_t boot_call_count;

/* Calls of OpenSHMEM that wait, or that all PEs of a team make, whatever their types; their numbers follow BOOT_CALL_SHMEM. */
#define BOOT_SHMEM_CALLS(X)                                                                                                        \
    X(shmem_barrier_all)                                                                                                           \
    X(shmem_barrier)                                                                                                               \
    X(shmem_sync_all)                                                                                                              \
    X(shmem_sync)                                                                                                                  \
    X(shmem_team_sync)                                                                                                             \
    X(shmem_malloc)                                                                                                                \
    X(shmem_calloc)                                                                                                                \
    X(shmem_align)                                                                                                                 \
    X(shmem_realloc)                                                                                                               \
    X(shmem_free)                                                                                                                  \
    X(shmem_finalize)                                                                                                              \
    X(shmem_broadcast)                                                                                                             \
    X(shmem_collect)                                                                                                               \
    X(shmem_fcollect)                                                                                                              \
    X(shmem_alltoall)                                                                                                              \
    X(shmem_alltoalls)                                                                                                             \
    X(shmemx_alltoallv)                                                                                                            \
    X(shmem_and_reduce)                                                                                                            \
    X(shmem_or_reduce)                                                                                                             \
    X(shmem_xor_reduce)                                                                                                            \
    X(shmem_max_reduce)                                                                                                            \
    X(shmem_min_reduce)                                                                                                            \
    X(shmem_sum_reduce)                                                                                                            \
    X(shmem_prod_reduce)                                                                                                           \
    X(shmem_sum_inscan)                                                                                                            \
    X(shmem_sum_exscan)                                                                                                            \
    X(shmem_team_split_strided)                                                                                                    \
    X(shmem_team_split_2d)                                                                                                         \
    X(shmemx_team_split_color)                                                                                                     \
    X(shmem_wait_until)                                                                                                            \
    X(shmem_test)                                                                                                                  \
    X(shmem_signal_wait_until)                                                                                                     \
    X(shmem_set_lock)                                                                                                              \
    X(shmem_init)
enum {
    BOOT_CALL_SHMEM = 3072, /* beyond the calls of MPI, below 4096 (boot_coll_pack) */
#define X(name) BOOT_CALL_##name,
    BOOT_SHMEM_CALLS(X)
#undef X
};
const char *boot_call_of_shmem(uint32_t call); /* NULL: it is none */
static inline int boot_call_is_shmem(uint32_t call) { return call > BOOT_CALL_SHMEM; }

/* The name of the call with this number (GW_FN_* of facade/fn_gen.h, BOOT_CALL_*), such as "MPI_Send"; NULL for 0 and other numbers that no call
 * has.  The text is constant.  `call` may come from another process. */
static inline const char *boot_call_name(uint32_t call)
{
    if (boot_call_is_shmem(call)) return boot_call_of_shmem(call);
    return call > 0 && call <= boot_call_count ? boot_call_texts + boot_call_places[call - 1] : NULL;
}

#endif
