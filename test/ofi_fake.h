/* ofi_fake.h -- an invented provider, for tests of the network wire: it refuses, is slow, gives buffers back too early, has short
 * queues and few match entries, and numbers and addresses memory as it is told.
 *
 * The provider is the table that fabric_lib is filled with.  Its one endpoint sends to itself.  Everything happens when the completion
 * queue is read: that is the clock.  But with `is_card`, tagged messages arrive in each of its calls, as they do where a card takes
 * them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_OFI_FAKE_H
#define GW_TEST_OFI_FAKE_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "base/base.h"
#include "boot/boot.h"
#include "wire_ofi/ofi_private.h"

#include "unit.h"

static struct ways {
    uint64_t caps, mode;
    int mr_mode;
    size_t inject;
    int refuses; /* one of so many operations; 0: none */
    int late;    /* one of so many messages is said to be there only long after its place was taken */
    int fails;   /* the operation of this number from now on fails */
    bool is_cut; /* no message goes */
    int entries; /* for tagged messages: receives posted and messages that nobody waits for */
    bool is_card;
    uint64_t tag_format;
    size_t cq_data;
    int cq_takes;              /* entries that the queue takes before what is sent waits */
    bool is_other_without_rma; /* without that wish another domain is offered */
    bool is_ip;                /* by IP, and able to do no more than is asked for */
    int away;                  /* so many times nothing is there */
    uint32_t tclass;           /* the one traffic class that it has, where it is asked for */
} ways;

struct packet {
    struct packet *next;
    size_t len;
    void *context;
    bool wants_completion;
    bool is_stalled; /* its place is taken, and it never comes to its end */
    char data[];
};
struct tagged {
    bool is_used;
    uint64_t tag, ignore, data; /* ignore: of receives */
    void *context;
    size_t len;
    struct iovec iov[2];
    int n_iov;
    char bytes[256];
};
struct place {
    struct fi_cq_tagged_entry e;
    int reads_left;
};
struct one_sided {
    struct one_sided *next;
    struct fi_msg_rma m;
    struct iovec iov[4];
    struct fi_rma_iov there;
    bool is_put;
    /* Or an atomic operation, on numbers of 8 bytes. */
    bool is_atomic;
    enum fi_op op;
    const int64_t *operand, *compare;
    int64_t *result;
};
enum { ENTRIES = 4096, BUFFERS = 128, PLACES = 64, REGIONS = 64, TAGGED = 128 };
static struct {
    struct packet *air, **air_end;
    struct one_sided *copies, **copies_end;
    struct fi_cq_tagged_entry cq[ENTRIES];
    unsigned head, tail;
    struct {
        void *context;
        int err;
    } failed[TAGGED];
    int n_failed;
    struct {
        char *at;
        size_t left;
        void *context;
        bool is_multi;
    } bufs[BUFFERS];
    unsigned buf_head, buf_tail;
    size_t min_multi;
    struct tagged on_way[TAGGED], unexpected[TAGGED], posted[TAGGED]; /* in order, without gaps */
    int n_on_way, n_unexpected, n_posted;
    bool is_full;
    struct place late[PLACES];
    int n_late;
    struct fi_cq_tagged_entry stalled[BUFFERS];
    int n_stalled;
    struct region {
        const char *base;
        size_t bytes;
        uint64_t key, access;
        bool is_used;
        struct fid_mr mr;
    } regions[REGIONS];
    int n_regions, n_objects, reads, refused, sent;
    uint64_t random;
} net;

static bool chance(int one_of)
{
    net.random = net.random * 6364136223846793005u + 1442695040888963407u;
    return one_of && (net.random >> 33) % (unsigned)one_of == 0;
}

static bool refuse(void)
{
    if (!chance(ways.refuses) && net.tail - net.head < (unsigned)ways.cq_takes) return false;
    net.refused++;
    return true;
}

static void complete(void *context, uint64_t flags, char *buf, size_t len)
{
    CHECK(net.tail - net.head < ENTRIES);
    net.cq[net.tail++ % ENTRIES] = (struct fi_cq_tagged_entry){.op_context = context, .flags = flags, .len = len, .buf = buf};
}

/* ---- tagged messages: as many as it has entries for; the rest stays on its way, and it says so ---- */
static void tagged_take(struct tagged *list, int *n, int i) { memmove(&list[i], &list[i + 1], sizeof *list * (size_t)(--*n - i)); }
static void tagged_give(const struct tagged *m, const struct tagged *r)
{
    size_t at = 0;
    for (int i = 0; i < r->n_iov && at < m->len; i++) {
        size_t some = m->len - at < r->iov[i].iov_len ? m->len - at : r->iov[i].iov_len;
        memcpy(r->iov[i].iov_base, m->bytes + at, some);
        at += some;
    }
    CHECK_EQ(at, m->len);
    complete(r->context, FI_RECV | FI_TAGGED, NULL, m->len);
    net.cq[(net.tail - 1) % ENTRIES].tag = m->tag;
    net.cq[(net.tail - 1) % ENTRIES].data = m->data;
}
static bool tagged_match(const struct tagged *m, const struct tagged *r) { return !((m->tag ^ r->tag) & ~r->ignore); }
static void tagged_deliver(int most)
{
    for (; net.n_on_way && most > 0; most--) {
        struct tagged *m = &net.on_way[0];
        int i = 0;
        while (i < net.n_posted && !tagged_match(m, &net.posted[i])) i++;
        if (i < net.n_posted) {
            tagged_give(m, &net.posted[i]);
            tagged_take(net.posted, &net.n_posted, i);
        } else if (net.n_posted + net.n_unexpected < ways.entries) {
            net.unexpected[net.n_unexpected++] = *m;
        } else {
            if (!net.is_full) {
                net.failed[net.n_failed].context = NULL;
                net.failed[net.n_failed++].err = FI_ENOSPC;
            }
            net.is_full = true;
            return;
        }
        net.is_full = false;
        tagged_take(net.on_way, &net.n_on_way, 0);
    }
}
/* A call to a card: meanwhile one more message has arrived, or none. */
static void tagged_meanwhile(void)
{
    if (ways.is_card) tagged_deliver(chance(2));
}
static ssize_t fake_tsendmsg(struct fid_ep *ep, const struct fi_msg_tagged *m, uint64_t flags)
{
    (void)ep;
    size_t len = m->msg_iov->iov_len;
    CHECK(m->iov_count == 1 && (!(flags & FI_INJECT) || len <= ways.inject) && !(m->tag & ~ways.tag_format));
    CHECK(!(flags & FI_REMOTE_CQ_DATA) || ways.cq_data >= 4);
    tagged_meanwhile();
    if (net.n_on_way == TAGGED) return -FI_EAGAIN;
    struct tagged *t = &net.on_way[net.n_on_way++];
    *t = (struct tagged){.tag = m->tag, .data = flags & FI_REMOTE_CQ_DATA ? m->data : 99, .len = len};
    CHECK(len <= sizeof t->bytes);
    memcpy(t->bytes, m->msg_iov->iov_base, len);
    complete(m->context, FI_SEND | FI_TAGGED, NULL, 0);
    return 0;
}
static ssize_t fake_tsend(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t to, uint64_t tag, void *context)
{
    struct iovec iov = {(void *)(uintptr_t)buf, len};
    struct fi_msg_tagged m = {.msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = to, .tag = tag, .context = context};
    return fake_tsendmsg(ep, &m, 0);
}
static ssize_t fake_trecvmsg(struct fid_ep *ep, const struct fi_msg_tagged *m, uint64_t flags)
{
    (void)ep, (void)flags;
    tagged_meanwhile();
    CHECK((m->addr != FI_ADDR_UNSPEC) <= !!(ways.caps & FI_DIRECTED_RECV));
    struct tagged r = {.tag = m->tag, .ignore = m->ignore, .context = m->context, .n_iov = (int)m->iov_count};
    memcpy(r.iov, m->msg_iov, m->iov_count * sizeof *r.iov);
    for (int i = 0; i < net.n_unexpected; i++)
        if (tagged_match(&net.unexpected[i], &r)) {
            tagged_give(&net.unexpected[i], &r);
            tagged_take(net.unexpected, &net.n_unexpected, i);
            return 0;
        }
    if (net.n_posted + net.n_unexpected >= ways.entries) return -FI_EAGAIN;
    net.posted[net.n_posted++] = r;
    return 0;
}
static ssize_t fake_trecv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t from, uint64_t tag, uint64_t ignore,
                          void *context)
{
    struct iovec iov = {buf, len};
    struct fi_msg_tagged m = {
        .msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = from, .tag = tag, .ignore = ignore, .context = context};
    return fake_trecvmsg(ep, &m, 0);
}
static ssize_t fake_cancel(fid_t fid, void *context)
{
    (void)fid;
    tagged_meanwhile();
    for (int i = 0; i < net.n_posted; i++)
        if (net.posted[i].context == context) {
            tagged_take(net.posted, &net.n_posted, i);
            net.failed[net.n_failed].context = context;
            net.failed[net.n_failed++].err = FI_ECANCELED;
            return 0;
        }
    return -FI_ENOENT;
}

/* True: the operation is to fail, and its failure stands in the queue. */
static bool fail_now(void *context)
{
    if (!ways.fails || --ways.fails) return false;
    net.failed[net.n_failed].context = context;
    net.failed[net.n_failed++].err = FI_ECONNRESET;
    return true;
}

static ssize_t post(const struct fi_msg *m, uint64_t flags)
{
    if (ways.is_cut) return -FI_EHOSTUNREACH;
    if (refuse()) return -FI_EAGAIN;
    size_t len = m->msg_iov->iov_len;
    CHECK(m->iov_count == 1 && (!(flags & FI_INJECT) || len <= ways.inject));
    CHECK(flags & FI_INJECT || !(ways.mr_mode & FI_MR_LOCAL) || (m->desc && m->desc[0]));
    struct packet *p = malloc(sizeof *p + len);
    *p = (struct packet){.len = len, .context = m->context, .wants_completion = true};
    memcpy(p->data, m->msg_iov->iov_base, len);
    *net.air_end = p;
    net.air_end = &p->next;
    net.sent++;
    return 0;
}
/* A stranger's packet, as it is. */
static inline void fake_arrives(const void *data, size_t len, bool is_stalled)
{
    struct packet *p = malloc(sizeof *p + len);
    *p = (struct packet){.len = len, .is_stalled = is_stalled};
    memcpy(p->data, data, len);
    *net.air_end = p;
    net.air_end = &p->next;
}
static ssize_t fake_sendmsg(struct fid_ep *ep, const struct fi_msg *m, uint64_t flags)
{
    (void)ep;
    return post(m, flags);
}
static ssize_t fake_send(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t to, void *context)
{
    struct iovec iov = {(void *)(uintptr_t)buf, len};
    struct fi_msg m = {.msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = to, .context = context};
    (void)ep;
    return post(&m, 0);
}
static ssize_t fake_recvmsg(struct fid_ep *ep, const struct fi_msg *m, uint64_t flags)
{
    (void)ep;
    if (chance(ways.refuses)) return -FI_EAGAIN;
    CHECK(net.buf_tail - net.buf_head < BUFFERS);
    CHECK(!(ways.mr_mode & FI_MR_LOCAL) || (m->desc && m->desc[0]));
    unsigned i = net.buf_tail++ % BUFFERS;
    net.bufs[i].at = m->msg_iov->iov_base;
    net.bufs[i].left = m->msg_iov->iov_len;
    net.bufs[i].context = m->context;
    net.bufs[i].is_multi = flags & FI_MULTI_RECV;
    return 0;
}

static void place_end(struct place *l) { complete(l->e.op_context, l->e.flags, l->e.buf, l->e.len); }

/* The oldest message takes its place in the oldest buffer. */
static bool deliver(void)
{
    struct packet *p = net.air;
    if (!p || net.buf_head == net.buf_tail || net.tail - net.head >= (unsigned)ways.cq_takes) return false;
    net.air = p->next;
    if (!net.air) net.air_end = &net.air;
    unsigned i = net.buf_head % BUFFERS;
    if (p->len > net.bufs[i].left) { /* of a stranger: the rest of the buffer goes back with an error */
        CHECK(!p->context);
        net.failed[net.n_failed].context = net.bufs[i].context;
        net.failed[net.n_failed++].err = FI_ETRUNC;
        net.buf_head++;
        free(p);
        return true;
    }
    char *at = net.bufs[i].at;
    net.bufs[i].at += p->len;
    net.bufs[i].left -= p->len;
    bool is_full = !net.bufs[i].is_multi || net.bufs[i].left < net.min_multi;
    if (is_full) net.buf_head++;
    if (p->context && p->wants_completion && !fail_now(p->context)) complete(p->context, FI_SEND, NULL, 0);
    uint64_t flags = FI_RECV | (is_full && net.bufs[i].is_multi ? FI_MULTI_RECV : 0);
    memcpy(at, p->data, p->len);
    if (p->is_stalled) {
        CHECK(net.n_stalled < BUFFERS);
        net.stalled[net.n_stalled++] = (struct fi_cq_tagged_entry){
            .op_context = net.bufs[i].context, .flags = FI_RECV | (is_full ? FI_MULTI_RECV : 0), .len = p->len, .buf = at};
        free(p);
        return true;
    }
    struct place l = {{.op_context = net.bufs[i].context, .flags = flags, .len = p->len, .buf = at}, 40};
    free(p);
    if (!is_full && net.n_late < PLACES && chance(ways.late))
        net.late[net.n_late++] = l;
    else
        place_end(&l);
    return true;
}

static void deliver_late(void)
{
    for (int i = 0; i < net.n_late; i++)
        if (net.late[i].reads_left-- == 0) {
            place_end(&net.late[i]);
            net.late[i--] = net.late[--net.n_late];
        }
}

static char *there(const struct one_sided *c, uint64_t access)
{
    for (int i = 0; i < REGIONS; i++) {
        struct region *r = &net.regions[i];
        if (!r->is_used || r->key != c->there.key) continue;
        uint64_t offset = ways.mr_mode & FI_MR_VIRT_ADDR ? c->there.addr - (uintptr_t)r->base : c->there.addr;
        CHECK(offset <= r->bytes && c->there.len <= r->bytes - offset && r->access & access);
        return (char *)(uintptr_t)r->base + offset;
    }
    CHECK(!"memory is exposed under this key");
    return NULL;
}

static int64_t combined(const struct one_sided *c, int64_t old, size_t i)
{
    int64_t x = c->op == FI_ATOMIC_READ ? 0 : c->operand[i];
    switch (c->op) {
    case FI_SUM: return old + x;
    case FI_MIN: return x < old ? x : old;
    case FI_MAX: return x > old ? x : old;
    case FI_BAND: return old & x;
    case FI_BOR: return old | x;
    case FI_BXOR: return old ^ x;
    case FI_ATOMIC_WRITE: return x;
    case FI_CSWAP: return old == c->compare[i] ? x : old;
    default: CHECK_EQ(c->op, FI_ATOMIC_READ); return old;
    }
}
static void atomic_one(struct one_sided *c)
{
    int64_t *far = (int64_t *)(void *)there(c, c->op == FI_ATOMIC_READ ? FI_REMOTE_READ : FI_REMOTE_WRITE);
    bool fails = fail_now(c->m.context);
    for (size_t i = 0; far && !fails && i < c->there.len / 8; i++) {
        int64_t old = far[i];
        far[i] = combined(c, old, i);
        if (c->result) c->result[i] = old;
    }
    if (!fails) complete(c->m.context, FI_ATOMIC, NULL, 0);
    free(c);
}

static void copy_one(void)
{
    struct one_sided *c = net.copies;
    if (!c) return;
    net.copies = c->next;
    if (!net.copies) net.copies_end = &net.copies;
    if (c->is_atomic) {
        atomic_one(c);
        return;
    }
    char *far = there(c, c->is_put ? FI_REMOTE_WRITE : FI_REMOTE_READ);
    size_t bytes = 0;
    for (size_t i = 0; far && i < c->m.iov_count; i++) {
        memcpy(c->is_put ? far : c->iov[i].iov_base, c->is_put ? c->iov[i].iov_base : far, c->iov[i].iov_len);
        far += c->iov[i].iov_len;
        bytes += c->iov[i].iov_len;
    }
    CHECK_EQ(bytes, c->there.len);
    if (!fail_now(c->m.context)) complete(c->m.context, c->is_put ? FI_WRITE : FI_READ, NULL, 0);
    free(c);
}

static ssize_t copy_later(const struct fi_msg_rma *m, bool is_put)
{
    if (refuse()) return -FI_EAGAIN;
    CHECK(m->iov_count <= 4 && m->rma_iov_count == 1);
    for (size_t i = 0; i < m->iov_count; i++) CHECK(!(ways.mr_mode & FI_MR_LOCAL) || m->desc[i]);
    struct one_sided *c = calloc(1, sizeof *c);
    c->m = *m;
    c->is_put = is_put;
    c->there = *m->rma_iov;
    memcpy(c->iov, m->msg_iov, m->iov_count * sizeof *c->iov);
    *net.copies_end = c;
    net.copies_end = &c->next;
    return 0;
}
/* ---- atomic operations: of signed numbers of 8 bytes, four at a time ---- */
static ssize_t atomic_later(const struct fi_msg_atomic *m, const struct fi_ioc *compare, const struct fi_ioc *result)
{
    if (refuse()) return -FI_EAGAIN;
    CHECK(m->iov_count == 1 && m->rma_iov_count == 1 && m->datatype == FI_INT64 && m->msg_iov->count == m->rma_iov->count);
    CHECK(m->rma_iov->count >= 1 && m->rma_iov->count <= 4);
    CHECK(!(ways.mr_mode & FI_MR_LOCAL) || m->desc[0]);
    struct one_sided *c = calloc(1, sizeof *c);
    *c = (struct one_sided){.m.context = m->context,
                            .there = {m->rma_iov->addr, m->rma_iov->count * 8, m->rma_iov->key},
                            .is_atomic = true,
                            .op = m->op,
                            .operand = m->msg_iov->addr,
                            .compare = compare ? compare->addr : NULL,
                            .result = result ? result->addr : NULL};
    *net.copies_end = c;
    net.copies_end = &c->next;
    return 0;
}
static ssize_t fake_atomic(struct fid_ep *ep, const struct fi_msg_atomic *m, uint64_t flags)
{
    (void)ep;
    CHECK(flags & FI_DELIVERY_COMPLETE);
    return atomic_later(m, NULL, NULL);
}
static ssize_t fake_fetch_atomic(struct fid_ep *ep, const struct fi_msg_atomic *m, struct fi_ioc *result, void **desc, size_t n,
                                 uint64_t flags)
{
    (void)ep, (void)flags;
    CHECK(n == 1 && (!(ways.mr_mode & FI_MR_LOCAL) || desc[0]));
    return atomic_later(m, NULL, result);
}
static ssize_t fake_compare_atomic(struct fid_ep *ep, const struct fi_msg_atomic *m, const struct fi_ioc *compare,
                                   void **compare_desc, size_t compare_n, struct fi_ioc *result, void **desc, size_t n,
                                   uint64_t flags)
{
    (void)ep, (void)flags;
    CHECK(n == 1 && compare_n == 1 && (!(ways.mr_mode & FI_MR_LOCAL) || (desc[0] && compare_desc[0])));
    return atomic_later(m, compare, result);
}
static int fake_atomic_valid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op, size_t *count)
{
    (void)ep;
    if (type != FI_INT64 || op == FI_ATOMIC_READ) return -FI_EOPNOTSUPP;
    *count = 5;
    return 0;
}
static int fake_fetch_valid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op, size_t *count)
{
    (void)ep, (void)op;
    *count = 4;
    return type == FI_INT64 ? 0 : -FI_EOPNOTSUPP;
}
static int fake_compare_valid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op, size_t *count)
{
    return op == FI_CSWAP ? fake_fetch_valid(ep, type, op, count) : -FI_EOPNOTSUPP;
}

static ssize_t fake_readmsg(struct fid_ep *ep, const struct fi_msg_rma *m, uint64_t flags)
{
    (void)ep, (void)flags;
    return copy_later(m, false);
}
static ssize_t fake_writemsg(struct fid_ep *ep, const struct fi_msg_rma *m, uint64_t flags)
{
    (void)ep;
    CHECK(flags & FI_DELIVERY_COMPLETE);
    return copy_later(m, true);
}

static ssize_t fake_cq_read(struct fid_cq *cq, void *buf, size_t count)
{
    (void)cq;
    net.reads++;
    for (int i = 0; i < 300 && deliver(); i++) {}
    deliver_late();
    tagged_deliver(TAGGED);
    copy_one();
    if (net.n_failed) return -FI_EAVAIL;
    size_t n = 0;
    for (struct fi_cq_tagged_entry *to = buf; n < count && net.head != net.tail; n++) to[n] = net.cq[net.head++ % ENTRIES];
    return n ? (ssize_t)n : -FI_EAGAIN;
}
static ssize_t fake_cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *e, uint64_t flags)
{
    (void)cq, (void)flags;
    if (!net.n_failed) return -FI_EAGAIN;
    net.n_failed--;
    e->op_context = net.failed[net.n_failed].context;
    e->err = net.failed[net.n_failed].err;
    return 1;
}

/* ---- its objects ---- */
static int fake_close(struct fid *fid)
{
    if (fid->fclass == FI_CLASS_MR) {
        container_of(container_of(fid, struct fid_mr, fid), struct region, mr)->is_used = false;
        net.n_regions--;
    } else {
        net.n_objects--;
    }
    return 0;
}
static int fake_bind(struct fid *fid, struct fid *to, uint64_t flags)
{
    (void)fid, (void)to, (void)flags;
    return 0;
}
static int fake_control(struct fid *fid, int command, void *arg)
{
    (void)arg;
    return command == FI_ENABLE ? 0 : fid->fclass == FI_CLASS_CQ ? -FI_ENOSYS : 0;
}
static struct fi_ops fid_ops = {.size = sizeof fid_ops, .close = fake_close, .bind = fake_bind, .control = fake_control};

static int fake_setopt(fid_t fid, int level, int name, const void *value, size_t len)
{
    (void)fid, (void)level;
    if (name == FI_OPT_MIN_MULTI_RECV && len == sizeof net.min_multi) memcpy(&net.min_multi, value, len);
    return 0;
}
static int fake_getname(fid_t fid, void *addr, size_t *len)
{
    (void)fid;
    memcpy(addr, "here", 5);
    *len = 5;
    return 0;
}
static int fake_av_insert(struct fid_av *av, const void *addr, size_t count, fi_addr_t *out, uint64_t flags, void *context)
{
    (void)av, (void)flags, (void)context;
    CHECK_STR(addr, "here");
    *out = 0;
    return (int)count;
}
static int fake_av_lookup(struct fid_av *av, fi_addr_t a, void *addr, size_t *len)
{
    (void)av, (void)a;
    return fake_getname(NULL, addr, len);
}
static const char *fake_av_straddr(struct fid_av *av, const void *addr, char *buf, size_t *len)
{
    (void)av;
    *len = (size_t)snprintf(buf, *len, "fake://%s", (const char *)addr) + 1;
    return buf;
}
static int fake_mr_reg(struct fid *fid, const void *buf, size_t len, uint64_t access, uint64_t offset, uint64_t wanted_key,
                       uint64_t flags, struct fid_mr **mr, void *context)
{
    (void)fid, (void)offset, (void)flags, (void)context;
    int i = 0;
    while (i < REGIONS && net.regions[i].is_used) i++;
    if (i == REGIONS) return -FI_ENOMEM;
    uint64_t key = ways.mr_mode & FI_MR_PROV_KEY ? UINT64_MAX - 100 + (uint64_t)i : wanted_key;
    if (access & (FI_REMOTE_READ | FI_REMOTE_WRITE))
        for (int k = 0; k < REGIONS; k++)
            if (net.regions[k].is_used && net.regions[k].key == key && net.regions[k].access & FI_REMOTE_READ) return -FI_ENOKEY;
    net.regions[i] = (struct region){buf, len, key, access, true, {{FI_CLASS_MR, NULL, &fid_ops}, &net, key}};
    net.n_regions++;
    *mr = &net.regions[i].mr;
    return 0;
}

static struct fi_ops_cq cq_ops = {.size = sizeof cq_ops, .read = fake_cq_read, .readerr = fake_cq_readerr};
static struct fi_ops_av av_ops = {
    .size = sizeof av_ops, .insert = fake_av_insert, .lookup = fake_av_lookup, .straddr = fake_av_straddr};
static struct fi_ops_ep ep_ops = {.size = sizeof ep_ops, .setopt = fake_setopt, .cancel = fake_cancel};
static struct fi_ops_cm cm_ops = {.size = sizeof cm_ops, .getname = fake_getname};
static struct fi_ops_msg msg_ops = {.size = sizeof msg_ops, .send = fake_send, .sendmsg = fake_sendmsg, .recvmsg = fake_recvmsg};
static struct fi_ops_tagged tagged_ops = {
    .size = sizeof tagged_ops, .send = fake_tsend, .recv = fake_trecv, .recvmsg = fake_trecvmsg, .sendmsg = fake_tsendmsg};
static struct fi_ops_rma rma_ops = {.size = sizeof rma_ops, .readmsg = fake_readmsg, .writemsg = fake_writemsg};
static struct fi_ops_atomic atomic_ops = {.size = sizeof atomic_ops,
                                          .writemsg = fake_atomic,
                                          .readwritemsg = fake_fetch_atomic,
                                          .compwritemsg = fake_compare_atomic,
                                          .writevalid = fake_atomic_valid,
                                          .readwritevalid = fake_fetch_valid,
                                          .compwritevalid = fake_compare_valid};
static struct fi_ops_mr mr_ops = {.size = sizeof mr_ops, .reg = fake_mr_reg};
static struct fid_cq the_cq = {.fid = {FI_CLASS_CQ, NULL, &fid_ops}, .ops = &cq_ops};
static struct fid_av the_av = {.fid = {FI_CLASS_AV, NULL, &fid_ops}, .ops = &av_ops};
static struct fid_ep the_ep = {.fid = {FI_CLASS_EP, NULL, &fid_ops},
                               .ops = &ep_ops,
                               .cm = &cm_ops,
                               .msg = &msg_ops,
                               .tagged = &tagged_ops,
                               .rma = &rma_ops,
                               .atomic = &atomic_ops};

static int fake_cq_open(struct fid_domain *d, struct fi_cq_attr *attr, struct fid_cq **cq, void *context)
{
    (void)d, (void)context;
    CHECK_EQ(attr->format, FI_CQ_FORMAT_TAGGED);
    if (attr->wait_obj != FI_WAIT_NONE) return -FI_ENOSYS; /* as shm does */
    net.n_objects++;
    *cq = &the_cq;
    return 0;
}
static int fake_av_open(struct fid_domain *d, struct fi_av_attr *attr, struct fid_av **av, void *context)
{
    (void)d, (void)context;
    CHECK_EQ(attr->count, gw_boot.size < 1024 ? gw_boot.size : 1024); /* room for no more than there are; it grows */
    net.n_objects++;
    *av = &the_av;
    return 0;
}
static int fake_endpoint(struct fid_domain *d, struct fi_info *info, struct fid_ep **ep, void *context)
{
    (void)d, (void)info, (void)context;
    net.n_objects++;
    *ep = &the_ep;
    return 0;
}
static struct fi_ops_domain domain_ops = {
    .size = sizeof domain_ops, .av_open = fake_av_open, .cq_open = fake_cq_open, .endpoint = fake_endpoint};
static struct fid_domain the_domain = {.fid = {FI_CLASS_DOMAIN, NULL, &fid_ops}, .ops = &domain_ops, .mr = &mr_ops};
static int fake_domain(struct fid_fabric *f, struct fi_info *info, struct fid_domain **domain, void *context)
{
    (void)f, (void)info, (void)context;
    net.n_objects++;
    *domain = &the_domain;
    return 0;
}
static struct fi_ops_fabric fabric_ops = {.size = sizeof fabric_ops, .domain = fake_domain};
static struct fid_fabric the_fabric = {.fid = {FI_CLASS_FABRIC, NULL, &fid_ops}, .ops = &fabric_ops};
static int fake_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    CHECK_STR(attr->prov_name, "fake");
    (void)context;
    net.n_objects++;
    *fabric = &the_fabric;
    return 0;
}

struct whole_info {
    struct fi_info info;
    struct fi_tx_attr tx;
    struct fi_rx_attr rx;
    struct fi_ep_attr ep;
    struct fi_domain_attr domain;
    struct fi_fabric_attr fabric;
};
static struct fi_info *fake_dupinfo(const struct fi_info *from)
{
    struct whole_info *w = calloc(1, sizeof *w);
    if (from) *w = *container_of(from, struct whole_info, info);
    w->info.tx_attr = &w->tx;
    w->info.rx_attr = &w->rx;
    w->info.ep_attr = &w->ep;
    w->info.domain_attr = &w->domain;
    w->info.fabric_attr = &w->fabric;
    w->info.next = NULL;
    return &w->info;
}
static void fake_freeinfo(struct fi_info *i)
{
    for (struct fi_info *next; i; i = next) {
        next = i->next;
        free(container_of(i, struct whole_info, info));
    }
}
static int fake_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags, const struct fi_info *hints,
                        struct fi_info **out)
{
    (void)version, (void)node, (void)service, (void)flags;
    static char name[] = "fake", domain[] = "fake0", other[] = "fake1";
    if (hints && hints->caps & ~ways.caps) return -FI_ENODATA;
    if (ways.away > 0 && ways.away-- > 0) return -FI_ENODATA;
    struct fi_info *i = fake_dupinfo(NULL);
    i->caps = ways.is_ip && hints ? hints->caps : ways.caps;
    i->mode = ways.mode;
    i->addr_format = ways.is_ip ? FI_SOCKADDR_IN : FI_FORMAT_UNSPEC;
    i->tx_attr->inject_size = ways.inject;
    i->tx_attr->msg_order = i->rx_attr->msg_order = FI_ORDER_SAS;
    i->tx_attr->iov_limit = i->tx_attr->rma_iov_limit = 4;
    i->rx_attr->iov_limit = 2;
    i->rx_attr->size = (size_t)ways.entries;
    i->ep_attr->mem_tag_format = ways.tag_format;
    i->domain_attr->cq_data_size = ways.cq_data;
    i->ep_attr->type = FI_EP_RDM;
    i->ep_attr->max_msg_size = 1 << 20;
    i->domain_attr->mr_mode = ways.mr_mode;
    i->domain_attr->mr_key_size = 8;
    i->domain_attr->name = ways.is_other_without_rma && hints && !(hints->caps & FI_RMA) ? other : domain;
    if (hints && ways.tclass && hints->tx_attr->tclass == ways.tclass) i->tx_attr->tclass = ways.tclass;
    i->fabric_attr->prov_name = i->fabric_attr->name = name;
    *out = i;
    return 0;
}
static const char *fake_strerror(int err) { return err == FI_ECONNRESET ? "connection reset" : "another error"; }
static uint32_t fake_version(void) { return FI_VERSION(1, 17); }

/* ---- a wire on it ------------------------------------------------------------------------------------------------------------- */
static void fake_set_up(const struct ways *how)
{
    memset(&net, 0, sizeof net);
    ways = *how;
    if (!ways.cq_takes) ways.cq_takes = ENTRIES / 2;
    net.air_end = &net.air;
    net.copies_end = &net.copies;
    net.random = 12345;
    fabric_lib = (struct fabric_lib){fake_getinfo, fake_freeinfo, fake_dupinfo, fake_fabric, fake_strerror, fake_version};
}
static inline struct wire *fake_open(const struct ways *how, wire_recv_fn recv, void *ctx, struct wire_ep **ep)
{
    struct wire *w = NULL;
    fake_set_up(how);
    CHECK_EQ(ofi_ops.open(3, recv, ctx, &w), GW_OK);
    CHECK_EQ(ofi_ops.connect(w, 0, ep), GW_OK);
    CHECK((*ep)->tail == (*ep)->limit && !(*ep)->lines && (*ep)->can_read == WIRE_READ_NO);
    return w;
}
/* A copy or a transfer under way: how often it has ended (once), and how. */
struct ending {
    struct gw_done done;
    int n, err;
};
static inline void ended(struct gw_done *d, int err)
{
    struct ending *e = container_of(d, struct ending, done);
    e->n++;
    e->err = err;
}
static inline void close_wire(struct wire *w)
{
    ofi_ops.close(w);
    CHECK_EQ(net.n_objects, 0);
    CHECK_EQ(net.n_regions, 0);
}

#endif
