/* shm.h -- transport between the ranks of one node, also from a rank to itself: rings in the node segment.
 *
 * Each rank owns, per lane, in its node area: SHM_NEXCL exclusive rings, each claimed by one sender on first use, and one
 * shared ring for all other senders.  A ring is a row of 64-byte lines and a byte buffer.  A short message is one line:
 * sequence number, kind, length, 16 header bytes, 40 payload bytes: one cache line travels.  A longer payload (to pack_max)
 * lies in the byte buffer in one piece, its line says where.
 *
 *     line i of lap n is valid when its seq == n * nlines + i + 1  [release by the sender, acquire by the owner]
 *
 * The owner publishes how far it has read (lines and bytes) every quarter ring and when idle; a sender that finds the ring
 * full looks there and otherwise answers GW_AGAIN.  The inlined send of one line is in peer/peer_fast.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_SHM_SHM_H
#define GW_WIRE_SHM_SHM_H

#include "wire/wire.h"
#include "node/node.h"

#define SHM_NEXCL  16
#define SHM_INLINE 40

struct shm_line {
    _Atomic uint32_t seq;
    uint32_t len_kind; /* payload bytes << 8 | kind */
    uint8_t hdr[WIRE_HDR_BYTES];
    union {
        uint8_t data[SHM_INLINE];
        uint64_t offset; /* in the byte buffer, where len > SHM_INLINE */
    };
} GW_ALIGNED(GW_CACHELINE);
_Static_assert(sizeof(struct shm_line) == GW_CACHELINE, "a short message is one cache line");

/* A sender's view of one ring.  Positions count up for ever, modulo 2^32; their low bits are places. */
struct wire_ep {
    struct shm_line *lines;
    uint32_t tail, limit, mask; /* next line, first line not known to be free; equal for ever where the ring is shared */
    bool exclusive;             /* claimed by us: no atomics needed to reserve */
    bool claim_tried;
    uint8_t cma;                              /* enum shm_cma */
    int32_t as;                               /* our number as the receiver knows it */
    int local_rank;                           /* the receiver, in its world */
    struct node_door *door;                   /* its door */
    uint32_t data_tail, data_read, data_size; /* bytes written, bytes known to be read; exclusive rings only */
    struct shm_ring *ring;                    /* private to wire_shm */
    char *data;
    pid_t pid;                      /* for CMA */
    struct shm_box *box;            /* the receiver's on this lane */
    const struct node_other *other; /* the receiver's world; NULL: ours */
};

/* The owner's view of one of its rings, and of all of them: the begin of a wire of shared memory. */
struct shm_rx {
    struct shm_line *lines;
    char *data;
    struct shm_ring *ring;
    uint32_t head, published; /* lines read, and told to the senders */
    uint32_t data_head, data_published;
};
struct shm_in {
    int n;
    uint32_t nlines;
    struct shm_rx rx[1 + SHM_NEXCL];
};
static inline struct shm_in *shm_in_of(struct wire *w) { return (struct shm_in *)w; }
void shm_publish(struct shm_rx *rx);

enum shm_cma { SHM_CMA_UNKNOWN, SHM_CMA_OK, SHM_CMA_NO };

GW_EXTERN const struct wire_ops shm_ops;
int shm_progress(struct wire *w);                /* shm_ops.progress: the peer room calls it directly */
uint64_t shm_area_bytes(int nlocal, int nlanes); /* what node_init must reserve per rank */
/* The ranks of another world can be reached as ours are: their rings are as this library lays them out.  Says under which numbers we
 * know them, where they look for that: until they have said so, connect answers GW_AGAIN. */
int shm_meet(struct node_other *other);
void shm_forget(struct node_other *other); /* nothing is sent there, nor does anything come from there, any more */
/* True if CMA towards this rank was probed by a real read and is allowed (and gw_set.cma is not off). */
bool shm_cma_ok(struct wire_ep *ep);
bool shm_cma_still(struct wire_ep *ep); /* the same, probed again: the rank may have forbidden it since (PR_SET_DUMPABLE) */
/* Memory of this rank that the kernel is about to read, or write, for another one (bytes >= 0, all of it mapped): what is so shown
 * again and again is moved onto huge pages, unless GODWIT_HUGE_PAGES says off.  Any thread, with locks or without.  True: it was, so
 * that copying it costs little. */
bool shm_read_by_others(const void *at, int64_t bytes);

#endif
