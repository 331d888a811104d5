/* symmetric.h -- OpenSHMEM's calls that may end in several ways, as other PEs store early or late: shmem_TYPE_test and its like, which say yes or
 * no; wait_until_any and _some, which say which; shmem_test_lock.  They are recorded and repeated as MPI's calls of that kind are (replay.h).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SYMMETRIC_H
#define SYMMETRIC_H

#include "replay.h"

#include <pshmem.h>
#include <shmem.h>

#pragma GCC visibility push(hidden)
struct replay_words {
    void (*wait)(const struct replay_words *w, size_t i); /* until word i is as wished */
    void *vars;
    size_t n;
    int cmp;
    const void *values; /* one, or as many as there are words */
    bool is_vector;
    const int *status; /* not 0: left out; may be NULL */
    size_t *indices;   /* of some */
};
/* True: *back_out is what the call says, as in the recorded run; where that was yes, the words are as they were wished. */
bool replay_words(enum replay_kind kind, const struct replay_words *w, size_t *back_out);
/* The call has said it: 0 or 1; an index, SIZE_MAX for none; how many. */
void replay_words_said(enum replay_kind kind, const struct replay_words *w, size_t back);
#pragma GCC visibility pop

#endif
