/* begin.c -- initialisation and end of OpenSHMEM, which may be nested, and how errors end a job.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "sym/sym_private.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "boot/boot.h"
#include "boot/segment.h"
#include "boot/where.h"
#include "check/check.h"
#include "coll/coll.h"
#include "life/life.h"
#include "world/world.h"

static struct {
    pthread_mutex_t lock; /* guards the rest */
    _Atomic int n;        /* initialisations without their end */
    int level;
    bool ends_at_exit; /* start_pes was called */
    bool has_at_exit;
    pid_t pid; /* a forked child ends nothing */
    struct gw_comm *world;
} begun = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct life_user sym_life = {0};

/* ---- errors ---- */
void sym_refuse(const char *call, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    gw_die("%s: %s", call, text);
}

void godwit_sym_wrong(const char *call, const char *argument, long value, const char *expected)
{
    sym_refuse(call, "%s is %ld; it must be %s", argument, value, expected);
}

void sym_must(const char *call, int rc)
{
    if (unlikely(rc != GW_OK)) gw_die("%s: %s", call, gw_fail_text()[0] ? gw_fail_text() : gw_error_text(rc));
}

void sym_begun(const char *call)
{
    if (unlikely(atomic_load_explicit(&begun.n, memory_order_relaxed) == 0))
        sym_refuse(call, "OpenSHMEM is not initialised; call shmem_init first, and this before the last shmem_finalize");
}

/* ---- begin ---- */
/* What PEs tell each other when they meet: the largest of all is taken. */
enum { SMALLER, CHECKS, NO_CHECKS, GROUP, OTHER_GROUP, SAID }; /* SMALLER: less is larger */
static void say(int64_t said_out[SAID])
{
    const int64_t checks = check_is_asked(), group = sym_size_note();
    const int64_t said[SAID] = {[SMALLER] = -(int64_t)sym_memory_heap_wanted(gw_boot.local_rank == 0),
                                [CHECKS] = checks,
                                [NO_CHECKS] = -checks,
                                [GROUP] = group,
                                [OTHER_GROUP] = -group};
    memcpy(said_out, said, sizeof said);
}

static int world_make(int64_t said[SAID], struct gw_comm **world_out)
{
    struct gw_group *all;
    int rc = comm_group(&gw_comm_world, &all);
    if (rc != GW_OK) return rc;
    rc = world_comm_meet(all, "godwit://shmem", said, SAID, world_out);
    group_release(all);
    return rc;
}

/* What each PE would take may differ: the least is right for all.  0 where one cannot read its setting.  Whether PEs check may not. */
static int heap_agree(struct gw_comm *world, const int64_t said[SAID], uint64_t *bytes_out)
{
    bool is_one;
    int64_t least = -said[SMALLER];
    if (said[GROUP] != -said[OTHER_GROUP] || said[GROUP] == 0) { /* what the node's first PE has read does not hold for all of it */
        least = (int64_t)sym_memory_heap_wanted(sym_size_reads(&is_one));
        int rc = sym_least(world, &least, 1);
        if (rc != GW_OK) return rc;
    }
    if (said[CHECKS] != -said[NO_CHECKS])
        return gw_fail(GW_EARG, "GODWIT_CHECK is %s for this PE, and not so for another one; set it alike for all",
                       check_is_asked() ? "on" : "off");
    if (least <= 0 && sym_memory_heap_wanted(false) > 0) return gw_fail(GW_EARG, "another PE cannot read its SHMEM_SYMMETRIC_SIZE");
    *bytes_out = (uint64_t)least;
    return least > 0 ? GW_OK : GW_EARG;
}

/* Ends the instance again if there is no memory: the program may go on without OpenSHMEM. */
static int first_begin(int level)
{
    uint64_t heap = 0;
    int64_t said[SAID];
    sym_explain();
    life_begin(&sym_life, level, true);
    atomic_store_explicit(&boot_slot->in_shmem, 1, memory_order_relaxed);
    sym_call_enter(BOOT_CALL_shmem_init);
    say(said);
    life_must(world_make(said, &begun.world), "meeting the other PEs");
    life_alike_compare();
    sym_tell();
    int rc = coll_tuned_take(begun.world);
    if (rc == GW_OK) rc = heap_agree(begun.world, said, &heap);
    if (rc == GW_OK) {
        rc = sym_memory_open(begun.world, heap);
        if (rc == GW_OK) rc = sym_teams_open(begun.world);
        if (rc == GW_OK) rc = sym_heap_open(heap);
        rc = sym_memory_meet(rc); /* all are there, or none is */
        if (rc == GW_OK) return rc;
        sym_heap_close();
        sym_teams_close();
    }
    gw_warn("OpenSHMEM cannot be initialised: %s", gw_fail_text());
    world_comm_end(&begun.world);
    life_end(&sym_life, true);
    return rc;
}

static void at_exit(void);
int godwit_sym_begin(const char *call, int level, int *provided_out)
{
    int rc = GW_OK;
    (void)call;
    pthread_mutex_lock(&begun.lock);
    if (atomic_load(&begun.n) == 0) {
        begun.level = life_level(level);
        rc = first_begin(begun.level);
    }
    if (rc == GW_OK) atomic_fetch_add(&begun.n, 1);
    if (provided_out && rc == GW_OK) *provided_out = begun.level;
    pthread_mutex_unlock(&begun.lock);
    return rc == GW_OK ? 0 : 1;
}

void godwit_sym_begin_must(const char *call)
{
    if (godwit_sym_begin(call, GW_THREAD_SINGLE, NULL) != 0) gw_die("%s: there is no symmetric memory", call);
}

void godwit_sym_begin_once(const char *call)
{
    if (godwit_sym_is_begun()) return;
    godwit_sym_begin_must(call);
    begun.ends_at_exit = true;
    begun.pid = getpid();
    if (!begun.has_at_exit) begun.has_at_exit = atexit(at_exit) == 0;
}

/* ---- end ---- */
static void last_end(const char *call)
{
    sym_teams_close();
    sym_heap_close();
    sym_memory_close();
    sym_must(call, world_comm_end(&begun.world));
    begun.ends_at_exit = false;
    life_end(&sym_life, true);
}

/* As a barrier of all, which would make the world's shared memory for collectives if the program has had none. */
static void meet_last(const char *call)
{
    sym_call_enter(BOOT_CALL_shmem_finalize);
    if (!sym_near_quiet()) godwit_sym_quiet(call, SYM_CTX_DEFAULT);
    atomic_thread_fence(memory_order_seq_cst);
    coll_call_begin(begun.world); /* who calls something else is told */
    coll_node_most(NULL, 0);
    coll_call_end(begun.world);
}

void godwit_sym_end(const char *call)
{
    sym_begun(call);
    pthread_mutex_lock(&begun.lock);
    const bool is_last = atomic_load(&begun.n) == 1;
    if (is_last && sym_is_node(begun.world) && !sym_memory.checks)
        meet_last(call);
    else
        godwit_sym_barrier_all(call);
    if (is_last) last_end(call); /* nobody accesses anything any more */
    atomic_fetch_sub(&begun.n, 1);
    pthread_mutex_unlock(&begun.lock);
}

static void at_exit(void)
{
    if (begun.ends_at_exit && getpid() == begun.pid) godwit_sym_end("exit after start_pes");
}

void godwit_sym_exit(int status)
{
    fflush(NULL);
    char text[64];
    snprintf(text, sizeof text, "shmem_global_exit(%d)", status);
    boot_abort(status, text);
}

void godwit_sym_within(const char *call)
{
    static uint32_t kept; /* the program's last call */
    if (!godwit_sym_is_begun()) return;
    if (call)
        kept = atomic_load_explicit(&boot_slot->call, memory_order_relaxed);
    else
        sym_call_enter(kept);
    atomic_store_explicit(&boot_call_as, call, memory_order_relaxed);
}

/* ---- questions ---- */
int godwit_sym_is_begun(void) { return atomic_load(&begun.n) > 0; }

int godwit_sym_level(const char *call)
{
    sym_begun(call);
    return begun.level;
}

int godwit_sym_pe(const char *call)
{
    sym_begun(call);
    return gw_boot.rank;
}

int godwit_sym_pes(const char *call)
{
    sym_begun(call);
    return gw_boot.size;
}

int godwit_sym_pe_is_accessible(const char *call, int pe)
{
    sym_begun(call);
    return pe >= 0 && pe < gw_boot.size;
}

int godwit_sym_is_accessible(const char *call, const void *addr, int pe)
{
    return godwit_sym_pe_is_accessible(call, pe) && sym_region_of(addr, 1) >= 0;
}

void *godwit_sym_ptr(const char *call, const void *addr, sym_team_id team, int pe)
{
    struct sym_team *t = sym_team_of(call, team);
    if (!t || pe < 0 || pe >= t->group->size || sym_region_of(addr, 1) < 0) return NULL;
    int world = group_world(t->group, pe);
    if (world != gw_boot.rank) sym_race_pointer();
    return world == gw_boot.rank ? (void *)(uintptr_t)addr : sym_place(addr, 1, world);
}
