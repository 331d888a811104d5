/* ofi_direct_test.c -- long messages from memory to memory, on an invented provider: when they are looked for.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/ofi_fake.h"
#include "base/base.h"
#include "base/settings.h"
#include "base/time.h"
#include "boot/boot.h"

enum { LONG = 512 << 10, SHORT = 200 };
static char to[LONG];
static const char from[SHORT] = "what is sent";

static void none(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    (void)ctx, (void)lane, (void)kind, (void)hdr, (void)payload, (void)len;
    CHECK(!"a message");
}

static struct wire *open_direct(uint32_t addr_format, struct wire_ep **ep)
{
    static const struct ways how = {.caps = FI_MSG | FI_TAGGED, .inject = 64, .entries = 16, .tag_format = UINT64_MAX};
    struct wire_caps caps;
    struct wire *w = fake_open(&how, none, NULL, ep);
    ofi_ops.caps(w, &caps);
    CHECK(caps.direct);
    w->info->addr_format = addr_format;
    return w;
}

static int reads_of(struct wire *w, int looks)
{
    int before = net.reads;
    for (int i = 0; i < looks; i++) ofi_ops.progress(w);
    return net.reads - before;
}

static void test_data(void)
{
    struct wire_ep *ep;
    struct wire *w = open_direct(FI_SOCKADDR_IN, &ep);
    struct ending in = {.done.fn = ended}, out = {.done.fn = ended};
    uint64_t ticket;
    memset(to, 0, sizeof to);
    CHECK_EQ(ofi_ops.copy.recv_into(w, to, SHORT, &ticket, &in.done), GW_POSTED);
    CHECK_EQ(reads_of(w, 100), 100); /* of what is short, at once */
    CHECK_EQ(in.n, 0);
    CHECK_EQ(ofi_ops.copy.send_from(ep, from, SHORT, ticket, &out.done), GW_POSTED);
    CHECK_EQ(reads_of(w, 2), 2);
    CHECK(in.n == 1 && in.err == GW_OK && out.n == 1 && out.err == GW_OK);
    CHECK(memcmp(to, from, SHORT) == 0);
    close_wire(w);
}

/* The provider reads a stream of the kernel's: not at every look. */
static void test_rest(void)
{
    struct wire_ep *ep;
    struct wire *w = open_direct(FI_SOCKADDR_IN, &ep);
    struct ending in = {.done.fn = ended};
    uint64_t ticket, began = gw_now_ns();
    CHECK_EQ(ofi_ops.copy.recv_into(w, to, LONG, &ticket, &in.done), GW_POSTED);
    do {
        int n = ofi_ops.progress(w);
        if (gw_now_ns() - began < 1000000)
            CHECK_EQ(n, 1); /* nobody goes to sleep while it is on its way; this process may have been stopped */
    } while (gw_now_ns() - began < 500000 || !net.reads);
    int most = (int)((gw_now_ns() - began) / 10000) + 1;
    CHECK(net.reads >= 1 && net.reads <= most);
    CHECK(net.n_posted == 1 && net.posted[0].tag == ticket && net.posted[0].iov[0].iov_len == LONG);
    complete(net.posted[0].context, FI_RECV | FI_TAGGED, NULL, LONG);
    while (!in.n) ofi_ops.progress(w);
    CHECK_EQ(in.err, GW_OK);
    CHECK_EQ(reads_of(w, 100), 100); /* nothing is on its way any more */
    net.n_posted = 0;
    close_wire(w);
}

/* What a card moves is there when it says so. */
static void test_card(void)
{
    struct wire_ep *ep;
    struct wire *w = open_direct(FI_FORMAT_UNSPEC, &ep);
    struct ending in = {.done.fn = ended};
    uint64_t ticket;
    CHECK_EQ(ofi_ops.copy.recv_into(w, to, LONG, &ticket, &in.done), GW_POSTED);
    CHECK_EQ(reads_of(w, 100), 100);
    complete(net.posted[0].context, FI_RECV | FI_TAGGED, NULL, LONG);
    CHECK_EQ(reads_of(w, 1), 1);
    CHECK_EQ(in.n, 1);
    net.n_posted = 0;
    close_wire(w);
}

/* Nobody guesses a ticket: they begin somewhere else each time.  They stay within the bits that the provider leaves, however many follow. */
static void test_tickets(uint64_t format)
{
    uint64_t first[2] = {0};
    for (int k = 0; k < 2; k++) {
        struct wire_ep *ep;
        struct wire *w = open_direct(FI_FORMAT_UNSPEC, &ep);
        struct ending in = {.done.fn = ended};
        w->info->ep_attr->mem_tag_format = format;
        CHECK_EQ(ofi_key_draw(w), GW_OK);
        CHECK_EQ(ofi_ops.copy.recv_into(w, to, SHORT, &first[k], &in.done), GW_POSTED);
        CHECK(!(first[k] & ~format) && !((first[k] + (1ull << 40)) & ~format));
        complete(net.posted[0].context, FI_RECV | FI_TAGGED, NULL, SHORT);
        CHECK_EQ(reads_of(w, 1), 1);
        CHECK(in.n == 1 && in.err == GW_OK);
        net.n_posted = 0;
        close_wire(w);
    }
    CHECK(first[0] != first[1] && first[0] > 1 << 30 && first[1] > 1 << 30);
}

/* Fewer bytes than were agreed on: an error of this one, and no silence. */
static void test_short(void)
{
    struct wire_ep *ep;
    struct wire *w = open_direct(FI_FORMAT_UNSPEC, &ep);
    struct ending in = {.done.fn = ended};
    uint64_t ticket;
    CHECK_EQ(ofi_ops.copy.recv_into(w, to, LONG, &ticket, &in.done), GW_POSTED);
    complete(net.posted[0].context, FI_RECV | FI_TAGGED, NULL, LONG - 24);
    CHECK_EQ(reads_of(w, 1), 1);
    CHECK(in.n == 1 && in.err == GW_EOTHER);
    CHECK_STR(gw_fail_text(),
              "a long message over the network came 24 bytes short (provider fake): sender and receiver cut it differently");
    net.n_posted = 0;
    close_wire(w);
}

int main(void)
{
    gw_settings_load();
    gw_boot = (struct boot_info){.size = 1, .nlocal = 1, .nnodes = 1};
    test_data();
    test_rest();
    test_card();
    test_tickets(UINT64_MAX);
    test_tickets(UINT64_MAX >> 1);
    test_tickets(UINT64_MAX >> 3);
    test_short();
    return unit_end();
}
