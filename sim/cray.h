/* cray.h -- what the documents' variables mean on a described machine that has the parts they set; the library has none of these.
 *
 *   MPICH_GNI_RDMA_THRESHOLD=B    messages of less than so many bytes go by the engine `fma`: rounded up to a multiple of 128, 64 KiB at most.
 *                                 (The documents have it both ways; so it is by what the engines are: the higher, the more by stores.)
 *                                 What fits the receiver's mailbox (E0) goes by `fma` in any case (`engine` mailbox=1).
 *   MPICH_GNI_MAX_VSHORT_MSG_SIZE=B  a setting of the library's: what fits a mailbox
 *   MPICH_USE_DMAPP_COLL=1        `table` leaves barriers, and allreduces that fit, to the cards, which else it does not
 *   MPICH_GNI_VC_MSG_PROTOCOL=MSGQ   low memory: the ranks of a node share one queue for each other node, which one message at a time takes
 *                                 (nic queue=)
 *   MPICH_GNI_MBOXES_PER_BLOCK=N  mailboxes that are registered together, 1 to 16,777,216 (and no more than a rank has peers)
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SIM_CRAY_H
#define GW_SIM_CRAY_H

#include "machine.h"

struct cray {
    int64_t rdma_threshold, mailboxes_per_block; /* 0: not set */
    bool dmapp_coll, msgq;
};
/* Reads them, and takes them out of the environment, as the library would say that they have no effect.  False: error_out says why. */
bool cray_read(struct cray *c_out, char *error_out, int error_cap);
/* Changes the machine accordingly.  False: it has not what a variable sets. */
bool cray_apply(const struct cray *c, struct machine *m, char *error_out, int error_cap);

/* Bytes of the largest message that fits a mailbox (E0): as set, or by the ranks of the job. */
int64_t cray_mailbox_room(int64_t ranks);

/* Mailboxes of a job: one for each peer that a rank is connected with, or, in the low-memory mode, for each other node. */
struct cray_mailboxes {
    int64_t bytes;          /* of one: what goes inline, and a head */
    int64_t per_block;      /* by the ranks of the job, unless set */
    int64_t all, ring, low; /* bytes of a node: connected with all, with two, with all in the low-memory mode */
    int64_t blocks_of_all;  /* of a rank that is connected with all */
};
struct cray_mailboxes cray_mailboxes(const struct cray *c, const struct machine *m, int64_t ranks);

#endif
