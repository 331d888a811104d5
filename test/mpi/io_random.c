/* io_random.c -- random views and accesses against a model that packs and unpacks whole tiles of an image of the file.
 *
 *     io_random [FIRST [HOW MANY]]        seeds
 *
 * What is written follows from the place in the file, so that ranks may give the same bytes.  Half of the trials are deep: with hints
 * that let aggregators do all in small windows, of which the access has many times as many as there is memory for.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io_check.h"

/* LEAST: bytes of the smallest window in shared memory; of windows sent by messages it is the largest in deep trials. */
enum { ROOM = 1 << 17, MEMORY = 1 << 18, LEAST = 4096, ROUNDS = 3 };
static char memory[MEMORY], back[MEMORY], want[MEMORY], stream[ROOM], image[ROOM], given[ROOM], anybody[ROOM], file[ROOM];
static int deep_trials, deep_enough;

/* ---- types whose displacements do not decrease ---- */
static long bytes_of(MPI_Datatype t)
{
    int n;
    MPI_Type_size(t, &n);
    return n;
}
static MPI_Aint extent_of(MPI_Datatype t)
{
    MPI_Aint lb, extent;
    MPI_Type_get_extent(t, &lb, &extent);
    return extent;
}
static MPI_Aint end_of(MPI_Datatype t)
{
    MPI_Aint lb, extent;
    MPI_Type_get_true_extent(t, &lb, &extent);
    return lb + extent;
}
static MPI_Datatype resized(MPI_Datatype t, MPI_Aint lb, MPI_Aint extent)
{
    MPI_Datatype u;
    MPI_Type_create_resized(t, lb, extent, &u);
    MPI_Type_free(&t);
    return u;
}

static MPI_Datatype random_type(MPI_Datatype etype, int depth)
{
    MPI_Datatype t, in;
    long e = bytes_of(etype);
    int n = 1 + (int)random_below(3), lens[3], at[3], sizes[2], sub[2], from[2];
    if (depth == 0) {
        MPI_Type_contiguous(n, etype, &t);
        return t;
    }
    in = random_type(etype, depth - 1);
    in = resized(in, 0, end_of(in));
    switch (random_below(4)) {
    case 0: MPI_Type_vector(n, 1 + (int)random_below(2), 2 + (int)random_below(3), in, &t); break;
    case 1:
        for (int i = 0, place = 0; i < n; i++) {
            lens[i] = i ? (int)random_below(3) : 1;
            at[i] = place + (int)random_below(3);
            place = at[i] + lens[i];
        }
        MPI_Type_indexed(n, lens, at, in, &t);
        break;
    case 2:
        for (int i = 0; i < 2; i++) {
            sizes[i] = 2 + (int)random_below(3);
            sub[i] = 1 + (int)random_below((unsigned)sizes[i]);
            from[i] = (int)random_below((unsigned)(sizes[i] - sub[i] + 1));
        }
        MPI_Type_create_subarray(2, sizes, sub, from, random_below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, in, &t);
        break;
    default: /* a lower bound before or behind the first byte, a hole at the end */
        return resized(in, e * (2 - (int)random_below(5)), end_of(in) + e * (int)random_below(4));
    }
    MPI_Type_free(&in);
    return t;
}
/* Of which instances do not overlap. */
static MPI_Datatype random_tile(MPI_Datatype etype, int depth, int instances)
{
    MPI_Aint lb, extent;
    MPI_Datatype t = random_type(etype, depth);
    MPI_Type_get_true_extent(t, &lb, &extent);
    if (extent < extent_of(t)) extent = extent_of(t);
    MPI_Type_get_extent(t, &lb, &(MPI_Aint){0});
    t = resized(t, lb, extent * instances);
    MPI_Type_commit(&t);
    return t;
}

/* ---- accesses ---- */
struct trial {
    MPI_File f;
    MPI_Datatype etype, view, type; /* type: of memory */
    MPI_Offset disp, offset;
    int count, is_deep, aggregators;
    long e, bytes, each, tile; /* of an etype, of the whole access, of an item, of a tile */
};

static int access_by(struct trial *t, int how, int writes, char *buf, MPI_Status *s)
{
    MPI_Request r;
    int rc, n = t->count;
    if (how == 0)
        return (writes ? MPI_File_write_at(t->f, t->offset, buf, n, t->type, s)
                       : MPI_File_read_at(t->f, t->offset, buf, n, t->type, s));
    if (how == 1)
        return (writes ? MPI_File_write_at_all(t->f, t->offset, buf, n, t->type, s)
                       : MPI_File_read_at_all(t->f, t->offset, buf, n, t->type, s));
    OK(MPI_File_seek(t->f, t->offset, MPI_SEEK_SET));
    if (how == 2) return (writes ? MPI_File_write_all(t->f, buf, n, t->type, s) : MPI_File_read_all(t->f, buf, n, t->type, s));
    rc = writes ? MPI_File_iwrite_all(t->f, buf, n, t->type, &r) : MPI_File_iread_all(t->f, buf, n, t->type, &r);
    return rc == MPI_SUCCESS ? MPI_Wait(&r, s) : rc;
}

/* The bytes of the view's stream that the access has, between `stream` and an image of the file. */
static long tiles_of(const struct trial *t) { return (t->offset * t->e + t->bytes + t->tile - 1) / t->tile; }
static void to_image(const struct trial *t, char *to)
{
    for (long i = 0; i < tiles_of(t); i++)
        MPI_Unpack(stream + i * t->tile, (int)t->tile, &(int){0}, to + t->disp + i * extent_of(t->view), 1, t->view, MPI_COMM_SELF);
}
static void from_image(const struct trial *t, const char *from)
{
    for (long i = 0; i < tiles_of(t); i++)
        MPI_Pack(from + t->disp + i * extent_of(t->view), 1, t->view, stream + i * t->tile, (int)t->tile, &(int){0}, MPI_COMM_SELF);
}

/* The memory that holds what the access writes of `image`. */
static char *written(const struct trial *t, unsigned seed)
{
    char *buf = memory + MEMORY / 2;
    pattern_fill(image, ROOM, seed);
    pattern_fill(memory, MEMORY, seed + 77u * (unsigned)(rank + 1));
    from_image(t, image);
    MPI_Unpack(stream + t->offset * t->e, (int)t->bytes, &(int){0}, buf, t->count, t->type, MPI_COMM_SELF);
    return buf;
}

static void write_check(const struct trial *t, const char *name)
{
    int wrong = 0, junk = 0, first = 0, last = ROOM - 1;
    memset(stream, 0, sizeof stream), memset(given, 0, sizeof given);
    memset(stream + t->offset * t->e, 1, (size_t)t->bytes);
    to_image(t, given);
    MPI_Allreduce(given, anybody, ROOM, MPI_SIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
    memset(file, 0, sizeof file);
    CHECK(plain_read(name, file, ROOM) <= ROOM);
    for (int i = 0; i < ROOM; i++) wrong += anybody[i] && file[i] != image[i], junk += !anybody[i] && file[i] != 0;
    CHECK_EQ(wrong, 0);
    CHECK_EQ(junk, 0);
    while (first < last && !anybody[first]) first++;
    while (last > first && !anybody[last]) last--;
    /* Each aggregator has memory for two windows. */
    deep_trials += t->is_deep, deep_enough += t->is_deep && last - first >= ROUNDS * 2 * t->aggregators * LEAST;
}

static void read_check(struct trial *t, const char *name, long moved)
{
    char *mine = stream + t->offset * t->e, *buf = want + MEMORY / 2;
    long size_now = plain_read(name, file, ROOM), have = 0, whole;
    memset(given, 0, sizeof given);
    memset(given, 1, (size_t)size_now);
    from_image(t, given);
    while (have < t->bytes && mine[have]) have++;
    CHECK_EQ(moved, have);
    from_image(t, file);
    memset(want, 0x55, sizeof want);
    whole = have / t->each;
    MPI_Unpack(mine, (int)(whole * t->each), &(int){0}, buf, (int)whole, t->type, MPI_COMM_SELF);
    if (have % t->each) { /* the end of the file cuts an item */
        char *item = buf + whole * extent_of(t->type), part[4096];
        MPI_Pack(item, 1, t->type, part, sizeof part, &(int){0}, MPI_COMM_SELF);
        memcpy(part, mine + whole * t->each, (size_t)(have % t->each));
        MPI_Unpack(part, (int)t->each, &(int){0}, item, 1, t->type, MPI_COMM_SELF);
    }
    CHECK_EQ(memcmp(want, back, MEMORY), 0);
}

static MPI_Info random_hints(struct trial *t)
{
    static const char *const keys[] = {"romio_cb_write", "romio_cb_read", "romio_ds_write", "romio_ds_read"};
    static const char *const choices[] = {"enable", "automatic", "disable"};
    char text[20];
    MPI_Info info;
    MPI_Info_create(&info);
    for (int i = 0; i < 4; i++) MPI_Info_set(info, keys[i], choices[random_below(t->is_deep && i < 2 ? 1 : 3)]);
    t->aggregators = 1 + (int)random_below(t->is_deep ? 3 : 6);
    snprintf(text, sizeof text, "%d", t->aggregators);
    MPI_Info_set(info, "cb_nodes", text);
    snprintf(text, sizeof text, "%u", t->is_deep ? LEAST - random_below(3000) : 256 + random_below(9000));
    if (t->is_deep || random_below(2)) MPI_Info_set(info, "cb_buffer_size", text);
    return info;
}

/* With so many items there is room for what an access may touch. */
static int fits(struct trial *t, int count)
{
    t->bytes = count * t->each;
    return (tiles_of(t) + 12 * t->e / t->tile + 3) * extent_of(t->view) + end_of(t->view) < ROOM &&
        (tiles_of(t) + 12) * t->tile < ROOM && count * extent_of(t->type) <= MEMORY / 4;
}

/* False: the types are too large. */
static int random_trial(struct trial *t)
{
    const MPI_Datatype etypes[] = {MPI_BYTE, MPI_INT, MPI_DOUBLE};
    t->etype = etypes[random_below(3)];
    t->view = random_tile(t->etype, (int)random_below(3), size);
    t->type = random_tile(t->etype, (int)random_below(t->is_deep ? 2 : 3), 1);
    t->e = bytes_of(t->etype), t->each = bytes_of(t->type), t->tile = bytes_of(t->view);
    t->count = 1 + (int)random_below(12);
    t->offset = random_below(20);
    /* The ranks' tiles beside each other, or, with fewer than four quarters, over each other. */
    long quarters = random_below(3) ? 4 : random_below(4);
    t->disp = 3 * t->e + extent_of(t->view) / size * rank * quarters / 4;
    while (t->count > 1 && !fits(t, t->count)) t->count /= 2;
    while (t->is_deep && fits(t, t->count + t->count / 2 + 1)) t->count += t->count / 2 + 1;
    return fits(t, t->count);
}

static void try_one(long seed)
{
    const char *name = in_folder("random");
    char digits[24];
    struct trial t = {0};
    MPI_Status status;
    snprintf(digits, sizeof digits, "%ld", seed);
    random_seed(digits); /* all ranks draw alike */
    t.is_deep = (int)random_below(2);
    MPI_Info info = random_hints(&t);
    int will_do = random_trial(&t), least = t.is_deep ? 1 : 0;
    int hows[2] = {least + (int)random_below(4u - (unsigned)least), least + (int)random_below(4u - (unsigned)least)};
    int shift = (int)random_below(12);
    if (will_do) {
        char *buf = written(&t, (unsigned)seed);
        OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &t.f));
        OK(MPI_File_set_view(t.f, t.disp, t.etype, t.view, "native", MPI_INFO_NULL));
        OK(access_by(&t, hows[0], 1, buf, &status));
        CHECK_EQ(count_of(&status), t.bytes);
        MPI_Barrier(MPI_COMM_WORLD);
        write_check(&t, name);
        memset(back, 0x55, sizeof back);
        t.offset = shift;
        OK(access_by(&t, hows[1], 0, back + MEMORY / 2, &status));
        read_check(&t, name, count_of(&status));
        OK(MPI_File_close(&t.f));
    }
    MPI_Type_free(&t.view), MPI_Type_free(&t.type);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    files_begin(&argc, &argv);
    long first = argc > 1 ? atol(argv[1]) : 0, n = argc > 2 ? atol(argv[2]) : 30;
    for (long seed = first; seed < first + n; seed++) {
        int before = failures;
        try_one(seed);
        if (failures > before) fprintf(stderr, "rank %d: seed %ld\n", rank, seed);
    }
    CHECK(deep_enough * 2 >= deep_trials);
    return files_end();
}
