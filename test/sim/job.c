/* job.c -- see job.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "job.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "boot/boot.h"
#include "boot/call.h"
#include "boot/segment.h"
#include "boot/where.h"
#include "boot/world.h"
#include "verdict/verdict.h"

/* A job in which nothing has moved for so many scheduling points, or sleeps that timed out for each rank, will not move any more. */
enum { STILL_POINTS = 2000000, STILL_SLEEPS = 4 };

enum state { READY, FUTEX, SLEEPING, ENDED, DEAD };
struct rank {
    sem_t baton;
    pthread_t thread;
    enum state state;
    _Atomic uint32_t *word; /* FUTEX: sleeps on it */
    uint32_t expected;
    uint64_t until; /* FUTEX, SLEEPING */
    uint32_t weight;
    uint64_t points, activity_at_sleep;
    uint32_t timeouts; /* in a row */
    bool timed_out;    /* the last sleep ended by its time, and nothing has come of it yet */
    char boot[64];
};
static struct {
    const struct sim_run *run;
    struct sim_result result;
    struct sim_net *net;
    struct rank ranks[SIM_MAX_RANKS];
    int current;
    sem_t over;
    bool is_over;
    uint64_t still, activity_seen; /* scheduling points without activity */
    struct boot_head *head;
    struct sim_host host;
} s;

static struct rank *me(void) { return &s.ranks[s.current]; }

#define LOG(...)                                                                                                                   \
    do {                                                                                                                           \
        if (unlikely(s.run->log)) log_line(__VA_ARGS__);                                                                           \
    } while (0)
static void log_line(const char *fmt, ...) GW_PRINTF(1, 2);
static void log_line(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "%12.3f us  rank %d  ", (double)(s.net->now - 1000000000) * 1e-3, s.current);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
}

static void log_message(const struct sim_net *net, const char *what, int from, int to, const struct sim_msg *m)
{
    if (!m)
        log_line("%s: from %d to %d", what, from, to);
    else if (from == net->n)
        log_line("%s: a copy of its own, due %.3f us", what, (double)(m->due - 1000000000) * 1e-3);
    else
        log_line("%s: from %d to %d, lane %d, kind %d, %u bytes, due %.3f us", what, from, to, m->lane, m->kind, m->len,
                 (double)(m->due - 1000000000) * 1e-3);
}

/* ---- ending ------------------------------------------------------------------------------------------------------------------ */
static void stop_for_ever(void) __attribute__((noreturn));
static void stop_for_ever(void)
{
    for (;;) pause();
}

static void run_over(enum sim_end end) __attribute__((noreturn));
static void run_over(enum sim_end end)
{
    s.result.end = end;
    s.is_over = true;
    sem_post(&s.over);
    stop_for_ever();
}

static const struct boot_rank *slots(void) { return (const struct boot_rank *)((const char *)s.head + s.head->ranks_offset); }

static void verdict_print(void)
{
    struct verdict_rank r[SIM_MAX_RANKS];
    memset(r, 0, sizeof r);
    for (int i = 0; i < s.run->n; i++) {
        r[i].world = i;
        r[i].is_gone = s.ranks[i].state == ENDED || s.ranks[i].state == DEAD;
        r[i].os = 'S';
        r[i].phase = atomic_load(&slots()[i].phase);
        r[i].call = atomic_load(&slots()[i].call);
        r[i].n_colls = (int)gw_min64(atomic_load(&slots()[i].n_colls), BOOT_COLLS);
        for (int k = 0; k < BOOT_COLLS; k++)
            for (int w = 0; w < 2; w++) r[i].colls[k][w] = atomic_load(&slots()[i].colls[k].word[w]);
        r[i].where = slots()[i].where;
    }
    struct verdict_job j = {.ranks = r, .n = s.run->n, .size = s.run->n, .now_ns = s.net->now, .call_name = boot_call_name};
    char *text = verdict_text(&j);
    fprintf(stderr, "%s\n", text);
    free(text);
}

static void deadlock(const char *how) __attribute__((noreturn));
static void deadlock(const char *how)
{
    if (s.run->dies >= 0 && s.ranks[s.run->dies].state == DEAD) run_over(SIM_ENDED); /* the others wait for it, as they must */
    fprintf(stderr, "sim: the job does not move any more: %s\n", how);
    verdict_print();
    run_over(SIM_DEADLOCK);
}

/* ---- which rank runs next ----------------------------------------------------------------------------------------------------------- */
static bool can_run(int i)
{
    const struct rank *r = &s.ranks[i];
    switch (r->state) {
    case READY: return true;
    case FUTEX: return sim_net_due(s.net, i) <= s.net->now;
    case SLEEPING: return r->until <= s.net->now;
    default: return false;
    }
}

/* One of those that can run, by weight; -1: none can. */
static int choose(void)
{
    uint32_t total = 0;
    int chosen = -1;
    for (int i = 0; i < s.run->n; i++) {
        if (!can_run(i)) continue;
        total += s.ranks[i].weight;
        if (sim_below(s.net, total) < s.ranks[i].weight) chosen = i;
    }
    return chosen;
}

/* When something will happen by itself: a message comes, or a rank wakes that asked for a time. */
static uint64_t next_event(void)
{
    uint64_t next = SIM_NEVER;
    for (int i = 0; i < s.run->n; i++) {
        const struct rank *r = &s.ranks[i];
        if (r->state == ENDED || r->state == DEAD) continue;
        uint64_t at = r->state == SLEEPING ? r->until : sim_net_due(s.net, i);
        if (at > s.net->now && at < next) next = at;
    }
    return next;
}

/* Everybody sleeps and nothing is under way: the sleep that is the first to time out ends.  This is a net below the doorbells. */
static int time_out(void)
{
    int first = -1;
    bool all_still = true, all_ended = true;
    for (int i = 0; i < s.run->n; i++) {
        const struct rank *r = &s.ranks[i];
        all_ended = all_ended && (r->state == ENDED || r->state == DEAD);
        if (r->state != FUTEX || r->until == SIM_NEVER) continue;
        all_still = all_still && r->timeouts >= STILL_SLEEPS;
        if (first < 0 || r->until < s.ranks[first].until) first = i;
    }
    if (all_ended) run_over(SIM_ENDED);
    if (first < 0 || all_still) deadlock("every rank waits, and no message is under way");
    struct rank *r = &s.ranks[first];
    if (r->until > s.net->now) s.net->now = r->until;
    r->timeouts++;
    r->timed_out = true;
    r->state = READY;
    return first;
}

static int next_rank(void)
{
    int next = choose();
    while (next < 0) {
        uint64_t at = next_event();
        if (at == SIM_NEVER) return time_out();
        s.net->now = at;
        next = choose();
    }
    return next;
}

static void hand_on(void)
{
    struct rank *mine = me();
    int next = next_rank(), before = s.current;
    struct rank *r = &s.ranks[next];
    if (r->state != READY) r->timeouts = 0;
    r->state = READY;
    sim_trace(s.net, (uint64_t)next << 40 ^ s.net->now);
    if (next == before) return;
    s.result.switched++;
    LOG("-> rank %d", next);
    s.current = next;
    sem_post(&r->baton);
    while (sem_wait(&mine->baton) != 0) {}
    if (s.is_over) stop_for_ever();
}

/* A sleep that timed out was followed by something: so the wake-up for it had been lost. */
static void check_wake(struct rank *r, bool did_something)
{
    if (r->timed_out && did_something) {
        const char *call = boot_call_name(atomic_load(&slots()[s.current].call));
        s.result.late_wakes++;
        fprintf(stderr, "sim: rank %d went on only because its sleep timed out: nobody had rung its doorbell (%s)\n", s.current,
                call ? call : "no MPI call");
        run_over(SIM_LATE_WAKE);
    }
    r->timed_out = false;
}

static void point(void)
{
    struct rank *r = me();
    s.result.points++;
    if (s.net->activity != s.activity_seen) {
        s.activity_seen = s.net->activity;
        s.still = 0;
    } else if (++s.still > STILL_POINTS)
        deadlock("ranks look for messages again and again, but none is under way");
    if (s.run->dies == s.current && ++r->points >= s.run->dies_at) {
        r->state = DEAD;
        hand_on();
    }
}

/* ---- what the ranks call ----------------------------------------------------------------------------------------------------- */
static void host_pause(bool idle)
{
    point();
    if (idle) {
        /* The longer nothing happens the faster time goes, so that a program that looks for a second does not look forever. */
        s.net->now += 200ull << gw_min64((int64_t)s.still / 64, 12);
        if (sim_below(s.net, 4)) return hand_on();
    } else
        s.net->now += 50;
    if (sim_chance(s.net, s.run->switches)) hand_on();
}

static uint64_t host_now(void)
{
    host_pause(true);
    return s.net->now;
}

static void host_sleep(uint64_t ns)
{
    point();
    me()->state = SLEEPING;
    me()->until = s.net->now + ns + 1;
    hand_on();
}

static int host_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns)
{
    struct rank *r = me();
    point();
    if (atomic_load(word) != expected) return 0;
    check_wake(r, s.net->activity != r->activity_at_sleep);
    r->activity_at_sleep = s.net->activity;
    r->word = word;
    r->expected = expected;
    r->until = timeout_ns < 0 ? SIM_NEVER : s.net->now + (uint64_t)timeout_ns;
    r->state = FUTEX;
    LOG("sleeps, at most %.3f us", (double)timeout_ns * 1e-3);
    hand_on();
    LOG("%s", r->timed_out ? "has slept to the end" : "wakes");
    if (!r->timed_out) return 0;
    r->activity_at_sleep = s.net->activity;
    return -110; /* ETIMEDOUT */
}

static void host_futex_wake(void)
{
    if (s.net->ways.bug == SIM_BUG_WAKE && sim_below(s.net, 64) == 0) {
        s.net->bugs++;
        return;
    }
    for (int i = 0; i < s.run->n; i++) {
        struct rank *r = &s.ranks[i];
        if (r->state != FUTEX || atomic_load(r->word) == r->expected) continue;
        r->state = READY;
        r->timeouts = 0;
        s.net->activity++;
        LOG("wakes rank %d", i);
    }
}

static void host_leave(int status) __attribute__((noreturn));
static void host_leave(int status)
{
    me()->state = ENDED;
    s.net->activity++;
    LOG("ends with status %d", status);
    if (status != 0) {
        fprintf(stderr, "sim: rank %d ended with status %d\n", s.current, status);
        run_over(SIM_FAILED);
    }
    hand_on();
    stop_for_ever();
}

/* ---- the run ----------------------------------------------------------------------------------------------------------------- */
static void *rank_thread(void *arg)
{
    struct rank *r = arg;
    int i = (int)(r - s.ranks);
    while (sem_wait(&r->baton) != 0) {}
    s.run->copies[i].begin(&s.host, i, r->boot);
    host_leave(s.run->copies[i].main(s.run->argc, s.run->argv));
}

static int segment_make(int n)
{
    struct boot_head h = {.magic = BOOT_MAGIC, .version = GODWIT_SHM_VERSION, .nlocal = n, .size = n, .cores = 1, .jobid = "sim"};
    h.ranks_offset = BOOT_RANKS_OFFSET;
    h.shm_offset = h.bytes = boot_shm_offset(n);
    int fd = memfd_create("sim", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, (off_t)h.bytes) != 0 || pwrite(fd, &h, sizeof h, 0) != (ssize_t)sizeof h ||
        boot_file_seal(fd, true) != 0)
        gw_die("no segment: %m");
    s.head = mmap(NULL, h.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (s.head == MAP_FAILED) gw_die("no segment: %m");
    return fd;
}

struct sim_result sim_run(const struct sim_run *run)
{
    memset(&s, 0, sizeof s);
    s.run = run;
    s.net = sim_net_new(run->n, run->seed, &run->ways);
    s.net->pause = host_pause;
    s.net->now = 1000000000;
    if (run->log) s.net->note = log_message;
    s.host = (struct sim_host){s.net, host_now, host_pause, host_sleep, host_futex_wait, host_futex_wake, host_leave};
    int fd = segment_make(run->n);
    sem_init(&s.over, 0, 0);
    for (int i = 0; i < run->n; i++) {
        struct rank *r = &s.ranks[i];
        sem_init(&r->baton, 0, 0);
        r->weight = 1u << sim_below(s.net, run->weights);
        snprintf(r->boot, sizeof r->boot, "fd=%d,local=%d", dup(fd), i);
        if (pthread_create(&r->thread, NULL, rank_thread, r) != 0) gw_die("no thread for rank %d", i);
    }
    close(fd);
    s.current = (int)sim_below(s.net, (uint32_t)run->n);
    sem_post(&me()->baton);
    while (sem_wait(&s.over) != 0) {}
    s.result.trace = s.net->trace;
    s.result.now = s.net->now - 1000000000;
    s.result.sent = s.net->sent;
    s.result.taken = s.net->taken;
    s.result.refused = s.net->refused;
    s.result.bugs = s.net->bugs;
    return s.result;
}
