/* ofi_regs.c -- the registration cache: which registrations are kept, found again, and closed.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_private.h"

#include <stdlib.h>

#include "base/count.h"
#include "base/os.h"
#include "wire_ofi/ofi_watch.h"

static const uint64_t remote = FI_REMOTE_READ | FI_REMOTE_WRITE;
static struct gw_list all = {&all, &all}; /* lanes with a cache; guarded by the watch's lock */

/* ---- with the watch's lock held: no allocation here (ofi_watch.h) --------------------------------------------------------- */
static void pages_gone(uintptr_t lo, uintptr_t hi)
{
    for (struct gw_list *l = all.next; l != &all; l = l->next) {
        struct ofi_regs *c = container_of(l, struct ofi_regs, link);
        for (int i = 0; i < c->n; i++) {
            struct ofi_reg *r = c->kept[i];
            if (r->is_gone || r->page_hi <= lo || r->page_lo >= hi) continue;
            r->is_gone = true;
            atomic_fetch_add_explicit(&c->n_gone, 1, memory_order_relaxed);
            gw_counted(&gw_count.registrations_gone, 1);
        }
    }
}

static struct ofi_reg *kept_find(struct ofi_regs *c, uintptr_t lo, uintptr_t hi, uint64_t access)
{
    for (int i = 0; i < c->n; i++) {
        struct ofi_reg *r = c->kept[i];
        if (r->lo > lo || r->hi < hi || (r->access & access) != access || r->is_gone) continue;
        if (!ofi_watch_is_calm(r->page_lo)) return NULL;
        memmove(c->kept + 1, c->kept, (size_t)i * sizeof *c->kept);
        return c->kept[0] = r;
    }
    return NULL;
}

static struct ofi_reg *kept_out(struct ofi_regs *c, int i)
{
    struct ofi_reg *r = c->kept[i];
    assert(i >= 0 && i < c->n && r->is_kept && c->bytes >= r->hi - r->lo);
    memmove(c->kept + i, c->kept + i + 1, (size_t)(--c->n - i) * sizeof *c->kept);
    c->bytes -= r->hi - r->lo;
    r->is_kept = false;
    if (r->is_gone) atomic_fetch_sub_explicit(&c->n_gone, 1, memory_order_relaxed);
    return r;
}

static void drop(struct ofi_reg *r, struct ofi_reg **dropped)
{
    r->next = *dropped;
    *dropped = r;
}

static bool has_room(const struct ofi_regs *c, int entries, size_t bytes)
{
    return c->n + entries <= c->most && c->bytes + bytes <= (size_t)gw_set.reg_cache_bytes;
}

/* ---- with the lane's lock only --------------------------------------------------------------------------------------------- */
static void reg_close(struct wire *w, struct ofi_reg *r)
{
    if (r->number) ofi_region_end(w, r);
    if (r->mr) fi_close(&r->mr->fid);
    free(r);
}

/* Closes registrations whose pages are gone (those in use after their last use).  Then closes the least recently used ones until
 * `entries` more registrations of `bytes` bytes fit the limits.  Returns how many of the latter it closed. */
static int make_room(struct wire *w, int entries, size_t bytes)
{
    struct ofi_regs *c = &w->regs;
    struct ofi_reg *dropped = NULL;
    int n = 0;
    ofi_watch_lock();
    for (int i = c->n - 1; i >= 0; i--) {
        if (!c->kept[i]->is_gone) continue;
        struct ofi_reg *r = kept_out(c, i);
        if (!r->users) drop(r, &dropped);
    }
    for (int i = c->n - 1; i >= 0 && !has_room(c, entries, bytes); i--)
        if (!c->kept[i]->users) drop(kept_out(c, i), &dropped), n++;
    ofi_watch_unlock();
    gw_counted(&gw_count.registrations_evicted, (uint64_t)n);
    for (struct ofi_reg *r; (r = dropped); reg_close(w, r)) dropped = r->next;
    return n;
}

void ofi_regs_sweep(struct wire *w) { make_room(w, 0, 0); }

/* Enters a registration into the cache and watches its memory.  Called before the pages are pinned, so that no
 * change of them is missed. */
static void keep(struct wire *w, struct ofi_reg *r)
{
    struct ofi_regs *c = &w->regs;
    size_t bytes = r->hi - r->lo;
    if (!c->kept || !bytes || bytes > (size_t)gw_set.reg_cache_bytes) return;
    make_room(w, 1, bytes);
    ofi_watch_lock();
    if (has_room(c, 1, bytes) && ofi_watch_begin(r->page_lo, r->page_hi)) {
        assert(!r->is_kept && c->n < c->most);
        memmove(c->kept + 1, c->kept, (size_t)c->n++ * sizeof *c->kept);
        c->kept[0] = r;
        c->bytes += bytes;
        r->is_kept = true;
    }
    ofi_watch_unlock();
}

static void forget(struct wire *w, struct ofi_reg *r)
{
    if (!r->is_kept) return;
    ofi_watch_lock();
    for (int i = w->regs.n - 1; i >= 0; i--)
        if (w->regs.kept[i] == r) kept_out(&w->regs, i);
    ofi_watch_unlock();
}

static int reg_open(struct wire *w, struct ofi_reg *r)
{
    int rc = r->access & remote && !r->number ? ofi_region_begin(w, r) : GW_OK;
    uint64_t key = r->number ? ofi_region_secret(w, w->key, r->number) : 0;
    return rc == GW_OK ? ofi_register(w, (void *)r->lo, r->hi - r->lo, r->access, key, &r->mr) : rc;
}

static int reg_new(struct wire *w, const void *p, size_t bytes, uint64_t access, struct ofi_reg **reg_out)
{
    struct ofi_reg *r = gw_xmalloc(sizeof *r);
    uintptr_t lo = (uintptr_t)p, page = gw_page_bytes();
    *r = (struct ofi_reg){.lo = lo, .hi = lo + bytes, .access = access, .users = 1};
    r->page_lo = lo & ~(page - 1);
    r->page_hi = gw_align_up(lo + bytes, page);
    keep(w, r);
    int rc = reg_open(w, r);
    /* Pinned memory is limited (ulimit -l, or by the card): close all registrations that are not in use, and try again. */
    if (rc != GW_OK && w->regs.kept && make_room(w, w->regs.most, 0)) rc = reg_open(w, r);
    if (rc != GW_OK) {
        forget(w, r);
        reg_close(w, r);
        return rc;
    }
    gw_counted(&gw_count.registrations, 1);
    *reg_out = r;
    return GW_OK;
}

int ofi_regs_take(struct wire *w, const void *p, size_t bytes, uint64_t access, struct ofi_reg **reg_out)
{
    struct ofi_reg *r = NULL;
    if (w->regs.kept) {
        ofi_watch_lock();
        r = kept_find(&w->regs, (uintptr_t)p, (uintptr_t)p + bytes, access);
        ofi_watch_unlock();
    }
    if (!r) return reg_new(w, p, bytes, access, reg_out);
    r->users++;
    gw_counted(&gw_count.registrations_found, 1);
    *reg_out = r;
    return GW_OK;
}

void ofi_regs_give(struct wire *w, struct ofi_reg *r)
{
    assert(r->users > 0);
    if (--r->users == 0 && !r->is_kept) reg_close(w, r);
}

/* ---- a lane comes and goes ------------------------------------------------------------------------------------------------- */
/* Are registrations to be kept?  If not, gw_fail_text() says why. */
static int are_wanted(const struct wire *w)
{
    if (gw_set.reg_cache == GW_SET_REG_CACHE_DISABLED)
        return gw_fail(GW_EUNSUPPORTED, "%s=disabled", gw_setting_said("GODWIT_REG_CACHE"));
    if (gw_set.reg_cache == GW_SET_REG_CACHE_AUTO && ofi_is_soft(w))
        return gw_fail(GW_EUNSUPPORTED, "with this provider they cost nothing");
    if (!gw_set.reg_cache_entries) return gw_fail(GW_EUNSUPPORTED, "%s=0", gw_setting_said("GODWIT_REG_CACHE_ENTRIES"));
    if (!ofi_by_userfaultfd())
        return gw_fail(GW_EUNSUPPORTED, "%s is not userfaultfd", gw_setting_said("GODWIT_REG_CACHE_MONITOR"));
    return GW_OK;
}

void ofi_regs_open(struct wire *w)
{
    struct ofi_regs *c = &w->regs;
    if (are_wanted(w) != GW_OK || ofi_watch_open(pages_gone) != GW_OK) {
        GW_EXPLAIN(GW_LOG_WIRE, "lane %d: registrations of memory are not kept: %s", w->lane, gw_fail_text());
        gw_fail_clear();
        return;
    }
    GW_EXPLAIN(GW_LOG_WIRE, "lane %d: registrations of memory are kept, at most %lld, until userfaultfd tells that it is freed",
               w->lane, (long long)gw_set.reg_cache_entries);
    c->most = (int)gw_set.reg_cache_entries;
    c->kept = gw_xcalloc((size_t)c->most, sizeof *c->kept);
    ofi_watch_lock();
    gw_list_push(&all, &c->link);
    ofi_watch_unlock();
}

void ofi_regs_close(struct wire *w)
{
    struct ofi_regs *c = &w->regs;
    struct ofi_reg *dropped = NULL;
    if (!c->kept) return;
    ofi_watch_lock();
    while (c->n) drop(kept_out(c, c->n - 1), &dropped);
    assert(c->bytes == 0); /* they were those of what was kept */
    gw_list_del(&c->link);
    ofi_watch_unlock();
    for (struct ofi_reg *r; (r = dropped); reg_close(w, r)) dropped = r->next;
    ofi_watch_close();
    free(c->kept);
    c->kept = NULL;
}
