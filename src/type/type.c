/* type.c -- predefined types; commit, free, inquiries, names.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "type/type_private.h"
#include "base/base.h"
#include "base/lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <wchar.h>

/* Size, alignment, size in external32, and the two elements of a pair. */
const struct elem_info type_elem_info[GW_ELEM_COUNT] = {
    [GW_ELEM_I8] = {1, 1, 1, {0}},
    [GW_ELEM_I16] = {2, 2, 2, {0}},
    [GW_ELEM_I32] = {4, 4, 4, {0}},
    [GW_ELEM_I64] = {8, 8, 8, {0}},
    [GW_ELEM_U8] = {1, 1, 1, {0}},
    [GW_ELEM_U16] = {2, 2, 2, {0}},
    [GW_ELEM_U32] = {4, 4, 4, {0}},
    [GW_ELEM_U64] = {8, 8, 8, {0}},
    [GW_ELEM_I128] = {16, 16, 16, {0}},
    [GW_ELEM_F16] = {2, 2, 2, {0}},
    [GW_ELEM_F32] = {4, 4, 4, {0}},
    [GW_ELEM_F64] = {8, 8, 8, {0}},
    [GW_ELEM_F80] = {sizeof(long double), _Alignof(long double), 16, {0}},
    [GW_ELEM_F128] = {16, 16, 16, {0}},
    [GW_ELEM_C16] = {4, 2, 4, {0}},
    [GW_ELEM_C32] = {8, 4, 8, {0}},
    [GW_ELEM_C64] = {16, 8, 16, {0}},
    [GW_ELEM_C80] = {2 * sizeof(long double), _Alignof(long double), 32, {0}},
    [GW_ELEM_C128] = {32, 16, 32, {0}},
    [GW_ELEM_BOOL] = {1, 1, 1, {0}},
    [GW_ELEM_L8] = {1, 1, 1, {0}},
    [GW_ELEM_L16] = {2, 2, 2, {0}},
    [GW_ELEM_L32] = {4, 4, 4, {0}},
    [GW_ELEM_L64] = {8, 8, 8, {0}},
    [GW_ELEM_L128] = {16, 16, 16, {0}},
    [GW_ELEM_BYTE] = {1, 1, 1, {0}},
    [GW_ELEM_CHAR] = {1, 1, 1, {0}},
    [GW_ELEM_WCHAR] = {sizeof(wchar_t), _Alignof(wchar_t), 2, {0}},
    [GW_ELEM_PACKED] = {1, 1, 1, {0}},
    [GW_ELEM_FLOAT_INT] = {8, 4, 8, {GW_ELEM_F32, GW_ELEM_I32}},
    [GW_ELEM_DOUBLE_INT] = {12, 8, 12, {GW_ELEM_F64, GW_ELEM_I32}},
    [GW_ELEM_LONG_INT] = {12, 8, 12, {GW_ELEM_I64, GW_ELEM_I32}},
    [GW_ELEM_2INT] = {8, 4, 8, {GW_ELEM_I32, GW_ELEM_I32}},
    [GW_ELEM_SHORT_INT] = {6, 4, 6, {GW_ELEM_I16, GW_ELEM_I32}},
    [GW_ELEM_LONG_DOUBLE_INT] = {sizeof(long double) + 4, _Alignof(long double), 20, {GW_ELEM_F80, GW_ELEM_I32}},
    [GW_ELEM_2REAL] = {8, 4, 8, {GW_ELEM_F32, GW_ELEM_F32}},
    [GW_ELEM_2DOUBLE] = {16, 8, 16, {GW_ELEM_F64, GW_ELEM_F64}},
    [GW_ELEM_2INTEGER] = {8, 4, 8, {GW_ELEM_I32, GW_ELEM_I32}},
    [GW_ELEM_2LONG] = {16, 8, 16, {GW_ELEM_I64, GW_ELEM_I64}},
    [GW_ELEM_2QUAD] = {32, 16, 32, {GW_ELEM_F128, GW_ELEM_F128}},
};

/* X(name, element, group) */
#define PREDEFINED(X)                                                                                                              \
    X(AINT, I64, MULTI)                                                                                                            \
    X(COUNT, I64, MULTI)                                                                                                           \
    X(OFFSET, I64, MULTI)                                                                                                          \
    X(PACKED, PACKED, NONE)                                                                                                        \
    X(SHORT, I16, CINT)                                                                                                            \
    X(INT, I32, CINT)                                                                                                              \
    X(LONG, I64, CINT)                                                                                                             \
    X(LONG_LONG_INT, I64, CINT)                                                                                                    \
    X(UNSIGNED_SHORT, U16, CINT)                                                                                                   \
    X(UNSIGNED, U32, CINT)                                                                                                         \
    X(UNSIGNED_LONG, U64, CINT)                                                                                                    \
    X(UNSIGNED_LONG_LONG, U64, CINT)                                                                                               \
    X(FLOAT, F32, FLOAT)                                                                                                           \
    X(C_COMPLEX, C32, COMPLEX)                                                                                                     \
    X(CXX_FLOAT_COMPLEX, C32, COMPLEX)                                                                                             \
    X(DOUBLE, F64, FLOAT)                                                                                                          \
    X(C_DOUBLE_COMPLEX, C64, COMPLEX)                                                                                              \
    X(CXX_DOUBLE_COMPLEX, C64, COMPLEX)                                                                                            \
    X(LOGICAL, L32, LOGICAL)                                                                                                       \
    X(INTEGER, I32, FINT)                                                                                                          \
    X(REAL, F32, FLOAT)                                                                                                            \
    X(COMPLEX, C32, COMPLEX)                                                                                                       \
    X(DOUBLE_PRECISION, F64, FLOAT)                                                                                                \
    X(DOUBLE_COMPLEX, C64, COMPLEX)                                                                                                \
    X(CHARACTER, CHAR, CHAR)                                                                                                       \
    X(LONG_DOUBLE, F80, FLOAT)                                                                                                     \
    X(C_LONG_DOUBLE_COMPLEX, C80, COMPLEX)                                                                                         \
    X(CXX_LONG_DOUBLE_COMPLEX, C80, COMPLEX)                                                                                       \
    X(FLOAT_INT, FLOAT_INT, PAIR)                                                                                                  \
    X(DOUBLE_INT, DOUBLE_INT, PAIR)                                                                                                \
    X(LONG_INT, LONG_INT, PAIR)                                                                                                    \
    X(2INT, 2INT, PAIR)                                                                                                            \
    X(SHORT_INT, SHORT_INT, PAIR)                                                                                                  \
    X(LONG_DOUBLE_INT, LONG_DOUBLE_INT, PAIR)                                                                                      \
    X(2REAL, 2REAL, PAIR)                                                                                                          \
    X(2DOUBLE_PRECISION, 2DOUBLE, PAIR)                                                                                            \
    X(2INTEGER, 2INTEGER, PAIR)                                                                                                    \
    X(C_BOOL, BOOL, LOGICAL)                                                                                                       \
    X(CXX_BOOL, BOOL, LOGICAL)                                                                                                     \
    X(WCHAR, WCHAR, CHAR)                                                                                                          \
    X(INT8_T, I8, CINT)                                                                                                            \
    X(UINT8_T, U8, CINT)                                                                                                           \
    X(CHAR, CHAR, CINT)                                                                                                            \
    X(SIGNED_CHAR, I8, CINT)                                                                                                       \
    X(UNSIGNED_CHAR, U8, CINT)                                                                                                     \
    X(BYTE, BYTE, BYTE)                                                                                                            \
    X(INT16_T, I16, CINT)                                                                                                          \
    X(UINT16_T, U16, CINT)                                                                                                         \
    X(INT32_T, I32, CINT)                                                                                                          \
    X(UINT32_T, U32, CINT)                                                                                                         \
    X(INT64_T, I64, CINT)                                                                                                          \
    X(UINT64_T, U64, CINT)                                                                                                         \
    X(LOGICAL1, L8, LOGICAL)                                                                                                       \
    X(LOGICAL2, L16, LOGICAL)                                                                                                      \
    X(LOGICAL4, L32, LOGICAL)                                                                                                      \
    X(LOGICAL8, L64, LOGICAL)                                                                                                      \
    X(LOGICAL16, L128, LOGICAL)                                                                                                    \
    X(INTEGER1, I8, FINT)                                                                                                          \
    X(INTEGER2, I16, FINT)                                                                                                         \
    X(INTEGER4, I32, FINT)                                                                                                         \
    X(INTEGER8, I64, FINT)                                                                                                         \
    X(INTEGER16, I128, FINT)                                                                                                       \
    X(REAL2, F16, FLOAT)                                                                                                           \
    X(REAL4, F32, FLOAT)                                                                                                           \
    X(REAL8, F64, FLOAT)                                                                                                           \
    X(REAL16, F128, FLOAT)                                                                                                         \
    X(COMPLEX4, C16, COMPLEX)                                                                                                      \
    X(COMPLEX8, C32, COMPLEX)                                                                                                      \
    X(COMPLEX16, C64, COMPLEX)                                                                                                     \
    X(COMPLEX32, C128, COMPLEX)

enum {
#define X(name, elem, group) PREDEF_##name,
    PREDEFINED(X)
#undef X
        N_PREDEF
};
static const struct {
    uint32_t id;
    uint8_t elem, group;
    const char *name;
} predefs[N_PREDEF] = {
#define X(name, elem, group) [PREDEF_##name] = {GW_H_##name, GW_ELEM_##elem, GW_GROUP_##group, "MPI_" #name},
    PREDEFINED(X)
#undef X
};
static struct type_state {
    struct gw_type types[N_PREDEF];
    struct type_prog progs[N_PREDEF];
    uint8_t fortran_elem[N_PREDEF]; /* the element that the Fortran compiler uses for the type; 0: the default */
    bool fortran_lacks[N_PREDEF];   /* the Fortran compiler has no such type */
    struct gw_lock handles_lock;    /* guards gw_type.more_handles, and the handles of types that are not predefined */
} type_state;

/* MPI_SHORT_INT has padding between its two elements. */
static const int64_t short_int_at[2] = {0, 4}, short_int_from[3] = {0, 2, 6};

struct gw_type *gw_type_byte = &type_state.types[PREDEF_BYTE], *gw_type_int = &type_state.types[PREDEF_INT],
               *gw_type_int64 = &type_state.types[PREDEF_INT64_T];

#if defined(__FLT16_MAX__)
enum { HAS_F16 = 1 };
#else
enum { HAS_F16 = 0 };
#endif

static void predef_shape(int i)
{
    struct gw_type *t = &type_state.types[i];
    uint8_t elem = type_state.fortran_elem[i] ? type_state.fortran_elem[i] : predefs[i].elem;
    assert(elem < GW_ELEM_COUNT && type_elem_info[elem].align > 0);
    const struct elem_info *e = &type_elem_info[elem];
    bool missing = type_state.fortran_lacks[i] || (!HAS_F16 && (elem == GW_ELEM_F16 || elem == GW_ELEM_C16));
    t->elem = t->basic = elem;
    t->size = missing ? -1 : e->size;
    t->n_elems = e->part[0] ? 2 : 1;
    int64_t span = i == PREDEF_SHORT_INT ? 8 : e->size;
    t->true_extent = span;
    t->extent = (int64_t)gw_align_up((size_t)span, e->align);
    t->prog = &type_state.progs[i];
    *t->prog = (struct type_prog){.kind = PROG_BLOCK, .bytes = e->size};
    if (i == PREDEF_SHORT_INT)
        *t->prog = (struct type_prog){.kind = PROG_RUNS, .bytes = 6, .count = 2, .at = short_int_at, .from = short_int_from};
    t->is_single = t->prog->kind == PROG_BLOCK;
    t->is_dense = t->is_single && t->extent == t->size;
    type_set_committed(t);
}

static void predefine(int i)
{
    struct gw_type *t = &type_state.types[i];
    *t = (struct gw_type){.group = predefs[i].group};
    gw_obj_predefine(&t->obj, GW_KIND_TYPE, predefs[i].id);
    predef_shape(i);
}

static void fortran_is(int i, uint8_t elem)
{
    type_state.fortran_elem[i] = elem;
    if (type_state.types[i].obj.id) predef_shape(i);
}

int type_fortran_sizes(const struct type_fortran *f)
{
    static const uint8_t logicals[] = {
        [1] = GW_ELEM_L8, [2] = GW_ELEM_L16, [4] = GW_ELEM_L32, [8] = GW_ELEM_L64, [16] = GW_ELEM_L128};
    if (f->logical < 0 || f->logical > 16 || !logicals[f->logical])
        return gw_fail(GW_EARG, "mpi_logical_size is %d; LOGICAL has 1, 2, 4, 8 or 16 bytes", f->logical);
    if (f->integer != 4 && f->integer != 8) return gw_fail(GW_EARG, "mpi_integer_size is %d; INTEGER has 4 or 8 bytes", f->integer);
    if (f->real != 4 && f->real != 8) return gw_fail(GW_EARG, "mpi_real_size is %d; REAL has 4 or 8 bytes", f->real);
    if (f->double_precision != 8 && f->double_precision != 16)
        return gw_fail(GW_EARG, "mpi_double_precision_size is %d; DOUBLE PRECISION has 8 or 16 bytes", f->double_precision);
    bool wide_integer = f->integer == 8, wide_real = f->real == 8, quad = f->double_precision == 16;
    fortran_is(PREDEF_LOGICAL, logicals[f->logical]);
    fortran_is(PREDEF_INTEGER, wide_integer ? GW_ELEM_I64 : GW_ELEM_I32);
    fortran_is(PREDEF_2INTEGER, wide_integer ? GW_ELEM_2LONG : GW_ELEM_2INTEGER);
    fortran_is(PREDEF_REAL, wide_real ? GW_ELEM_F64 : GW_ELEM_F32);
    fortran_is(PREDEF_2REAL, wide_real ? GW_ELEM_2DOUBLE : GW_ELEM_2REAL);
    fortran_is(PREDEF_COMPLEX, wide_real ? GW_ELEM_C64 : GW_ELEM_C32);
    fortran_is(PREDEF_DOUBLE_PRECISION, quad ? GW_ELEM_F128 : GW_ELEM_F64);
    fortran_is(PREDEF_2DOUBLE_PRECISION, quad ? GW_ELEM_2QUAD : GW_ELEM_2DOUBLE);
    fortran_is(PREDEF_DOUBLE_COMPLEX, quad ? GW_ELEM_C128 : GW_ELEM_C64);
    return GW_OK;
}

void type_fortran_lacks(const char *name)
{
    for (int i = 0; i < N_PREDEF; i++) {
        if (strcasecmp(predefs[i].name, name) != 0) continue;
        type_state.fortran_lacks[i] = true;
        fortran_is(i, type_state.fortran_elem[i]);
    }
}

struct gw_type *type_of_basic(int elem)
{
    for (int i = 0; elem != GW_ELEM_NONE && i < N_PREDEF; i++)
        if (type_state.types[i].elem == elem && type_state.types[i].size >= 0) return &type_state.types[i];
    return NULL;
}

int type_init(void)
{
    for (int i = 0; i < N_PREDEF; i++) predefine(i);
    return GW_OK;
}

void type_f90_free(void);
void type_finalize(void)
{
    type_f90_free();
    for (int i = 0; i < N_PREDEF; i++) {
        gw_obj_unregister(&type_state.types[i].obj);
        free(type_state.types[i].name);
        type_state.types[i].name = NULL;
    }
}

void type_set_committed(struct gw_type *t)
{
    const int64_t near = INT32_MAX;
    assert(t->prog && (!t->is_dense || (t->is_single && t->size == t->extent)));
    t->committed = true;
    t->is_near = t->size >= 0 && t->size <= near && t->lb >= -near && t->lb <= near && t->extent >= -near && t->extent <= near &&
        t->true_lb >= -near && t->true_lb <= near && t->true_extent <= near;
    t->is_plain = t->is_near && t->is_dense && t->true_lb == 0 && t->size > 0;
}

int type_commit(struct gw_type **type)
{
    type_set_committed(*type); /* nothing else to do: its constructor has made the loop program */
    return GW_OK;
}

/* Adds a handle to a type: the same number, with a count; a new number if the user has freed the last handle meanwhile. */
int type_handle_add(struct gw_type *t)
{
    int rc = GW_OK;
    if (t->obj.predefined) return GW_OK;
    gw_lock(&type_state.handles_lock);
    if (t->obj.id == 0)
        rc = gw_obj_revive(&t->obj, GW_KIND_TYPE);
    else
        t->more_handles++;
    if (rc == GW_OK) type_hold(t);
    gw_unlock(&type_state.handles_lock);
    return rc;
}

/* Removes one handle; the last one only if may_drop.  True: it was the last one, or is (and was not removed). */
static bool is_last_handle(struct gw_type *t, bool may_drop)
{
    gw_lock(&type_state.handles_lock);
    assert(t->more_handles >= 0 && !t->obj.predefined);
    bool is_last = t->more_handles == 0;
    if (!is_last) t->more_handles--;
    if (is_last && may_drop) gw_obj_unregister(&t->obj); /* the handle becomes invalid; references keep the type */
    gw_unlock(&type_state.handles_lock);
    return is_last;
}

int type_free(struct gw_type **type)
{
    struct gw_type *t = *type;
    if (t->obj.predefined) return gw_fail(GW_ETYPE, "%s is predefined: it cannot be freed", type_name(t));
    if (is_last_handle(t, false)) {
        int rc = gw_attr_delete_all(&t->attrs, &t->obj); /* calls the user's functions; another thread may add a handle meanwhile */
        if (rc != GW_OK) return rc;
        is_last_handle(t, true);
    }
    type_release(t);
    *type = NULL;
    return GW_OK;
}

static int64_t or_undefined(const struct gw_type *t, int64_t v) { return t->size < 0 ? GW_UNDEFINED : v; }

int type_size(struct gw_type *t, int64_t *size_out)
{
    *size_out = or_undefined(t, t->size);
    return GW_OK;
}

int type_get_extent(struct gw_type *t, int64_t *lb_out, int64_t *extent_out)
{
    *lb_out = or_undefined(t, t->lb);
    *extent_out = or_undefined(t, t->extent);
    return GW_OK;
}

int type_get_true_extent(struct gw_type *t, int64_t *lb_out, int64_t *extent_out)
{
    *lb_out = or_undefined(t, t->true_lb);
    *extent_out = or_undefined(t, t->true_extent);
    return GW_OK;
}

bool type_bounds(const struct gw_type *t, int64_t count, int64_t *lo_out, int64_t *hi_out)
{
    if (count <= 0 || t->size <= 0) {
        *lo_out = *hi_out = 0;
        return true;
    }
    int64_t last;
    if (__builtin_mul_overflow(count - 1, t->extent, &last)) return false;
    int64_t lo, hi;
    if (__builtin_add_overflow(t->true_lb, gw_min64(0, last), &lo)) return false;
    if (__builtin_add_overflow(t->true_lb + t->true_extent, gw_max64(0, last), &hi)) return false;
    assert(lo <= hi);
    *lo_out = lo;
    *hi_out = hi;
    return true;
}

bool type_is_beyond(const struct gw_type *t, int64_t count)
{
    int64_t bytes, lo, hi;
    if (count <= 0 || t->size <= 0) return false;
    return __builtin_mul_overflow(count, t->size, &bytes) || !type_bounds(t, count, &lo, &hi) ||
        __builtin_sub_overflow(hi, lo, &bytes);
}

int type_match_size(int typeclass, int size, struct gw_type **type_out)
{
    static const struct {
        int class, size, type;
    } table[] = {{GW_TYPECLASS_REAL, 2, PREDEF_REAL2},         {GW_TYPECLASS_REAL, 4, PREDEF_REAL4},
                 {GW_TYPECLASS_REAL, 8, PREDEF_REAL8},         {GW_TYPECLASS_REAL, 16, PREDEF_REAL16},
                 {GW_TYPECLASS_INTEGER, 1, PREDEF_INTEGER1},   {GW_TYPECLASS_INTEGER, 2, PREDEF_INTEGER2},
                 {GW_TYPECLASS_INTEGER, 4, PREDEF_INTEGER4},   {GW_TYPECLASS_INTEGER, 8, PREDEF_INTEGER8},
                 {GW_TYPECLASS_INTEGER, 16, PREDEF_INTEGER16}, {GW_TYPECLASS_COMPLEX, 4, PREDEF_COMPLEX4},
                 {GW_TYPECLASS_COMPLEX, 8, PREDEF_COMPLEX8},   {GW_TYPECLASS_COMPLEX, 16, PREDEF_COMPLEX16},
                 {GW_TYPECLASS_COMPLEX, 32, PREDEF_COMPLEX32}};
    bool known = typeclass == GW_TYPECLASS_REAL || typeclass == GW_TYPECLASS_INTEGER || typeclass == GW_TYPECLASS_COMPLEX;
    if (!known) return gw_fail(GW_EARG, "typeclass is %d; it must be MPI_TYPECLASS_REAL, _INTEGER or _COMPLEX", typeclass);
    for (size_t i = 0; i < GW_ARRAY_LEN(table); i++) {
        if (table[i].class != typeclass || table[i].size != size || type_state.types[table[i].type].size < 0) continue;
        *type_out = &type_state.types[table[i].type];
        return GW_OK;
    }
    return gw_fail(GW_EARG, "there is no type of that class with %d bytes", size);
}

int type_get_value_index(struct gw_type *value, struct gw_type *index, struct gw_type **pair_out)
{
    static const struct {
        int value, index, pair;
    } table[] = {{PREDEF_FLOAT, PREDEF_INT, PREDEF_FLOAT_INT},
                 {PREDEF_DOUBLE, PREDEF_INT, PREDEF_DOUBLE_INT},
                 {PREDEF_LONG, PREDEF_INT, PREDEF_LONG_INT},
                 {PREDEF_SHORT, PREDEF_INT, PREDEF_SHORT_INT},
                 {PREDEF_INT, PREDEF_INT, PREDEF_2INT},
                 {PREDEF_LONG_DOUBLE, PREDEF_INT, PREDEF_LONG_DOUBLE_INT},
                 {PREDEF_REAL, PREDEF_REAL, PREDEF_2REAL},
                 {PREDEF_DOUBLE_PRECISION, PREDEF_DOUBLE_PRECISION, PREDEF_2DOUBLE_PRECISION},
                 {PREDEF_INTEGER, PREDEF_INTEGER, PREDEF_2INTEGER}};
    *pair_out = NULL;
    for (size_t i = 0; i < GW_ARRAY_LEN(table); i++)
        if (value == &type_state.types[table[i].value] && index == &type_state.types[table[i].index])
            *pair_out = &type_state.types[table[i].pair];
    return GW_OK;
}

/* ---- names --------------------------------------------------------------------------------------------------------------- */
static const char *default_name(const struct gw_type *t)
{
    if (t >= type_state.types && t < type_state.types + N_PREDEF) return predefs[t - type_state.types].name;
    return "";
}

const char *type_name(struct gw_type *t)
{
    if (t->name) return t->name;
    const char *name = default_name(t);
    return *name ? name : "a derived datatype";
}

int type_set_name(struct gw_type *t, const char *name)
{
    assert(name);
    size_t len = strnlen(name, GW_MAX_OBJECT_NAME - 1);
    char *copy = malloc(len + 1);
    if (!copy) return gw_fail(GW_ENOMEM, "no memory for a name");
    memcpy(copy, name, len);
    copy[len] = 0;
    free(t->name);
    t->name = copy;
    return GW_OK;
}

int type_get_name(struct gw_type *t, char *name_out, int *len_out)
{
    const char *name = !t ? "MPI_DATATYPE_NULL" : t->name ? t->name : default_name(t);
    strcpy(name_out, name);
    *len_out = (int)strlen(name);
    return GW_OK;
}
