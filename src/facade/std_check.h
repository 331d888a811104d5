/* std_check.h -- argument checks by kind of parameter.
 *
 * Each kind has a quick test (std_bad_*, inline: "this looks wrong") and a slow one (std_why_*) that decides, notes the
 * reason with gw_fail() and returns the code.  An entry point runs the quick tests; only if one of them fires it asks the
 * slow ones, in the order of its parameters, what is wrong.  The slow test may find that all is well.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_FACADE_STD_CHECK_H
#define GW_FACADE_STD_CHECK_H

#include "facade/std_codec.h"
#include "base/base.h"

/* ---- quick ---- */
static inline bool std_bad_type(const struct gw_type *t)
{
    return !t || !t->is_near;
} /* vast ones: the slow tests look at the count */
/* Counts up to INT32_MAX of a type that is near do not come to 2^63 bytes, nor do as many blocks of up to STD_FEW. */
enum { STD_FEW = UINT16_MAX };
static inline bool std_many(int64_t count) { return (uint64_t)count > INT32_MAX; } /* or negative */
static inline bool std_many_blocks(int64_t count) { return (uint64_t)count > STD_FEW; }
static inline bool std_bad_dest(int rank, const struct gw_comm *c)
{
    return unlikely((unsigned)rank >= (unsigned)c->targets) && rank != MPI_PROC_NULL;
}
static inline bool std_bad_source(int rank, const struct gw_comm *c)
{
    return unlikely((unsigned)rank >= (unsigned)c->targets) && rank != MPI_PROC_NULL &&
        (rank != MPI_ANY_SOURCE || c->hints & COMM_NO_ANY_SOURCE);
}
static inline bool std_bad_root(int rank, const struct gw_comm *c) { return (unsigned)rank >= (unsigned)c->targets; }
/* Whose parameters of a rooted collective count.  On an intercommunicator the root says MPI_ROOT, the others of its group, whose
 * parameters do not count, MPI_PROC_NULL, and those of the other group the root's rank. */
static inline bool std_is_root(int root, const struct gw_comm *c)
{
    return likely(!c->remote) ? c->rank == root : root == MPI_ROOT;
}
static inline bool std_other_side(int root, const struct gw_comm *c) { return !c->remote || root >= 0; }
static inline bool std_takes_part(int root, const struct gw_comm *c) { return !c->remote || root != MPI_PROC_NULL; }
static inline bool std_bad_recv_tag(int tag, const struct gw_comm *c)
{
    return unlikely(tag < 0) && (tag != MPI_ANY_TAG || c->hints & COMM_NO_ANY_TAG);
}
/* NULL and the special addresses: seldom, and only the slow test can tell. */
static inline bool std_bad_buffer(const void *buf, int64_t count) { return unlikely((uintptr_t)buf < 16 && count > 0); }
static inline bool std_bad_counts(struct gw_counts counts, int64_t n)
{
    if (!counts.v) return n > 0;
    for (int64_t i = 0; i < n; i++)
        if (unlikely(std_many(gw_counts_at(counts, i)))) return true;
    return false;
}
static inline bool std_bad_parts(struct gw_counts counts, int64_t n) /* that lie one behind the other */
{
    if (!counts.v) return n > 0;
    for (int64_t i = 0; i < n; i++)
        if (unlikely(std_many_blocks(gw_counts_at(counts, i)))) return true;
    return false;
}
static inline bool std_bad_displs(struct gw_counts displs, int64_t n)
{
    if (!displs.v) return n > 0;
    for (int64_t i = 0; i < n; i++)
        if (unlikely(gw_counts_at(displs, i) != (int32_t)gw_counts_at(displs, i))) return true;
    return false;
}
static inline bool std_bad_types(const MPI_Datatype *types, int64_t n)
{
    if (!types) return n > 0;
    for (int64_t i = 0; i < n; i++)
        if (unlikely(std_bad_type(std_type(types[i])))) return true;
    return false;
}
/* How many blocks a neighbourhood collective has; without a topology the target fails. */
static inline int std_indegree(const struct gw_comm *c) { return c->topo ? c->topo->nin : 0; }
static inline int std_outdegree(const struct gw_comm *c) { return c->topo ? c->topo->nout : 0; }
static inline bool std_bad_request(MPI_Request r) { return r != MPI_REQUEST_NULL && !std_request(r); }
static inline bool std_bad_requests(const MPI_Request *r, int64_t n)
{
    if (!r) return n > 0;
    for (int64_t i = 0; i < n; i++)
        if (unlikely(std_bad_request(r[i]))) return true;
    return false;
}

/* ---- slow: GW_OK or the code of what is wrong; `name` is the parameter's ---- */
int std_why_state(void);
int std_why_comm(const char *name, MPI_Comm h) GW_COLD;
int std_why_group(const char *name, MPI_Group h) GW_COLD;
int std_why_type(const char *name, MPI_Datatype h, bool must_be_committed) GW_COLD;
int std_why_op(const char *name, MPI_Op h) GW_COLD;
int std_why_request(const char *name, MPI_Request h, bool may_be_null) GW_COLD;
int std_why_message(const char *name, MPI_Message h) GW_COLD;
int std_why_errhandler(const char *name, MPI_Errhandler h) GW_COLD;
int std_why_file(const char *name, MPI_File h) GW_COLD;
int std_why_file_or_null(const char *name, MPI_File h) GW_COLD; /* MPI_FILE_NULL is right */
int std_why_win(const char *name, MPI_Win h) GW_COLD;
int std_why_session(const char *name, MPI_Session h) GW_COLD;
int std_why_info(const char *name, MPI_Info h, bool may_be_null) GW_COLD;
int std_why_count(const char *name, int64_t v) GW_COLD;
/* `blocks` times `count` items of t: MPI_ERR_COUNT where they come to 2^63 bytes, or reach over as many. */
int std_why_bytes(const char *name, int64_t count, const struct gw_type *t, int64_t blocks) GW_COLD;
/* n blocks of t at displs, in its extent; displs.v NULL: one behind the other. */
int std_why_blocks(const char *name, struct gw_counts counts, struct gw_counts displs, int64_t n, const struct gw_type *t) GW_COLD;
int std_why_length(const char *name, int64_t v, int64_t least) GW_COLD; /* sizes and lengths of arrays: MPI_ERR_ARG */
int std_why_pointer(const char *name, const void *p) GW_COLD;
int std_why_string(const char *name, const char *s) GW_COLD;
int std_why_array(const char *name, const void *p, int64_t n) GW_COLD;
int std_why_dest(const char *name, int rank, const struct gw_comm *c) GW_COLD;
int std_why_source(const char *name, int rank, const struct gw_comm *c) GW_COLD;
int std_why_root(const char *name, int rank, const struct gw_comm *c) GW_COLD;
int std_why_tag(const char *name, int tag) GW_COLD;
int std_why_recv_tag(const char *name, int tag, const struct gw_comm *c) GW_COLD;
/* count items of t (NULL: bytes); where MPI_IN_PLACE may stand, the caller has looked before. */
int std_why_buffer(const char *name, const void *buf, int64_t count, struct gw_type *t) GW_COLD;
/* Two buffers, both at `buf`; GW_OK where nothing is read or written, or in different bytes. */
int std_why_alias(const char *name, const char *other, const void *buf, int64_t count, struct gw_type *t, int64_t other_count,
                  struct gw_type *other_t) GW_COLD;
int64_t std_total(struct gw_counts counts, int64_t n) GW_COLD;
int std_why_attach(const char *name, const void *buf, int64_t size) GW_COLD;
int std_why_counts(const char *name, struct gw_counts counts, int64_t n) GW_COLD;
int std_why_types(const char *name, const MPI_Datatype *types, int64_t n, bool must_be_committed) GW_COLD;
/* Those whose count is not 0, for MPI_Alltoallw. */
int std_why_types_used(const char *name, const MPI_Datatype *types, struct gw_counts counts, int64_t n) GW_COLD;
int std_why_requests(const char *name, const MPI_Request *r, int64_t n, bool may_be_null) GW_COLD;

/* ---- raising ----
 * `on` is the communicator, window or file whose error handler runs, or NULL; `what` describes the arguments that follow,
 * `name:letter` each, by commas; see std_raise.c for the letters. */
int std_raise(int fn, void *on, int code, const char *what, ...) GW_COLD;
/* Whose error handler the error of a request goes to, or NULL.  r may be NULL: it was retired by the call that failed. */
struct gw_comm *std_request_comm(const struct gw_req *r, int code) GW_COLD;

#endif
