/* sim.h -- a simulated wire between ranks in one process, for tests: a seed decides how late each message arrives, which sender's message
 * arrives first, and when a send is refused for lack of credit.  Never part of libmpi_abi.so.
 *
 * The net (struct sim_net) holds the messages under way between all ranks; the driver (test/sim) owns it.  Each rank has a copy of all
 * rooms, of this one too, and its copy works on the net that sim_attach() gave it.  One rank runs at a time, so nothing here is locked.
 * Messages with the same sender, receiver and lane arrive in order, as wire.h demands.  Times are simulated nanoseconds.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_SIM_SIM_H
#define GW_WIRE_SIM_SIM_H

#include <stdio.h>

#include "base/base.h"
#include "wire/wire.h"

#define SIM_NEVER UINT64_MAX /* a time that does not come */

/* When one-sided copies take place, and whether the wire offers them. */
enum sim_copies { SIM_COPY_AT_ONCE, SIM_COPY_LATER, SIM_COPY_ONE_WAY /* between some pairs only */, SIM_COPY_NONE, SIM_COPIES };
/* A fault that the run injects, to show that the tests find it.  The wire injects the first five, the scheduler WAKE, the ranks the last
 * three. */
enum sim_bug {
    SIM_BUG_NONE,
    SIM_BUG_ORDER, /* a message overtakes another */
    SIM_BUG_LOSE,  /* a message is lost */
    SIM_BUG_TWICE, /* a message arrives twice */
    SIM_BUG_AGAIN, /* a send is refused, but its message arrives */
    SIM_BUG_BYTE,  /* a byte of a message is changed */
    SIM_BUG_WAKE,  /* a wake-up is lost */
    SIM_BUG_BUSY,  /* accumulates do not exclude each other */
    SIM_BUG_LOCK,  /* passive epochs do not exclude each other */
    SIM_BUG_MAIL,  /* a request that was taken back is done all the same */
    SIM_BUGS
};

/* Parameters of one run.  A chance is a number out of 256. */
struct sim_ways {
    uint32_t delay_ns;            /* a message takes at most this long, and 16 times as long between ranks of a slow pair */
    uint32_t slow;                /* chance that a pair of ranks is slow */
    uint32_t again;               /* chance that a send is refused although there is room */
    uint32_t room;                /* most messages under way of one sender, receiver and lane */
    uint32_t batch;               /* most messages that one call of progress takes */
    uint32_t short_max, pack_max; /* bytes, as in struct wire_caps */
    enum sim_copies copies;
    bool puts;   /* the wire writes into memory of other ranks */
    bool no_ack; /* what comes to a rank before sim_net_there(), or after it has left, is lost */
    enum sim_bug bug;
};

struct sim_msg {
    struct sim_msg *next;
    uint64_t due;  /* when it arrives */
    uint32_t len;  /* bytes of payload */
    uint16_t from; /* the sender; sim_net.n: no message but a one-sided copy of the receiver's that is due */
    uint8_t kind, lane;
    uint8_t hdr[WIRE_HDR_BYTES];
    uint8_t payload[] GW_ALIGNED(16);
};
struct sim_queue {
    struct sim_msg *first, **last;
    uint32_t n;
};
struct sim_net {
    int n;           /* ranks */
    uint64_t now;    /* the time; the scheduler sets it */
    uint64_t random; /* state of the random numbers */
    uint64_t trace;  /* a hash of all events of the run: the same seed gives the same hash */
    uint64_t sent, taken, refused, bugs, lost;
    uint64_t activity; /* grows with every event by which the job makes progress */
    struct sim_ways ways;
    struct sim_queue *queues;  /* [n receivers][GW_MAX_LANES][n + 1 senders] */
    uint8_t *slow, *copies_ok; /* [n][n]: this pair is slow; this rank may read that one's memory */
    uint8_t *wants_room;       /* [n][n]: a send was refused because too many messages are under way */
    uint8_t *is_there;         /* [n]: the rank receives; with no_ack only */
    uint64_t *credit_at;       /* [n]: when a refused send may be tried again; SIM_NEVER: none was refused */
    /* Called where the scheduler may stop the calling rank and let another one run.  idle: the rank looked for work and found none. */
    void (*pause)(bool idle);
    /* Logs an event; NULL: no log. */
    void (*note)(const struct sim_net *net, const char *what, int from, int to, const struct sim_msg *m);
};

struct sim_net *sim_net_new(int n, uint64_t seed, const struct sim_ways *ways); /* copies *ways; the caller sets pause and note */
void sim_net_free(struct sim_net *net);                                         /* with the messages under way */
uint32_t sim_below(struct sim_net *net, uint32_t n);                            /* a random number from 0 to n - 1 */
static inline bool sim_chance(struct sim_net *net, uint32_t in_256) { return in_256 && sim_below(net, 256) < in_256; }
void sim_trace(struct sim_net *net, uint64_t what); /* adds a number to the trace */
/* A message of `len` bytes, which the caller fills in and passes to sim_net_post(); NULL: refused. */
struct sim_msg *sim_net_room(struct sim_net *net, int from, int to, int lane, size_t len);
/* Takes the message.  False (by SIM_BUG_AGAIN): the sender is to be told that it was refused. */
bool sim_net_post(struct sim_net *net, int to, struct sim_msg *m);
struct sim_msg *sim_net_take(struct sim_net *net, int to, int lane); /* a message that is due, which the caller frees; NULL: none */
uint64_t sim_net_due(const struct sim_net *net, int rank); /* when the rank's progress has something to do: <= now, or SIM_NEVER */
/* The rank receives from now on, or has left: with no_ack, what is under way to it then is lost. */
void sim_net_there(struct sim_net *net, int rank, bool is_there);

extern const struct wire_ops sim_ops;
void sim_attach(struct sim_net *net, int rank); /* this copy of the room is that rank; called before sim_ops.open */

#endif
