/* ofi_rma.c -- one-sided copies, and the registration of memory that peers may read and write.
 *
 * If the provider chooses its keys, the key of wire.h is the provider's.  If not, regions are numbered here; and as providers
 * without FI_MR_VIRT_ADDR want offsets into a region instead of addresses, the key of wire.h also has the region's address:
 *
 *     address of the region << 16 | number of the region, from 1
 *
 * The provider gets another key, computed from the number and the lane's key (ofi_region_secret()), so that strangers cannot guess
 * it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_private.h"

#include <stdlib.h>

enum { NUMBER_BITS = 16, REGIONS_MOST = (1 << NUMBER_BITS) - 1, REGIONS_FIRST = 16, ADDRESS_BITS = 64 - NUMBER_BITS };
static const uint64_t remote_access = FI_REMOTE_READ | FI_REMOTE_WRITE;

/* ---- memory that is exposed ----------------------------------------------------------------------------------------------- */
int ofi_register(struct wire *w, const void *p, size_t bytes, uint64_t access, uint64_t wanted_key, struct fid_mr **mr_out)
{
    int rc = fi_mr_reg(w->domain, p, bytes, access, 0, wanted_key, 0, mr_out, NULL);
    if (rc == 0 && ofi_needs(w, FI_MR_ENDPOINT)) {
        rc = fi_mr_bind(*mr_out, &w->ep->fid, 0);
        if (rc == 0) rc = fi_mr_enable(*mr_out);
        if (rc) fi_close(&(*mr_out)->fid);
    }
    if (rc == 0) return GW_OK;
    *mr_out = NULL;
    return gw_fail(GW_ENOMEM, "%zu bytes of memory cannot be registered with provider %s: %s", bytes, ofi_provider_name(w),
                   fabric_lib.strerror(-rc));
}

int ofi_region_begin(struct wire *w, struct ofi_reg *r)
{
    int i = w->first_free_region;
    assert(!r->number && i >= 0 && i <= w->n_regions);
    while (i < w->n_regions && w->regions[i]) i++;
    if (i == REGIONS_MOST) return gw_fail(GW_ENOMEM, "%d regions of memory are exposed already", REGIONS_MOST);
    if (i == w->n_regions) {
        int more = (int)gw_min64(i ? 2 * (int64_t)i : REGIONS_FIRST, REGIONS_MOST);
        w->regions = gw_xrealloc(w->regions, (size_t)more * sizeof *w->regions);
        memset(w->regions + i, 0, (size_t)(more - i) * sizeof *w->regions);
        w->n_regions = more;
    }
    w->regions[i] = r;
    r->number = w->first_free_region = i + 1;
    return GW_OK;
}

void ofi_region_end(struct wire *w, struct ofi_reg *r)
{
    assert(r->number > 0 && r->number <= w->n_regions && w->regions[r->number - 1] == r);
    w->regions[r->number - 1] = NULL;
    if (r->number - 1 < w->first_free_region) w->first_free_region = r->number - 1;
}

static uint64_t region_key(const struct wire *w, const struct ofi_reg *r)
{
    return ofi_needs(w, FI_MR_PROV_KEY) ? fi_mr_key(r->mr) + 1 : (uint64_t)r->lo << NUMBER_BITS | (uint64_t)r->number;
}

int ofi_expose(struct wire *w, const void *addr, size_t bytes, uint64_t *key_out)
{
    struct ofi_reg *r;
    if ((uint64_t)(uintptr_t)addr >> ADDRESS_BITS)
        return gw_fail(GW_EUNSUPPORTED, "memory at %p lies too high to be exposed", addr);
    int rc = ofi_regs_take(w, addr, bytes, remote_access, &r);
    if (rc == GW_OK) *key_out = region_key(w, r);
    return rc;
}

void ofi_conceal(struct wire *w, uint64_t key)
{
    int i = (int)(key & REGIONS_MOST) - 1;
    if (ofi_needs(w, FI_MR_PROV_KEY))
        for (i = 0; i < w->n_regions && (!w->regions[i] || region_key(w, w->regions[i]) != key); i++) {}
    bool is_there = i >= 0 && i < w->n_regions && w->regions[i] && region_key(w, w->regions[i]) == key;
    assert(is_there);
    if (is_there) ofi_regs_give(w, w->regions[i]);
}

void ofi_regions_close(struct wire *w)
{
    for (int i = 0; i < w->n_regions; i++)
        if (w->regions[i] && !w->regions[i]->is_kept) ofi_regs_give(w, w->regions[i]);
    ofi_regs_close(w);
    free(w->regions);
}

uint64_t ofi_provider_key(const struct ofi_ep *ep, uint64_t key)
{
    return ofi_needs(ep->w, FI_MR_PROV_KEY) ? key - 1 : ofi_region_secret(ep->w, ep->key, (int)(key & REGIONS_MOST));
}
uint64_t ofi_provider_addr(const struct wire *w, uint64_t key, uint64_t remote)
{
    return ofi_needs(w, FI_MR_VIRT_ADDR) ? remote : remote - (key >> NUMBER_BITS);
}

/* ---- copies ---------------------------------------------------------------------------------------------------------------- */
struct copy {
    struct gw_list link; /* in wire.waiting while not all of it is posted */
    struct gw_done *done;
    struct ofi_ep *ep;
    uint64_t remote, key; /* as the provider wants them; remote: address or offset of the next byte to be posted */
    bool is_put, is_waiting;
    int err, under_way; /* under_way: parts whose completion has not come yet */
    int at, n;
    struct iovec iov[]; /* [n], from `at` on not posted yet */
};
struct part { /* one libfabric operation */
    struct ofi_op op;
    struct copy *copy;
    int n_regs;
    struct ofi_reg *regs[]; /* of the local memory, where the provider wants it registered */
};

static void copy_end(struct copy *c)
{
    struct gw_done *done = c->done;
    int err = c->err;
    free(c);
    done->fn(done, err);
}

static void part_free(struct wire *w, struct part *p)
{
    for (int i = 0; i < p->n_regs; i++) ofi_regs_give(w, p->regs[i]);
    free(p);
}

void ofi_part_done(struct wire *w, struct ofi_op *op, const struct fi_cq_tagged_entry *e, int err)
{
    struct part *p = container_of(op, struct part, op);
    struct copy *c = p->copy;
    (void)e;
    w->under_way--;
    part_free(w, p);
    if (unlikely(err)) c->err = ofi_fail(c->ep, c->is_put ? "writing" : "reading", err);
    if (--c->under_way == 0 && !c->is_waiting) copy_end(c);
}

static struct part *part_new(struct copy *c, int n)
{
    struct wire *w = c->ep->w;
    bool must_register = ofi_needs(w, FI_MR_LOCAL);
    struct part *p = gw_xcalloc(1, sizeof *p + (must_register ? (size_t)n * sizeof *p->regs : 0));
    p->op.fn = ofi_part_done;
    p->copy = c;
    for (; must_register && p->n_regs < n; p->n_regs++) {
        const struct iovec *v = &c->iov[c->at + p->n_regs];
        if (ofi_regs_take(w, v->iov_base, v->iov_len, c->is_put ? FI_WRITE : FI_READ, &p->regs[p->n_regs]) == GW_OK) continue;
        part_free(w, p);
        return NULL;
    }
    return p;
}

/* Posts the next pieces as one operation; 0, or libfabric's error. */
static ssize_t part_post(struct copy *c)
{
    enum { DESCS = 16 };
    struct wire *w = c->ep->w;
    int n = (int)gw_min64(c->n - c->at, (int64_t)w->iov_max < DESCS ? (int64_t)w->iov_max : DESCS);
    void *desc[DESCS] = {0};
    size_t bytes = 0;
    struct part *p = part_new(c, n);
    if (!p) return -FI_ENOMEM;
    for (int i = 0; i < n; i++) {
        bytes += c->iov[c->at + i].iov_len;
        if (i < p->n_regs) desc[i] = fi_mr_desc(p->regs[i]->mr);
    }
    struct fi_rma_iov there = {c->remote, bytes, c->key};
    struct fi_msg_rma m = {&c->iov[c->at], desc, (size_t)n, c->ep->addr, &there, 1, &p->op.context, 0};
    /* Delivery-complete: after the completion this rank may tell a third rank about the data, which then reads
     * them at the target. */
    ssize_t rc = c->is_put ? fi_writemsg(w->ep, &m, FI_COMPLETION | FI_DELIVERY_COMPLETE) : fi_readmsg(w->ep, &m, FI_COMPLETION);
    if (rc) {
        part_free(w, p);
        return rc;
    }
    w->under_way++;
    c->under_way++;
    c->at += n;
    c->remote += bytes;
    return 0;
}

/* Posts parts until all of the copy is posted (0), or the provider refuses (libfabric's error). */
static ssize_t copy_post(struct copy *c)
{
    ssize_t rc = 0;
    while (c->at < c->n && rc == 0) rc = part_post(c);
    return rc;
}

int ofi_rma_waiting(struct wire *w)
{
    int n = 0;
    for (struct gw_list *l = w->waiting.next, *next; l != &w->waiting; l = next) {
        struct copy *c = container_of(l, struct copy, link);
        next = l->next;
        int at = c->at;
        ssize_t rc = copy_post(c);
        n += c->at - at;
        if (rc == -FI_EAGAIN) continue;
        if (rc) c->err = ofi_fail(c->ep, c->is_put ? "writing" : "reading", (int)-rc);
        gw_list_del(&c->link);
        c->is_waiting = false;
        n++;
        if (c->under_way == 0) copy_end(c);
    }
    return n;
}

/* Makes a copy operation.  Empty pieces are dropped; pieces larger than the provider's largest message are split. */
static struct copy *copy_new(struct ofi_ep *ep, const struct iovec *local, int n, struct gw_done *done)
{
    size_t most = ep->w->info->ep_attr->max_msg_size / ep->w->iov_max, pieces = 0;
    for (int i = 0; i < n; i++) pieces += local[i].iov_len / most + 1;
    struct copy *c = gw_xmalloc(sizeof *c + pieces * sizeof *local);
    *c = (struct copy){.done = done, .ep = ep};
    for (int i = 0; i < n; i++) {
        struct iovec left = local[i];
        while (left.iov_len > 0) {
            size_t some = left.iov_len < most ? left.iov_len : most;
            c->iov[c->n++] = (struct iovec){left.iov_base, some};
            left = (struct iovec){(char *)left.iov_base + some, left.iov_len - some};
        }
    }
    return c;
}

static int copy_start(struct wire_ep *base, const struct iovec *local, int n, uint64_t remote, uint64_t key, struct gw_done *done,
                      bool is_put)
{
    struct ofi_ep *ep = (struct ofi_ep *)base;
    struct wire *w = ep->w;
    if (!done || !key || !w->has_rma)
        return gw_fail(GW_EUNSUPPORTED, "memory of rank %d is not reached at once and without a key over the network", ep->rank);
    struct copy *c = copy_new(ep, local, n, done);
    c->is_put = is_put;
    c->remote = ofi_provider_addr(w, key, remote);
    c->key = ofi_provider_key(ep, key);
    ssize_t rc = copy_post(c);
    if (c->under_way) { /* posted parts complete, even if another one has failed */
        c->is_waiting = rc == -FI_EAGAIN;
        if (c->is_waiting)
            gw_list_push(&w->waiting, &c->link);
        else if (rc)
            c->err = ofi_fail(ep, is_put ? "writing" : "reading", (int)-rc);
        return GW_POSTED;
    }
    free(c);
    if (rc == 0) return GW_OK; /* it had no bytes */
    return rc == -FI_EAGAIN ? GW_AGAIN : ofi_fail(ep, is_put ? "writing" : "reading", (int)-rc);
}

int ofi_get(struct wire_ep *ep, const struct iovec *local, int n, uint64_t remote, uint64_t key, struct gw_done *done)
{
    return copy_start(ep, local, n, remote, key, done, false);
}

int ofi_put(struct wire_ep *ep, const struct iovec *local, int n, uint64_t remote, uint64_t key, struct gw_done *done)
{
    return copy_start(ep, local, n, remote, key, done, true);
}
