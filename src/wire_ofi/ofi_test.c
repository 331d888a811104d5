/* ofi_test.c -- the network wire on an invented provider: messages in order and whole though it refuses, is slow, gives buffers back too
early and has short queues; matching with few entries; memory under each of the ways that providers number and address it; errors that name the peer.
 *
 * The provider is the table that ofi_lib is filled with.  Its one endpoint sends to itself.  Everything happens when the completion queue
 * is read: that is the clock.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_private.h"

#include <stdio.h>
#include <stdlib.h>

#include "../../test/unit.h"

/* ---- the invented provider ---------------------------------------------------------------------------------------------------- */
static struct ways {
    uint64_t caps, mode;
    int mr_mode;
    size_t inject;
    int refuses; /* one of so many operations; 0: none */
    int late;    /* one of so many messages is said to be there only long after its place was taken */
    int fails;   /* the operation of this number from now on fails */
    bool is_cut; /* no message goes */
    int entries; /* for tagged messages: receives posted and messages that nobody waits for */
    uint64_t tag_format;
    size_t cq_data;
    int cq_takes; /* entries that the queue takes before what is sent waits */
} ways;

struct packet {
    struct packet *next;
    size_t len;
    void *context;
    bool wants_completion;
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
    net.cq[net.tail++ % ENTRIES] =
        (struct fi_cq_tagged_entry){.op_context = context, .flags = flags, .len = len, .buf = buf};
}

/* ---- tagged messages: as many as it has entries for; the rest stays on its way, and it says so ---- */
static void tagged_take(struct tagged *list, int *n, int i)
{
    memmove(&list[i], &list[i + 1], sizeof *list * (size_t)(--*n - i));
}
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
static bool tagged_match(const struct tagged *m, const struct tagged *r)
{
    return !((m->tag ^ r->tag) & ~r->ignore);
}
static void tagged_deliver(void)
{
    while (net.n_on_way) {
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
static ssize_t fake_tsendmsg(struct fid_ep *ep, const struct fi_msg_tagged *m, uint64_t flags)
{
    (void)ep;
    size_t len = m->msg_iov->iov_len;
    CHECK(m->iov_count == 1 && (!(flags & FI_INJECT) || len <= ways.inject) && !(m->tag & ~ways.tag_format));
    CHECK(!(flags & FI_REMOTE_CQ_DATA) || ways.cq_data >= 4);
    if (net.n_on_way == TAGGED) return -FI_EAGAIN;
    struct tagged *t = &net.on_way[net.n_on_way++];
    *t = (struct tagged){.tag = m->tag, .data = flags & FI_REMOTE_CQ_DATA ? m->data : 99, .len = len};
    CHECK(len <= sizeof t->bytes);
    memcpy(t->bytes, m->msg_iov->iov_base, len);
    complete(m->context, FI_SEND | FI_TAGGED, NULL, 0);
    return 0;
}
static ssize_t fake_trecvmsg(struct fid_ep *ep, const struct fi_msg_tagged *m, uint64_t flags)
{
    (void)ep, (void)flags;
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
static ssize_t fake_trecv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t from, uint64_t tag,
                          uint64_t ignore, void *context)
{
    struct iovec iov = {buf, len};
    struct fi_msg_tagged m = {
        .msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = from, .tag = tag, .ignore = ignore, .context = context};
    return fake_trecvmsg(ep, &m, 0);
}
static ssize_t fake_cancel(fid_t fid, void *context)
{
    (void)fid;
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

static void place_end(struct place *l)
{
    complete(l->e.op_context, l->e.flags, l->e.buf, l->e.len);
}

/* The oldest message takes its place in the oldest buffer. */
static bool deliver(void)
{
    struct packet *p = net.air;
    if (!p || net.buf_head == net.buf_tail || net.tail - net.head >= (unsigned)ways.cq_takes) return false;
    net.air = p->next;
    if (!net.air) net.air_end = &net.air;
    unsigned i = net.buf_head % BUFFERS;
    CHECK(p->len <= net.bufs[i].left);
    char *at = net.bufs[i].at;
    net.bufs[i].at += p->len;
    net.bufs[i].left -= p->len;
    bool is_full = !net.bufs[i].is_multi || net.bufs[i].left < net.min_multi;
    if (is_full) net.buf_head++;
    if (p->context && p->wants_completion && !fail_now(p->context)) complete(p->context, FI_SEND, NULL, 0);
    uint64_t flags = FI_RECV | (is_full && net.bufs[i].is_multi ? FI_MULTI_RECV : 0);
    memcpy(at, p->data, p->len);
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

static void copy_one(void)
{
    struct one_sided *c = net.copies;
    if (!c) return;
    net.copies = c->next;
    if (!net.copies) net.copies_end = &net.copies;
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
    tagged_deliver();
    copy_one();
    if (net.n_failed) return -FI_EAVAIL;
    size_t n = 0;
    for (struct fi_cq_tagged_entry *to = buf; n < count && net.head != net.tail; n++)
        to[n] = net.cq[net.head++ % ENTRIES];
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
static struct fi_ops fid_ops = {
    .size = sizeof fid_ops, .close = fake_close, .bind = fake_bind, .control = fake_control};

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
static int fake_av_insert(struct fid_av *av, const void *addr, size_t count, fi_addr_t *out, uint64_t flags,
                          void *context)
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
static int fake_mr_reg(struct fid *fid, const void *buf, size_t len, uint64_t access, uint64_t offset,
                       uint64_t wanted_key, uint64_t flags, struct fid_mr **mr, void *context)
{
    (void)fid, (void)offset, (void)flags, (void)context;
    int i = 0;
    while (i < REGIONS && net.regions[i].is_used) i++;
    if (i == REGIONS) return -FI_ENOMEM;
    uint64_t key = ways.mr_mode & FI_MR_PROV_KEY ? UINT64_MAX - 100 + (uint64_t)i : wanted_key;
    if (access & (FI_REMOTE_READ | FI_REMOTE_WRITE))
        for (int k = 0; k < REGIONS; k++)
            if (net.regions[k].is_used && net.regions[k].key == key && net.regions[k].access & FI_REMOTE_READ)
                return -FI_ENOKEY;
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
static struct fi_ops_msg msg_ops = {
    .size = sizeof msg_ops, .send = fake_send, .sendmsg = fake_sendmsg, .recvmsg = fake_recvmsg};
static struct fi_ops_tagged tagged_ops = {
    .size = sizeof tagged_ops, .recv = fake_trecv, .recvmsg = fake_trecvmsg, .sendmsg = fake_tsendmsg};
static struct fi_ops_rma rma_ops = {.size = sizeof rma_ops, .readmsg = fake_readmsg, .writemsg = fake_writemsg};
static struct fi_ops_mr mr_ops = {.size = sizeof mr_ops, .reg = fake_mr_reg};
static struct fid_cq the_cq = {.fid = {FI_CLASS_CQ, NULL, &fid_ops}, .ops = &cq_ops};
static struct fid_av the_av = {.fid = {FI_CLASS_AV, NULL, &fid_ops}, .ops = &av_ops};
static struct fid_ep the_ep = {.fid = {FI_CLASS_EP, NULL, &fid_ops},
                               .ops = &ep_ops,
                               .cm = &cm_ops,
                               .msg = &msg_ops,
                               .tagged = &tagged_ops,
                               .rma = &rma_ops};

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
    (void)d, (void)attr, (void)context;
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
static int fake_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
                        const struct fi_info *hints, struct fi_info **out)
{
    (void)version, (void)node, (void)service, (void)flags;
    static char name[] = "fake", domain[] = "fake0";
    if (hints && hints->caps & ~ways.caps) return -FI_ENODATA;
    struct fi_info *i = fake_dupinfo(NULL);
    i->caps = ways.caps;
    i->mode = ways.mode;
    i->addr_format = FI_FORMAT_UNSPEC;
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
    i->domain_attr->name = domain;
    i->fabric_attr->prov_name = i->fabric_attr->name = name;
    *out = i;
    return 0;
}
static const char *fake_strerror(int err)
{
    return err == FI_ECONNRESET ? "connection reset" : "another error";
}
static uint32_t fake_version(void)
{
    return FI_VERSION(1, 17);
}

/* ---- the wire's other side -------------------------------------------------------------------------------------------------------- */
static struct {
    unsigned next;
    int bad;
} seen;
static unsigned char pattern(unsigned seq, size_t i)
{
    return (unsigned char)(seq * 37 + i * 11 + (i >> 8));
}

static void arrived(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    unsigned head[4];
    memcpy(head, hdr, sizeof head);
    CHECK(ctx == &seen && lane == 3 && kind == 1 + head[0] % 7);
    bool is_good = ways.late || head[0] == seen.next; /* late ones are of other senders than those that overtake them */
    is_good = is_good && head[1] == len && (uintptr_t)payload % OFI_ALIGN == 0;
    for (size_t i = 0; i < len && is_good; i++) is_good = ((const unsigned char *)payload)[i] == pattern(head[0], i);
    seen.bad += !is_good;
    seen.next++;
}

static struct wire *open_wire(const struct ways *how, struct wire_ep **ep)
{
    struct wire *w = NULL;
    memset(&net, 0, sizeof net);
    memset(&seen, 0, sizeof seen);
    ways = *how;
    if (!ways.cq_takes) ways.cq_takes = ENTRIES / 2;
    net.air_end = &net.air;
    net.copies_end = &net.copies;
    net.random = 12345;
    ofi_lib = (struct ofi_lib){fake_getinfo, fake_freeinfo, fake_dupinfo, fake_fabric, fake_strerror, fake_version};
    CHECK_EQ(ofi_ops.open(3, arrived, &seen, &w), GW_OK);
    CHECK_EQ(ofi_ops.connect(w, 0, ep), GW_OK);
    CHECK((*ep)->tail == (*ep)->limit && !(*ep)->lines && (*ep)->cma == SHM_CMA_NO);
    return w;
}
static void close_wire(struct wire *w)
{
    ofi_ops.close(w);
    CHECK_EQ(net.n_objects, 0);
    CHECK_EQ(net.n_regions, 0);
}

/* ---- tests ------------------------------------------------------------------------------------------------------------------------- */
static void test_messages(const struct ways *how)
{
    enum { MESSAGES = 3000 };
    struct wire_ep *ep;
    struct wire *w = open_wire(how, &ep);
    struct wire_caps caps;
    static unsigned char data[256 << 10];
    int again = 0;
    ofi_ops.caps(w, &caps);
    CHECK(caps.pack_max + 1024 <= sizeof data);
    for (unsigned i = 0; i < MESSAGES; i++) {
        size_t len = i % 3 ? i % 97 : i * 7919u % (i % 50 == 0 ? (unsigned)caps.pack_max + 1 : 5000);
        unsigned head[4] = {i, (unsigned)len, 0, 0};
        for (size_t k = 0; k < len; k++) data[k] = pattern(i, k);
        while (ofi_ops.send_short(ep, (uint8_t)(1 + i % 7), head, data, len) != GW_OK) {
            again++;
            ofi_ops.progress(w);
        }
        CHECK(w->under_way <= gw_set.ofi_send_buffers + 512);
    }
    for (int i = 0; i < 100000 && (seen.next < MESSAGES || !ofi_ops.drained(w)); i++) ofi_ops.progress(w);
    CHECK_EQ(seen.next, MESSAGES);
    CHECK_EQ(seen.bad, 0);
    CHECK_EQ(net.sent, MESSAGES);
    CHECK(again > 0); /* it has only so many buffers */
    CHECK(ofi_ops.drained(w));
    close_wire(w);
}

static void test_250_events(void)
{
    struct wire_ep *ep;
    struct wire *w = open_wire(&(struct ways){.caps = FI_MSG | FI_MULTI_RECV, .inject = 64}, &ep);
    unsigned head[4] = {0};
    for (unsigned i = 0; i < 125; i++) {
        head[0] = i;
        CHECK_EQ(ofi_ops.send_short(ep, (uint8_t)(1 + i % 7), head, NULL, 0), GW_OK);
    }
    net.reads = 0;
    CHECK_EQ(ofi_ops.progress(w), 250); /* each message has gone, and has come */
    CHECK_EQ(net.reads, 3);
    CHECK_EQ(seen.next, 125);
    close_wire(w);
}

struct counted {
    struct gw_done done;
    int n, err;
};
static void count_done(struct gw_done *d, int err)
{
    struct counted *c = container_of(d, struct counted, done);
    c->n++;
    c->err = err;
}

static void test_memory(int mr_mode, int refuses)
{
    enum { BYTES = 10000, PIECES = 41 };
    static unsigned char far[2][BYTES], near[BYTES];
    struct wire_ep *ep;
    struct wire *w = open_wire(
        &(struct ways){.caps = FI_MSG | FI_RMA | FI_MULTI_RECV, .inject = 64, .mr_mode = mr_mode, .refuses = refuses},
        &ep);
    uint64_t key[2] = {0};
    int before = net.n_regions;
    for (int i = 0; i < 2; i++) CHECK_EQ(ofi_ops.expose(w, far[i], BYTES, &key[i]), GW_OK);
    CHECK(key[0] && key[1] && key[0] != key[1]);
    for (int i = 0; i < BYTES; i++) far[1][i] = (unsigned char)(i * 3 + i / 256);
    struct iovec iov[PIECES];
    size_t used = 0;
    for (int i = 0; i < PIECES; i++) { /* from the end to the begin, some of no bytes */
        size_t len = i % 5 == 0 ? 0 : 100 + (size_t)i;
        used += len;
        iov[i] = (struct iovec){near + BYTES - used, len};
    }
    struct counted c = {.done.fn = count_done};
    int rc;
    while ((rc = ofi_ops.get(ep, iov, PIECES, (uintptr_t)far[1] + 77, key[1], &c.done)) == GW_AGAIN)
        ofi_ops.progress(w);
    CHECK_EQ(rc, GW_POSTED);
    for (int i = 0; i < 1000 && !c.n; i++) ofi_ops.progress(w);
    CHECK(c.n == 1 && c.err == GW_OK);
    size_t at = 77;
    for (int i = 0; i < PIECES; at += iov[i++].iov_len)
        CHECK(memcmp(iov[i].iov_base, far[1] + at, iov[i].iov_len) == 0);
    while ((rc = ofi_ops.put(ep, iov, PIECES, (uintptr_t)far[0] + 5, key[0], &c.done)) == GW_AGAIN) ofi_ops.progress(w);
    for (int i = 0; i < 1000 && c.n < 2; i++) ofi_ops.progress(w);
    CHECK(c.n == 2 && c.err == GW_OK && memcmp(far[0] + 5, far[1] + 77, used) == 0);
    CHECK_EQ(ofi_ops.get(ep, iov, 1, (uintptr_t)far[1], key[1], &c.done), GW_OK); /* no bytes */
    CHECK(ofi_ops.get(ep, iov + 1, 1, (uintptr_t)far[1], key[1], NULL) < 0);
    ofi_ops.conceal(w, key[0]);
    ofi_ops.conceal(w, key[1]);
    CHECK_EQ(net.n_regions, before);
    close_wire(w);
}

static void test_failed_copy(void)
{
    static char far[64], near[64];
    struct wire_ep *ep;
    struct wire *w = open_wire(&(struct ways){.caps = FI_MSG | FI_RMA | FI_MULTI_RECV, .inject = 64, .fails = 1}, &ep);
    uint64_t key;
    struct counted c = {.done.fn = count_done};
    struct iovec iov = {near, sizeof near};
    CHECK_EQ(ofi_ops.expose(w, far, sizeof far, &key), GW_OK);
    CHECK_EQ(ofi_ops.get(ep, &iov, 1, (uintptr_t)far, key, &c.done), GW_POSTED);
    for (int i = 0; i < 10 && !c.n; i++) ofi_ops.progress(w);
    CHECK(c.n == 1 && c.err == GW_EOTHER);
    CHECK_STR(gw_fail_text(), "reading over the network to or from rank 0 (fake://here, provider fake on fake0 of ) "
                              "failed: connection reset");
    ofi_ops.conceal(w, key);
    close_wire(w);
}

/* That everything has gone out is asked in the middle of a program, too: only one that has sent its last does not mind a lost message. */
static void test_leave(void)
{
    struct wire_ep *ep;
    struct wire *w = open_wire(&(struct ways){.caps = FI_MSG, .is_cut = true}, &ep);
    unsigned head[4] = {0};
    CHECK(ofi_ops.drained(w));
    CHECK_EQ(ofi_ops.send_short(ep, 1, head, NULL, 0), GW_EOTHER);
    ofi_ops.leave(w, true);
    CHECK_EQ(ofi_ops.send_short(ep, 1, head, NULL, 0), GW_OK);
    ofi_ops.leave(w, false);
    CHECK_EQ(ofi_ops.send_short(ep, 1, head, NULL, 0), GW_EOTHER);
    close_wire(w);
}

/* ---- matching ---- */
static struct {
    struct wire_tag tag[TAGGED];
    int value[TAGGED], n, n_full;
} caught;
static void caught_one(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    (void)ctx, (void)lane;
    if (kind == WIRE_FULL) {
        caught.n_full++;
        return;
    }
    CHECK(kind == WIRE_CAUGHT && len == sizeof(int));
    memcpy(&caught.tag[caught.n], hdr, sizeof *caught.tag);
    memcpy(&caught.value[caught.n++], payload, sizeof(int));
}

struct took {
    struct wire_take take;
    struct counted c;
    int value[4];
};
static void took_done(struct gw_done *d, int err)
{
    struct took *t = container_of(d, struct took, take.done);
    t->c.n++;
    t->c.err = err;
}
static int want(struct wire *w, struct wire_ep *from, struct took *t, int src, int tag)
{
    *t = (struct took){.take = {.done.fn = took_done, .buf = t->value, .cap = sizeof(int), .tag = {5, src, tag, 0}}};
    t->value[0] = t->value[1] = -1;
    return ofi_ops.tag_recv(w, from, &t->take);
}
static void tag_send(struct wire *w, struct wire_ep *ep, int src, int tag, const int *v, size_t ints)
{
    struct wire_tag t = {5, src, tag, tag & 1};
    while (ofi_ops.tag_send(ep, &t, v, ints * sizeof *v) == GW_AGAIN) ofi_ops.progress(w);
}
static bool got(const struct took *t, int src, int tag, int value)
{
    return t->c.n == 1 && t->c.err == GW_OK && !t->take.is_cancelled && t->take.tag.src == src &&
           t->take.tag.tag == tag && t->take.tag.asks == (tag & 1) && t->take.len == sizeof value &&
           t->value[0] == value && t->value[1] == -1;
}
static struct wire *open_tagged(const struct ways *how, struct wire_ep **ep)
{
    struct wire *w;
    gw_set.match_mode = GW_SET_MATCH_MODE_HARDWARE;
    memset(&caught, 0, sizeof caught);
    w = open_wire(how, ep);
    gw_set.match_mode = GW_SET_MATCH_MODE_SOFTWARE;
    w->recv = caught_one;
    return w;
}
static void rounds(struct wire *w)
{
    for (int i = 0; i < 10; i++) ofi_ops.progress(w);
}

/* By name and by wildcard, before and after the message; the order of both; too long; cancelled. */
static void test_matching(const struct ways *how, int32_t ctx_max)
{
    struct wire_ep *ep;
    struct wire_caps caps;
    struct wire *w = open_tagged(how, &ep);
    struct took a, b, c, d;
    int v[4] = {10, 11, 12, 13};
    ofi_ops.caps(w, &caps);
    CHECK(caps.matches && caps.ctx_max == ctx_max && caps.tag_max == INT32_MAX && caps.match_entries == how->entries);
    CHECK_EQ(want(w, NULL, &a, GW_ANY_SOURCE, GW_ANY_TAG), GW_POSTED);
    CHECK_EQ(want(w, ep, &b, 3, 7), GW_POSTED);
    tag_send(w, ep, 3, 7, &v[0], 1);
    tag_send(w, ep, 3, 7, &v[1], 1);
    tag_send(w, ep, 3, 8, &v[2], 1);
    tag_send(w, ep, 3, 8, &v[3], 1);
    tag_send(w, ep, 3, 9, v, 3); /* longer than its receive */
    rounds(w);
    CHECK(got(&a, 3, 7, 10) && got(&b, 3, 7, 11));
    CHECK_EQ(want(w, ep, &c, 3, 9), GW_POSTED);
    CHECK_EQ(want(w, NULL, &a, GW_ANY_SOURCE, 8), GW_POSTED);
    CHECK_EQ(want(w, ep, &b, 3, GW_ANY_TAG), GW_POSTED);
    CHECK_EQ(want(w, ep, &d, 3, 8), GW_POSTED);
    rounds(w);
    CHECK(got(&a, 3, 8, 12) && got(&b, 3, 8, 13));
    CHECK(c.c.n == 1 && c.c.err == GW_ETRUNCATE && c.take.len == sizeof(int[3]) && c.value[0] == 10 &&
          c.value[1] == -1);
    CHECK_EQ(d.c.n, 0);
    ofi_ops.tag_cancel(w, &d.take);
    rounds(w);
    CHECK(d.c.n == 1 && d.c.err == GW_OK && d.take.is_cancelled && d.value[0] == -1);
    struct wire_tag beyond = {ctx_max, 0, 0, 0};
    CHECK_EQ(ofi_ops.tag_check(w, &beyond), GW_OK);
    close_wire(w);
}

/* Few entries: receives are refused; of messages that nobody waits for we are told when there is no room, and once everything is caught
 * all of them come, in order. */
static void test_entries(const struct ways *how)
{
    struct wire_ep *ep;
    struct wire *w = open_tagged(how, &ep);
    static struct took t[TAGGED];
    for (int i = 0; i < how->entries; i++) CHECK_EQ(want(w, ep, &t[i], 1, 1000 + i), GW_POSTED);
    CHECK_EQ(want(w, ep, &t[how->entries], 1, 1), GW_AGAIN);
    for (int i = 0; i < how->entries; i++) ofi_ops.tag_cancel(w, &t[i].take);
    rounds(w);
    for (int i = 0; i < how->entries; i++) CHECK(t[i].c.n == 1 && t[i].take.is_cancelled);
    for (int i = 0; i < how->entries; i++) tag_send(w, ep, 1, i, &i, 1);
    rounds(w);
    CHECK_EQ(caught.n_full, 0);
    for (int i = how->entries; i < 4 * how->entries; i++) tag_send(w, ep, 1, i, &i, 1);
    rounds(w);
    CHECK(caught.n_full == 1 && caught.n == 0);
    CHECK_EQ(ofi_ops.tag_catch(w), GW_OK);
    for (int i = 0; i < 100; i++) rounds(w);
    CHECK_EQ(caught.n, 4 * how->entries);
    for (int i = 0; i < caught.n; i++)
        CHECK(caught.value[i] == i && caught.tag[i].ctx == 5 && caught.tag[i].src == 1 && caught.tag[i].tag == i &&
              caught.tag[i].asks == (i & 1));
    close_wire(w);
}

static void test_no_memory_access(void)
{
    struct wire_ep *ep;
    struct wire_caps caps;
    struct wire *w = open_wire(&(struct ways){.caps = FI_MSG}, &ep);
    ofi_ops.caps(w, &caps);
    CHECK(!caps.get && !caps.put && caps.short_max == 0);
    close_wire(w);
    /* The provider's keys and offsets do not fit one number. */
    w = open_wire(&(struct ways){.caps = FI_MSG | FI_RMA | FI_MULTI_RECV, .mr_mode = FI_MR_PROV_KEY}, &ep);
    ofi_ops.caps(w, &caps);
    CHECK(!caps.get && !caps.put);
    close_wire(w);
}

int main(void)
{
    gw_settings_load();
    gw_boot = (struct boot_info){.size = 1, .nlocal = 1, .nnodes = 1};
    const uint64_t all = FI_MSG | FI_RMA | FI_MULTI_RECV;
    test_messages(&(struct ways){.caps = all, .inject = 128});
    test_messages(&(struct ways){.caps = all, .inject = 64, .refuses = 3});
    test_messages(&(struct ways){.caps = all, .inject = 4096, .refuses = 5, .cq_takes = 8});
    test_messages(&(struct ways){.caps = all, .inject = 128, .late = 20});    /* as net does with several senders */
    test_messages(&(struct ways){.caps = FI_MSG, .inject = 0, .refuses = 4}); /* a buffer a message */
    test_messages(
        &(struct ways){.caps = all, .inject = 64, .mode = FI_CONTEXT2, .mr_mode = FI_MR_LOCAL | FI_MR_ENDPOINT});
    test_250_events();
    static const int modes[] = {0, FI_MR_VIRT_ADDR, FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ALLOCATED,
                                FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ENDPOINT, FI_MR_LOCAL};
    for (size_t i = 0; i < GW_ARRAY_LEN(modes); i++) test_memory(modes[i], 0), test_memory(modes[i], 3);
    test_failed_copy();
    test_leave();
    const uint64_t tags = FI_MSG | FI_TAGGED | FI_MULTI_RECV;
    test_matching(
        &(struct ways){
            .caps = tags | FI_DIRECTED_RECV, .inject = 8, .entries = 32, .tag_format = UINT64_MAX, .cq_data = 8},
        (1 << 30) - 1);
    test_matching(&(struct ways){.caps = tags, .entries = 32, .tag_format = UINT64_MAX >> 2, .cq_data = 8}, 1023);
    test_matching(
        &(struct ways){.caps = tags, .inject = 64, .entries = 32, .tag_format = UINT64_MAX, .mr_mode = FI_MR_LOCAL},
        4095);
    test_entries(&(struct ways){.caps = tags, .inject = 64, .entries = 20, .tag_format = UINT64_MAX});
    test_no_memory_access();
    return unit_end();
}
