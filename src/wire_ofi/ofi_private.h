/* ofi_private.h -- shared by the files of wire_ofi.
 *
 * LOCK  The lane's lock is held in calls that take a wire or an endpoint, unless the comment says otherwise.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_OFI_OFI_PRIVATE_H
#define GW_WIRE_OFI_OFI_PRIVATE_H

#include <sys/uio.h>

#include "base/settings.h"
#include "boot/boot.h"
#include "net/fabric.h"
#include "net/network.h"
#include "node/node.h"
#include "wire/wire.h"
#include "wire_ofi/ofi.h"
#include "wire_ofi/ofi_ondemand.h"
#include "wire_ofi/ofi_regs.h"
#include "wire_ofi/ofi_tag.h"

/* GODWIT_REG_CACHE_MONITOR: is userfaultfd the monitor of our registration cache? */
static inline bool ofi_by_userfaultfd(void)
{
    int who = gw_set.reg_cache_monitor;
    return who == GW_SET_REG_CACHE_MONITOR_AUTO || who == GW_SET_REG_CACHE_MONITOR_USERFAULTFD;
}

/* ---- format on the wire ----
 * A message is a head, the payload, and padding to a multiple of OFI_ALIGN, so that all messages of a receive buffer are aligned.  A packet,
 * one message of the provider, is the key of the receiving lane (ofi_key.c) and one or several messages. */
enum { OFI_ALIGN = 8, OFI_KEY_BYTES = sizeof(uint64_t) };
struct ofi_head {
    uint32_t len; /* of the payload */
    uint8_t kind;
    uint8_t pad[3];
    uint8_t hdr[WIRE_HDR_BYTES];
};
_Static_assert(sizeof(struct ofi_head) == 24, "wire format");
static inline size_t ofi_total(size_t len) { return gw_align_up(sizeof(struct ofi_head) + len, OFI_ALIGN); }

_Static_assert(OFI_KEY_BYTES % OFI_ALIGN == 0, "messages behind the key are aligned");
_Static_assert(sizeof(struct ofi_head) + OFI_ALIGN <= WIRE_PART_BYTES, "send_many() has room for all");

/* ---- operations under way: the context of a completion ---- */
struct ofi_op;
typedef void ofi_done_fn(struct wire *w, struct ofi_op *op, const struct fi_cq_tagged_entry *e, int err);
struct ofi_op {
    struct fi_context2 context; /* the provider's, and first */
    /* Called with the completion `e`.  err: 0, or libfabric's errno, positive; then `e` has what the provider filled in. */
    ofi_done_fn *fn;
};
/* All of these functions: ofi_is_ours() validates a context by them. */
ofi_done_fn ofi_send_done, ofi_inject_done, ofi_recv_done, ofi_take_done, ofi_catch_done, ofi_chunk_done, ofi_part_done,
    ofi_atomic_done;
struct ofi_send { /* a packet that is sent from a buffer of the lane */
    struct ofi_op op;
    struct ofi_send *next; /* in w->free_sends */
    struct ofi_ep *ep;
    uint64_t key; /* first member that is sent */
    struct ofi_head head;
    char payload[];
};
_Static_assert(offsetof(struct ofi_send, head) == offsetof(struct ofi_send, key) + OFI_KEY_BYTES, "wire format");
struct ofi_take { /* in wire_take.at_wire */
    struct ofi_op op;
    struct ofi_reg *reg;       /* registration of its buffer; NULL: the provider needs none */
    const struct ofi_ep *from; /* NULL: any */
};
struct ofi_catch { /* a buffer for a tagged message that matches no receive of the program (ofi_tag_catch) */
    struct ofi_op op;
    char *buf;
    bool is_posted;
};
struct ofi_recv { /* a receive buffer, for many packets or, if the provider cannot do that (FI_MULTI_RECV), for one */
    struct ofi_op op;
    char *buf;
    struct fid_mr *mr; /* of this buffer alone; NULL: w->recv_mr, or none */
    enum ofi_recv_state { OFI_RECV_IDLE, OFI_RECV_POSTED, OFI_RECV_HELD, OFI_RECV_TORN } state; /* ofi_recv.c */
    size_t got, end, last_end; /* bytes that have arrived; their highest end; the end of the last packet */
};

struct ofi_ep {
    struct wire_ep base; /* first */
    struct wire *w;
    fi_addr_t addr;
    uint64_t key;        /* of the peer's lane: packets to it begin with it */
    int rank;            /* number */
    struct ofi_ep *next; /* in w->forgotten */
    uint64_t doubted_ns; /* time since which no connection has been observed (ofi_reach.c); 0: connected, or not watched */
    bool is_warned;
    bool is_foreign, is_forgotten; /* is of another job; was forgotten, so that the number may be another peer's */
};

struct wire {
    int lane;
    _Atomic int state; /* enum ofi_state, written while the network is opened, maybe by the thread of ofi_ondemand.c */
    bool is_open;      /* READY, and the lane has seen it: members from `info` on are valid */
    char *where;       /* address text for peers (ofi_place_text); or, if opening failed, the error */
    wire_recv_fn recv;
    void *ctx;
    struct fi_info *info;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    int listener; /* libfabric's listening socket, filtered to admitted hosts (ofi_guard.c); -1: not filtered */
    int fd;       /* wait object of the completion queue; -1: none */
    uint64_t key; /* packets to this lane begin with it; others are dropped */
    size_t inject_max, pack_max, packet_max, packet_span, iov_max; /* bytes, and entries; span: longest packet - shortest */
    bool has_rma, has_gaps, has_direct, is_multi;
    bool is_tagged; /* messages are matched by the provider (GODWIT_MATCH_MODE), with tags of this layout: */
    struct ofi_tag_layout layout;
    bool is_leaving, is_closing;   /* wire_ops.world.leave() was called; close() is running */
    int under_way;                 /* operations whose completion is to come, without receives */
    int n_doubted;                 /* peers with doubted_ns */
    bool is_marking;               /* connections were made after their descriptors were last looked at (ofi_fds.h) */
    uint64_t connect_ns;           /* time of the last of these connects */
    uint64_t look_at;              /* ticks: when ofi_reach_look() is due; 0: nobody is doubted, and nothing to be marked */
    uint64_t doubt_at;             /* ticks: when doubted peers are looked at next */
    struct network_alive *alive;   /* watched hosts; NULL: none */
    uint32_t idle;                 /* rounds of progress without an event */
    int n_injects;                 /* of under_way: injected messages, which share inject_op */
    int n_direct;                  /* zero-copy transfers under way */
    uint64_t direct_until;         /* time by which they should be complete */
    size_t stream_bytes;           /* of them: bytes to this process through a socket */
    uint64_t rest_until;           /* ticks: the socket is not polled before */
    uint64_t tickets;              /* the last ticket that was given out */
    struct gw_list direct_waiting; /* zero-copy transfers of which a part is not posted */
    struct ofi_op inject_op;
    struct ofi_ep **eps;      /* by number, also of other worlds; NULL: not connected */
    int n_eps;                /* all entries from here on are NULL */
    struct ofi_ep *forgotten; /* endpoints that were forgotten, on which operations may be under way */
    struct ofi_send *free_sends;
    int n_sends; /* send buffers in use so far, at most gw_set.ofi_send_buffers */
    struct fid_mr *send_mr;
    char *send_slab;
    int n_recvs; /* receive buffers that should be posted */
    size_t recv_bytes;
    struct ofi_recv *recvs;
    char *recv_slab;
    struct fid_mr *recv_mr;
    struct ofi_recv **more;                    /* [n_more] additional ones, in place of those that are HELD or TORN */
    int n_more, n_taking, n_idle;              /* n_taking, n_idle: how many of all are POSTED, IDLE */
    bool must_post;                            /* some IDLE ones are to be posted */
    bool may_starve, quiet_posted, has_helped; /* see look() in ofi_recv.c */
    uint64_t n_posts, quiet_got, quiet_ns;
    char *bounce;              /* [packet_max], for a packet that is not aligned; NULL: not needed yet */
    struct ofi_catch *catches; /* NULL: tag_catch() was not called */
    int n_catches_unposted;
    char *catch_slab;
    struct fid_mr *catch_mr;
    char *sink; /* [pack_max] */
    struct fid_mr *sink_mr;
    struct gw_list waiting; /* one-sided copies of which a part is not posted */
    struct ofi_regs regs;
    struct ofi_reg **regions; /* [n_regions] by number - 1; NULL: free */
    int n_regions, first_free_region;
    struct fi_cq_tagged_entry *events; /* [gw_set.progress_event_cnt] */
};

static inline bool ofi_needs(const struct wire *w, uint64_t mr_bit) { return w->info->domain_attr->mr_mode & (int)mr_bit; }
/* Is one-sided access emulated by software?  Then registering memory costs next to nothing. */
static inline bool ofi_is_soft(const struct wire *w)
{
    return !ofi_needs(w, FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT);
}
static inline const char *ofi_provider_name(const struct wire *w) { return w->info->fabric_attr->prov_name; }
/* gw_fail() about an operation towards a peer; err: errno of libfabric, positive. */
int ofi_fail(const struct ofi_ep *ep, const char *doing, int err) GW_COLD;
int ofi_register(struct wire *w, const void *p, size_t bytes, uint64_t access, uint64_t wanted_key, struct fid_mr **mr_out);

enum ofi_state { OFI_CLOSED, OFI_READY, OFI_FAILED };
/* The lane's network is not open: has a request of a peer opened it meanwhile? */
bool ofi_was_opened(struct wire *w);

/* ofi_place.c */
enum { OFI_NAME_MOST = 256 /* bytes of an endpoint's address */, OFI_PROVIDER_MOST = 64 };
struct ofi_place {
    char provider[OFI_PROVIDER_MOST];
    int nics, layout;
    uint8_t name[OFI_NAME_MOST];
    uint64_t key;
};
char *ofi_place_text(const struct wire *w, const uint8_t *name, size_t bytes); /* of this lane, for free() */
bool ofi_place_read(const char *text, struct ofi_place *place_out);
/* ofi_key.c */
int ofi_key_draw(struct wire *w); /* draws the lane's key, and the first ticket */
/* Counts a packet that is not from a rank of this job, and warns once.  bytes: its size, 0: unknown. */
void ofi_drop(const struct wire *w, size_t bytes, const char *why) GW_COLD;
/* The provider's key of a region, by its number and the key of its lane, so that strangers cannot guess it. */
uint64_t ofi_region_secret(const struct wire *w, uint64_t key, int number);
/* Is the context of an error completion one of ours?  It may be a record of the provider. */
bool ofi_is_ours(const struct ofi_op *op) GW_COLD;

bool ofi_is_by_tcp(const struct wire *w); /* software over TCP: addresses are those of hosts */
/* ofi_guard.c: over TCP, only admitted hosts can connect.  LOCK: that under which lanes are opened and closed. */
void ofi_guard_begin(struct wire *w); /* filters the listener of a new endpoint */
/* Admits hosts to all of these lanes (NULL entries: not open), and to lanes that are opened later. */
void ofi_guard_admit(struct wire *const lanes[], int n, const uint8_t (*from)[ADMIT_IP], int n_from);
void ofi_guard_end(struct wire *w); /* removes the filter: peers connect without asking before */
void ofi_guard_forget(void);        /* forgets the admitted hosts, after the last lane is closed */
/* ofi_reach.c */
void ofi_reach_begin(struct ofi_ep *ep);
/* No reply to a request for an address yet: to be called repeatedly. */
void ofi_reach_unanswered(const struct ofi_ondemand_call *c, bool *is_warned);
void ofi_reach_end(struct ofi_ep *ep);       /* the peer is connected, by a connection of either end */
void ofi_reach_look(struct wire *w) GW_COLD; /* to be called when w->look_at is not 0, and over */
/* ofi_send.c */
int ofi_sends_open(struct wire *w);
struct ofi_send *ofi_send_take(struct wire *w); /* a send buffer with pack_max bytes at `payload`; NULL: none is free */
void ofi_send_back(struct wire *w, struct ofi_send *s);
int ofi_send_short(struct wire_ep *ep, uint8_t kind, const void *hdr, const void *payload, size_t len);
int ofi_send_pack(struct wire_ep *ep, uint8_t kind, const void *hdr, struct type_cursor *c, size_t len);
int ofi_send_many(struct wire_ep *ep, uint8_t kind, const struct wire_part *parts, int n);
int ofi_tag_send(struct wire_ep *ep, const struct wire_tag *tag, const void *payload, size_t len);
bool ofi_drained(struct wire *w);
void ofi_leave(struct wire *w, bool is_leaving);
/* ofi_recv.c */
int ofi_recvs_open(struct wire *w);
void ofi_recvs_close(struct wire *w); /* after the endpoint is closed */
/* Handles a packet. */
void ofi_packet_arrived(struct wire *w, const char *at, size_t bytes);
int ofi_progress(struct wire *w);
/* ofi_take.c: receives that the provider matches */
int ofi_tagged_open(struct wire *w);
int ofi_tag_recv(struct wire *w, struct wire_ep *from, struct wire_take *take);
void ofi_tag_cancel(struct wire *w, struct wire_take *take);
int ofi_tag_catch(struct wire *w);
int ofi_tag_check(struct wire *w, const struct wire_tag *tag);
int ofi_catches_again(struct wire *w); /* posts those that the provider refused; returns how many */
/* ofi_rma.c */
int ofi_get(struct wire_ep *ep, const struct iovec *local, int n, uint64_t remote, uint64_t key, struct gw_done *done);
int ofi_put(struct wire_ep *ep, const struct iovec *local, int n, uint64_t remote, uint64_t key, struct gw_done *done);
int ofi_expose(struct wire *w, const void *addr, size_t bytes, uint64_t *key_out);
void ofi_conceal(struct wire *w, uint64_t key);
int ofi_rma_waiting(struct wire *w); /* posts parts of w->waiting; returns how many */
void ofi_regions_close(struct wire *w);
int ofi_region_begin(struct wire *w, struct ofi_reg *r); /* gives it a number */
void ofi_region_end(struct wire *w, struct ofi_reg *r);
/* The provider's key, and address or offset, for a key of wire.h. */
uint64_t ofi_provider_key(const struct ofi_ep *ep, uint64_t key);
uint64_t ofi_provider_addr(const struct wire *w, uint64_t key, uint64_t remote);
/* ofi_atomic.c */
uint32_t ofi_atomic_most(struct wire *w, enum gw_elem elem, enum wire_atomic_op op);
int ofi_atomic(struct wire_ep *ep, const struct wire_atomic *a, struct gw_done *done);
/* ofi_direct.c.  Where messages are matched by tag, tickets are those of ofi_tag_apart(). */
int ofi_recv_into(struct wire *w, void *to, size_t bytes, uint64_t *ticket_out, struct gw_done *done);
int ofi_send_from(struct wire_ep *ep, const void *from, size_t bytes, uint64_t ticket, struct gw_done *done);
/* With w->n_direct > 0: posts parts of w->direct_waiting.  is_quiet: there was no other event; then 0 means that transfers are late. */
int ofi_direct_progress(struct wire *w, bool is_quiet);
bool ofi_direct_rests(const struct wire *w); /* with w->stream_bytes > 0: is it too early to poll again? */

#endif
