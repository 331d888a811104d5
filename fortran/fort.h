/* fort.h -- the Fortran binding over the C functions of MPI.
 *
 * Nothing here knows the library below: only mpi.h is included.  With that of the standard ABI it becomes libmpifort_abi.so, which runs
 * over every library that has this ABI; with that of another ABI the Fortran half of its door (doc/doors.md).  What depends on the
 * ABI, the conventions of its modules with it, stands in the header FORT_ABI: std.h, or mpich.h and ompi.h over door.h.
 *
 * Entry points are compiled twice: mpi_x_ calls MPI_X, so that tools for C see Fortran programs; pmpi_x_ (FORT_PMPI) calls PMPI_X
 * (beside tools for Fortran see std.h).
 * What they share stands in text.c, section.c and callback.c, and calls PMPI_ names only.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef FORT_H
#define FORT_H

#include <assert.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FORT_HIDDEN __attribute__((visibility("hidden")))
#define FORT_COLD   __attribute__((noinline, cold))
#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#ifdef FORT_PMPI
#define FORT_UPPER "PMPI_"
#define F(name)    pmpi_##name
#define C(name)    PMPI_##name
#else
#define FORT_UPPER "MPI_"
#define F(name)    mpi_##name
#define C(name)    MPI_##name
#endif
#define FORT_ALIAS(name, of) extern __typeof__(F(of)) F(name) __attribute__((alias(FORT_TEXT(F(of)))))
#define FORT_TEXT(x)         FORT_TEXT_(x)
#define FORT_TEXT_(x)        #x

/* ---- what an ABI decides ----
 * fort_is_sentinel(p)         whether p is the address of one of MPI's special variables; those for texts may count
 * fort_buf(p), fort_weights(p)     what C has in their place;  fort_is_no_texts(p)  MPI_ARGV_NULL or MPI_ARGVS_NULL
 * fort_comm(int), fort_comm_int(MPI_Comm), ...   handles; fort_comm_quick(int) where fort_are_plain() is true of all of them, ored
 * fort_keyval_in(int)         C's number of a key
 * struct fort_desc            a descriptor of an array: base, elem_len, rank; fort_extent(d, i) and fort_step(d, i), in bytes
 * FORT_FORMS(low, UP)         further names of the routine F(low_); FORT_MODERN(name) of F(name), a routine of mpi_f08;
 *                             FORT_PREDEFINED(low, UP) those of a predefined function
 * fort_is_null_conversion(fn) MPI_CONVERSION_FN_NULL
 * fort_started()              MPI is up */
typedef void fort_fn(void); /* of users */
#define FORT_HANDLES(X)                                                                                                            \
    X(comm, Comm, Comm)                                                                                                            \
    X(type, Datatype, Type)                                                                                                        \
    X(op, Op, Op)                                                                                                                  \
    X(group, Group, Group)                                                                                                         \
    X(message, Message, Message)                                                                                                   \
    X(errhandler, Errhandler, Errhandler)                                                                                          \
    X(info, Info, Info)                                                                                                            \
    X(file, File, File)                                                                                                            \
    X(win, Win, Win)                                                                                                               \
    X(session, Session, Session)                                                                                                   \
    X(request, Request, Request)
#include FORT_ABI

static inline MPI_Status *fort_status(MPI_Status *s) { return fort_is_sentinel(s) ? MPI_STATUS_IGNORE : s; }

static inline void fort_return(int *ierror, int rc)
{
    if (ierror) *ierror = rc;
}

/* ---- arrays of handles: converted on the stack where they are short ---- */
enum { FORT_FEW = 64 };
FORT_HIDDEN MPI_Request *fort_requests(MPI_Request few[FORT_FEW], const int *f, MPI_Count n);
FORT_HIDDEN void fort_requests_back(MPI_Request *c, MPI_Request *few, int *f, MPI_Count n, uint64_t began);
FORT_HIDDEN MPI_Datatype *fort_types(MPI_Datatype few[FORT_FEW], const int *f, MPI_Count n);
FORT_HIDDEN MPI_Datatype *fort_types_out(MPI_Datatype few[FORT_FEW], MPI_Count n);         /* all null */
FORT_HIDDEN void fort_types_back(MPI_Datatype *c, MPI_Datatype *few, int *f, MPI_Count n); /* those that are not null */
FORT_HIDDEN MPI_Info *fort_infos(MPI_Info few[FORT_FEW], const int *f, MPI_Count n);
/* The datatypes of an alltoallw in memory from malloc: one for each process, or neighbour, that data goes to or comes from. */
enum fort_peers { FORT_ALL, FORT_TO, FORT_FROM };
FORT_HIDDEN int fort_types_of_peers(MPI_Comm comm, enum fort_peers peers, bool is_in_place, const int *f, MPI_Datatype **c_out);
#define fort_array_free(c, few)                                                                                                    \
    do {                                                                                                                           \
        if ((c) != (few)) free(c);                                                                                                 \
    } while (0)

/* ---- what lives until a request is complete, or as long as a persistent one: copies and datatypes of sections, arrays of datatypes ----
 * Any thread may call these, for requests that are its own; the numbers are Fortran's.  Where fort_has_records() is false there is nothing to do. */
FORT_HIDDEN extern _Atomic(int) fort_records;
/* Relaxed: who has a request has it from the thread that made it, and its record. */
static inline bool fort_has_records(void) { return unlikely(atomic_load_explicit(&fort_records, memory_order_relaxed)); }
/* Where a call begins that may complete requests: what is noted later is of other requests.  When one is complete its number is free, and an
 * MPI library may give it to a request of another thread before this one has looked. */
FORT_HIDDEN extern _Atomic(uint64_t) fort_noted;
static inline uint64_t fort_begin(void) { return atomic_load_explicit(&fort_noted, memory_order_relaxed); }
#define FORT_STILL UINT64_MAX /* in place of that where the request still has its number */
/* The request is complete: its copies go back, and what lived until then is freed. */
FORT_HIDDEN void fort_request_complete(int request, uint64_t began);
/* It is not null after a call that may have completed it. */
FORT_HIDDEN void fort_request_stays(int request);
/* Before MPI_Request_free, after which another request may get the number. */
FORT_HIDDEN void fort_request_free(int request);
/* Around MPI_Start and MPI_Startall, which returned rc: a failed one may have started some of them. */
FORT_HIDDEN void fort_start_begin(const int *requests, MPI_Count n);
FORT_HIDDEN void fort_start_end(const int *requests, MPI_Count n, int rc);
/* What the request of a call that returned rc reads: an array from malloc, until it is complete (_keep) or as long as the persistent request
 * (_last), and the datatype of a section, MPI_DATATYPE_NULL for none, which not every library holds itself once it is freed. */
FORT_HIDDEN void fort_keep_memory(MPI_Request request, int rc, void *memory);
FORT_HIDDEN void fort_last_memory(MPI_Request request, int rc, void *memory);
FORT_HIDDEN void fort_last_type(MPI_Request request, int rc, MPI_Datatype type);

static inline void fort_request_back(int *f, MPI_Request c, uint64_t began)
{
    int was = *f;
    if (c == MPI_REQUEST_NULL) *f = fort_request_int(MPI_REQUEST_NULL);
    if (!fort_has_records()) return;
    if (c != MPI_REQUEST_NULL)
        fort_request_stays(was);
    else if (was != *f)
        fort_request_complete(was, began);
}

/* ---- texts ---- */
/* A Fortran string without trailing blanks and with a NUL: in `small` where it fits, else from malloc.  NULL: no memory. */
struct fort_text {
    char *text, small[256];
};
FORT_HIDDEN char *fort_text_in(struct fort_text *t, const char *f, size_t len);
FORT_HIDDEN char *fort_text_in_stripped(struct fort_text *t, const char *f, size_t len); /* leading blanks go, too */
FORT_HIDDEN const char *fort_text_strip(const char *f, size_t *len);                     /* where it begins, and what is left */
static inline void fort_text_free(struct fort_text *t)
{
    if (t->text != t->small) free(t->text);
}
FORT_HIDDEN void fort_text_out(char *f, size_t len, const char *c); /* padded with blanks or cut */

/* ---- array sections ---- */
FORT_HIDDEN bool fort_desc_is_whole_slow(const struct fort_desc *d);
/* The usual case: a variable that is no sentinel, or a contiguous array of one dimension. */
static inline bool fort_desc_is_simple(const struct fort_desc *d)
{
    if (d->rank == 1) return fort_step(d, 0) == (ptrdiff_t)d->elem_len;
    return d->rank == 0 && !fort_is_sentinel(d->base);
}
static inline bool fort_desc_is_whole(const struct fort_desc *d) { return fort_desc_is_simple(d) || fort_desc_is_whole_slow(d); }

/* A section that is not contiguous, as one item of a datatype of its own: what count items of type take of it. */
enum { FORT_NEEDS_COPY = -1 }; /* the datatype has holes, or does not fit the elements */
FORT_HIDDEN int fort_section_type(const struct fort_desc *d, MPI_Count count, MPI_Datatype type, MPI_Datatype *type_out);

/* A section that is not contiguous, as a contiguous copy of all of it, in the memory of its record (section.c).  _in: for the call, or until
 * its request is complete; _lasting: of a persistent request, and nothing is copied before its start.  One of _free, _keep and _last ends it. */
struct fort_copy {
    const struct fort_desc *section; /* NULL: there is no copy */
    void *memory;
};
FORT_HIDDEN int fort_copy_in(struct fort_copy *c, const struct fort_desc *d);
FORT_HIDDEN void fort_copy_free(struct fort_copy *c, bool copies_back);
FORT_HIDDEN void fort_copy_keep(struct fort_copy *c, bool copies_back, MPI_Request request, int rc);
FORT_HIDDEN int fort_copy_lasting(struct fort_copy *c, const struct fort_desc *d);
FORT_HIDDEN void fort_copy_last(struct fort_copy *c, bool copies_back, MPI_Request request, int rc);
/* Where a copy would not do: an error through the communicator's handler. */
FORT_HIDDEN int fort_refuse_type(void); /* the same where a datatype cannot be made */
FORT_HIDDEN int fort_refuse_section(MPI_Comm comm);
FORT_HIDDEN int fort_no_memory(MPI_Comm comm);

/* ---- functions of users ---- */
FORT_HIDDEN int fort_op_function(fort_fn *fn, MPI_User_function **c_out);
enum fort_owner { FORT_COMM, FORT_WIN, FORT_FILE, FORT_SESSION };
FORT_HIDDEN int fort_error_function(fort_fn *fn, enum fort_owner owner, MPI_Comm_errhandler_function **c_out);

/* The extra_state of a call.  Functions of the user get a variable with its value, which stays as they leave it.  Other libraries hand them the
 * caller's own variable, and programs look there for what a function did to it: so a change goes there, too, as long as that place can be
 * written and still holds what it held before, for a variable of a routine that has returned may be anything else now. */
struct fort_extra {
    MPI_Aint value;
    void *from;
    bool is_small; /* MPI-1: an INTEGER */
};
FORT_HIDDEN void fort_extra_set(struct fort_extra *x, MPI_Aint value); /* after a call; value: what the function left */

/* Attributes: extra_state of a keyval that was made in Fortran is a record. */
struct fort_keyval {
    struct fort_keyval *next;
    fort_fn *copy, *del;
    struct fort_extra extra; /* is_small: values are INTEGERs, too */
};
FORT_HIDDEN struct fort_keyval *fort_keyval(fort_fn *copy, fort_fn *del, struct fort_extra extra);
FORT_HIDDEN int fort_comm_copy(MPI_Comm h, int key, void *extra, void *in, void *out, int *flag);
FORT_HIDDEN int fort_comm_delete(MPI_Comm h, int key, void *value, void *extra);
FORT_HIDDEN int fort_type_copy(MPI_Datatype h, int key, void *extra, void *in, void *out, int *flag);
FORT_HIDDEN int fort_type_delete(MPI_Datatype h, int key, void *value, void *extra);
FORT_HIDDEN int fort_win_copy(MPI_Win h, int key, void *extra, void *in, void *out, int *flag);
FORT_HIDDEN int fort_win_delete(MPI_Win h, int key, void *value, void *extra);
/* The value of an attribute that C and Fortran share: C sees the address of an MPI_Aint. */
FORT_HIDDEN void *fort_value_new(MPI_Aint value);
FORT_HIDDEN void fort_value_free(void *value);
FORT_HIDDEN MPI_Aint fort_value(const void *value);
FORT_HIDDEN MPI_Aint fort_value_of(int keyval, void *value); /* also of predefined keys */

struct fort_grequest {
    fort_fn *query, *free, *cancel;
    struct fort_extra extra;
};
FORT_HIDDEN int fort_grequest_query(void *extra, MPI_Status *status);
FORT_HIDDEN int fort_grequest_free(void *extra);
FORT_HIDDEN int fort_grequest_cancel(void *extra, int complete);

struct fort_datarep {
    struct fort_datarep *next;
    fort_fn *read, *write, *extent;
    struct fort_extra extra;
};
FORT_HIDDEN struct fort_datarep *fort_datarep(struct fort_datarep *like);
FORT_HIDDEN int fort_datarep_read(void *buf, MPI_Datatype type, int n, void *file, MPI_Offset at, void *extra);
FORT_HIDDEN int fort_datarep_write(void *buf, MPI_Datatype type, int n, void *file, MPI_Offset at, void *extra);
FORT_HIDDEN int fort_datarep_read_c(void *buf, MPI_Datatype type, MPI_Count n, void *file, MPI_Offset at, void *extra);
FORT_HIDDEN int fort_datarep_write_c(void *buf, MPI_Datatype type, MPI_Count n, void *file, MPI_Offset at, void *extra);
FORT_HIDDEN int fort_datarep_extent(MPI_Datatype type, MPI_Aint *extent, void *extra);

/* Once MPI is up (not all libraries answer before). */
FORT_HIDDEN void fort_started(void);
FORT_HIDDEN void fort_describe_types(void); /* tells it about the types of Fortran, where nobody did */

#endif
