/* ofi_private.h -- what the files of wire_ofi share.
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

/* GODWIT_REG_CACHE_MONITOR, as far as it is about us. */
static inline bool ofi_by_userfaultfd(void)
{
    int who = gw_set.reg_cache_monitor;
    return who == GW_SET_REG_CACHE_MONITOR_AUTO || who == GW_SET_REG_CACHE_MONITOR_USERFAULTFD;
}

/* ---- what is on the wire: a head, the payload, and what is missing to a multiple of OFI_ALIGN, so that messages that lie one behind
 * the other in a receive buffer are aligned.  One message of the provider's, a packet, has the key of the lane that it is for (ofi_key.c), and
 * then one of these, or several ---- */
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

/* ---- operations under way: what a completion brings back ---- */
struct ofi_op;
typedef void ofi_done_fn(struct wire *w, struct ofi_op *op, const struct fi_cq_tagged_entry *e, int err);
struct ofi_op {
    struct fi_context2 context; /* the provider's, and first */
    /* err 0: done, `e` says of what; else errno of libfabric, positive, and `e` is what the provider told of it. */
    ofi_done_fn *fn;
};
/* All that there are (ofi_is_ours). */
ofi_done_fn ofi_send_done, ofi_inject_done, ofi_recv_done, ofi_take_done, ofi_catch_done, ofi_chunk_done, ofi_part_done;
struct ofi_send { /* a message in a buffer of ours */
    struct ofi_op op;
    struct ofi_send *next; /* free ones */
    struct ofi_ep *ep;
    uint64_t key; /* from here on it travels */
    struct ofi_head head;
    char payload[];
};
_Static_assert(offsetof(struct ofi_send, head) == offsetof(struct ofi_send, key) + OFI_KEY_BYTES, "wire format");
struct ofi_take { /* in wire_take.at_wire */
    struct ofi_op op;
    struct ofi_reg *reg;       /* of its buffer, where the provider wants it registered */
    const struct ofi_ep *from; /* NULL: any */
};
struct ofi_catch { /* a buffer for a tagged message that no receive of the program's takes */
    struct ofi_op op;
    char *buf;
    bool is_posted;
};
struct ofi_recv { /* a buffer that takes many packets, or where the provider cannot do that, one */
    struct ofi_op op;
    char *buf;
    struct fid_mr *mr; /* of this buffer; NULL: the lane's, or none */
    enum ofi_recv_state { OFI_RECV_IDLE, OFI_RECV_POSTED, OFI_RECV_HELD, OFI_RECV_TORN } state; /* ofi_recv.c */
    size_t got, end, last_end; /* bytes that have come, where they end, and where those of the last packet do */
};

struct ofi_ep {
    struct wire_ep base; /* first */
    struct wire *w;
    fi_addr_t addr;
    uint64_t key;        /* of its lane: what is sent there begins with it */
    int rank;            /* number */
    struct ofi_ep *next; /* forgotten ones */
    uint64_t doubted_ns; /* since then nobody has seen a connection with it; 0: it is there, or nobody asks */
    bool is_warned;
    bool is_foreign, is_forgotten; /* of another job; its number may be another peer's by now */
};

struct wire {
    int lane;
    _Atomic int state; /* enum ofi_state, written while the network is opened, maybe by the thread of ofi_ondemand.c */
    bool is_open;      /* READY, and the lane has seen it: everything from `info` on is there */
    char *where;       /* what others need to send here; or, where it could not be opened, why */
    wire_recv_fn recv;
    void *ctx;
    struct fi_info *info;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    int listener; /* libfabric's socket that hears only hosts that are admitted (ofi_guard.c); -1: none does */
    int fd;       /* of the queue, to sleep on; -1: there is none */
    uint64_t key; /* what everything that comes here begins with, or is dropped */
    size_t inject_max, pack_max, packet_max, packet_span, iov_max; /* span: from the shortest packet to the longest */
    bool has_rma, has_gaps, has_direct, is_multi;
    bool is_tagged; /* it matches (GODWIT_MATCH_MODE), with tags of this layout: */
    struct ofi_tag_layout layout;
    bool is_leaving, is_closing;   /* the program has sent its last; the wire goes down */
    int under_way;                 /* operations that a completion will come for, receives aside */
    int n_doubted;                 /* peers whose connection nobody has seen (ofi_reach.h), and one while is_marking */
    bool is_marking;               /* connections have been made since their descriptors were looked at (ofi_fds.h) */
    uint64_t connect_ns;           /* when the last of them was begun */
    uint64_t look_at;              /* when to look for them, in ticks */
    uint64_t doubt_at;             /* when to look for the doubted ones among them */
    struct network_alive *alive;   /* hosts that are watched; NULL: none */
    uint32_t idle;                 /* looks in vain */
    int n_injects;                 /* of these, small messages without a buffer: all have one record */
    int n_direct;                  /* transfers from memory to memory under way, */
    uint64_t direct_until;         /* and when they should be over; */
    size_t stream_bytes;           /* of them, those to here out of a socket, */
    uint64_t rest_until;           /* which is not looked at before */
    uint64_t tickets;              /* the last one that was given out */
    struct gw_list direct_waiting; /* those of which a part is not posted yet */
    struct ofi_op inject_op;
    struct ofi_ep **eps;      /* by number, those of other worlds, too */
    int n_eps;                /* all that there are have numbers below */
    struct ofi_ep *forgotten; /* endpoints: something may be under way there */
    struct ofi_send *free_sends;
    int n_sends; /* made so far, at most gw_set.ofi_send_buffers */
    struct fid_mr *send_mr;
    char *send_slab;
    int n_recvs; /* buffers that should be posted */
    size_t recv_bytes;
    struct ofi_recv *recvs;
    char *recv_slab;
    struct fid_mr *recv_mr;
    struct ofi_recv **more;                    /* [n_more] beside those, in place of some that are held or torn */
    int n_more, n_taking, n_idle;              /* of all: POSTED, IDLE */
    bool must_post;                            /* some of the latter */
    bool may_starve, quiet_posted, has_helped; /* see look() in ofi_recv.c */
    uint64_t n_posts, quiet_got, quiet_ns;
    char *bounce;              /* [packet_max], for a packet that does not lie aligned; NULL: none has come yet */
    struct ofi_catch *catches; /* NULL: receives of the program's take what comes */
    int n_catches_unposted;
    char *catch_slab;
    struct fid_mr *catch_mr;
    char *sink; /* [pack_max] */
    struct fid_mr *sink_mr;
    struct gw_list waiting; /* one-sided copies of which a part is not posted yet */
    struct ofi_regs regs;
    struct ofi_reg **regions; /* [n_regions] by number - 1; NULL: free */
    int n_regions, first_free_region;
    struct fi_cq_tagged_entry *events; /* [gw_set.progress_event_cnt] */
};

static inline bool ofi_needs(const struct wire *w, uint64_t mr_bit) { return w->info->domain_attr->mr_mode & (int)mr_bit; }
/* The processes do it all themselves: to register memory is to note where it is. */
static inline bool ofi_is_soft(const struct wire *w)
{
    return !ofi_needs(w, FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT);
}
static inline const char *ofi_provider_name(const struct wire *w) { return w->info->fabric_attr->prov_name; }
/* gw_fail() about an operation towards a peer; err: errno of libfabric, positive. */
int ofi_fail(const struct ofi_ep *ep, const char *doing, int err) GW_COLD;
int ofi_register(struct wire *w, const void *p, size_t bytes, uint64_t access, uint64_t wanted_key, struct fid_mr **mr_out);

enum ofi_state { OFI_CLOSED, OFI_READY, OFI_FAILED };
/* The lane is closed: has somebody else made it open it? */
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
int ofi_key_draw(struct wire *w); /* also where tickets begin */
/* What is not from a rank of this job is counted, and said once.  `bytes`: 0 where it is not known. */
void ofi_drop(const struct wire *w, size_t bytes, const char *why) GW_COLD;
/* The provider's key for the region of this number in the lane that has this key: nobody else can guess it. */
uint64_t ofi_region_secret(const struct wire *w, uint64_t key, int number);
/* What a provider brings back with an error may be a record of its own. */
bool ofi_is_ours(const struct ofi_op *op) GW_COLD;

bool ofi_is_by_tcp(const struct wire *w); /* software over TCP: addresses are those of hosts */
/* ofi_guard.c: over TCP, only hosts that have shown a key connect.  The caller holds the lock that lanes are opened and closed under. */
void ofi_guard_begin(struct wire *w); /* its endpoint is there; that it listens already is late, but not too late */
/* These may connect to any of the lanes (NULL: none) from now on. */
void ofi_guard_admit(struct wire *const lanes[], int n, const uint8_t (*from)[ADMIT_IP], int n_from);
void ofi_guard_end(struct wire *w); /* who connects does not ask before */
void ofi_guard_forget(void);        /* no lane is open: the next ones begin with none */
/* ofi_reach.c */
void ofi_reach_begin(struct ofi_ep *ep);
/* No reply to a request for an address yet: to be called repeatedly. */
void ofi_reach_unanswered(const struct ofi_ondemand_call *c, bool *is_warned);
void ofi_reach_end(struct ofi_ep *ep);       /* it is connected, whoever of the two began */
void ofi_reach_look(struct wire *w) GW_COLD; /* w->n_doubted > 0 and something is under way */
/* ofi_send.c */
int ofi_sends_open(struct wire *w);
int ofi_send_short(struct wire_ep *ep, uint8_t kind, const void *hdr, const void *payload, size_t len);
int ofi_send_pack(struct wire_ep *ep, uint8_t kind, const void *hdr, struct type_cursor *c, size_t len);
int ofi_send_many(struct wire_ep *ep, uint8_t kind, const struct wire_part *parts, int n);
int ofi_tag_send(struct wire_ep *ep, const struct wire_tag *tag, const void *payload, size_t len);
bool ofi_drained(struct wire *w);
void ofi_leave(struct wire *w, bool is_leaving);
/* ofi_recv.c */
int ofi_recvs_open(struct wire *w);
void ofi_recvs_close(struct wire *w); /* the endpoint is closed */
/* A packet as it came. */
void ofi_packet_arrived(struct wire *w, const char *at, size_t bytes);
int ofi_progress(struct wire *w);
/* ofi_take.c: receives that the provider matches */
int ofi_tagged_open(struct wire *w);
int ofi_tag_recv(struct wire *w, struct wire_ep *from, struct wire_take *take);
void ofi_tag_cancel(struct wire *w, struct wire_take *take);
int ofi_tag_catch(struct wire *w);
int ofi_tag_check(struct wire *w, const struct wire_tag *tag);
int ofi_catches_again(struct wire *w); /* posts those that were refused: how many went */
/* ofi_rma.c */
int ofi_get(struct wire_ep *ep, const struct iovec *local, int n, uint64_t remote, uint64_t key, struct gw_done *done);
int ofi_put(struct wire_ep *ep, const struct iovec *local, int n, uint64_t remote, uint64_t key, struct gw_done *done);
int ofi_expose(struct wire *w, const void *addr, size_t bytes, uint64_t *key_out);
void ofi_conceal(struct wire *w, uint64_t key);
int ofi_rma_waiting(struct wire *w); /* posts what had to wait: how many went */
void ofi_regions_close(struct wire *w);
int ofi_region_begin(struct wire *w, struct ofi_reg *r); /* gives it a number */
void ofi_region_end(struct wire *w, struct ofi_reg *r);
/* ofi_direct.c.  Where messages are matched by tag, tickets are those of ofi_tag_apart(). */
int ofi_recv_into(struct wire *w, void *to, size_t bytes, uint64_t *ticket_out, struct gw_done *done);
int ofi_send_from(struct wire_ep *ep, const void *from, size_t bytes, uint64_t ticket, struct gw_done *done);
/* w->n_direct > 0: posts what had to wait.  is_quiet: nothing else happened; then 0 says that transfers take longer than they should. */
int ofi_direct_progress(struct wire *w, bool is_quiet);
bool ofi_direct_rests(const struct wire *w); /* w->stream_bytes > 0: it is too early for another look */

#endif
