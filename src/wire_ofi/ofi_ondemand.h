/* ofi_ondemand.h -- on-demand connection: asks a rank by a UDP datagram to open its network, and for the address of its endpoint.
 *
 * libfabric takes a third of a second to load and to look for cards.  Jobs that never communicate between nodes should not pay that, and
 * others not before MPI_Init returns (adr 0018).  So each rank publishes the address of a UDP socket, which a thread of the library reads.
 * A sender sends a request there before its first message; the thread opens the lane, if it is not open, and replies with the address of
 * its endpoint, whether or not the program is in MPI.  Lane 0 of a program that runs for a while is opened without a request.
 *
 * SECURITY  Anybody can send to the socket.  Requests are answered only if they carry the rank's key, a random number that is published in
 *           the launcher's key-value store.  A reply is accepted only from the address that was asked, with the nonce of the request.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_OFI_OFI_ONDEMAND_H
#define GW_WIRE_OFI_OFI_ONDEMAND_H

#include <sys/socket.h>

#include "base/base.h"
#include "net/iface.h"
#include "wire_ofi/ofi_admit.h"

enum { ONDEMAND_VALUE = 1024, ONDEMAND_AT = 80, ONDEMAND_REPLY_HEAD = 24, ONDEMAND_FROM = 8 };

/* The two datagrams, in host byte order: all ranks of a job have the same. */
struct ofi_ondemand_request {
    char magic[8];
    uint64_t key, nonce; /* the receiver's key; chosen by the requester */
    int32_t lane, n_from;
    /* Addresses from which the requester may connect, besides the source address of the datagram; zeros from n_from on. */
    uint8_t from[ONDEMAND_FROM][ADMIT_IP];
};
struct ofi_ondemand_reply {
    char magic[8];
    uint64_t nonce;            /* that of the request */
    int32_t lane, rc;          /* rc: GW_OK or an error */
    char text[ONDEMAND_VALUE]; /* the address, or the text of the error; only its bytes and the final zero are sent */
};
/* Validation of n received bytes, aligned to 8: a request with this key, for any lane; the reply to the request with this nonce. */
bool ofi_ondemand_request_read(const void *bytes, size_t n, uint64_t key, struct ofi_ondemand_request *out);
bool ofi_ondemand_reply_read(const void *bytes, size_t n, uint64_t nonce, int lane, struct ofi_ondemand_reply *out);

/* Fills in a request; `from`: n addresses, of which the first ONDEMAND_FROM that are not loopback are used. */
void ofi_ondemand_request_make(struct ofi_ondemand_request *q, uint64_t key, uint64_t nonce, int lane,
                               const uint8_t (*from)[ADMIT_IP], int n);
/* The addresses of the n usable interfaces that other hosts may reach, best first; returns their number. */
int ofi_ondemand_from_ifaces(const struct iface *all, const struct iface_verdict *verdicts, int n,
                             uint8_t out[ONDEMAND_FROM][ADMIT_IP]);

struct ofi_ondemand_client { /* the requester: all addresses from which it may connect */
    int n;
    uint8_t from[1 + ONDEMAND_FROM][ADMIT_IP];
};
/* Callback: opens a lane of this process, if it is not open, on request of `asker`, which may connect when this returns; NULL: not requested.
 * GW_OK and the endpoint's address as text in value_out, or an error.  Called in the thread, without a lock. */
typedef int (*ofi_ondemand_open_fn)(int lane, const struct ofi_ondemand_client *asker, char value_out[ONDEMAND_VALUE]);
/* Callback: a requester that was answered a second ago should have connected by now. */
typedef void (*ofi_ondemand_come_fn)(void);

/* Starts to serve requests for n_lanes lanes, at an address of this host that other nodes (is_far), or other ranks of this host, can reach.
 * at_out: the address with the key, to be published; address_out: the address.  False: no such address, thread or random number; then the
 * network must be opened now. */
bool ofi_ondemand_begin(bool is_far, int n_lanes, ofi_ondemand_open_fn open, ofi_ondemand_come_fn come, char at_out[ONDEMAND_AT],
                        struct sockaddr_storage *address_out);
bool ofi_ondemand_is_on(void);
/* is_resting: the program will send no more, so no lane is opened without a request. */
void ofi_ondemand_rest(bool is_resting);
/* Stops serving; waits while a lane is being opened. */
void ofi_ondemand_end(void);

/* A request to another rank.  ofi_ondemand_call() and ofi_ondemand_cancel() return at once.  ofi_ondemand_answer() waits for at most 50 ms, resends the request
 * from time to time, and returns GW_AGAIN while there is no reply; any other result ends the request. */
struct ofi_ondemand_call {
    int s, rank, lane;
    uint64_t begun_ns, asked_ns, key, nonce;
    struct sockaddr_storage to;
    char at[ONDEMAND_AT]; /* the same as text */
};
bool ofi_ondemand_is_name(const char *at); /* is the published text such an address (rather than that of an endpoint)? */
bool ofi_ondemand_name_read(const char *at, struct sockaddr_storage *out, uint64_t *key_out); /* false: invalid */
int ofi_ondemand_call(struct ofi_ondemand_call *c, int rank, const char *at, int lane);
int ofi_ondemand_answer(struct ofi_ondemand_call *c, char value_out[ONDEMAND_VALUE]);
void ofi_ondemand_cancel(struct ofi_ondemand_call *c);

#endif
