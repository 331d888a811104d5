/* link.h -- the stream between mpiexec and an agent (doc/adr/0038): a greeting of one line, then frames both ways.
 *
 * An agent reads its standard input and writes its standard output, whatever program has carried them there.  A frame says by its numbers whose it
 * is (a rank of the job, not of a host), so that an agent may pass frames of others on.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_AGENT_LINK_H
#define GW_AGENT_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "GODWIT-AGENT PROTOCOL VERSION": the first line of an agent.  What stands before it is of the shell there. */
#define LINK_GREETING "GODWIT-AGENT"
enum { LINK_PROTOCOL = 1, LINK_FRAME_MOST = 1 << 28 };

enum link_kind {
    /* to the agent */
    LINK_ORDER = 1, /* what to start (order.h): the first frame */
    LINK_INPUT,     /* standard input; no data: it has ended */
    LINK_SIGNAL,    /* a: a signal for the ranks, as if mpiexec had got it */
    LINK_END,       /* a: the signal that ends the ranks, b: the exit status of the job; c: and jobs that they have spawned */
    LINK_MET,       /* a rank of another host has called MPI_Init; from an agent: one of its own has */
    LINK_FENCE,     /* all ranks of the job are in a barrier; data: keys and values.  From an agent: all of its ranks are */
    /* from the agent */
    LINK_OUTPUT, /* a: rank, b: 0 standard output, 1 errors; no data: it has ended */
    LINK_SAY,    /* a line of the agent for the user */
    LINK_WANTS,  /* the last piece of standard input has been taken */
    LINK_FAILED, /* a: exit status: a rank has failed, and the job ends */
    LINK_DONE, /* a: exit status: nothing of the job runs on the host any more; b: 1 + a rank that never called MPI_Init, c: its status */
};
struct link_frame {
    enum link_kind kind;
    uint32_t a, b, c;
    const char *data; /* valid until the next link_read() */
    size_t len;
};
struct link {
    int in, out; /* -1: closed */
    char *got;   /* bytes that have come */
    size_t have, used, cap;
    char *queue; /* bytes that the other end has not taken yet */
    size_t queued, sent;
    bool is_broken; /* what came is no frame, or the other end takes nothing any more */
};

enum link_state { LINK_OPEN, LINK_CLOSED };
enum link_state link_read(struct link *l); /* takes what is there; blocks only where `in` does */
bool link_next(struct link *l, struct link_frame *f_out);
/* The next line, without its end, into line_out; false: it is not whole yet. */
bool link_line(struct link *l, char *line_out, size_t cap);
void link_send(struct link *l, const struct link_frame *f); /* queues it, and writes what the other end takes at once */
bool link_flush(struct link *l);                            /* false: bytes wait for room */
void link_close(struct link *l);

#endif
