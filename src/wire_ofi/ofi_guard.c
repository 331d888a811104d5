/* ofi_guard.c -- lets only hosts of ranks that have asked for an address (ofi_ondemand.h) connect to libfabric's listening sockets
 * (ofi_admit.h).  One set of hosts for all lanes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "wire_ofi/ofi_fds.h"
#include "wire_ofi/ofi_private.h"

static struct ofi_admit admitted; /* hosts are never removed; lanes opened later admit them, too */

/* Off if all addresses are published at the start: then nobody asks, and the hosts are not known (adr 0018). */
static bool guard_is_on(void)
{
    if (gw_set.net_filter != GW_SET_NET_FILTER_AUTO) return gw_set.net_filter == GW_SET_NET_FILTER_ON;
    return gw_set.net_open == GW_SET_NET_OPEN_LATE;
}

static void guard(struct wire *w)
{
    int err = ofi_admit_attach(&admitted, w->listener);
    if (!err) return;
    GW_EXPLAIN(GW_LOG_WIRE, "lane %d: any host may connect: the kernel takes no filter: %s", w->lane, strerror(err));
    w->listener = -1;
}

void ofi_guard_begin(struct wire *w)
{
    union {
        struct sockaddr any;
        char room[OFI_NAME_MOST];
    } own;
    size_t bytes = sizeof own;
    if (w->listener >= 0 || !guard_is_on() || !ofi_is_by_tcp(w) || fi_getname(&w->ep->fid, &own, &bytes) != 0) return;
    w->listener = ofi_fds_listener(&own.any);
    if (w->listener >= 0) guard(w);
}

void ofi_guard_admit(struct wire *const lanes[], int n, const uint8_t (*from)[ADMIT_IP], int n_from)
{
    bool any = false;
    for (int i = 0; i < n_from; i++) any = ofi_admit_add(&admitted, from[i]) || any;
    for (int i = 0; i < n && any; i++)
        if (lanes[i] && lanes[i]->listener >= 0) guard(lanes[i]);
}

void ofi_guard_end(struct wire *w)
{
    if (w->listener < 0) return;
    (void)setsockopt(w->listener, SOL_SOCKET, SO_DETACH_FILTER, &(int){0}, sizeof(int));
    w->listener = -1;
}

void ofi_guard_forget(void) { admitted = (struct ofi_admit){0}; }
