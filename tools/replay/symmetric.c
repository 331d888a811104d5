/* symmetric.c -- tests and waits of OpenSHMEM, recorded and repeated, and where the record begins and ends with shmem_init.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "symmetric.h"
#include "../next/next.h"
#include "../next/next_shmem.h"
#include "../next/world.h"

#include <limits.h>
#include <stdlib.h>

/* ---- answers ---- */
static bool is_any(enum replay_kind kind) { return kind == REPLAY_TESTANY || kind == REPLAY_WAITANY; }
static bool is_left_out(const struct replay_words *w, size_t i) { return w->status && w->status[i]; }

static bool are_there(const struct replay_call *c, const struct replay_words *w)
{
    for (int i = 0; i < c->n; i++) {
        if (c->indices[i] >= 0 && (size_t)c->indices[i] < w->n && !is_left_out(w, (size_t)c->indices[i])) continue;
        replay_departs("%s said word %d of its list in the recorded run; the list has no such word now", replay_kind_names[c->kind],
                       c->indices[i]);
        return false;
    }
    return true;
}

bool replay_words(enum replay_kind kind, const struct replay_words *w, size_t *back_out)
{
    struct replay_call c;
    if (!replay_is(REPLAY_REPLAYING)) return false;
    enum replay_due is = replay_due(kind, &c);
    if (is == REPLAY_NO) *back_out = is_any(kind) ? SIZE_MAX : 0;
    if (is != REPLAY_YES) return is == REPLAY_NO;
    if (kind == REPLAY_TEST) {
        for (size_t i = 0; i < w->n; i++)
            if (!is_left_out(w, i)) w->wait(w, i);
        *back_out = 1;
        return true;
    }
    if (c.n < 0 || !are_there(&c, w)) return false; /* none was to be waited for: the call says so at once */
    *back_out = is_any(kind) ? (size_t)c.indices[0] : (size_t)c.n;
    for (int i = 0; i < c.n; i++) {
        size_t at = (size_t)c.indices[i];
        if (!is_any(kind)) w->indices[i] = at;
        w->wait(w, at);
    }
    return true;
}

static void ended(enum replay_kind kind, int n, const int *indices)
{
    replay_lock();
    replay_ended(&(struct replay_call){.kind = kind, .n = n, .indices = indices});
    replay_unlock();
}

void replay_words_said(enum replay_kind kind, const struct replay_words *w, size_t back)
{
    enum { FEW = 64 };
    int few[FEW], *list = few;
    if (!replay_is(REPLAY_RECORDING)) return;
    const bool waits = kind == REPLAY_WAITANY || kind == REPLAY_WAITSOME;
    if (is_any(kind) ? back == SIZE_MAX : back == 0) {
        if (waits)
            ended(kind, -1, NULL);
        else
            replay_said_no();
        return;
    }
    if (w->n > INT_MAX) { /* more words than the record has numbers for */
        replay_departs("%s has %zu words in its list, which is more than a record can tell", replay_kind_names[kind], w->n);
        return;
    }
    size_t n = kind == REPLAY_TEST ? 0 : is_any(kind) ? 1 : back;
    if (n > FEW && !(list = malloc(n * sizeof *list))) {
        replay_departs("there is no memory for %zu places of a list", n);
        return;
    }
    for (size_t i = 0; i < n; i++) list[i] = (int)(is_any(kind) ? back : w->indices[i]);
    ended(kind, (int)n, list);
    if (list != few) free(list);
}

static void take(const struct replay_words *w, size_t i)
{
    (void)i;
    pshmem_set_lock(w->vars);
}

int shmem_test_lock(long *lock)
{
    size_t back;
    struct replay_words w = {.wait = take, .vars = lock, .n = 1};
    if (replay_words(REPLAY_TEST, &w, &back)) return !back;
    int is_held = NEXT_SHMEM(shmem_test_lock)(lock);
    replay_words_said(REPLAY_TEST, &w, !is_held);
    return is_held;
}

/* ---- begin and end ---- */
void tools_shmem_begins(bool has_threads)
{
    if (!replay_is_wanted()) return;
    tools_world_make();
    replay_begin_as(pshmem_my_pe(), pshmem_n_pes(), has_threads);
}

void tools_shmem_ends(void)
{
    if (!replay_in_mpi()) replay_end();
}
