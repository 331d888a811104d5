/* type.h -- datatypes (MPI 4.1 chapter 5): constructors, inquiries, pack and unpack.
 *
 * A datatype is a tree as the user built it (kept for envelope and contents) and a normalised loop program: the shortest nest of
 * (count, stride) loops over contiguous blocks that moves the same bytes in the same order.
 *
 * Units: sizes, extents, displacements and positions are bytes, 64-bit, unless a comment says "elements" or "extents".
 *
 * Ownership: types are shared by reference count.  The user's handle is one reference; communication, windows, files and derived types
 * hold their own (type_hold()), so a type lives as long as any of them uses it, whatever the user frees.
 *
 * Threads: after its constructor only the commit flag, the name and the attributes of a type change.  MPI leaves it to the user that no
 * two threads change the same type at once.  So no function wants a lock from its caller, and any number of threads may use a type.  A
 * cursor belongs to one thread at a time.
 *
 * Errors: functions that return int return GW_OK or a negative code, for which gw_fail() has noted the text.  Outputs are written on
 * success only.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TYPE_TYPE_H
#define GW_TYPE_TYPE_H

#include <sys/uio.h>

#include "mem/mem.h"
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
    GW_GROUP_CINT, /* also MPI_CHAR, which the standard reserves for characters: programs reduce it as the small integer of C */
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
    bool is_near;   /* committed, and size and bounds fit 31 bits: no int count of the type spans 2^63 bytes */
    bool is_dense;  /* the data are one run of bytes at offset true_lb, and size == extent: n items are one memcpy */
    bool is_plain;  /* is_near, size > 0, and is_dense at offset 0: the only types that inlined fast paths take */
    bool is_single; /* the data are one run of bytes, but the extent may differ from the size: one item is one memcpy */
    uint8_t elem;   /* enum gw_elem; NONE for derived types */
    uint8_t group;  /* enum gw_elem_group */
    /* the element kind of all elements (enum gw_elem), NONE if they differ: reductions and accumulate work on derived types of one
     * kind */
    uint8_t basic;
    bool committed;
    int64_t size; /* bytes of data; -1: an optional type that this platform lacks */
    int64_t lb, extent, true_lb, true_extent;
    int64_t n_elems;      /* basic elements of one item; a pair (MINLOC) counts as 2, as MPI_Get_elements wants it */
    int32_t more_handles; /* handles that type_get_contents() gave out and that are not freed, beside the maker's; under a lock
                                   of the room */
    _Atomic uint64_t signature; /* hash of one item (type_signature()); 0: not computed yet */
    struct type_prog *prog;     /* owned; shared with the types that point into it, which hold this one */
    struct type_tree *tree;     /* owned; NULL: a predefined type */
    struct gw_attrs attrs;
    char *name; /* owned; NULL: the default name */
};
/* Are the data of `count` items one run of bytes, at offset true_lb? */
static inline bool type_is_run(const struct gw_type *t, int64_t count) { return t->is_dense || (count == 1 && t->is_single); }

/* ---- start and end, by one thread ----------------------------------------------------------------------- */
/* Sizes in bytes of a Fortran compiler's default types. */
struct type_fortran {
    int logical, integer, real, double_precision;
};
/* Gives MPI_INTEGER, MPI_REAL and so on these sizes.  May be called before type_init(), and holds for every later one.  Derived types that
 * exist keep the sizes that they were made with.  GW_EARG: a size that no predefined type has; nothing is changed. */
int type_fortran_sizes(const struct type_fortran *f);
/* The compiler lacks the type of this name (such as "MPI_INTEGER16"): its size is MPI_UNDEFINED from now on.  Other names are ignored. */
void type_fortran_lacks(const char *name);
int type_init(void); /* registers the predefined types; GW_OK */
void type_finalize(void);

/* A predefined type of that element kind (enum gw_elem), which needs no reference; NULL: there is none. */
struct gw_type *type_of_basic(int elem);

/* ---- constructors ------------------------------------------------------------------------------------------
 * The new type has one reference, the caller's, and is not committed.  It holds its old types; arrays are copied.  Errors of all:
 * GW_ENOMEM; GW_ECOUNT for a negative count or block length, or a type that would span more than 2^62 bytes; GW_EARG for other arguments
 * that the standard does not allow; GW_ETYPE for an old type that this machine lacks.  Displacements and strides are in extents of the old
 * type where the parameter's name does not end in _bytes. */
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
/* The type with decimal precision p and exponent range r (GW_UNDEFINED: any); the same arguments give the same type, which is committed
 * and belongs to the room.  GW_EARG: there is no such kind. */
int type_f90_real(int p, int r, struct gw_type **type_out);
int type_f90_complex(int p, int r, struct gw_type **type_out);
int type_f90_integer(int r, struct gw_type **type_out);
/* `t` was made by a large-count (_c) constructor: type_get_contents() reports its integers as counts.  The facade calls it right after the
 * constructor, before another thread knows the type. */
void type_mark_large(struct gw_type *t);
int type_commit(struct gw_type **type);     /* GW_OK; a second commit changes nothing */
void type_set_committed(struct gw_type *t); /* for constructors of the room, once sizes and bounds are known */
/* Takes one handle of the user away and sets *type to NULL; with the last handle the attributes are deleted, and their delete functions'
 * errors are passed on (the type stays then).  GW_ETYPE: the type is predefined. */
int type_free(struct gw_type **type);
/* One handle more for the user: the same id, or a new one where the user has freed the type.  The handle holds a reference, which
 * type_free() gives back.  GW_ENOMEM. */
int type_handle_add(struct gw_type *t);
/* A reference of an object that uses the type, and giving it back. */
static inline struct gw_type *type_hold(struct gw_type *t)
{
    gw_obj_ref(&t->obj);
    return t;
}
void type_destroy(struct gw_type *t); /* when the last reference has gone: only for type_release() */
static inline void type_release(struct gw_type *t)
{
    if (gw_obj_unref(&t->obj)) type_destroy(t);
}

/* ---- inquiries -----------------------------------------------------------------------------------------------
 * They return GW_OK unless a code is named.  Outputs are GW_UNDEFINED where the standard says so. */
int type_size(struct gw_type *t, int64_t *size_out);
int type_get_extent(struct gw_type *t, int64_t *lb_out, int64_t *extent_out);
int type_get_true_extent(struct gw_type *t, int64_t *lb_out, int64_t *extent_out);
int type_get_envelope(struct gw_type *t, int64_t *n_ints_out, int64_t *n_aints_out, int64_t *n_counts_out, int64_t *n_types_out,
                      int *combiner_out); /* counts > 0 only for types made by _c calls with 64-bit arguments */
/* Fills arrays that have room for max_* entries.  The types are handles of the user (type_handle_add()).  GW_ETYPE: a named type;
 * GW_EARG: an array is shorter than type_get_envelope() says; GW_ENOMEM. */
int type_get_contents(struct gw_type *t, int64_t max_ints, int64_t max_aints, int64_t max_counts, int64_t max_types, int *ints,
                      int64_t *aints, int64_t *counts, struct gw_type **types_out);
/* The predefined type of that class (GW_TYPECLASS_*) and size in bytes.  GW_EARG: there is none. */
int type_match_size(int typeclass, int size, struct gw_type **type_out);
/* The predefined pair of these two types; *pair_out is NULL (MPI_DATATYPE_NULL) where there is none. */
int type_get_value_index(struct gw_type *value, struct gw_type *index, struct gw_type **pair_out);
int type_set_name(struct gw_type *t, const char *name); /* copies the name, cut at GW_MAX_OBJECT_NAME - 1 bytes; GW_ENOMEM */
/* name_out has GW_MAX_OBJECT_NAME bytes; *len_out counts without the end.  t is NULL for MPI_DATATYPE_NULL. */
int type_get_name(struct gw_type *t, char *name_out, int *len_out);
const char *type_name(struct gw_type *t); /* for error texts; valid until the name is set again, or the type is gone */
/* The memory of `count` items is [buf + *lo_out, buf + *hi_out).  False: it does not fit 64 bits. */
bool type_bounds(const struct gw_type *t, int64_t count, int64_t *lo_out, int64_t *hi_out);
/* True if the data of `count` items, or the memory that they span, come to 2^63 bytes or more. */
bool type_is_beyond(const struct gw_type *t, int64_t count);

/* The first `limit` basic elements of (count, t): a hash of the sequence, and its length.  Equal sequences have equal hashes, different
 * ones almost surely different hashes.  Elements are those of enum gw_elem: MPI_INT and MPI_INT32_T are one kind where int has 32 bits,
 * MPI_INT and MPI_FLOAT are two. */
struct type_signature {
    uint64_t hash;
    int64_t n; /* elements */
};
struct type_signature type_signature(struct gw_type *t, int64_t count, int64_t limit);
bool type_has_packed(const struct gw_type *t); /* contains MPI_PACKED, whose elements are unknown */

/* How many items, or basic elements, the bytes of a status are; GW_UNDEFINED if they are no whole number. */
int type_get_count(const struct gw_status *s, struct gw_type *t, int64_t *count_out);
int type_get_elements(const struct gw_status *s, struct gw_type *t, int64_t *count_out);
int type_status_set_elements(struct gw_status *s, struct gw_type *t, int64_t count); /* GW_ECOUNT: negative, or 2^63 bytes */

/* ---- user data: what a call was given as (address, count, datatype) ---------------------------------------
 * A plain struct, made once in a call and handed down by pointer; what lives longer embeds a copy.  It holds no reference: its
 * owner holds the type and keeps the buffer.  Two questions are asked of it: is it one run of bytes (gw_data_is_run()), and may
 * the CPU touch it (gw_data_is_cpu()).  Addresses of another process, which are never followed, are described by it, too. */
struct gw_data {
    int16_t kind;   /* of their memory (mem.h) */
    int16_t device; /* its number among the kind's; 0 in host memory */
    void *buf;      /* as given; NULL: MPI_BOTTOM */
    char *run;      /* their first byte, if they are one run and not at address 0; else NULL */
    int64_t count;
    struct gw_type *type;
    int64_t bytes; /* of data; holds when the type is gone, too */
};
/* Address of the first byte of contiguous data; buf may be NULL if there are no bytes. */
static inline char *gw_data_at(const void *buf, const struct gw_type *t)
{
    return (char *)((uintptr_t)buf + (uintptr_t)t->true_lb);
}
/* Wraps where it does not fit: who takes any count from the program checks it. */
static inline int64_t gw_data_bytes(int64_t count, const struct gw_type *t)
{
    return (int64_t)((uint64_t)count * (uint64_t)t->size);
}
/* In host memory, or not to be followed. */
static inline struct gw_data gw_data_host(const void *buf, int64_t count, struct gw_type *t)
{
    char *run = type_is_run(t, count) || count == 0 ? gw_data_at(buf, t) : NULL;
    return (struct gw_data){MEM_HOST, 0, (void *)(uintptr_t)buf, run, count, t, gw_data_bytes(count, t)};
}
/* The same where the type is plain: one run that begins at buf. */
static inline struct gw_data gw_data_plain(const void *buf, int64_t count, struct gw_type *t)
{
    return (struct gw_data){MEM_HOST, 0, (void *)(uintptr_t)buf, (char *)(uintptr_t)buf, count, t, gw_data_bytes(count, t)};
}
/* Fills in what kind of memory they lie in, by where the data of the first item begin.  MPI_IN_PLACE, and a type that has no
 * bytes, are host memory. */
void gw_data_look(struct gw_data *d) GW_COLD;
/* As a program gave them. */
static inline struct gw_data gw_data_of(const void *buf, int64_t count, struct gw_type *t)
{
    struct gw_data d = gw_data_host(buf, count, t);
    if (unlikely(mem_has_drivers)) gw_data_look(&d);
    return d;
}
static inline bool gw_data_is_run(const struct gw_data *d) { return d->run != NULL; }
static inline bool gw_data_is_cpu(const struct gw_data *d) { return likely(d->kind == MEM_HOST) || mem_kind_is_cpu(d->kind); }

/* ---- cursors: a position in the packed byte stream of user data ----------------------------------------
 * A cursor is a plain struct that its owner embeds, and nothing is freed.  It may be moved to any byte position; each call costs
 * as many steps as the loop program is deep.  Bytes may be moved in pieces of any size, which may cut basic elements. */
struct type_cursor {
    struct gw_data data;
    int64_t pos; /* the next byte of the stream, 0 .. data.bytes */
};
static inline void type_cursor_init(struct type_cursor *c, struct gw_data d)
{
    c->data = d;
    c->pos = 0;
}
void type_cursor_seek(struct type_cursor *c, int64_t pos);
/* Move at most that many bytes from the buffer to `out`, or from `in` to the buffer; return how many, 0 at the end. */
int64_t type_cursor_pack(struct type_cursor *c, void *out, int64_t max);
int64_t type_cursor_unpack(struct type_cursor *c, const void *in, int64_t len);
/* Describes the next runs of memory, at most `max_iov` entries and `max_bytes` bytes, and moves the cursor behind them.  Returns the
 * number of entries. */
int type_cursor_iov(struct type_cursor *c, struct iovec *iov, int max_iov, int64_t max_bytes, int64_t *bytes_out);

/* The same for whole buffers: `out` and `in` have count * size bytes. */
void type_pack(const void *buf, int64_t count, struct gw_type *t, void *out);
void type_unpack(void *buf, int64_t count, struct gw_type *t, const void *in);
/* Copies between two layouts, which must not overlap in memory, as many bytes as the shorter one has.  Returns that number. */
int64_t type_copy(const void *src, int64_t scount, struct gw_type *st, void *dst, int64_t dcount, struct gw_type *dt);

/* ---- MPI_Pack and related calls ------------------------------------------------------------------------
 * `position`: where in the packed buffer to begin, in bytes; on success it is moved behind what was done.  GW_ETRUNCATE: the packed buffer
 * is too short; GW_EARG: `position` lies outside of it; GW_ECOUNT: 2^63 bytes or more; GW_ETYPE: this machine lacks the type.
 * external32 is big-endian with the sizes of section 14.5.2; GW_EARG: `rep` is another representation; GW_ECONVERSION: a value does not
 * fit. */
int type_mpi_pack(const void *in, int64_t count, struct gw_type *t, void *out, int64_t outsize, int64_t *position);
int type_mpi_unpack(const void *in, int64_t insize, int64_t *position, void *out, int64_t count, struct gw_type *t);
int type_mpi_pack_size(int64_t count, struct gw_type *t, int64_t *size_out);
int type_mpi_pack_external(const char *rep, const void *in, int64_t count, struct gw_type *t, void *out, int64_t outsize,
                           int64_t *position);
int type_mpi_unpack_external(const char *rep, const void *in, int64_t insize, int64_t *position, void *out, int64_t count,
                             struct gw_type *t);
int type_mpi_pack_external_size(const char *rep, int64_t count, struct gw_type *t, int64_t *size_out);

/* Predefined types that rooms use for messages of their own. */
extern struct gw_type *gw_type_byte, *gw_type_int, *gw_type_int64;

#endif
