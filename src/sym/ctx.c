/* ctx.c -- contexts (OpenSHMEM 1.6 section 9.5): a counter for each region, on the connections that all share.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "sym/sym_private.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/os.h"
#include "boot/boot.h"

#define SYM_CTX_MAGIC 0x7874632d2d6d7973u

static struct sym_order order_default;
static pthread_mutex_t ctxs_lock = PTHREAD_MUTEX_INITIALIZER;

static struct sym_ctx *ctx_of(const char *call, sym_ctx_id id)
{
    sym_begun(call);
    if (id == SYM_CTX_INVALID) return NULL;
    if (!sym_handle_is(id, SYM_CTX_MAGIC))
        sym_refuse(call, "ctx is 0x%llx, which is no context, or one that was destroyed", (unsigned long long)id);
    return (struct sym_ctx *)id;
}

int sym_ctx_pe(const char *call, sym_ctx_id ctx, int pe)
{
    const struct sym_ctx *c = ctx == SYM_CTX_DEFAULT ? NULL : ctx_of(call, ctx);
    if (ctx == SYM_CTX_DEFAULT)
        sym_begun(call);
    else if (!c)
        sym_refuse(call, "ctx is SHMEM_CTX_INVALID; look at what shmem_ctx_create returned");
    int n = c ? c->team->group->size : gw_boot.size;
    if (pe < 0 || pe >= n) sym_refuse(call, "pe is %d; the context's team has the PEs 0 to %d", pe, n - 1);
    return c ? group_world(c->team->group, pe) : pe;
}

struct sym_order *sym_ctx_order(const char *call, sym_ctx_id ctx)
{
    struct sym_ctx *c = ctx == SYM_CTX_DEFAULT ? NULL : ctx_of(call, ctx);
    if (ctx == SYM_CTX_DEFAULT) sym_begun(call);
    return ctx == SYM_CTX_DEFAULT ? &order_default : c ? &c->order : NULL;
}

int godwit_sym_ctx_create(const char *call, sym_team_id team, long options, sym_ctx_id *ctx_out)
{
    struct sym_team *t = sym_team_of(call, team);
    struct sym_ctx *c = t ? malloc(sizeof *c) : NULL;
    *ctx_out = SYM_CTX_INVALID;
    if (!c) return 1;
    pthread_mutex_lock(&ctxs_lock);
    *c = (struct sym_ctx){.magic = SYM_CTX_MAGIC, .team = t, .options = options, .next = t->ctxs};
    t->ctxs = c;
    pthread_mutex_unlock(&ctxs_lock);
    *ctx_out = (sym_ctx_id)c;
    return 0;
}

void godwit_sym_ctx_destroy(const char *call, sym_ctx_id ctx)
{
    if (ctx == SYM_CTX_DEFAULT) sym_refuse(call, "ctx is SHMEM_CTX_DEFAULT, which stays; it must be one that was created");
    struct sym_ctx *c = ctx_of(call, ctx);
    if (!c) return;
    sym_far_quiet(call, &c->order);
    sym_race_fence(ctx);
    pthread_mutex_lock(&ctxs_lock);
    struct sym_ctx **at = &c->team->ctxs;
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    pthread_mutex_unlock(&ctxs_lock);
    sym_handle_end(c);
    free(c);
}

void sym_ctxs_end(struct sym_team *t)
{
    while (t->ctxs) godwit_sym_ctx_destroy("shmem_ctx_destroy", (sym_ctx_id)t->ctxs);
}

int godwit_sym_ctx_team(const char *call, sym_ctx_id ctx, sym_team_id *team_out)
{
    const struct sym_ctx *c = ctx == SYM_CTX_DEFAULT ? NULL : ctx_of(call, ctx);
    *team_out = ctx == SYM_CTX_DEFAULT ? SYM_TEAM_WORLD : c ? sym_team_id_of(c->team) : SYM_TEAM_INVALID;
    return *team_out == SYM_TEAM_INVALID;
}

struct sym_counts godwit_sym_counts(const char *call, sym_ctx_id ctx)
{
    const struct sym_order *o = sym_ctx_order(call, ctx);
    struct sym_counts out = {0};
    if (!o) return out;
    /* what is done before what has begun, so that no more is done than has begun */
    out.gets_done = atomic_load_explicit(&o->done[0], memory_order_acquire);
    out.puts_done = atomic_load_explicit(&o->done[1], memory_order_acquire);
    out.gets = atomic_load_explicit(&o->begun[0], memory_order_relaxed);
    out.puts = atomic_load_explicit(&o->begun[1], memory_order_relaxed);
    for (int r = 0; r < SYM_REGIONS; r++)
        if (sym_memory.win[r]) out.served += rma_served(sym_memory.win[r]);
    return out;
}

/* Hints (section 9.9): whether short changes at PEs of other nodes are sent together with those that follow. */
void godwit_sym_session_start(const char *call, sym_ctx_id ctx, long options, const struct sym_session_config *config, long mask)
{
    struct sym_order *o = sym_ctx_order(call, ctx);
    if (options & ~(long)SYM_SESSION_BATCH) godwit_sym_wrong(call, "options", options, "0 or SHMEM_CTX_SESSION_BATCH");
    if (mask & ~(long)SYM_SESSION_TOTAL_OPS) godwit_sym_wrong(call, "config_mask", mask, "0 or SHMEM_CTX_SESSION_TOTAL_OPS");
    if (mask && !config) sym_refuse(call, "config is NULL; it must be a configuration where config_mask is not 0");
    if (o) atomic_store_explicit(&o->is_batched, options & SYM_SESSION_BATCH, memory_order_relaxed);
}
void godwit_sym_session_stop(const char *call, sym_ctx_id ctx)
{
    struct sym_order *o = sym_ctx_order(call, ctx);
    if (o && atomic_exchange_explicit(&o->is_batched, false, memory_order_relaxed)) sym_far_go(call);
}
