/* life.c -- which instances there are, and what starts and ends with the first and the last of them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "life/life.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/event.h"
#include "base/lock.h"
#include "base/settings.h"
#include "boot/boot.h"
#include "boot/segment.h"
#include "coll/coll.h"
#include "mem/mem.h"
#include "net/network.h"
#include "node/node.h"
#include "p2p/p2p.h"
#include "proto/proto.h"
#include "world/world.h"

enum { USERS = 4 };
static struct {
    pthread_mutex_t lock; /* guards the rest */
    enum { DOWN, UP, RESTING } rooms;
    int n;                  /* instances that have begun and not ended */
    int highest_level;      /* thread level of those since the rooms came up or woke */
    pthread_t first_thread; /* the thread that began the oldest of these */
    pid_t pid_up;           /* the process in which the rooms came up: a forked child does not take them down */
    struct {
        const struct life_user *user; /* NULL: free, and those behind it */
        int n;                        /* its instances */
    } users[USERS];
} life = {.lock = PTHREAD_MUTEX_INITIALIZER};

void life_must(int rc, const char *what)
{
    if (rc != GW_OK) gw_die("the start of MPI: %s: %s", what, gw_fail_text()[0] ? gw_fail_text() : gw_error_text(rc));
}

static void call(void (*f)(void))
{
    if (f) f();
}

/* ---- the rooms ---- */

int64_t life_heap_bytes(void) { return gw_set.heap >= 0 ? gw_set.heap : ((int64_t)8 + gw_boot.nlocal) * (1280 << 10); }

GW_ONCE void life_rooms_up(bool has_boot)
{
    if (!has_boot) life_must(boot_init(), "finding out who the other ranks are");
    gw_info_init();
    life_must(type_init(), "datatypes");
    life_must(op_init(), "reduction operations");
    peer_lanes_choose(); /* proto and req prepare their lanes before peer opens them */
    int64_t heap = life_heap_bytes();
    life_must(node_init(peer_area_bytes(gw_boot.nlocal), gw_nlanes, gw_lanes_spread, (uint64_t)heap),
              "the memory that the ranks of a node share");
    life_alike_note(); /* before a wire publishes where this rank is reached */
    req_init();
    life_must(proto_init(), "message protocols");
    life_must(proto_connect(), "connecting the ranks");
    network_report_begin();
    life_must(comm_init(), "communicators");
    life_must(p2p_init(), "point-to-point");
    life_must(coll_init(), "collectives");
}

void life_rooms_down(void)
{
    p2p_finalize();
    proto_explain();
    comm_finalize();
    peer_finalize();
    req_finalize();
    proto_finalize();
    op_finalize();
    type_finalize();
    gw_info_finalize();
    node_finalize();
}

/* ---- instances ---- */

/* The last instance has ended: this process and the others do not need each other any more. */
static void rooms_rest(bool may_return)
{
    assert(life.rooms == UP && life.n == 0);
    boot_crash_end();
    req_thread_stop();
    for (int i = 0; i < USERS && life.users[i].user; i++) call(life.users[i].user->rest);
    p2p_rest();
    world_finalize();
    if (gw_boot.nnodes > 1 && may_return)
        boot_rest();
    else
        boot_leave();
    gw_threads = gw_program_threads = gw_slow_path = false; /* gw_checking stays, because handles may still be freed */
    life.rooms = RESTING;
}

static void at_exit(void)
{
    assert(life.rooms != RESTING || life.n == 0);
    if (life.rooms == RESTING && getpid() == life.pid_up) {
        for (int i = 0; i < USERS && life.users[i].user; i++) call(life.users[i].user->down);
        life_rooms_down();
        boot_finalize();
        gw_obj_finalize();
        gw_settings_free();
    }
    life.rooms = DOWN;
}

static void rooms_wake(void)
{
    assert(life.rooms != UP || life.n == 0);
    boot_return();
    boot_crash_begin();
    peer_leave(false);
    life_must(req_thread_start(), "progress");
}

/* Sets a flag.  Other threads read these flags without a lock while there are instances, so an unchanged value is not written. */
static void turn(bool *flag, bool value)
{
    if (*flag != value) *flag = value;
}

static bool is_told(const struct life_user *user, int level, bool meets)
{
    if (level == GW_THREAD_MULTIPLE || !meets) return true;
    return level != GW_THREAD_SINGLE && user->is_joined && user->is_joined();
}

/* Locks become real with the first instance that needs them, and stay so while there are instances. */
static void threads_count(const struct life_user *user, int level, bool meets)
{
    bool is_first = life.n == 0;
    if (is_first) life.first_thread = pthread_self();
    bool is_other = !pthread_equal(life.first_thread, pthread_self()), programs = is_other || is_told(user, level, meets);
    if (is_other && !gw_threads)
        gw_warn(
            "an instance of MPI begins in another thread than that of MPI_Init, which works without locks at its thread level: if that thread "
            "is in a call of MPI now, data may be wrong; let MPI_Init_thread ask for MPI_THREAD_%s",
            life.highest_level == GW_THREAD_SINGLE ? "FUNNELED or more" : "MULTIPLE");
    turn(&gw_program_threads, programs || (gw_program_threads && !is_first));
    turn(&gw_threads, programs || gw_set.progress_thread || (gw_threads && !is_first));
    turn(&gw_checking, (user->checks && user->checks()) || (gw_checking && !is_first));
    turn(&gw_args_wanted, gw_checking || mem_has_drivers);
    turn(&gw_slow_path, gw_threads || gw_checking || mem_has_drivers || gw_set.match_mode != GW_SET_MATCH_MODE_SOFTWARE);
    turn(&gw_lanes_spread, gw_lanes_spread || gw_threads);
}

/* Its index; a user that is new gets one. */
static int index_of(const struct life_user *user)
{
    int i = 0;
    while (life.users[i].user && life.users[i].user != user) i++;
    assert(i < USERS);
    return i;
}

GW_ONCE void life_begin(const struct life_user *user, int level, bool meets)
{
    gw_settings_load();
    pthread_mutex_lock(&life.lock);
    int i = index_of(user);
    threads_count(user, level, meets);
    if (life.rooms == DOWN) {
        gw_boot.meets = meets;
        life_rooms_up(false);
        life.pid_up = getpid();
        atexit(at_exit);
    }
    if (!life.users[i].user) {
        life.users[i].user = user;
        call(user->up);
    }
    if (life.n == 0 || level > life.highest_level) life.highest_level = level;
    if (life.n++ == 0) rooms_wake();
    if (life.users[i].n++ == 0) call(user->wake);
    life.rooms = UP;
    if (level == GW_THREAD_MULTIPLE && !boot_slot->is_threaded) boot_slot->is_threaded = true;
    pthread_mutex_unlock(&life.lock);
}

GW_ONCE void life_end(const struct life_user *user, bool may_return)
{
    pthread_mutex_lock(&life.lock);
    int i = index_of(user);
    assert(life.n > 0 && life.rooms == UP && life.users[i].n > 0);
    if (life.users[i].n == 1) call(user->leave);
    life.users[i].n--;
    if (--life.n == 0) rooms_rest(may_return);
    pthread_mutex_unlock(&life.lock);
}

/* ---- questions ---- */

int life_level(int required)
{
    static const int levels[] = {GW_THREAD_SINGLE, GW_THREAD_FUNNELED, GW_THREAD_SERIALIZED, GW_THREAD_MULTIPLE}; /* ascending */
    gw_settings_load();
    int i = gw_set.thread_max;
    assert(i >= 0 && (size_t)i < GW_ARRAY_LEN(levels));
    while (i > 0 && levels[i] > required) i--;
    return levels[i];
}

int life_highest(void)
{
    pthread_mutex_lock(&life.lock);
    int level = life.n > 0 ? life.highest_level : GW_THREAD_SINGLE;
    pthread_mutex_unlock(&life.lock);
    return level;
}

bool life_is_last(void) { return life.n == 1; }
bool life_has_begun(void) { return life.rooms != DOWN; }
bool life_may_lock(void) { return gw_threads || pthread_equal(life.first_thread, pthread_self()); }
