/* alive.c -- checks that the hosts of the other nodes are still alive, if nothing else does.
 *
 * TCP does not tell a receiver that its sender's host is gone, and launchers that lose a host do not end the ranks on others.  So
 * the first rank of each node probes the hosts of the other nodes (boot.h; if there are very many, those with the next numbers).
 * If one does not answer, it ends the job with a message that names the host; a node that is cut off finds that none answers.  Our
 * mpiexec watches hosts, too; it acts earlier, and cleans up.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/settings.h"
#include "base/time.h"
#include "boot/alive.h"
#include "boot/boot.h"
#include "boot/kvs.h"
#include "boot/world.h"
#include "net/network.h"

enum { HOST_MOST = 64, WATCH_MOST = 64 };
static const char key[] = "gw.host.at"; /* value: "ADDRESS HOST", published by the first rank of a node */

struct network_alive {
    uint64_t look_ns; /* time of the next look */
    uint64_t all_ns;  /* then hosts not met are looked up, too: late where the launcher lets us wait for ranks that start late */
    int n, n_known;   /* hosts to be watched; those of them whose address is known */
    bool is_deaf;     /* the launcher does not answer: no more hosts are looked up */
    struct watched {  /* of the next nodes, in their order */
        struct boot_ask ask;
        bool is_known, is_met; /* its address is; ranks there have connected with this one */
        uint64_t told_ns;      /* when its silence was reported; 0: it is not */
        char host[HOST_MOST];
    } of[];
};

static bool is_watched(void) { return gw_boot.local_rank == 0 && !boot_is_on_one_host() && gw_set.host_timeout > 0; }

int network_alive_publish(const struct sockaddr *at)
{
    char value[INET6_ADDRSTRLEN + HOST_MOST + 2] = "";
    const void *address = at->sa_family == AF_INET6 ? (const void *)&((const struct sockaddr_in6 *)(const void *)at)->sin6_addr
                                                    : &((const struct sockaddr_in *)(const void *)at)->sin_addr;
    if (!is_watched() || !inet_ntop(at->sa_family, address, value, INET6_ADDRSTRLEN)) return GW_OK;
    gw_text_add(value, sizeof value, " %.63s", gw_boot.host);
    return boot_put(key, value);
}

struct network_alive *network_alive_begin(void)
{
    static const uint64_t soon_ns = 200000000, late_ns = 3000000000;
    if (!is_watched()) return NULL;
    assert(gw_boot.nnodes > 1);
    int n = gw_boot.nnodes - 1 < WATCH_MOST ? gw_boot.nnodes - 1 : WATCH_MOST;
    struct network_alive *a = gw_xcalloc(1, sizeof *a + (size_t)n * sizeof *a->of);
    a->look_ns = gw_now_ns() + soon_ns;
    a->all_ns = gw_now_ns() + (boot_is_direct() ? late_ns : soon_ns);
    a->n = n;
    return a;
}

/* Looks up the address of a node's host, which its first rank has published by now. */
static bool find(struct watched *h, int node)
{
    char value[INET6_ADDRSTRLEN + HOST_MOST + 2], address[INET6_ADDRSTRLEN] = "";
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    int rank = 0;
    assert(node >= 0 && node < gw_boot.nnodes && node != gw_boot.node);
    while (boot_node_of(rank) != node) rank++;
    if (boot_get(rank, key, value, sizeof value) != GW_OK || sscanf(value, "%45s %63s", address, h->host) != 2) return false;
    bool is_four = inet_pton(AF_INET, address, &four.sin_addr) == 1, is_six = inet_pton(AF_INET6, address, &six.sin6_addr) == 1;
    if (is_four) boot_ask_begin(&h->ask, (struct sockaddr *)&four, sizeof four);
    if (is_six) boot_ask_begin(&h->ask, (struct sockaddr *)&six, sizeof six);
    h->ask.from_start = true;
    return is_four || is_six;
}

/* Looks up one more host: a request to the launcher takes time, and the launcher answers none while this rank waits in
 * MPI_Finalize. */
static void know_more(struct network_alive *a)
{
    assert(a->n_known >= 0 && a->n_known <= a->n && a->n <= WATCH_MOST);
    if (a->n_known == a->n || a->is_deaf || boot_fence_is_going()) return;
    bool are_all = gw_now_ns() >= a->all_ns;
    int i = 0;
    while (i < a->n && (a->of[i].is_known || (!are_all && !a->of[i].is_met))) i++;
    if (i == a->n) return;
    a->of[i].is_known = find(&a->of[i], (gw_boot.node + 1 + i) % gw_boot.nnodes);
    if (a->of[i].is_known)
        a->n_known++;
    else
        a->is_deaf = true;
}

void network_alive_met(struct network_alive *a, int rank)
{
    if (!a || rank >= gw_boot.size) return;
    int i = (boot_node_of(rank) - gw_boot.node - 1 + gw_boot.nnodes) % gw_boot.nnodes;
    if (i < a->n) a->of[i].is_met = true;
}

/* Users see why nothing goes on.  Each host is reported by the node before it, so that there is one line about it. */
static void tell(struct watched *h, double silent)
{
    uint64_t now = gw_now_ns();
    if (unlikely(!h->told_ns && silent > (double)gw_set.host_timeout / 2)) {
        h->told_ns = now - (uint64_t)(silent * 1e9);
        gw_warn("host %s has not answered for %d s; ranks wait for it (GODWIT_HOST_TIMEOUT=%d)", h->host, (int)silent,
                (int)gw_set.host_timeout);
    } else if (unlikely(h->told_ns && !h->ask.failed_ns)) {
        gw_note("host %s answers again, after %d s", h->host, (int)((double)(now - h->told_ns) * 1e-9));
        h->told_ns = 0;
    }
}

void network_alive_look(struct network_alive *a)
{
    static const uint64_t every_ns = 100000000;
    uint64_t now;
    if (likely(!a) || (now = gw_now_ns()) < a->look_ns) return;
    a->look_ns = now + every_ns;
    know_more(a);
    double timeout = (double)gw_set.host_timeout;
    for (int i = 0; i < a->n; i++) {
        if (!a->of[i].is_known) continue;
        double silent = boot_ask_step(&a->of[i].ask, timeout / 4);
        if (i == 0) tell(&a->of[i], silent);
        if (unlikely(boot_host_is_lost(&a->of[i].ask, silent))) boot_host_is_gone(a->of[i].host, silent);
    }
}

void network_alive_end(struct network_alive *a)
{
    for (int i = 0; a && i < a->n; i++)
        if (a->of[i].is_known) boot_ask_end(&a->of[i].ask);
    free(a);
}
