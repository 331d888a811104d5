/* reproducible.c -- sums of doubles of very different sizes, whose last bits show the order in which they were added: one line for
 * each collective and length with a fingerprint of the result, to be compared between runs (test/users/row27.sh).  In a run, the
 * same call gives the same bits again, all ranks of an Allreduce get the same bits, and so do communicators of the same size.
 * Argument "setting": GODWIT_REPRODUCIBLE=placement is set, and the ways to call an Allreduce agree.  "key": the same by the
 * communicators' info key.  "any": sums depend on the operands alone (GODWIT_REPRODUCIBLE=any, "anykey": by the info key): not on the order
 * of ranks, nor on how many more there are with zeros, so that lines of runs of 3 ranks and more are the same.
 *
 * users.md row 27
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <float.h>
#include <math.h>
#include <stdint.h>

#include "p2p_check.h"

enum { MOST = 60000 };
static const int lengths[] = {1, 2, 3, 7, 64, 500, 1000, 4096, 20000, MOST};
static double in[MOST + 8], out[MOST + 8], again[MOST + 8];
static MPI_Op user;

static double value(int r, int i)
{
    unsigned x = (unsigned)(r * 7919 + i) * 2654435761u;
    x ^= x >> 15, x *= 2246822519u, x ^= x >> 13;
    double v = 1.0 + x / 4294967296.0;
    for (unsigned e = x % 50; e > 0; e--) v *= 2;
    return x & 64 ? -v : v;
}
static uint64_t fingerprint(const double *v, int n)
{
    uint64_t h = 14695981039346656037u;
    for (int i = 0; i < n * 8; i++) h = (h ^ ((const unsigned char *)v)[i]) * 1099511628211u;
    return h;
}
static void add(void *a, void *b, int *n, MPI_Datatype *t)
{
    (void)t;
    for (int i = 0; i < *n; i++) ((double *)b)[i] = ((double *)a)[i] + ((double *)b)[i];
}

enum kind { ALLREDUCE, IALLREDUCE, IN_PLACE, REDUCE, SCAN, EXSCAN, SCATTER_BLOCK, USER_OP, PERSISTENT, KINDS };
static const char *const names[] = {"allreduce", "iallreduce",    "in_place", "reduce",    "scan",
                                    "exscan",    "scatter_block", "user_op",  "persistent"};

static void call(enum kind kind, int n, double *result, MPI_Comm comm)
{
    MPI_Request q;
    int ranks;
    MPI_Comm_size(comm, &ranks);
    memset(result, 0, sizeof(double) * (size_t)n);
    switch (kind) {
    case ALLREDUCE: MPI_Allreduce(in, result, n, MPI_DOUBLE, MPI_SUM, comm); break;
    case IALLREDUCE:
        MPI_Iallreduce(in, result, n, MPI_DOUBLE, MPI_SUM, comm, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        break;
    case IN_PLACE:
        memcpy(result, in, sizeof(double) * (size_t)n);
        MPI_Allreduce(MPI_IN_PLACE, result, n, MPI_DOUBLE, MPI_SUM, comm);
        break;
    case REDUCE: MPI_Reduce(in, result, n, MPI_DOUBLE, MPI_SUM, 0, comm); break;
    case SCAN: MPI_Scan(in, result, n, MPI_DOUBLE, MPI_SUM, comm); break;
    case EXSCAN: MPI_Exscan(in, result, n, MPI_DOUBLE, MPI_SUM, comm); break;
    case SCATTER_BLOCK: MPI_Reduce_scatter_block(in, result, n / ranks, MPI_DOUBLE, MPI_SUM, comm); break;
    case USER_OP: MPI_Allreduce(in, result, n, MPI_DOUBLE, user, comm); break;
    case PERSISTENT:
        MPI_Allreduce_init(in, result, n, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &q);
        MPI_Start(&q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        MPI_Request_free(&q);
        break;
    case KINDS: break;
    }
}

static void says(MPI_Comm comm, const char *want)
{
    MPI_Info info;
    char value[20] = "";
    int length = sizeof value, flag = 0;
    MPI_Comm_get_info(comm, &info);
    MPI_Info_get_string(info, "reproducible", &length, value, &flag);
    CHECK(flag && strcmp(value, want) == 0);
    MPI_Info_free(&info);
}
static void set(MPI_Comm comm, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "reproducible", value);
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
}

/* ---- any ---- */
enum { GIVERS = 3, COUNTED = 1000 };
static int my_rank_in(MPI_Comm comm)
{
    int r;
    MPI_Comm_rank(comm, &r);
    return r;
}
static void operands(MPI_Comm comm, int n) /* of as many ranks as give something */
{
    int me = my_rank_in(comm);
    for (int i = 0; i < n; i++) in[i] = me < GIVERS ? value(me, i) : 0;
}
/* Strided pairs of numbers, complex ones, a part for each rank: as the plain call. */
static void other_types(MPI_Comm comm)
{
    static double wide_in[3 * COUNTED], wide_out[3 * COUNTED];
    int counts[64], first = 0, me = my_rank_in(comm);
    MPI_Datatype strided;
    operands(comm, 2 * COUNTED);
    call(ALLREDUCE, 2 * COUNTED, out, comm);
    MPI_Allreduce(in, again, COUNTED, MPI_C_DOUBLE_COMPLEX, MPI_SUM, comm);
    CHECK(memcmp(out, again, 2 * COUNTED * sizeof *out) == 0);
    MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &strided); /* of three, the first and the last */
    MPI_Type_commit(&strided);
    for (int i = 0; i < COUNTED; i++)
        wide_in[3 * i] = in[2 * i], wide_in[3 * i + 2] = in[2 * i + 1], wide_in[3 * i + 1] = 1, wide_out[3 * i + 1] = 77;
    MPI_Allreduce(wide_in, wide_out, COUNTED, strided, MPI_SUM, comm);
    for (int i = 0; i < COUNTED; i++)
        CHECK(wide_out[3 * i] == out[2 * i] && wide_out[3 * i + 2] == out[2 * i + 1] && wide_out[3 * i + 1] == 77);
    MPI_Type_free(&strided);
    for (int r = 0; r < size; r++) counts[r] = 3 * r + 1, first += r < me ? counts[r] : 0;
    MPI_Reduce_scatter(in, again, counts, MPI_DOUBLE, MPI_SUM, comm);
    CHECK(memcmp(again, out + first, sizeof *out * (size_t)counts[me]) == 0);
    int block = 2 * COUNTED / size;
    call(SCATTER_BLOCK, 2 * COUNTED, again, comm);
    CHECK(memcmp(again, out + me * block, sizeof *out * (size_t)block) == 0);
}
/* ---- operands that are hard to add: each kind of number with each, as every type ---- */
static double hard(int r, int i)
{
    static const double special[] = {INFINITY, -INFINITY, NAN, DBL_MAX, -DBL_MAX, DBL_TRUE_MIN, -0.0, 1e-300};
    double v = value(r, i);
    switch (i / 7 % 8) {
    case 0: return v;
    case 1: return r % 2 ? -value(0, i) : value(0, i) + (r == 2 ? 1e-9 : 0); /* what is left is small */
    case 2: return ldexp(v, -1074 + i % 40);                                 /* below the normal numbers, or just above */
    case 3: return ldexp(v, 970);                                            /* some sums are infinite */
    case 4: return r % 2 ? -0.0 : 0.0;
    case 5: return (i + r) % 5 ? v : special[(i * 3 + r) % 8];
    case 6: return (r ? 0.5 : 0x1p52) + i % 4; /* ties */
    default: return ldexp(v, (i * 37 + r * 211) % 1000 - 500);
    }
}
static const struct {
    MPI_Datatype type;
    int bytes, parts, valued; /* of a real number; how many the type has; bytes of it that are not padding */
} hard_types[] = {{MPI_DOUBLE, 8, 1, 8},
                  {MPI_FLOAT, 4, 1, 4},
                  {MPI_LONG_DOUBLE, sizeof(long double), 1, sizeof(long double) == 16 ? 10 : 8},
                  {MPI_C_DOUBLE_COMPLEX, 8, 2, 8},
                  {MPI_C_FLOAT_COMPLEX, 4, 2, 4},
                  {MPI_C_LONG_DOUBLE_COMPLEX, sizeof(long double), 2, sizeof(long double) == 16 ? 10 : 8}};
enum { HARD_TYPES = sizeof hard_types / sizeof *hard_types };
static char hard_in[MOST * 16], hard_out[MOST * 16], hard_again[MOST * 16];
static void hard_operands(MPI_Comm comm, int n, int bytes)
{
    int me = my_rank_in(comm);
    memset(hard_in, 0, sizeof hard_in);
    for (int i = 0; i < n; i++) {
        double v = me < GIVERS ? hard(me, i) : i % 2 ? -0.0 : 0.0;
        if (bytes == 8) memcpy(hard_in + (size_t)i * 8, &v, 8);
        if (bytes == 4) memcpy(hard_in + (size_t)i * 4, &(float){(float)v}, 4);
        if (bytes == 16) memcpy(hard_in + (size_t)i * 16, &(long double){v}, 10);
    }
}
static uint64_t hard_fingerprint(const char *v, int n, int bytes, int valued)
{
    uint64_t h = 14695981039346656037u;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < valued; k++) h = (h ^ ((const unsigned char *)v)[i * bytes + k]) * 1099511628211u;
    return h;
}
/* In shared memory where there is some, by messages (with a request), and with the ranks the other way round: the same bits. */
static void hard_ones(int k, int n, MPI_Comm turned)
{
    int bytes = hard_types[k].bytes, count = n / hard_types[k].parts;
    MPI_Request q;
    hard_operands(MPI_COMM_WORLD, n, bytes);
    MPI_Allreduce(hard_in, hard_out, count, hard_types[k].type, MPI_SUM, MPI_COMM_WORLD);
    uint64_t first = hard_fingerprint(hard_out, n, bytes, hard_types[k].valued);
    MPI_Iallreduce(hard_in, hard_again, count, hard_types[k].type, MPI_SUM, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK(hard_fingerprint(hard_again, n, bytes, hard_types[k].valued) == first);
    MPI_Reduce(hard_in, hard_again, count, hard_types[k].type, MPI_SUM, size - 1, MPI_COMM_WORLD);
    if (rank == size - 1) CHECK(hard_fingerprint(hard_again, n, bytes, hard_types[k].valued) == first);
    hard_operands(turned, n, bytes); /* the same operands, of other ranks */
    MPI_Allreduce(hard_in, hard_again, count, hard_types[k].type, MPI_SUM, turned);
    CHECK(hard_fingerprint(hard_again, n, bytes, hard_types[k].valued) == first);
    if (bytes == 8 && size >= GIVERS) /* what a sum in any order gives */
        for (int i = 0; i < n; i++) {
            double v, plain = hard(0, i) + hard(1, i) + hard(2, i);
            memcpy(&v, hard_out + (size_t)i * 8, 8);
            if (i / 7 % 8 == 4) CHECK(v == 0 && !signbit(v));
            if (i / 7 % 8 == 5) CHECK(isnan(plain) ? isnan(v) : isinf(plain) ? v == plain : isfinite(v));
        }
    if (rank == 0) printf("any hard%d %d %016llx\n", k, n, (unsigned long long)first);
}

/* Not those of users' operations, which may be anything, nor scans, whose order the rank decides; blocks are of as many elements as ranks. */
static int is_counted(enum kind kind) { return kind != USER_OP && kind != SCAN && kind != EXSCAN && kind != SCATTER_BLOCK; }
/* Every way to call it gives the same bits, on communicators whose ranks are the other way round, too. */
static void any_order(enum kind kind, int n, MPI_Comm turned)
{
    operands(MPI_COMM_WORLD, n);
    call(kind, n, out, MPI_COMM_WORLD);
    call(ALLREDUCE, n, again, MPI_COMM_WORLD);
    if (kind != REDUCE || rank == 0) CHECK(memcmp(out, again, sizeof *out * (size_t)n) == 0);
    if (kind != REDUCE) { /* the same operands, of other ranks */
        call(kind, n, again, turned);
        CHECK(memcmp(out, again, sizeof *out * (size_t)n) == 0);
    }
    if (rank == 0) printf("any %s %d %016llx\n", names[kind], n, (unsigned long long)fingerprint(out, n));
}
static void any(int is_key)
{
    MPI_Comm turned;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
    if (is_key) set(MPI_COMM_WORLD, "any"), set(turned, "any");
    says(turned, "any");
    for (enum kind kind = 0; kind < KINDS; kind++)
        for (unsigned l = 0; is_counted(kind) && l < sizeof lengths / sizeof *lengths; l++) any_order(kind, lengths[l], turned);
    other_types(MPI_COMM_WORLD);
    for (int k = 0; k < HARD_TYPES; k++)
        for (unsigned l = 0; l < sizeof lengths / sizeof *lengths; l += 3) hard_ones(k, lengths[l] + lengths[l] % 2, turned);
    set(turned, "off");
    says(turned, is_key ? "off" : "any");
    MPI_Comm_free(&turned);
}

int main(int argc, char **argv)
{
    MPI_Comm twin;
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Op_create(add, 1, &user);
    const char *how = argc > 1 ? argv[1] : "";
    if (strncmp(how, "any", 3) == 0) {
        any(strcmp(how, "anykey") == 0);
        MPI_Op_free(&user);
        MPI_Comm_free(&twin);
        return test_end();
    }
    uint64_t plain[sizeof lengths / sizeof *lengths] = {0};
    if (strcmp(how, "key") == 0) {
        says(MPI_COMM_WORLD, "off");
        set(MPI_COMM_WORLD, "placement"), set(twin, "placement");
        set(twin, "no such value");
    }
    says(twin, *how ? "placement" : "off");
    for (enum kind kind = 0; kind < KINDS; kind++)
        for (unsigned l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            int n = lengths[l];
            for (int i = 0; i < n; i++) in[i] = value(rank, i);
            call(kind, n, out, MPI_COMM_WORLD);
            for (int k = 0; k < 3; k++) {
                call(kind, n, again, k ? twin : MPI_COMM_WORLD);
                CHECK(memcmp(out, again, sizeof(double) * (size_t)n) == 0);
            }
            uint64_t mine = fingerprint(out, n), sum = 0;
            int is_all = kind == ALLREDUCE || kind == IALLREDUCE || kind == IN_PLACE || kind == USER_OP || kind == PERSISTENT;
            if (is_all) {
                uint64_t first = mine;
                MPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
                CHECK(first == mine);
                if (kind == ALLREDUCE) plain[l] = mine;
                if (*how) CHECK(mine == plain[l]);
            }
            if (kind == REDUCE && rank != 0) mine = 0;
            if (!is_all) mine *= 2 * (uint64_t)rank + 1;
            MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
            if (rank == 0) printf("%s %d %016llx\n", names[kind], n, (unsigned long long)sum);
        }
    MPI_Op_free(&user);
    MPI_Comm_free(&twin);
    return test_end();
}
