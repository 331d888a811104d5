/* where.c -- copies what the ranks say of themselves and prints what verdict.c makes of it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "boot/call_names_gen.h"
#include "launch/launch.h"
#include "launch/verdict.h"

/* The state of a process and the CPU time that it has used, in ticks; 0 where it cannot be read. */
static char process_state(pid_t pid, uint64_t *ticks_out)
{
    char path[48], line[512], *p, state = 0;
    unsigned long long user = 0, system = 0;
    *ticks_out = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f) return 0;
    /* PID (NAME) STATE ...: the name may hold anything. */
    if (fgets(line, sizeof line, f) && (p = strrchr(line, ')')) &&
        sscanf(p + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &state, &user, &system) == 3)
        *ticks_out = user + system;
    fclose(f);
    return state;
}

/* A copy in which nothing is half written; without details where there is none, as of a rank that was killed while it wrote. */
static void where_copy(const struct boot_where *from, struct boot_where *to)
{
    enum { TRIES = 1000 };
    for (int i = 0; i < TRIES; i++) {
        uint32_t version = atomic_load_explicit(&from->version, memory_order_acquire);
        memcpy(to, from, sizeof *to);
        atomic_thread_fence(memory_order_acquire); /* what was copied is older than the version looked at now */
        if (!(version & 1) && version == atomic_load_explicit(&from->version, memory_order_relaxed)) return;
        sched_yield();
    }
    memset(to, 0, sizeof *to);
}

/* Text that another process wrote. */
static void names_end(struct boot_where *w)
{
    w->coll.comm[BOOT_COMM_NAME - 1] = 0;
    for (int k = 0; k < BOOT_PENDING; k++)
        w->pending[k].comm[BOOT_COMM_NAME - 1] = w->unexpected[k].comm[BOOT_COMM_NAME - 1] = 0;
}

static void rank_copy(const struct job *j, int i, struct verdict_rank *to)
{
    const struct boot_rank *slot = job_slot(j, i);
    uint64_t ticks;
    *to = (struct verdict_rank){.world = i, .is_gone = j->ranks[i].pid == 0, .is_threaded = slot->is_threaded};
    if (!to->is_gone) to->os = process_state(j->ranks[i].pid, &ticks);
    where_copy(&slot->where, &to->where);
    names_end(&to->where);
    to->phase = atomic_load_explicit(&slot->phase, memory_order_acquire);
    to->call = atomic_load_explicit(&slot->call, memory_order_relaxed);
    uint32_t n = atomic_load_explicit(&slot->n_colls, memory_order_acquire);
    to->n_colls = n < BOOT_COLLS ? (int)n : BOOT_COLLS;
    for (int k = 0; k < to->n_colls; k++)
        for (int w = 0; w < 2; w++)
            to->colls[k][w] = atomic_load_explicit(&slot->colls[k].word[w], memory_order_relaxed);
}

static struct verdict_job job_copy(const struct job *j)
{
    struct verdict_rank *ranks = gw_xmalloc((size_t)j->n * sizeof *ranks);
    for (int i = 0; i < j->n; i++) rank_copy(j, i, &ranks[i]);
    return (struct verdict_job){.ranks = ranks,
                                .n = j->n,
                                .size = j->head->size,
                                .now_ns = gw_now_ns(),
                                .call_names = boot_call_names,
                                .n_call_names = BOOT_CALL_NAMES_COUNT};
}

void where_say(const struct job *j)
{
    struct verdict_job v = job_copy(j);
    char *text = verdict_text(&v), *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) && *line;) say("%s", line);
    free(text);
    free((void *)v.ranks);
}
