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

int fort_copy_in(struct fort_copy *c, const struct fort_desc *d)
{
    size_t bytes = bytes_of(d);
    c->memory = malloc(bytes ? bytes : 1);
    if (!c->memory) return fort_no_memory(MPI_COMM_SELF);
    c->section = d;
    move(d, c->memory, true);
    return MPI_SUCCESS;
}

void fort_copy_free(struct fort_copy *c, bool copies_back)
{
    if (!c->section) return;
    if (copies_back) move(c->section, c->memory, false);
    free(c->memory);
    c->section = NULL;
}

int fort_refuse_section(MPI_Comm comm)
{
    PMPI_Comm_call_errhandler(comm, MPI_ERR_BUFFER);
    return MPI_ERR_BUFFER;
}

/* Its caller's descriptor is gone when the call returns. */
static void describe(struct fort_desc *to, const struct fort_desc *d)
{
    memcpy(to, d, offsetof(struct fort_desc, dim) + (size_t)d->rank * sizeof(struct fort_dim));
}

/* ---- until a request is complete ---- */
struct fort_keep {
    struct fort_keep *next;
    int request;
    void *memory;
    bool copies_back;
    struct fort_desc section;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fort_keep *first, **last = &first;
_Atomic(int) fort_kept;

static struct fort_keep *keep(MPI_Request request, void *memory)
{
    struct fort_keep *k = malloc(sizeof *k);
    if (!k) return NULL;
    k->next = NULL;
    k->request = fort_request_int(request);
    k->memory = memory;
    k->copies_back = false;
    return k;
}

static void append(struct fort_keep *k)
{
    pthread_mutex_lock(&lock);
    *last = k;
    last = &k->next;
    fort_kept++;
    pthread_mutex_unlock(&lock);
}

void fort_keep_memory(MPI_Request request, int rc, void *memory)
{
    struct fort_keep *k = rc == MPI_SUCCESS && request != MPI_REQUEST_NULL ? keep(request, memory) : NULL;
    if (k)
        append(k);
    else if (rc != MPI_SUCCESS || request == MPI_REQUEST_NULL)
        free(memory); /* without memory for a record it stays: the request reads it */
}

void fort_copy_keep(struct fort_copy *c, bool copies_back, MPI_Request request, int rc)
{
    if (!c->section) return;
    if (rc != MPI_SUCCESS || request == MPI_REQUEST_NULL) {
        fort_copy_free(c, copies_back && rc == MPI_SUCCESS);
        return;
    }
    struct fort_keep *k = keep(request, c->memory);
    if (!k) { /* no memory: complete it here */
        PMPI_Wait(&request, MPI_STATUS_IGNORE);
        fort_copy_free(c, copies_back);
        return;
    }
    k->copies_back = copies_back;
    describe(&k->section, c->section);
    append(k);
}

/* A number that came back with a new request while the old one was being completed has its record behind: the oldest counts. */
static struct fort_keep *take(int request)
{
    pthread_mutex_lock(&lock);
    struct fort_keep **p = &first, *k;
    while ((k = *p) && k->request != request) p = &k->next;
    if (k) {
        *p = k->next;
        if (last == &k->next) last = p;
        fort_kept--;
    }
    pthread_mutex_unlock(&lock);
    return k;
}

void fort_done(int request)
{
    struct fort_keep *k;
    while ((k = take(request))) {
        if (k->copies_back) move(&k->section, k->memory, false);
        free(k->memory);
        free(k);
    }
}

/* ---- as long as a persistent request ---- */
struct lasting {
    struct lasting *next;
    int request;
    bool copies_back, is_active; /* started, and not seen complete since */
    struct fort_desc section;
    _Alignas(max_align_t) char memory[];
};
static struct lasting *all_lasting; /* under `lock` */
_Atomic(int) fort_lasting;

int fort_copy_lasting(struct fort_copy *c, const struct fort_desc *d)
{
    struct lasting *l = malloc(sizeof *l + bytes_of(d));
    if (!l) return fort_no_memory(MPI_COMM_SELF);
    c->memory = l->memory;
    c->section = d;
    return MPI_SUCCESS;
}

void fort_copy_last(struct fort_copy *c, bool copies_back, MPI_Request request, int rc)
{
    if (!c->section) return;
    struct lasting *l = (struct lasting *)(void *)((char *)c->memory - offsetof(struct lasting, memory));
    if (rc != MPI_SUCCESS) {
        free(l);
        return;
    }
    l->request = fort_request_int(request);
    l->copies_back = copies_back;
    l->is_active = false;
    describe(&l->section, c->section);
    pthread_mutex_lock(&lock);
    l->next = all_lasting;
    all_lasting = l;
    fort_lasting++;
    pthread_mutex_unlock(&lock);
}

void fort_lasting_begin(const int *requests, MPI_Count n)
{
    pthread_mutex_lock(&lock);
    for (MPI_Count i = 0; i < n; i++)
        for (struct lasting *l = all_lasting; l; l = l->next)
            if (l->request == requests[i] && !l->is_active) move(&l->section, l->memory, true);
    pthread_mutex_unlock(&lock);
}

void fort_lasting_started(const int *requests, MPI_Count n)
{
    pthread_mutex_lock(&lock);
    for (MPI_Count i = 0; i < n; i++)
        for (struct lasting *l = all_lasting; l; l = l->next) l->is_active |= l->request == requests[i];
    pthread_mutex_unlock(&lock);
}

static bool is_active(int request)
{
    bool yes = false;
    pthread_mutex_lock(&lock);
    for (struct lasting *l = all_lasting; l; l = l->next) yes |= l->request == request && l->is_active;
    pthread_mutex_unlock(&lock);
    return yes;
}

/* Of several requests, one that is complete but not the answer of this call is copied back early: nobody may look at the buffer yet. */
void fort_lasting_end(int request, bool is_freed)
{
    int is_complete = 0;
    if (!is_freed &&
        (!is_active(request) || PMPI_Request_get_status(fort_request(request), &is_complete, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
         !is_complete))
        return;
    pthread_mutex_lock(&lock);
    for (struct lasting **p = &all_lasting, *l; (l = *p);) {
        if (l->request == request && l->is_active && is_complete) {
            if (l->copies_back) move(&l->section, l->memory, false);
            l->is_active = false;
        }
        if (l->request != request || !is_freed) {
            p = &l->next;
            continue;
        }
        *p = l->next;
        fort_lasting--;
        if (!l->is_active) free(l); /* else it is read and written until the operation is over, of which nobody hears */
    }
    pthread_mutex_unlock(&lock);
}

static bool is_kept(int request)
{
    bool yes = false;
    pthread_mutex_lock(&lock);
    for (struct fort_keep *k = first; k && !yes; k = k->next) yes = k->request == request;
    pthread_mutex_unlock(&lock);
    return yes;
}

void fort_requests_seen(const int *requests, MPI_Count n)
{
    for (MPI_Count i = 0; i < n; i++) {
        int is_complete = 0;
        fort_lasting_end(requests[i], false);
        if (!is_kept(requests[i])) continue;
        int rc = PMPI_Request_get_status(fort_request(requests[i]), &is_complete, MPI_STATUS_IGNORE);
        if (rc == MPI_SUCCESS && is_complete) fort_done(requests[i]);
    }
}
