/* extra_heap.c -- of Sandia's library (shmemx.h): memory that the program brings, counters of puts, counters of operations.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "shmem/shmemx_face.h"

/* ---- memory of the program's own as one more symmetric heap ----  preinit, create, postinit; together they are shmem_init(). */
static struct {
    bool is_open; /* between preinit and postinit */
    void *base;
    size_t bytes;
} brought;

static void preinit_over(bool is_begun)
{
    brought.is_open = is_begun;
    brought.base = NULL;
    brought.bytes = 0;
}
SHMEMX int shmemx_heap_preinit_thread(int requested, int *provided)
{
    int rc = face_init_thread("shmemx_heap_preinit_thread", requested, provided);
    preinit_over(rc == 0);
    return rc;
}
SHMEMX void shmemx_heap_preinit(void)
{
    godwit_sym_begin_must("shmemx_heap_preinit");
    preinit_over(true);
}
SHMEMX void shmemx_heap_create(void *base, size_t size, int device_type, int device_index)
{
    (void)device_type, (void)device_index; /* what the processor cannot access is told by postinit */
    if (!brought.is_open || brought.base)
        godwit_sym_wrong("shmemx_heap_create", "number of this call", 1 + (brought.base != NULL),
                         "1, and between shmemx_heap_preinit and shmemx_heap_postinit");
    brought.base = base;
    brought.bytes = size;
}
SHMEMX void shmemx_heap_postinit(void)
{
    if (!brought.is_open) godwit_sym_wrong("shmemx_heap_postinit", "number of calls of shmemx_heap_preinit before", 0, "1");
    brought.is_open = false;
    godwit_sym_bring("shmemx_heap_postinit", brought.base, brought.bytes);
}

/* ---- counters of puts ----  A word of each PE's, to which each put adds 1 once its data are there. */
static uint64_t *word(shmemx_ct_t ct) { return (uint64_t *)(void *)ct; }

SHMEMX void shmemx_ct_create(shmemx_ct_t *ct) { *ct = godwit_sym_calloc("shmemx_ct_create", 1, sizeof(uint64_t)); }
SHMEMX void shmemx_ct_free(shmemx_ct_t *ct)
{
    godwit_sym_free("shmemx_ct_free", *ct);
    *ct = NULL;
}
SHMEMX long shmemx_ct_get(shmemx_ct_t ct) { return (long)face_signal_fetch("shmemx_ct_get", word(ct)); }
SHMEMX void shmemx_ct_set(shmemx_ct_t ct, long value) { __atomic_store_n(word(ct), (uint64_t)value, __ATOMIC_SEQ_CST); }
SHMEMX void shmemx_ct_wait(shmemx_ct_t ct, long wait_for)
{
    face_signal_wait("shmemx_ct_wait", word(ct), SHMEM_CMP_GE, (uint64_t)wait_for);
}
SHMEMX void shmemx_putmem_ct(shmemx_ct_t ct, void *target, const void *source, size_t len, int pe)
{
    face_put_signal("shmemx_putmem_ct", SYM_CTX_DEFAULT, (struct face_data){target, source, len, 1},
                    (struct sym_signal){word(ct), 1, true}, pe, false);
}
SHMEMX void shmemx_getmem_ct(shmemx_ct_t ct, void *target, const void *source, size_t len, int pe)
{
    face_get("shmemx_getmem_ct", SYM_CTX_DEFAULT, target, source, len, 1, pe, false);
    face_signal("shmemx_getmem_ct", SYM_CTX_DEFAULT, (struct sym_signal){word(ct), 1, true}, pe);
}

/* ---- counters of operations ----  Of those that left this node: here they are loads and stores, which are over when they have begun. */
static struct sym_counts counts(const char *call, shmem_ctx_t ctx) { return godwit_sym_counts(call, (sym_ctx_id)ctx); }

SHMEMX void shmemx_pcntr_get_pending_put(shmem_ctx_t ctx, uint64_t *cntr_value)
{
    struct sym_counts c = counts("shmemx_pcntr_get_pending_put", ctx);
    *cntr_value = c.puts - c.puts_done;
}
SHMEMX void shmemx_pcntr_get_pending_get(shmem_ctx_t ctx, uint64_t *cntr_value)
{
    struct sym_counts c = counts("shmemx_pcntr_get_pending_get", ctx);
    *cntr_value = c.gets - c.gets_done;
}
SHMEMX void shmemx_pcntr_get_completed_put(shmem_ctx_t ctx, uint64_t *cntr_value)
{
    *cntr_value = counts("shmemx_pcntr_get_completed_put", ctx).puts_done;
}
SHMEMX void shmemx_pcntr_get_completed_get(shmem_ctx_t ctx, uint64_t *cntr_value)
{
    *cntr_value = counts("shmemx_pcntr_get_completed_get", ctx).gets_done;
}
SHMEMX void shmemx_pcntr_get_completed_target(uint64_t *cntr_value)
{
    *cntr_value = counts("shmemx_pcntr_get_completed_target", SHMEM_CTX_DEFAULT).served;
}
SHMEMX void shmemx_pcntr_get_all(shmem_ctx_t ctx, shmemx_pcntr_t *pcntr)
{
    struct sym_counts c = counts("shmemx_pcntr_get_all", ctx);
    *pcntr = (shmemx_pcntr_t){c.puts - c.puts_done, c.gets - c.gets_done, c.puts_done, c.gets_done, c.served};
}

/* Threads need not be told apart: each may use any context that is not another's. */
SHMEMX void shmemx_register_gettid(uint64_t (*gettid_fn)(void)) { (void)gettid_fn; }
