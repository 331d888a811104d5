/* ofi_test.c -- the network wire on an invented provider: messages in order and whole though it refuses, is slow, gives buffers back too
 * early and has short queues; memory under each of the ways that providers number and address it; errors that name the peer.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <malloc.h>

#include "../../test/fake_launcher.h"
#include "../../test/ofi_fake.h"
#include "../../test/unit_mapped.h"
#include "base/count.h"
#include "wire_ofi/ofi_private.h"

/* ---- the wire's other side -------------------------------------------------------------------------------------------------------- */
static struct {
    unsigned next;
    int bad;
} seen;
static unsigned char pattern(unsigned seq, size_t i) { return (unsigned char)(seq * 37 + i * 11 + (i >> 8)); }

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
    memset(&seen, 0, sizeof seen);
    return fake_open(how, arrived, &seen, ep);
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
    for (int i = 0; i < 100000 && (seen.next < MESSAGES || !ofi_ops.world.drained(w)); i++) ofi_ops.progress(w);
    CHECK_EQ(seen.next, MESSAGES);
    CHECK_EQ(seen.bad, 0);
    CHECK_EQ(net.sent, MESSAGES);
    CHECK(again > 0); /* it has only so many buffers */
    CHECK(ofi_ops.world.drained(w));
    close_wire(w);
}

/* As many buffers as the setting says, 64 if unset: one message more is refused, and that is counted, until one has gone. */
static void test_buffers(int buffers)
{
    struct wire_ep *ep;
    if (buffers) gw_set.ofi_send_buffers = buffers;
    struct wire *w = open_wire(&(struct ways){.caps = FI_MSG | FI_MULTI_RECV, .inject = 0}, &ep);
    uint64_t before = atomic_load(&gw_count.net_buffers_waited);
    unsigned head[4] = {0};
    for (; head[0] < 5000 && ofi_ops.send_short(ep, (uint8_t)(1 + head[0] % 7), head, NULL, 0) == GW_OK; head[0]++) continue;
    CHECK_EQ(head[0], buffers ? buffers : 64);
    CHECK_EQ(atomic_load(&gw_count.net_buffers_waited), before + 1);
    ofi_ops.progress(w);
    CHECK_EQ(ofi_ops.send_short(ep, (uint8_t)(1 + head[0] % 7), head, NULL, 0), GW_OK);
    for (int i = 0; i < 10; i++) ofi_ops.progress(w);
    CHECK(seen.next == head[0] + 1 && seen.bad == 0);
    close_wire(w);
}

/* With a setting of `a_read` events, which is 100 unless set. */
static void test_250_events(int a_read, int reads)
{
    struct wire_ep *ep;
    int64_t was = gw_set.progress_event_cnt;
    if (a_read) gw_set.progress_event_cnt = a_read;
    struct wire *w = open_wire(&(struct ways){.caps = FI_MSG | FI_MULTI_RECV, .inject = 64}, &ep);
    unsigned head[4] = {0};
    for (unsigned i = 0; i < 125; i++) {
        head[0] = i;
        CHECK_EQ(ofi_ops.send_short(ep, (uint8_t)(1 + i % 7), head, NULL, 0), GW_OK);
    }
    net.reads = 0;
    CHECK_EQ(ofi_ops.progress(w), 250); /* each message has gone, and has come */
    CHECK_EQ(net.reads, reads);
    CHECK_EQ(seen.next, 125);
    close_wire(w);
    gw_set.progress_event_cnt = was;
}

static void test_memory(int mr_mode, int refuses)
{
    enum { BYTES = 10000, PIECES = 41 };
    static unsigned char far[2][BYTES], near[BYTES];
    struct wire_ep *ep;
    struct wire *w = open_wire(
        &(struct ways){.caps = FI_MSG | FI_RMA | FI_MULTI_RECV, .inject = 64, .mr_mode = mr_mode, .refuses = refuses}, &ep);
    uint64_t key[2] = {0};
    int before = net.n_regions;
    for (int i = 0; i < 2; i++) CHECK_EQ(ofi_ops.copy.expose(w, far[i], BYTES, &key[i]), GW_OK);
    CHECK(key[0] && key[1] && key[0] != key[1]);
    for (int i = 0; i < BYTES; i++) far[1][i] = (unsigned char)(i * 3 + i / 256);
    struct iovec iov[PIECES];
    size_t used = 0;
    for (int i = 0; i < PIECES; i++) { /* from the end to the begin, some of no bytes */
        size_t len = i % 5 == 0 ? 0 : 100 + (size_t)i;
        used += len;
        iov[i] = (struct iovec){near + BYTES - used, len};
    }
    struct ending c = {.done.fn = ended};
    int rc;
    while ((rc = ofi_ops.get(ep, iov, PIECES, (uintptr_t)far[1] + 77, key[1], &c.done)) == GW_AGAIN) ofi_ops.progress(w);
    CHECK_EQ(rc, GW_POSTED);
    for (int i = 0; i < 1000 && !c.n; i++) ofi_ops.progress(w);
    CHECK(c.n == 1 && c.err == GW_OK);
    size_t at = 77;
    for (int i = 0; i < PIECES; at += iov[i++].iov_len) CHECK(memcmp(iov[i].iov_base, far[1] + at, iov[i].iov_len) == 0);
    while ((rc = ofi_ops.put(ep, iov, PIECES, (uintptr_t)far[0] + 5, key[0], &c.done)) == GW_AGAIN) ofi_ops.progress(w);
    for (int i = 0; i < 1000 && c.n < 2; i++) ofi_ops.progress(w);
    CHECK(c.n == 2 && c.err == GW_OK && memcmp(far[0] + 5, far[1] + 77, used) == 0);
    CHECK_EQ(ofi_ops.get(ep, iov, 1, (uintptr_t)far[1], key[1], &c.done), GW_OK); /* no bytes */
    CHECK(ofi_ops.get(ep, iov + 1, 1, (uintptr_t)far[1], key[1], NULL) < 0);
    ofi_ops.copy.conceal(w, key[0]);
    ofi_ops.copy.conceal(w, key[1]);
    CHECK_EQ(net.n_regions, before + w->regs.n);
    close_wire(w);
}

static void test_failed_copy(void)
{
    static char far[64], near[64];
    struct wire_ep *ep;
    struct wire *w = open_wire(&(struct ways){.caps = FI_MSG | FI_RMA | FI_MULTI_RECV, .inject = 64, .fails = 1}, &ep);
    uint64_t key;
    struct ending c = {.done.fn = ended};
    struct iovec iov = {near, sizeof near};
    CHECK_EQ(ofi_ops.copy.expose(w, far, sizeof far, &key), GW_OK);
    CHECK_EQ(ofi_ops.get(ep, &iov, 1, (uintptr_t)far, key, &c.done), GW_POSTED);
    for (int i = 0; i < 10 && !c.n; i++) ofi_ops.progress(w);
    CHECK(c.n == 1 && c.err == GW_EOTHER);
    CHECK_STR(gw_fail_text(),
              "reading over the network to or from rank 0 (fake://here, provider fake on fake0 of ) "
              "failed: connection reset");
    ofi_ops.copy.conceal(w, key);
    close_wire(w);
}

static void test_failed_atomic(void)
{
    static int64_t far[2], near[2];
    struct wire_ep *ep;
    struct wire *w = open_wire(&(struct ways){.caps = FI_MSG | FI_RMA | FI_ATOMIC, .inject = 64, .fails = 1}, &ep);
    uint64_t key;
    struct ending c = {.done.fn = ended};
    CHECK_EQ(ofi_ops.copy.expose(w, far, sizeof far, &key), GW_OK);
    struct wire_atomic a = {.op = WIRE_ATOMIC_READ, .elem = GW_ELEM_I64, .n = 2, .at = (uintptr_t)far, .key = key, .old = near};
    CHECK_EQ(ofi_ops.copy.atomic(ep, &a, &c.done), GW_POSTED);
    for (int i = 0; i < 10 && !c.n; i++) ofi_ops.progress(w);
    CHECK(c.n == 1 && c.err == GW_EOTHER && strstr(gw_fail_text(), "an atomic operation over the network to or from rank 0 ("));
    ofi_ops.copy.conceal(w, key);
    CHECK_EQ(ofi_ops.copy.atomic_most(w, GW_ELEM_F64, WIRE_ATOMIC_SUM), 0); /* which this provider does not do */
    CHECK_EQ(ofi_ops.copy.atomic_most(w, GW_ELEM_I64, WIRE_ATOMIC_SUM), 4); /* with the old values; without, five */
    CHECK_EQ(ofi_ops.copy.atomic_most(w, GW_ELEM_2INT, WIRE_ATOMIC_SUM), 0);
    close_wire(w);
}

/* That everything has gone out is asked in the middle of a program, too: only one that has sent its last does not mind a lost message. */
static void test_leave(void)
{
    struct wire_ep *ep;
    struct wire *w = open_wire(&(struct ways){.caps = FI_MSG, .is_cut = true}, &ep);
    unsigned head[4] = {0};
    CHECK(ofi_ops.world.drained(w));
    CHECK_EQ(ofi_ops.send_short(ep, 1, head, NULL, 0), GW_EOTHER);
    ofi_ops.world.leave(w, true);
    CHECK_EQ(ofi_ops.send_short(ep, 1, head, NULL, 0), GW_OK);
    ofi_ops.world.leave(w, false);
    CHECK_EQ(ofi_ops.send_short(ep, 1, head, NULL, 0), GW_EOTHER);
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

/* libfabric is asked five times: what it answers again is kept once. */
static void test_answers(uint64_t caps, bool is_other, int n)
{
    struct fabric_infos m;
    fake_set_up(&(struct ways){.caps = caps, .is_other_without_rma = is_other});
    CHECK_EQ(fabric_infos_open(&m, false), GW_OK);
    CHECK_EQ(m.n, n);
    CHECK_EQ(m.n_usable, n);
    CHECK_STR(m.offers[m.verdicts[0].offer].domain, "fake0");
    if (n > 1) CHECK_STR(m.offers[m.verdicts[1].offer].domain, "fake1");
    fabric_infos_close(&m);
    struct fi_info *chosen = NULL; /* and the best one is taken */
    CHECK_EQ(fabric_choose(&chosen), GW_OK);
    CHECK_STR(chosen->domain_attr->name, "fake0");
    fake_freeinfo(chosen);
}

/* An interface that is away while libfabric is asked for all, and there when it is asked for less. */
static void test_flapping(uint64_t caps)
{
    struct fi_info *chosen = NULL;
    fabric_has_other_jobs = true;
    for (int away = 0; away < 5; away++) {
        fake_set_up(&(struct ways){.caps = caps | FI_TAGGED, .is_ip = true, .away = away});
        CHECK_EQ(fabric_choose(&chosen), GW_OK);
        CHECK_EQ(chosen->caps & (caps | FI_TAGGED), caps | FI_TAGGED);
        fake_freeinfo(chosen);
    }
    fabric_has_other_jobs = false;
}

/* What is registered does not grow with the job: there are no mailboxes, one for each peer. */
static size_t pinned(int size)
{
    struct wire_ep *ep;
    size_t bytes = 0;
    gw_boot.size = size;
    struct wire *w = open_wire(&(struct ways){.caps = FI_MSG | FI_RMA | FI_MULTI_RECV, .inject = 64, .mr_mode = FI_MR_LOCAL}, &ep);
    for (int i = 0; i < REGIONS; i++) bytes += net.regions[i].is_used ? net.regions[i].bytes : 0;
    CHECK(unit_resident_pages(w->eps, (size_t)size * sizeof *w->eps) <= 2); /* nor is there an endpoint of a peer not talked to */
    close_wire(w);
    gw_boot.size = 1;
    return bytes;
}
static void test_pinned(void)
{
    static const int sizes[] = {2, 513, 262145, 1 << 20};
    launcher_fake();
    fabric_has_other_jobs = true;
    size_t alone = pinned(1);
    CHECK(alone > 0 && alone < 16 << 20);
    for (size_t i = 0; i < GW_ARRAY_LEN(sizes); i++) CHECK_EQ(pinned(sizes[i]), alone);
    fabric_has_other_jobs = false;
}

/* The class of traffic that a provider which has one of them is opened with. */
static uint32_t class_with(const char *asked, uint32_t has, int want_rc)
{
    struct wire *w = NULL;
    uint32_t got = 0;
    const char *was = gw_set.ofi_tclass;
    gw_set.ofi_tclass = asked;
    gw_set.ofi_tclass_errors = GW_SET_OFI_TCLASS_ERRORS_ERROR;
    fake_set_up(&(struct ways){.caps = FI_MSG | FI_RMA | FI_MULTI_RECV, .inject = 64, .tclass = has});
    CHECK_EQ(ofi_ops.open(3, arrived, NULL, &w), want_rc);
    if (want_rc == GW_OK) {
        got = w->info->tx_attr->tclass;
        close_wire(w);
    }
    gw_set.ofi_tclass = was;
    return got;
}
static void test_tclass(void)
{
    CHECK_EQ(class_with("", FI_TC_BULK_DATA, GW_OK), FI_TC_UNSPEC);
    CHECK_EQ(class_with("TC_BULK_DATA", FI_TC_BULK_DATA, GW_OK), FI_TC_BULK_DATA);
    CHECK_EQ(class_with("TC_BEST_EFFORT", FI_TC_BEST_EFFORT, GW_OK), FI_TC_BEST_EFFORT);
    CHECK_EQ(class_with("TC_BEST_EFFORT", 0, GW_OK), FI_TC_UNSPEC); /* what there is where nothing can be chosen */
    class_with("TC_LOW_LATENCY", FI_TC_BULK_DATA, GW_EUNSUPPORTED);
    CHECK(strstr(gw_fail_text(), "fake does not offer the traffic class TC_LOW_LATENCY"));
}

int main(void)
{
    mallopt(M_MMAP_THRESHOLD, 128 << 10); /* large tables are new memory each time */
    gw_settings_load();
    gw_boot = (struct boot_info){.size = 1, .nlocal = 1, .nnodes = 1};
    const uint64_t all = FI_MSG | FI_RMA | FI_MULTI_RECV;
    test_messages(&(struct ways){.caps = all, .inject = 128});
    test_messages(&(struct ways){.caps = all, .inject = 64, .refuses = 3});
    test_messages(&(struct ways){.caps = all, .inject = 4096, .refuses = 5, .cq_takes = 8});
    test_messages(&(struct ways){.caps = all, .inject = 128, .late = 20});    /* as net does with several senders */
    test_messages(&(struct ways){.caps = FI_MSG, .inject = 0, .refuses = 4}); /* a buffer a message */
    test_messages(&(struct ways){.caps = all, .inject = 64, .mode = FI_CONTEXT2, .mr_mode = FI_MR_LOCAL | FI_MR_ENDPOINT});
    test_buffers(0);
    test_buffers(5);
    gw_set.ofi_send_buffers = 64;
    test_250_events(0, 3);
    test_250_events(70, 4);
    test_250_events(251, 1);
    static const int modes[] = {0, FI_MR_VIRT_ADDR, FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ALLOCATED,
                                FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ENDPOINT, FI_MR_LOCAL};
    for (size_t i = 0; i < 2 * GW_ARRAY_LEN(modes); i++) {
        gw_set.reg_cache = i < GW_ARRAY_LEN(modes) ? GW_SET_REG_CACHE_DISABLED : GW_SET_REG_CACHE_ENABLED;
        test_memory(modes[i % GW_ARRAY_LEN(modes)], 0);
        test_memory(modes[i % GW_ARRAY_LEN(modes)], 3);
    }
    gw_set.reg_cache = GW_SET_REG_CACHE_AUTO;
    test_failed_copy();
    test_failed_atomic();
    test_leave();
    test_no_memory_access();
    test_answers(all | FI_TAGGED, false, 1);
    test_answers(all, false, 1);
    test_answers(all | FI_TAGGED, true, 2);
    test_flapping(all);
    test_pinned();
    test_tclass();
    return unit_end();
}
