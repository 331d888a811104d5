/* fuzz_unpack.c -- MPI_Unpack and external32 of bytes that nobody packed, at any position; and external32 there and back.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "type_tree.h"

static const char rep[] = "external32";

/* From exactly `size` bytes, so that a read behind them is seen. */
static void unpack(const struct tree_type *t, int64_t count, char *buf, struct input *in, bool external)
{
    int64_t size = in->end - in->at, position = in_number(in);
    char *packed = malloc((size_t)size + 1);
    if (!packed) abort();
    if (position > size || position < 0) position = position % 2 ? position : 0;
    size = in->end - in->at;
    if (size) memcpy(packed, in->at, (size_t)size);
    char *exact = realloc(packed, (size_t)size + !size);
    if (!exact) abort();
    int64_t before = position, need = 0;
    int rc = external ? type_mpi_unpack_external(rep, exact, size, &position, buf, count, t->type)
                      : type_mpi_unpack(exact, size, &position, buf, count, t->type);
    if (external)
        FUZZ_CHECK(type_mpi_pack_external_size(rep, count, t->type, &need) == GW_OK);
    else
        FUZZ_CHECK(type_mpi_pack_size(count, t->type, &need) == GW_OK);
    bool fits = before >= 0 && before <= size && need <= size - before;
    FUZZ_CHECK((rc == GW_OK) == fits && position == (fits ? before + need : before));
    free(exact);
}

/* What external32 takes it gives back. */
static void there_and_back(const struct tree_type *t, int64_t count, char *buf, char *at, int64_t bytes)
{
    int64_t size = 0, position = 0;
    FUZZ_CHECK(type_mpi_pack_external_size(rep, count, t->type, &size) == GW_OK);
    char *packed = malloc((size_t)size + 1), *old = malloc((size_t)bytes + 1);
    if (!packed || !old) abort();
    if (type_mpi_pack_external(rep, buf, count, t->type, packed, size, &position) == GW_OK) {
        FUZZ_CHECK(position == size);
        memcpy(old, at, (size_t)bytes);
        for (int64_t c = 0; c < count; c++) /* what is not there again stays wrong */
            for (int i = 0; i < t->n; i++) memset(buf + c * t->extent + t->elem[i].at, 0x5a, (size_t)t->elem[i].size);
        position = 0;
        FUZZ_CHECK(type_mpi_unpack_external(rep, packed, size, &position, buf, count, t->type) == GW_OK && position == size);
        FUZZ_CHECK(!memcmp(at, old, (size_t)bytes));
        FUZZ_CHECK(type_mpi_unpack_external(rep, packed, size, &position, buf, count, t->type) != GW_OK || size == 0);
    } else { /* a long that needs more than 4 bytes */
        FUZZ_CHECK(position == 0);
    }
    free(old);
    free(packed);
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
    bool external = in_byte(&in) & 1;
    tree_grow(&t, &in, in_below(&in, 5));
    const struct tree_type *last = t.at[t.n - 1];
    int64_t count = in_below(&in, 6), low = 0, high = 0;
    tree_bounds(last, count, &low, &high);
    char *memory = calloc(1, (size_t)(high - low) + 1), *base = (char *)((uintptr_t)memory - (uintptr_t)low);
    if (!memory) abort();
    unpack(last, count, base, &in, external);
    if (!tree_overlaps(last, count)) there_and_back(last, count, base, memory, high - low);
    free(memory);
    tree_free(&t);
    return 0;
}
