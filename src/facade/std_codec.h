/* std_codec.h -- the standard ABI's handles: an object's id in a pointer, both ways in constant time.
 *
 * From a handle: the object, or NULL for anything that is no living object of that kind (null handles too).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_FACADE_STD_CODEC_H
#define GW_FACADE_STD_CODEC_H

#define MPI_NO_INLINED_CONVERSIONS /* the entry points are defined here */
#include <mpi.h>

#include "base/base.h"
#include "check/check.h"
#include "mpi/mpi_room.h"

_Static_assert(sizeof(MPI_Status) == sizeof(struct gw_status), "a status passes as it is");
_Static_assert(offsetof(MPI_Status, MPI_ERROR) == offsetof(struct gw_status, error), "a status passes as it is");
_Static_assert(sizeof(MPI_Aint) == 8 && sizeof(MPI_Count) == 8 && sizeof(MPI_Offset) == 8, "64-bit integers");

#define STD_CODEC(word, handle, null, kind, type)                                                                                  \
    _Static_assert(offsetof(type, obj) == 0, "objects start with their identity");                                                 \
    GW_INLINE type *std_##word(handle h) { return (type *)gw_obj_lookup((uintptr_t)h, kind); }                                     \
    static inline handle std_##word##_handle(const type *o) { return o ? (handle)(uintptr_t)o->obj.id : null; }
STD_CODEC(comm, MPI_Comm, MPI_COMM_NULL, GW_KIND_COMM, struct gw_comm)
STD_CODEC(group, MPI_Group, MPI_GROUP_NULL, GW_KIND_GROUP, struct gw_group)
STD_CODEC(type, MPI_Datatype, MPI_DATATYPE_NULL, GW_KIND_TYPE, struct gw_type)
STD_CODEC(op, MPI_Op, MPI_OP_NULL, GW_KIND_OP, struct gw_op)
STD_CODEC(request, MPI_Request, MPI_REQUEST_NULL, GW_KIND_REQ, struct gw_req)
STD_CODEC(message, MPI_Message, MPI_MESSAGE_NULL, GW_KIND_MSG, struct gw_msg)
STD_CODEC(errhandler, MPI_Errhandler, MPI_ERRHANDLER_NULL, GW_KIND_ERRHANDLER, struct gw_errhandler)
STD_CODEC(file, MPI_File, MPI_FILE_NULL, GW_KIND_FILE, struct gw_file)
STD_CODEC(win, MPI_Win, MPI_WIN_NULL, GW_KIND_WIN, struct rma_win)
STD_CODEC(session, MPI_Session, MPI_SESSION_NULL, GW_KIND_SESSION, struct mpi_session)
#undef STD_CODEC

/* For the inlined forms only, which do nothing with the window that stands for MPI_WIN_NULL. */
GW_INLINE struct rma_win *std_win_last(MPI_Win h) { return rma_win_by_id((uintptr_t)h); }

/* io_no_file stands for MPI_FILE_NULL where that may be given, and has the error handler of calls without a file. */
static inline struct gw_file *std_file_or_null(MPI_File h) { return h == MPI_FILE_NULL ? &io_no_file : std_file(h); }
static inline struct gw_file *std_file_owner(struct gw_file *f) { return f ? f : &io_no_file; }

/* struct gw_info is opaque, it starts with struct gw_obj. */
static inline struct gw_info *std_info(MPI_Info h) { return (struct gw_info *)gw_obj_lookup((uintptr_t)h, GW_KIND_INFO); }
static inline MPI_Info std_info_handle(const struct gw_info *o)
{
    return o ? (MPI_Info)(uintptr_t)((const struct gw_obj *)o)->id : MPI_INFO_NULL;
}

static inline struct gw_status *std_status(const MPI_Status *s) { return (struct gw_status *)(uintptr_t)s; }

/* ---- arrays of handles: on the stack while they are short ---- */
#define STD_ARRAY_STACK 64
static inline void *std_array(void *stack, int64_t n, size_t size)
{
    return likely(n <= STD_ARRAY_STACK) ? stack : gw_xmalloc((size_t)n * size);
}
static inline void std_array_free(void *array, void *stack)
{
    if (unlikely(array != stack)) {
        extern void free(void *);
        free(array);
    }
}
static inline void std_requests_in(const MPI_Request *h, int64_t n, struct gw_req **out)
{
    for (int64_t i = 0; i < n; i++) out[i] = std_request(h[i]);
}
/* Only what changed is written: another thread may read its own request's slot meanwhile. */
static inline void std_requests_out(struct gw_req *const *in, int64_t n, MPI_Request *h)
{
    for (int64_t i = 0; i < n; i++)
        if (!in[i] && h[i] != MPI_REQUEST_NULL) h[i] = MPI_REQUEST_NULL;
}
/* A type that nothing is sent of may be anything: the byte type stands for it. */
static inline void std_types_in(const MPI_Datatype *h, int64_t n, struct gw_type **out)
{
    for (int64_t i = 0; i < n; i++) {
        struct gw_type *t = std_type(h[i]);
        out[i] = likely(t != NULL) ? t : gw_type_byte;
    }
}

/* Where an int cannot hold the answer. */
static inline int std_narrow(int64_t v) { return likely(v >= INT32_MIN && v <= INT32_MAX) ? (int)v : MPI_UNDEFINED; }

#endif
