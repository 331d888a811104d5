/* peer.h -- peers (processes by number), lanes, on-demand connection.
 *
 * A lane (elsewhere: worker, context, VCI) is the unit of concurrency: one lock, one progress engine, its own endpoints and match queues.
 * Lane 0 always exists; gw_set.lanes is the number of lanes, the same on all ranks.  A communicator belongs to one lane for life (context
 * id modulo lanes).  Processes without threads propose context ids of lane 0 only, so further lanes cost them nothing.
 *
 * A peer's number is its world rank; processes of other jobs (spawn, connect) have numbers above those.
 *
 * The caller holds the lane's lock in calls that take a lane, unless the comment says otherwise.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PEER_PEER_H
#define GW_PEER_PEER_H

#include "base/base.h"
#include "base/list.h"
#include "base/lock.h"
#include "boot/world.h"
#include "node/node.h"
#include "wire/wire.h"

/* One wire of a lane.  The first is shared memory: its peers map the node segment and ring this process's doorbell.  The others are
 * networks, best first: a peer on another node is reached by the first that is open and reaches it. */
enum { PEER_WIRES = 3 };
struct lane_wire {
    const struct wire_ops *ops;
    struct wire *wire; /* NULL: not open */
    int index;         /* in gw_lane.wires */
    bool is_net;       /* a network: no doorbell, polling costs a system call, and what arrives is validated */
    bool is_busy;      /* its progress() is running */
    uint32_t rounds;   /* calls of its progress() so far */
    struct lane_rest {
        uint32_t every, left;
    } rest; /* back-off: an idle network is polled once in `every` rounds; rounds left until then */
};

struct gw_peer;
struct gw_lane {
    int index, n_wires, n_nets; /* n_wires: entries of wires[] in use; n_nets: open networks */
    struct lane_wire wires[PEER_WIRES];
    struct wire_rings *rings; /* receive rings of the node's wire, for inlined polling; NULL: it has none */
    struct gw_peer *peers;    /* by number */
    void *proto;              /* struct proto_lane of proto/ */
    /* Contiguous messages of fewer bytes may be sent inline (proto/); 0 while older messages are queued, or without a ring. */
    uint64_t inline_end;
    uint64_t gone_sent, gone_sent_bytes;          /* sums over peers that were forgotten */
    struct gw_lock lock GW_ALIGNED(GW_CACHELINE); /* not on the line of read-only fields */
    struct gw_list *free_reqs;                    /* request pool of req/: linked by `next`, ends with NULL */
    _Atomic uint32_t has_poller
        GW_ALIGNED(GW_CACHELINE); /* one waiting thread makes progress for all that wait on the lane (req/) */
    struct lane_poll {
        uint32_t takes, skip, next_skip;
    } poll; /* of that thread: lock count seen last; rounds that it skips */
} GW_ALIGNED(128);

/* Per lane and process.  A peer has two states, and leaves the first one once:
 *   NEW --peer_connect(): GW_OK--> READY   it has its endpoint and wire, and peer_upcalls.connected has set up the room above
 *   NEW --peer_connect(): GW_AGAIN--> NEW  the peer has not opened its side yet
 * The data path takes READY peers only and does not ask again; NEW is asked for where a message, an answer or a queue begins. */
struct gw_peer {
    struct wire_ep *ep;   /* NULL: NEW */
    struct lane_wire *by; /* the wire of ep; NULL: NEW */
};

GW_EXTERN struct gw_lane gw_lanes[GW_MAX_LANES];
GW_EXTERN int gw_nlanes;
GW_EXTERN _Atomic int gw_nlanes_used; /* lanes with this index or a higher one have no communicator yet and are not polled */
extern bool gw_lanes_spread;          /* this process proposes context ids that spread communicators over lanes */
void peer_lanes_choose(void);         /* sets gw_nlanes; after gw_threads is known */
static inline struct gw_lane *lane_use(int index)
{
    int used = atomic_load_explicit(&gw_nlanes_used, memory_order_relaxed);
    while (used <= index &&
           !atomic_compare_exchange_weak_explicit(&gw_nlanes_used, &used, index + 1, memory_order_relaxed, memory_order_relaxed)) {}
    return &gw_lanes[index];
}
int peer_lane_open(struct gw_lane *lane); /* opens its networks, with the first communicator on it; lane's lock not held */
static inline int lanes_used(void) { return atomic_load_explicit(&gw_nlanes_used, memory_order_relaxed); }

/* The wires that peer_init() opens, by place; NULL: none.  A test sets others before.  Networks are opened if there are other nodes, or
 * if GODWIT_WIRES leaves nothing else. */
extern const struct wire_ops *peer_wires[PEER_WIRES];
/* Upcalls to the room above, with the lane's lock held. */
struct peer_upcalls {
    wire_recv_fn arrived, net_arrived; /* receive handlers: of the node's wire, and of networks */
    /* A peer has got its endpoint: once, before anything is sent to it.  May be NULL. */
    void (*connected)(struct gw_lane *lane, struct gw_peer *p);
};
int peer_init(const struct peer_upcalls *up); /* opens the wires of all lanes; after node_init.  `up` stays */
void peer_finalize(void);
uint64_t peer_area_bytes(int nlocal); /* what node_init() must reserve per rank and lane for the wires */
/* Never NULL; perhaps NEW. */
static inline struct gw_peer *peer_get(struct gw_lane *lane, int world_rank) { return &lane->peers[world_rank]; }
static inline bool peer_is_ready(const struct gw_peer *p) { return likely(p->ep != NULL); }
bool peer_is_far(const struct gw_lane *lane, int number);                         /* reached by a network */
struct lane_wire *peer_route(struct gw_lane *lane, int number);                   /* the wire that reaches it; NULL: none does */
static inline bool peer_by_net(const struct gw_peer *p) { return p->by->is_net; } /* p is READY */
/* Iterates over the open networks of a lane: the one after `w`, the first if w is NULL; NULL: no more. */
static inline struct lane_wire *peer_next_net(struct gw_lane *lane, const struct lane_wire *w)
{
    for (int i = w ? w->index + 1 : 1; i < lane->n_wires; i++)
        if (lane->wires[i].wire) return &lane->wires[i];
    return NULL;
}
/* Validation: can a message that arrived by a network (is_far) or on the node be from the process whose number it carries? */
bool peer_may_say(const struct gw_lane *lane, int64_t number, bool is_far);
int peer_connect(struct gw_lane *lane, struct gw_peer *p);    /* GW_OK: it is READY; GW_AGAIN or an error: it is still NEW */
void peer_caps(struct gw_lane *lane, const struct gw_peer *p, /* NULL: of the ranks of this node */
               struct wire_caps *caps_out);
/* Other worlds (jobs met by spawn or connect): their ranks become peers, with numbers that node/ assigns.  No lane's lock held. */
int peer_meet(const struct boot_home *home, struct node_other **other_out); /* the caller gets a reference: node_other_drop() */
/* The same for a world on other hosts (node_far_join): a rank of it is a peer once its address is known (node_far_put). */
int peer_meet_far(uint64_t uid, int size, struct node_other **other_out);
/* Opens a network for processes of other hosts, if none is open.  at_out: text that tells them where to ask for this process's addresses. */
enum { PEER_AT = 128 };
int peer_invite(char at_out[PEER_AT]);
int peer_may_invite(void);                      /* may other hosts' jobs connect, by the settings?  GW_OK or an error */
int peer_address(struct sockaddr_storage *out); /* of this host, as other hosts reach it */
void peer_sweep(void);  /* forgets other worlds without a reference; nothing may be queued for them (proto_drained) */
int peer_numbers(void); /* upper bound of the numbers that are or were in use */
void peer_net_look(struct lane_wire *w); /* progress of this network alone */
/* is_leaving: this process will send no more; false: it goes on after all.  In between, a send that fails because the peer has ended is
 * no error. */
void peer_leave(bool is_leaving);
/* peer_state.c: the invariant that does not hold, in words; NULL: all do; lock held */
const char *peer_broken(struct gw_lane *lane);
static inline void peer_assert_state(struct gw_lane *lane)
{
    if (GW_ASSERT_STATES) gw_assert_state(peer_broken(lane));
}
int peer_progress(struct gw_lane *lane); /* polls all wires of the lane; the number of events */

#endif
