/* obj.h -- identity of everything a user can hold: 32-bit ids, slots, reference counts; info objects, error
 * handlers.
 *
 * Every object starts with struct gw_obj.  Its id is the one number from which each ABI's handle is made
 * and read back in constant time:  ids below 4096 are predefined (the standard ABI's own values); others are
 *     bit 31 zero | kind 4 bits (1..15) | generation 5 bits | slot 22 bits
 * so an id is a positive int above 2^22.  A freed id is not valid again until the generation of its slot
 * has wrapped (32 uses; freed slots queue up, so that is at least some thousand frees; of requests, which keep their
 * slots, 32 of one that is used again and again; with GODWIT_CHECK tens of thousands).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_OBJ_OBJ_H
#define GW_OBJ_OBJ_H

#include "base/base.h"
#include "obj/consts_gen.h" /* GW_<X> = value of MPI_<X> in the standard ABI (generated) */

enum gw_kind {
    GW_KIND_NONE,
    GW_KIND_COMM,
    GW_KIND_GROUP,
    GW_KIND_TYPE,
    GW_KIND_OP,
    GW_KIND_REQ,
    GW_KIND_ERRHANDLER,
    GW_KIND_INFO,
    GW_KIND_KEYVAL,
    GW_KIND_MSG,
    GW_KIND_WIN,
    GW_KIND_FILE,
    GW_KIND_SESSION,
    GW_KIND_COUNT
};

struct gw_obj {
    uint32_t id;     /* 0 while not registered */
    uint8_t kind;    /* enum gw_kind */
    bool predefined; /* never freed */
    _Atomic int32_t refs;
};

#define GW_ID_SLOT_BITS   22
#define GW_ID_GEN_BITS    5
#define GW_ID_PREDEF_END  4096u
#define GW_OBJ_CHUNK_BITS 10 /* slots are stored in chunks of 1024, never moved */

struct gw_slot_table {
    _Atomic(struct gw_obj **) chunk[1u << (GW_ID_SLOT_BITS - GW_OBJ_CHUNK_BITS)];
};
GW_EXTERN struct gw_slot_table gw_slots[GW_KIND_COUNT];
GW_EXTERN struct gw_obj *gw_predef[GW_ID_PREDEF_END];

/* Where the predefined ids of a kind lie, by the standard ABI: [first, first + n).  An id elsewhere below GW_ID_PREDEF_END is none: the
 * object in the slot that it names has another one. */
struct gw_id_range {
    uint32_t first, n;
};
static inline struct gw_id_range gw_predef_range(enum gw_kind kind)
{
    switch (kind) {
    case GW_KIND_OP: return (struct gw_id_range){GW_H_OP_NULL, 32};
    case GW_KIND_COMM: return (struct gw_id_range){GW_H_COMM_NULL, 8};
    case GW_KIND_GROUP: return (struct gw_id_range){GW_H_GROUP_NULL, 8};
    case GW_KIND_MSG: return (struct gw_id_range){GW_H_MESSAGE_NULL, 8};
    case GW_KIND_INFO: return (struct gw_id_range){GW_H_INFO_NULL, 8};
    case GW_KIND_ERRHANDLER: return (struct gw_id_range){GW_H_ERRHANDLER_NULL, 8};
    case GW_KIND_TYPE: return (struct gw_id_range){GW_H_DATATYPE_NULL, 512};
    default: return (struct gw_id_range){0, 0};
    }
}
static inline bool gw_id_is_predefined(uint64_t id, enum gw_kind kind)
{
    return id - gw_predef_range(kind).first < gw_predef_range(kind).n;
}

/* The object with this id if it is alive and of this kind, else NULL.  Any 64-bit garbage may be passed.
 * Lock-free; the caller owns a reference by the rules of MPI (a handle in use is not freed concurrently). */
GW_INLINE struct gw_obj *gw_obj_lookup(uint64_t id, enum gw_kind kind)
{
    struct gw_obj *o;
    if (likely(gw_id_is_predefined(id, kind))) return gw_predef[id % GW_ID_PREDEF_END];
    uint32_t slot = (uint32_t)id & ((1u << GW_ID_SLOT_BITS) - 1);
    struct gw_obj **c = atomic_load_explicit(&gw_slots[kind].chunk[slot >> GW_OBJ_CHUNK_BITS], memory_order_acquire);
    if (unlikely(!c)) return NULL;
    o = c[slot & ((1u << GW_OBJ_CHUNK_BITS) - 1)];
    return likely(o && o->id == id) ? o : NULL; /* its bits above those of slot and generation are the kind's number */
}

int gw_obj_register(struct gw_obj *o, enum gw_kind kind); /* gives an id; refs = 1; GW_ENOMEM */
int gw_obj_revive(struct gw_obj *o, enum gw_kind kind);   /* an id for an object that lives on without one; GW_ENOMEM */
void gw_obj_predefine(struct gw_obj *o, enum gw_kind kind, uint32_t id); /* id < 4096 */
/* The first object of this kind for which is(object, arg); one reference more, so that it lives on.  NULL: none.  Slow; `is` runs with
 * the table locked, and sees no object of which the last reference has gone. */
struct gw_obj *gw_obj_find(enum gw_kind kind, bool (*is)(struct gw_obj *o, const void *arg), const void *arg);
void gw_obj_unregister(struct gw_obj *o); /* the id dies; memory stays the owner's */
/* At the end: frees what users left of keyvals, the tables, every predefined id.  The room works again afterwards, and info
 * objects, error handlers, error classes and codes that users have not freed live on: MPI allows them before init and after
 * finalize. */
void gw_obj_finalize(void);
/* For pooled objects (requests): keeps the slot, changes the generation, so that old handles are invalid. */
static inline void gw_obj_renew(struct gw_obj *o)
{
    const uint32_t gen = ((1u << GW_ID_GEN_BITS) - 1) << GW_ID_SLOT_BITS;
    o->id = (o->id & ~gen) | ((o->id + (1u << GW_ID_SLOT_BITS)) & gen);
}
static inline void gw_obj_ref(struct gw_obj *o)
{
    if (!o->predefined) atomic_fetch_add_explicit(&o->refs, 1, memory_order_relaxed);
}
static inline bool gw_obj_unref(struct gw_obj *o) /* true: that was the last one, destroy it */
{
    return !o->predefined && atomic_fetch_sub_explicit(&o->refs, 1, memory_order_acq_rel) == 1;
}

/* Status of an operation: layout of the standard ABI's MPI_Status (32 bytes, align 4), so that this door
 * copies nothing.  `error` is written only by calls that return GW_EINSTATUS. */
struct gw_status {
    int32_t source, tag, error;
    int32_t cancelled;
    uint32_t bytes_lo, bytes_hi; /* received bytes */
    int32_t reserved[2];
};
_Static_assert(sizeof(struct gw_status) == 32, "MPI_Status of the standard ABI");
static inline int64_t gw_status_bytes(const struct gw_status *s) { return (int64_t)((uint64_t)s->bytes_hi << 32 | s->bytes_lo); }
static inline void gw_status_fill(struct gw_status *s, int source, int tag, int64_t bytes, bool cancelled)
{
    s->source = source;
    s->tag = tag;
    s->cancelled = cancelled;
    s->bytes_lo = (uint32_t)bytes;
    s->bytes_hi = (uint32_t)((uint64_t)bytes >> 32);
}
/* What null and inactive requests give (section 3.7.3): the one status whose error field a single form sets. */
static inline void gw_status_empty(struct gw_status *s)
{
    gw_status_fill(s, GW_ANY_SOURCE, GW_ANY_TAG, 0, false);
    s->error = 0; /* MPI_SUCCESS */
}

/* Arrays of counts or displacements: int in the plain calls, 64-bit in the _c calls. */
struct gw_counts {
    const void *v;
    bool wide;
};
static inline int64_t gw_counts_at(struct gw_counts c, int64_t i)
{
    return c.wide ? ((const int64_t *)c.v)[i] : ((const int32_t *)c.v)[i];
}

/* A user's function: one of the three kinds of pointer that look up.  `abi` says through which door it came
 * (0 = standard), so that the call site passes handles in that door's form. */
struct gw_callback {
    void (*fn)(void);
    uint8_t abi;
    bool wide;
};

/* ---- info objects (MPI 4.1 chapter 10): ordered key/value lists ------------------------------------ */
struct gw_info; /* starts with struct gw_obj */
void gw_info_init(void);
void gw_info_finalize(void);
int gw_info_create(struct gw_info **info_out);
int gw_info_dup(const struct gw_info *info, struct gw_info **info_out);
int gw_info_free(struct gw_info **info);
int gw_info_set(struct gw_info *info, const char *key, const char *value);
int gw_info_delete(struct gw_info *info, const char *key);
int gw_info_get_string(const struct gw_info *info, const char *key, int *buflen, char *value_out, int *flag_out);
int gw_info_get(const struct gw_info *info, const char *key, int valuelen, char *value_out, int *flag_out);
int gw_info_get_valuelen(const struct gw_info *info, const char *key, int *valuelen_out, int *flag_out);
int gw_info_get_nkeys(const struct gw_info *info, int *nkeys_out);
int gw_info_get_nthkey(const struct gw_info *info, int n, char *key_out);
void gw_info_env_set(const char *key, const char *value); /* more facts for MPI_INFO_ENV (maxprocs, thread_level, ...) */
int gw_info_create_env(int argc, char **argv, struct gw_info **info_out);
/* NULL if absent or info is NULL; the text is the object's, until this key is set again. */
const char *gw_info_find(const struct gw_info *info, const char *key);
#define GW_MEMORY_KINDS "mpi,system" /* value of mpi_memory_alloc_kinds (section 11.4.3) wherever hints are returned */
/* What the key mpi_minimum_memory_alignment asks for (MPI 4.1 section 9.2): a power of two, from GW_CACHELINE to 1 GiB. */
int gw_info_alignment(const struct gw_info *info);

/* ---- error handlers --------------------------------------------------------------------------------- */
struct gw_errhandler {
    struct gw_obj obj;
    uint8_t applies_to;      /* enum gw_kind: COMM, WIN, FILE, SESSION; NONE for the predefined ones (any) */
    struct gw_callback user; /* fn NULL for the predefined ones */
};
extern struct gw_errhandler gw_errors_are_fatal, gw_errors_abort, gw_errors_return;
struct gw_errhandler *gw_errhandler_initial(void); /* a predefined one, by the setting; also before MPI_Init */
int gw_errhandler_create(enum gw_kind applies_to, void (*fn)(void), struct gw_errhandler **eh_out);
int gw_errhandler_free(struct gw_errhandler **eh);
static inline struct gw_errhandler *gw_errhandler_hold(struct gw_errhandler *eh)
{
    gw_obj_ref(&eh->obj);
    return eh;
}
void gw_errhandler_release(struct gw_errhandler *eh);

/* ---- error classes, codes and texts that users add (MPI 4.1 section 9.5) -------------------------------------
 * Their numbers lie above MPI_ERR_LASTCODE; MPI_LASTUSEDCODE follows.  Usable by any thread at any time. */
int gw_errclass_add(int *class_out);
int gw_errclass_remove(int class);            /* GW_EARG: not added by a user, or codes of it are left */
int gw_errcode_add(int class, int *code_out); /* class: a predefined or an added one */
int gw_errcode_remove(int code);
int gw_errstring_add(int code, const char *text); /* class or code; "" takes the text away again */
int gw_errstring_remove(int code);
int gw_errcode_last(void);                                            /* the highest number that is or was in use */
bool gw_errcode_find(int code, int *class_out);                       /* an added class or code */
bool gw_errstring_find(int code, char text_out[GW_MAX_ERROR_STRING]); /* false: no text was added */

/* ---- attributes (MPI 4.1 section 7.7): a small list per object ---------------------------------------- */
struct gw_keyval {
    struct gw_obj obj;  /* its id is the int that the user holds */
    uint8_t applies_to; /* GW_KIND_COMM, GW_KIND_TYPE, GW_KIND_WIN */
    bool freed;         /* by the user; lives on while attributes use it */
    struct gw_callback copy, del;
    void *extra_state;
};
/* Values of copy and del that are no functions (standard ABI): NULL_COPY_FN and NULL_DELETE_FN, DUP_FN. */
#define GW_ATTR_FN_NULL ((void (*)(void))0)
#define GW_ATTR_FN_DUP  ((void (*)(void))1)
/* User functions take handles, so the door that makes handles calls them: it sets these at its init.  They answer
 * GW_OK or, after gw_fail(), a GW_E code.  `out` points to where the function stores the new value (a void *). */
struct obj_upcalls {
    int (*attr_copy)(const struct gw_keyval *kv, struct gw_obj *owner, void *in, void *out, int *flag_out);
    int (*attr_delete)(const struct gw_keyval *kv, struct gw_obj *owner, void *value);
};
extern struct obj_upcalls obj_upcalls;
/* What gw_attr_get answers for MPI_TAG_UB, MPI_APPNUM, ... (GW_TAG_UB, ...) on any communicator: a pointer to this int. */
void gw_attr_predefined_set(int keyval, int value);
struct gw_attrs {
    struct gw_attr *head;
}; /* zero-initialised = empty; embedded in comm, type, win */
int gw_keyval_create(enum gw_kind applies_to, void (*copy)(void), void (*del)(void), void *extra, int *keyval_out);
int gw_keyval_free(int *keyval, enum gw_kind applies_to);
int gw_attr_set(struct gw_attrs *a, struct gw_obj *owner, int keyval, void *value);
int gw_attr_get(struct gw_attrs *a, struct gw_obj *owner, int keyval, void **value_out, int *flag_out);
int gw_attr_delete(struct gw_attrs *a, struct gw_obj *owner, int keyval);
/* On dup.  If a copy function fails, `to` holds what was copied before; the caller destroys its owner. */
int gw_attr_copy_all(struct gw_attrs *from, struct gw_obj *from_owner, struct gw_attrs *to);
int gw_attr_delete_all(struct gw_attrs *a, struct gw_obj *owner); /* on free, reverse order of setting */

int gw_error_class(int code); /* the MPI error class; GW_OK -> 0; GW_ECALLBACK -> the thread's last code of that kind */

#endif
