/* ofi.c -- a lane's libfabric endpoint: opening, exchange of addresses, connecting, closing.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_private.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/time.h"
#include "boot/kvs.h"
#include "wire_ofi/ofi_fds.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    PACK_MAX = 128 << 10,
    PACK_MAX_LAYERED = 8 << 10,
    AV_MOST = 1024, /* initial room of the address vector; libfabric enlarges it */
};

/* What all lanes share.  LOCK: `opening`, unless the comment says otherwise. */
static struct ofi_all {
    pthread_mutex_t opening; /* held while a lane is opened or closed */
    struct fid_fabric *fabric;
    struct fi_info *chosen;           /* the provider and network card */
    int n_open;                       /* lanes that use the fabric */
    struct wire *wires[GW_MAX_LANES]; /* by lane; NULL: not made yet */
    bool is_shared;                   /* own_at has been published */
    char own_at[ONDEMAND_AT];         /* where peers can ask for an address of this process; "": nowhere yet */
    int woken;                        /* eventfd: a lane was opened on request of a peer; -1: none */
    atomic_flag is_asymmetry_said;    /* the warning that nodes have different network cards is given once */
} ofi_all = {.opening = PTHREAD_MUTEX_INITIALIZER, .woken = -1, .is_asymmetry_said = ATOMIC_FLAG_INIT};

int ofi_fail(const struct ofi_ep *ep, const char *doing, int err)
{
    char name[96] = "";
    size_t n = sizeof name;
    const struct wire *w = ep->w;
    char bytes[OFI_NAME_MOST];
    size_t have = sizeof bytes;
    if (fi_av_lookup(w->av, ep->addr, bytes, &have) == 0 && have <= sizeof bytes) fi_av_straddr(w->av, bytes, name, &n);
    return gw_fail(GW_EOTHER, "%s over the network to or from rank %d (%s, provider %s on %s of %s) failed: %s", doing, ep->rank,
                   name[0] ? name : "address unknown", ofi_provider_name(w), w->info->domain_attr->name, gw_boot.host,
                   fabric_lib.strerror(err));
}

/* ---- choosing and opening ------------------------------------------------------------------------------------------------- */
static int fabric_open(void)
{
    int rc = fabric_lib_open(!ofi_ondemand_is_on());
    if (rc == GW_OK) rc = fabric_choose(&ofi_all.chosen);
    if (rc != GW_OK) return rc;
    rc = fabric_lib.fabric(ofi_all.chosen->fabric_attr, &ofi_all.fabric, NULL);
    if (rc == 0) return GW_OK;
    return gw_fail(GW_EOTHER, "provider %s cannot be opened: %s", ofi_all.chosen->fabric_attr->prov_name, fabric_lib.strerror(-rc));
}

static void fabric_close(void)
{
    if (--ofi_all.n_open > 0) return;
    if (ofi_all.fabric) fi_close(&ofi_all.fabric->fid);
    if (ofi_all.chosen) fabric_lib.freeinfo(ofi_all.chosen);
    ofi_all.fabric = NULL;
    ofi_all.chosen = NULL;
}

static int cq_open(struct wire *w)
{
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_FD};
    int rc = fi_cq_open(w->domain, &attr, &w->cq, NULL);
    w->fd = -1;
    if (rc == 0 && fi_control(&w->cq->fid, FI_GETWAIT, &w->fd) != 0) w->fd = -1;
    if (rc == 0) return 0;
    attr.wait_obj = FI_WAIT_NONE;
    return fi_cq_open(w->domain, &attr, &w->cq, NULL);
}

/* Opens all libfabric objects of a lane, up to an enabled endpoint.  Returns the name of the call that failed, or NULL. */
static const char *objects_open(struct wire *w, int *rc_out)
{
    /* Without a number, libfabric's own providers make room for 1024 addresses at the first. */
    struct fi_av_attr av = {.type = FI_AV_TABLE, .count = (size_t)gw_min64(gw_boot.size, AV_MOST)};
    int rc = fi_domain(ofi_all.fabric, w->info, &w->domain, NULL);
    if ((*rc_out = rc)) return "its domain";
    if ((*rc_out = cq_open(w))) return "a completion queue";
    if ((*rc_out = fi_av_open(w->domain, &av, &w->av, NULL))) return "an address vector";
    if ((*rc_out = fi_endpoint(w->domain, w->info, &w->ep, NULL))) return "an endpoint";
    if ((*rc_out = fi_ep_bind(w->ep, &w->cq->fid, FI_TRANSMIT | FI_RECV)) || (*rc_out = fi_ep_bind(w->ep, &w->av->fid, 0)))
        return "its endpoint's queues";
    size_t largest = w->packet_max;
    if (w->info->caps & FI_MULTI_RECV &&
        (*rc_out = fi_setopt(&w->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &largest, sizeof largest)))
        return "receive buffers for many messages";
    ofi_guard_begin(w); /* libfabric 1.17 has bound its socket, and listens from the next call on */
    if ((*rc_out = fi_enable(w->ep))) return "its endpoint";
    ofi_guard_begin(w); /* other versions bind it by then */
    return NULL;
}

static int where_make(struct wire *w)
{
    uint8_t name[OFI_NAME_MOST];
    size_t bytes = sizeof name;
    int rc = fi_getname(&w->ep->fid, name, &bytes);
    if (rc || bytes > sizeof name)
        return gw_fail(GW_EOTHER, "provider %s does not say its address: %s", ofi_provider_name(w),
                       fabric_lib.strerror(rc ? -rc : FI_ETOOSMALL));
    w->where = ofi_place_text(w, name, bytes);
    return GW_OK;
}

static int ofi_opened(void)
{
    if (gw_boot.size == 1 || ofi_all.is_shared || fabric_has_other_jobs) return GW_OK;
    ofi_all.is_shared = network_is_deferred;
    return boot_share();
}

static void explain(const struct wire *w)
{
    char name[OFI_NAME_MOST], text[96] = "";
    size_t bytes = sizeof name, room = sizeof text;
    if (fi_getname(&w->ep->fid, name, &bytes) == 0) fi_av_straddr(w->av, name, text, &room);
    GW_EXPLAIN(GW_LOG_WIRE,
               "lane %d: network by libfabric %u.%u, provider %s, address %s; injects %zu bytes, packets to %zu, %s%s%s%s", w->lane,
               FI_MAJOR(fabric_lib.version()), FI_MINOR(fabric_lib.version()), ofi_provider_name(w), text, w->inject_max,
               w->pack_max, w->has_rma ? "reads and writes memory" : "no access to memory", w->is_tagged ? ", matches with " : "",
               w->is_tagged ? ofi_tag_mode_names[w->layout.mode] : "",
               w->listener >= 0 ? "; hosts whose ranks have asked for that may connect" : "");
}

static void wire_shut(struct wire *w);

/* Opens a lane.  On failure all that was opened is closed again. */
static int wire_open(struct wire *w)
{
    int err = 0, rc = ofi_all.n_open++ == 0 ? fabric_open() : GW_OK;
    if (rc != GW_OK) {
        fabric_close();
        return rc;
    }
    w->info = fabric_lib.dupinfo(ofi_all.chosen);
    if (!w->info) gw_die("no memory for the description of a network");
    /* A layer over another provider (tcp;ofi_rxm) has its own rendezvous for messages from 16 KiB on, and later small messages
     * overtake them. Only injected messages arrive in order there. */
    bool is_layered = strchr(w->info->fabric_attr->prov_name, ';') != NULL;
    w->pack_max = (size_t)gw_min64(is_layered ? PACK_MAX_LAYERED : PACK_MAX, (int64_t)(w->info->ep_attr->max_msg_size >> 1));
    w->pack_max -= w->pack_max % OFI_ALIGN;
    w->packet_max = OFI_KEY_BYTES + ofi_total(w->pack_max);
    w->iov_max =
        (size_t)gw_max64(1, (int64_t)gw_min64((int64_t)w->info->tx_attr->iov_limit, (int64_t)w->info->tx_attr->rma_iov_limit));
    /* If the provider chooses the keys and wants offsets, a key of 64 bits has no room for the region's address as well. */
    w->has_rma = w->info->caps & FI_RMA && !offer_fails_at_memory(w->info->ep_attr->protocol) &&
        w->info->domain_attr->mr_key_size <= sizeof(uint64_t) && (!ofi_needs(w, FI_MR_PROV_KEY) || ofi_needs(w, FI_MR_VIRT_ADDR));
    w->has_direct = w->info->caps & FI_TAGGED && !ofi_needs(w, FI_MR_LOCAL) && !(w->info->mode & (FI_CONTEXT | FI_CONTEXT2));
    w->eps = gw_xcalloc((size_t)node_numbers_max(), sizeof(struct ofi_ep *)); /* untouched pages cost no memory */
    w->events = gw_xcalloc((size_t)gw_set.progress_event_cnt, sizeof *w->events);
    const char *failed = objects_open(w, &err);
    if (failed)
        rc = gw_fail(GW_EOTHER, "the network cannot be opened: provider %s refuses %s: %s", ofi_provider_name(w), failed,
                     fabric_lib.strerror(-err));
    if (rc == GW_OK) rc = ofi_tagged_open(w);
    if (rc == GW_OK) rc = ofi_key_draw(w);
    if (rc == GW_OK) rc = ofi_sends_open(w);
    if (rc == GW_OK) rc = ofi_recvs_open(w);
    if (rc == GW_OK) rc = where_make(w);
    if (rc == GW_OK) w->alive = w->lane == 0 && ofi_is_by_tcp(w) ? network_alive_begin() : NULL;
    if (rc != GW_OK) {
        wire_shut(w);
        return rc;
    }
    if (unlikely(gw_log_mask & GW_LOG_WIRE)) explain(w);
    ofi_regs_open(w);
    return GW_OK;
}

/* ---- opening on demand
 * ------------------------------------------------------------------------------------------------------------ A lane is opened by
 * its first message to another node, or when a peer asks for its address (ofi_ondemand.h).  In the second case the thread of
 * ofi_ondemand.c opens it.  The lane notices that in its next round of progress; if it sleeps, the eventfd `woken` wakes it. */

/* The wire of a lane, allocated at the first call.  `opening` is held. */
static struct wire *wire_of(int lane)
{
    struct wire *w = ofi_all.wires[lane];
    if (w) return w;
    w = ofi_all.wires[lane] = gw_xcalloc(1, sizeof *w);
    w->lane = lane;
    w->fd = w->listener = -1;
    gw_list_init(&w->waiting);
    gw_list_init(&w->direct_waiting);
    return w;
}

/* Opens a lane that was never opened, and stores whether that worked.  `opening` is held. */
static void open_once(struct wire *w)
{
    if (atomic_load_explicit(&w->state, memory_order_relaxed) != OFI_CLOSED) return;
    struct ofi_fds before;
    ofi_fds_note(&before);
    bool is_open = wire_open(w) == GW_OK;
    ofi_fds_mark_new(&before);
    if (!is_open && !(w->where = strdup(gw_fail_text()))) gw_die("no memory for an error");
    /* Release: a thread that reads OFI_READY sees the objects. */
    atomic_store_explicit(&w->state, is_open ? OFI_READY : OFI_FAILED, memory_order_release);
}

/* Opens the network on this lane if it is not open yet. */
static GW_COLD int need(struct wire *w)
{
    uint64_t n;
    if (likely(w->is_open)) return GW_OK;
    pthread_mutex_lock(&ofi_all.opening);
    open_once(w);
    if (ofi_all.woken >= 0) (void)!read(ofi_all.woken, &n, sizeof n); /* other lanes check `state` before they sleep (ofi_arm) */
    pthread_mutex_unlock(&ofi_all.opening);
    bool has_failed = atomic_load_explicit(&w->state, memory_order_acquire) == OFI_FAILED;
    /* The job ends, as it would have in MPI_Init if the lane had been opened there. */
    if (has_failed && network_is_deferred && !fabric_has_other_jobs) gw_die("the network between nodes: %s", w->where);
    if (has_failed) return gw_fail(GW_EUNSUPPORTED, "%s", w->where);
    w->is_open = true;
    return network_is_deferred && w->fd >= 0 ? node_wait_on(w->fd) : GW_OK;
}

bool ofi_was_opened(struct wire *w)
{
    return atomic_load_explicit(&w->state, memory_order_acquire) == OFI_READY && need(w) == GW_OK;
}

/* Opens a lane on request of a peer; where_out gets its address.  Runs in the thread of ofi_ondemand.c. */
static int open_for_others(int lane, const struct ofi_ondemand_client *asker, char where_out[ONDEMAND_VALUE])
{
    assert(lane >= 0 && lane < GW_MAX_LANES);
    pthread_mutex_lock(&ofi_all.opening);
    struct wire *w = wire_of(lane);
    if (asker) ofi_guard_admit(ofi_all.wires, GW_MAX_LANES, asker->from, asker->n);
    bool was_closed = atomic_load_explicit(&w->state, memory_order_relaxed) == OFI_CLOSED;
    open_once(w);
    bool is_open = atomic_load_explicit(&w->state, memory_order_relaxed) == OFI_READY;
    if (is_open && was_closed) (void)!write(ofi_all.woken, &(uint64_t){1}, sizeof(uint64_t));
    snprintf(where_out, ONDEMAND_VALUE, "%s", w->where);
    pthread_mutex_unlock(&ofi_all.opening);
    return is_open ? GW_OK : gw_fail(GW_EUNSUPPORTED, "%s", where_out);
}

/* Marks the connections of all lanes (ofi_fds.h), when the peers that asked have had time to connect.  Runs in the thread of
 * ofi_ondemand.c. */
static void connections_mark(void)
{
    union {
        struct sockaddr any;
        char room[OFI_NAME_MOST];
    } own;
    pthread_mutex_lock(&ofi_all.opening);
    for (int i = 0; i < GW_MAX_LANES; i++) {
        size_t bytes = sizeof own;
        bool is_open = ofi_all.wires[i] && atomic_load_explicit(&ofi_all.wires[i]->state, memory_order_relaxed) == OFI_READY;
        if (is_open && ofi_is_by_tcp(ofi_all.wires[i]) && fi_getname(&ofi_all.wires[i]->ep->fid, &own, &bytes) == 0)
            ofi_fds_mark_connections(&own.any, NULL, NULL);
    }
    pthread_mutex_unlock(&ofi_all.opening);
}

/* May opening wait until a message needs the network?  Not if the user wants reports about the network or the cards' counters, if
 * all ranks connect at once, or if the user chose a provider or an interface, whose absence must be reported in MPI_Init. */
static bool may_be_deferred(void)
{
    bool is_looked_at = gw_log_mask & GW_LOG_WIRE || gw_set.nic_verbose > 0 || gw_set.nic_counter_report > 0;
    return gw_boot.size > 1 && gw_set.net_open == GW_SET_NET_OPEN_LATE && !is_looked_at && !boot_connects_all() &&
        !network_chosen_by();
}

/* Prepares opening on demand.  Called with the first lane. */
static int deferred_begin(void)
{
    char at[ONDEMAND_AT];
    struct sockaddr_storage address;
    int lanes = gw_set.lanes > 0 ? (int)gw_set.lanes : WIRE_LANES_AUTO;
    ofi_all.woken = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (ofi_all.woken < 0 || !ofi_ondemand_begin(fabric_is_far(), lanes, open_for_others, connections_mark, at, &address))
        return GW_OK;
    network_is_deferred = true;
    snprintf(ofi_all.own_at, sizeof ofi_all.own_at, "%s", at);
    int rc = network_card_put("gw.net.0", at);
    return rc == GW_OK ? network_alive_publish((struct sockaddr *)&address) : rc;
}

/* What is published of an open lane: its address, or where peers must ask for the address, so that their hosts are known before
 * they connect.  NULL: nothing, as peers that ask at lane 0 are told the address of this lane, too. */
static const char *where_public(struct wire *w)
{
    struct sockaddr_storage address;
    int lanes = gw_set.lanes > 0 ? (int)gw_set.lanes : WIRE_LANES_AUTO;
    pthread_mutex_lock(&ofi_all.opening);
    if (w->lane == 0 && w->listener >= 0 && !ofi_all.own_at[0] &&
        !ofi_ondemand_begin(fabric_is_far(), lanes, open_for_others, connections_mark, ofi_all.own_at, &address))
        ofi_all.own_at[0] = 0;
    if (!ofi_all.own_at[0]) ofi_guard_end(w);
    const char *where = !ofi_all.own_at[0] ? w->where : w->lane == 0 ? ofi_all.own_at : NULL;
    pthread_mutex_unlock(&ofi_all.opening);
    return where;
}

static int publish(struct wire *w)
{
    char key[32];
    union {
        struct sockaddr any;
        char room[OFI_NAME_MOST];
    } at;
    size_t bytes = sizeof at;
    if (gw_boot.size == 1) return GW_OK;
    const char *where = where_public(w);
    snprintf(key, sizeof key, "gw.net.%d", w->lane);
    int rc = where ? network_card_put(key, where) : GW_OK;
    if (rc != GW_OK || w->lane > 0 || !ofi_is_by_tcp(w) || fi_getname(&w->ep->fid, &at, &bytes) != 0) return rc;
    return network_alive_publish(&at.any);
}

/* For MPI_Open_port and the like: where another job can ask for this rank's address.  A job on one host, which has no network yet,
 * starts to answer such requests here; the first one opens a lane. */
static int ofi_invite(char *at_out, size_t cap)
{
    struct sockaddr_storage address;
    int rc = GW_OK, lanes = gw_set.lanes > 0 ? (int)gw_set.lanes : WIRE_LANES_AUTO;
    pthread_mutex_lock(&ofi_all.opening);
    bool is_first = !ofi_all.own_at[0], is_here = !fabric_is_far();
    bool has_net = false;
    for (int i = 0; i < GW_MAX_LANES; i++) has_net = has_net || ofi_all.wires[i];
    if (has_net && is_here)
        rc = gw_fail(
            GW_EUNSUPPORTED,
            "the ranks of this job use the network of this host alone (faked nodes, or GODWIT_WIRES=ofi), and cannot reach other hosts");
    else if (is_first) {
        fabric_has_other_jobs = fabric_has_other_jobs || is_here;
        if (!has_net) ofi_all.woken = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (!ofi_ondemand_begin(true, lanes, open_for_others, connections_mark, ofi_all.own_at, &address)) {
            ofi_all.own_at[0] = 0;
            rc =
                gw_fail(GW_EUNSUPPORTED, "no network interface of %s is fit for other hosts (godwit-info --network)", gw_boot.host);
        } else if (!has_net) {
            network_is_deferred = true;
        }
    }
    if (rc == GW_OK && strlen(ofi_all.own_at) >= cap) rc = gw_fail(GW_EINTERN, "no room for an address");
    if (rc == GW_OK) snprintf(at_out, cap, "%s", ofi_all.own_at);
    pthread_mutex_unlock(&ofi_all.opening);
    return rc;
}

static int ofi_address(struct sockaddr_storage *out)
{
    if (network_address(true, out)) return GW_OK;
    return gw_fail(GW_EUNSUPPORTED, "no network interface of %s is fit for other hosts (godwit-info --network)", gw_boot.host);
}

static void wire_free(struct wire *w);

static int ofi_open(int lane, wire_recv_fn recv, void *ctx, struct wire **wire_out)
{
    /* The last messages may still be in this process's send buffers when it ends.  If only some ranks have met other jobs,
     * disconnecting waits for them. */
    if (!fabric_has_other_jobs) boot_needs(BOOT_AFTER_LAST);
    if (lane == 0) fabric_lib_prepare();
    int rc = !network_is_deferred && !ofi_all.n_open && may_be_deferred() ? deferred_begin() : GW_OK;
    pthread_mutex_lock(&ofi_all.opening);
    struct wire *w = wire_of(lane);
    pthread_mutex_unlock(&ofi_all.opening);
    w->recv = recv;
    w->ctx = ctx;
    if (rc == GW_OK && !network_is_deferred) {
        rc = need(w);
        if (rc == GW_OK) rc = publish(w);
    }
    if (rc != GW_OK) {
        wire_free(w);
        return rc;
    }
    *wire_out = w;
    return GW_OK;
}

/* ---- peers ------------------------------------------------------------------------------------------------------------------- */
static void symmetry_check(int rank, int nics)
{
    if (gw_boot.local_rank > 0 || gw_set.nic_skip_symmetry_test) return;
    if (nic_check_symmetry(gw_boot.host, fabric_nics.n_nics, rank, nics) == GW_OK ||
        atomic_flag_test_and_set(&ofi_all.is_asymmetry_said))
        return;
    gw_warn("%s", gw_fail_text());
}

/* Reads what a rank has published: its address, or where to ask for it. */
static int place_get(const struct wire *w, int rank, char value[ONDEMAND_VALUE])
{
    char key[32];
    const char *at = rank < gw_boot.size ? NULL : node_far_at(rank);
    if (at) snprintf(value, ONDEMAND_VALUE, "%s", at);
    if (rank >= gw_boot.size) return at ? GW_OK : gw_fail(GW_EINTERN, "peer %d has no address", rank);
    snprintf(key, sizeof key, "gw.net.%d", w->lane);
    int rc = network_card_get(rank, "gw.net.0", value, ONDEMAND_VALUE);
    if (rc == GW_OK && w->lane > 0 && !ofi_ondemand_is_name(value)) rc = network_card_get(rank, key, value, ONDEMAND_VALUE);
    if (rc == GW_OK && strncmp(value, "@tcp:", 5) == 0) network_differs(rank, "ofi");
    return rc;
}

static int answer_wait(struct wire *w, struct ofi_ondemand_call *call, char value[ONDEMAND_VALUE])
{
    bool is_warned = false;
    int rc;
    while ((rc = ofi_ondemand_answer(call, value)) == GW_AGAIN) {
        network_alive_look(w->alive);
        ofi_reach_unanswered(call, &is_warned);
    }
    return rc;
}

/* Admits the lane's own address, as a rank that sends to itself connects to itself. */
static void self_admit(struct wire *w)
{
    union {
        struct sockaddr any;
        char room[OFI_NAME_MOST];
    } own;
    size_t bytes = sizeof own;
    uint8_t ip[1][ADMIT_IP];
    if (!ofi_is_by_tcp(w) || fi_getname(&w->ep->fid, &own, &bytes) != 0 || !ofi_admit_address_of(&own.any, ip[0])) return;
    pthread_mutex_lock(&ofi_all.opening);
    ofi_guard_admit(ofi_all.wires, GW_MAX_LANES, ip, 1);
    pthread_mutex_unlock(&ofi_all.opening);
}

/* Gets the address of a peer.  If it must be asked for, the peer opens its lane while this rank opens its own. */
static int where_is(struct wire *w, int rank, char value[ONDEMAND_VALUE])
{
    struct ofi_ondemand_call call;
    int rc = place_get(w, rank, value);
    if (rc != GW_OK || !ofi_ondemand_is_name(value)) return rc == GW_OK ? need(w) : rc;
    rc = ofi_ondemand_call(&call, rank, value, w->lane);
    if (rc == GW_OK) rc = need(w);
    if (rc == GW_OK && (rc = answer_wait(w, &call, value)) != GW_OK) gw_die("the network between nodes: %s", gw_fail_text());
    ofi_ondemand_cancel(&call);
    return rc;
}

static int address_get(struct wire *w, int rank, struct ofi_place *p)
{
    char value[ONDEMAND_VALUE];
    int rc = rank == gw_boot.rank ? need(w) : where_is(w, rank, value);
    if (rc != GW_OK) return rc;
    if (rank == gw_boot.rank) {
        size_t bytes = sizeof p->name;
        p->key = w->key;
        self_admit(w);
        return fi_getname(&w->ep->fid, p->name, &bytes) == 0 ? GW_OK : gw_fail(GW_EOTHER, "the provider forgot its address");
    }
    if (!ofi_place_read(value, p)) /* the text begins with the address; a key may follow */
        return gw_fail(GW_EOTHER, "rank %d gives no address on the network: \"%.16s\"%s", rank, value,
                       strlen(value) > 16 ? " and so on" : "");
    if (strncmp(p->provider, ofi_provider_name(w), sizeof p->provider - 1) != 0)
        return gw_fail(GW_EOTHER, "rank %d is on the network by provider %s, this one (rank %d) by %s: set %s for all", rank,
                       p->provider, gw_boot.rank, ofi_provider_name(w), gw_setting_said("GODWIT_OFI_PROVIDER"));
    if (p->layout != (int)w->layout.mode)
        return gw_fail(GW_EOTHER, "rank %d and this one (rank %d) do not agree on matching by the network: set %s and %s for all",
                       rank, gw_boot.rank, gw_setting_said("GODWIT_MATCH_MODE"), gw_setting_said("GODWIT_OFI_TAG_MODE"));
    if (rank < gw_boot.size) symmetry_check(rank, p->nics);
    return GW_OK;
}

static int ofi_connect(struct wire *w, int rank, struct wire_ep **ep_out)
{
    struct ofi_place there = {0};
    if (!w->is_open || !w->eps[rank]) {
        int rc = address_get(w, rank, &there);
        if (rc != GW_OK) return rc;
        struct ofi_ep *ep = gw_xcalloc(1, sizeof *ep);
        ep->w = w;
        ep->rank = rank;
        ep->key = there.key;
        ep->is_foreign = rank >= gw_boot.size;
        int32_t as = rank < gw_boot.size ? gw_boot.rank : node_far_as(rank);
        wire_ep_init(&ep->base, &ofi_ops, w, as, gw_node.nlocal + rank);
        if (fi_av_insert(w->av, there.name, 1, &ep->addr, 0, NULL) != 1) {
            free(ep);
            return gw_fail(GW_EOTHER, "provider %s does not take the address of rank %d", ofi_provider_name(w), rank);
        }
        w->eps[rank] = ep;
        if (rank >= w->n_eps) w->n_eps = rank + 1;
        ofi_reach_begin(ep);
    }
    *ep_out = &w->eps[rank]->base;
    return GW_OK;
}

/* Forgets a peer whose number may be given to another process later.  Operations under way to it still complete. */
static void ofi_forget(struct wire *w, int number)
{
    struct ofi_ep *ep = w->is_open ? w->eps[number] : NULL;
    if (!ep) return;
    if (ep->doubted_ns) ofi_reach_end(ep);
    w->eps[number] = NULL;
    ep->is_forgotten = true;
    ep->next = w->forgotten;
    w->forgotten = ep;
}

/* ---- sleeping ---------------------------------------------------------------------------------------------------------------- */
static int ofi_wait_fd(struct wire *w) { return w->is_open ? w->fd : w->lane == 0 ? ofi_all.woken : -1; }

static int ofi_arm(struct wire *w)
{
    if (!w->is_open) return atomic_load_explicit(&w->state, memory_order_acquire) == OFI_READY ? GW_AGAIN : GW_OK;
    struct fid *fids[] = {&w->cq->fid};
    network_alive_look(w->alive);
    return w->fd < 0 || fi_trywait(ofi_all.fabric, fids, 1) != -FI_EAGAIN ? GW_OK : GW_AGAIN;
}

/* ---- closing ----------------------------------------------------------------------------------------------------------------- */
static void wire_shut(struct wire *w)
{
    network_alive_end(w->alive);
    w->alive = NULL;
    w->listener = -1; /* closed with the endpoint */
    ofi_regions_close(w);
    if (w->ep) fi_close(&w->ep->fid);
    if (w->send_mr) fi_close(&w->send_mr->fid);
    ofi_recvs_close(w);
    if (w->catch_mr) fi_close(&w->catch_mr->fid);
    if (w->sink_mr) fi_close(&w->sink_mr->fid);
    if (w->av) fi_close(&w->av->fid);
    if (w->cq) fi_close(&w->cq->fid);
    if (w->domain) fi_close(&w->domain->fid);
    for (int i = 0; w->eps && i < w->n_eps; i++) free(w->eps[i]);
    for (struct ofi_ep *ep = w->forgotten, *next; ep; ep = next) {
        next = ep->next;
        free(ep);
    }
    free(w->eps);
    free(w->events);
    gw_huge_free(w->send_slab);
    free(w->catches);
    gw_huge_free(w->catch_slab);
    free(w->sink);
    fabric_lib.freeinfo(w->info);
    fabric_close();
}

static void wire_free(struct wire *w)
{
    ofi_all.wires[w->lane] = NULL;
    if (atomic_load_explicit(&w->state, memory_order_acquire) == OFI_READY) wire_shut(w);
    free(w->where);
    free(w);
}

/* Waits for the sends under way, up to a time limit, as a peer may be gone. */
static void ofi_close(struct wire *w)
{
    static const uint64_t patience_ns = 2000000000;
    ofi_ondemand_end();
    w->is_leaving = w->is_closing = true;
    for (uint64_t since = gw_now_ns(); !ofi_drained(w) && gw_now_ns() - since < patience_ns;)
        if (ofi_progress(w)) since = gw_now_ns();
    wire_free(w);
    for (int i = 0; i < GW_MAX_LANES; i++)
        if (ofi_all.wires[i] && !ofi_all.wires[i]->recv)
            wire_free(ofi_all.wires[i]); /* opened on request of a peer, never used by the program */
    bool any = false;
    for (int i = 0; i < GW_MAX_LANES; i++) any = any || ofi_all.wires[i];
    if (any) return;
    if (ofi_all.woken >= 0) close(ofi_all.woken);
    ofi_all.woken = -1;
    ofi_all.is_shared = network_is_deferred = fabric_has_other_jobs = false;
    ofi_all.own_at[0] = 0;
    ofi_guard_forget();
}

static void ofi_caps(struct wire *w, struct wire_caps *caps_out)
{
    *caps_out = (struct wire_caps){0};
    if (need(w) != GW_OK) return; /* connecting fails then, too, and reports why */
    *caps_out = (struct wire_caps){
        .short_max = (size_t)gw_max64((int64_t)w->inject_max - (int64_t)sizeof(struct ofi_head) - OFI_KEY_BYTES, 0),
        .pack_max = w->pack_max,
        .get = w->has_rma,
        .put = w->has_rma,
        .keys = true,
        .direct = w->has_direct,
        .matches = w->is_tagged,
        .ctx_max = (int32_t)w->layout.cid_max,
        .src_max = (int32_t)w->layout.src_max,
        .tag_max = w->layout.tag_max,
        .match_entries = (int32_t)gw_min64((int64_t)w->info->rx_attr->size, INT32_MAX),
        .soft = ofi_is_soft(w)};
}

const struct wire_ops ofi_ops = {
    .size = sizeof(struct wire_ops),
    .name = "ofi",
    .open = ofi_open,
    .connect = ofi_connect,
    .send_short = ofi_send_short,
    .send_pack = ofi_send_pack,
    .send_many = ofi_send_many,
    .get = ofi_get,
    .put = ofi_put,
    .progress = ofi_progress,
    .caps = ofi_caps,
    .close = ofi_close,
    .copy = {.expose = ofi_expose,
             .conceal = ofi_conceal,
             .atomic_most = ofi_atomic_most,
             .atomic = ofi_atomic,
             .recv_into = ofi_recv_into,
             .send_from = ofi_send_from},
    .tag = {.send = ofi_tag_send, .recv = ofi_tag_recv, .cancel = ofi_tag_cancel, .catch = ofi_tag_catch, .check = ofi_tag_check},
    .sleep = {.wait_fd = ofi_wait_fd, .arm = ofi_arm},
    .world = {.opened = ofi_opened,
              .invite = ofi_invite,
              .address = ofi_address,
              .forget = ofi_forget,
              .drained = ofi_drained,
              .leave = ofi_leave},
};
