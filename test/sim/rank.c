/* rank.c -- one rank's copy: clocks, sleeping, futexes, exit and the way in lead to the driver.
 *
 * The linker gives every call of NAME in this copy to __wrap_NAME (test/sim/meson.build), so that neither the rooms nor the test
 * programs are changed.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "host.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/settings.h"
#include "op/op.h"
#include "peer/peer.h"
#include "rma/rma_private.h"

static const struct sim_host *host;
static const char *boot_text;

GW_EXPORT sim_rank_begin_fn sim_rank_begin;
void sim_rank_begin(const struct sim_host *h, int rank, const char *boot)
{
    host = h;
    boot_text = boot;
    sim_attach(h->net, rank);
    peer_wires[0] = &sim_ops;
}

/* ---- time: the driver's clock ------------------------------------------------------------------------------------------------ */
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    (void)clock;
    uint64_t ns = host->now();
    t->tv_sec = (time_t)(ns / 1000000000);
    t->tv_nsec = (long)(ns % 1000000000);
    return 0;
}

int __wrap_nanosleep(const struct timespec *t, struct timespec *left);
int __wrap_nanosleep(const struct timespec *t, struct timespec *left)
{
    (void)left;
    host->sleep((uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec);
    return 0;
}

int __wrap_usleep(useconds_t us);
int __wrap_usleep(useconds_t us)
{
    host->sleep((uint64_t)us * 1000);
    return 0;
}

int __wrap_sched_yield(void);
int __wrap_sched_yield(void)
{
    host->pause(true);
    return 0;
}

/* Which way is quicker is a matter of the CPU's own clock: here a matter of the seed. */
bool __wrap_proto_adaptive_direct(void *lane, const void *recv);
bool __wrap_proto_adaptive_direct(void *lane, const void *recv)
{
    (void)lane, (void)recv;
    return gw_set.proto == GW_SET_PROTO_R0 || sim_chance(host->net, 128);
}

/* ---- waiting ----------------------------------------------------------------------------------------------------------------- */
int __wrap_gw_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns);
int __wrap_gw_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns)
{
    return host->futex_wait(word, expected, timeout_ns);
}

void __wrap_gw_futex_wake(_Atomic uint32_t *word, int n);
void __wrap_gw_futex_wake(_Atomic uint32_t *word, int n)
{
    (void)word, (void)n; /* whoever sleeps on a word that has changed wakes */
    host->futex_wake();
}

/* ---- one-sided access: loads and stores in memory that all ranks see, so others must get between them -------------------------- */
static bool is_updating, has_skipped; /* an accumulate is under way; its lock was left out (a bug on demand) */

int __real_rma_epoch_allows(struct rma_win *w, int target, bool must_be_passive);
int __wrap_rma_epoch_allows(struct rma_win *w, int target, bool must_be_passive);
int __wrap_rma_epoch_allows(struct rma_win *w, int target, bool must_be_passive)
{
    host->pause(false);
    return __real_rma_epoch_allows(w, target, must_be_passive);
}

/* What is inlined into entry points lets nobody in between, so it is taken now and then only. */
bool __real_rma_fast_is_wanted(void);
bool __wrap_rma_fast_is_wanted(void);
bool __wrap_rma_fast_is_wanted(void) { return __real_rma_fast_is_wanted() && sim_chance(host->net, 64); }

void __real_rma_busy_enter(struct rma_win *w, int target);
void __wrap_rma_busy_enter(struct rma_win *w, int target);
void __wrap_rma_busy_enter(struct rma_win *w, int target)
{
    has_skipped = host->net->ways.bug == SIM_BUG_BUSY;
    if (has_skipped)
        host->net->bugs++;
    else
        __real_rma_busy_enter(w, target);
    is_updating = true;
    host->pause(false);
}
void __real_rma_busy_exit(struct rma_win *w, int target);
void __wrap_rma_busy_exit(struct rma_win *w, int target);
void __wrap_rma_busy_exit(struct rma_win *w, int target)
{
    is_updating = false;
    if (!has_skipped) __real_rma_busy_exit(w, target);
    has_skipped = false; /* a rank that tries and does not enter leaves as well */
    host->pause(false);
}

int __real_rma_lock_take(struct rma_win *w, int target, bool exclusive);
int __wrap_rma_lock_take(struct rma_win *w, int target, bool exclusive);
int __wrap_rma_lock_take(struct rma_win *w, int target, bool exclusive)
{
    int rc = __real_rma_lock_take(w, target, exclusive && host->net->ways.bug != SIM_BUG_LOCK);
    host->pause(false);
    return rc;
}
int __real_rma_lock_give(struct rma_win *w, int target, bool exclusive);
int __wrap_rma_lock_give(struct rma_win *w, int target, bool exclusive);
int __wrap_rma_lock_give(struct rma_win *w, int target, bool exclusive)
{
    int rc = __real_rma_lock_give(w, target, exclusive && host->net->ways.bug != SIM_BUG_LOCK);
    host->pause(false);
    return rc;
}

/* A target that has once not answered is asked again sooner than in earnest, and one is asked although it sleeps: it may wake in time. */
static void ask_again(struct rma_win *w, int target)
{
    if (w->mailer && sim_chance(host->net, 128)) atomic_store(&w->targets[target].left_alone, 0);
}
bool __real_rma_mail_may_ask(struct rma_win *w, int target, int64_t bytes);
bool __wrap_rma_mail_may_ask(struct rma_win *w, int target, int64_t bytes);
bool __wrap_rma_mail_may_ask(struct rma_win *w, int target, int64_t bytes)
{
    ask_again(w, target);
    return __real_rma_mail_may_ask(w, target, bytes);
}
bool __real_rma_mail_move(struct rma_win *w, int target, bool is_put, uint64_t at, int64_t bytes, void *packed);
bool __wrap_rma_mail_move(struct rma_win *w, int target, bool is_put, uint64_t at, int64_t bytes, void *packed);
bool __wrap_rma_mail_move(struct rma_win *w, int target, bool is_put, uint64_t at, int64_t bytes, void *packed)
{
    ask_again(w, target);
    return __real_rma_mail_move(w, target, is_put, at, bytes, packed);
}
void __wrap_rma_mail_relax(struct rma_mail *m);
void __wrap_rma_mail_relax(struct rma_mail *m)
{
    host->pause(false);
    if (host->net->ways.bug == SIM_BUG_MAIL) atomic_store(&m->withdrawn, 0); /* the target will not see it */
}

int64_t __real_type_copy(const void *src, int64_t scount, struct gw_type *st, void *dst, int64_t dcount, struct gw_type *dt);
int64_t __wrap_type_copy(const void *src, int64_t scount, struct gw_type *st, void *dst, int64_t dcount, struct gw_type *dt);
int64_t __wrap_type_copy(const void *src, int64_t scount, struct gw_type *st, void *dst, int64_t dcount, struct gw_type *dt)
{
    if (is_updating) host->pause(false);
    return __real_type_copy(src, scount, st, dst, dcount, dt);
}
void __real_op_reduce(struct gw_op *op, const void *in, void *inout, int64_t count, struct gw_type *t);
void __wrap_op_reduce(struct gw_op *op, const void *in, void *inout, int64_t count, struct gw_type *t);
void __wrap_op_reduce(struct gw_op *op, const void *in, void *inout, int64_t count, struct gw_type *t)
{
    if (!is_updating) return __real_op_reduce(op, in, inout, count, t);
    host->pause(false);
    if (!has_skipped || !t->is_dense || t->true_lb) return __real_op_reduce(op, in, inout, count, t);
    /* One call of a kernel is over before anybody else runs, so that a lock that is left out would make no difference: others run
     * between its loads and its stores. */
    void *loaded = gw_xmalloc((size_t)(count * t->size));
    memcpy(loaded, inout, (size_t)(count * t->size));
    host->pause(true);
    __real_op_reduce(op, in, loaded, count, t);
    memcpy(inout, loaded, (size_t)(count * t->size));
    free(loaded);
}
int __real_rma_reach_move(struct rma_win *w, int target, bool is_put, uint64_t at, int64_t count, struct gw_type *t, int64_t bytes,
                          struct rma_packed packed);
int __wrap_rma_reach_move(struct rma_win *w, int target, bool is_put, uint64_t at, int64_t count, struct gw_type *t, int64_t bytes,
                          struct rma_packed packed);
int __wrap_rma_reach_move(struct rma_win *w, int target, bool is_put, uint64_t at, int64_t count, struct gw_type *t, int64_t bytes,
                          struct rma_packed packed)
{
    host->pause(false);
    return __real_rma_reach_move(w, target, is_put, at, count, t, bytes, packed);
}

/* ---- the process ------------------------------------------------------------------------------------------------------------- */
char *__real_getenv(const char *name);
char *__wrap_getenv(const char *name);
char *__wrap_getenv(const char *name)
{
    return strcmp(name, "GODWIT_BOOT") == 0 ? (char *)(uintptr_t)boot_text : __real_getenv(name);
}

ssize_t __wrap_getrandom(void *p, size_t n, unsigned flags);
ssize_t __wrap_getrandom(void *p, size_t n, unsigned flags)
{
    (void)flags;
    for (size_t i = 0; i < n; i++) ((unsigned char *)p)[i] = (unsigned char)sim_below(host->net, 256);
    return (ssize_t)n;
}

int64_t __wrap_gw_memory_available(const char **limit_out);
int64_t __wrap_gw_memory_available(const char **limit_out)
{
    if (limit_out) *limit_out = "nothing";
    return INT64_MAX;
}

void __wrap_exit(int status) __attribute__((noreturn));
void __wrap_exit(int status) { host->leave(status); }
void __wrap__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) { host->leave(status); }
