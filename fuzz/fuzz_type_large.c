/* fuzz_type_large.c -- constructors with any numbers: an error or a type that answers every inquiry; nothing overflows.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "type/type.h"

#include "fuzz.h"

enum { MAX_TYPES = 12, MAX_BLOCKS = 4 };

static int make(struct input *in, struct gw_type **all, int n, struct gw_type **out)
{
    struct gw_type *old = all[in_below(in, n)], *types[MAX_BLOCKS];
    int64_t x = in_number(in), y = in_number(in), z = in_number(in), a[MAX_BLOCKS], b[MAX_BLOCKS], c[MAX_BLOCKS];
    int count = in_below(in, MAX_BLOCKS + 1), kind = in_below(in, 12), order = in_byte(in) & 1 ? GW_ORDER_C : GW_ORDER_FORTRAN;
    int dist[MAX_BLOCKS], darg[MAX_BLOCKS], procs[MAX_BLOCKS];
    static const int kinds[] = {GW_DISTRIBUTE_BLOCK, GW_DISTRIBUTE_CYCLIC, GW_DISTRIBUTE_NONE};
    int size = 1;
    for (int i = 0; i < MAX_BLOCKS; i++) {
        a[i] = i < count ? in_number(in) : 1, b[i] = i < count ? in_number(in) : 1, c[i] = i < count ? in_number(in) : 1;
        types[i] = all[in_below(in, n)];
        dist[i] = kinds[(uint64_t)b[i] % 3], darg[i] = (int)c[i], procs[i] = (int)(1 + (uint64_t)b[i] / 3 % 5);
        if (i < count) size *= procs[i];
    }
    struct gw_counts ca = {a, true}, cb = {b, true}, cc = {c, true};
    switch (kind) {
    case 0: return type_contiguous(x, old, out);
    case 1: return type_vector(x, y, z, old, out);
    case 2: return type_hvector(x, y, z, old, out);
    case 3: return type_indexed(count, ca, cb, old, out);
    case 4: return type_indexed_block(count, x, ca, old, out);
    case 5: return type_hindexed(count, ca, cb, old, out);
    case 6: return type_hindexed_block(count, x, ca, old, out);
    case 7: return type_struct(count, ca, cb, types, out);
    case 8: return type_resized(old, x, y, out);
    case 9: return type_dup(old, out);
    case 10: return type_subarray(count, ca, cb, cc, order, old, out);
    default: return type_darray(size, (int)((uint64_t)x % (uint64_t)size), count, ca, dist, darg, procs, order, old, out);
    }
}

static void ask(struct gw_type *t, struct input *in)
{
    int64_t v, w, bytes = 0;
    int combiner;
    int64_t ni, na, nc, nt, count = in_number(in);
    struct gw_status s = {0};
    FUZZ_CHECK(type_size(t, &v) == GW_OK && v >= 0);
    FUZZ_CHECK(type_get_extent(t, &v, &w) == GW_OK && type_get_true_extent(t, &v, &w) == GW_OK);
    FUZZ_CHECK(type_get_envelope(t, &ni, &na, &nc, &nt, &combiner) == GW_OK && combiner != GW_COMBINER_NAMED);
    type_bounds(t, count, &v, &w);
    if (count >= 0) type_mpi_pack_size(count, t, &bytes);
    if (count >= 0 && type_mpi_pack_external_size("external32", count, t, &v) == GW_OK) FUZZ_CHECK(v >= 0);
    gw_status_fill(&s, 0, 0, count < 0 ? 0 : count, false);
    FUZZ_CHECK(type_get_count(&s, t, &v) == GW_OK && type_get_elements(&s, t, &v) == GW_OK);
    FUZZ_CHECK(v == GW_UNDEFINED || v >= 0);
    if (count >= 0) type_status_set_elements(&s, t, count);
    if (t->size > 0) return;
    char none = 0; /* nothing to move, however many there are of it */
    int64_t position = 0;
    type_pack(&none, 3, t, &none);
    type_unpack(&none, 3, t, &none);
    FUZZ_CHECK(type_mpi_pack_external("external32", &none, 3, t, &none, 0, &position) == GW_OK && position == 0);
    FUZZ_CHECK(type_mpi_unpack_external("external32", &none, 0, &position, &none, 3, t) == GW_OK && position == 0);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return type_init();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t ids[] = {GW_H_CHAR, GW_H_DOUBLE, GW_H_SHORT_INT, GW_H_LONG};
    struct input in = in_open(data, size);
    struct gw_type *all[MAX_TYPES];
    int n = 0;
    for (; n < 4; n++) all[n] = (struct gw_type *)gw_obj_lookup(ids[n], GW_KIND_TYPE);
    while (in_more(&in) && n < MAX_TYPES) {
        if (make(&in, all, n, &all[n]) != GW_OK) continue;
        if (in_byte(&in) & 1) type_mark_large(all[n]);
        ask(all[n], &in);
        n++;
    }
    while (n > 4) type_release(all[--n]);
    return 0;
}
