/* step.c -- the steps of a program: each ends when all ranks meet, in a blocking collective of a communicator of all of them.
 *
 * There are as many on all ranks, as they call these collectives in the same order.  Room for STEPS of them: when it is full, two each
 * become one, on all ranks at the same.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "profile.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 4096 };
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER; /* of those below: several threads may meet others at once */
static struct prof_step steps[STEPS];                     /* ticks */
static int n_ends, per = 1;                               /* meetings so far, and how many of them are a step */
static uint64_t last_end, last_mpi;

void prof_steps_begin(void)
{
    pthread_mutex_lock(&guard);
    last_end = prof_ticks();
    last_mpi = atomic_load_explicit(&prof_own.mpi, memory_order_relaxed);
    pthread_mutex_unlock(&guard);
}

static void halve(void)
{
    for (int i = 0; i < STEPS / 2; i++) {
        steps[i] = steps[2 * i];
        for (int k = 0; k < PROF_PARTS; k++) steps[i].part[k] += steps[2 * i + 1].part[k];
    }
    memset(steps + STEPS / 2, 0, sizeof steps / 2);
    per *= 2;
}

void prof_step_end(uint64_t meet, uint64_t met)
{
    pthread_mutex_lock(&guard);
    uint64_t mpi = atomic_load_explicit(&prof_own.mpi, memory_order_relaxed), in_mpi = mpi - last_mpi;
    if (met < last_end) met = last_end; /* another thread has met others meanwhile */
    if (meet < last_end) meet = last_end;
    uint64_t whole = meet - last_end;
    struct prof_step *s = &steps[n_ends / per];
    if (in_mpi > whole) in_mpi = whole; /* of several threads */
    s->part[PROF_USER] += (float)(whole - in_mpi);
    s->part[PROF_MPI] += (float)in_mpi;
    s->part[PROF_SYNC] += (float)(met - meet);
    last_end = met, last_mpi = mpi;
    if (++n_ends == STEPS * per) halve();
    pthread_mutex_unlock(&guard);
}

static float length(const struct prof_step *s) { return s->part[PROF_USER] + s->part[PROF_MPI] + s->part[PROF_SYNC]; }

/* The longest of n, each by the rank that takes longest; [PROF_SLOWEST], -1: no more. */
static void find_slowest(const float *most, int n, int *at_out)
{
    for (int k = 0; k < PROF_SLOWEST; k++) {
        at_out[k] = -1;
        for (int i = 0; i < n; i++) {
            int is_taken = 0;
            for (int m = 0; m < k; m++) is_taken |= at_out[m] == i;
            if (!is_taken && most[i] > 0 && (at_out[k] < 0 || most[i] > most[at_out[k]])) at_out[k] = i;
        }
    }
}

/* What each rank computed in parts of the run, of as many steps each; what is left over of n steps is in none. */
static void gather_parts(struct prof_report *r, int n)
{
    float mine[PROF_STEP_PARTS] = {0};
    int parts = n < PROF_STEP_PARTS ? n : PROF_STEP_PARTS, each = n / parts;
    for (int i = 0; i < parts * each; i++) mine[i / each] += steps[i].part[PROF_USER] / (float)prof_own.ticks_per_s;
    if (prof_own.rank == 0) r->step_user = calloc((size_t)r->ranks * (size_t)parts, sizeof *r->step_user);
    PMPI_Gather(mine, parts, MPI_FLOAT, r->step_user, parts, MPI_FLOAT, 0, tools_world);
    if (r->step_user) r->n_step_parts = parts;
}

void prof_steps_gather(struct prof_report *r)
{
    int mine[2] = {n_ends, -n_ends}, least[2], at[PROF_SLOWEST];
    static float own[STEPS], most[STEPS];
    struct prof_step slow[PROF_SLOWEST] = {{{0}}};
    PMPI_Allreduce(mine, least, 2, MPI_INT, MPI_MIN, tools_world);
    if (least[0] != -least[1] || least[0] < 2) return; /* MPI_Pcontrol at other times: they have not the same */
    int n = (n_ends + per - 1) / per;
    gather_parts(r, n_ends / per);
    for (int i = 0; i < n; i++) own[i] = length(&steps[i]) / (float)prof_own.ticks_per_s;
    PMPI_Reduce(own, most, n, MPI_FLOAT, MPI_MAX, 0, tools_world);
    if (prof_own.rank == 0) find_slowest(most, n, at);
    PMPI_Bcast(at, PROF_SLOWEST, MPI_INT, 0, tools_world);
    for (int k = 0; k < PROF_SLOWEST && at[k] >= 0; k++)
        for (int p = 0; p < PROF_PARTS; p++) slow[k].part[p] = steps[at[k]].part[p] / (float)prof_own.ticks_per_s;
    if (prof_own.rank == 0) r->slow = calloc((size_t)r->ranks * PROF_SLOWEST, sizeof *r->slow);
    PMPI_Gather(slow, sizeof slow, MPI_BYTE, r->slow, sizeof slow, MPI_BYTE, 0, tools_world);
    if (!r->slow) return;
    r->n_steps = n, r->step_ends = per;
    for (int i = 0; i < n; i++) r->step_mean += most[i] / (float)n;
    for (int k = 0; k < PROF_SLOWEST; k++) r->slow_at[k] = at[k];
}
