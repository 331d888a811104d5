/* extra.c -- names beyond OpenSHMEM 1.6 that programs for Cray's and Sandia's libraries use (shmemx.h).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "shmem/shmemx_face.h"

#include <time.h>
#include <unistd.h>

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

SHMEMX char *shmemx_nodename(void)
{
    static char name[256];
    gethostname(name, sizeof name - 1);
    return name;
}

/* ---- Cray: names of before OpenSHMEM 1.4 to 1.6 ---- */
SHMEMX int shmemx_init_thread(int required)
{
    int provided = SHMEM_THREAD_SINGLE;
    face_init_thread("shmemx_init_thread", required, &provided);
    return provided;
}
SHMEMX int shmemx_query_thread(void) { return face_level(godwit_sym_level("shmemx_query_thread")); }
SHMEMX void shmemx_pe_quiet(int pe) { face_pe_quiet("shmemx_pe_quiet", SYM_CTX_DEFAULT, &pe, 1); }
SHMEMX void shmemx_signal_set(uint64_t *sig_addr, uint64_t signal, int pe)
{
    face_signal("shmemx_signal_set", SYM_CTX_DEFAULT, (struct sym_signal){sig_addr, signal, false}, pe);
}
SHMEMX void shmemx_signal_add(uint64_t *sig_addr, uint64_t signal, int pe)
{
    face_signal("shmemx_signal_add", SYM_CTX_DEFAULT, (struct sym_signal){sig_addr, signal, true}, pe);
}
/* Of the hints there is one that changes anything: what follows may be sent together. */
SHMEMX void shmemx_session_start(shmem_ctx_t ctx, long options)
{
    if (options & ~(2 * SHMEM_SESSION_DC - 1))
        godwit_sym_wrong("shmemx_session_start", "options", options, "0 or an OR of SHMEM_SESSION_ hints");
    long together = SHMEM_SESSION_BUNDLE | SHMEM_SESSION_HRP;
    godwit_sym_session_start("shmemx_session_start", (sym_ctx_id)ctx, options & together ? SYM_SESSION_BATCH : 0, NULL, 0);
}
SHMEMX void shmemx_session_stop(shmem_ctx_t ctx) { godwit_sym_session_stop("shmemx_session_stop", (sym_ctx_id)ctx); }

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
    sym_team_id set = face_set("shmemx_alltoallv", PE_start, logPE_stride, PE_size);
    (void)pSync;
    face_alltoallv("shmemx_alltoallv", set, target, t_offsets, t_sizes, source, s_offsets, s_sizes);
}
SHMEMX void shmemx_alltoallv_packed(void *target, size_t target_len, size_t *t_size, const void *source, size_t *s_offsets,
                                    size_t *s_sizes, int PE_start, int logPE_stride, int PE_size, long *pSync)
{
    sym_team_id set = face_set("shmemx_alltoallv_packed", PE_start, logPE_stride, PE_size);
    (void)pSync;
    face_alltoallv_packed("shmemx_alltoallv_packed", set, target, target_len, t_size, source, s_offsets, s_sizes);
}
