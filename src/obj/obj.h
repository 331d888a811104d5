/* obj.h -- identity of all objects that a user can hold: 32-bit ids, slots, reference counts; info objects, error
 * handlers, error codes, attributes.
 *
 * Ids.  Every object starts with struct gw_obj.  Each ABI's handle is made from the object's id, and read back, in constant time.
 * Ids below 4096 are predefined (the values of the standard ABI); the others are
 *     bit 31 zero | kind 4 bits (1..15) | generation 5 bits | slot 22 bits
 * so an id is a positive int above 2^22.  The id of a freed object becomes valid again when the generation of its slot has wrapped
 * (32 uses of the slot).  Freed slots wait in a queue, so an id comes back after thousands of frees of its kind, or hundreds of
 * thousands with GODWIT_CHECK.  A pooled request keeps its slot: its id comes back after 32 uses of that request.
 *
 * Locks.  No function here wants a lock from its caller; all of them may be called by any thread, also before MPI_Init and after
 * MPI_Finalize, unless its comment says otherwise.  The room's own locks are always real, whatever the thread level.  No function of
 * a user runs while one is held.
 *
 * Errors.  Functions that return int return GW_OK or a negative GW_E code, for which gw_fail() has noted the text.  Outputs are
 * written on success only.  GW_ENOMEM is possible wherever something is made.
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
    uint32_t id;          /* 0 while the object is not registered */
    uint8_t kind;         /* enum gw_kind */
    bool predefined;      /* never freed; its references are not counted */
    _Atomic int32_t refs; /* the user's handle counts as one */
};

#define GW_ID_SLOT_BITS   22
#define GW_ID_GEN_BITS    5
#define GW_ID_PREDEF_END  4096u
#define GW_OBJ_CHUNK_BITS 10 /* slots are stored in chunks of 1024, never moved */

/* The id, read by a thread that has no reference: one with a pending operation on the object, or that compares ids. */
static inline uint32_t gw_obj_id_now(const struct gw_obj *o) { return __atomic_load_n(&o->id, __ATOMIC_RELAXED); }
static inline void gw_obj_id_set(struct gw_obj *o, uint32_t id) { __atomic_store_n(&o->id, id, __ATOMIC_RELAXED); }

static inline uint64_t gw_id_kind(uint64_t id) { return id >> (GW_ID_SLOT_BITS + GW_ID_GEN_BITS); } /* not of predefined objects */

struct gw_slot_table {
    _Atomic(struct gw_obj **) chunk[1u << (GW_ID_SLOT_BITS - GW_OBJ_CHUNK_BITS)];
};
GW_EXTERN struct gw_slot_table gw_slots[GW_KIND_COUNT];
GW_EXTERN struct gw_obj *gw_predef[GW_ID_PREDEF_END];

/* The predefined ids of a kind in the standard ABI: [first, first + n); n is 0 for kinds that have none.  Any other id below
 * GW_ID_PREDEF_END belongs to no object. */
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

/* The object with this id if it is registered and of this kind, else NULL.  Any 64-bit value may be passed.  Takes no lock and no
 * reference: the caller has one by the rules of MPI, by which no thread frees a handle that another thread uses. */
GW_INLINE struct gw_obj *gw_obj_lookup(uint64_t id, enum gw_kind kind)
{
    struct gw_obj *o;
    if (likely(gw_id_is_predefined(id, kind))) return gw_predef[id % GW_ID_PREDEF_END];
    uint32_t slot = (uint32_t)id & ((1u << GW_ID_SLOT_BITS) - 1);
    struct gw_obj **c = atomic_load_explicit(&gw_slots[kind].chunk[slot >> GW_OBJ_CHUNK_BITS], memory_order_acquire);
    if (unlikely(!c)) return NULL;
    o = c[slot & ((1u << GW_OBJ_CHUNK_BITS) - 1)];
    return likely(o && o->id == id) ? o : NULL; /* the comparison covers kind and generation: both are part of the id */
}

/* Gives `o` an id of this kind and sets its reference count to 1.  The memory stays the caller's.  GW_ENOMEM: no memory, or all 2^22
 * slots of the kind are in use. */
int gw_obj_register(struct gw_obj *o, enum gw_kind kind);
/* Gives a new id to an object that gw_obj_unregister() has taken it from; the reference count stays as it is.  GW_ENOMEM as above. */
int gw_obj_revive(struct gw_obj *o, enum gw_kind kind);
/* Makes `o` the predefined object with this id, which must be one of gw_predef_range(kind).  Called at init by one thread. */
void gw_obj_predefine(struct gw_obj *o, enum gw_kind kind, uint32_t id);
/* The first registered object of this kind for which is(object, arg) is true, with one reference more, which the caller gives back;
 * NULL if there is none.  Visits every slot.  `is` runs with the kind's table locked, so it must not register or unregister objects
 * of that kind.  An object whose last reference is gone is never returned. */
struct gw_obj *gw_obj_find(enum gw_kind kind, bool (*is)(struct gw_obj *o, const void *arg), const void *arg);
/* Takes the id away: the handle becomes invalid.  Memory and references are not touched.  Does nothing where the object has no id. */
void gw_obj_unregister(struct gw_obj *o);
/* Frees the keyvals that users have not freed, the tables of slots, and all predefined ids but those of error handlers.  Called by
 * one thread, after all rooms above have ended; the room can be used again afterwards.  Info objects, error handlers, error classes
 * and codes that users have not freed stay valid: MPI allows them before init and after finalize. */
void gw_obj_finalize(void);
/* For pooled objects (requests): keeps the slot and changes the generation, so that earlier handles become invalid.  The caller is
 * the only one that uses the object at that time. */
static inline void gw_obj_renew(struct gw_obj *o)
{
    const uint32_t gen = ((1u << GW_ID_GEN_BITS) - 1) << GW_ID_SLOT_BITS;
    o->id = (o->id & ~gen) | ((o->id + (1u << GW_ID_SLOT_BITS)) & gen);
}
/* One reference more, or one less; gw_obj_unref() returns true if that was the last one: the caller then destroys the object. */
static inline void gw_obj_ref(struct gw_obj *o)
{
    if (!o->predefined) atomic_fetch_add_explicit(&o->refs, 1, memory_order_relaxed);
}
static inline bool gw_obj_unref(struct gw_obj *o)
{
    return !o->predefined && atomic_fetch_sub_explicit(&o->refs, 1, memory_order_acq_rel) == 1;
}

/* ---- status ------------------------------------------------------------------------------------------ */
/* Result of an operation, in the layout of the standard ABI's MPI_Status (32 bytes, alignment 4), so that its entry points copy
 * nothing.  `error` is written only by calls that return GW_EINSTATUS, and by gw_status_empty(). */
struct gw_status {
    int32_t source, tag, error;
    int32_t cancelled;           /* 0 or 1 */
    uint32_t bytes_lo, bytes_hi; /* received bytes, a 64-bit number in two halves because of the alignment */
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
/* The status of null and inactive requests (section 3.7.3).  The only one whose error field calls for one request set. */
static inline void gw_status_empty(struct gw_status *s)
{
    gw_status_fill(s, GW_ANY_SOURCE, GW_ANY_TAG, 0, false);
    s->error = 0; /* MPI_SUCCESS */
}

/* ---- arguments ---------------------------------------------------------------------------------------- */
/* A user's array of counts or displacements, which stays the user's: of int in the plain calls, of MPI_Count in the _c calls. */
struct gw_counts {
    const void *v;
    bool wide; /* elements have 64 bits */
};
static inline int64_t gw_counts_at(struct gw_counts c, int64_t i)
{
    return c.wide ? ((const int64_t *)c.v)[i] : ((const int32_t *)c.v)[i];
}

/* A function of the user: one of the three kinds of pointer that look up.  It takes handles, so it is called through the binding of
 * the ABI that it was passed through. */
struct gw_callback {
    void (*fn)(void);
    uint8_t abi; /* enum door_abi; 0: the standard ABI */
    bool wide;   /* its counts are MPI_Count, not int */
};

/* ---- info objects (MPI 4.1 chapter 10): ordered key/value lists ------------------------------------
 * Each object has a lock of its own, so threads may read and change the same one.  Keys and values are copied in and out.  Each
 * function that takes a key returns GW_EINFO_KEY for one that is NULL, empty, or longer than GW_MAX_INFO_KEY - 1 bytes. */
struct gw_info; /* starts with struct gw_obj */

/* Make and end MPI_INFO_ENV.  gw_info_init() may be called again while the object exists. */
void gw_info_init(void);
void gw_info_finalize(void);
/* A new object with one reference, the caller's: empty, or with the same keys. */
int gw_info_create(struct gw_info **info_out);
int gw_info_dup(const struct gw_info *info, struct gw_info **info_out);
/* Gives the reference back and sets *info to NULL.  GW_EINFO: MPI_INFO_ENV cannot be freed. */
int gw_info_free(struct gw_info **info);
/* Adds a key or replaces its value.  GW_EINFO: MPI_INFO_ENV cannot be changed; GW_EINFO_VALUE: the value is NULL, or longer than
 * GW_MAX_INFO_VAL - 1 bytes. */
int gw_info_set(struct gw_info *info, const char *key, const char *value);
/* GW_EINFO as above; GW_EINFO_NOKEY: there is no such key. */
int gw_info_delete(struct gw_info *info, const char *key);
/* *buflen: in, the bytes that value_out has room for, 0 to ask only for the length; out, the bytes of the value with its end, if the
 * key is there.  A value that does not fit is cut.  A key that is not there is no error: *flag_out is 0.  GW_EARG: *buflen < 0. */
int gw_info_get_string(const struct gw_info *info, const char *key, int *buflen, char *value_out, int *flag_out);
/* The same for MPI_Info_get: value_out has room for valuelen + 1 bytes. */
int gw_info_get(const struct gw_info *info, const char *key, int valuelen, char *value_out, int *flag_out);
int gw_info_get_valuelen(const struct gw_info *info, const char *key, int *valuelen_out, int *flag_out); /* bytes without the end */
int gw_info_get_nkeys(const struct gw_info *info, int *nkeys_out);
/* Key number n, counted from 0 in the order of first setting; key_out has GW_MAX_INFO_KEY bytes.  GW_EARG: there is no such number. */
int gw_info_get_nthkey(const struct gw_info *info, int n, char *key_out);
/* Adds a key to MPI_INFO_ENV (maxprocs, thread_level and so on), or replaces its value; too long values are cut. */
void gw_info_env_set(const char *key, const char *value);
/* A new object with the contents of MPI_INFO_ENV, with the command and arguments of argv in place of the process's where argc > 0. */
int gw_info_create_env(int argc, char **argv, struct gw_info **info_out);
/* The value, or NULL where the key is not there or info is NULL.  The text belongs to the object and is valid until this key is set
 * again or deleted, so the caller keeps the user from doing that: it is for the duration of one MPI call. */
const char *gw_info_find(const struct gw_info *info, const char *key);
/* The same, copied to `text`, without white space around it, which does not count in booleans, integers and lists (MPI 4.1, chapter 10).  NULL
 * also where it does not fit. */
enum { GW_INFO_WORD = 64 };
const char *gw_info_find_word(const struct gw_info *info, const char *key, char text[GW_INFO_WORD]);
#define GW_MEMORY_KINDS "mpi,system" /* value of mpi_memory_alloc_kinds (section 11.4.3) wherever hints are returned */
/* The alignment in bytes that the key mpi_minimum_memory_alignment asks for (MPI 4.1 section 9.2): a power of two, from GW_CACHELINE
 * to 1 GiB; GW_CACHELINE without that key. */
int gw_info_alignment(const struct gw_info *info);

/* ---- error handlers --------------------------------------------------------------------------------- */
struct gw_errhandler {
    struct gw_obj obj;
    uint8_t applies_to;      /* enum gw_kind: COMM, WIN, FILE, SESSION; NONE for the predefined ones (any) */
    struct gw_callback user; /* fn NULL for the predefined ones */
};
/* That of MPI::ERRORS_THROW_EXCEPTIONS: errors return, and the C++ library of the program throws.  No header of C has it. */
enum { GW_H_ERRORS_THROW = GW_H_ERRORS_RETURN + 4 }; /* the last number of error handlers */
extern struct gw_errhandler gw_errors_are_fatal, gw_errors_abort, gw_errors_return, gw_errors_throw;
/* The predefined error handler that the setting initial_errhandler names; needs no reference.  Reads the settings if that was not done. */
struct gw_errhandler *gw_errhandler_initial(void);
/* A new one with one reference, the caller's.  GW_EARG: fn is NULL. */
int gw_errhandler_create(enum gw_kind applies_to, void (*fn)(void), struct gw_errhandler **eh_out);
/* Gives the user's reference back and sets *eh to NULL.  The handler and its id stay valid while an object uses it: a user may ask for
 * that object's error handler again. */
int gw_errhandler_free(struct gw_errhandler **eh);
/* A reference of an object that uses the handler, and giving it back. */
static inline struct gw_errhandler *gw_errhandler_hold(struct gw_errhandler *eh)
{
    gw_obj_ref(&eh->obj);
    return eh;
}
void gw_errhandler_release(struct gw_errhandler *eh);

/* ---- error classes, codes and texts that users add (MPI 4.1 section 9.5) -------------------------------------
 * Their numbers lie above GW_ERR_LASTCODE, and a number is never given out twice.  One lock of the room guards them all. */
int gw_errclass_add(int *class_out);
/* Remove what a user has added.  GW_EARG: it was not added, it still has a text, or (of a class) it still has codes. */
int gw_errclass_remove(int class);
int gw_errcode_remove(int code);
/* A new code of `class`, which is predefined or added.  GW_EARG: there is no such class. */
int gw_errcode_add(int class, int *code_out);
/* Sets the text of an added class or code, cut at GW_MAX_ERROR_STRING - 1 bytes; "" removes it.  GW_EARG: text is NULL, or the number
 * was not added. */
int gw_errstring_add(int code, const char *text);
int gw_errstring_remove(int code);                                    /* GW_EARG: no text was added */
int gw_errcode_last(void);                                            /* the highest number that is in use, or was */
bool gw_errcode_find(int code, int *class_out);                       /* false: the code was not added */
bool gw_errstring_find(int code, char text_out[GW_MAX_ERROR_STRING]); /* false: no text was added */

/* ---- attributes (MPI 4.1 section 7.7): a short list per object ----------------------------------------
 * One lock of the room guards all lists.  It is not held while copy and delete functions of the user run, so these may set and
 * delete attributes themselves, also of the same object. */
struct gw_keyval {
    struct gw_obj obj;  /* its id is the int that the user holds */
    uint8_t applies_to; /* GW_KIND_COMM, GW_KIND_TYPE, GW_KIND_WIN */
    bool freed;         /* the user has freed it; it stays while attributes use it */
    struct gw_callback copy, del;
    void *extra_state;
};
/* Values of copy and del that are no functions (standard ABI): NULL_COPY_FN and NULL_DELETE_FN, DUP_FN. */
#define GW_ATTR_FN_NULL ((void (*)(void))0)
#define GW_ATTR_FN_DUP  ((void (*)(void))1)
/* Call a copy or delete function of the user.  Such functions take handles, so the facade, which makes handles, sets these pointers at
 * its init; no lock is held.  They return GW_OK or, after gw_fail(), a GW_E code. */
struct obj_upcalls {
    /* in: the value; out: where the function stores the new one (a void **); *flag_out: whether the copy is to have the attribute */
    int (*attr_copy)(const struct gw_keyval *kv, struct gw_obj *owner, void *in, void *out, int *flag_out);
    int (*attr_delete)(const struct gw_keyval *kv, struct gw_obj *owner, void *value);
};
extern struct obj_upcalls obj_upcalls;
/* Sets what gw_attr_get() gives for a predefined keyval (GW_TAG_UB ... GW_UNIVERSE_SIZE) on every communicator: a pointer to `value`. */
void gw_attr_predefined_set(int keyval, int value);
/* The attributes of one object: embedded in communicators, datatypes and windows; zero-initialised is empty. */
struct gw_attrs {
    struct gw_attr *head;
};
/* A new keyval for objects of that kind; copy and del may be GW_ATTR_FN_NULL, copy may be GW_ATTR_FN_DUP.  `extra` stays the user's and
 * is passed to both. */
int gw_keyval_create(enum gw_kind applies_to, void (*copy)(void), void (*del)(void), void *extra, int *keyval_out);
/* Sets *keyval to GW_KEYVAL_INVALID; attributes that have the key stay.  GW_EKEYVAL: predefined, freed before, or of another kind. */
int gw_keyval_free(int *keyval, enum gw_kind applies_to);
/* In the following `a` are the attributes of `owner`.  GW_EKEYVAL: the key is invalid, or was made for another kind of object; set and
 * delete: it is predefined; set: it was freed; delete: the object has no such attribute.  What a function of the user returned as an
 * error is passed on, and the attribute stays. */
int gw_attr_set(struct gw_attrs *a, struct gw_obj *owner, int keyval, void *value); /* deletes the former value first */
int gw_attr_get(struct gw_attrs *a, struct gw_obj *owner, int keyval, void **value_out,
                int *flag_out); /* absent: *flag_out 0, GW_OK */
int gw_attr_delete(struct gw_attrs *a, struct gw_obj *owner, int keyval);
/* When an object is duplicated: calls the copy functions, oldest attribute first.  After an error `to` holds those that were copied
 * before it; the caller destroys the new object with gw_attr_delete_all(). */
int gw_attr_copy_all(struct gw_attrs *from, struct gw_obj *from_owner, struct gw_attrs *to);
/* When an object is freed: calls the delete functions, newest attribute first, and stops at the first error. */
int gw_attr_delete_all(struct gw_attrs *a, struct gw_obj *owner);

/* The MPI error class of a GW_E code, 0 for GW_OK and positive states.  For GW_ECALLBACK it is the code that a function of the user
 * returned last on this thread, if any. */
int gw_error_class(int code);

#endif
