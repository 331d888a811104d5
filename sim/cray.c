/* cray.c -- the documents' variables for cards with mailboxes and two engines.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cray.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "base/settings.h"
#include "proto/proto_private.h"

enum { STEP = 128, MOST_THRESHOLD = 64 << 10, MOST_MAILBOXES = 1 << 24, HEAD = 40, LARGE_PAGE = 2 << 20 };

static bool size_of(const char *name, int64_t most, int64_t *out, char *error_out, int error_cap)
{
    const char *text = getenv(name);
    if (!text) return true;
    if (!gw_number_read(text, true, out) || *out < 1)
        return snprintf(error_out, (size_t)error_cap, "%s=%s is no size", name, text), false;
    if (*out > most) return snprintf(error_out, (size_t)error_cap, "%s=%s: %lld at most", name, text, (long long)most), false;
    unsetenv(name);
    return true;
}

bool cray_read(struct cray *c_out, char *error_out, int error_cap)
{
    struct cray c = {.rdma_threshold = 0};
    const char *protocol = getenv("MPICH_GNI_VC_MSG_PROTOCOL"), *dmapp = getenv("MPICH_USE_DMAPP_COLL");
    if (!size_of("MPICH_GNI_RDMA_THRESHOLD", INT64_MAX, &c.rdma_threshold, error_out, error_cap) ||
        !size_of("MPICH_GNI_MBOXES_PER_BLOCK", MOST_MAILBOXES, &c.mailboxes_per_block, error_out, error_cap))
        return false;
    if (dmapp && !gw_set_bool(dmapp, &c.dmapp_coll))
        return snprintf(error_out, (size_t)error_cap, "MPICH_USE_DMAPP_COLL=%s is neither 0 nor 1", dmapp), false;
    if (protocol && strcasecmp(protocol, "MSGQ") != 0 && strcasecmp(protocol, "MBOX") != 0)
        return snprintf(error_out, (size_t)error_cap, "MPICH_GNI_VC_MSG_PROTOCOL=%s is neither MBOX nor MSGQ", protocol), false;
    c.msgq = protocol && strcasecmp(protocol, "MSGQ") == 0;
    unsetenv("MPICH_GNI_VC_MSG_PROTOCOL"), unsetenv("MPICH_USE_DMAPP_COLL");
    *c_out = c;
    return true;
}

bool cray_apply(const struct cray *c, struct machine *m, char *error_out, int error_cap)
{
    const char *lacks = NULL;
    int64_t threshold = (gw_min64(c->rdma_threshold, MOST_THRESHOLD) + STEP - 1) / STEP * STEP;
    bool has_fma = m->n_engines > 1 && strcmp(m->engines[0].name, "fma") == 0;
    if (c->rdma_threshold && !has_fma) lacks = "MPICH_GNI_RDMA_THRESHOLD: it has no engine fma beside another one";
    if (c->rdma_threshold && has_fma) m->engines[0].upto = (double)threshold - 1;
    if (c->dmapp_coll && !m->offload_radix) lacks = "MPICH_USE_DMAPP_COLL: its network reduces nothing";
    if (c->msgq && m->nic_queue <= 0) lacks = "MPICH_GNI_VC_MSG_PROTOCOL: it has no queues of nodes (nic queue=)";
    if (c->msgq && m->nic_queue > m->nic_g) m->nic_g = m->nic_queue;
    if (lacks) return snprintf(error_out, (size_t)error_cap, "%s: %s", m->name, lacks), false;
    return true;
}

int64_t cray_mailbox_room(int64_t ranks)
{
    assert(ranks > 0 && ranks <= INT32_MAX);
    return gw_set.net_short_max >= 0 ? gw_set.net_short_max : proto_far_short_default((int)ranks);
}

struct cray_mailboxes cray_mailboxes(const struct cray *c, const struct machine *m, int64_t ranks)
{
    struct cray_mailboxes b = {.bytes = cray_mailbox_room(ranks) + HEAD};
    int64_t nodes = (ranks + m->node_ranks - 1) / m->node_ranks, here = gw_min64(ranks, m->node_ranks), peers = ranks - 1;
    /* A block is a registration: what fits a large page, and no more than there are peers. */
    b.per_block = gw_max64(gw_min64(peers, c->mailboxes_per_block ? c->mailboxes_per_block : LARGE_PAGE / b.bytes), 1);
    b.blocks_of_all = (peers + b.per_block - 1) / b.per_block;
    b.all = here * peers * b.bytes;
    b.ring = here * gw_min64(peers, 2) * b.bytes;
    b.low = (nodes - 1) * b.bytes;
    return b;
}
