/* ofi_take_test.c -- receives that the provider matches, on an invented one with few entries.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_fake.h"

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
    struct {
        int n, err;
    } c;
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
    memset(&caught, 0, sizeof caught);
    return fake_open(how, caught_one, NULL, ep);
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

int main(void)
{
    gw_settings_load();
    gw_boot = (struct boot_info){.size = 1, .nlocal = 1, .nnodes = 1};
    gw_set.match_mode = GW_SET_MATCH_MODE_HARDWARE;
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
    return unit_end();
}
