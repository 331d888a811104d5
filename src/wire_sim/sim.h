/* sim.h -- a wire between ranks that live in one process, for tests: a seed decides how late each message comes, which sender's comes
 * first, and when there is no room for more.  Never part of libmpi_abi.so.
 *
 * The net is the memory between the ranks: one for all of them, in the driver (test/sim).  Each rank has its own copy of all rooms,
 * this one too, and its copy works on the net that it is attached to.  One rank runs at a time, so nothing here is locked.
 * A message of a sender, a receiver and a lane never overtakes another one of the same three, as wire.h wants it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_SIM_SIM_H
#define GW_WIRE_SIM_SIM_H

#include <stdio.h>

#include "base/base.h"
#include "wire/wire.h"

#define SIM_LANES 16
#define SIM_NEVER UINT64_MAX

/* How one-sided copies go. */
enum sim_copies { SIM_COPY_AT_ONCE, SIM_COPY_LATER, SIM_COPY_ONE_WAY /* between some pairs only */, SIM_COPY_NONE, SIM_COPIES };
/* Bugs on demand, to show that they are found.  WAKE is for the scheduler: a wake-up that goes astray; BUSY, LOCK and MAIL are for the ranks:
 * accumulates, or passive epochs, that do not exclude each other, and a request taken back that is done all the same. */
enum sim_bug {
    SIM_BUG_NONE,
    SIM_BUG_ORDER,
    SIM_BUG_LOSE,
    SIM_BUG_TWICE,
    SIM_BUG_AGAIN,
    SIM_BUG_BYTE,
    SIM_BUG_WAKE,
    SIM_BUG_BUSY,
    SIM_BUG_LOCK,
    SIM_BUG_MAIL,
    SIM_BUGS
};

/* The manners of one run.  Chances are in 256. */
struct sim_ways {
    uint32_t delay_ns; /* a message is under way for at most so long; 16 times longer where a pair is slow */
    uint32_t slow;     /* chance that a pair is slow */
    uint32_t again;    /* chance that a send is refused without need */
    uint32_t room;     /* messages of one sender, receiver and lane under way */
    uint32_t batch;    /* messages that one call of progress takes at most */
    uint32_t short_max, pack_max;
    enum sim_copies copies;
    bool puts;
    enum sim_bug bug;
};

struct sim_msg {
    struct sim_msg *next;
    uint64_t due;
    uint32_t len;
    uint16_t from; /* == ranks: a copy of the receiver's own that is now to be done */
    uint8_t kind, lane;
    uint8_t hdr[WIRE_HDR_BYTES];
    uint8_t payload[] GW_ALIGNED(16);
};
struct sim_queue {
    struct sim_msg *first, **last;
    uint32_t n;
};
struct sim_net {
    int n;        /* ranks */
    uint64_t now; /* ns; moved on by the scheduler */
    uint64_t random;
    uint64_t trace; /* a hash of all that happened: equal for equal seeds */
    uint64_t sent, taken, refused, bugs;
    uint64_t activity; /* counts what shows that the job moves on */
    struct sim_ways ways;
    struct sim_queue *queues;  /* [n receivers][SIM_LANES][n + 1 senders] */
    uint8_t *slow, *copies_ok; /* [n][n] */
    uint8_t *wants_room;       /* [n][n]: a send was refused because too much is under way */
    uint64_t *credit_at;       /* [n]: from then on a refused send may be tried again; SIM_NEVER: none was refused */
    /* The caller's rank may be stopped here, and others run; idle: it looked and found nothing. */
    void (*pause)(bool idle);
    void (*note)(const struct sim_net *net, const char *what, int from, int to, const struct sim_msg *m); /* of a log; or NULL */
};

struct sim_net *sim_net_new(int n, uint64_t seed, const struct sim_ways *ways);
void sim_net_free(struct sim_net *net);
uint32_t sim_below(struct sim_net *net, uint32_t n); /* 0 .. n - 1 */
static inline bool sim_chance(struct sim_net *net, uint32_t in_256) { return in_256 && sim_below(net, 256) < in_256; }
void sim_trace(struct sim_net *net, uint64_t what);
/* A message to be filled in and then posted; NULL: refused. */
struct sim_msg *sim_net_room(struct sim_net *net, int from, int to, int lane, size_t len);
bool sim_net_post(struct sim_net *net, int to, struct sim_msg *m);   /* false (by a bug): tell the sender that it was refused */
struct sim_msg *sim_net_take(struct sim_net *net, int to, int lane); /* one that is due, for free(); NULL: none */
uint64_t sim_net_due(const struct sim_net *net,
                     int rank); /* when progress of this rank will find something: <= now, or SIM_NEVER */

extern const struct wire_ops sim_ops;
void sim_attach(struct sim_net *net, int rank); /* this copy is that rank; before sim_ops.open */

#endif
