/* rep.c -- data representations (MPI 4.1 section 14.5): sizes of types in the file, and conversion.
 *
 * The file version of a type is built by the type's own constructor from the file versions of its component types: what counts in
 * extents scales, what the user gave in bytes stays as it is (section 14.5.1).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_private.h"

#include <stdlib.h>

static const struct io_rep reps[] = {{.name = "native", .kind = IO_REP_PLAIN},
                                     {.name = "internal", .kind = IO_REP_PLAIN},
                                     {.name = "external32", .kind = IO_REP_EXTERNAL32}};
static struct {
    struct gw_lock lock;
    struct io_rep *first; /* the newest; none is removed while MPI runs, because views point to them */
} users;
const struct io_user_calls *io_call_user;

static const struct io_rep *find_user(const char *name)
{
    gw_lock(&users.lock);
    const struct io_rep *r = users.first;
    gw_unlock(&users.lock);
    while (r && strcmp(name, r->name) != 0) r = r->next;
    return r;
}

const struct io_rep *io_rep_find(const char *name)
{
    for (size_t i = 0; i < GW_ARRAY_LEN(reps); i++)
        if (strcmp(name, reps[i].name) == 0) return &reps[i];
    return find_user(name);
}

int io_register_datarep(const char *name, void (*read)(void), void (*write)(void), void (*extent)(void), void *extra_state,
                        bool wide)
{
    size_t len = strlen(name);
    if (len == 0 || len >= GW_MAX_DATAREP_STRING)
        return gw_fail(GW_EARG, "datarep has %zu characters; it must have 1 to %d", len, GW_MAX_DATAREP_STRING - 1);
    if (!extent) return gw_fail(GW_EARG, "dtype_file_extent_fn is NULL; it must be a function");
    if (io_rep_find(name)) return gw_fail(GW_EDUPDATAREP, "the data representation \"%s\" is defined already", name);
    struct io_rep *r = gw_xcalloc(1, sizeof *r + len + 1);
    char *copy = (char *)(r + 1);
    memcpy(copy, name, len + 1);
    *r = (struct io_rep){.name = copy, .kind = IO_REP_USER};
    r->user = (struct io_rep_user){{.fn = read, .wide = wide}, {.fn = write, .wide = wide}, extent, extra_state};
    gw_lock(&users.lock);
    r->next = users.first;
    users.first = r;
    gw_unlock(&users.lock);
    return GW_OK;
}

void io_rep_tag(const char *name, uint8_t abi)
{
    gw_lock(&users.lock);
    for (struct io_rep *r = users.first; r; r = r->next)
        if (strcmp(name, r->name) == 0) r->user.read.abi = r->user.write.abi = abi;
    gw_unlock(&users.lock);
}

GW_ONCE void io_rep_finalize(void)
{
    while (users.first) {
        struct io_rep *r = users.first;
        users.first = r->next;
        free(r);
    }
}

/* Is it a named type, or one of MPI_Type_create_f90_*, which counts as named? */
static bool is_named(const struct gw_type *t) { return t->obj.predefined; }

static int user_bytes(const struct io_rep *rep, struct gw_type *t, int64_t *bytes_out)
{
    struct gw_type *there;
    if (is_named(t)) {
        int rc = io_call_user->extent(&rep->user, t, bytes_out);
        if (rc == GW_OK && *bytes_out < 0)
            rc = gw_fail(GW_ECONVERSION, "the extent function of \"%s\" says %lld for %s", rep->name, (long long)*bytes_out,
                         type_name(t));
        return rc;
    }
    int rc = io_rep_type(rep, t, &there);
    if (rc != GW_OK) return rc;
    *bytes_out = there->size;
    type_release(there);
    return GW_OK;
}

int io_rep_bytes(const struct io_rep *rep, struct gw_type *t, int64_t *bytes_out)
{
    if (rep->kind == IO_REP_USER) return user_bytes(rep, t, bytes_out);
    if (rep->kind == IO_REP_EXTERNAL32) return type_mpi_pack_external_size("external32", 1, t, bytes_out);
    return type_size(t, bytes_out);
}

/* ---- likenesses ----------------------------------------------------------------------------------------------------------- */
/* The result of MPI_Type_get_contents, with types replaced by their file versions. */
struct contents {
    int combiner;
    int64_t n_ints, n_aints, n_counts, n_types;
    int *ints;
    int64_t *aints, *counts;
    struct gw_type **types;
};

static void contents_free(struct contents *c)
{
    for (int64_t i = 0; c->types && i < c->n_types; i++)
        if (c->types[i]) type_release(c->types[i]);
    free(c->ints);
    free(c->aints);
    free(c->counts);
    free(c->types);
}

static int contents_of(const struct io_rep *rep, struct gw_type *t, struct contents *c)
{
    type_get_envelope(t, &c->n_ints, &c->n_aints, &c->n_counts, &c->n_types, &c->combiner);
    c->ints = gw_xcalloc((size_t)c->n_ints + 1, sizeof *c->ints);
    c->aints = gw_xcalloc((size_t)c->n_aints + 1, sizeof *c->aints);
    c->counts = gw_xcalloc((size_t)c->n_counts + 1, sizeof *c->counts);
    c->types = gw_xcalloc((size_t)c->n_types + 1, sizeof(void *));
    int rc = type_get_contents(t, c->n_ints, c->n_aints, c->n_counts, c->n_types, c->ints, c->aints, c->counts, c->types);
    if (rc != GW_OK) {
        c->n_types = 0;
        return rc;
    }
    for (int64_t i = 0; i < c->n_types; i++) {
        struct gw_type *theirs = c->types[i];
        c->types[i] = NULL;
        if (rc == GW_OK) rc = io_rep_type(rep, theirs, &c->types[i]);
        if (!theirs->obj.predefined) type_free(&theirs); /* the handle that type_get_contents gave */
    }
    return rc;
}

/* Integer argument i: one of the counts if the type was made by a _c call, else one of the integers. */
static int64_t number(const struct contents *c, int64_t i) { return c->n_counts ? c->counts[i] : c->ints[i]; }
static struct gw_counts numbers(const struct contents *c, int64_t i)
{
    return c->n_counts ? (struct gw_counts){c->counts + i, true} : (struct gw_counts){c->ints + i, false};
}
/* The displacements in bytes; where they are counts, n other counts come before them. */
static struct gw_counts addresses(const struct contents *c, int64_t n)
{
    return c->n_counts ? (struct gw_counts){c->counts + n, true} : (struct gw_counts){c->aints, true};
}

static int darray_again(const struct contents *c, struct gw_type **out)
{
    int n = c->ints[2];
    const int *rest = c->ints + 3 + (c->n_counts ? 0 : n); /* distribs, dargs, psizes, order */
    struct gw_counts sizes = c->n_counts ? numbers(c, 0) : numbers(c, 3);
    return type_darray(c->ints[0], c->ints[1], n, sizes, rest, rest + n, rest + 2 * n, rest[3 * n], c->types[0], out);
}

static int subarray_again(const struct contents *c, struct gw_type **out)
{
    int n = c->ints[0], order = c->ints[c->n_ints - 1], first = c->n_counts ? 0 : 1;
    return type_subarray(n, numbers(c, first), numbers(c, first + n), numbers(c, first + 2 * n), order, c->types[0], out);
}

static int construct_again(const struct contents *c, struct gw_type **out)
{
    struct gw_type *old = c->types[0];
    int64_t n = c->n_ints || c->n_counts ? number(c, 0) : 0;
    switch (c->combiner) {
    case GW_COMBINER_DUP: return type_dup(old, out);
    case GW_COMBINER_CONTIGUOUS: return type_contiguous(n, old, out);
    case GW_COMBINER_VECTOR: return type_vector(n, number(c, 1), number(c, 2), old, out);
    case GW_COMBINER_HVECTOR: return type_hvector(n, number(c, 1), c->n_counts ? c->counts[2] : c->aints[0], old, out);
    case GW_COMBINER_INDEXED: return type_indexed(n, numbers(c, 1), numbers(c, 1 + n), old, out);
    case GW_COMBINER_HINDEXED: return type_hindexed(n, numbers(c, 1), addresses(c, 1 + n), old, out);
    case GW_COMBINER_INDEXED_BLOCK: return type_indexed_block(n, number(c, 1), numbers(c, 2), old, out);
    case GW_COMBINER_HINDEXED_BLOCK: return type_hindexed_block(n, number(c, 1), addresses(c, 2), old, out);
    case GW_COMBINER_STRUCT: return type_struct(n, numbers(c, 1), addresses(c, 1 + n), c->types, out);
    case GW_COMBINER_SUBARRAY: return subarray_again(c, out);
    case GW_COMBINER_DARRAY: return darray_again(c, out);
    case GW_COMBINER_RESIZED:
        return c->n_counts ? type_resized(old, c->counts[0], c->counts[1], out) : type_resized(old, c->aints[0], c->aints[1], out);
    default: return gw_fail(GW_ETYPE, "a type made by constructor number %d has no likeness in a file", c->combiner);
    }
}

int io_rep_type(const struct io_rep *rep, struct gw_type *t, struct gw_type **type_out)
{
    int64_t bytes = 0;
    int rc = is_named(t) ? io_rep_bytes(rep, t, &bytes) : GW_OK;
    if (rc != GW_OK) return rc;
    if (rep->kind == IO_REP_PLAIN || (is_named(t) && bytes == t->size && t->is_dense)) {
        *type_out = type_hold(t);
        return GW_OK;
    }
    struct gw_type *new = NULL;
    if (is_named(t)) {
        rc = type_contiguous(bytes, gw_type_byte, &new);
    } else {
        struct contents c = {0};
        rc = contents_of(rep, t, &c);
        if (rc == GW_OK) rc = construct_again(&c, &new);
        contents_free(&c);
    }
    if (rc != GW_OK) return rc;
    gw_obj_unregister(&new->obj); /* internal: it needs no handle */
    rc = type_commit(&new);
    if (rc == GW_OK)
        *type_out = new;
    else
        type_release(new);
    return rc;
}

/* ---- conversion ----------------------------------------------------------------------------------------------------------- */
static int as_in_memory(const struct io_rep *rep, int64_t bytes, int64_t count, const struct gw_type *t)
{
    if (bytes == count * t->size) return GW_OK;
    return gw_fail(GW_ECONVERSION, "\"%s\" has no conversion function, but its data have other sizes than those in memory",
                   rep->name);
}

int io_rep_write(const struct io_rep *rep, const void *buf, int64_t count, struct gw_type *t, void *out, int64_t bytes)
{
    int64_t at = 0;
    const struct io_rep_user *u = &rep->user;
    if (rep->kind == IO_REP_EXTERNAL32) return type_mpi_pack_external(rep->name, buf, count, t, out, bytes, &at);
    if (u->write.fn) return io_call_user->convert(&u->write, u->extra_state, (void *)(uintptr_t)buf, t, count, out);
    int rc = as_in_memory(rep, bytes, count, t);
    if (rc == GW_OK) type_pack(buf, count, t, out);
    return rc;
}

int io_rep_read(const struct io_rep *rep, const void *in, int64_t bytes, void *buf, int64_t count, struct gw_type *t)
{
    int64_t at = 0;
    const struct io_rep_user *u = &rep->user;
    if (rep->kind == IO_REP_EXTERNAL32) return type_mpi_unpack_external(rep->name, in, bytes, &at, buf, count, t);
    if (u->read.fn) return io_call_user->convert(&u->read, u->extra_state, buf, t, count, (void *)(uintptr_t)in);
    int rc = as_in_memory(rep, bytes, count, t);
    if (rc == GW_OK) type_unpack(buf, count, t, in);
    return rc;
}
