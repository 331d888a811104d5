/* shm_private.h -- memory layout of a rank's receive side, and what the files of wire_shm/ share.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_SHM_SHM_PRIVATE_H
#define GW_WIRE_SHM_SHM_PRIVATE_H

#include <sys/uio.h>

#include "wire_shm/shm.h"

#include "wire/wire_ring.h"

enum { SHM_NEXCL = WIRE_RINGS - 1 };
#define SHM_KIND_CLAIM 0xff /* "I now send through exclusive ring hdr[0]": never seen above */

/* In the segment.  Owner's and senders' words lie on lines of their own. */
struct shm_ring {
    _Atomic uint64_t read GW_ALIGNED(GW_CACHELINE); /* by the owner: bytes read << 32 | lines read */
    _Atomic uint64_t tail GW_ALIGNED(GW_CACHELINE); /* shared ring only: bytes reserved << 32 | lines reserved */
};
enum { SHM_KNOWN = 1024 };
struct shm_known {         /* a segment of another world, by the numbers of the box's owner */
    _Atomic uint64_t home; /* home_key(); 0: no more */
    _Atomic int32_t first;
};
struct shm_box {
    struct { /* for CMA: read 8 bytes at `address` of process `pid`; it works if they are `nonce` */
        _Atomic uint32_t pid;
        uint64_t nonce, address;
    } probe GW_ALIGNED(GW_CACHELINE);
    _Atomic uint32_t claims[SHM_NEXCL] GW_ALIGNED(GW_CACHELINE); /* number + 1 of the sender, as the owner knows it; 0: free */
    struct shm_ring rings[1 + SHM_NEXCL];
    struct shm_known known[SHM_KNOWN]; /* on lane 0 */
};
_Static_assert(offsetof(struct shm_ring, tail) == GW_CACHELINE, "owner and senders write different lines");

struct shm_shape {
    int nexcl;
    uint32_t nlines, data_size, pack_max; /* nlines and data_size are powers of two */
    uint64_t ring_bytes, box_bytes;
};

/* A sender's view of one ring. */
struct shm_ep {
    struct wire_ep base; /* first */
    bool exclusive;      /* claimed by us: no atomics needed to reserve */
    bool claim_tried;
    uint32_t data_tail, data_read, data_size; /* bytes written, bytes known to be read; exclusive rings only */
    struct shm_ring *ring;
    char *data;
    pid_t pid;                      /* for CMA */
    struct shm_box *box;            /* the receiver's on this lane */
    const struct node_other *other; /* the receiver's world; NULL: ours */
};
static inline struct shm_ep *shm_ep_of(struct wire_ep *ep) { return (struct shm_ep *)ep; }

struct wire {
    struct wire_rings in;            /* first */
    struct shm_ring *rx[WIRE_RINGS]; /* whose rings in.rx are */
    int lane;
    struct shm_shape shape;
    wire_recv_fn recv;
    void *ctx;
    struct shm_ep *eps; /* [nlocal] */
};

int shm_send_short(struct wire_ep *ep, uint8_t kind, const void *hdr, const void *payload, size_t len);
int shm_send_pack(struct wire_ep *ep, uint8_t kind, const void *hdr, struct type_cursor *c, size_t len);
int shm_send_shared(struct wire_ep *ep, uint8_t kind, const void *hdr, const void *payload, size_t len);

int shm_get(struct wire_ep *ep, const struct iovec *local, int nlocal, uint64_t remote_addr, uint64_t key, struct gw_done *done);
int shm_put(struct wire_ep *ep, const struct iovec *local, int nlocal, uint64_t remote_addr, uint64_t key, struct gw_done *done);
void shm_cma_publish(struct shm_box *box);
void shm_cma_try(struct wire_ep *ep);

#endif
