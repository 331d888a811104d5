/* op_test.c -- every operation on every predefined type against one line of plain C, at odd lengths and addresses.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "op/op_private.h"
#include "base/base.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../test/unit.h"

static uint64_t state = 88172645463325252u;
static uint64_t rnd(void)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state >> 3;
}

/* ---- one element, the plain way ------------------------------------------------------------------------------------------ */
typedef bool reference(int op, const void *in, const void *inout, void *out); /* false: not for this type */

/* No value here leaves the range in which sums and products are exact. */
static int64_t small(void) { return (int64_t)(rnd() % 15) - 7; }

#define INTEGER(name, T)                                                                                                           \
    static void fill_##name(void *p)                                                                                               \
    {                                                                                                                              \
        T v = (T)rnd();                                                                                                            \
        if (rnd() % 4 == 0) v = (T)(rnd() % 2);                                                                                    \
        memcpy(p, &v, sizeof v);                                                                                                   \
    }                                                                                                                              \
    static bool ref_##name(int op, const void *in, const void *inout, void *out)                                                   \
    {                                                                                                                              \
        T a, b, r;                                                                                                                 \
        memcpy(&a, in, sizeof a), memcpy(&b, inout, sizeof b);                                                                     \
        switch (op) {                                                                                                              \
        case OP_SUM: r = (T)((unsigned __int128)a + (unsigned __int128)b); break;                                                  \
        case OP_PROD: r = (T)((unsigned __int128)a * (unsigned __int128)b); break;                                                 \
        case OP_MIN: r = b < a ? b : a; break;                                                                                     \
        case OP_MAX: r = b > a ? b : a; break;                                                                                     \
        case OP_BAND: r = (T)(a & b); break;                                                                                       \
        case OP_BOR: r = (T)(a | b); break;                                                                                        \
        case OP_BXOR: r = (T)(a ^ b); break;                                                                                       \
        case OP_LAND: r = (T)(a != 0 && b != 0); break;                                                                            \
        case OP_LOR: r = (T)(a != 0 || b != 0); break;                                                                             \
        case OP_LXOR: r = (T)((a != 0) != (b != 0)); break;                                                                        \
        default: return false;                                                                                                     \
        }                                                                                                                          \
        memcpy(out, &r, sizeof r);                                                                                                 \
        return true;                                                                                                               \
    }
#define FLOATING(name, T)                                                                                                          \
    static void fill_##name(void *p)                                                                                               \
    {                                                                                                                              \
        T v = (T)small();                                                                                                          \
        memset(p, 0, sizeof v);                                                                                                    \
        memcpy(p, &v, sizeof v);                                                                                                   \
    }                                                                                                                              \
    static bool ref_##name(int op, const void *in, const void *inout, void *out)                                                   \
    {                                                                                                                              \
        T a, b, r;                                                                                                                 \
        memcpy(&a, in, sizeof a), memcpy(&b, inout, sizeof b);                                                                     \
        switch (op) {                                                                                                              \
        case OP_SUM: r = a + b; break;                                                                                             \
        case OP_PROD: r = a * b; break;                                                                                            \
        case OP_MIN: r = b < a ? b : a; break;                                                                                     \
        case OP_MAX: r = b > a ? b : a; break;                                                                                     \
        default: return false;                                                                                                     \
        }                                                                                                                          \
        memcpy(out, &r, sizeof r);                                                                                                 \
        return true;                                                                                                               \
    }
/* T: of one part. */
#define COMPLEX_OF(name, T)                                                                                                        \
    static void fill_##name(void *p)                                                                                               \
    {                                                                                                                              \
        T v[2] = {(T)small(), (T)small()};                                                                                         \
        memcpy(p, v, sizeof v);                                                                                                    \
    }                                                                                                                              \
    static bool ref_##name(int op, const void *in, const void *inout, void *out)                                                   \
    {                                                                                                                              \
        T a[2], b[2], r[2];                                                                                                        \
        memcpy(a, in, sizeof a), memcpy(b, inout, sizeof b);                                                                       \
        if (op != OP_SUM && op != OP_PROD) return false;                                                                           \
        r[0] = op == OP_SUM ? a[0] + b[0] : a[0] * b[0] - a[1] * b[1];                                                             \
        r[1] = op == OP_SUM ? a[1] + b[1] : a[0] * b[1] + a[1] * b[0];                                                             \
        memcpy(out, r, sizeof r);                                                                                                  \
        return true;                                                                                                               \
    }
#define PAIR_OF_TYPES(name, V, I)                                                                                                  \
    static void fill_##name(void *p)                                                                                               \
    {                                                                                                                              \
        struct {                                                                                                                   \
            V v;                                                                                                                   \
            I i;                                                                                                                   \
        } x;                                                                                                                       \
        memset(&x, 0, sizeof x);                                                                                                   \
        x.v = (V)(small() / 3), x.i = (I)(rnd() % 100);                                                                            \
        memcpy(p, &x, sizeof x);                                                                                                   \
    }                                                                                                                              \
    static bool ref_##name(int op, const void *in, const void *inout, void *out)                                                   \
    {                                                                                                                              \
        struct {                                                                                                                   \
            V v;                                                                                                                   \
            I i;                                                                                                                   \
        } a, b, *r = out;                                                                                                          \
        memcpy(&a, in, sizeof a), memcpy(&b, inout, sizeof b);                                                                     \
        if (op != OP_MINLOC && op != OP_MAXLOC) return false;                                                                      \
        *r = b;                                                                                                                    \
        if (op == OP_MINLOC ? a.v < b.v : a.v > b.v) *r = a;                                                                       \
        if (a.v == b.v) r->i = a.i < b.i ? a.i : b.i;                                                                              \
        return true;                                                                                                               \
    }
// clang-format off
INTEGER(i8, int8_t)
INTEGER(i16, int16_t)
INTEGER(i32, int32_t)
INTEGER(i64, int64_t)
INTEGER(i128, __int128)
INTEGER(u8, uint8_t)
INTEGER(u16, uint16_t)
INTEGER(u32, uint32_t)
INTEGER(u64, uint64_t)
FLOATING(f32, float)
FLOATING(f64, double)
FLOATING(f80, long double)
FLOATING(f128, op_quad)
COMPLEX_OF(c32, float)
COMPLEX_OF(c64, double)
COMPLEX_OF(c80, long double)
COMPLEX_OF(c128, op_quad)
PAIR_OF_TYPES(float_int, float, int)
PAIR_OF_TYPES(double_int, double, int)
PAIR_OF_TYPES(long_int, long, int)
PAIR_OF_TYPES(2int, int, int)
PAIR_OF_TYPES(short_int, short, int)
PAIR_OF_TYPES(ld_int, long double, int)
PAIR_OF_TYPES(2real, float, float)
PAIR_OF_TYPES(2double, double, double)
#if defined(__FLT16_MAX__)
FLOATING(f16, _Float16)
COMPLEX_OF(c16, _Float16)
// clang-format on
#define HALF_ROWS {GW_H_REAL2, SPMM, fill_f16, ref_f16}, {GW_H_COMPLEX4, SP, fill_c16, ref_c16},
#else
#define HALF_ROWS
#endif

/* ---- the table of the standard (section 6.9.2): which operations on which type ---------------------------------------------- */
#define BIT(op) (1u << OP_##op)
#define SP      (BIT(SUM) | BIT(PROD))
#define SPMM    (SP | BIT(MIN) | BIT(MAX))
#define BAX     (BIT(BAND) | BIT(BOR) | BIT(BXOR))
#define LAX     (BIT(LAND) | BIT(LOR) | BIT(LXOR))
#define LOC     (BIT(MINLOC) | BIT(MAXLOC))
#define CINT    (SPMM | BAX | LAX)
#define FINT    (SPMM | BAX)
static const struct row {
    uint32_t id, allowed;
    void (*fill)(void *);
    reference *ref;
} rows[] = {
    {GW_H_SHORT, CINT, fill_i16, ref_i16},
    {GW_H_INT, CINT, fill_i32, ref_i32},
    {GW_H_LONG, CINT, fill_i64, ref_i64},
    {GW_H_LONG_LONG, CINT, fill_i64, ref_i64},
    {GW_H_UNSIGNED_SHORT, CINT, fill_u16, ref_u16},
    {GW_H_UNSIGNED, CINT, fill_u32, ref_u32},
    {GW_H_UNSIGNED_LONG, CINT, fill_u64, ref_u64},
    {GW_H_UNSIGNED_LONG_LONG, CINT, fill_u64, ref_u64},
    {GW_H_SIGNED_CHAR, CINT, fill_i8, ref_i8},
    {GW_H_UNSIGNED_CHAR, CINT, fill_u8, ref_u8},
    {GW_H_INT8_T, CINT, fill_i8, ref_i8},
    {GW_H_INT16_T, CINT, fill_i16, ref_i16},
    {GW_H_INT32_T, CINT, fill_i32, ref_i32},
    {GW_H_INT64_T, CINT, fill_i64, ref_i64},
    {GW_H_UINT8_T, CINT, fill_u8, ref_u8},
    {GW_H_UINT16_T, CINT, fill_u16, ref_u16},
    {GW_H_UINT32_T, CINT, fill_u32, ref_u32},
    {GW_H_UINT64_T, CINT, fill_u64, ref_u64},
    {GW_H_AINT, FINT, fill_i64, ref_i64},
    {GW_H_COUNT, FINT, fill_i64, ref_i64},
    {GW_H_OFFSET, FINT, fill_i64, ref_i64},
    {GW_H_INTEGER, FINT, fill_i32, ref_i32},
    {GW_H_INTEGER1, FINT, fill_i8, ref_i8},
    {GW_H_INTEGER2, FINT, fill_i16, ref_i16},
    {GW_H_INTEGER4, FINT, fill_i32, ref_i32},
    {GW_H_INTEGER8, FINT, fill_i64, ref_i64},
    {GW_H_INTEGER16, FINT, fill_i128, ref_i128},
    {GW_H_BYTE, BAX, fill_u8, ref_u8},
    {GW_H_C_BOOL, LAX, fill_u8, ref_u8},
    {GW_H_CXX_BOOL, LAX, fill_u8, ref_u8},
    {GW_H_LOGICAL, LAX, fill_u32, ref_u32},
    {GW_H_LOGICAL1, LAX, fill_u8, ref_u8},
    {GW_H_LOGICAL2, LAX, fill_u16, ref_u16},
    {GW_H_LOGICAL4, LAX, fill_u32, ref_u32},
    {GW_H_LOGICAL8, LAX, fill_u64, ref_u64},
    {GW_H_LOGICAL16, LAX, fill_i128, ref_i128},
    {GW_H_FLOAT, SPMM, fill_f32, ref_f32},
    {GW_H_DOUBLE, SPMM, fill_f64, ref_f64},
    {GW_H_LONG_DOUBLE, SPMM, fill_f80, ref_f80},
    {GW_H_REAL, SPMM, fill_f32, ref_f32},
    {GW_H_DOUBLE_PRECISION, SPMM, fill_f64, ref_f64},
    {GW_H_REAL4, SPMM, fill_f32, ref_f32},
    {GW_H_REAL8, SPMM, fill_f64, ref_f64},
    {GW_H_REAL16, SPMM, fill_f128, ref_f128},
    {GW_H_C_FLOAT_COMPLEX, SP, fill_c32, ref_c32},
    {GW_H_C_DOUBLE_COMPLEX, SP, fill_c64, ref_c64},
    {GW_H_C_LONG_DOUBLE_COMPLEX, SP, fill_c80, ref_c80},
    {GW_H_CXX_FLOAT_COMPLEX, SP, fill_c32, ref_c32},
    {GW_H_CXX_DOUBLE_COMPLEX, SP, fill_c64, ref_c64},
    {GW_H_CXX_LONG_DOUBLE_COMPLEX, SP, fill_c80, ref_c80},
    {GW_H_COMPLEX, SP, fill_c32, ref_c32},
    {GW_H_DOUBLE_COMPLEX, SP, fill_c64, ref_c64},
    {GW_H_COMPLEX8, SP, fill_c32, ref_c32},
    {GW_H_COMPLEX16, SP, fill_c64, ref_c64},
    {GW_H_COMPLEX32, SP, fill_c128, ref_c128},
    HALF_ROWS{GW_H_FLOAT_INT, LOC, fill_float_int, ref_float_int},
    {GW_H_DOUBLE_INT, LOC, fill_double_int, ref_double_int},
    {GW_H_LONG_INT, LOC, fill_long_int, ref_long_int},
    {GW_H_2INT, LOC, fill_2int, ref_2int},
    {GW_H_SHORT_INT, LOC, fill_short_int, ref_short_int},
    {GW_H_LONG_DOUBLE_INT, LOC, fill_ld_int, ref_ld_int},
    {GW_H_2REAL, LOC, fill_2real, ref_2real},
    {GW_H_2DOUBLE_PRECISION, LOC, fill_2double, ref_2double},
    {GW_H_2INTEGER, LOC, fill_2int, ref_2int},
    {GW_H_CHAR, CINT, CHAR_MIN < 0 ? fill_i8 : fill_u8, CHAR_MIN < 0 ? ref_i8 : ref_u8},
    {GW_H_WCHAR, 0, NULL, NULL},
    {GW_H_CHARACTER, 0, NULL, NULL},
    {GW_H_PACKED, 0, NULL, NULL},
};
static const uint32_t op_ids[OP_CODES] = {GW_H_SUM,  GW_H_PROD, GW_H_MIN,  GW_H_MAX,    GW_H_BAND,   GW_H_BOR,     GW_H_BXOR,
                                          GW_H_LAND, GW_H_LOR,  GW_H_LXOR, GW_H_MINLOC, GW_H_MAXLOC, GW_H_REPLACE, GW_H_NO_OP};

/* ---- running --------------------------------------------------------------------------------------------------------------- */
enum { MAX_N = 300, MAX_BYTES = 32, ROOM = MAX_N * MAX_BYTES + 128 };
struct arrays {
    char a[ROOM], b[ROOM], want[ROOM];
    int64_t n, step, off_a, off_b;
};

static void arrays_fill(struct arrays *x, const struct row *row, int code, int64_t n, int64_t step, int64_t size)
{
    _Alignas(16) char e[MAX_BYTES], in[MAX_BYTES], inout[MAX_BYTES];
    x->n = n, x->step = step, x->off_a = (int64_t)(rnd() % 17), x->off_b = (int64_t)(rnd() % 17);
    memset(x->a, 0x77, ROOM), memset(x->b, 0x77, ROOM);
    for (int64_t i = 0; i < n; i++) {
        memset(in, 0, sizeof in), memset(inout, 0, sizeof inout);
        row->fill(in), row->fill(inout);
        memcpy(x->a + x->off_a + i * step, in, (size_t)size);
        memcpy(x->b + x->off_b + i * step, inout, (size_t)size);
    }
    memcpy(x->want, x->b, ROOM);
    for (int64_t i = 0; i < n; i++) {
        memset(in, 0, sizeof in), memset(inout, 0, sizeof inout), memset(e, 0, sizeof e);
        memcpy(in, x->a + x->off_a + i * step, (size_t)size), memcpy(inout, x->b + x->off_b + i * step, (size_t)size);
        CHECK(row->ref(code, in, inout, e));
        memcpy(x->want + x->off_b + i * step, e, (size_t)size);
    }
}

/* Padding inside an element (long double, MPI_SHORT_INT) may hold anything. */
static bool same(const struct arrays *x, const char *got, int64_t off, struct gw_type *t)
{
    char one[MAX_BYTES], two[MAX_BYTES];
    for (int64_t i = 0; i < x->n; i++) {
        type_pack(got + off + i * x->step, 1, t, one);
        type_pack(x->want + x->off_b + i * x->step, 1, t, two);
        if (t->basic == GW_ELEM_F80 || t->basic == GW_ELEM_LONG_DOUBLE_INT) memset(one + 10, 0, 6), memset(two + 10, 0, 6);
        if (t->basic == GW_ELEM_C80)
            for (int p = 10; p < 32; p += 16) memset(one + p, 0, 6), memset(two + p, 0, 6);
        if (memcmp(one, two, (size_t)t->size)) return false;
    }
    return true;
}

static void test_pair(const struct row *row, struct gw_type *t, struct gw_op *op, int code)
{
    static struct arrays x;
    for (int64_t n = 0; n <= MAX_N; n += n < 20 ? 1 : 1 + (int64_t)(rnd() % 32)) { /* types of a byte go 128 at a time */
        arrays_fill(&x, row, code, n, t->extent, t->true_extent);
        char before[ROOM], out[ROOM];
        memcpy(before, x.a, ROOM);
        int64_t off = (int64_t)(rnd() % 17);
        memset(out, 0x77, ROOM);
        if (op_reduce3(op, x.a + x.off_a, x.b + x.off_b, out + off, n, t)) {
            CHECK(same(&x, out, off, t));
            for (int64_t i = off + n * t->extent; i < ROOM; i++) CHECK(out[i] == 0x77);
        }
        memcpy(out, x.a, ROOM); /* the result may take the place of the left operand */
        if (op_reduce3(op, out + x.off_a, x.b + x.off_b, out + x.off_a, n, t)) CHECK(same(&x, out, x.off_a, t));
        op_kernel *base = op_kernels_base[code][t->basic];
        CHECK(base);
        memset(out, 0x77, ROOM);
        if (base) base(x.a + x.off_a, x.b + x.off_b, out + off, n);
        CHECK(!base || same(&x, out, off, t));
        CHECK_EQ(op_reduce_local(x.a + x.off_a, x.b + x.off_b, n, t, op), GW_OK);
        CHECK(same(&x, x.b, x.off_b, t));
        for (int64_t i = 0; i < ROOM; i++)
            if (i < x.off_b || i >= x.off_b + n * t->extent) CHECK(x.b[i] == 0x77);
        CHECK(!memcmp(before, x.a, ROOM));
    }
}

/* A derived type of the same kind, with a hole after each element and 40 bytes between instances' ends. */
static void test_derived(const struct row *row, struct gw_type *t, struct gw_op *op, int code)
{
    static struct arrays x;
    struct gw_type *v, *r;
    CHECK_EQ(type_vector(3, 1, 2, t, &v), GW_OK);
    CHECK_EQ(type_resized(v, 0, 6 * t->extent, &r), GW_OK);
    int64_t n = 1 + (int64_t)(rnd() % 5);
    arrays_fill(&x, row, code, 6 * n, t->extent, t->true_extent);
    for (int64_t i = 1; i < 6 * n; i += 2) /* not ours */
        memcpy(x.want + x.off_b + i * t->extent, x.b + x.off_b + i * t->extent, (size_t)t->extent);
    CHECK_EQ(op_reduce_local(x.a + x.off_a, x.b + x.off_b, n, r, op), GW_OK);
    CHECK(same(&x, x.b, x.off_b, t));
    type_free(&v);
    type_free(&r);
}

static void test_table(void)
{
    for (size_t i = 0; i < GW_ARRAY_LEN(rows); i++) {
        struct gw_type *t = (struct gw_type *)gw_obj_lookup(rows[i].id, GW_KIND_TYPE);
        CHECK(t != NULL);
        for (int code = 0; t && code < OP_CODES; code++) {
            struct gw_op *op = (struct gw_op *)gw_obj_lookup(op_ids[code], GW_KIND_OP);
            bool allowed = rows[i].allowed >> code & 1;
            int was = unit_failures;
            CHECK_EQ(op_check(op, t), allowed ? GW_OK : GW_EOP);
            if (allowed) {
                test_pair(&rows[i], t, op, code);
                test_derived(&rows[i], t, op, code);
            } else {
                char c[64] = {0};
                CHECK_EQ(op_reduce_local(c, c + 32, 1, t, op), GW_EOP);
            }
            if (unit_failures != was) fprintf(stderr, "that was %s on %s\n", op_name(op), type_name(t));
        }
    }
}

/* Long derived arrays go through the library in pieces. */
static void test_long(void)
{
    enum { N = 5000 };
    struct gw_type *v;
    int32_t *a = malloc(2 * N * sizeof *a), *b = malloc(2 * N * sizeof *b);
    CHECK_EQ(type_vector(N, 1, 2, gw_type_int, &v), GW_OK);
    for (int i = 0; i < 2 * N; i++) a[i] = i, b[i] = 7 * i;
    CHECK_EQ(op_reduce_local(a, b, 1, v, gw_op_sum), GW_OK);
    for (int i = 0; i < 2 * N; i++) CHECK_EQ(b[i], i % 2 ? 7 * i : 8 * i);
    type_free(&v);
    free(a), free(b);
}

/* ---- user operations --------------------------------------------------------------------------------------------------------- */
static int calls;
static void user_call(const struct gw_callback *cb, void *in, void *inout, int64_t count, struct gw_type *t)
{
    calls++;
    CHECK(cb->wide);
    CHECK(t == gw_type_int);
    for (int64_t i = 0; i < count; i++) ((int *)inout)[i] = 10 * ((int *)in)[i] - ((int *)inout)[i];
}
static void user_function(void) {}

static void test_user(void)
{
    struct gw_op *op, *same_op;
    int in[3] = {1, 2, 3}, inout[3] = {4, 5, 6}, flag;
    op_upcalls.call_user = user_call;
    CHECK_EQ(op_create(NULL, 1, false, &op), GW_EARG);
    CHECK_EQ(op_create(user_function, 0, true, &op), GW_OK);
    same_op = op;
    uint32_t id = op->obj.id;
    CHECK(gw_obj_lookup(id, GW_KIND_OP) == &op->obj);
    CHECK_EQ(op_commutative(op, &flag), GW_OK);
    CHECK_EQ(flag, 0);
    CHECK_EQ(op_reduce_local(in, inout, 3, gw_type_int, op), GW_OK);
    CHECK(inout[0] == 6 && inout[1] == 15 && inout[2] == 24);
    CHECK(!op_reduce3(op, in, inout, inout, 3, gw_type_int));
    op_reduce(op, in, inout, 0, gw_type_int);
    CHECK_EQ(calls, 1);
    op_hold(op);
    CHECK_EQ(op_free(&op), GW_OK);
    CHECK(op == NULL);
    CHECK(gw_obj_lookup(id, GW_KIND_OP) == NULL);
    op_reduce(same_op, in, inout, 1, gw_type_int); /* an operation under way still holds it */
    CHECK_EQ(calls, 2);
    op_release(same_op);
    op = gw_op_sum;
    CHECK_EQ(op_free(&op), GW_EOP);
    CHECK_EQ(op_commutative(gw_op_sum, &flag), GW_OK);
    CHECK_EQ(flag, 1);
}

int main(void)
{
    CHECK_EQ(type_init(), GW_OK);
    CHECK_EQ(op_init(), GW_OK);
    test_table();
    test_long();
    test_user();
    op_finalize();
    type_finalize();
    gw_obj_finalize();
    return unit_end();
}
