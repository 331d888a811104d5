/* obj_private.h -- what the files of obj share among themselves.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_OBJ_OBJ_PRIVATE_H
#define GW_OBJ_OBJ_PRIVATE_H

#include "obj/obj.h"
#include "base/lock.h"
#include "base/os.h"

/* A lock that is real whatever the thread level: info objects, keyvals and error handlers may be used by any thread
 * before MPI_Init and after MPI_Finalize.  Word as in struct gw_lock. */
static inline void obj_lock(struct gw_lock *l)
{
    uint32_t free = 0;
    if (likely(atomic_compare_exchange_strong_explicit(&l->word, &free, 1, memory_order_acquire, memory_order_relaxed))) return;
    while (atomic_exchange_explicit(&l->word, 2, memory_order_acquire) != 0) gw_futex_wait(&l->word, 2, -1);
}
static inline void obj_unlock(struct gw_lock *l)
{
    if (unlikely(atomic_exchange_explicit(&l->word, 0, memory_order_release) == 2)) gw_futex_wake(&l->word, 1);
}

/* Frees an object that its user left behind, when the room ends. */
void gw_keyval_destroy(struct gw_obj *o);

#endif
