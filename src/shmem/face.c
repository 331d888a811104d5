/* face.c -- bodies of entry points that are more than a line: begin, signals, active sets.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "shmem/shmem_face.h"

_Static_assert(SHMEM_MAJOR_VERSION == SYM_MAJOR && SHMEM_MINOR_VERSION == SYM_MINOR, "version");
_Static_assert((int)SHMEM_CTX_SERIALIZED == SYM_CTX_SERIALIZED && (int)SHMEM_CTX_PRIVATE == SYM_CTX_PRIVATE &&
                   (int)SHMEM_CTX_NOSTORE == SYM_CTX_NOSTORE,
               "options of contexts");
_Static_assert((int)SHMEM_CMP_EQ == SYM_CMP_EQ && (int)SHMEM_CMP_NE == SYM_CMP_NE && (int)SHMEM_CMP_GT == SYM_CMP_GT &&
                   (int)SHMEM_CMP_GE == SYM_CMP_GE && (int)SHMEM_CMP_LT == SYM_CMP_LT && (int)SHMEM_CMP_LE == SYM_CMP_LE,
               "comparisons");
_Static_assert((int)SHMEM_TEAM_NUM_CONTEXTS == SYM_TEAM_NUM_CONTEXTS && (int)SHMEM_CTX_SESSION_TOTAL_OPS == SYM_SESSION_TOTAL_OPS &&
                   (int)SHMEM_CTX_SESSION_BATCH == SYM_SESSION_BATCH,
               "masks");
_Static_assert(sizeof(shmem_team_config_t) == sizeof(struct sym_team_config) &&
                   sizeof(shmem_ctx_session_config_t) == sizeof(struct sym_session_config),
               "configurations");

static const int levels[] = {GW_THREAD_SINGLE, GW_THREAD_FUNNELED, GW_THREAD_SERIALIZED,
                             GW_THREAD_MULTIPLE}; /* by SHMEM_THREAD_* */

int face_level(int level)
{
    int i = SHMEM_THREAD_MULTIPLE;
    while (i > SHMEM_THREAD_SINGLE && levels[i] > level) i--;
    return i;
}

int face_init_thread(const char *call, int requested, int *provided_out)
{
    int provided, level = requested < SHMEM_THREAD_SINGLE ? SHMEM_THREAD_SINGLE : requested;
    if (level > SHMEM_THREAD_MULTIPLE) level = SHMEM_THREAD_MULTIPLE;
    int rc = godwit_sym_begin(call, levels[level], &provided);
    if (rc == 0 && provided_out) *provided_out = face_level(provided);
    return rc;
}

GW_COLD void face_put_far(void *dest, int pe, const void *source, const char *call, sym_ctx_id ctx, size_t bytes)
{
    face_look(call, ctx, (struct sym_access){SYM_WRITES, dest, bytes, pe, source, false});
    godwit_sym_put(call, ctx, dest, source, bytes, pe, false);
}

GW_COLD void face_get_far(const void *source, int pe, void *dest, const char *call, sym_ctx_id ctx, size_t bytes)
{
    face_look(call, ctx, (struct sym_access){SYM_READS, source, bytes, pe, NULL, false});
    godwit_sym_get(call, ctx, dest, source, bytes, pe, false);
}

/* By the type, as the order of bytes in a word is the processor's. */
GW_COLD void face_p_far(const void *dest, uint64_t value, int pe, const char *call, sym_ctx_id ctx, size_t bytes)
{
    uint8_t b = (uint8_t)value;
    uint16_t h = (uint16_t)value;
    uint32_t w = (uint32_t)value;
    const void *from = bytes == 1 ? (void *)&b : bytes == 2 ? (void *)&h : bytes == 4 ? (void *)&w : (void *)&value;
    face_put_far((void *)(uintptr_t)dest, pe, from, call, ctx, bytes);
}

GW_COLD uint64_t face_g_far(const void *source, int pe, const char *call, sym_ctx_id ctx, size_t bytes)
{
    union {
        uint8_t b;
        uint16_t h;
        uint32_t w;
        uint64_t d;
    } v = {.d = 0};
    face_get_far(source, pe, &v, call, ctx, bytes);
    return bytes == 1 ? v.b : bytes == 2 ? v.h : bytes == 4 ? v.w : v.d;
}

/* A program may spin on it, so it lets come in what PEs of other nodes send. */
uint64_t face_signal_fetch(const char *call, const uint64_t *at)
{
    if (atomic_load_explicit(&godwit_sym_near.is_far, memory_order_relaxed)) {
        uint64_t value = 0;
        struct sym_wait w = {.vars = at, .elem = GW_ELEM_U64, .cmp = SYM_CMP_NE, .n = 1, .values = &value, .how = SYM_ALL};
        godwit_sym_test(call, &w);
    }
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

/* Broadcast in an active set: the root's dest stays as it is. */
void face_bcast_set(const char *call, sym_team_id team, struct face_data d, int root)
{
    bool is_root = godwit_sym_team_pe(call, team) == root;
    godwit_sym_bcast(call, team, is_root ? (void *)(uintptr_t)d.source : d.dest, d.source, d.bytes, root);
}

void face_barrier_set(const char *call, sym_team_id team)
{
    face_quiet(call, SYM_CTX_DEFAULT);
    godwit_sym_sync(call, team);
}
