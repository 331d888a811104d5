/* symmetric.c -- counts what OpenSHMEM's functions do, and begins and ends the profile where they begin and end.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "symmetric.h"
#include "../next/next_shmem.h"

/* ---- accesses ---- */
/* -1: no PE of the world. */
static int world_pe(shmem_ctx_t ctx, int pe)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;
    if (ctx != SHMEM_CTX_DEFAULT && pshmem_ctx_get_team(ctx, &team) != 0) return -1;
    return team == SHMEM_TEAM_WORLD ? pe : pshmem_team_translate_pe(team, pe, SHMEM_TEAM_WORLD);
}

void prof_accessed(struct prof_call *c, shmem_ctx_t ctx, int pe, uint64_t bytes, int fetched)
{
    uint64_t times = prof_weight();
    if (!times) return;
    int at = world_pe(ctx, pe), bin = prof_bin(bytes);
    c->to = at, c->bytes = bytes;
    prof_add(&prof_sums[c->fn].bytes, bytes * times);
    prof_add(&prof_own.accessed_bins[bin], times);
    if (at < 0 || at >= prof_own.ranks) return;
    prof_add(&prof_own.accesses[at], times);
    prof_add(&(fetched ? prof_own.fetched : prof_own.put)[at], bytes * times);
}

void prof_collected(struct prof_call *c, uint64_t bytes)
{
    uint64_t times = prof_weight();
    if (!times) return;
    c->bytes = bytes;
    prof_add(&prof_sums[c->fn].bytes, bytes * times);
}

/* ---- meetings ---- */
void prof_assemble(int fn, shmem_team_t team, const void *from)
{
    struct prof_call c;
    if (!prof_is_on() || team == SHMEM_TEAM_INVALID) return;
    bool waits = prof_meet_begin(&c, fn, from);
    if (waits) pshmem_team_sync(team);
    prof_meet_end(&c, waits, pshmem_team_n_pes(team) == prof_own.ranks);
}

void prof_assemble_set(int fn, int start, int log_stride, int size, long *psync, const void *from)
{
    struct prof_call c;
    if (!prof_is_on()) return;
    bool waits = prof_meet_begin(&c, fn, from);
    if (waits) pshmem_sync(start, log_stride, size, psync);
    prof_meet_end(&c, waits, size == prof_own.ranks);
}

void prof_assembled(struct prof_call *c, int members) { prof_waited(c, members == prof_own.ranks); }

/* ---- begin and end ---- */
void tools_shmem_begins(bool has_threads)
{
    (void)has_threads;
    if (prof_is_over()) return;
    tools_world_make();
    prof_own.has_shmem = true;
    prof_start();
}

void prof_last_end(void)
{
    prof_stop();
    tools_world_end();
}

void tools_shmem_ends(void)
{
    if (!prof_in_mpi()) prof_last_end();
}

void shmem_pcontrol(int level, ...) { prof_control(level); }
