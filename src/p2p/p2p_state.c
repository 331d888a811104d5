/* p2p_state.c -- is a buffer of buffered sends in order?  For tests, asserts, and for a debugger's call.
 *
 *   not attached   no pieces: MPI_Buffer_detach waits for them
 *   given          pieces lie in the user's memory, by address, and do not overlap
 *   automatic      pieces lie in memory of their own
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p/p2p_private.h"

static const char *pieces_broken(const struct bsend_buffer *b)
{
    const char *end = b->base;
    for (const struct gw_list *l = b->pieces.next; l != &b->pieces; l = l->next) {
        const struct bsend_piece *p = container_of(l, struct bsend_piece, link);
        if (p->buffer != b) return "a piece knows its buffer";
        if (p->number == 0 || p->number > b->last_number) return "pieces are numbered as they are sent";
        if (!b->automatic && p->start < end) return "pieces are in order, and do not overlap";
        end = p->start + p->bytes;
        if (!b->automatic && end > b->base + b->size) return "a piece lies in the buffer";
    }
    return NULL;
}

const char *p2p_bsend_broken(const struct bsend_buffer *b)
{
    if (!b->attached && !gw_list_empty(&b->pieces)) return "a buffer that is not attached is empty";
    const char *what = pieces_broken(b);
    if (what) return what;
    for (const struct gw_list *l = b->flushes.next; l != &b->flushes; l = l->next) {
        const struct bsend_flush *f = container_of(l, struct bsend_flush, link);
        bool waits = false;
        for (const struct gw_list *i = b->pieces.next; i != &b->pieces; i = i->next)
            waits = waits || container_of(i, struct bsend_piece, link)->number <= f->number;
        if (!waits) return "a flush that is not complete waits for a piece";
    }
    return NULL;
}
