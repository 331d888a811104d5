/* op.c -- operations as objects; which may run on which types; running them on any layout.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "op/exact_private.h"

#include <stdlib.h>

#include "base/base.h"
#include "type/stage.h"

struct op_upcalls op_upcalls;

#define G(x) (1u << GW_GROUP_##x)
static const struct {
    const char *name;
    uint32_t id, groups;
    const char *allowed;
} ops[OP_CODES] = {
    [OP_SUM] = {"MPI_SUM", GW_H_SUM, G(CINT) | G(FINT) | G(FLOAT) | G(COMPLEX) | G(MULTI),
                "integer, floating point and complex types"},
    [OP_PROD] = {"MPI_PROD", GW_H_PROD, G(CINT) | G(FINT) | G(FLOAT) | G(COMPLEX) | G(MULTI),
                 "integer, floating point and complex types"},
    [OP_MIN] = {"MPI_MIN", GW_H_MIN, G(CINT) | G(FINT) | G(FLOAT) | G(MULTI), "integer and floating point types"},
    [OP_MAX] = {"MPI_MAX", GW_H_MAX, G(CINT) | G(FINT) | G(FLOAT) | G(MULTI), "integer and floating point types"},
    [OP_BAND] = {"MPI_BAND", GW_H_BAND, G(CINT) | G(FINT) | G(BYTE) | G(MULTI), "integer types and MPI_BYTE"},
    [OP_BOR] = {"MPI_BOR", GW_H_BOR, G(CINT) | G(FINT) | G(BYTE) | G(MULTI), "integer types and MPI_BYTE"},
    [OP_BXOR] = {"MPI_BXOR", GW_H_BXOR, G(CINT) | G(FINT) | G(BYTE) | G(MULTI), "integer types and MPI_BYTE"},
    [OP_LAND] = {"MPI_LAND", GW_H_LAND, G(CINT) | G(LOGICAL), "C integer and logical types"},
    [OP_LOR] = {"MPI_LOR", GW_H_LOR, G(CINT) | G(LOGICAL), "C integer and logical types"},
    [OP_LXOR] = {"MPI_LXOR", GW_H_LXOR, G(CINT) | G(LOGICAL), "C integer and logical types"},
    [OP_MINLOC] = {"MPI_MINLOC", GW_H_MINLOC, G(PAIR), "pair types such as MPI_DOUBLE_INT"},
    [OP_MAXLOC] = {"MPI_MAXLOC", GW_H_MAXLOC, G(PAIR), "pair types such as MPI_DOUBLE_INT"},
    [OP_REPLACE] = {"MPI_REPLACE", GW_H_REPLACE, 0, "one-sided accumulates only"},
    [OP_NO_OP] = {"MPI_NO_OP", GW_H_NO_OP, 0, "one-sided accumulates only"},
};
#undef G

static struct op_state {
    struct gw_op predef[OP_CODES];
    const op_table *kernels; /* of this processor, or with_literals */
    op_table with_literals;  /* a copy of them with kernels that know the literals below */
} op_state = {.kernels = &op_kernels_base};
struct gw_op *gw_op_sum = &op_state.predef[OP_SUM], *gw_op_max = &op_state.predef[OP_MAX], *gw_op_min = &op_state.predef[OP_MIN];
const struct exact_table *op_exact_table = &exact_base;

/* ---- logicals of a compiler whose .TRUE. is not 1 ------------------------------------------------------------------------ */
#define LOGICALS(X) X(L8, t_U8) X(L16, t_U16) X(L32, t_U32) X(L64, t_U64) X(L128, t_U128)
/* Apart from op_state, whose address is taken: the kernels' loops keep these in registers. */
static struct op_literals {
#define PAIR(elem, type) type elem[2]; /* .FALSE., .TRUE. */
    LOGICALS(PAIR)
#undef PAIR
    int bytes; /* of the logical type that has other values than 0 and 1; 0: none has */
} literals;
#define IS(elem, v) (v != literals.elem[0])
#define LOGICAL_KERNELS(elem, type)                                                                                                \
    KERNEL(LAND, elem, type, literals.elem[IS(elem, x) && IS(elem, y)])                                                            \
    KERNEL(LOR, elem, type, literals.elem[IS(elem, x) || IS(elem, y)])                                                             \
    KERNEL(LXOR, elem, type, literals.elem[IS(elem, x) != IS(elem, y)])
LOGICALS(LOGICAL_KERNELS)

static void literals_take(void)
{
    memcpy(op_state.with_literals, *op_state.kernels, sizeof op_state.with_literals);
#define TAKE(elem, type)                                                                                                           \
    if (literals.bytes == sizeof(type)) {                                                                                          \
        op_state.with_literals[OP_LAND][GW_ELEM_##elem] = k_LAND_##elem;                                                           \
        op_state.with_literals[OP_LOR][GW_ELEM_##elem] = k_LOR_##elem;                                                             \
        op_state.with_literals[OP_LXOR][GW_ELEM_##elem] = k_LXOR_##elem;                                                           \
    }
    LOGICALS(TAKE)
    op_state.kernels = (const op_table *)&op_state.with_literals;
}

void op_logicals(int bytes, const void *true_value, const void *false_value)
{
    assert(bytes > 0 && bytes <= 16 && (bytes & (bytes - 1)) == 0);
#define STORE(elem, type)                                                                                                          \
    if (bytes == sizeof(type))                                                                                                     \
        memcpy(&literals.elem[0], false_value, sizeof(type)), memcpy(&literals.elem[1], true_value, sizeof(type));
    t_U128 yes = 0, no = 0;
    memcpy(&yes, true_value, (size_t)bytes), memcpy(&no, false_value, (size_t)bytes);
    if (yes == 1 && no == 0) return; /* the usual kernels do */
    LOGICALS(STORE)
    literals.bytes = bytes;
    literals_take();
}

GW_ONCE int op_init(void)
{
    for (int i = 0; i < OP_CODES; i++) {
        op_state.predef[i] = (struct gw_op){.commutes = i != OP_REPLACE && i != OP_NO_OP, .code = (uint8_t)i};
        gw_obj_predefine(&op_state.predef[i].obj, GW_KIND_OP, ops[i].id);
    }
    op_state.kernels = &op_kernels_base;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) op_state.kernels = &op_kernels_avx2, op_exact_table = &exact_avx2;
#endif
    if (literals.bytes) literals_take();
    return GW_OK;
}

GW_ONCE void op_finalize(void)
{
    for (int i = 0; i < OP_CODES; i++) gw_obj_unregister(&op_state.predef[i].obj);
}

int op_create(void (*fn)(void), int commute, bool wide, struct gw_op **op_out)
{
    if (!fn) return gw_fail(GW_EARG, "the function of the operation is NULL");
    struct gw_op *op = calloc(1, sizeof *op);
    if (!op) return gw_fail(GW_ENOMEM, "no memory for an operation");
    op->commutes = commute != 0;
    op->code = OP_USER;
    op->user = (struct gw_callback){.fn = fn, .wide = wide};
    int rc = gw_obj_register(&op->obj, GW_KIND_OP);
    if (rc != GW_OK) {
        free(op);
        return rc;
    }
    *op_out = op;
    return GW_OK;
}

void op_release(struct gw_op *op)
{
    if (!gw_obj_unref(&op->obj)) return;
    assert(op->code == OP_USER);
    gw_obj_unregister(&op->obj);
    free(op);
}

int op_free(struct gw_op **op)
{
    assert(*op && (*op)->code <= OP_USER);
    if ((*op)->obj.predefined) return gw_fail(GW_EOP, "%s is predefined: it cannot be freed", op_name(*op));
    gw_obj_unregister(&(*op)->obj); /* the handle dies; operations under way hold the object */
    op_release(*op);
    *op = NULL;
    return GW_OK;
}

int op_commutative(struct gw_op *op, int *commute_out)
{
    *commute_out = op->commutes;
    return GW_OK;
}

const char *op_name(struct gw_op *op) { return op->code == OP_USER ? "a user operation" : ops[op->code].name; }

/* ---- what may run on what ------------------------------------------------------------------------------------------------ */
static uint8_t group_of(uint8_t elem)
{
    static const uint8_t groups[GW_ELEM_COUNT] = {
        [GW_ELEM_I8] = GW_GROUP_CINT,        [GW_ELEM_I16] = GW_GROUP_CINT,        [GW_ELEM_I32] = GW_GROUP_CINT,
        [GW_ELEM_I64] = GW_GROUP_CINT,       [GW_ELEM_CHAR] = GW_GROUP_CINT,       [GW_ELEM_U8] = GW_GROUP_CINT,
        [GW_ELEM_U16] = GW_GROUP_CINT,       [GW_ELEM_U32] = GW_GROUP_CINT,        [GW_ELEM_U64] = GW_GROUP_CINT,
        [GW_ELEM_I128] = GW_GROUP_FINT,      [GW_ELEM_F16] = GW_GROUP_FLOAT,       [GW_ELEM_F32] = GW_GROUP_FLOAT,
        [GW_ELEM_F64] = GW_GROUP_FLOAT,      [GW_ELEM_F80] = GW_GROUP_FLOAT,       [GW_ELEM_F128] = GW_GROUP_FLOAT,
        [GW_ELEM_C16] = GW_GROUP_COMPLEX,    [GW_ELEM_C32] = GW_GROUP_COMPLEX,     [GW_ELEM_C64] = GW_GROUP_COMPLEX,
        [GW_ELEM_C80] = GW_GROUP_COMPLEX,    [GW_ELEM_C128] = GW_GROUP_COMPLEX,    [GW_ELEM_BOOL] = GW_GROUP_LOGICAL,
        [GW_ELEM_L8] = GW_GROUP_LOGICAL,     [GW_ELEM_L16] = GW_GROUP_LOGICAL,     [GW_ELEM_L32] = GW_GROUP_LOGICAL,
        [GW_ELEM_L64] = GW_GROUP_LOGICAL,    [GW_ELEM_L128] = GW_GROUP_LOGICAL,    [GW_ELEM_BYTE] = GW_GROUP_BYTE,
        [GW_ELEM_FLOAT_INT] = GW_GROUP_PAIR, [GW_ELEM_DOUBLE_INT] = GW_GROUP_PAIR, [GW_ELEM_LONG_INT] = GW_GROUP_PAIR,
        [GW_ELEM_2INT] = GW_GROUP_PAIR,      [GW_ELEM_SHORT_INT] = GW_GROUP_PAIR,  [GW_ELEM_LONG_DOUBLE_INT] = GW_GROUP_PAIR,
        [GW_ELEM_2REAL] = GW_GROUP_PAIR,     [GW_ELEM_2DOUBLE] = GW_GROUP_PAIR,    [GW_ELEM_2INTEGER] = GW_GROUP_PAIR,
        [GW_ELEM_2LONG] = GW_GROUP_PAIR,     [GW_ELEM_2QUAD] = GW_GROUP_PAIR};
    return groups[elem];
}

int op_check(struct gw_op *op, struct gw_type *t)
{
    if (op->code == OP_USER) return GW_OK;
    uint8_t group = t->elem != GW_ELEM_NONE ? t->group : group_of(t->basic);
    if (ops[op->code].groups & 1u << group && (*op_state.kernels)[op->code][t->basic]) return GW_OK;
    return gw_fail(GW_EOP, "%s is not defined on %s; it is for %s", op_name(op), type_name(t), ops[op->code].allowed);
}

bool op_can(const struct gw_op *op, const struct gw_type *t)
{
    assert(t->basic < GW_ELEM_COUNT);
    return op->code < OP_REPLACE && t->basic != GW_ELEM_NONE && (*op_state.kernels)[op->code][t->basic] != NULL;
}

/* The kernel that may run straight on `count` of t, as *n_out elements; NULL: the layout is not that simple. */
static op_kernel *direct_kernel(struct gw_op *op, struct gw_type *t, int64_t count, int64_t *n_out)
{
    assert(count >= 0 && t->basic < GW_ELEM_COUNT);
    if (op->code >= OP_REPLACE || t->basic == GW_ELEM_NONE) return NULL;
    op_kernel *k = (*op_state.kernels)[op->code][t->basic];
    if (group_of(t->basic) == GW_GROUP_PAIR) { /* pairs are laid out as C structs: the extent is the step */
        *n_out = count;
        return t->elem != GW_ELEM_NONE && !t->tree ? k : NULL;
    }
    *n_out = t->n_elems * count;
    return t->is_dense && t->true_lb == 0 ? k : NULL;
}

/* Any layout of one basic kind: piece by piece through dense copies. */
static void reduce_packed(struct gw_op *op, const void *in, void *inout, int64_t count, struct gw_type *t)
{
    enum { PIECE = 8192 };
    _Alignas(64) char a[PIECE], b[PIECE];
    op_kernel *k = (*op_state.kernels)[op->code][t->basic];
    int64_t elem_bytes = t->size / t->n_elems, piece = PIECE / elem_bytes * elem_bytes;
    assert(k && t->size % t->n_elems == 0 && elem_bytes <= PIECE);
    struct type_cursor ca, cb, co;
    type_cursor_init(&ca, gw_data_host(in, count, t));
    type_cursor_init(&cb, gw_data_host(inout, count, t));
    type_cursor_init(&co, gw_data_host(inout, count, t));
    for (int64_t n; (n = type_cursor_pack(&ca, a, piece)) > 0;) {
        int64_t m = type_cursor_pack(&cb, b, n);
        assert(m == n && n % elem_bytes == 0);
        k(a, b, b, m / elem_bytes);
        type_cursor_unpack(&co, b, n);
    }
}

/* Derived types of pairs: each pair goes through its C struct layout. */
static void reduce_pairs(struct gw_op *op, const void *in, void *inout, int64_t count, struct gw_type *t)
{
    static const struct {
        uint8_t elem, head, tail, at;
    } shape[] = {{GW_ELEM_FLOAT_INT, 4, 4, 4}, {GW_ELEM_DOUBLE_INT, 8, 4, 8}, {GW_ELEM_LONG_INT, 8, 4, 8},
                 {GW_ELEM_2INT, 4, 4, 4},      {GW_ELEM_SHORT_INT, 2, 4, 4},  {GW_ELEM_LONG_DOUBLE_INT, 16, 4, 16},
                 {GW_ELEM_2REAL, 4, 4, 4},     {GW_ELEM_2DOUBLE, 8, 8, 8},    {GW_ELEM_2INTEGER, 4, 4, 4},
                 {GW_ELEM_2LONG, 8, 8, 8},     {GW_ELEM_2QUAD, 16, 16, 16}};
    size_t s = 0;
    while (s < GW_ARRAY_LEN(shape) && shape[s].elem != t->basic) s++;
    assert(s < GW_ARRAY_LEN(shape)); /* the caller has seen that it is a pair */
    struct type_cursor ca, cb, co;
    type_cursor_init(&ca, gw_data_host(in, count, t));
    type_cursor_init(&cb, gw_data_host(inout, count, t));
    type_cursor_init(&co, gw_data_host(inout, count, t));
    _Alignas(16) char a[32], b[32];
    while (type_cursor_pack(&ca, a, shape[s].head) > 0) {
        type_cursor_pack(&ca, a + shape[s].at, shape[s].tail);
        type_cursor_pack(&cb, b, shape[s].head);
        type_cursor_pack(&cb, b + shape[s].at, shape[s].tail);
        (*op_state.kernels)[op->code][t->basic](a, b, b, 1);
        type_cursor_unpack(&co, b, shape[s].head);
        type_cursor_unpack(&co, b + shape[s].at, shape[s].tail);
    }
}

void op_reduce(struct gw_op *op, const void *in, void *inout, int64_t count, struct gw_type *t)
{
    int64_t n;
    if (count == 0) return;
    if (op->code == OP_USER) {
        assert(op->user.fn);
        op_upcalls.call_user(&op->user, (void *)(uintptr_t)in, inout, count, t);
        return;
    }
    op_kernel *k = direct_kernel(op, t, count, &n);
    if (k)
        k(in, inout, inout, n);
    else if (t->size > 0 && group_of(t->basic) == GW_GROUP_PAIR)
        reduce_pairs(op, in, inout, count, t);
    else if (t->size > 0)
        reduce_packed(op, in, inout, count, t);
}

bool op_reduce3(struct gw_op *op, const void *a, const void *b, void *out, int64_t count, struct gw_type *t)
{
    int64_t n;
    op_kernel *k = direct_kernel(op, t, count, &n);
    if (!k) return false;
    k(a, b, out, n);
    return true;
}

static GW_COLD int reduce_staged(const struct gw_data *in, const struct gw_data *inout, struct gw_op *op)
{
    struct type_stage f, s = {.memory = NULL};
    int rc = type_stage_begin(&f, in);
    if (rc == GW_OK) rc = type_stage_begin(&s, inout);
    if (rc == GW_OK) rc = op_reduce_local(f.data.buf, s.data.buf, in->count, in->type, op);
    rc = type_stage_end(&s, rc, true);
    return type_stage_end(&f, rc, false);
}

int op_reduce_local(const void *in, void *inout, int64_t count, struct gw_type *t, struct gw_op *op)
{
    struct gw_data from = gw_data_of(in, count, t), to = gw_data_of(inout, count, t);
    if (unlikely(!gw_data_is_cpu(&from) || !gw_data_is_cpu(&to))) return reduce_staged(&from, &to, op);
    int rc = op_check(op, t);
    if (rc != GW_OK) return rc;
    op_reduce(op, in, inout, count, t);
    return GW_OK;
}
