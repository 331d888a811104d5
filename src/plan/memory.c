/* memory.c -- steps that concern the memory of one member alone: copies between references, with or without a length
 * before the data, and exact sums.  The checker runs them too, so nothing here knows a communicator.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/copy.h"
#include "plan/plan_private.h"

void plan_exact(const struct plan_memory *m, const struct plan_step *s)
{
    int16_t *exponents = (int16_t *)(void *)(m->tmp + s->exponents_off);
    op_exact_step(s->exact, (enum op_exact_step)s->phase, plan_address(m, &s->a), exponents, plan_address(m, &s->b), s->stride);
}

void plan_shm_sum(const struct plan_memory *m, const struct plan_step *s, struct op_exact exact)
{
    const void *operands[OP_EXACT_AT_ONCE];
    struct plan_ref piece = s->a;
    assert(s->peer <= OP_EXACT_AT_ONCE && s->a.type->is_dense);
    for (piece.rank = 0; piece.rank < s->peer; piece.rank++) operands[piece.rank] = plan_address(m, &piece);
    op_exact_sum(exact, operands, s->peer, plan_address(m, &s->b), s->a.count * s->a.type->n_elems * exact.parts);
}

/* Sets a cursor to the part of the buffer that a reference means; returns its bytes. */
static int64_t ref_cursor(const struct plan_memory *m, const struct plan_ref *r, struct type_cursor *c)
{
    char *at = plan_address(m, r);
    if (!r->type) {
        type_cursor_init(c, gw_data_host(at, r->len, gw_type_byte));
        return r->len;
    }
    type_cursor_init(c, gw_data_host(at, r->count, r->type));
    if (r->len < 0) return c->data.bytes;
    type_cursor_seek(c, r->pos);
    return gw_min64(r->len, c->data.bytes - r->pos);
}

/* True if a reference is one contiguous run of bytes; then where it is. */
static inline bool ref_run(const struct plan_memory *m, const struct plan_ref *r, char **at_out, int64_t *len_out)
{
    *at_out = plan_address(m, r);
    *len_out = r->len;
    if (!r->type) return true;
    if (!r->type->is_dense) return false;
    int64_t total = r->count * r->type->size;
    *at_out = plan_plus(*at_out, r->type->true_lb + (r->len < 0 ? 0 : r->pos));
    *len_out = r->len < 0 ? total : gw_min64(r->len, total - r->pos);
    return true;
}

void plan_copy(const struct plan_memory *m, const struct plan_ref *a, const struct plan_ref *b)
{
    char *src, *dst;
    int64_t have, room;
    if (likely(ref_run(m, a, &src, &have) && ref_run(m, b, &dst, &room))) {
        if (have > room) have = room;
        if (have > 0) gw_copy(dst, src, (size_t)have);
        return;
    }
    struct type_cursor from, to;
    int64_t n = gw_min64(ref_cursor(m, a, &from), ref_cursor(m, b, &to));
    if (n <= 0) return;
    if (gw_data_is_run(&to.data)) {
        type_cursor_pack(&from, to.data.run + to.pos, n);
    } else if (gw_data_is_run(&from.data)) {
        type_cursor_unpack(&to, from.data.run + from.pos, n);
    } else {
        char piece[4096];
        for (int64_t done = 0, part; done < n; done += part) {
            part = type_cursor_pack(&from, piece, gw_min64((int64_t)sizeof piece, n - done));
            type_cursor_unpack(&to, piece, part);
        }
    }
}

void plan_label(const struct plan_memory *m, const struct plan_ref *a, const struct plan_ref *b)
{
    struct plan_ref data = *b;
    int64_t bytes = plan_ref_bytes(a);
    memcpy(plan_address(m, b), &bytes, sizeof bytes);
    data.off += PLAN_LABEL_BYTES, data.len -= PLAN_LABEL_BYTES;
    assert(bytes <= data.len);
    plan_copy(m, a, &data);
}
int64_t plan_unlabel(const struct plan_memory *m, const struct plan_ref *a, const struct plan_ref *b)
{
    struct plan_ref data = *a;
    int64_t bytes;
    memcpy(&bytes, plan_address(m, a), sizeof bytes);
    data.off += PLAN_LABEL_BYTES, data.len -= PLAN_LABEL_BYTES;
    if (bytes == plan_ref_bytes(b)) plan_copy(m, &data, b);
    return bytes;
}
