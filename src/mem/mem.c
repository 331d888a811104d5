/* mem.c -- the table of kinds, and what is the same for all of them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mem/mem.h"

#include "base/lock.h"

enum { BOUNCE_BYTES = 16384 }; /* on the stack: a copy between two kinds that the CPU may not touch goes through it */

static const struct mem_driver host = {.name = "host", .cpu_may_touch = true};
static struct {
    const struct mem_driver *drivers[MEM_KINDS]; /* by kind */
    int n;
} kinds = {.drivers = {&host}, .n = 1};
bool mem_has_drivers;

int mem_add(const struct mem_driver *d)
{
    if (kinds.n == MEM_KINDS)
        return gw_fail(GW_EARG, "memory of kind %s cannot be used: there are %d kinds already, which is the most", d->name,
                       kinds.n);
    kinds.drivers[kinds.n] = d;
    mem_has_drivers = gw_slow_path = gw_args_wanted = true;
    return kinds.n++;
}

const char *mem_kind_name(int kind) { return kinds.drivers[kind]->name; }

void mem_query(const void *p, struct mem_attr *attr_out)
{
    for (int kind = 1; kind < kinds.n; kind++)
        if (kinds.drivers[kind]->query(p, attr_out)) {
            attr_out->kind = kind;
            return;
        }
    *attr_out = (struct mem_attr){.kind = MEM_HOST, .device = -1};
}

int mem_kind(const void *p)
{
    struct mem_attr a;
    mem_query(p, &a);
    return a.kind;
}

bool mem_kind_is_cpu(int kind) { return kinds.drivers[kind]->cpu_may_touch; }

/* Who copies between the two kinds: NULL: nobody but the CPU may, in between. */
static const struct mem_driver *copier(int to, int from)
{
    const struct mem_driver *t = kinds.drivers[to], *f = kinds.drivers[from];
    if (f->cpu_may_touch) return t->cpu_may_touch ? &host : t;
    return t->cpu_may_touch || t == f ? f : NULL;
}

/* Through memory of the CPU, piece by piece. */
static int bounce(const struct mem_driver *to, char *dst, const struct mem_driver *from, const char *src, size_t n)
{
    char piece[BOUNCE_BYTES];
    int rc = GW_OK;
    for (size_t at = 0, len; rc >= 0 && at < n; at += len) {
        len = n - at < sizeof piece ? n - at : sizeof piece;
        rc = from->copy(piece, src + at, len);
        if (rc >= 0) rc = to->copy(dst + at, piece, len);
    }
    return rc;
}

int mem_copy_among(void *dst, const void *src, size_t n)
{
    int to = mem_kind(dst), from = mem_kind(src);
    const struct mem_driver *d = copier(to, from);
    if (!d) return bounce(kinds.drivers[to], dst, kinds.drivers[from], src, n);
    if (d != &host) return d->copy(dst, src, n);
    memcpy(dst, src, n);
    return GW_OK;
}

int mem_copy_start(void *dst, const void *src, size_t n, struct gw_done *done)
{
    const struct mem_driver *d = copier(mem_kind(dst), mem_kind(src));
    return d && d->copy_start ? d->copy_start(dst, src, n, done) : mem_copy(dst, src, n);
}

void mem_progress(void)
{
    for (int kind = 1; kind < kinds.n; kind++)
        if (kinds.drivers[kind]->progress) kinds.drivers[kind]->progress();
}

int mem_share(const void *p, struct mem_token *token_out)
{
    int kind = mem_kind(p);
    const struct mem_driver *d = kinds.drivers[kind];
    if (!d->share) return gw_fail(GW_EARG, "memory of kind %s at %p cannot be shown to other processes", d->name, p);
    int rc = d->share(p, token_out);
    if (rc >= 0) token_out->kind = kind;
    return rc;
}

int mem_open(const struct mem_token *token, void **p_out)
{
    /* It came from another process: nothing in it is trusted. */
    if (token->kind <= MEM_HOST || token->kind >= kinds.n || !kinds.drivers[token->kind]->open || token->len > MEM_TOKEN_BYTES)
        return gw_fail(GW_EARG, "another process's memory cannot be opened: this process knows no kind %d with a token of %u bytes",
                       (int)token->kind, (unsigned)token->len);
    return kinds.drivers[token->kind]->open(token, p_out);
}

void mem_close(int kind, void *p) { kinds.drivers[kind]->close(p); }
