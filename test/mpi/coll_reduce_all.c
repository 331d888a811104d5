/* coll_reduce_all.c -- blocking reductions: every operation on every type it is for, users' operations in rank order.
 *
 * Every rank works out serially what it must get; the values are chosen so that no rounding or overflow can happen.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "p2p_check.h"

#include <complex.h>
#include <stdint.h>
#include <time.h>

enum { MAX, MIN, SUM, PROD, LAND, BAND, LOR, BOR, LXOR, BXOR, MINLOC, MAXLOC, CODES };
enum { ORDER = 1 << MAX | 1 << MIN, ADD = 1 << SUM | 1 << PROD, LOGIC = 1 << LAND | 1 << LOR | 1 << LXOR };
enum { BITS = 1 << BAND | 1 << BOR | 1 << BXOR, LOC = 1 << MINLOC | 1 << MAXLOC };
enum { GUARD = 64, POISON = 0xa5, PRIME = 10007 };

/* How elements of one layout are made, combined and compared. */
struct shape {
    size_t extent;
    void (*fill)(void *p, long n, int r, int code);                 /* what rank r gives */
    void (*combine)(int code, const void *in, void *inout, long n); /* inout = in op inout */
    int (*same)(int code, const void *a, const void *b);
};
struct kind {
    const char *name;
    MPI_Datatype type;
    MPI_Op op;
    int code;
    const struct shape *shape;
};

static const char *const code_name[CODES] = {"MAX", "MIN", "SUM",  "PROD", "LAND",   "BAND",
                                             "LOR", "BOR", "LXOR", "BXOR", "MINLOC", "MAXLOC"};
static MPI_Comm comm;
static int me, np;

/* -- values */

static uint64_t hash(int r, long i)
{
    uint64_t x = (uint64_t)(r + 1) * 0x9e3779b97f4a7c15u + (uint64_t)(i + 1) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 31) * 0x94d049bb133111ebu;
    return x ^ x >> 29;
}
/* A factor: over all ranks the product stays below 13 in size. */
static int factor(int r, long i, int is_signed)
{
    int v = r == i % 8 || r == (i + 3) % 8 ? 2 : r == 1 && i % 3 == 0 ? 3 : 1;
    return is_signed && (r + i) % 5 == 0 ? -v : v;
}
/* Elements on which all are true, all false, and a mix; what is true is odd or even, and so in every width. */
static uint64_t truth(int r, long i)
{
    uint64_t h = hash(r, i), yes = h & 4 ? h | 1 : (h | 2) & ~(uint64_t)1;
    return i % 3 == 0 || (i % 3 == 2 && h & 8) ? yes : 0;
}
static uint64_t int_value(int code, int r, long i, int bytes, int is_signed)
{
    static const int64_t unit[] = {1, 100, 1000000, 1000000000000};
    int64_t u = unit[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
    switch (code) {
    case SUM: return (uint64_t)(((r + i) % 4 - is_signed) * u + (u > 1 ? i % 50 : 0));
    case PROD: return (uint64_t)(int64_t)factor(r, i, is_signed);
    case LAND:
    case LOR:
    case LXOR: return truth(r, i);
    case BAND: return hash(r, i) | hash(r + 1000, i) | hash(i % 7 == 0 ? 99 : r, i);
    case MAX:
    case MIN: return i % 11 ? hash(r, i) : (uint64_t)(i / 11); /* sometimes all equal */
    default: return hash(r, i);
    }
}
static double fp_value(int code, int r, long i, int digits)
{
    if (code == PROD) return factor(r, i, 1) * ((r + i) % 2 ? 0.5 : 1);
    if (code == SUM) return ((r + i) % 4 - 1) * (digits > 24 ? 1e12 : 1e4) + (double)(i % 50) / 4;
    return (double)((int64_t)hash(r, i) >> (64 - (digits < 53 ? digits : 53))) / 8;
}

/* -- shapes */

#define SHAPE(tag, T) static const struct shape tag##_shape = {sizeof(T), tag##_fill, tag##_combine, tag##_same};
#define INTEGER(tag, T, is_signed)                                                                                                 \
    static void tag##_fill(void *p, long n, int r, int code)                                                                       \
    {                                                                                                                              \
        for (long i = 0; i < n; i++) ((T *)p)[i] = (T)int_value(code, r, i, sizeof(T), is_signed);                                 \
    }                                                                                                                              \
    static void tag##_combine(int code, const void *in, void *inout, long n)                                                       \
    {                                                                                                                              \
        const T *a = in;                                                                                                           \
        T *b = inout;                                                                                                              \
        for (long i = 0; i < n; i++) switch (code) {                                                                               \
            case MAX: b[i] = a[i] > b[i] ? a[i] : b[i]; break;                                                                     \
            case MIN: b[i] = a[i] < b[i] ? a[i] : b[i]; break;                                                                     \
            case SUM: b[i] = (T)(a[i] + b[i]); break;                                                                              \
            case PROD: b[i] = (T)(a[i] * b[i]); break;                                                                             \
            case LAND: b[i] = a[i] && b[i]; break;                                                                                 \
            case BAND: b[i] = (T)(a[i] & b[i]); break;                                                                             \
            case LOR: b[i] = a[i] || b[i]; break;                                                                                  \
            case BOR: b[i] = (T)(a[i] | b[i]); break;                                                                              \
            case LXOR: b[i] = !a[i] != !b[i]; break;                                                                               \
            case BXOR: b[i] = (T)(a[i] ^ b[i]); break;                                                                             \
            }                                                                                                                      \
    }                                                                                                                              \
    static int tag##_same(int code, const void *a, const void *b)                                                                  \
    {                                                                                                                              \
        T x = *(const T *)a, y = *(const T *)b;                                                                                    \
        return LOGIC >> code & 1 ? !x == !y : x == y;                                                                              \
    }                                                                                                                              \
    SHAPE(tag, T)
#define FLOATING(tag, T, digits)                                                                                                   \
    static void tag##_fill(void *p, long n, int r, int code)                                                                       \
    {                                                                                                                              \
        for (long i = 0; i < n; i++) ((T *)p)[i] = (T)fp_value(code, r, i, digits);                                                \
    }                                                                                                                              \
    static void tag##_combine(int code, const void *in, void *inout, long n)                                                       \
    {                                                                                                                              \
        const T *a = in;                                                                                                           \
        T *b = inout;                                                                                                              \
        for (long i = 0; i < n; i++) switch (code) {                                                                               \
            case MAX: b[i] = a[i] > b[i] ? a[i] : b[i]; break;                                                                     \
            case MIN: b[i] = a[i] < b[i] ? a[i] : b[i]; break;                                                                     \
            case SUM: b[i] = a[i] + b[i]; break;                                                                                   \
            case PROD: b[i] = a[i] * b[i]; break;                                                                                  \
            }                                                                                                                      \
    }                                                                                                                              \
    static int tag##_same(int code, const void *a, const void *b)                                                                  \
    {                                                                                                                              \
        (void)code;                                                                                                                \
        return *(const T *)a == *(const T *)b;                                                                                     \
    }                                                                                                                              \
    SHAPE(tag, T)
#define COMPLEX(tag, T, R, digits)                                                                                                 \
    static void tag##_fill(void *p, long n, int r, int code)                                                                       \
    {                                                                                                                              \
        for (long i = 0; i < n; i++) {                                                                                             \
            R *z = (R *)p + 2 * i, v = (R)fp_value(code, r, i, digits);                                                            \
            z[0] = code == PROD && i % 2 ? 0 : v;                                                                                  \
            z[1] = code == SUM ? (R)fp_value(code, r, i + 2, digits) : i % 2 ? v : r < 4 ? v : 0;                                  \
        }                                                                                                                          \
    }                                                                                                                              \
    static void tag##_combine(int code, const void *in, void *inout, long n)                                                       \
    {                                                                                                                              \
        const T *a = in;                                                                                                           \
        T *b = inout;                                                                                                              \
        for (long i = 0; i < n; i++) b[i] = code == SUM ? a[i] + b[i] : a[i] * b[i];                                               \
    }                                                                                                                              \
    static int tag##_same(int code, const void *a, const void *b)                                                                  \
    {                                                                                                                              \
        (void)code;                                                                                                                \
        return *(const T *)a == *(const T *)b;                                                                                     \
    }                                                                                                                              \
    SHAPE(tag, T)
#define BOOLEAN(tag, T)                                                                                                            \
    static void tag##_fill(void *p, long n, int r, int code)                                                                       \
    {                                                                                                                              \
        (void)code;                                                                                                                \
        for (long i = 0; i < n; i++) ((T *)p)[i] = truth(r, i) != 0;                                                               \
    }                                                                                                                              \
    static void tag##_combine(int code, const void *in, void *inout, long n)                                                       \
    {                                                                                                                              \
        const T *a = in;                                                                                                           \
        T *b = inout;                                                                                                              \
        for (long i = 0; i < n; i++) b[i] = code == LAND ? a[i] && b[i] : code == LOR ? a[i] || b[i] : a[i] != b[i];               \
    }                                                                                                                              \
    static int tag##_same(int code, const void *a, const void *b)                                                                  \
    {                                                                                                                              \
        (void)code;                                                                                                                \
        return *(const T *)a == *(const T *)b;                                                                                     \
    }                                                                                                                              \
    SHAPE(tag, T)
/* Few values, so that there are many ties; the indexes come in no order. */
#define PAIR(tag, T, I)                                                                                                            \
    struct tag {                                                                                                                   \
        T v;                                                                                                                       \
        I i;                                                                                                                       \
    };                                                                                                                             \
    static void tag##_fill(void *p, long n, int r, int code)                                                                       \
    {                                                                                                                              \
        struct tag *a = p;                                                                                                         \
        (void)code;                                                                                                                \
        for (long i = 0; i < n; i++) {                                                                                             \
            a[i].v = (T)(((int)(hash(r, i) % 5) - 2) * 1000);                                                                      \
            a[i].i = (I)(hash(i, r) % 1000);                                                                                       \
        }                                                                                                                          \
    }                                                                                                                              \
    static void tag##_combine(int code, const void *in, void *inout, long n)                                                       \
    {                                                                                                                              \
        const struct tag *a = in;                                                                                                  \
        struct tag *b = inout;                                                                                                     \
        for (long i = 0; i < n; i++)                                                                                               \
            if ((code == MAXLOC ? a[i].v > b[i].v : a[i].v < b[i].v) || (a[i].v == b[i].v && a[i].i < b[i].i))                     \
                b[i].v = a[i].v, b[i].i = a[i].i;                                                                                  \
    }                                                                                                                              \
    static int tag##_same(int code, const void *a, const void *b)                                                                  \
    {                                                                                                                              \
        const struct tag *x = a, *y = b;                                                                                           \
        (void)code;                                                                                                                \
        return x->v == y->v && x->i == y->i;                                                                                       \
    }                                                                                                                              \
    SHAPE(tag, struct tag)

INTEGER(int8, int8_t, 1)
INTEGER(int16, int16_t, 1)
INTEGER(int32, int32_t, 1)
INTEGER(int64, int64_t, 1)
INTEGER(uint8, uint8_t, 0)
INTEGER(uint16, uint16_t, 0)
INTEGER(uint32, uint32_t, 0)
INTEGER(uint64, uint64_t, 0)
FLOATING(float, float, 24)
FLOATING(double, double, 53)
FLOATING(longdouble, long double, 64)
COMPLEX(cfloat, float complex, float, 24)
COMPLEX(cdouble, double complex, double, 53)
COMPLEX(clongdouble, long double complex, long double, 64)
BOOLEAN(cbool, _Bool)
BOOLEAN(flogical, int)
PAIR(float_int, float, int)
PAIR(double_int, double, int)
PAIR(long_int, long, int)
PAIR(int_int, int, int)
PAIR(short_int, short, int)
PAIR(longdouble_int, long double, int)
PAIR(float_float, float, float)
PAIR(double_double, double, double)

/* -- users' operations */

static MPI_Datatype user_type; /* the type the operation must be called with */

static int bytes16_same(int code, const void *a, const void *b)
{
    (void)code;
    return !memcmp(a, b, 16);
}
static int bytes24_same(int code, const void *a, const void *b)
{
    (void)code;
    return !memcmp(a, b, 24);
}
static int bytes32_same(int code, const void *a, const void *b)
{
    (void)code;
    return !memcmp(a, b, 32);
}

/* 2x2 matrices: the product does not commute. */
static void matrix_fill(void *p, long n, int r, int code)
{
    (void)code;
    for (long i = 0; i < 4 * n; i++) ((int *)p)[i] = (int)(hash(r, i) % PRIME);
}
static void matrix_combine(int code, const void *in, void *inout, long n)
{
    const int *a = in;
    int *b = inout;
    (void)code;
    for (long i = 0; i < n; i++, a += 4, b += 4) {
        int w = (a[0] * b[0] + a[1] * b[2]) % PRIME, x = (a[0] * b[1] + a[1] * b[3]) % PRIME;
        int y = (a[2] * b[0] + a[3] * b[2]) % PRIME, z = (a[2] * b[1] + a[3] * b[3]) % PRIME;
        b[0] = w, b[1] = x, b[2] = y, b[3] = z;
    }
}
static const struct shape matrix_shape = {4 * sizeof(int), matrix_fill, matrix_combine, bytes16_same};

/* Three int64, each its own sum: commutes. */
static void triple_fill(void *p, long n, int r, int code)
{
    (void)code;
    for (long i = 0; i < 3 * n; i++) ((int64_t *)p)[i] = (int64_t)(hash(r, i) >> 20);
}
static void triple_combine(int code, const void *in, void *inout, long n)
{
    (void)code;
    for (long i = 0; i < 3 * n; i++) ((int64_t *)inout)[i] += ((const int64_t *)in)[i];
}
static const struct shape triple_shape = {24, triple_fill, triple_combine, bytes24_same};

/* An int at 8 and a double at 16 of 32 bytes; the rest are holes, which must stay as they are. As sums it commutes, as
 * maps x -> a x + b it does not. */
struct holed {
    int gaps[2], a, gap;
    double b, tail;
};
static void holed_fill(void *p, long n, int r, int code)
{
    struct holed *h = p;
    (void)code;
    for (long i = 0; i < n; i++) h[i].a = (int)(hash(r, i) % PRIME), h[i].b = (double)(hash(r, i + n) % PRIME);
}
static void sums_combine(int code, const void *in, void *inout, long n)
{
    const struct holed *x = in;
    struct holed *y = inout;
    (void)code;
    for (long i = 0; i < n; i++) y[i].a += x[i].a, y[i].b += x[i].b;
}
static void maps_combine(int code, const void *in, void *inout, long n)
{
    const struct holed *x = in;
    struct holed *y = inout;
    (void)code;
    for (long i = 0; i < n; i++) {
        y[i].b = (int)(x[i].a * y[i].b + x[i].b) % PRIME;
        y[i].a = x[i].a * y[i].a % PRIME;
    }
}
static const struct shape sums_shape = {32, holed_fill, sums_combine, bytes32_same};
static const struct shape maps_shape = {32, holed_fill, maps_combine, bytes32_same};

#define USER(tag)                                                                                                                  \
    static void tag##_op(void *in, void *inout, int *n, MPI_Datatype *t)                                                           \
    {                                                                                                                              \
        CHECK(*t == user_type);                                                                                                    \
        tag##_combine(0, in, inout, *n);                                                                                           \
    }
USER(matrix)
USER(triple)
USER(sums)
USER(maps)

/* -- one job: a kind and a count, with all data and all answers */

struct job {
    const struct kind *k;
    long n, each, total; /* each: a block's elements in Reduce_scatter_block; total: the elements there are */
    size_t bytes;        /* of a buffer, between its guards */
    unsigned char *send, *kept, *recv, *all, *incl, *excl, *spare;
    int *counts;
};

static unsigned char *guarded(size_t bytes)
{
    unsigned char *p = malloc(bytes + 2 * GUARD);
    if (!p) MPI_Abort(MPI_COMM_WORLD, 3);
    memset(p, POISON, bytes + 2 * GUARD);
    return p + GUARD;
}
static int poisoned(const unsigned char *p, size_t n) { return !n || (*p == POISON && !memcmp(p, p + 1, n - 1)); }

/* Combine in rank order, keeping what comes before this rank and with it. */
static void job_answers(struct job *j)
{
    const struct shape *s = j->k->shape;
    for (int r = 0; r < np; r++) {
        if (r == me && r > 0) memcpy(j->excl, j->all, j->bytes);
        s->fill(j->spare, j->total, r, j->k->code);
        if (r == me) {
            memcpy(j->send, j->spare, j->bytes);
            memcpy(j->kept, j->spare, j->bytes);
        }
        if (r > 0) s->combine(j->k->code, j->all, j->spare, j->total);
        unsigned char *p = j->all;
        j->all = j->spare, j->spare = p;
        if (r == me) memcpy(j->incl, j->all, j->bytes);
    }
}
static void job_open(struct job *j, const struct kind *k, long n)
{
    j->k = k;
    j->n = n;
    j->each = n <= 100 ? n : (n + np - 1) / np;
    j->total = j->each * np > n ? j->each * np : n;
    j->bytes = (size_t)j->total * k->shape->extent;
    unsigned char **b[] = {&j->send, &j->kept, &j->recv, &j->all, &j->incl, &j->excl, &j->spare};
    for (int i = 0; i < 7; i++) *b[i] = guarded(j->bytes);
    job_answers(j);
    /* Uneven blocks, some empty. */
    j->counts = malloc((size_t)np * sizeof *j->counts);
    long weights = 0, given = 0;
    for (int r = 0; r < np; r++) weights += (r * 7 + 3) % 5;
    for (int r = 0; r < np; r++) {
        j->counts[r] = (int)(r == np - 1 ? n - given : n * ((r * 7 + 3) % 5) / weights);
        given += j->counts[r];
    }
}
static void job_close(struct job *j)
{
    unsigned char *b[] = {j->send, j->kept, j->recv, j->all, j->incl, j->excl, j->spare};
    for (int i = 0; i < 7; i++) free(b[i] - GUARD);
    free(j->counts);
}
/* What to send: in_place puts the input into the receive buffer. */
static const void *arm(struct job *j, int in_place, long n)
{
    memset(j->recv, POISON, j->bytes);
    if (!in_place) return j->send;
    memcpy(j->recv, j->send, (size_t)n * j->k->shape->extent);
    return MPI_IN_PLACE;
}
/* n elements must be as in want; what lies behind `used` elements must be untouched, and the send buffer too. */
static void verify(struct job *j, const char *call, int in_place, const unsigned char *want, long n, long used)
{
    const struct shape *s = j->k->shape;
    size_t e = s->extent, behind = (size_t)used * e;
    const char *wrong = NULL;
    long at = -1;
    if (n && memcmp(j->recv, want, (size_t)n * e))
        for (long i = 0; i < n && at < 0; i++)
            if (!s->same(j->k->code, j->recv + (size_t)i * e, want + (size_t)i * e)) at = i;
    if (at >= 0)
        wrong = "wrong element";
    else if (!poisoned(j->recv - GUARD, GUARD))
        wrong = "wrote before the buffer";
    else if (!poisoned(j->recv + behind, j->bytes - behind + GUARD))
        wrong = "wrote behind the result";
    else if (memcmp(j->send, j->kept, j->bytes))
        wrong = "changed the send buffer";
    if (wrong && failures++ < 20)
        fprintf(stderr, "rank %d: %s %s %s count %ld%s, %d of %d in %s: %s at %ld\n", rank, call, j->k->name,
                j->k->code < 0 ? "user's" : code_name[j->k->code], j->n, in_place ? " IN_PLACE" : "", me, np,
                comm == MPI_COMM_WORLD ? "world" : "reversed", wrong, at);
    if (wrong) { /* the next call starts with sound buffers */
        memset(j->recv - GUARD, POISON, j->bytes + 2 * GUARD);
        memcpy(j->send, j->kept, j->bytes);
    }
}

/* -- the calls */

static void do_reduce(struct job *j, int in_place, int root)
{
    const struct kind *k = j->k;
    const void *send = arm(j, in_place && me == root, j->n);
    void *recv = me != root && me % 2 ? NULL : j->recv;
    CHECK_EQ(MPI_Reduce(send, recv, (int)j->n, k->type, k->op, root, comm), MPI_SUCCESS);
    verify(j, "Reduce", in_place, j->all, me == root ? j->n : 0, me == root ? j->n : 0);
}
static void do_allreduce(struct job *j, int in_place)
{
    const struct kind *k = j->k;
    const void *send = arm(j, in_place, j->n);
    CHECK_EQ(MPI_Allreduce(send, j->recv, (int)j->n, k->type, k->op, comm), MPI_SUCCESS);
    verify(j, "Allreduce", in_place, j->all, j->n, j->n);
}
static void do_scan(struct job *j, int in_place)
{
    const struct kind *k = j->k;
    const void *send = arm(j, in_place, j->n);
    CHECK_EQ(MPI_Scan(send, j->recv, (int)j->n, k->type, k->op, comm), MPI_SUCCESS);
    verify(j, "Scan", in_place, j->incl, j->n, j->n);
}
/* Rank 0's answer is undefined. */
static void do_exscan(struct job *j, int in_place)
{
    const struct kind *k = j->k;
    const void *send = arm(j, in_place, j->n);
    CHECK_EQ(MPI_Exscan(send, j->recv, (int)j->n, k->type, k->op, comm), MPI_SUCCESS);
    verify(j, "Exscan", in_place, j->excl, me ? j->n : 0, j->n);
}
static void do_reduce_scatter(struct job *j, int in_place)
{
    const struct kind *k = j->k;
    const void *send = arm(j, in_place, j->n);
    long before = 0;
    for (int r = 0; r < me; r++) before += j->counts[r];
    CHECK_EQ(MPI_Reduce_scatter(send, j->recv, j->counts, k->type, k->op, comm), MPI_SUCCESS);
    verify(j, "Reduce_scatter", in_place, j->all + (size_t)before * k->shape->extent, j->counts[me],
           in_place ? j->n : j->counts[me]);
}
static void do_reduce_scatter_block(struct job *j, int in_place)
{
    const struct kind *k = j->k;
    long whole = j->each * np;
    const void *send = arm(j, in_place, whole);
    CHECK_EQ(MPI_Reduce_scatter_block(send, j->recv, (int)j->each, k->type, k->op, comm), MPI_SUCCESS);
    verify(j, "Reduce_scatter_block", in_place, j->all + (size_t)(me * j->each) * k->shape->extent, j->each,
           in_place ? whole : j->each);
}
static void do_reduce_local(struct job *j)
{
    const struct kind *k = j->k;
    arm(j, 0, 0);
    memset(j->spare, POISON, j->bytes);
    k->shape->fill(j->recv, j->n, me + 1, k->code);
    k->shape->fill(j->spare, j->n, me + 1, k->code);
    k->shape->combine(k->code, j->send, j->spare, j->n);
    CHECK_EQ(MPI_Reduce_local(j->send, j->recv, (int)j->n, k->type, k->op), MPI_SUCCESS);
    verify(j, "Reduce_local", 0, j->spare, j->n, j->n);
}

/* Everything, each in place and not, at three roots. */
static void thorough(const struct kind *k, const long *counts, int some)
{
    for (int c = 0; c < some; c++) {
        struct job j;
        job_open(&j, k, counts[c]);
        for (int in_place = 0; in_place < 2; in_place++) {
            do_reduce(&j, in_place, 0);
            if (np > 2) do_reduce(&j, in_place, np / 2);
            if (np > 1) do_reduce(&j, in_place, np - 1);
            do_allreduce(&j, in_place);
            do_scan(&j, in_place);
            do_exscan(&j, in_place);
            do_reduce_scatter(&j, in_place);
            do_reduce_scatter_block(&j, in_place);
        }
        do_reduce_local(&j);
        job_close(&j);
    }
}
/* Each call once; `turn` picks what is in place, and the root. */
static void brief(const struct kind *k, int turn)
{
    static const long counts[] = {7, 100, 1, 0};
    struct job j;
    job_open(&j, k, counts[turn % 2]);
    do_reduce(&j, turn & 1, turn % np);
    do_allreduce(&j, turn >> 1 & 1);
    do_scan(&j, turn & 1);
    do_exscan(&j, turn >> 1 & 1);
    do_reduce_scatter(&j, turn & 1);
    do_reduce_scatter_block(&j, turn >> 1 & 1);
    do_reduce_local(&j);
    job_close(&j);
    job_open(&j, k, counts[2 + turn % 5 / 4]);
    do_allreduce(&j, turn & 1);
    do_reduce(&j, turn >> 1 & 1, np - 1 - turn % np);
    do_reduce_local(&j);
    job_close(&j);
}

/* -- the predefined operations */

static MPI_Op op_of(int code)
{
    MPI_Op ops[CODES] = {MPI_MAX, MPI_MIN, MPI_SUM,  MPI_PROD, MPI_LAND,   MPI_BAND,
                         MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};
    return ops[code];
}
static void all_ops(const char *name, MPI_Datatype type, const struct shape *shape, int ops)
{
    static int turn;
    if (type == MPI_DATATYPE_NULL) return; /* a library without Fortran */
    for (int code = 0; code < CODES; code++) {
        if (!(ops >> code & 1)) continue;
        struct kind k = {name, type, op_of(code), code, shape};
        brief(&k, turn++);
    }
}
#define EACH(type, shape, ops) all_ops(#type, type, &shape##_shape, ops)
#define SIGNED_OF(T)           (sizeof(T) == 8 ? &int64_shape : sizeof(T) == 4 ? &int32_shape : sizeof(T) == 2 ? &int16_shape : &int8_shape)
#define UNSIGNED_OF(T)                                                                                                             \
    (sizeof(T) == 8 ? &uint64_shape : sizeof(T) == 4 ? &uint32_shape : sizeof(T) == 2 ? &uint16_shape : &uint8_shape)

static void integers(void)
{
    const int c_ops = ORDER | ADD | LOGIC | BITS, other_ops = ORDER | ADD | BITS;
    EACH(MPI_INT8_T, int8, c_ops);
    EACH(MPI_INT16_T, int16, c_ops);
    EACH(MPI_INT32_T, int32, c_ops);
    EACH(MPI_INT64_T, int64, c_ops);
    EACH(MPI_UINT8_T, uint8, c_ops);
    EACH(MPI_UINT16_T, uint16, c_ops);
    EACH(MPI_UINT32_T, uint32, c_ops);
    EACH(MPI_UINT64_T, uint64, c_ops);
    EACH(MPI_SIGNED_CHAR, int8, c_ops);
    EACH(MPI_UNSIGNED_CHAR, uint8, c_ops);
    all_ops("MPI_SHORT", MPI_SHORT, SIGNED_OF(short), c_ops);
    all_ops("MPI_INT", MPI_INT, SIGNED_OF(int), c_ops);
    all_ops("MPI_LONG", MPI_LONG, SIGNED_OF(long), c_ops);
    all_ops("MPI_LONG_LONG", MPI_LONG_LONG, SIGNED_OF(long long), c_ops);
    all_ops("MPI_UNSIGNED_SHORT", MPI_UNSIGNED_SHORT, UNSIGNED_OF(short), c_ops);
    all_ops("MPI_UNSIGNED", MPI_UNSIGNED, UNSIGNED_OF(int), c_ops);
    all_ops("MPI_UNSIGNED_LONG", MPI_UNSIGNED_LONG, UNSIGNED_OF(long), c_ops);
    all_ops("MPI_UNSIGNED_LONG_LONG", MPI_UNSIGNED_LONG_LONG, UNSIGNED_OF(long long), c_ops);
    all_ops("MPI_AINT", MPI_AINT, SIGNED_OF(MPI_Aint), other_ops);
    all_ops("MPI_OFFSET", MPI_OFFSET, SIGNED_OF(MPI_Offset), other_ops);
    all_ops("MPI_COUNT", MPI_COUNT, SIGNED_OF(MPI_Count), other_ops);
    all_ops("MPI_INTEGER", MPI_INTEGER, SIGNED_OF(MPI_Fint), other_ops);
    EACH(MPI_BYTE, uint8, BITS);
    EACH(MPI_C_BOOL, cbool, LOGIC);
    EACH(MPI_LOGICAL, flogical, LOGIC);
}
static void not_integers(void)
{
    EACH(MPI_FLOAT, float, ORDER | ADD);
    EACH(MPI_DOUBLE, double, ORDER | ADD);
    EACH(MPI_LONG_DOUBLE, longdouble, ORDER | ADD);
    EACH(MPI_REAL, float, ORDER | ADD);
    EACH(MPI_DOUBLE_PRECISION, double, ORDER | ADD);
    EACH(MPI_C_COMPLEX, cfloat, ADD);
    EACH(MPI_C_FLOAT_COMPLEX, cfloat, ADD);
    EACH(MPI_C_DOUBLE_COMPLEX, cdouble, ADD);
    EACH(MPI_C_LONG_DOUBLE_COMPLEX, clongdouble, ADD);
    EACH(MPI_COMPLEX, cfloat, ADD);
    EACH(MPI_FLOAT_INT, float_int, LOC);
    EACH(MPI_DOUBLE_INT, double_int, LOC);
    EACH(MPI_LONG_INT, long_int, LOC);
    EACH(MPI_2INT, int_int, LOC);
    EACH(MPI_SHORT_INT, short_int, LOC);
    EACH(MPI_LONG_DOUBLE_INT, longdouble_int, LOC);
    EACH(MPI_2REAL, float_float, LOC);
    EACH(MPI_2DOUBLE_PRECISION, double_double, LOC);
    EACH(MPI_2INTEGER, int_int, LOC);
}
static void at_all_sizes(void)
{
    static const long counts[] = {0, 1, 7, 100, 5000, 70000};
    const struct kind kinds[] = {
        {"MPI_INT32_T", MPI_INT32_T, MPI_SUM, SUM, &int32_shape},
        {"MPI_DOUBLE", MPI_DOUBLE, MPI_SUM, SUM, &double_shape},
        {"MPI_BYTE", MPI_BYTE, MPI_BXOR, BXOR, &uint8_shape},
        {"MPI_INT16_T", MPI_INT16_T, MPI_MAX, MAX, &int16_shape},
        {"MPI_SHORT_INT", MPI_SHORT_INT, MPI_MAXLOC, MAXLOC, &short_int_shape},
        {"MPI_C_LONG_DOUBLE_COMPLEX", MPI_C_LONG_DOUBLE_COMPLEX, MPI_PROD, PROD, &clongdouble_shape},
    };
    for (int i = 0; i < 6; i++) thorough(&kinds[i], counts, i < 3 ? 6 : 5);
}

/* -- the users' operations */

static void user(const char *name, MPI_Datatype type, MPI_User_function *f, int commutes, const struct shape *shape)
{
    static const long counts[] = {0, 1, 7, 100, 3000};
    int said = -1;
    struct kind k = {name, type, MPI_OP_NULL, -1, shape};
    MPI_Op_create(f, commutes, &k.op);
    MPI_Op_commutative(k.op, &said);
    CHECK_EQ(!said, !commutes);
    user_type = type;
    thorough(&k, counts, 5);
    MPI_Op_free(&k.op);
    CHECK(k.op == MPI_OP_NULL);
}
static void users(void)
{
    MPI_Datatype four, three, apart, holed;
    const int lengths[2] = {1, 1};
    const MPI_Aint places[2] = {8, 16};
    const MPI_Datatype parts[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Type_contiguous(4, MPI_INT, &four);
    MPI_Type_contiguous(3, MPI_INT64_T, &three);
    MPI_Type_create_struct(2, lengths, places, parts, &apart);
    MPI_Type_create_resized(apart, 0, 32, &holed);
    MPI_Type_commit(&four);
    MPI_Type_commit(&three);
    MPI_Type_commit(&holed);
    user("matrices", four, matrix_op, 0, &matrix_shape);
    user("triples", three, triple_op, 1, &triple_shape);
    user("sums with holes", holed, sums_op, 1, &sums_shape);
    user("maps with holes", holed, maps_op, 0, &maps_shape);
    MPI_Type_free(&four);
    MPI_Type_free(&three);
    MPI_Type_free(&apart);
    MPI_Type_free(&holed);
}

/* Nobody leaves a barrier before the last has come. */
static void barriers(void)
{
    for (int late = 0; late < np && late < 8; late++) {
        const struct timespec nap = {0, 3000000};
        double came, left, last, first;
        if (me == late) nanosleep(&nap, NULL);
        came = test_now();
        CHECK_EQ(MPI_Barrier(comm), MPI_SUCCESS);
        left = test_now();
        MPI_Allreduce(&came, &last, 1, MPI_DOUBLE, MPI_MAX, comm);
        MPI_Allreduce(&left, &first, 1, MPI_DOUBLE, MPI_MIN, comm);
        CHECK(last <= first);
    }
    for (int i = 0; i < 100; i++) MPI_Barrier(comm);
}

static void everything(void)
{
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &np);
    barriers();
    integers();
    not_integers();
    at_all_sizes();
    users();
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    comm = MPI_COMM_WORLD;
    everything();
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    everything();
    MPI_Comm_free(&comm);
    return test_end();
}
