/* section.c -- array sections that are not contiguous, from descriptors: as a datatype, or as a copy that lives as long as the call
 * or its request.
 *
 * A choice buffer stands for the sequence of its elements in array element order.  Where one block of items of a dense datatype is
 * moved, the section becomes a datatype, and nothing is copied here; where blocks are many or are reduced, a copy is made.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fort.h"

#include <pthread.h>

bool fort_desc_is_whole_slow(const struct fort_desc *d)
{
    ptrdiff_t want = (ptrdiff_t)d->elem_len;
    bool is_whole = true;
    for (int i = 0; i < d->rank; i++) {
        ptrdiff_t extent = fort_extent(d, i);
        if (extent <= 0)
            return true; /* gfortran's own descriptors tell empty ones by an upper bound that is well below the lower one */
        if (extent != 1 && fort_step(d, i) != want) is_whole = false;
        want *= extent;
    }
    return is_whole;
}

/* ---- as a datatype ---- */
/* The first n units of what dimensions 0 to `dim` hold; an element holds `in_element` units.  n > 0. */
static int prefix(const struct fort_desc *d, int dim, MPI_Count in_element, MPI_Count n, MPI_Datatype unit, MPI_Datatype *out)
{
    if (dim < 0) return PMPI_Type_contiguous_c(n, unit, out);
    MPI_Count slab = in_element;
    for (int i = 0; i < dim; i++) slab *= fort_extent(d, i);
    MPI_Count full = n / slab, rest = n % slab, ones[2] = {1, 1}, at[2] = {0, full * fort_step(d, dim)};
    MPI_Datatype parts[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL}, one = MPI_DATATYPE_NULL;
    int rc = MPI_SUCCESS;
    if (full) {
        rc = prefix(d, dim - 1, in_element, slab, unit, &one);
        if (rc == MPI_SUCCESS) rc = PMPI_Type_create_hvector_c(full, 1, fort_step(d, dim), one, &parts[0]);
    }
    if (rc == MPI_SUCCESS && rest) rc = prefix(d, dim - 1, in_element, rest, unit, &parts[1]);
    if (rc == MPI_SUCCESS && full && rest)
        rc = PMPI_Type_create_struct_c(2, ones, at, parts, out);
    else if (rc == MPI_SUCCESS)
        rc = PMPI_Type_dup(full ? parts[0] : parts[1], out);
    if (one != MPI_DATATYPE_NULL) PMPI_Type_free(&one);
    for (int i = 0; i < 2; i++)
        if (parts[i] != MPI_DATATYPE_NULL) PMPI_Type_free(&parts[i]);
    return rc;
}

/* Is an item without holes, so that items in a row are units in a row? */
static int is_dense(MPI_Datatype type, MPI_Count *size, bool *yes)
{
    MPI_Count lb, extent, true_lb, true_extent;
    int rc = PMPI_Type_size_c(type, size);
    if (rc == MPI_SUCCESS) rc = PMPI_Type_get_extent_c(type, &lb, &extent);
    if (rc == MPI_SUCCESS) rc = PMPI_Type_get_true_extent_c(type, &true_lb, &true_extent);
    *yes = rc == MPI_SUCCESS && lb == 0 && true_lb == 0 && *size > 0 && extent == *size && true_extent == *size;
    return rc;
}

int fort_section_type(const struct fort_desc *d, MPI_Count count, MPI_Datatype type, MPI_Datatype *out)
{
    MPI_Count size, elements = 1, in_element;
    bool dense;
    int rc = is_dense(type, &size, &dense);
    if (rc != MPI_SUCCESS) return rc;
    for (int i = 0; i < d->rank; i++) elements *= fort_extent(d, i);
    in_element = dense ? (MPI_Count)d->elem_len / size : 0;
    if (!dense || in_element * size != (MPI_Count)d->elem_len) return FORT_NEEDS_COPY;
    if (count < 0 || count > elements * in_element) {
        PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_COUNT);
        return MPI_ERR_COUNT;
    }
    rc = count ? prefix(d, d->rank - 1, in_element, count, type, out) : PMPI_Type_contiguous(0, type, out);
    if (rc == MPI_SUCCESS) rc = PMPI_Type_commit(out);
    return rc;
}

int fort_refuse_type(void)
{
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_TYPE);
    return MPI_ERR_TYPE;
}

/* ---- as a copy ---- */
/* Copies all elements between the section and contiguous memory. */
static void move(const struct fort_desc *d, char *memory, bool into_memory)
{
    ptrdiff_t at[15] = {0}, total = 1;
    assert(d->rank >= 0 && (size_t)d->rank <= sizeof at / sizeof *at);
    for (int i = 0; i < d->rank; i++) total *= fort_extent(d, i);
    char *p = d->base;
    for (ptrdiff_t n = 0; n < total; n++, memory += d->elem_len) {
        memcpy(into_memory ? memory : p, into_memory ? p : memory, d->elem_len);
        for (int i = 0; i < d->rank; i++) {
            p += fort_step(d, i);
            if (++at[i] < fort_extent(d, i)) break;
            p -= fort_step(d, i) * fort_extent(d, i);
            at[i] = 0;
        }
    }
}

static size_t bytes_of(const struct fort_desc *d)
{
    size_t bytes = d->elem_len;
    for (int i = 0; i < d->rank; i++) bytes *= (size_t)fort_extent(d, i);
    return bytes;
}

/* What lives as long as a request: a copy, an array or a datatype. */
struct record {
    struct record *next;
    int request;
    uint64_t noted;           /* its place in the order of all that were noted */
    bool lasts;               /* as long as a persistent request */
    bool is_active;           /* that is started, and not seen complete since */
    bool copies_back;         /* once it is complete */
    void *array;              /* freed with it; NULL: none */
    MPI_Datatype type;        /* likewise; MPI_DATATYPE_NULL: none */
    struct fort_desc section; /* of a copy; its base is NULL where there is none */
    _Alignas(max_align_t) char copy[];
};

static struct record *record_of(const struct fort_copy *c)
{
    assert(c->section && c->memory);
    return (struct record *)(void *)((char *)c->memory - offsetof(struct record, copy));
}

int fort_copy_lasting(struct fort_copy *c, const struct fort_desc *d)
{
    struct record *r = malloc(sizeof *r + bytes_of(d));
    if (!r) return fort_no_memory(MPI_COMM_SELF);
    r->array = NULL;
    r->type = MPI_DATATYPE_NULL;
    c->memory = r->copy;
    c->section = d;
    return MPI_SUCCESS;
}

int fort_copy_in(struct fort_copy *c, const struct fort_desc *d)
{
    int rc = fort_copy_lasting(c, d);
    if (rc == MPI_SUCCESS) move(d, c->memory, true);
    return rc;
}

void fort_copy_free(struct fort_copy *c, bool copies_back)
{
    if (!c->section) return;
    if (copies_back) move(c->section, c->memory, false);
    free(record_of(c));
    c->section = NULL;
}

int fort_refuse_section(MPI_Comm comm)
{
    PMPI_Comm_call_errhandler(comm, MPI_ERR_BUFFER);
    return MPI_ERR_BUFFER;
}

/* ---- records of requests, by their numbers in Fortran ---- */
enum { BUCKETS = 1024 };
static struct {
    pthread_mutex_t lock;
    struct record *first[BUCKETS]; /* under `lock`, the oldest first */
} records = {.lock = PTHREAD_MUTEX_INITIALIZER};
_Atomic(int) fort_records; /* how many there are */
_Atomic(uint64_t) fort_noted;

/* Where the next record of the request is, from `at` on; it may point to NULL.  `lock` is held. */
static struct record **next_of(struct record **at, int request)
{
    while (*at && (*at)->request != request) at = &(*at)->next;
    return at;
}
static struct record **first_of(int request) { return next_of(&records.first[(unsigned)request % BUCKETS], request); }

static void note(struct record *r, MPI_Request request)
{
    assert(request != MPI_REQUEST_NULL && !(r->array && r->copies_back));
    r->next = NULL;
    r->request = fort_request_int(request);
    r->is_active = false;
    /* Relaxed: who has the number of a request that is complete has it from the call that completed it, which began before. */
    r->noted = atomic_fetch_add_explicit(&fort_noted, 1, memory_order_relaxed) + 1;
    pthread_mutex_lock(&records.lock);
    struct record **at = &records.first[(unsigned)r->request % BUCKETS];
    while (*at) at = &(*at)->next;
    *at = r;
    atomic_fetch_add_explicit(&fort_records, 1, memory_order_relaxed);
    pthread_mutex_unlock(&records.lock);
}

static void forget(struct record **at)
{
    *at = (*at)->next;
    int before = atomic_fetch_sub_explicit(&fort_records, 1, memory_order_relaxed);
    assert(before > 0);
    (void)before;
}

static void free_held(void *array, MPI_Datatype type)
{
    free(array);
    if (type != MPI_DATATYPE_NULL) PMPI_Type_free(&type);
}

static void keep(MPI_Request request, int rc, bool lasts, void *array, MPI_Datatype type)
{
    bool is_used = rc == MPI_SUCCESS && request != MPI_REQUEST_NULL;
    struct record *r = is_used ? malloc(sizeof *r) : NULL;
    if (!is_used) free_held(array, type);
    if (!r) return; /* without memory for a record they stay: the request reads them */
    *r = (struct record){.lasts = lasts, .array = array, .type = type};
    note(r, request);
}

void fort_keep_memory(MPI_Request request, int rc, void *memory) { keep(request, rc, false, memory, MPI_DATATYPE_NULL); }
void fort_last_memory(MPI_Request request, int rc, void *memory) { keep(request, rc, true, memory, MPI_DATATYPE_NULL); }
void fort_last_type(MPI_Request request, int rc, MPI_Datatype type)
{
    if (type != MPI_DATATYPE_NULL) keep(request, rc, true, NULL, type);
}

/* Its caller's descriptor is gone when the call returns. */
static void note_copy(struct fort_copy *c, bool copies_back, bool lasts, MPI_Request request)
{
    struct record *r = record_of(c);
    const struct fort_desc *d = c->section;
    memcpy(&r->section, d, offsetof(struct fort_desc, dim) + (size_t)d->rank * sizeof(struct fort_dim));
    r->copies_back = copies_back;
    r->lasts = lasts;
    note(r, request);
}

void fort_copy_keep(struct fort_copy *c, bool copies_back, MPI_Request request, int rc)
{
    if (!c->section) return;
    if (rc != MPI_SUCCESS || request == MPI_REQUEST_NULL)
        fort_copy_free(c, copies_back && rc == MPI_SUCCESS);
    else
        note_copy(c, copies_back, false, request);
}

void fort_copy_last(struct fort_copy *c, bool copies_back, MPI_Request request, int rc)
{
    if (!c->section) return;
    if (rc != MPI_SUCCESS)
        fort_copy_free(c, false);
    else
        note_copy(c, copies_back, true, request);
}

static void free_records(struct record *r)
{
    for (struct record *next; r; r = next) {
        next = r->next;
        free_held(r->array, r->type);
        free(r);
    }
}

void fort_request_complete(int request, uint64_t began)
{
    struct record *over = NULL;
    pthread_mutex_lock(&records.lock);
    for (struct record **at = first_of(request), *r; (r = *at); at = next_of(at, request)) {
        if (r->noted > began) {
            at = &r->next;
            continue;
        }
        if (r->lasts) {
            if (r->is_active && r->copies_back) move(&r->section, r->copy, false);
            r->is_active = false;
            at = &r->next;
            continue;
        }
        forget(at);
        r->next = over;
        over = r;
    }
    pthread_mutex_unlock(&records.lock);
    for (struct record *r = over; r; r = r->next)
        if (r->copies_back) move(&r->section, r->copy, false); /* nobody else has it any more */
    free_records(over);
}

/* Has it a record that its completion, not seen yet, is of interest for?  only_lasting: among those of persistent requests alone. */
static bool is_awaited(int request, bool only_lasting)
{
    bool yes = false;
    pthread_mutex_lock(&records.lock);
    for (struct record **at = first_of(request), *r; (r = *at) && !yes; at = next_of(&r->next, request))
        yes = r->lasts ? r->is_active : !only_lasting;
    pthread_mutex_unlock(&records.lock);
    return yes;
}

static void look(int request, bool only_lasting)
{
    int is_complete = 0;
    if (is_awaited(request, only_lasting) &&
        PMPI_Request_get_status(fort_request(request), &is_complete, MPI_STATUS_IGNORE) == MPI_SUCCESS && is_complete)
        fort_request_complete(request, FORT_STILL);
}

/* Of several requests, one that is complete but not the answer of this call is copied back early: nobody may look at the buffer yet. */
void fort_request_stays(int request) { look(request, true); }

void fort_request_free(int request)
{
    struct record *over = NULL;
    look(request, false);
    pthread_mutex_lock(&records.lock);
    for (struct record **at = first_of(request), *r; (r = *at); at = next_of(at, request)) {
        forget(at);
        if (!r->lasts || r->is_active) continue; /* it is read and written until the operation is over, of which nobody hears */
        r->next = over;
        over = r;
    }
    pthread_mutex_unlock(&records.lock);
    free_records(over);
}

/* ---- starts of persistent requests ---- */
void fort_start_begin(const int *requests, MPI_Count n)
{
    pthread_mutex_lock(&records.lock);
    for (MPI_Count i = 0; i < n; i++)
        for (struct record **at = first_of(requests[i]), *r; (r = *at); at = next_of(&r->next, requests[i]))
            if (r->lasts && !r->is_active && r->section.base) move(&r->section, r->copy, true);
    pthread_mutex_unlock(&records.lock);
}

/* After a start that failed: an inactive request is complete, with the status of one. */
static bool was_started(int request)
{
    int is_complete = 0;
    MPI_Status s;
    if (PMPI_Request_get_status(fort_request(request), &is_complete, &s) != MPI_SUCCESS) return false;
    return !is_complete || s.MPI_SOURCE != MPI_ANY_SOURCE || s.MPI_TAG != MPI_ANY_TAG;
}

void fort_start_end(const int *requests, MPI_Count n, int rc)
{
    for (MPI_Count i = 0; i < n; i++) {
        bool is_new = false;
        pthread_mutex_lock(&records.lock);
        for (struct record **at = first_of(requests[i]), *r; (r = *at); at = next_of(&r->next, requests[i])) {
            is_new |= r->lasts && !r->is_active;
            if (rc == MPI_SUCCESS) r->is_active = true;
        }
        pthread_mutex_unlock(&records.lock);
        if (rc == MPI_SUCCESS || !is_new || !was_started(requests[i])) continue;
        fort_start_end(&requests[i], 1, MPI_SUCCESS);
    }
}
