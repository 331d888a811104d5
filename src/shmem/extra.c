/* extra.c -- names beyond OpenSHMEM 1.6 that programs for Cray's and Sandia's libraries use (shmemx.h).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "shmem/shmem_face.h"

#include <time.h>

/* Before each function of shmemx.h, whose prototypes are taken from here (gen/shmem_x.py). */
#define SHMEMX __attribute__((visibility("default")))

SHMEMX double shmemx_wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- Cray: threads ----  Any thread may call once the level is SHMEM_THREAD_MULTIPLE, and the default context is that of all. */
SHMEMX void shmemx_thread_register(void) {}
SHMEMX void shmemx_thread_unregister(void) {}
SHMEMX void shmemx_thread_fence(void) { face_fence("shmemx_thread_fence", SYM_CTX_DEFAULT); }
SHMEMX void shmemx_thread_quiet(void) { face_quiet("shmemx_thread_quiet", SYM_CTX_DEFAULT); }

/* Sources of puts that do not block may be used again; more than that is true then. */
SHMEMX void shmemx_local_complete(void) { face_quiet("shmemx_local_complete", SYM_CTX_DEFAULT); }

/* ---- Cray: atomics of 16 bits ----  By the word of 32 bits that holds them, which all PEs change with one instruction. */
enum short_op { SHORT_ADD, SHORT_SWAP, SHORT_CSWAP };
struct short_atomic {
    enum short_op op;
    uint16_t value, compare;
};
static uint16_t short_atomic(const char *call, short *dest, struct short_atomic a, int pe)
{
    uint32_t *word = (uint32_t *)((uintptr_t)dest & ~(uintptr_t)3);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    int shift = 8 * (int)((uintptr_t)dest & 2);
#else
    int shift = 16 - 8 * (int)((uintptr_t)dest & 2);
#endif
    uint32_t had = (uint32_t)face_atomic(call, SYM_CTX_DEFAULT, (struct sym_atomic){SYM_AMO_FETCH, 4, word, 0, 0}, pe);
    for (;;) {
        uint16_t old = (uint16_t)(had >> shift), now = a.op == SHORT_ADD ? (uint16_t)(old + a.value) : a.value;
        if (a.op == SHORT_CSWAP && old != a.compare) return old;
        uint32_t wanted = (had & ~((uint32_t)0xffff << shift)) | (uint32_t)now << shift;
        uint32_t seen = (uint32_t)face_atomic(call, SYM_CTX_DEFAULT, (struct sym_atomic){SYM_AMO_CSWAP, 4, word, wanted, had}, pe);
        if (seen == had) return old;
        had = seen;
    }
}
SHMEMX void shmemx_short_add(short *dest, short value, int pe)
{
    short_atomic("shmemx_short_add", dest, (struct short_atomic){SHORT_ADD, (uint16_t)value, 0}, pe);
}
SHMEMX void shmemx_short_inc(short *dest, int pe)
{
    short_atomic("shmemx_short_inc", dest, (struct short_atomic){SHORT_ADD, 1, 0}, pe);
}
SHMEMX short shmemx_short_fadd(short *dest, short value, int pe)
{
    return (short)short_atomic("shmemx_short_fadd", dest, (struct short_atomic){SHORT_ADD, (uint16_t)value, 0}, pe);
}
SHMEMX short shmemx_short_finc(short *dest, int pe)
{
    return (short)short_atomic("shmemx_short_finc", dest, (struct short_atomic){SHORT_ADD, 1, 0}, pe);
}
SHMEMX short shmemx_short_swap(short *dest, short value, int pe)
{
    return (short)short_atomic("shmemx_short_swap", dest, (struct short_atomic){SHORT_SWAP, (uint16_t)value, 0}, pe);
}
SHMEMX short shmemx_short_cswap(short *dest, short cond, short value, int pe)
{
    return (short)short_atomic("shmemx_short_cswap", dest, (struct short_atomic){SHORT_CSWAP, (uint16_t)value, (uint16_t)cond}, pe);
}

/* ---- Cray: bytes of any number to each PE of an active set ---- */
SHMEMX void shmemx_alltoallv(void *target, size_t *t_offsets, size_t *t_sizes, const void *source, size_t *s_offsets,
                             size_t *s_sizes, int PE_start, int logPE_stride, int PE_size, long *pSync)
{
    struct sym_alltoallv v = {.dest = target,
                              .source = source,
                              .source_at = s_offsets,
                              .source_bytes = s_sizes,
                              .dest_at = t_offsets,
                              .dest_bytes_out = t_sizes};
    (void)pSync;
    godwit_sym_alltoallv("shmemx_alltoallv", face_set("shmemx_alltoallv", PE_start, logPE_stride, PE_size), &v);
}
/* One PE's bytes behind those of the PE before, where others leave the order open. */
SHMEMX void shmemx_alltoallv_packed(void *target, size_t target_len, size_t *t_size, const void *source, size_t *s_offsets,
                                    size_t *s_sizes, int PE_start, int logPE_stride, int PE_size, long *pSync)
{
    struct sym_alltoallv v = {.dest = target,
                              .source = source,
                              .source_at = s_offsets,
                              .source_bytes = s_sizes,
                              .dest_len = target_len,
                              .dest_bytes_out = t_size};
    (void)pSync;
    godwit_sym_alltoallv("shmemx_alltoallv_packed", face_set("shmemx_alltoallv_packed", PE_start, logPE_stride, PE_size), &v);
}
