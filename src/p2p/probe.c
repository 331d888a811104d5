/* probe.c -- probes, and matched messages as objects (MPI 4.1 section 3.8).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p/p2p_private.h"

#include <stdlib.h>

struct gw_msg gw_msg_no_proc;

/* One look, with progress when it finds nothing.  take: as mprobe. */
struct look {
    struct gw_done about;
    struct proto_addr addr;
    bool take;
    struct proto_msg *msg;
    struct gw_status status;
};

static bool look_once(void *arg)
{
    struct look *l = arg;
    gw_lock(&l->addr.lane->lock);
    bool found;
    if (l->take)
        found = (l->msg = proto_improbe(&l->addr, &l->status)) != NULL;
    else
        found = proto_iprobe(&l->addr, &l->status);
    gw_unlock(&l->addr.lane->lock);
    return found;
}

static void look_tell(struct gw_done *d, int err)
{
    (void)err;
    const struct look *l = container_of(d, struct look, about);
    const struct proto_addr *a = &l->addr;
    struct boot_where *where = node_report_begin();
    struct boot_pending *p = &where->pending[0];
    *p = (struct boot_pending){.about = BOOT_PROBE, .peer = a->rank, .tag = a->tag, .bytes = -1};
    p->world = a->peer ? (int32_t)(a->peer - a->lane->peers) : GW_ANY_SOURCE;
    p2p_report_comm(p, a->ctx >> GW_STREAM_BITS, NULL);
    where->n_pending = 1;
    p2p_report_end(where, a->lane);
}

static bool look_twice(struct look *l)
{
    if (look_once(l)) return true;
    req_look();
    if (look_once(l)) return true;
    if (unlikely(node_polled())) look_tell(&l->about, GW_OK);
    return false;
}

static struct look look_for(int src, int tag, struct gw_comm *c, bool take)
{
    return (struct look){.about.fn = look_tell, .addr = p2p_addr(c, src, tag, GW_STREAM_P2P), .take = take};
}

static void status_copy(struct gw_status *status, const struct gw_status *from)
{
    if (status) gw_status_fill(status, from->source, from->tag, gw_status_bytes(from), false);
}
static void status_procnull(struct gw_status *status)
{
    if (status) gw_status_fill(status, GW_PROC_NULL, GW_ANY_TAG, 0, false);
}

int p2p_probe(int src, int tag, struct gw_comm *c, struct gw_status *status)
{
    if (src == GW_PROC_NULL) {
        status_procnull(status);
        return GW_OK;
    }
    struct look l = look_for(src, tag, c, false);
    if (!look_once(&l)) req_block_about(c->lane, look_once, &l, &l.about);
    status_copy(status, &l.status);
    return GW_OK;
}

int p2p_iprobe(int src, int tag, struct gw_comm *c, int *flag_out, struct gw_status *status)
{
    *flag_out = 1;
    if (src == GW_PROC_NULL) {
        status_procnull(status);
        return GW_OK;
    }
    struct look l = look_for(src, tag, c, false);
    *flag_out = look_twice(&l);
    if (*flag_out) status_copy(status, &l.status);
    return GW_OK;
}

/* The handle is allocated before the message is removed from the queue, so that without memory the message stays. */
static int msg_new(struct gw_comm *c, struct gw_msg **msg_out)
{
    struct gw_msg *m = calloc(1, sizeof *m);
    if (!m) return gw_fail(GW_ENOMEM, "no memory for a message handle");
    int rc = gw_obj_register(&m->obj, GW_KIND_MSG);
    if (rc != GW_OK) {
        free(m);
        return rc;
    }
    m->comm = comm_hold(c);
    *msg_out = m;
    return GW_OK;
}

static void msg_free(struct gw_msg *m)
{
    gw_obj_unregister(&m->obj);
    comm_release(m->comm);
    free(m);
}

int p2p_mprobe(int src, int tag, struct gw_comm *c, struct gw_msg **msg_out, struct gw_status *status)
{
    if (src == GW_PROC_NULL) {
        status_procnull(status);
        *msg_out = &gw_msg_no_proc;
        return GW_OK;
    }
    struct look l = look_for(src, tag, c, true);
    struct gw_msg *m = NULL;
    int rc = msg_new(c, &m);
    if (rc != GW_OK) return rc;
    if (!look_once(&l)) req_block_about(c->lane, look_once, &l, &l.about);
    assert(l.msg);
    m->m = l.msg;
    *msg_out = m;
    status_copy(status, &l.status);
    return GW_OK;
}

int p2p_improbe(int src, int tag, struct gw_comm *c, int *flag_out, struct gw_msg **msg_out, struct gw_status *status)
{
    if (src == GW_PROC_NULL) {
        *flag_out = 1;
        return p2p_mprobe(src, tag, c, msg_out, status);
    }
    struct look l = look_for(src, tag, c, false);
    *flag_out = 0;
    if (!look_twice(&l)) return GW_OK;
    struct gw_msg *m = NULL;
    int rc = msg_new(c, &m);
    if (rc != GW_OK) return rc;
    l.take = true;
    if (!look_once(&l)) { /* another thread has taken it meanwhile */
        msg_free(m);
        return GW_OK;
    }
    m->m = l.msg;
    *msg_out = m;
    *flag_out = 1;
    status_copy(status, &l.status);
    return GW_OK;
}

int p2p_imrecv(void *buf, int64_t count, struct gw_type *t, struct gw_msg **msg, struct gw_req **req_out)
{
    struct gw_msg *m = *msg;
    if (m == &gw_msg_no_proc) {
        *req_out = &gw_req_procnull;
        *msg = NULL;
        return GW_OK;
    }
    struct gw_lane *lane = proto_msg_lane(m->m);
    struct gw_data d = gw_data_of(buf, count, t);
    gw_lock(&lane->lock);
    int rc = proto_mrecv(lane, m->m, &d, p2p_errctx(m->comm), req_out);
    gw_unlock(&lane->lock);
    if (rc < 0) return rc;
    msg_free(m);
    *msg = NULL;
    return GW_OK;
}

int p2p_mrecv(void *buf, int64_t count, struct gw_type *t, struct gw_msg **msg, struct gw_status *status)
{
    struct gw_req *r;
    int rc = p2p_imrecv(buf, count, t, msg, &r);
    if (rc < 0) return rc;
    if (r == &gw_req_procnull) {
        status_procnull(status);
        return GW_OK;
    }
    return req_wait(&r, status);
}
