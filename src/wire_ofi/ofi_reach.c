/* ofi_reach.c -- see ofi_reach.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_reach.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/time.h"
#include "wire_ofi/ofi_fds.h"
#include "wire_ofi/ofi_private.h"

enum { ESTABLISHED = 1, WARN_S = 5, NAME_MOST = 256, MARK_US = 50000, DOUBT_US = 1000000 };

/* ---- the table ---------------------------------------------------------------------------------- */
/* /proc/net/tcp prints an address as 32-bit words in host byte order. */
static bool address_is(const char *hex, const struct sockaddr *peer)
{
    const struct sockaddr_in *a4 = (const void *)peer;
    const struct sockaddr_in6 *a6 = (const void *)peer;
    size_t digits = strspn(hex, "0123456789abcdefABCDEF");
    uint32_t words[4] = {0}, want[4];
    if (digits != 8 && digits != 32) return false;
    for (size_t i = 0; i < digits / 8; i++) sscanf(hex + 8 * i, "%8x", &words[i]);
    if (peer->sa_family == AF_INET)
        return words[digits / 8 - 1] == a4->sin_addr.s_addr && (digits == 8 || words[2] == htonl(0xffff));
    memcpy(want, &a6->sin6_addr, sizeof want);
    return digits == 32 && memcmp(words, want, sizeof want) == 0;
}

bool ofi_reach_is_connected(const char *table, const struct sockaddr *peer)
{
    for (const char *line = strchr(table, '\n'); line; line = strchr(line + 1, '\n')) {
        char remote[64];
        unsigned state;
        if (sscanf(line + 1, "%*d: %*s %63s %x", remote, &state) == 2 && state == ESTABLISHED && address_is(remote, peer))
            return true;
    }
    return false;
}

static char *table_read(const char *path)
{
    size_t cap = 64 << 10, n = 0;
    char *text = malloc(cap);
    FILE *f = fopen(path, "re");
    while (f && text) {
        n += fread(text + n, 1, cap - 1 - n, f);
        if (n + 1 < cap) break;
        char *more = realloc(text, cap *= 2);
        if (!more) break;
        text = more;
    }
    if (f) fclose(f);
    if (text) text[n] = 0;
    return text;
}

/* ---- the peers ---------------------------------------------------------------------------------- */
bool ofi_is_by_tcp(const struct wire *w)
{
    uint32_t p = w->info->ep_attr->protocol;
    return !fabric_is_hardware && (w->info->addr_format == FI_SOCKADDR_IN || w->info->addr_format == FI_SOCKADDR_IN6) &&
        p != FI_PROTO_RXD && p != FI_PROTO_UDP;
}

void ofi_reach_begin(struct ofi_ep *ep)
{
    struct wire *w = ep->w;
    if (ep->rank == gw_boot.rank || !ofi_is_by_tcp(w)) return;
    uint64_t ticks = gw_ticks(), mark_at = ticks + MARK_US * gw_ticks_per_us();
    bool was_marking = w->is_marking, is_first = w->n_doubted == 0;
    assert(!ep->doubted_ns);
    ep->doubted_ns = w->connect_ns = gw_now_ns();
    w->is_marking = true;
    w->n_doubted++;
    if (!was_marking && (is_first || w->look_at > mark_at)) w->look_at = mark_at; /* never later than it was due before */
    if (is_first) w->doubt_at = ticks + DOUBT_US * gw_ticks_per_us();
}

void ofi_reach_unanswered(const struct ofi_ondemand_call *c, bool *is_warned)
{
    uint64_t seconds = (gw_now_ns() - c->begun_ns) / 1000000000;
    if (seconds < WARN_S || (*is_warned && !network_is_last(seconds))) return;
    *is_warned = true;
    network_complain_of(c->rank, c->at, (const struct sockaddr *)&c->to, sizeof c->to, seconds);
}

void ofi_reach_end(struct ofi_ep *ep)
{
    assert(ep->doubted_ns && ep->w->n_doubted > 0);
    ep->doubted_ns = 0;
    ep->w->n_doubted--;
}

static void ep_look(struct ofi_ep *ep, const char *tables[2], uint64_t now)
{
    char name[NAME_MOST];
    size_t bytes = sizeof name;
    if (fi_av_lookup(ep->w->av, ep->addr, name, &bytes) != 0 || bytes > sizeof name) {
        ofi_reach_end(ep);
        return;
    }
    const struct sockaddr *peer = (const void *)name;
    for (int i = 0; i < 2; i++)
        if (tables[i] && ofi_reach_is_connected(tables[i], peer)) {
            ofi_reach_end(ep);
            return;
        }
    uint64_t seconds = (now - ep->doubted_ns) / 1000000000;
    if (seconds < WARN_S || (ep->is_warned && !network_is_last(seconds))) return;
    ep->is_warned = true;
    char text[96] = "";
    size_t room = sizeof text;
    fi_av_straddr(ep->w->av, name, text, &room);
    network_complain_of(ep->rank, text, peer, (socklen_t)bytes, seconds);
}

static bool is_peer(const void *ctx, const struct sockaddr *to)
{
    const struct wire *w = ctx;
    union {
        struct sockaddr any;
        char room[NAME_MOST];
    } at;
    for (int r = 0; r < w->n_eps; r++) {
        size_t bytes = sizeof at;
        if (w->eps[r] && fi_av_lookup(w->av, w->eps[r]->addr, &at, &bytes) == 0 && ofi_address_is(&at.any, to)) return true;
    }
    return false;
}

/* Marks the lane's connections (ofi_fds.h); ends the marking `made_ns` after the last connection was begun. */
static void connections_mark(struct wire *w, uint64_t now)
{
    static const uint64_t made_ns = 10000000000; /* ofi_fds.h */
    union {
        struct sockaddr any;
        char room[NAME_MOST];
    } own;
    size_t bytes = sizeof own;
    assert(w->is_marking);
    if (fi_getname(&w->ep->fid, &own, &bytes) == 0) ofi_fds_mark_connections(&own.any, is_peer, w);
    if (now - w->connect_ns < made_ns) return;
    w->is_marking = false;
}

void ofi_reach_look(struct wire *w)
{
    static const uint64_t second_ns = 1000000000;
    uint64_t ticks = gw_ticks(), now = gw_now_ns();
    assert(w->look_at);
    if (ticks < w->look_at) return;
    uint64_t away_ns = (ticks - w->look_at) * 1000 / gw_ticks_per_us(); /* without progress nothing connects */
    for (int r = 0; r < w->n_eps && away_ns > second_ns; r++)
        if (w->eps[r] && w->eps[r]->doubted_ns) /* not beyond now, as the peer may have been doubted after this was due */
            w->eps[r]->doubted_ns = (uint64_t)gw_min64((int64_t)(w->eps[r]->doubted_ns + away_ns), (int64_t)now);
    w->look_at = ticks + (w->is_marking ? MARK_US : DOUBT_US) * gw_ticks_per_us();
    if (w->is_marking) connections_mark(w, now);
    if (!w->n_doubted && !w->is_marking) w->look_at = 0;
    if (!w->n_doubted || ticks < w->doubt_at) return;
    w->doubt_at = ticks + DOUBT_US * gw_ticks_per_us();
    char *four = table_read("/proc/net/tcp"), *six = table_read("/proc/net/tcp6");
    const char *tables[2] = {four, six};
    for (int r = 0; r < w->n_eps && w->n_doubted > 0; r++)
        if (w->eps[r] && w->eps[r]->doubted_ns) ep_look(w->eps[r], tables, now);
    free(four);
    free(six);
}
