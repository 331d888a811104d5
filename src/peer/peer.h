/* peer.h -- peers (processes by world rank), lanes, connection on first use.
 *
 * A lane is the unit of concurrency: one lock, one progress, its own endpoints and match queues.  Lane 0 always exists;
 * gw_set.lanes sets how many there are, on all ranks the same number; a communicator belongs to one lane for life (context id
 * modulo lanes).  Processes without threads propose context ids of lane 0 only, so further lanes cost them nothing.
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

/* One wire of a lane.  The first is the node's: its peers share memory with this process and ring its doorbell.  The others are networks,
 * best first: a peer on another node is reached by the first that is open and reaches it. */
enum { PEER_WIRES = 3 };
struct lane_wire {
    const struct wire_ops *ops;
    struct wire *wire; /* NULL: not open */
    int index;         /* in gw_lane.wires */
    bool is_net;       /* no doorbell, a look costs a system call, and what arrives is checked */
    bool is_busy;      /* a network in its progress */
    uint32_t rounds;   /* of a network's progress, however short */
    struct lane_rest {
        uint32_t every, left;
    } rest; /* rounds of progress without a look at it */
};

struct gw_peer;
struct gw_lane {
    int index, n_wires, n_nets; /* wires: places in use; networks that are open */
    struct lane_wire wires[PEER_WIRES];
    struct wire_rings *rings;                             /* of the node's wire, for inlined looks; NULL: it has none */
    struct gw_peer *peers;                                /* by number: world rank, then those of other worlds (node/) */
    void *proto;                                          /* struct proto_lane of proto/ */
    uint64_t gone_sent, gone_sent_bytes;                  /* counted in peers that were forgotten */
    struct gw_lock lock GW_ALIGNED(GW_CACHELINE);         /* away from what is only read */
    struct gw_list *free_reqs;                            /* pool of req/, by their `next` to NULL */
    _Atomic uint32_t has_poller GW_ALIGNED(GW_CACHELINE); /* a waiting thread looks after the lane for all that wait on it (req/) */
    struct lane_poll {
        uint32_t takes, skip, next_skip;
    } poll; /* that thread's: what it saw last, rounds that it leaves out */
} GW_ALIGNED(128);

/* Per lane and world rank.  32 bytes until connected. */
struct gw_peer {
    struct wire_ep *ep;        /* NULL: not connected */
    struct lane_wire *by;      /* the wire that reaches it; NULL: not connected */
    uint64_t sent, sent_bytes; /* messages that went inline (E0): counted by proto/, of which the others stand elsewhere */
};

GW_EXTERN struct gw_lane gw_lanes[GW_MAX_LANES];
GW_EXTERN int gw_nlanes;
GW_EXTERN _Atomic int gw_nlanes_used; /* lanes from here on have no communicator yet, and are not looked at */
extern bool gw_lanes_spread;          /* this process likes communicators on different lanes */
void peer_lanes_choose(void);         /* before anything asks for gw_nlanes; gw_threads is known */
static inline struct gw_lane *lane_use(int index)
{
    int used = atomic_load_explicit(&gw_nlanes_used, memory_order_relaxed);
    while (used <= index &&
           !atomic_compare_exchange_weak_explicit(&gw_nlanes_used, &used, index + 1, memory_order_relaxed, memory_order_relaxed)) {}
    return &gw_lanes[index];
}
int peer_lane_open(struct gw_lane *lane); /* with the first communicator on it; its lock is not held */
static inline int lanes_used(void) { return atomic_load_explicit(&gw_nlanes_used, memory_order_relaxed); }

/* The wires that peer_init() opens, by place; NULL: none.  A test sets others before.  Networks are opened if there are other nodes, or
 * if GODWIT_WIRES leaves nothing else. */
extern const struct wire_ops *peer_wires[PEER_WIRES];
/* What this room says to the rooms above, each with the lane's lock held. */
struct peer_upcalls {
    wire_recv_fn arrived, net_arrived; /* a message, on the node's wire or on a network */
    /* A peer has an endpoint now: once, before anything is sent to it.  NULL: nobody wants to know. */
    void (*connected)(struct gw_lane *lane, struct gw_peer *p);
};
int peer_init(const struct peer_upcalls *up); /* opens the wires of all lanes; after node_init.  `up` stays */
void peer_finalize(void);
uint64_t peer_area_bytes(int nlocal, int nlanes); /* what node_init() must reserve per rank for the wires */
/* Never NULL; not connected yet, perhaps. */
static inline struct gw_peer *peer_get(struct gw_lane *lane, int world_rank) { return &lane->peers[world_rank]; }
bool peer_is_far(const struct gw_lane *lane, int number);                         /* reached by a network */
struct lane_wire *peer_route(struct gw_lane *lane, int number);                   /* the wire that reaches it; NULL: none does */
static inline bool peer_by_net(const struct gw_peer *p) { return p->by->is_net; } /* it is connected */
/* The network after `w` that is open, of all of the lane the first one after NULL; NULL: no more. */
static inline struct lane_wire *peer_next_net(struct gw_lane *lane, const struct lane_wire *w)
{
    for (int i = w ? w->index + 1 : 1; i < lane->n_wires; i++)
        if (lane->wires[i].wire) return &lane->wires[i];
    return NULL;
}
/* A message that came by the network (is_far), or on the node, may be from the process that it says it is from. */
bool peer_may_say(const struct gw_lane *lane, int64_t number, bool is_far);
int peer_connect(struct gw_lane *lane, struct gw_peer *p);    /* GW_OK, GW_AGAIN or error */
void peer_caps(struct gw_lane *lane, const struct gw_peer *p, /* NULL: of the ranks of this node */
               struct wire_caps *caps_out);
/* Other worlds: their ranks are peers as well, by the numbers that node/ gives them.  No lane's lock is held. */
int peer_meet(const struct boot_home *home, struct node_other **other_out); /* with a reference for the caller: node_other_drop() */
/* The same of a world on other hosts (node_far_join): its ranks are peers once they have been given an address (node_far_put). */
int peer_meet_far(uint64_t uid, int size, struct node_other **other_out);
/* Opens the network for processes of other hosts, where it is not open; where they ask for this process's addresses goes to at_out. */
enum { PEER_AT = 128 };
int peer_invite(char at_out[PEER_AT]);
int peer_address(struct sockaddr_storage *out); /* of this host, as others reach it */
void peer_sweep(void);                   /* forgets those that nobody holds; nothing may be queued for them (proto_drained) */
int peer_numbers(void);                  /* peers that are or were in use have numbers below */
void peer_net_look(struct lane_wire *w); /* progress of this network alone */
/* This process has sent its last; false: it goes on after all.  Meanwhile what is late for ranks that have ended is no error. */
void peer_leave(bool is_leaving);
const char *peer_broken(struct gw_lane *lane); /* peer_state.c: what is not as it must be, in words; NULL: all is; lock held */
static inline void peer_assert_state(struct gw_lane *lane)
{
    if (GW_ASSERT_STATES) gw_assert_state(peer_broken(lane));
}
int peer_progress(struct gw_lane *lane); /* number of things that happened */

#endif
