/* fuzz_type.c -- trees of types: packed, unpacked, walked by pieces and by iovecs beside a naive walk of their elements; what
 * envelope and contents say makes the same type again.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "type_tree.h"

/* `count` instances in memory: base is the place of displacement 0, which may lie outside. */
struct memory {
    char *at;
    int64_t bytes, low;
};

static char *base_of(const struct memory *m) { return (char *)((uintptr_t)m->at - (uintptr_t)m->low); }

static struct memory memory_for(const struct tree_type *t, int64_t count, int fill)
{
    struct memory m = {.low = 0};
    int64_t high = 0;
    tree_bounds(t, count, &m.low, &high);
    m.bytes = high - m.low;
    m.at = malloc((size_t)m.bytes + 1);
    if (!m.at) abort();
    for (int64_t i = 0; i < m.bytes; i++) m.at[i] = (char)(fill ? fill : i * 11 + (i >> 7) + 1);
    return m;
}

/* What packing must give; caller frees. */
static char *naive_pack(const struct tree_type *t, int64_t count, const struct memory *m)
{
    int64_t k = 0;
    char *out = malloc((size_t)(tree_size(t) * count) + 1);
    if (!out) abort();
    for (int64_t c = 0; c < count; c++)
        for (int i = 0; i < t->n; i++) {
            memcpy(out + k, m->at + c * t->extent + t->elem[i].at - m->low, (size_t)t->elem[i].size);
            k += t->elem[i].size;
        }
    return out;
}

static void check_unpack(const struct tree_type *t, int64_t count, const struct memory *from, const char *stream, struct input *in)
{
    struct memory got = memory_for(t, count, 0x55), want = memory_for(t, count, 0x55);
    int64_t total = tree_size(t) * count;
    for (int64_t c = 0; c < count; c++)
        for (int i = 0; i < t->n; i++) {
            int64_t at = c * t->extent + t->elem[i].at - want.low;
            memcpy(want.at + at, from->at + at, (size_t)t->elem[i].size);
        }
    type_unpack(base_of(&got), count, t->type, stream);
    FUZZ_CHECK(!memcmp(got.at, want.at, (size_t)got.bytes));
    memset(got.at, 0x55, (size_t)got.bytes);
    struct type_cursor c;
    type_cursor_init(&c, gw_data_host(base_of(&got), count, t->type));
    for (int64_t at = 0; at < total;) {
        int64_t piece = 1 + in_below(in, 50), n = type_cursor_unpack(&c, stream + at, gw_min64(piece, total - at));
        FUZZ_CHECK(n == gw_min64(piece, total - at));
        at += n;
    }
    FUZZ_CHECK(!memcmp(got.at, want.at, (size_t)got.bytes));
    free(got.at);
    free(want.at);
}

static void check_pieces(const struct tree_type *t, int64_t count, const struct memory *m, const char *stream, struct input *in)
{
    int64_t total = tree_size(t) * count;
    char *got = malloc((size_t)total + 1);
    struct type_cursor c;
    if (!got) abort();
    type_cursor_init(&c, gw_data_host(base_of(m), count, t->type));
    FUZZ_CHECK(c.data.bytes == total);
    for (int k = 0; k < 4; k++) { /* anywhere */
        int64_t from = total ? in_below(in, 65536) % (total + 1) : 0, max = in_below(in, 100);
        type_cursor_seek(&c, from);
        int64_t n = type_cursor_pack(&c, got, max);
        FUZZ_CHECK(n == gw_min64(max, total - from) && c.pos == from + n);
        FUZZ_CHECK(!memcmp(got, stream + from, (size_t)n));
    }
    type_cursor_seek(&c, 0);
    for (int64_t at = 0; at < total;) { /* by places in memory */
        struct iovec iov[5];
        int64_t max = 1 + in_below(in, 300), bytes = 0, sum = 0;
        int n = type_cursor_iov(&c, iov, 1 + in_below(in, 5), max, &bytes);
        FUZZ_CHECK(n > 0 && bytes > 0 && bytes <= max && c.pos == at + bytes);
        for (int i = 0; i < n; i++) {
            FUZZ_CHECK(iov[i].iov_len > 0 && sum + (int64_t)iov[i].iov_len <= bytes);
            FUZZ_CHECK(!memcmp(iov[i].iov_base, stream + at + sum, iov[i].iov_len));
            sum += (int64_t)iov[i].iov_len;
        }
        FUZZ_CHECK(sum == bytes);
        at += bytes;
    }
    free(got);
}

static void check_moves(const struct tree_type *t, int64_t count, struct input *in)
{
    struct memory m = memory_for(t, count, 0);
    int64_t total = tree_size(t) * count, low = 0, high = 0, want_low = 0, want_high = 0;
    char *stream = naive_pack(t, count, &m), *got = malloc((size_t)total + 1);
    if (!got) abort();
    type_pack(base_of(&m), count, t->type, got);
    FUZZ_CHECK(!memcmp(got, stream, (size_t)total));
    FUZZ_CHECK(type_bounds(t->type, count, &low, &high));
    if (tree_bounds(t, count, &want_low, &want_high)) FUZZ_CHECK(low == want_low && high == want_high);
    check_pieces(t, count, &m, stream, in);
    if (!tree_overlaps(t, count)) check_unpack(t, count, &m, stream, in);
    free(got);
    free(stream);
    free(m.at);
}

/* A copy between two layouts moves the shorter of both streams. */
static void check_copy(const struct tree_type *from, int64_t from_count, const struct tree_type *to, int64_t to_count)
{
    if (tree_overlaps(to, to_count)) return;
    struct memory a = memory_for(from, from_count, 0), b = memory_for(to, to_count, 0x33);
    int64_t n = gw_min64(tree_size(from) * from_count, tree_size(to) * to_count);
    FUZZ_CHECK(type_copy(base_of(&a), from_count, from->type, base_of(&b), to_count, to->type) == n);
    char *x = naive_pack(from, from_count, &a), *y = naive_pack(to, to_count, &b);
    FUZZ_CHECK(!memcmp(x, y, (size_t)n));
    for (int64_t i = n; i < tree_size(to) * to_count; i++) FUZZ_CHECK(y[i] == 0x33);
    free(x), free(y), free(a.at), free(b.at);
}

/* Elements in the first bytes of the stream, and back. */
static void check_elements(const struct tree_type *t, int64_t bytes)
{
    struct gw_status s = {0};
    int64_t n = -7, at = 0, k = 0, size = tree_size(t);
    gw_status_fill(&s, 0, 0, bytes, false);
    FUZZ_CHECK(type_get_elements(&s, t->type, &n) == GW_OK);
    if (size == 0) {
        FUZZ_CHECK(n == (bytes ? GW_UNDEFINED : 0));
        return;
    }
    for (; at < bytes; k++) at += t->elem[k % t->n].size;
    FUZZ_CHECK(n == (at == bytes ? k : GW_UNDEFINED));
    FUZZ_CHECK(type_status_set_elements(&s, t->type, k) == GW_OK);
    FUZZ_CHECK(gw_status_bytes(&s) == at);
    FUZZ_CHECK(type_get_count(&s, t->type, &n) == GW_OK && n == (at % size ? GW_UNDEFINED : at / size));
}

/* ---- contents --------------------------------------------------------------------------------------------------------- */
static int again(int combiner, const int *i, const int64_t *a, const int64_t *c, int64_t n_counts, struct gw_type **t,
                 struct gw_type **out)
{
    bool wide = n_counts > 0;
    int64_t n = wide ? c[0] : i[0];
    struct gw_counts displs = wide ? (struct gw_counts){c + 1 + n, true} : (struct gw_counts){i + 1 + n, false};
    struct gw_counts lens = wide ? (struct gw_counts){c + 1, true} : (struct gw_counts){i + 1, false};
    switch (combiner) {
    case GW_COMBINER_DUP: return type_dup(t[0], out);
    case GW_COMBINER_CONTIGUOUS: return type_contiguous(n, t[0], out);
    case GW_COMBINER_VECTOR: return type_vector(n, i[1], i[2], t[0], out);
    case GW_COMBINER_HVECTOR: return type_hvector(n, i[1], a[0], t[0], out);
    case GW_COMBINER_INDEXED: return type_indexed(n, lens, displs, t[0], out);
    case GW_COMBINER_HINDEXED: return type_hindexed(n, lens, (struct gw_counts){wide ? c + 1 + n : a, true}, t[0], out);
    case GW_COMBINER_INDEXED_BLOCK:
        displs = wide ? (struct gw_counts){c + 2, true} : (struct gw_counts){i + 2, false};
        return type_indexed_block(n, wide ? c[1] : i[1], displs, t[0], out);
    case GW_COMBINER_HINDEXED_BLOCK: return type_hindexed_block(n, i[1], (struct gw_counts){a, true}, t[0], out);
    case GW_COMBINER_STRUCT: return type_struct(n, lens, (struct gw_counts){wide ? c + 1 + n : a, true}, t, out);
    case GW_COMBINER_RESIZED: return type_resized(t[0], a[0], a[1], out);
    case GW_COMBINER_SUBARRAY:
        return type_subarray(i[0], lens, (struct gw_counts){i + 1 + i[0], false}, (struct gw_counts){i + 1 + 2 * i[0], false},
                             i[1 + 3 * i[0]], t[0], out);
    case GW_COMBINER_DARRAY:
        return type_darray(i[0], i[1], i[2], (struct gw_counts){i + 3, false}, i + 3 + i[2], i + 3 + 2 * i[2], i + 3 + 3 * i[2],
                           i[3 + 4 * i[2]], t[0], out);
    default: FUZZ_CHECK(!"a combiner that is known"); return -1;
    }
}

static void check_contents(const struct tree_type *t)
{
    enum { MAX = 64 };
    int ints[MAX] = {0}, combiner = -1;
    int64_t aints[MAX], counts[MAX], ni, na, nc, nt;
    struct gw_type *types[MAX], *copy = NULL;
    FUZZ_CHECK(type_get_envelope(t->type, &ni, &na, &nc, &nt, &combiner) == GW_OK);
    if (combiner == GW_COMBINER_NAMED) return;
    FUZZ_CHECK(ni <= MAX && na <= MAX && nc <= MAX && nt <= MAX);
    FUZZ_CHECK(type_get_contents(t->type, ni, na, nc, nt, ints, aints, counts, types) == GW_OK);
    FUZZ_CHECK(again(combiner, ints, aints, counts, nc, types, &copy) == GW_OK);
    struct tree_type other = *t;
    other.type = copy;
    struct memory m = memory_for(t, 2, 0);
    char *stream = naive_pack(t, 2, &m), *got = malloc((size_t)tree_size(t) * 2 + 1);
    if (!got) abort();
    FUZZ_CHECK(copy->size == t->type->size && copy->lb == t->lb && copy->extent == t->extent && copy->n_elems == t->n);
    FUZZ_CHECK(copy->true_lb == t->type->true_lb && copy->true_extent == t->type->true_extent);
    type_pack(base_of(&m), 2, copy, got);
    FUZZ_CHECK(!memcmp(got, stream, (size_t)tree_size(t) * 2));
    free(got), free(stream), free(m.at);
    FUZZ_CHECK(type_free(&copy) == GW_OK);
    for (int64_t i = 0; i < nt; i++) /* the handles that contents gave out */
        if (!types[i]->obj.predefined) FUZZ_CHECK(type_free(&types[i]) == GW_OK);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return type_init();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = in_open(data, size);
    struct tree t = {0};
    tree_grow(&t, &in, 12);
    const struct tree_type *last = t.at[t.n - 1], *other = t.at[in_below(&in, t.n)];
    int64_t count = 1 + in_below(&in, last->n > 50 ? 4 : 70);
    for (int i = 2; i < t.n; i++) check_contents(t.at[i]);
    check_moves(last, count, &in);
    check_copy(last, 1 + in_below(&in, 5), other, 1 + in_below(&in, 5));
    check_copy(other, 1 + in_below(&in, 5), last, 1 + in_below(&in, 5));
    check_elements(last, in_below(&in, 400));
    tree_free(&t);
    return 0;
}
