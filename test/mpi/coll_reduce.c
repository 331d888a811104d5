/* coll_reduce.c -- the reductions on all predefined types and operations: reduce, allreduce, reduce_scatter, scan, exscan.
 *
 * Each rank's operand is made from small numbers by a function of (rank, index), so that every partial result is exact and
 * can be computed here, element by element.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <complex.h>
#include <stdint.h>

#include "coll_check.h"

typedef void write_element(void *at, int first, int last, long i);
struct test_case {
    const char *name;
    MPI_Datatype type;
    MPI_Op op;
    long size;
    write_element *write;
    long pad, pad_end, pad2;
};

/* What ranks first .. last make together; first == last: one operand. */
#define NUMBER(from, i) ((int)(((unsigned)(from)*5 + (unsigned)(i)*3) % 7))
#define FACTOR(from, i) (((from) + (i)) % 5 == 0 ? 2 : 1)
#define FOLD(name, type, first_value, expr)                                                                                        \
    static void name(void *at, int first, int last, long i)                                                                        \
    {                                                                                                                              \
        int from = first;                                                                                                          \
        type x = (type)(first_value);                                                                                              \
        for (from = first + 1; from <= last; from++) {                                                                             \
            type y = (type)(first_value);                                                                                          \
            x = (type)(expr);                                                                                                      \
        }                                                                                                                          \
        memcpy(at, &x, sizeof x);                                                                                                  \
    }
#define ALL_INTEGERS(X)                                                                                                            \
    X(int8_t, MPI_INT8_T)                                                                                                          \
    X(int16_t, MPI_INT16_T)                                                                                                        \
    X(int32_t, MPI_INT32_T)                                                                                                        \
    X(int64_t, MPI_INT64_T) X(uint8_t, MPI_UINT8_T) X(uint16_t, MPI_UINT16_T) X(uint32_t, MPI_UINT32_T) X(uint64_t, MPI_UINT64_T)
typedef long double long_double;
#define ALL_REALS(X) X(float, MPI_FLOAT) X(double, MPI_DOUBLE) X(long_double, MPI_LONG_DOUBLE)

#define ARITH_FOLDS(type, mpi)                                                                                                     \
    FOLD(sum_##type, type, NUMBER(from, i), x + y)                                                                                 \
    FOLD(prod_##type, type, FACTOR(from, i), x *y)                                                                                 \
    FOLD(max_##type, type, NUMBER(from, i), x > y ? x : y)                                                                         \
    FOLD(min_##type, type, NUMBER(from, i), x < y ? x : y)
#define BIT_FOLDS(type, mpi)                                                                                                       \
    FOLD(band_##type, type, (NUMBER(from, i) | 1), x &y)                                                                           \
    FOLD(bor_##type, type, 1 << NUMBER(from, i), x | y)                                                                            \
    FOLD(bxor_##type, type, (NUMBER(from, i) * 17), x ^ y)                                                                         \
    FOLD(land_##type, type, (NUMBER(from, i) > 1) * 2, x && y)                                                                     \
    FOLD(lor_##type, type, (NUMBER(from, i) > 5) * 4, x || y)                                                                      \
    FOLD(lxor_##type, type, (NUMBER(from, i) > 3) * 8, !x != !y)
ALL_INTEGERS(ARITH_FOLDS)
ALL_REALS(ARITH_FOLDS)
ALL_INTEGERS(BIT_FOLDS)
typedef float _Complex c_float;
typedef double _Complex c_double;
FOLD(sum_c_float, c_float, NUMBER(from, i) + I * NUMBER(from, i + 1), x + y)
FOLD(sum_c_double, c_double, NUMBER(from, i) + I * NUMBER(from, i + 1), x + y)
FOLD(prod_c_double, c_double, FACTOR(from, i) * (from % 3 == 0 ? 2 + I : 1), x *y)
FOLD(band_bytes, uint8_t, 255 - (1 << NUMBER(from, i)), x &y)
FOLD(lor_bool, uint8_t, NUMBER(from, i) == 0, x || y)

/* Pairs, in the layout of the C structs. */
#define LOCATION(name, type, better)                                                                                               \
    static void name(void *at, int first, int last, long i)                                                                        \
    {                                                                                                                              \
        struct {                                                                                                                   \
            type v;                                                                                                                \
            int at;                                                                                                                \
        } x = {(type)NUMBER(first, i), first};                                                                                     \
        for (int from = first + 1; from <= last; from++)                                                                           \
            if ((type)NUMBER(from, i) better x.v) x.v = (type)NUMBER(from, i), x.at = from;                                        \
        memcpy(at, &x.v, sizeof x.v);                                                                                              \
        memcpy((char *)at + ((char *)&x.at - (char *)&x), &x.at, sizeof x.at);                                                     \
    }
LOCATION(maxloc_float, float, >)
LOCATION(maxloc_double, double, >)
LOCATION(minloc_double, double, <)
LOCATION(minloc_long, long, <)
LOCATION(maxloc_int, int, >)
LOCATION(minloc_int, int, <)
LOCATION(minloc_short, short, <)
LOCATION(maxloc_long_double, long_double, >)

#define CASE(name, mpi, op, type, write) {name, mpi, op, sizeof(type), write, VALUE_BYTES(type), sizeof(type), sizeof(type)},
#define VALUE_BYTES(type)                (sizeof(type) == 16 ? 10 : sizeof(type)) /* a long double has 10 of 16 */
#define ARITH_CASES(type, mpi)                                                                                                     \
    CASE("sum " #type, mpi, MPI_SUM, type, sum_##type)                                                                             \
    CASE("prod " #type, mpi, MPI_PROD, type, prod_##type)                                                                          \
    CASE("max " #type, mpi, MPI_MAX, type, max_##type) CASE("min " #type, mpi, MPI_MIN, type, min_##type)
#define BIT_CASES(type, mpi)                                                                                                       \
    CASE("band " #type, mpi, MPI_BAND, type, band_##type)                                                                          \
    CASE("bor " #type, mpi, MPI_BOR, type, bor_##type)                                                                             \
    CASE("bxor " #type, mpi, MPI_BXOR, type, bxor_##type)                                                                          \
    CASE("land " #type, mpi, MPI_LAND, type, land_##type)                                                                          \
    CASE("lor " #type, mpi, MPI_LOR, type, lor_##type) CASE("lxor " #type, mpi, MPI_LXOR, type, lxor_##type)

/* ---- the collectives ------------------------------------------------------------------------------------------------------------ */
static void fill(struct box *b, const struct test_case *t, long start, long n, int first, int last, int put)
{
    for (long i = 0; i < n; i++) {
        unsigned char v[32];
        memcpy(v, put ? b->is + i * t->size : b->want + i * t->size, (size_t)t->size); /* keeps a struct's gaps */
        t->write(v, first, last, start + i);
        (put ? box_put : box_want)(b, i * t->size, v, t->size);
    }
}
/* Padding inside elements is nobody's. */
static void reduced_check(struct box *r, const struct test_case *t)
{
    for (long i = 0; i < r->bytes; i++) {
        long at = i % t->size;
        if ((at >= t->pad && at < t->pad_end) || (at >= t->pad2 && at < t->size)) r->want[i] = r->is[i];
    }
    box_check(r, t->name);
}
static void *in_or_place(int in_place, struct box *s) { return in_place ? MPI_IN_PLACE : s->is; }

static void reduce(const struct coll_comm *k, const struct test_case *t, long n, int root, int in_place)
{
    int me = k->rank == root;
    struct box s = box_new(n * t->size), r = box_new(me ? n * t->size : 0);
    fill(&s, t, 0, n, k->rank, k->rank, 1);
    if (me && in_place) fill(&r, t, 0, n, k->rank, k->rank, 1);
    if (me) fill(&r, t, 0, n, 0, k->size - 1, 0);
    MPI_Reduce(in_or_place(me && in_place, &s), me ? r.is : NULL, (int)n, t->type, t->op, root, k->c);
    box_check(&s, "reduce: sent");
    reduced_check(&r, t);
}
enum { ALLREDUCE, SCAN, EXSCAN };
static void to_all(const struct coll_comm *k, const struct test_case *t, long n, int which, int in_place)
{
    struct box s = box_new(n * t->size), r = box_new(n * t->size);
    int last = which == ALLREDUCE ? k->size - 1 : which == SCAN ? k->rank : k->rank - 1;
    fill(&s, t, 0, n, k->rank, k->rank, 1);
    if (in_place) fill(&r, t, 0, n, k->rank, k->rank, 1);
    if (last >= 0) fill(&r, t, 0, n, 0, last, 0); /* the first rank of exscan keeps what it has */
    if (which == ALLREDUCE) MPI_Allreduce(in_or_place(in_place, &s), r.is, (int)n, t->type, t->op, k->c);
    if (which == SCAN) MPI_Scan(in_or_place(in_place, &s), r.is, (int)n, t->type, t->op, k->c);
    if (which == EXSCAN) MPI_Exscan(in_or_place(in_place, &s), r.is, (int)n, t->type, t->op, k->c);
    box_check(&s, "sent");
    reduced_check(&r, t);
}
/* Part of rank i: n elements in the block form, else uneven numbers. */
static void reduce_scatter(const struct coll_comm *k, const struct test_case *t, long n, int block, int in_place)
{
    int counts[128];
    long all = 0, first = 0;
    for (int i = 0; i < k->size; i++) {
        counts[i] = (int)(block ? n : n * (i % 3) + i % 2);
        if (i < k->rank) first += counts[i];
        all += counts[i];
    }
    struct box s = box_new(all * t->size), r = box_new((in_place ? all : counts[k->rank]) * t->size);
    fill(&s, t, 0, all, k->rank, k->rank, 1);
    if (in_place) fill(&r, t, 0, all, k->rank, k->rank, 1);
    fill(&r, t, first, counts[k->rank], 0, k->size - 1, 0);
    if (block)
        MPI_Reduce_scatter_block(in_or_place(in_place, &s), r.is, (int)n, t->type, t->op, k->c);
    else
        MPI_Reduce_scatter(in_or_place(in_place, &s), r.is, counts, t->type, t->op, k->c);
    /* In place, only the result at the begin is defined. */
    if (in_place)
        memcpy(r.want + counts[k->rank] * t->size, r.is + counts[k->rank] * t->size, (size_t)((all - counts[k->rank]) * t->size));
    box_check(&s, "reduce_scatter: sent");
    reduced_check(&r, t);
}

static void all_of(const struct coll_comm *k, const struct test_case *t, long n)
{
    for (int in_place = 0; in_place < 2; in_place++) {
        for (int root = 0; root < k->size; root += root < 1 || n < 20 ? 1 : k->size) reduce(k, t, n, root, in_place);
        for (int which = ALLREDUCE; which <= EXSCAN; which++) to_all(k, t, n, which, in_place);
        reduce_scatter(k, t, n, 0, in_place);
        reduce_scatter(k, t, n, 1, in_place);
    }
}

int main(int argc, char **argv)
{
    struct coll_comm k[COMMS];
    MPI_Init(&argc, &argv);
    const struct test_case cases[] = {
        ALL_INTEGERS(ARITH_CASES) ALL_REALS(ARITH_CASES)
            ALL_INTEGERS(BIT_CASES){"sum complex float", MPI_C_FLOAT_COMPLEX, MPI_SUM, 8, sum_c_float, 8, 8, 8},
        {"sum complex double", MPI_C_DOUBLE_COMPLEX, MPI_SUM, 16, sum_c_double, 16, 16, 16},
        {"prod complex double", MPI_C_DOUBLE_COMPLEX, MPI_PROD, 16, prod_c_double, 16, 16, 16},
        {"band bytes", MPI_BYTE, MPI_BAND, 1, band_bytes, 1, 1, 1},
        {"lor bool", MPI_C_BOOL, MPI_LOR, 1, lor_bool, 1, 1, 1},
        {"maxloc float", MPI_FLOAT_INT, MPI_MAXLOC, 8, maxloc_float, 8, 8, 8},
        {"maxloc double", MPI_DOUBLE_INT, MPI_MAXLOC, 16, maxloc_double, 12, 16, 16},
        {"minloc double", MPI_DOUBLE_INT, MPI_MINLOC, 16, minloc_double, 12, 16, 16},
        {"minloc long", MPI_LONG_INT, MPI_MINLOC, 16, minloc_long, 12, 16, 16},
        {"maxloc int", MPI_2INT, MPI_MAXLOC, 8, maxloc_int, 8, 8, 8},
        {"minloc int", MPI_2INT, MPI_MINLOC, 8, minloc_int, 8, 8, 8},
        {"minloc short", MPI_SHORT_INT, MPI_MINLOC, 8, minloc_short, 2, 4, 8},
        {"maxloc long double", MPI_LONG_DOUBLE_INT, MPI_MAXLOC, 32, maxloc_long_double, 10, 16, 20},
    };
    int n_cases = sizeof cases / sizeof cases[0];
    test_begin();
    comms_open(k);
    for (int c = 0; c < n_cases; c++) {
        all_of(&k[c % COMMS], &cases[c], 0);
        all_of(&k[c % COMMS], &cases[c], 1);
        all_of(&k[(c + 1) % COMMS], &cases[c], 13);
        all_of(&k[(c + 2) % COMMS], &cases[c], 700);
    }
    for (int c = 0; c < n_cases; c += 13) {
        all_of(&k[c % COMMS], &cases[c], 9001);
        all_of(&k[(c + 1) % COMMS], &cases[c], 20000);
    }
    comms_close(k);
    return test_end();
}
