/* init.c -- MPI_Init, MPI_Finalize, inquiries on them, and what sessions need of that.  The World Model and each session (session.c) are
 * instances of life/, which starts and ends the rooms.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/mpi_private.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/event.h"
#include "base/lock.h"
#include "base/settings.h"
#include "boot/kvs.h"
#include "boot/segment.h"
#include "net/network.h"
#include "node/node.h"
#include "plan/plan.h"
#include "proto/proto.h"

/* The World Model: written by MPI_Init, read afterwards. */
static struct {
    _Atomic(uint32_t) call; /* the call entered last, while there is no slot to note it in */
    int thread_level;       /* what MPI_Init provided */
    pthread_t main_thread;  /* which called MPI_Init */
} world;
_Atomic int mpi_phase = MPI_PHASE_BEFORE;
struct mpi_hot mpi_hot = {.call = &world.call, .check = true};

const char *mpi_level_name(int level)
{
    return level == GW_THREAD_SINGLE    ? "MPI_THREAD_SINGLE"
        : level == GW_THREAD_FUNNELED   ? "MPI_THREAD_FUNNELED"
        : level == GW_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                                        : "MPI_THREAD_MULTIPLE";
}

static void env_put(struct gw_info *info, const char *key, const char *value)
{
    if (info)
        gw_info_set(info, key, value);
    else
        gw_info_env_set(key, value);
}

/* Adds the keys of MPI_INFO_ENV to info, or to MPI_INFO_ENV itself if info is NULL.  size 0: not known yet. */
static void env_facts(struct gw_info *info, int size)
{
    static const char *const said[] = {"soft", "file"};
    char text[GW_MAX_INFO_VAL];
    bool is_said = boot_env_said("maxprocs", text, sizeof text);
    if (!is_said) snprintf(text, sizeof text, "%d", size);
    if (is_said || size > 0) env_put(info, "maxprocs", text);
    for (size_t i = 0; i < GW_ARRAY_LEN(said); i++)
        if (boot_env_said(said[i], text, sizeof text)) env_put(info, said[i], text);
    if (gw_set.memory_alloc_kinds && gw_set.memory_alloc_kinds[0])
        env_put(info, "mpi_memory_alloc_kinds", gw_set.memory_alloc_kinds);
    const struct gw_errhandler *eh = gw_errhandler_initial();
    env_put(info, "mpi_initial_errhandler",
            eh == &gw_errors_return      ? "mpi_errors_return"
                : eh == &gw_errors_abort ? "mpi_errors_abort"
                                         : "mpi_errors_are_fatal");
    env_put(info, "thread_level", mpi_level_name(GW_THREAD_SINGLE)); /* MPI_Init_thread may raise it */
}

int mpi_info_create_env(int argc, char **argv, struct gw_info **info_out)
{
    bool is_known = gw_obj_lookup(GW_H_INFO_ENV, GW_KIND_INFO) != NULL;
    int rc = gw_info_create_env(argc, argv, info_out);
    if (rc != GW_OK || is_known) return rc;
    gw_settings_load();
    env_facts(*info_out, boot_env_size());
    return GW_OK;
}

static void predefined_attributes(void)
{
    gw_attr_predefined_set(GW_HOST, GW_PROC_NULL);
    gw_attr_predefined_set(GW_IO, GW_ANY_SOURCE);
    gw_attr_predefined_set(GW_WTIME_IS_GLOBAL, 0);
    gw_attr_predefined_set(GW_LASTUSEDCODE, gw_errcode_last()); /* codes may have been added before MPI_Init */
    if (gw_boot.appnum >= 0) gw_attr_predefined_set(GW_APPNUM, gw_boot.appnum);
    if (gw_boot.universe_size > 0) gw_attr_predefined_set(GW_UNIVERSE_SIZE, gw_boot.universe_size);
}

/* ---- what life/ calls ---- */

static GW_ONCE void up(void)
{
    mpi_wrapper_look();
    io_init();
    env_facts(NULL, gw_boot.size);
    gw_attr_predefined_set(GW_TAG_UB, proto_tag_max());
}

static void wake(void)
{
    assert(!mpi_hot.running);
    uint32_t fn = atomic_load_explicit(mpi_hot.call, memory_order_relaxed);
    mpi_hot.call = &boot_slot->call;
    boot_slot->is_checking = gw_checking;
    mpi_enter(fn);
    mpi_hot.check = gw_set.check_args;
    mpi_hot.running = true;
    if (gw_checking) check_begin();
}

static void leave(void)
{
    if (unlikely(gw_checking)) check_rest();
    mpi_hot.running = false;
    mpi_hot.call = &world.call;
}

static const struct life_user mpi_life = {.checks = check_is_asked,
                                          .is_joined = mpi_imports_sessions,
                                          .up = up,
                                          .wake = wake,
                                          .leave = leave,
                                          .rest = io_finalize,
                                          .down = io_finalize};

GW_ONCE void mpi_instance_begin(int level, bool meets)
{
    life_begin(&mpi_life, level, meets);
    if (gw_checking) check_level(life_highest());
}

/* A session may begin after others have ended, unless MPI was finalized. */
GW_ONCE void mpi_instance_end(void) { life_end(&mpi_life, atomic_load(&mpi_phase) != MPI_PHASE_FINALIZED); }

/* ---- the World Model ---- */
/* Waits for the other ranks of this node. */
static void meet_on_node(_Atomic uint32_t *arrived)
{
    struct node_wait w;
    uint32_t all = (uint32_t)gw_node.nlocal;
    /* Release and acquire: every rank sees what the others did before. */
    uint32_t n = atomic_fetch_add_explicit(arrived, 1, memory_order_acq_rel) + 1;
    assert(n <= all); /* nobody comes twice */
    if (n == all)
        for (int i = 0; i < gw_node.nlocal; i++) node_ring(i);
    node_wait_begin(&w);
    while (atomic_load_explicit(arrived, memory_order_acquire) < all) node_wait_step(&w, req_progress() > 0);
    node_wait_end(&w);
}

static GW_ONCE void ring_myself(void) { node_ring(gw_node.me); }

/* By the launcher: whose ranks never sent anything to other nodes do not open the network for this.  Where there may be no other thread
 * (a limit of processes) what others wait for goes out first. */
static GW_ONCE int meet_all(void)
{
    struct node_wait w;
    gw_lock(&gw_lanes[0].lock); /* which who asks the launcher in progress holds */
    int rc = boot_fence_begin(ring_myself);
    gw_unlock(&gw_lanes[0].lock);
    if (rc != GW_OK) {
        p2p_buffer_flush(NULL);
        while (!p2p_is_quiet()) req_progress();
        return boot_fence();
    }
    node_wait_begin(&w);
    while (!boot_fence_is_over()) node_wait_step(&w, req_progress() > 0);
    node_wait_end(&w);
    return boot_fence_end();
}

static bool meets_by_messages(void) { return gw_boot.nnodes == 1 || (boot_fences_once() && gw_lanes[0].n_nets > 0); }

/* Everybody, or where the network does not need that, those who share memory. */
static GW_ONCE int meet(unsigned when)
{
    bool is_first = when == BOOT_BEFORE_FIRST, all = boot_must_meet(when);
    if (is_first || !all) meet_on_node(&((struct boot_head *)gw_node.base)->met[!is_first]);
    if (is_first) life_alike_compare(); /* before the first collective */
    if (!all) return GW_OK;
    return meets_by_messages() ? coll_barrier(&gw_comm_world, NULL) : meet_all();
}

static int connect_all(void)
{
    int rc = GW_OK;
    for (int r = 0; r < gw_boot.size && rc == GW_OK; r++) {
        gw_lock(&gw_lanes[0].lock);
        rc = peer_connect(&gw_lanes[0], peer_get(&gw_lanes[0], r));
        gw_unlock(&gw_lanes[0].lock);
        if (rc == GW_AGAIN) rc = GW_OK; /* then with the first message */
    }
    return rc;
}

GW_ONCE int mpi_init(int required, int *provided_out)
{
    if (atomic_load(&mpi_phase) != MPI_PHASE_BEFORE)
        return gw_fail(GW_EOTHER,
                       atomic_load(&mpi_phase) == MPI_PHASE_RUNNING ? "MPI is already initialized: call it once"
                                                                    : "MPI was finalized: it cannot be initialized again");
    world.thread_level = life_level(required);
    world.main_thread = pthread_self();
    mpi_instance_begin(world.thread_level, true);
    if (gw_checking) check_main_thread();
    atomic_store_explicit(&boot_slot->in_world, 1, memory_order_relaxed);
    gw_info_env_set("thread_level", mpi_level_name(world.thread_level));
    predefined_attributes();
    comm_world_show();
    mpi_display(required);
    atomic_store(&mpi_phase, MPI_PHASE_RUNNING);
    /* Everybody has mapped the segment and opened its wires when this is over. */
    if (boot_connects_all()) life_must(connect_all(), "connecting all ranks");
    plan_call_begin(&gw_comm_world, PLAN_ANY_CALL, GW_ANY_SOURCE);
    life_must(meet(BOOT_BEFORE_FIRST), "waiting for the other ranks");
    life_must(coll_tuned_take(&gw_comm_world), "comparing what GODWIT_TUNE says");
    if (gw_checking) check_alike();
    life_must(world_meet_parent(), "meeting the processes that spawned this job");
    plan_call_end(&gw_comm_world);
    *provided_out = world.thread_level;
    return GW_OK;
}

/* What the network cards counted while the job ran. */
static int network_report(void)
{
    int64_t *sum, *most;
    if (!network_report_take(&sum, &most)) return GW_OK;
    int rc = coll_allreduce(GW_IN_PLACE, sum, NETWORK_NUMBERS, gw_type_int64, gw_op_sum, &gw_comm_world, NULL);
    if (rc == GW_OK) rc = coll_allreduce(GW_IN_PLACE, most, NETWORK_NUMBERS, gw_type_int64, gw_op_max, &gw_comm_world, NULL);
    if (rc == GW_OK) network_report_print();
    return rc;
}

/* Collectives that did not match and that nobody noticed: two roots that both only sent.  Where errors of the communicator return, its users
 * have been told what they asked for. */
static bool calls_differ(struct gw_obj *o, const void *rc_out)
{
    struct gw_comm *c = container_of(o, struct gw_comm, obj);
    int *rc = (int *)(uintptr_t)rc_out;
    /* Who is ahead may send on: GODWIT_CHECK does, callbacks of attributes may. */
    if (mpi_raise_prints(c)) *rc = plan_compare_last(c, gw_checking || gw_comm_world.attrs.head);
    return *rc < 0;
}

static int last_look(void)
{
    int rc = GW_OK;
    for (int quiet = 0; quiet < 3;) quiet = req_progress() ? 0 : quiet + 1; /* what others have sent comes in */
    if (calls_differ(&gw_comm_world.obj, &rc)) return rc;
    struct gw_obj *o = gw_obj_find(GW_KIND_COMM, calls_differ, &rc);
    if (o) comm_release(container_of(o, struct gw_comm, obj));
    return rc;
}

GW_ONCE int mpi_finalize(void)
{
    if (atomic_load(&mpi_phase) != MPI_PHASE_RUNNING) /* a session keeps the entry point open */
        return gw_fail(GW_EOTHER,
                       atomic_load(&mpi_phase) == MPI_PHASE_BEFORE
                           ? "MPI_Init was not called: sessions end with MPI_Session_finalize"
                           : "MPI was finalized before");
    /* The first thing that finalize does, while everything still works: callbacks may communicate on MPI_COMM_SELF. */
    int rc = gw_attr_delete_all(&gw_comm_self.attrs, &gw_comm_self.obj);
    if (rc != GW_OK) return rc;
    if (unlikely(gw_checking)) rc = check_leave((int)atomic_load_explicit(mpi_hot.call, memory_order_relaxed));
    if (rc != GW_OK) return rc;
    plan_call_begin(&gw_comm_world, PLAN_FINALIZE, GW_ANY_SOURCE);
    rc = network_report();
    if (rc == GW_OK) rc = mpi_report();
    if (rc == GW_OK) rc = meet(BOOT_AFTER_LAST); /* nobody leaves while others still need its memory or its progress */
    plan_call_end(&gw_comm_world);
    if (rc == GW_OK) rc = last_look();
    if (rc != GW_OK) return rc;
    rc = gw_attr_delete_all(&gw_comm_world.attrs, &gw_comm_world.obj);
    if (rc != GW_OK) return rc;
    world_finalize();
    if (unlikely(gw_checking)) check_end(life_is_last());
    atomic_store(&mpi_phase, MPI_PHASE_FINALIZED);
    comm_world_hide();
    mpi_instance_end();
    return GW_OK;
}

int mpi_initialized(int *flag_out)
{
    *flag_out = atomic_load(&mpi_phase) != MPI_PHASE_BEFORE;
    return GW_OK;
}

int mpi_finalized(int *flag_out)
{
    *flag_out = atomic_load(&mpi_phase) == MPI_PHASE_FINALIZED;
    return GW_OK;
}

int mpi_query_thread(int *provided_out)
{
    *provided_out = world.thread_level;
    return GW_OK;
}

int mpi_is_thread_main(int *flag_out)
{
    *flag_out = pthread_equal(world.main_thread, pthread_self()) != 0;
    return GW_OK;
}

int mpi_abort(struct gw_comm *c, int errorcode)
{
    char text[sizeof((struct boot_rank *)0)->what];
    snprintf(text, sizeof text, "MPI_Abort(%.48s, %d)", c->name[0] ? c->name : "comm", errorcode);
    boot_abort(errorcode, text);
}
