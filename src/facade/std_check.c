/* std_check.c -- the slow halves of the argument checks: they decide what is wrong and say it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "facade/std_check.h"
#include "base/settings.h"

#include <stdio.h>

int std_why_state(void)
{
    if (mpi_hot.running) return GW_OK;
    return gw_fail(GW_EOTHER,
                   atomic_load(&mpi_phase) == MPI_PHASE_FINALIZED ? "it was called after MPI_Finalize"
                                                                  : "it was called before MPI_Init");
}

/* ---- handles ---- */
struct kind_facts {
    const char *word, *plural_null;
    uint32_t null;
    int code;
};
static const struct kind_facts facts[GW_KIND_COUNT] = {
    [GW_KIND_COMM] = {"communicator", "MPI_COMM_NULL", GW_H_COMM_NULL, GW_ECOMM},
    [GW_KIND_GROUP] = {"group", "MPI_GROUP_NULL", GW_H_GROUP_NULL, GW_EGROUP},
    [GW_KIND_TYPE] = {"datatype", "MPI_DATATYPE_NULL", GW_H_DATATYPE_NULL, GW_ETYPE},
    [GW_KIND_OP] = {"reduction operation", "MPI_OP_NULL", GW_H_OP_NULL, GW_EOP},
    [GW_KIND_REQ] = {"request", "MPI_REQUEST_NULL", GW_H_REQUEST_NULL, GW_EREQUEST},
    [GW_KIND_MSG] = {"message", "MPI_MESSAGE_NULL", GW_H_MESSAGE_NULL, GW_EREQUEST},
    [GW_KIND_ERRHANDLER] = {"error handler", "MPI_ERRHANDLER_NULL", GW_H_ERRHANDLER_NULL, GW_EERRHANDLER},
    [GW_KIND_INFO] = {"info object", "MPI_INFO_NULL", GW_H_INFO_NULL, GW_EINFO},
    [GW_KIND_KEYVAL] = {"attribute key", "MPI_KEYVAL_INVALID", GW_KEYVAL_INVALID, GW_EKEYVAL},
    [GW_KIND_WIN] = {"window", "MPI_WIN_NULL", GW_H_WIN_NULL, GW_EWIN},
    [GW_KIND_FILE] = {"file", "MPI_FILE_NULL", GW_H_FILE_NULL, GW_EFILE},
    [GW_KIND_SESSION] = {"session", "MPI_SESSION_NULL", GW_H_SESSION_NULL, GW_ESESSION},
};

/* What kind of living object a handle names, GW_KIND_NONE if none. */
static enum gw_kind kind_of(uintptr_t h)
{
    for (int k = 1; k < GW_KIND_COUNT; k++)
        if (gw_obj_lookup(h, (enum gw_kind)k)) return (enum gw_kind)k;
    return GW_KIND_NONE;
}

static int why_handle(const char *name, uintptr_t h, enum gw_kind kind)
{
    const struct kind_facts *f = &facts[kind];
    assert(f->word && f->code < 0);
    if (gw_obj_lookup(h, kind)) return GW_OK;
    if (h == 0)
        return gw_fail(
            f->code,
            "%s is 0, which is no handle: was the variable ever set, or this compiled with another MPI library's mpif.h or "
            "module (then compile with godwit's mpifort)?",
            name);
    if (h == f->null) return gw_fail(f->code, "%s is %s", name, f->plural_null);
    enum gw_kind other = kind_of(h);
    if (other) return gw_fail(f->code, "%s is the handle of a %s, not of a %s", name, facts[other].word, f->word);
    for (int k = 1; k < GW_KIND_COUNT; k++)
        if (k != GW_KIND_KEYVAL && facts[k].null == h)
            return gw_fail(f->code, "%s is %s, not the handle of a %s", name, facts[k].plural_null, f->word);
    if (gw_id_kind(h) == kind) return gw_fail(f->code, "%s (0x%llx) was freed", name, (unsigned long long)h);
    return gw_fail(
        f->code,
        "%s (0x%llx) is no handle; was the variable ever set? Where it comes from code that was compiled with another MPI library's "
        "mpi.h, mpif.h or module, compile that with godwit's mpicc or mpifort",
        name, (unsigned long long)h);
}

int std_why_comm(const char *name, MPI_Comm h) { return why_handle(name, (uintptr_t)h, GW_KIND_COMM); }
int std_why_group(const char *name, MPI_Group h) { return why_handle(name, (uintptr_t)h, GW_KIND_GROUP); }
int std_why_op(const char *name, MPI_Op h) { return why_handle(name, (uintptr_t)h, GW_KIND_OP); }
int std_why_message(const char *name, MPI_Message h) { return why_handle(name, (uintptr_t)h, GW_KIND_MSG); }
int std_why_errhandler(const char *name, MPI_Errhandler h) { return why_handle(name, (uintptr_t)h, GW_KIND_ERRHANDLER); }

int std_why_win(const char *name, MPI_Win h) { return why_handle(name, (uintptr_t)h, GW_KIND_WIN); }

int std_why_session(const char *name, MPI_Session h) { return why_handle(name, (uintptr_t)h, GW_KIND_SESSION); }

int std_why_file(const char *name, MPI_File h) { return why_handle(name, (uintptr_t)h, GW_KIND_FILE); }

int std_why_file_or_null(const char *name, MPI_File h) { return h == MPI_FILE_NULL ? GW_OK : std_why_file(name, h); }

int std_why_info(const char *name, MPI_Info h, bool may_be_null)
{
    return may_be_null && h == MPI_INFO_NULL ? GW_OK : why_handle(name, (uintptr_t)h, GW_KIND_INFO);
}

int std_why_request(const char *name, MPI_Request h, bool may_be_null)
{
    return may_be_null && h == MPI_REQUEST_NULL ? GW_OK : why_handle(name, (uintptr_t)h, GW_KIND_REQ);
}

int std_why_type(const char *name, MPI_Datatype h, bool must_be_committed)
{
    int rc = why_handle(name, (uintptr_t)h, GW_KIND_TYPE);
    if (rc != GW_OK || !must_be_committed) return rc;
    struct gw_type *t = std_type(h);
    if (t->size < 0) return gw_fail(GW_ETYPE, "%s is %s, which this platform does not have", name, type_name(t));
    if (!t->committed)
        return gw_fail(GW_ETYPE, "%s (%s) is not committed: call MPI_Type_commit before communicating with it", name, type_name(t));
    return GW_OK;
}

/* ---- numbers ---- */
int std_why_count(const char *name, int64_t v)
{
    if (v >= 0) return GW_OK;
    return gw_fail(GW_ECOUNT, "%s is %lld; it must not be negative", name, (long long)v);
}

int std_why_length(const char *name, int64_t v, int64_t least)
{
    if (v >= least) return GW_OK;
    return gw_fail(GW_EARG, "%s is %lld; it must be at least %lld", name, (long long)v, (long long)least);
}

static const char *comm_word(const struct gw_comm *c) { return c->name[0] ? c->name : "the communicator"; }

static int why_rank(const char *name, int rank, const struct gw_comm *c, int code, const char *others)
{
    if (rank >= 0 && rank < c->targets) return GW_OK;
    return gw_fail(code, "%s is %d; %s%s has ranks 0 to %d%s", name, rank, c->remote ? "the remote group of " : "", comm_word(c),
                   c->targets - 1, others);
}

int std_why_dest(const char *name, int rank, const struct gw_comm *c)
{
    return rank == MPI_PROC_NULL ? GW_OK : why_rank(name, rank, c, GW_ERANK, " (or MPI_PROC_NULL)");
}

int std_why_source(const char *name, int rank, const struct gw_comm *c)
{
    if (rank == MPI_ANY_SOURCE && c->hints & COMM_NO_ANY_SOURCE)
        return gw_fail(GW_ERANK,
                       "%s is MPI_ANY_SOURCE, which %s was promised never to see: its hint mpi_assert_no_any_source is true", name,
                       comm_word(c));
    return rank == MPI_PROC_NULL || rank == MPI_ANY_SOURCE
        ? GW_OK
        : why_rank(name, rank, c, GW_ERANK, " (or MPI_ANY_SOURCE, MPI_PROC_NULL)");
}

int std_why_root(const char *name, int rank, const struct gw_comm *c)
{
    if (c->remote && (rank == MPI_ROOT || rank == MPI_PROC_NULL)) return GW_OK;
    return why_rank(name, rank, c, GW_EROOT, c->remote ? " (or MPI_ROOT, MPI_PROC_NULL)" : "");
}

int std_why_tag(const char *name, int tag)
{
    if (tag >= 0) return GW_OK;
    if (tag == MPI_ANY_TAG) return gw_fail(GW_ETAG, "%s is MPI_ANY_TAG, which only receives and probes may use", name);
    return gw_fail(GW_ETAG, "%s is %d; tags are 0 to %d", name, tag, INT32_MAX);
}

int std_why_recv_tag(const char *name, int tag, const struct gw_comm *c)
{
    if (tag != MPI_ANY_TAG) return std_why_tag(name, tag);
    if (!(c->hints & COMM_NO_ANY_TAG)) return GW_OK;
    return gw_fail(GW_ETAG, "%s is MPI_ANY_TAG, which %s was promised never to see: its hint mpi_assert_no_any_tag is true", name,
                   comm_word(c));
}

/* ---- pointers and arrays ---- */
int std_why_pointer(const char *name, const void *p)
{
    return p ? GW_OK : gw_fail(GW_EARG, "%s is NULL; it must point to a variable", name);
}

int std_why_string(const char *name, const char *s)
{
    if (s) return GW_OK;
    int code = strcmp(name, "key") == 0 ? GW_EINFO_KEY : strcmp(name, "value") == 0 ? GW_EINFO_VALUE : GW_EARG;
    return gw_fail(code, "%s is NULL; it must be a string", name);
}

int std_why_array(const char *name, const void *p, int64_t n)
{
    if (p || n <= 0) return GW_OK;
    return gw_fail(GW_EARG, "%s is NULL; it must be an array of at least %lld", name, (long long)n);
}

int std_why_buffer(const char *name, const void *buf, int64_t count, struct gw_type *t)
{
    if (buf == MPI_IN_PLACE) return gw_fail(GW_EBUFFER, "%s is MPI_IN_PLACE, which this call does not take here", name);
    if (buf == MPI_BUFFER_AUTOMATIC) return gw_fail(GW_EBUFFER, "%s is MPI_BUFFER_AUTOMATIC, which is no message buffer", name);
    /* NULL is MPI_BOTTOM: right for a derived type with absolute addresses, wrong for any predefined one. */
    if (buf || count <= 0) return GW_OK;
    if (!t) return gw_fail(GW_EBUFFER, "%s is NULL; it must hold %lld bytes", name, (long long)count);
    if (!t->obj.predefined || t->size <= 0) return GW_OK;
    int64_t bytes = count > INT64_MAX / t->size ? INT64_MAX : count * t->size; /* more has no place in memory, either */
    return gw_fail(GW_EBUFFER, "%s is NULL; it must hold %lld items of %s (%lld bytes)", name, (long long)count, type_name(t),
                   (long long)bytes);
}

int std_why_alias(const char *name, const char *other, const void *buf, int64_t count, struct gw_type *t, int64_t other_count,
                  struct gw_type *other_t)
{
    int64_t lo, hi, other_lo, other_hi;
    if (gw_set.no_buffer_alias_check) return GW_OK;
    if (!buf || buf == MPI_IN_PLACE || !type_bounds(t, count, &lo, &hi) || !type_bounds(other_t, other_count, &other_lo, &other_hi))
        return GW_OK;
    bool gaps = t != other_t && !(t->is_dense && other_t->is_dense); /* the bytes of one may lie in the gaps of the other */
    if (gaps || lo >= other_hi || other_lo >= hi) return GW_OK;
    return gw_fail(GW_EBUFFER, "%s and %s are one address, %p; give MPI_IN_PLACE where the call takes it, or two buffers", name,
                   other, buf);
}

int64_t std_total(struct gw_counts counts, int64_t n)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) sum += gw_counts_at(counts, i);
    return sum;
}

int std_why_attach(const char *name, const void *buf, int64_t size)
{
    if (buf == MPI_BUFFER_AUTOMATIC) return GW_OK;
    if (size < 0) return gw_fail(GW_EARG, "size is %lld; it must not be negative", (long long)size);
    return std_why_buffer(name, buf, size, NULL);
}

int std_why_counts(const char *name, struct gw_counts counts, int64_t n)
{
    if (!counts.v) return std_why_array(name, counts.v, n);
    for (int64_t i = 0; i < n; i++)
        if (gw_counts_at(counts, i) < 0)
            return gw_fail(GW_ECOUNT, "%s[%lld] is %lld; it must not be negative", name, (long long)i,
                           (long long)gw_counts_at(counts, i));
    return GW_OK;
}

static int in_array(int rc, const char *name, int64_t i) { return gw_fail(rc, "%s[%lld]: %s", name, (long long)i, gw_fail_text()); }

/* ---- bytes ---- */
static int why_beyond(const char *name, int64_t i, int64_t count, const struct gw_type *t)
{
    char at[32] = "";
    if (i >= 0) snprintf(at, sizeof at, "[%lld]", (long long)i);
    return gw_fail(
        GW_ECOUNT,
        "%s%s is %lld; with items of %s the data, or the memory from their begin to their end, come to 2^63 bytes or more", name,
        at, (long long)count, type_name((struct gw_type *)(uintptr_t)t));
}

int std_why_bytes(const char *name, int64_t count, const struct gw_type *t, int64_t blocks)
{
    int64_t all;
    if (blocks < 1 || count < 1) return GW_OK;
    return __builtin_mul_overflow(count, blocks, &all) || type_is_beyond(t, all) ? why_beyond(name, -1, count, t) : GW_OK;
}

int std_why_blocks(const char *name, struct gw_counts counts, struct gw_counts displs, int64_t n, const struct gw_type *t)
{
    int64_t end = 0, at, lo, hi;
    for (int64_t i = 0; i < n; i++) {
        int64_t count = gw_counts_at(counts, i);
        if (count == 0) continue;
        bool beyond = type_is_beyond(t, count) || !type_bounds(t, count, &lo, &hi);
        if (displs.v)
            beyond = beyond || __builtin_mul_overflow(gw_counts_at(displs, i), t->extent, &at) ||
                __builtin_add_overflow(at, hi, &hi) || __builtin_add_overflow(at, lo, &lo);
        else
            beyond = beyond || __builtin_add_overflow(end, count, &end) || type_is_beyond(t, end);
        if (beyond) return why_beyond(name, i, count, t);
    }
    return GW_OK;
}

int std_why_types(const char *name, const MPI_Datatype *types, int64_t n, bool must_be_committed)
{
    if (!types) return std_why_array(name, types, n);
    for (int64_t i = 0; i < n; i++) {
        int rc = std_why_type("the datatype", types[i], must_be_committed);
        if (rc != GW_OK) return in_array(rc, name, i);
    }
    return GW_OK;
}

int std_why_types_used(const char *name, const MPI_Datatype *types, struct gw_counts counts, int64_t n)
{
    if (!types || !counts.v) return std_why_array(name, types, n);
    for (int64_t i = 0; i < n; i++) {
        int64_t count = gw_counts_at(counts, i);
        int rc = count != 0 ? std_why_type("the datatype", types[i], true) : GW_OK;
        if (rc == GW_OK && count != 0) rc = std_why_bytes("its count", count, std_type(types[i]), 1);
        if (rc != GW_OK) return in_array(rc, name, i);
    }
    return GW_OK;
}

int std_why_requests(const char *name, const MPI_Request *r, int64_t n, bool may_be_null)
{
    if (!r) return std_why_array(name, r, n);
    for (int64_t i = 0; i < n; i++) {
        int rc = std_why_request("the request", r[i], may_be_null);
        if (rc != GW_OK) return in_array(rc, name, i);
    }
    return GW_OK;
}
