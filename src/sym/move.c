/* move.c -- put and get (OpenSHMEM 1.6 section 9.6), where the inlined test of an entry point has not done it: long data, contexts, PEs whose
 * numbers are not consecutive, other nodes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/copy.h"
#include "sym/sym_private.h"

/* Where an access goes: to `at`, or else far. */
struct target {
    char *at;
    struct sym_far far;
};

static struct target target_find(const char *call, sym_ctx_id ctx, const void *addr, uint64_t bytes, int pe)
{
    int world = sym_ctx_pe(call, ctx, pe);
    struct target t = {NULL, {call, ctx, world, addr, bytes}};
    if (bytes > 0) t.at = sym_place(addr, bytes, world);
    return t;
}

void godwit_sym_put(const char *call, sym_ctx_id ctx, void *dest, const void *source, size_t bytes, int pe, bool nbi)
{
    struct target t = target_find(call, ctx, dest, bytes, pe);
    if (bytes == 0) return;
    if (likely(t.at != NULL))
        gw_copy_out(t.at, source, bytes);
    else
        sym_far_put(&t.far, source, nbi);
}

void godwit_sym_get(const char *call, sym_ctx_id ctx, void *dest, const void *source, size_t bytes, int pe, bool nbi)
{
    struct target t = target_find(call, ctx, source, bytes, pe);
    if (bytes == 0) return;
    if (likely(t.at != NULL))
        gw_copy(dest, t.at, bytes);
    else
        sym_far_get(&t.far, dest, nbi);
}

/* ---- strided ---- */
static inline void copy_element(char *to, const char *from, size_t bytes)
{
    switch (bytes) {
    case 1: memcpy(to, from, 1); break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    default: memcpy(to, from, bytes);
    }
}

void sym_copy_blocks(const struct sym_strided *s)
{
    char *to = s->dest;
    const char *from = s->source;
    for (size_t i = 0; i < s->n; i++)
        copy_element(to + (ptrdiff_t)i * s->dest_stride * (ptrdiff_t)s->bytes,
                     from + (ptrdiff_t)i * s->source_stride * (ptrdiff_t)s->bytes, s->block * s->bytes);
}

/* The symmetric side of a strided access, in bytes from its first block; strides may be negative. */
static uint64_t span_of(const char *call, const struct sym_strided *s, ptrdiff_t stride)
{
    uint64_t step = stride < 0 ? -(uint64_t)stride : (uint64_t)stride, all, end;
    bool is_much = __builtin_mul_overflow(step, s->n - 1, &all) || __builtin_add_overflow(all, s->block, &end) ||
        __builtin_mul_overflow(end, s->bytes, &end) || end > PTRDIFF_MAX;
    if (unlikely(is_much))
        sym_refuse(call, "%zu blocks of %zu elements of %zu bytes, %td elements apart, are more than addresses can tell", s->n,
                   s->block, s->bytes, stride);
    return end;
}
static const char *lowest(const struct sym_strided *s, const void *first, ptrdiff_t stride)
{
    return stride < 0 ? (const char *)first + stride * (ptrdiff_t)s->bytes * (ptrdiff_t)(s->n - 1) : first;
}

static void strided(const char *call, sym_ctx_id ctx, const struct sym_strided *s, bool is_put, int pe)
{
    const void *there = is_put ? s->dest : s->source;
    ptrdiff_t stride = is_put ? s->dest_stride : s->source_stride;
    if (s->n == 0 || s->block == 0) {
        sym_ctx_pe(call, ctx, pe);
        return;
    }
    uint64_t span = span_of(call, s, stride);
    const char *low = lowest(s, there, stride);
    struct target t = target_find(call, ctx, low, span, pe);
    if (!t.at) {
        sym_far_strided(&t.far, s, is_put);
        return;
    }
    struct sym_strided here = *s;
    char *first = t.at + ((const char *)there - low);
    if (is_put)
        here.dest = first;
    else
        here.source = first;
    sym_copy_blocks(&here);
}

void godwit_sym_put_strided(const char *call, sym_ctx_id ctx, const struct sym_strided *s, int pe)
{
    strided(call, ctx, s, true, pe);
}
void godwit_sym_get_strided(const char *call, sym_ctx_id ctx, const struct sym_strided *s, int pe)
{
    strided(call, ctx, s, false, pe);
}
