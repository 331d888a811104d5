/* ofi_regs_test.c -- registrations that are kept: found again, bounded, and none where none are wanted.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/ofi_card.h"
#include "base/base.h"
#include "base/count.h"
#include "base/settings.h"

#include <sys/syscall.h>

/* That a registration which is kept too long would show: the card has the old pages. */
static void test_card(void)
{
    begin();
    char *p = fresh();
    struct fid_mr *mr;
    fill(p, LEN);
    CHECK_EQ(ofi_register(wire, p, LEN, FI_WRITE, 0, &mr), GW_OK);
    munmap(p, LEN);
    fresh_at(p, LEN);
    memset(p, 'x', LEN);
    char back[LEN];
    card_move(slot_of(mr), p, LEN, true);
    CHECK_EQ(pread(card.file, back, LEN, 0), LEN);
    CHECK(is_filled(back, 0, LEN));
    fi_close(&mr->fid);
    munmap(p, LEN);
    end();
}

static void test_found(int mr_mode)
{
    begin_with(mr_mode);
    char *p = fresh();
    count();
    for (int i = 0; i < 5; i++) send_new(p, LEN);
    COUNTED(1, 4, 0, 0);
    send_new(p + 100, LEN - 300); /* some of it */
    COUNTED(0, 1, 0, 0);
    for (int i = 0; i < 3; i++) get_new(p, LEN); /* another access */
    COUNTED(1, 2, 0, 0);
    uint64_t key[3];
    for (int i = 0; i < 3; i++) CHECK_EQ(ofi_ops.copy.expose(wire, p + i * 64, 1000, &key[i]), GW_OK); /* a third */
    COUNTED(3, 0, 0, 0);
    for (int i = 0; i < 3; i++) ofi_ops.copy.conceal(wire, key[i]);
    uint64_t again, part;
    CHECK_EQ(ofi_ops.copy.expose(wire, p, 1000, &again), GW_OK);
    CHECK_EQ(ofi_ops.copy.expose(wire, p + 50, 500, &part), GW_OK); /* two at once, of one registration */
    COUNTED(0, 2, 0, 0);
    CHECK(again == key[0]);
    char *q = fresh();
    fill(p, 1000);
    go(false, q, 500, p + 50, part);
    CHECK(is_filled(q, 50, 500));
    ofi_ops.copy.conceal(wire, again);
    go(false, q, 400, p + 60, part);
    CHECK(is_filled(q, 60, 400));
    ofi_ops.copy.conceal(wire, part);
    end();
    CHECK(!is_watched(p) && !is_watched(q));
    munmap(p, LEN);
    munmap(q, LEN);
}

static void test_bounds(void)
{
    enum { BUFFERS_HERE = 6, MOST = 4 };
    char *p[BUFFERS_HERE];
    gw_set.reg_cache_entries = MOST + 1; /* and the place */
    begin();
    int before = net.n_regions;
    count();
    for (int i = 0; i < BUFFERS_HERE; i++) {
        p[i] = fresh();
        send_new(p[i], LEN);
        CHECK(wire->regs.n <= MOST + 1 && net.n_regions <= before + MOST);
    }
    COUNTED(6, 0, 2, 0);
    CHECK(is_watched(p[2]) && is_watched(p[5]));
    for (int i = 2; i < BUFFERS_HERE; i++) send_new(p[i], LEN);
    COUNTED(0, 4, 0, 0);
    send_new(p[2], LEN);
    send_new(p[0], LEN); /* in the place of 3, which nobody has used for longest */
    COUNTED(1, 1, 1, 0);
    send_new(p[2], LEN);
    send_new(p[3], LEN);
    COUNTED(1, 1, 1, 0);
    end();

    gw_set.reg_cache_entries = 1024;
    gw_set.reg_cache_bytes = 3 * LEN + LEN; /* and the place */
    begin();
    count();
    for (int i = 0; i < BUFFERS_HERE; i++) {
        send_new(p[i], LEN);
        CHECK(wire->regs.bytes <= 4 * LEN);
    }
    COUNTED(6, 0, 3, 0);
    gw_set.reg_cache_bytes = LEN - 1; /* longer than all that may be: for one use, and nobody goes for it */
    before = net.n_regions;
    send_new(p[0], LEN);
    COUNTED(1, 0, 0, 0);
    CHECK_EQ(net.n_regions, before);
    gw_set.reg_cache_bytes = 1 << 30;
    end();
    for (int i = 0; i < BUFFERS_HERE; i++) {
        CHECK(!is_watched(p[i]));
        munmap(p[i], LEN);
    }
}

/* The provider has its own limit: what is kept makes room for what is needed. */
static void test_limit(void)
{
    enum { MORE = REGIONS + 20 };
    static char *p[MORE];
    begin();
    count();
    for (int i = 0; i < MORE; i++) {
        p[i] = fresh();
        send_new(p[i], LEN);
    }
    CHECK_EQ(gw_count.registrations - counted.made, MORE);
    uint64_t evicted = gw_count.registrations_evicted - counted.evicted;
    CHECK(evicted >= MORE - REGIONS && evicted + (unsigned)wire->regs.n == MORE + 1);
    uint64_t key;
    static uint64_t keys[REGIONS];
    int n = 0;
    while (n < REGIONS && ofi_ops.copy.expose(wire, p[n], LEN, &key) == GW_OK) keys[n++] = key;
    CHECK(n > REGIONS / 2 && n < REGIONS && wire->regs.n == n + 1);
    CHECK(strstr(gw_fail_text(), "16384 bytes of memory cannot be registered with provider fake: another error"));
    while (n--) ofi_ops.copy.conceal(wire, keys[n]);
    send_new(p[0], LEN);
    end();
    for (int i = 0; i < MORE; i++) munmap(p[i], LEN);
}

/* What is in use stays, even if others then find no room. */
static void test_in_use(void)
{
    uint64_t key[3];
    char *p[3], *q = fresh();
    gw_set.reg_cache_entries = 3;
    begin();
    for (int i = 0; i < 3; i++) {
        p[i] = fresh();
        CHECK_EQ(ofi_ops.copy.expose(wire, p[i], LEN, &key[i]), GW_OK);
    }
    CHECK_EQ(wire->regs.n, 3); /* the place and two of them */
    count();
    for (int i = 0; i < 3; i++) {
        fill(p[i], LEN);
        go(false, q, LEN, p[i], key[i]);
        CHECK(is_filled(q, 0, LEN));
    }
    COUNTED(3, 0, 0, 0);
    int regions = net.n_regions;
    ofi_ops.copy.conceal(wire, key[2]);
    CHECK_EQ(net.n_regions, regions - 1);
    ofi_ops.copy.conceal(wire, key[0]);
    CHECK_EQ(net.n_regions, regions - 1);
    count();
    get_new(q, LEN); /* in the place of the first */
    COUNTED(1, 0, 1, 0);
    regions = net.n_regions;
    int kept = wire->regs.n;
    CHECK_EQ(madvise(p[1], LEN, MADV_DONTNEED), 0); /* while others may still read there */
    settle();
    ofi_ops.progress(wire);
    CHECK(wire->regs.n == kept - 1 && net.n_regions == regions && wire->regs.n_gone == 0);
    ofi_ops.copy.conceal(wire, key[1]);
    CHECK_EQ(net.n_regions, regions - 1);
    gw_set.reg_cache_entries = 1024;
    end();
    for (int i = 0; i < 3; i++) munmap(p[i], LEN);
    munmap(q, LEN);
}

/* Two in one page: one goes, the other is still found and its mapping still watched. */
static void test_neighbours(void)
{
    char *p = fresh();
    begin();
    send_new(p, 1000);
    send_new(p + 1000, 6000);
    count();
    wire->regs.most = wire->regs.n; /* the oldest has to go */
    char *q = fresh();
    send_new(q, 100);
    COUNTED(1, 0, 1, 0);
    CHECK(is_watched(p) && is_watched(p + LEN - PAGE));
    send_new(p + 1000, 6000);
    COUNTED(0, 1, 0, 0);
    madvise(p, PAGE, MADV_DONTNEED);
    send_new(p + 1000, 6000);
    COUNTED(1, 0, 0, 1);
    send_new(q, 100);
    COUNTED(0, 1, 0, 0);
    wire->regs.most = 2;
    send_new(q + 200, 100);
    COUNTED(1, 0, 2, 0);
    end();
    munmap(p, LEN);
    munmap(q, LEN);
}

/* None are kept: each is for one use. */
static void none_kept(void)
{
    begin();
    char *p = fresh();
    int regions = net.n_regions;
    count();
    for (int i = 0; i < 3; i++) {
        send_new(p, LEN);
        CHECK(net.n_regions == regions && !is_watched(p));
        by_unmap(p);
    }
    COUNTED(3, 0, 0, 0);
    end();
    munmap(p, LEN);
}
static void test_not_wanted(void)
{
    gw_set.reg_cache = GW_SET_REG_CACHE_DISABLED;
    none_kept();
    gw_set.reg_cache = GW_SET_REG_CACHE_AUTO;
    gw_set.reg_cache_monitor = GW_SET_REG_CACHE_MONITOR_DISABLED;
    none_kept();
    gw_set.reg_cache_monitor = GW_SET_REG_CACHE_MONITOR_AUTO;
    gw_set.reg_cache_entries = 0;
    none_kept();
    gw_set.reg_cache_entries = 1024;
    begin_with(0); /* a provider without a card */
    CHECK(!wire->regs.kept);
    end();
    gw_set.reg_cache = GW_SET_REG_CACHE_ENABLED;
    begin_with(0);
    CHECK(wire->regs.kept);
    end();
    gw_set.reg_cache = GW_SET_REG_CACHE_AUTO;
}

int main(void)
{
    if (!card_begin()) return unit_end();
    test_card();
    test_found(FI_MR_LOCAL);
    test_found(FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ALLOCATED | FI_MR_ENDPOINT);
    test_bounds();
    test_limit();
    test_in_use();
    test_neighbours();
    test_not_wanted();
    in_child(SYS_userfaultfd, 0, EPERM, none_kept,
             "lane 3: registrations of memory are not kept: the kernel refuses userfaultfd: Operation not permitted");
    return unit_end();
}
