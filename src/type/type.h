/* type.h -- datatypes (MPI 4.1 chapter 5): constructors, inquiries, pack and unpack.
 *
 * A datatype is a tree as the user built it (kept for envelope/contents) and, from commit on, a normalised
 * loop program: the shortest nest of (count, stride) loops over contiguous blocks that moves the same bytes in
 * the same order.  Types are immutable once committed and shared by reference count; a type stays alive while a
 * communication or another type uses it, whatever the user frees.  All sizes and displacements are bytes,
 * 64-bit.  Functions return GW_OK or a negative code (gw_fail text set); outputs are written on success only.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TYPE_TYPE_H
#define GW_TYPE_TYPE_H

#include <sys/uio.h>

#include "obj/obj.h"

/* Basic element kinds: what a reduction or external32 needs to know of a predefined type. */
enum gw_elem {
    GW_ELEM_NONE, /* derived type */
    GW_ELEM_I8,
    GW_ELEM_I16,
    GW_ELEM_I32,
    GW_ELEM_I64,
    GW_ELEM_U8,
    GW_ELEM_U16,
    GW_ELEM_U32,
    GW_ELEM_U64,
    GW_ELEM_I128, /* INTEGER16 */
    GW_ELEM_F16,
    GW_ELEM_F32,
    GW_ELEM_F64,
    GW_ELEM_F80,
    GW_ELEM_F128, /* REAL2, float, double, long double, REAL16 */
    GW_ELEM_C16,
    GW_ELEM_C32,
    GW_ELEM_C64,
    GW_ELEM_C80,
    GW_ELEM_C128, /* complex of two of the above */
    GW_ELEM_BOOL, /* C _Bool, C++ bool */
    GW_ELEM_L8,
    GW_ELEM_L16,
    GW_ELEM_L32,
    GW_ELEM_L64,
    GW_ELEM_L128, /* Fortran LOGICAL by size */
    GW_ELEM_BYTE,
    GW_ELEM_CHAR,
    GW_ELEM_WCHAR,
    GW_ELEM_PACKED,
    GW_ELEM_FLOAT_INT,
    GW_ELEM_DOUBLE_INT,
    GW_ELEM_LONG_INT,
    GW_ELEM_2INT,
    GW_ELEM_SHORT_INT,
    GW_ELEM_LONG_DOUBLE_INT,
    GW_ELEM_2REAL,
    GW_ELEM_2DOUBLE,
    GW_ELEM_2INTEGER,
    GW_ELEM_2LONG,
    GW_ELEM_2QUAD, /* 2INTEGER, 2DOUBLE_PRECISION of compilers whose types are wider */
    GW_ELEM_COUNT
};
/* Which operations the standard allows on a predefined type (section 6.9.2 groups). */
enum gw_elem_group {
    GW_GROUP_NONE,
    GW_GROUP_CINT, /* with MPI_CHAR, which the standard keeps for characters: programs reduce it as the small integer that it is in C */
    GW_GROUP_FINT,
    GW_GROUP_FLOAT,
    GW_GROUP_LOGICAL,
    GW_GROUP_COMPLEX,
    GW_GROUP_BYTE,
    GW_GROUP_MULTI, /* AINT, COUNT, OFFSET: both integer groups */
    GW_GROUP_PAIR,  /* MINLOC/MAXLOC */
    GW_GROUP_CHAR   /* WCHAR, CHARACTER: no reductions */
};

struct type_prog; /* private: the loop program */
struct type_tree; /* private: how the user built it */

struct gw_type {
    struct gw_obj obj;
    bool is_near;   /* committed, and size and bounds lie within 31 bits: no int count of it spans 2^63 bytes */
    bool is_dense;  /* data is one run of bytes at offset true_lb and size == extent: n of them are one memcpy */
    bool is_plain;  /* near, of some bytes, dense at offset 0: what is inlined into entry points takes no others */
    bool is_single; /* one run of bytes, but extent may differ from size (count 1 is one memcpy) */
    uint8_t elem;   /* enum gw_elem; NONE for derived types */
    uint8_t group;  /* enum gw_elem_group */
    uint8_t basic;  /* the one element kind that it is made of (enum gw_elem), NONE if mixed: lets
                        reductions and accumulate run on derived types of one basic kind */
    bool committed;
    int64_t size; /* bytes of data; -1: an optional type that this platform lacks */
    int64_t lb, extent, true_lb, true_extent;
    int64_t n_elems;      /* basic elements per instance (pairs count as 2 for get_elements) */
    int32_t more_handles; /* given out by type_get_contents() and not freed yet, beside the maker's; under a lock of the room */
    _Atomic uint64_t signature; /* value of one instance, 0: not known yet (derived types) */
    struct type_prog *prog;
    struct type_tree *tree;
    struct gw_attrs attrs;
    char *name; /* NULL: the default name */
};

/* Bytes of a Fortran compiler's default types; also before type_init, and for all that come after it.  Types that were made of these
 * before keep what they have.  GW_EARG: a size that no predefined type has; nothing has changed then. */
struct type_fortran {
    int logical, integer, real, double_precision;
};
int type_fortran_sizes(const struct type_fortran *f);
void type_fortran_lacks(const char *name); /* such as MPI_INTEGER16: its size is MPI_UNDEFINED from now on */
int type_init(void);                       /* registers the predefined types */
void type_finalize(void);

struct gw_type *type_of_basic(int elem); /* a predefined type of that kind; NULL: GW_ELEM_NONE */

/* Constructors.  Count arrays may be int or 64-bit (struct gw_counts).  Old types are referenced, not consumed. */
int type_contiguous(int64_t count, struct gw_type *old, struct gw_type **type_out);
int type_vector(int64_t count, int64_t blocklen, int64_t stride, struct gw_type *old, struct gw_type **type_out);
int type_hvector(int64_t count, int64_t blocklen, int64_t stride_bytes, struct gw_type *old, struct gw_type **type_out);
int type_indexed(int64_t count, struct gw_counts blocklens, struct gw_counts displs, struct gw_type *old,
                 struct gw_type **type_out);
int type_hindexed(int64_t count, struct gw_counts blocklens, struct gw_counts displs_bytes, struct gw_type *old,
                  struct gw_type **type_out);
int type_indexed_block(int64_t count, int64_t blocklen, struct gw_counts displs, struct gw_type *old, struct gw_type **type_out);
int type_hindexed_block(int64_t count, int64_t blocklen, struct gw_counts displs_bytes, struct gw_type *old,
                        struct gw_type **type_out);
int type_struct(int64_t count, struct gw_counts blocklens, struct gw_counts displs_bytes, struct gw_type **types,
                struct gw_type **type_out);
int type_subarray(int ndims, struct gw_counts sizes, struct gw_counts subsizes, struct gw_counts starts, int order,
                  struct gw_type *old, struct gw_type **type_out);
int type_darray(int size, int rank, int ndims, struct gw_counts gsizes, const int *distribs, const int *dargs, const int *psizes,
                int order, struct gw_type *old, struct gw_type **type_out);
int type_resized(struct gw_type *old, int64_t lb, int64_t extent, struct gw_type **type_out);
int type_dup(struct gw_type *old, struct gw_type **type_out);
int type_f90_real(int p, int r, struct gw_type **type_out);
int type_f90_complex(int p, int r, struct gw_type **type_out);
int type_f90_integer(int r, struct gw_type **type_out);
/* A large-count (_c) constructor made `t`: contents are counts from now on.  The door calls it after success. */
void type_mark_large(struct gw_type *t);
int type_commit(struct gw_type **type);
void type_set_committed(struct gw_type *t); /* for makers within the room, when sizes and bounds are known */
int type_free(struct gw_type **type);       /* sets NULL; predefined: GW_ETYPE */
int type_handle_add(struct gw_type *t);     /* one more handle, a new one where the user has freed it; held until type_free() */
static inline struct gw_type *type_hold(struct gw_type *t)
{
    gw_obj_ref(&t->obj);
    return t;
}
void type_destroy(struct gw_type *t);
static inline void type_release(struct gw_type *t)
{
    if (gw_obj_unref(&t->obj)) type_destroy(t);
}

/* Inquiries.  GW_UNDEFINED where the standard says so. */
int type_size(struct gw_type *t, int64_t *size_out);
int type_get_extent(struct gw_type *t, int64_t *lb_out, int64_t *extent_out);
int type_get_true_extent(struct gw_type *t, int64_t *lb_out, int64_t *extent_out);
int type_get_envelope(struct gw_type *t, int64_t *n_ints_out, int64_t *n_aints_out, int64_t *n_counts_out, int64_t *n_types_out,
                      int *combiner_out); /* counts > 0 only for types made by _c calls with wide args */
int type_get_contents(struct gw_type *t, int64_t max_ints, int64_t max_aints, int64_t max_counts, int64_t max_types, int *ints,
                      int64_t *aints, int64_t *counts, struct gw_type **types_out); /* types held */
int type_match_size(int typeclass, int size, struct gw_type **type_out);
int type_get_value_index(struct gw_type *value, struct gw_type *index, struct gw_type **pair_out); /* NULL = DATATYPE_NULL */
int type_set_name(struct gw_type *t, const char *name);
int type_get_name(struct gw_type *t, char *name_out, int *len_out); /* NULL: the name of MPI_DATATYPE_NULL */
const char *type_name(struct gw_type *t);                           /* for messages */
bool type_bounds(const struct gw_type *t, int64_t count, int64_t *lo_out, int64_t *hi_out); /* bytes touched around buf: [lo,hi) */
/* Do the data of `count` items, and the memory that they span, come to 2^63 bytes or more? */
bool type_is_beyond(const struct gw_type *t, int64_t count);

/* The sequence of basic elements of (count, t), cut off behind `limit`; equal sequences have equal hashes, others all but surely not.
 * Elements are those of enum gw_elem: MPI_INT and MPI_INT32_T are one kind where int has 32 bits, MPI_INT and MPI_FLOAT are two. */
struct type_signature {
    uint64_t hash;
    int64_t n;
};
struct type_signature type_signature(struct gw_type *t, int64_t count, int64_t limit);
bool type_has_packed(const struct gw_type *t); /* MPI_PACKED stands in it, which may be anything */

/* From a byte count in a status to items: *count_out = GW_UNDEFINED if not whole. */
int type_get_count(const struct gw_status *s, struct gw_type *t, int64_t *count_out);
int type_get_elements(const struct gw_status *s, struct gw_type *t, int64_t *count_out);
int type_status_set_elements(struct gw_status *s, struct gw_type *t, int64_t count);

/* ---- cursors: a position in the packed byte stream of (buf, count, type) -------------------------------
 * A cursor is plain memory in its owner (no free).  It may be moved to any byte position; moving forward in
 * order is cheap.  pack/unpack may be called in pieces of any size, also cutting basic elements. */
struct type_cursor {
    char *buf;
    struct gw_type *type;
    int64_t count;
    int64_t total; /* bytes in the stream: count * size */
    int64_t pos;   /* next byte */
};
void type_cursor_init(struct type_cursor *c, const void *buf, int64_t count, struct gw_type *t);
void type_cursor_seek(struct type_cursor *c, int64_t pos);
int64_t type_cursor_pack(struct type_cursor *c, void *out, int64_t max);        /* buffer -> out; bytes moved */
int64_t type_cursor_unpack(struct type_cursor *c, const void *in, int64_t len); /* in -> buffer; bytes moved */
/* The next runs of memory, at most `max_iov` entries and `max_bytes` bytes; advances; number of entries. */
int type_cursor_iov(struct type_cursor *c, struct iovec *iov, int max_iov, int64_t max_bytes, int64_t *bytes_out);

/* Whole-buffer forms (out/in hold count*size bytes). */
void type_pack(const void *buf, int64_t count, struct gw_type *t, void *out);
void type_unpack(void *buf, int64_t count, struct gw_type *t, const void *in);
/* Local copy between any two layouts: min of the two sizes is moved; the overlap must be empty. */
int64_t type_copy(const void *src, int64_t scount, struct gw_type *st, void *dst, int64_t dcount, struct gw_type *dt);

/* MPI_Pack and friends.  `position` in bytes, updated.  external32: big-endian, sizes of section 14.5.2. */
int type_mpi_pack(const void *in, int64_t count, struct gw_type *t, void *out, int64_t outsize, int64_t *position);
int type_mpi_unpack(const void *in, int64_t insize, int64_t *position, void *out, int64_t count, struct gw_type *t);
int type_mpi_pack_size(int64_t count, struct gw_type *t, int64_t *size_out);
int type_mpi_pack_external(const char *rep, const void *in, int64_t count, struct gw_type *t, void *out, int64_t outsize,
                           int64_t *position);
int type_mpi_unpack_external(const char *rep, const void *in, int64_t insize, int64_t *position, void *out, int64_t count,
                             struct gw_type *t);
int type_mpi_pack_external_size(const char *rep, int64_t count, struct gw_type *t, int64_t *size_out);

extern struct gw_type *gw_type_byte, *gw_type_int, *gw_type_int64; /* for internal use */

#endif
