/* fort.h -- the Fortran binding over the C functions of the MPI standard ABI.
 *
 * Nothing here knows the library below: only mpi.h of the standard ABI is included, so that libmpifort_abi.so runs over every library that
 * has this ABI.  Handles are INTEGERs by MPI_*_toint; predefined ones have the same value in both languages.
 *
 * Entry points are compiled twice: mpi_x_ calls MPI_X, so that tools for C see Fortran programs; pmpi_x_ (FORT_PMPI) calls PMPI_X.
 * What they share stands in text.c, section.c and callback.c, and calls PMPI_ names only.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef FORT_H
#define FORT_H

#include <mpi.h>
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
#define F(name) pmpi_##name
#define C(name) PMPI_##name
#else
#define F(name) mpi_##name
#define C(name) MPI_##name
#endif
#define FORT_ALIAS(name, of) extern __typeof__(F(of)) F(name) __attribute__((alias(FORT_TEXT(F(of)))))
#define FORT_TEXT(x)         FORT_TEXT_(x)
#define FORT_TEXT_(x)        #x

/* ---- sentinels: common blocks of mpif.h and the modules.  The executable's own definition is what all see. ---- */
struct fort_sentinels {
    int address[3]; /* MPI_BOTTOM, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC: C's values are 0, 1, 2 */
    int unweighted[1], weights_empty[1];
    int errcodes_ignore[1];
    MPI_Status status_ignore, statuses_ignore[1];
};
struct fort_sentinel_texts {
    char argv_null, argvs_null;
};
extern struct fort_sentinels mpi_abi_sentinels_;
extern struct fort_sentinel_texts mpi_abi_sentinel_texts_;

static inline bool fort_is_sentinel(const void *p)
{
    return (uintptr_t)p - (uintptr_t)&mpi_abi_sentinels_ < sizeof mpi_abi_sentinels_;
}

static inline void *fort_buf(void *p)
{
    uintptr_t at = (uintptr_t)p - (uintptr_t)&mpi_abi_sentinels_;
    return likely(at >= sizeof mpi_abi_sentinels_.address) ? p : (void *)(at / sizeof(int));
}

static inline MPI_Status *fort_status(MPI_Status *s) { return fort_is_sentinel(s) ? MPI_STATUS_IGNORE : s; }

static inline int *fort_weights(int *w)
{
    if (w == mpi_abi_sentinels_.unweighted) return MPI_UNWEIGHTED;
    return w == mpi_abi_sentinels_.weights_empty ? MPI_WEIGHTS_EMPTY : w;
}

static inline void fort_return(int *ierror, int rc)
{
    if (ierror) *ierror = rc;
}

/* ---- handles ---- */
/* Below fort_plain, a power of 2, a handle has the same value in C and in Fortran.  The standard ABI says so of predefined ones; where
 * the library's own handles turn out to be small numbers, too, fort_started() raises it. */
FORT_HIDDEN extern unsigned fort_plain;
#define FORT_PLAIN(Type, f) ((Type)(uintptr_t)(unsigned)(f))
#define FORT_HANDLE(word, Type, fromint, toint)                                                                                    \
    static inline Type fort_##word(int f) { return likely((unsigned)f < fort_plain) ? FORT_PLAIN(Type, f) : fromint(f); }          \
    static inline int fort_##word##_int(Type h) { return likely((uintptr_t)h < fort_plain) ? (int)(uintptr_t)h : toint(h); }
FORT_HANDLE(comm, MPI_Comm, PMPI_Comm_fromint, PMPI_Comm_toint)
FORT_HANDLE(type, MPI_Datatype, PMPI_Type_fromint, PMPI_Type_toint)
FORT_HANDLE(op, MPI_Op, PMPI_Op_fromint, PMPI_Op_toint)
FORT_HANDLE(group, MPI_Group, PMPI_Group_fromint, PMPI_Group_toint)
FORT_HANDLE(message, MPI_Message, PMPI_Message_fromint, PMPI_Message_toint)
FORT_HANDLE(errhandler, MPI_Errhandler, PMPI_Errhandler_fromint, PMPI_Errhandler_toint)
FORT_HANDLE(info, MPI_Info, PMPI_Info_fromint, PMPI_Info_toint)
FORT_HANDLE(file, MPI_File, PMPI_File_fromint, PMPI_File_toint)
FORT_HANDLE(win, MPI_Win, PMPI_Win_fromint, PMPI_Win_toint)
FORT_HANDLE(session, MPI_Session, PMPI_Session_fromint, PMPI_Session_toint)
FORT_HANDLE(request, MPI_Request, PMPI_Request_fromint, PMPI_Request_toint)

/* Arrays of handles: converted on the stack where they are short. */
enum { FORT_FEW = 64 };
FORT_HIDDEN MPI_Request *fort_requests(MPI_Request few[FORT_FEW], const int *f, MPI_Count n);
FORT_HIDDEN void fort_requests_back(MPI_Request *c, MPI_Request *few, int *f, MPI_Count n);
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

/* ---- what lives until a request is complete: copies of sections, arrays of datatypes ---- */
FORT_HIDDEN extern _Atomic(int) fort_kept;
/* Completes what hangs at the request that is complete now (copies back, frees). */
FORT_HIDDEN void fort_done(int request);
FORT_HIDDEN void fort_keep_memory(MPI_Request request, int rc, void *memory);

static inline void fort_request_back(int *f, MPI_Request c)
{
    if (c != MPI_REQUEST_NULL) return;
    int was = *f;
    *f = fort_request_int(MPI_REQUEST_NULL);
    if (unlikely(fort_kept) && was != *f) fort_done(was);
}

/* ---- texts ---- */
/* A Fortran string without trailing blanks and with a NUL: in `small` where it fits, else from malloc.  NULL: no memory. */
struct fort_text {
    char *text, small[256];
};
FORT_HIDDEN char *fort_text_in(struct fort_text *t, const char *f, size_t len);
FORT_HIDDEN char *fort_text_in_stripped(struct fort_text *t, const char *f, size_t len); /* leading blanks go, too */
static inline void fort_text_free(struct fort_text *t)
{
    if (t->text != t->small) free(t->text);
}
FORT_HIDDEN void fort_text_out(char *f, size_t len, const char *c); /* padded with blanks or cut */

/* ---- descriptors of TS 29113: the part that gfortran and flang lay out alike ---- */
struct fort_dim {
    ptrdiff_t lower, extent, stride_bytes;
};
struct fort_desc {
    void *base;
    size_t elem_len;
    int version;
    signed char rank;
    char differs[3];
    struct fort_dim dim[15];
};
FORT_HIDDEN bool fort_desc_is_whole_slow(const struct fort_desc *d);
/* The usual case: a variable that is no sentinel, or a contiguous array of one dimension. */
static inline bool fort_desc_is_simple(const struct fort_desc *d)
{
    if (d->rank == 1) return d->dim[0].stride_bytes == (ptrdiff_t)d->elem_len;
    return d->rank == 0 && !fort_is_sentinel(d->base);
}
static inline bool fort_desc_is_whole(const struct fort_desc *d) { return fort_desc_is_simple(d) || fort_desc_is_whole_slow(d); }

/* A section that is not contiguous, as one item of a datatype of its own: what count items of type take of it. */
enum { FORT_NEEDS_COPY = -1 }; /* the datatype has holes, or does not fit the elements */
FORT_HIDDEN int fort_section_type(const struct fort_desc *d, MPI_Count count, MPI_Datatype type, MPI_Datatype *type_out);

/* A section that is not contiguous, as a contiguous copy of all of it. */
struct fort_copy {
    const struct fort_desc *section; /* NULL: there is no copy */
    void *memory;
};
FORT_HIDDEN int fort_copy_in(struct fort_copy *c, const struct fort_desc *d);
FORT_HIDDEN void fort_copy_free(struct fort_copy *c, bool copies_back);
FORT_HIDDEN void fort_copy_keep(struct fort_copy *c, bool copies_back, MPI_Request request, int rc);
/* Persistent requests would need the copy at every start: an error through the communicator's handler. */
FORT_HIDDEN int fort_refuse_type(void); /* the same where a datatype cannot be made and a copy is not possible */
FORT_HIDDEN int fort_refuse_section(MPI_Comm comm);
FORT_HIDDEN int fort_no_memory(MPI_Comm comm);

/* ---- functions of users ---- */
typedef void fort_fn(void);
FORT_HIDDEN int fort_op_function(fort_fn *fn, MPI_User_function **c_out);
enum fort_owner { FORT_COMM, FORT_WIN, FORT_FILE, FORT_SESSION };
FORT_HIDDEN int fort_error_function(fort_fn *fn, enum fort_owner owner, MPI_Comm_errhandler_function **c_out);

/* Attributes: extra_state of a keyval that was made in Fortran is a record. */
struct fort_keyval {
    struct fort_keyval *next;
    fort_fn *copy, *del;
    MPI_Aint extra_state;
    bool is_small; /* MPI-1: values are INTEGERs */
};
FORT_HIDDEN struct fort_keyval *fort_keyval(fort_fn *copy, fort_fn *del, MPI_Aint extra_state, bool is_small);
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
    MPI_Aint extra_state;
};
FORT_HIDDEN int fort_grequest_query(void *extra, MPI_Status *status);
FORT_HIDDEN int fort_grequest_free(void *extra);
FORT_HIDDEN int fort_grequest_cancel(void *extra, int complete);

struct fort_datarep {
    struct fort_datarep *next;
    fort_fn *read, *write, *extent;
    MPI_Aint extra_state;
};
FORT_HIDDEN struct fort_datarep *fort_datarep(struct fort_datarep *like);
FORT_HIDDEN int fort_datarep_read(void *buf, MPI_Datatype type, int n, void *file, MPI_Offset at, void *extra);
FORT_HIDDEN int fort_datarep_write(void *buf, MPI_Datatype type, int n, void *file, MPI_Offset at, void *extra);
FORT_HIDDEN int fort_datarep_read_c(void *buf, MPI_Datatype type, MPI_Count n, void *file, MPI_Offset at, void *extra);
FORT_HIDDEN int fort_datarep_write_c(void *buf, MPI_Datatype type, MPI_Count n, void *file, MPI_Offset at, void *extra);
FORT_HIDDEN int fort_datarep_extent(MPI_Datatype type, MPI_Aint *extent, void *extra);

/* Once MPI is up (not all libraries answer before): tells it about the types of Fortran, where nobody did, and looks at its handles. */
FORT_HIDDEN void fort_started(void);

#endif
