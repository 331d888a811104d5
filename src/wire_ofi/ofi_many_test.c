/* ofi_many_test.c -- several messages as one of the provider's: whole, in order, all or none.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/ofi_fake.h"
#include "base/base.h"
#include "base/settings.h"
#include "boot/boot.h"

enum { MESSAGES = 4000, PARTS = 40, KIND = 7 };
static struct {
    int n;
    bool is_aligned;
} seen;

static size_t len_of(int i) { return i % 5 == 0 ? 0 : (size_t)(i * 37 % 300); }
static char byte_of(int i, size_t at) { return (char)(i * 31 + (int)at); }

static void arrived(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    int i = seen.n++, named;
    (void)ctx;
    memcpy(&named, hdr, sizeof named);
    CHECK(lane == 3 && kind == KIND && named == i && len == len_of(i));
    size_t at = 0;
    while (at < len && ((const char *)payload)[at] == byte_of(i, at)) at++;
    CHECK_EQ(at, len);
    seen.is_aligned = seen.is_aligned && (uintptr_t)payload % OFI_ALIGN == 0;
}

static int parts_make(struct wire_part *parts, int first, int n)
{
    static int hdrs[PARTS][WIRE_HDR_BYTES / sizeof(int)];
    static char payloads[PARTS][300];
    for (int k = 0; k < n; k++) {
        hdrs[k][0] = first + k;
        for (size_t at = 0; at < len_of(first + k); at++) payloads[k][at] = byte_of(first + k, at);
        parts[k] = (struct wire_part){hdrs[k], len_of(first + k) ? payloads[k] : NULL, len_of(first + k)};
    }
    return n;
}

static void test_many(const struct ways *how)
{
    struct wire_ep *ep;
    struct wire *w = fake_open(how, arrived, &seen, &ep);
    struct wire_part parts[PARTS];
    int again = 0, messages = 0;
    seen.n = 0;
    seen.is_aligned = true;
    for (int i = 0; i < MESSAGES; messages++) {
        int n = parts_make(parts, i, i % 3 == 0 ? 1 : 2 + i % (PARTS - 1)), rc = GW_AGAIN;
        for (; rc == GW_AGAIN; again++) {
            rc = n == 1 ? ofi_ops.send_short(ep, KIND, parts[0].hdr, parts[0].payload, parts[0].len)
                        : ofi_ops.send_many(ep, KIND, parts, n);
            if (rc == GW_AGAIN || i % 7 == 0) ofi_ops.progress(w);
        }
        CHECK_EQ(rc, GW_OK);
        i += n;
    }
    while (!ofi_ops.world.drained(w)) ofi_ops.progress(w);
    CHECK(seen.n >= MESSAGES && seen.is_aligned);
    CHECK_EQ(net.sent, messages); /* refused ones left nothing behind */
    CHECK_EQ(again > messages, how->refuses != 0);
    close_wire(w);
}

/* As many parts as fit where each is one byte more than a multiple of the alignment: the worst case of what stands between them. */
static int n_full;
static void full_arrived(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    (void)ctx, (void)lane, (void)hdr;
    CHECK(kind == KIND && len == 1 && *(const char *)payload == 'x');
    n_full++;
}
static void test_full(void)
{
    struct wire_ep *ep;
    struct wire_caps caps;
    struct wire *w = fake_open(&(struct ways){.caps = FI_MSG | FI_MULTI_RECV, .inject = 64}, full_arrived, NULL, &ep);
    ofi_ops.caps(w, &caps);
    int most = (int)(caps.pack_max / (WIRE_PART_BYTES + 1)), hdr[WIRE_HDR_BYTES / sizeof(int)] = {0};
    struct wire_part *parts = calloc((size_t)most, sizeof *parts);
    for (int i = 0; i < most; i++) parts[i] = (struct wire_part){hdr, "x", 1};
    CHECK_EQ(ofi_ops.send_many(ep, KIND, parts, most), GW_OK);
    while (!ofi_ops.world.drained(w)) ofi_ops.progress(w);
    CHECK_EQ(n_full, most);
    free(parts);
    close_wire(w);
}

int main(void)
{
    gw_settings_load();
    gw_boot = (struct boot_info){.size = 1, .nlocal = 1, .nnodes = 1};
    test_many(&(struct ways){.caps = FI_MSG | FI_MULTI_RECV, .inject = 64});
    test_many(&(struct ways){.caps = FI_MSG | FI_MULTI_RECV, .inject = 64, .refuses = 3});
    test_many(&(struct ways){.caps = FI_MSG, .refuses = 5, .mr_mode = FI_MR_LOCAL, .inject = 8});
    gw_set.ofi_send_buffers = 2;
    test_many(&(struct ways){.caps = FI_MSG | FI_MULTI_RECV, .inject = 64, .refuses = 3});
    test_full();
    return unit_end();
}
