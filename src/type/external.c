/* external.c -- MPI_Pack and MPI_Unpack, and external32 (MPI 4.1 sections 5.2, 5.3 and 14.5.2): big-endian, fixed sizes.
 *
 * external32 converts element by element in stream order.  A value that does not fit the external size (a long of more than
 * 32 bits) is an error of class MPI_ERR_CONVERSION.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "type/type_private.h"
#include "base/base.h"
#include "type/stage.h"

static int room_for(const char *what, int64_t position, int64_t need, int64_t size)
{
    if (position >= 0 && position <= size && need <= size - position) return GW_OK;
    return gw_fail(position < 0 || position > size ? GW_EARG : GW_ETRUNCATE,
                   "%lld bytes at position %lld do not fit the %s of %lld bytes", (long long)need, (long long)position, what,
                   (long long)size);
}

/* Between memory and a packed stream, of which one or both may be such that the CPU may not touch them. */
static GW_COLD int move_staged(bool pack, const void *mem, int64_t count, struct gw_type *t, const void *stream, int64_t bytes)
{
    struct type_stage m, s = {.memory = NULL};
    struct gw_data in_memory = gw_data_of(mem, count, t), packed = gw_data_of(stream, bytes, gw_type_byte);
    int rc = type_stage_begin(&m, &in_memory);
    if (rc == GW_OK) rc = type_stage_begin(&s, &packed);
    if (rc == GW_OK) pack ? type_pack(m.data.buf, count, t, s.data.buf) : type_unpack(m.data.buf, count, t, s.data.buf);
    rc = type_stage_end(&s, rc, pack);
    return type_stage_end(&m, rc, !pack);
}

int type_mpi_pack(const void *in, int64_t count, struct gw_type *t, void *out, int64_t outsize, int64_t *position)
{
    int64_t bytes = 0;
    int rc = type_mpi_pack_size(count, t, &bytes);
    if (rc == GW_OK) rc = room_for("pack buffer", *position, bytes, outsize);
    if (rc != GW_OK) return rc;
    if (unlikely(mem_has_drivers))
        rc = move_staged(true, in, count, t, (char *)out + *position, bytes);
    else
        type_pack(in, count, t, (char *)out + *position);
    if (rc == GW_OK) *position += bytes;
    return rc;
}

int type_mpi_unpack(const void *in, int64_t insize, int64_t *position, void *out, int64_t count, struct gw_type *t)
{
    int64_t bytes = 0;
    int rc = type_mpi_pack_size(count, t, &bytes);
    if (rc == GW_OK) rc = room_for("packed data", *position, bytes, insize);
    if (rc != GW_OK) return rc;
    if (unlikely(mem_has_drivers))
        rc = move_staged(false, out, count, t, (const char *)in + *position, bytes);
    else
        type_unpack(out, count, t, (const char *)in + *position);
    if (rc == GW_OK) *position += bytes;
    return rc;
}

int type_mpi_pack_size(int64_t count, struct gw_type *t, int64_t *size_out)
{
    if (t->size < 0) return gw_fail(GW_ETYPE, "%s does not exist on this machine", type_name(t));
    if (__builtin_mul_overflow(count, t->size, size_out)) return gw_fail(GW_ECOUNT, "the packed size is more than 2^63 bytes");
    return GW_OK;
}

/* ---- external32 ------------------------------------------------------------------------------------------------------------- */
/* Bytes of an element in external32.  A long has four; AINT, COUNT, OFFSET, long long and types of 64 bits have eight. */
static int external_size(const struct gw_type *t)
{
    if (t->obj.id == GW_H_LONG || t->obj.id == GW_H_UNSIGNED_LONG) return 4;
    if (t->obj.id == GW_H_LONG_INT) return 8;
    return type_elem_info[t->elem].external;
}

/* Bytes of one instance in external32. */
static int64_t external_bytes(const struct gw_type *t)
{
    if (!t->tree) return external_size(t);
    if (t->size == 0) return 0; /* blocks of nothing may be too many to multiply */
    int64_t n = 0;
    for (int64_t i = 0; i < t->tree->n_segs; i++) n += t->tree->segs[i].count * external_bytes(t->tree->segs[i].type);
    return n * t->tree->outer;
}

static void reverse(uint8_t *out, const uint8_t *in, int n)
{
    for (int i = 0; i < n; i++) out[i] = in[n - 1 - i];
}

/* IEEE quad in big-endian order from an x87 long double, and back.  Both have 15 exponent bits; the x87 form writes its
 * leading 1 out and has 63 fraction bits, quad has 112. */
static void quad_from_x87(uint8_t *out, const uint8_t *in)
{
    uint64_t fraction;
    uint16_t head;
    memcpy(&fraction, in, 8);
    memcpy(&head, in + 8, 2);
    fraction <<= 1; /* drops the explicit leading 1 */
    out[0] = (uint8_t)(head >> 8), out[1] = (uint8_t)head;
    for (int i = 0; i < 8; i++) out[2 + i] = (uint8_t)(fraction >> (56 - 8 * i));
    memset(out + 10, 0, 6);
}
static void x87_from_quad(uint8_t *out, const uint8_t *in)
{
    uint64_t fraction = 0;
    uint16_t head = (uint16_t)(in[0] << 8 | in[1]);
    for (int i = 0; i < 8; i++) fraction = fraction << 8 | in[2 + i];
    fraction >>= 1;
    if (head & 0x7fff) fraction |= 1ull << 63;
    memset(out, 0, 16);
    memcpy(out, &fraction, 8);
    memcpy(out + 8, &head, 2);
}

enum { NATIVE_X87 = sizeof(long double) == 16 && __LDBL_MANT_DIG__ == 64 };

/* Converts one element of `native` bytes to `external` bytes, big-endian.  An integer that does not fit is an error. */
static int element_out(uint8_t *out, const uint8_t *in, int native, int external, bool is_unsigned)
{
    if (native == external) {
        reverse(out, in, native);
        return GW_OK;
    }
    int64_t v = 0;
    assert(native > 0 && native <= 8 && external > 0 && external < native);
    memcpy(&v, in, (size_t)native);
    if (native < 8 && !is_unsigned && (v >> (8 * native - 1) & 1)) v |= -((int64_t)1 << (8 * native));
    int64_t lowest = is_unsigned ? 0 : -((int64_t)1 << (8 * external - 1));
    int64_t highest = ((int64_t)1 << (8 * external - (is_unsigned ? 0 : 1))) - 1;
    if (v < lowest || v > highest)
        return gw_fail(GW_ECONVERSION, "the value %lld does not fit the %d bytes that external32 has for it", (long long)v,
                       external);
    for (int i = 0; i < external; i++) out[i] = (uint8_t)(v >> (8 * (external - 1 - i)));
    return GW_OK;
}
static void element_in(uint8_t *out, const uint8_t *in, int native, int external, bool is_unsigned)
{
    if (native == external) {
        reverse(out, in, native);
        return;
    }
    assert(native <= 8 && external > 0 && external < native);
    int64_t v = !is_unsigned && in[0] & 0x80 ? -1 : 0;
    for (int i = 0; i < external; i++) v = (int64_t)((uint64_t)v << 8 | in[i]);
    memcpy(out, &v, (size_t)native);
}

static int scalar(bool pack, char *mem, uint8_t *stream, int elem, int external)
{
    int native = type_elem_info[elem].size;
    if (elem == GW_ELEM_F80 && NATIVE_X87) {
        if (pack)
            quad_from_x87(stream, (uint8_t *)mem);
        else
            x87_from_quad((uint8_t *)mem, stream);
        return GW_OK;
    }
    bool is_unsigned = elem == GW_ELEM_U64 || elem == GW_ELEM_WCHAR;
    if (pack) return element_out(stream, (uint8_t *)mem, native, external, is_unsigned);
    element_in((uint8_t *)mem, stream, native, external, is_unsigned);
    return GW_OK;
}

static int half_of(int complex_elem)
{
    switch (complex_elem) {
    case GW_ELEM_C16: return GW_ELEM_F16;
    case GW_ELEM_C32: return GW_ELEM_F32;
    case GW_ELEM_C64: return GW_ELEM_F64;
    case GW_ELEM_C80: return GW_ELEM_F80;
    case GW_ELEM_C128: return GW_ELEM_F128;
    default: return 0;
    }
}

/* Converts a predefined type, which has one or two elements. */
static int named(bool pack, char *mem, uint8_t *stream, const struct gw_type *t)
{
    const struct elem_info *e = &type_elem_info[t->elem];
    int half = half_of(t->elem), external = external_size(t);
    int first = half ? half : e->part[0], second = half ? half : e->part[1];
    if (!first) return scalar(pack, mem, stream, t->elem, external);
    int second_external = half ? external / 2 : type_elem_info[second].external, first_external = external - second_external;
    int64_t at = half ? type_elem_info[half].size : (int64_t)gw_align_up(type_elem_info[first].size, type_elem_info[second].align);
    int rc = scalar(pack, mem, stream, first, first_external);
    return rc != GW_OK ? rc : scalar(pack, mem + at, stream + first_external, second, second_external);
}

/* Converts one instance, and advances *stream. */
static int instance(bool pack, char *mem, uint8_t **stream, const struct gw_type *t)
{
    if (!t->tree) {
        int rc = named(pack, mem, *stream, t);
        *stream += external_size(t);
        return rc;
    }
    const struct type_tree *tree = t->tree;
    for (int64_t o = 0; o < tree->outer && t->size > 0; o++)
        for (int64_t i = 0; i < tree->n_segs; i++) {
            const struct type_seg *s = &tree->segs[i];
            for (int64_t k = 0; k < s->count && s->type->size > 0; k++) {
                int rc = instance(pack, mem_at(mem, o * tree->stride + s->disp + k * s->type->extent), stream, s->type);
                if (rc != GW_OK) return rc;
            }
        }
    return GW_OK;
}

static int rep_check(const char *rep)
{
    if (!strcmp(rep, "external32")) return GW_OK;
    return gw_fail(GW_EARG, "datarep is \"%s\"; only \"external32\" is known", rep);
}

int type_mpi_pack_external_size(const char *rep, int64_t count, struct gw_type *t, int64_t *size_out)
{
    int rc = rep_check(rep);
    if (rc != GW_OK) return rc;
    if (t->size < 0) return gw_fail(GW_ETYPE, "%s does not exist on this machine", type_name(t));
    if (__builtin_mul_overflow(count, external_bytes(t), size_out))
        return gw_fail(GW_ECOUNT, "the packed size is more than 2^63 bytes");
    return GW_OK;
}

static int external_move(bool pack, const char *rep, void *mem, int64_t count, struct gw_type *t, void *stream, int64_t size,
                         int64_t *position)
{
    int64_t bytes = 0;
    int rc = type_mpi_pack_external_size(rep, count, t, &bytes);
    if (rc == GW_OK) rc = room_for(pack ? "pack buffer" : "packed data", *position, bytes, size);
    if (rc != GW_OK) return rc;
    uint8_t *at = (uint8_t *)stream + *position;
    for (int64_t i = 0; rc == GW_OK && i < count && t->size > 0; i++) rc = instance(pack, mem_at(mem, i * t->extent), &at, t);
    assert(rc != GW_OK || at == (uint8_t *)stream + *position + bytes);
    if (rc == GW_OK) *position += bytes;
    return rc;
}

int type_mpi_pack_external(const char *rep, const void *in, int64_t count, struct gw_type *t, void *out, int64_t outsize,
                           int64_t *position)
{
    return external_move(true, rep, (void *)(uintptr_t)in, count, t, out, outsize, position);
}

int type_mpi_unpack_external(const char *rep, const void *in, int64_t insize, int64_t *position, void *out, int64_t count,
                             struct gw_type *t)
{
    return external_move(false, rep, out, count, t, (void *)(uintptr_t)in, insize, position);
}
