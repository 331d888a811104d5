/* where.c -- copies the slots of the ranks, which describe their waits, and prints the verdict of verdict.c on them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/settings.h"
#include "base/time.h"
#include "boot/call.h"
#include "job/job.h"
#include "job/say.h"
#include "verdict/verdict.h"
#include "verdict/where.h"

/* ---- the processes ---------------------------------------------------------------------------------------------------------- */
/* The state in a file PID/stat of /proc; 0: it cannot be read.  ticks_out: the CPU time used, in clock ticks. */
static char stat_read(const char *path, uint64_t *ticks_out)
{
    char line[512], *p, state = 0;
    unsigned long long user = 0, system = 0;
    FILE *f = fopen(path, "re");
    if (!f) return 0;
    /* PID (NAME) STATE ...: the name may hold anything. */
    if (fgets(line, sizeof line, f) && (p = strrchr(line, ')')) &&
        sscanf(p + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &state, &user, &system) == 3)
        *ticks_out = user + system;
    fclose(f);
    return state;
}

static bool a_thread_runs(pid_t pid)
{
    char path[320];
    bool runs = false;
    uint64_t ticks;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *d = opendir(path);
    for (struct dirent *e; d && !runs && (e = readdir(d));) {
        snprintf(path, sizeof path, "/proc/%d/task/%s/stat", (int)pid, e->d_name);
        char state = e->d_name[0] == '.' ? 0 : stat_read(path, &ticks);
        runs = state == 'R' || state == 'D';
    }
    if (d) closedir(d);
    return runs;
}

struct look {
    uint64_t ns, ticks;
};
/* What where_watch() remembers from one call to the next; times in ns. */
static struct {
    struct look *looks; /* [n_looks], by rank: the CPU time at the last look at a process with threads in MPI */
    int n_looks;
    bool is_set_up;
    uint64_t quiet; /* without progress for so long, a job is suspected to hang; 0: never, or it was said */
    uint64_t next;  /* when to look closely again, and the time until the look after that */
    uint64_t pause;
    uint64_t calls_due; /* the same for the comparison of collective calls */
    uint64_t calls_pause;
} watch = {.calls_pause = 1000000000};

/* Sets the state of a process and, if several threads may be in MPI, whether others work: now, or for a tenth of the time since the last
 * look. */
static void process_look(pid_t pid, int rank, struct verdict_rank *to)
{
    assert(pid > 0 && rank >= 0);
    char path[48];
    uint64_t ticks = 0, now = gw_now_ns();
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    to->os = stat_read(path, &ticks);
    if (!to->is_threaded) return;
    while (watch.n_looks <= rank) {
        watch.looks = gw_xrealloc(watch.looks, (size_t)(rank + 1) * sizeof *watch.looks);
        watch.looks[watch.n_looks++] = (struct look){0, 0};
    }
    struct look *last = &watch.looks[rank];
    uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    to->uses_cpu = a_thread_runs(pid) || (last->ns && (ticks - last->ticks) * tick_ns > (now - last->ns) / 10);
    *last = (struct look){now, ticks};
}

/* ---- the slots -------------------------------------------------------------------------------------------------------------------- */
/* A consistent copy, without details if there is none: the rank may have been killed while it wrote. */
static void fields_copy(const struct boot_where *from, struct boot_where *to)
{
    enum { TRIES = 1000 };
    for (int i = 0; i < TRIES; i++) {
        uint32_t version = atomic_load_explicit(&from->version, memory_order_acquire);
        memcpy(to, from, sizeof *to);
        atomic_thread_fence(memory_order_acquire); /* the copy was read before the version below */
        if (!(version & 1) && version == atomic_load_explicit(&from->version, memory_order_relaxed)) return;
        sched_yield();
    }
    memset(to, 0, sizeof *to);
}

/* Terminates texts that another process has written. */
static void names_end(struct boot_where *w)
{
    w->coll.comm[BOOT_COMM_NAME - 1] = w->as[BOOT_CALL_AS - 1] = w->note[BOOT_NOTE - 1] = 0;
    for (int k = 0; k < BOOT_PENDING; k++) w->pending[k].comm[BOOT_COMM_NAME - 1] = w->unexpected[k].comm[BOOT_COMM_NAME - 1] = 0;
}

void where_copy(const struct boot_where *from, struct boot_where *to)
{
    fields_copy(from, to);
    names_end(to);
}

enum { POLLS_NS = 2000000000 };

static void rank_copy(const struct job *j, int i, struct verdict_rank *to)
{
    assert(i >= 0 && i < j->n);
    const struct boot_rank *slot = job_slot(j, i);
    *to = (struct verdict_rank){.world = i, .is_gone = j->ranks[i].pid == 0, .is_threaded = slot->is_threaded};
    if (!to->is_gone) process_look(j->ranks[i].pid, i, to);
    where_copy(&slot->where, &to->where);
    if (atomic_load_explicit(&to->where.state, memory_order_relaxed) == BOOT_POLLING && gw_now_ns() - to->where.told_ns > POLLS_NS)
        atomic_store_explicit(&to->where.state, BOOT_BUSY, memory_order_relaxed); /* it has polled once, not lately */
    to->phase = atomic_load_explicit(&slot->phase, memory_order_acquire);
    to->call = atomic_load_explicit(&slot->call, memory_order_relaxed);
    uint32_t n = atomic_load_explicit(&slot->n_colls, memory_order_acquire);
    to->n_colls = n < BOOT_COLLS ? (int)n : BOOT_COLLS;
    int n_read = 0;
    for (int k = 0; k < to->n_colls; k++) n_read += boot_coll_read(&slot->colls[k], to->colls[n_read]);
    to->n_colls = n_read;
}

static struct verdict_job job_copy(const struct job *j)
{
    struct verdict_rank *ranks = gw_xmalloc((size_t)j->n * sizeof *ranks);
    for (int i = 0; i < j->n; i++) rank_copy(j, i, &ranks[i]);
    return (struct verdict_job){
        .ranks = ranks, .n = j->n, .size = j->head->size, .now_ns = gw_now_ns(), .call_name = boot_call_name};
}

static void say_verdict(const struct verdict_job *v)
{
    char *text = verdict_text(v), *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) && *line;) say_line("%s", line);
    free(text);
}

void where_say(const struct job *j)
{
    struct verdict_job v = job_copy(j);
    say_verdict(&v);
    free((void *)v.ranks);
}

/* ---- the warning ------------------------------------------------------------------------------------------------------------------- */
/* After how many ns without progress a hang is suspected; 0: never. */
static uint64_t patience(const struct job *j)
{
    const char *said = words_value(&j->o.env, "GODWIT_HANG_WARN", NULL); /* variables of -genv hold for mpiexec, too */
    if (said) setenv("GODWIT_HANG_WARN", said, 1);
    gw_settings_load();
    return (uint64_t)gw_set.hang_warn * 1000000000u;
}

/* Does any rank wait, and nothing has happened in that wait for quiet_ns? */
static bool somebody_waits(const struct job *j, uint64_t now, uint64_t quiet_ns)
{
    for (int i = 0; i < j->n; i++) {
        const struct boot_where *w = &job_slot(j, i)->where;
        if (atomic_load_explicit(&w->state, memory_order_acquire) == BOOT_BLOCKED && now - w->told_ns >= quiet_ns) return true;
    }
    return false;
}

static bool warn(const struct job *j, uint64_t quiet_ns)
{
    struct verdict_job v = job_copy(j);
    bool hangs = verdict_is_hang(&v, quiet_ns);
    if (hangs) {
        say_line("this job seems to hang: ranks wait for what cannot come, for more than %.0f s (GODWIT_HANG_WARN sets the "
                 "time, 0: never)",
                 (double)quiet_ns / 1e9);
        say_verdict(&v);
    }
    free((void *)v.ranks);
    return hangs;
}

/* ---- ranks that wait for what others never call: they say it themselves where they see each other ---------------------------- */
static bool calls_differ(const struct job *j, uint64_t now)
{
    static const uint64_t quiet_ns = 1500000000, longest_ns = 5000000000;
    if (now < watch.calls_due || !somebody_waits(j, now, quiet_ns)) return false;
    struct verdict_job v = job_copy(j);
    char *text = verdict_mismatch(&v, quiet_ns);
    free((void *)v.ranks);
    watch.calls_due = now + watch.calls_pause;
    if (watch.calls_pause < longest_ns) watch.calls_pause += watch.calls_pause / 4;
    if (!text) return false;
    text[strcspn(text, "\n")] = 0;
    say_line("%s; the job ends now", text);
    free(text);
    return true;
}

void where_resumed(void) { watch.next = gw_now_ns() + 1000000000; }

int where_watch(const struct job *j, bool *ends_out)
{
    static const uint64_t second = 1000000000;
    enum { EVERY_MS = 1000 };
    uint64_t now = gw_now_ns();
    if (!watch.is_set_up) {
        watch.is_set_up = true;
        watch.quiet = patience(j);
        watch.pause = watch.quiet / 4 < 5 * second ? watch.quiet / 4 : 5 * second;
        watch.next = now + watch.quiet;
    }
    if (j->ending) return -1;
    if (calls_differ(j, now)) *ends_out = true;
    if (!watch.quiet) return EVERY_MS;
    if (now >= watch.next) {
        /* The close look costs a little for each rank, so the pause grows while it finds nothing. */
        if (somebody_waits(j, now, watch.quiet)) {
            if (warn(j, watch.quiet)) watch.quiet = 0;
            if (watch.pause < 60 * second) watch.pause += watch.pause / 4;
        }
        watch.next = now + watch.pause;
    }
    uint64_t left_ms = (watch.next - now) / 1000000;
    return watch.quiet && left_ms < EVERY_MS ? (int)left_ms + 1 : EVERY_MS;
}
