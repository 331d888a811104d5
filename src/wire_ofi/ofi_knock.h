/* ofi_knock.h -- a rank that has not opened the network yet can be asked to: a datagram socket, and a thread that sleeps on it.
 *
 * libfabric takes a third of a second to load and to look for cards.  A job whose ranks never speak across nodes need not pay that,
 * and others need not pay it before MPI_Init returns (adr 0018).  So the launcher is told where to knock, and who wants to send there
 * does: the other rank opens its lane, if it has not, and answers with the address of its endpoint.  Its program need
 * not call MPI meanwhile.  A program that runs for a while gets lane 0 opened without being asked.
 *
 * Anybody can send to that socket.  A rank answers those who know its key, a random number that the launcher's key-value store tells to
 * the ranks of the job; who asks believes the answer that comes from there and carries back the random number of the question.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_OFI_KNOCK_H
#define GW_WIRE_OFI_KNOCK_H

#include <sys/socket.h>

#include "base/base.h"
#include "net/iface.h"
#include "wire_ofi/ofi_admit.h"

enum { KNOCK_VALUE = 1024, KNOCK_AT = 80, KNOCK_REPLY_HEAD = 24, KNOCK_FROM = 8 };

/* The two datagrams, in host order: all ranks of a job are alike. */
struct knock_question {
    char magic[8];
    uint64_t key, nonce; /* of who is asked; of the one who asks */
    int32_t lane, n_from;
    /* Where connections of who asks may come from, beside the address that the question comes from; behind n_from of them zeros. */
    uint8_t from[KNOCK_FROM][ADMIT_IP];
};
struct knock_reply {
    char magic[8];
    uint64_t nonce;
    int32_t lane, rc;       /* GW_OK, or what went wrong */
    char text[KNOCK_VALUE]; /* the value, or the error in words; as many bytes are sent as it has, with its zero */
};
/* What arrived, any n bytes, is the question of somebody who knows the key, of any lane; or (aligned to 8) the answer to that question. */
bool knock_question_read(const void *bytes, size_t n, uint64_t key, struct knock_question *out);
bool knock_reply_read(const void *bytes, size_t n, uint64_t nonce, int lane, struct knock_reply *out);

/* For who has that key, from the first n of these addresses, KNOCK_FROM at most; the loopback is left out. */
void knock_question_make(struct knock_question *q, uint64_t key, uint64_t nonce, int lane, const uint8_t (*from)[ADMIT_IP], int n);
/* The addresses of the n usable interfaces that other hosts may see, best first: how many. */
int knock_from_ifaces(const struct iface *all, const struct iface_verdict *verdicts, int n, uint8_t out[KNOCK_FROM][ADMIT_IP]);

struct knock_asker { /* all addresses that it may come from */
    int n;
    uint8_t from[1 + KNOCK_FROM][ADMIT_IP];
};
/* Opens that lane of this process where it is not open, for somebody who knows the key or (NULL) nobody; GW_OK and in value_out
 * what address a sender needs, or an error.  When it returns, the asker can connect. */
typedef int (*knock_open_fn)(int lane, const struct knock_asker *asker, char value_out[KNOCK_VALUE]);
/* Called a second after somebody was answered, who has connected by then. */
typedef void (*knock_come_fn)(void);

/* From now on others may knock for one of n_lanes lanes, at an address of this host that other nodes (is_far) or other ranks of this one can
 * reach: its name, with the key, goes to at_out, the address to address_out.  False: there is no such address, no thread or no random number;
 * then the network has to be opened at once. */
bool knock_begin(bool is_far, int n_lanes, knock_open_fn open, knock_come_fn come, char at_out[KNOCK_AT],
                 struct sockaddr_storage *address_out);
bool knock_is_on(void);
/* The program has sent its last: no lane is opened unasked from now on. */
void knock_rest(bool is_resting);
/* Nobody is answered any more; waits for a lane that is being opened. */
void knock_end(void);

/* A question to another rank.  The first two return at once; knock_answer() says GW_AGAIN until the answer is there, waiting for it for
 * a twentieth of a second at most, and asks again now and then: datagrams get lost.  Any other code ends the call. */
struct knock_call {
    int s, rank, lane;
    uint64_t begun_ns, asked_ns, key, nonce;
    struct sockaddr_storage to;
    char at[KNOCK_AT]; /* the same as text */
};
bool knock_is_name(const char *at); /* and not an address of a lane that is open */
bool knock_name_read(const char *at, struct sockaddr_storage *out, uint64_t *key_out); /* false: it is none */
int knock_call(struct knock_call *c, int rank, const char *at, int lane);
int knock_answer(struct knock_call *c, char value_out[KNOCK_VALUE]);
void knock_hang_up(struct knock_call *c);

#endif
