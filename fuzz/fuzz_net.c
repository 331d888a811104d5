/* fuzz_net.c -- what comes over the network, as packets of any bytes: each goes to the wire as it is, or with the lane's key put before it,
 * at addresses that are aligned or not, alone in its memory or behind others in a receive buffer.  What the wire hands up is compared with
 * a plain reading of the packet; and texts that say where a lane is.
 *
 * An input is a byte that says which of these, and the packet or the text.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../test/ofi_fake.h"

#include "base/count.h"
#include "base/settings.h"
#include "boot/boot.h"
#include "fuzz.h"

enum { WITH_KEY = 1, IN_BUFFER = 2, TEXT = 4, MANY = 8, OFFSET_SHIFT = 4, MOST = 4096 };

static struct wire *wire;
static uint64_t handed, sum; /* messages that the wire handed up, and what of them */

static uint64_t message_sum(uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    return fuzz_sum(fuzz_sum(FUZZ_SUM_BEGIN ^ kind, hdr, WIRE_HDR_BYTES), payload, len) ^ len;
}

static void arrived(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    (void)ctx;
    FUZZ_CHECK(lane == 3 && kind < WIRE_CAUGHT && len <= wire->pack_max);
    FUZZ_CHECK((uintptr_t)hdr % OFI_ALIGN == 0 && (uintptr_t)payload % OFI_ALIGN == 0);
    handed++;
    sum = sum * 31 + message_sum(kind, hdr, payload, len);
}

/* The messages at the begin of a packet, up to the first that does not fit; true: that is all of it. */
static bool expect(const uint8_t *p, size_t n, uint64_t *handed_out, uint64_t *sum_out)
{
    uint64_t key;
    *handed_out = *sum_out = 0;
    if (n < sizeof key + 24) return false;
    memcpy(&key, p, sizeof key);
    if (key != wire->key) return false;
    for (p += sizeof key, n -= sizeof key; n >= 24;) {
        uint32_t len;
        memcpy(&len, p, sizeof len);
        uint64_t total = ((uint64_t)len + 24 + 7) / 8 * 8;
        if (total > n || p[4] >= WIRE_CAUGHT) return false;
        ++*handed_out;
        *sum_out = *sum_out * 31 + message_sum(p[4], p + 8, p + 24, len);
        p += total;
        n -= total;
    }
    return n == 0;
}

static void packet(const uint8_t *data, size_t n, unsigned how)
{
    size_t offset = how >> OFFSET_SHIFT & 7;
    char *own = malloc(n + offset ? n + offset : 1); /* of this length, so that a look behind it is seen */
    uint64_t dropped = gw_count.net_dropped, want, want_sum;
    memcpy(own + offset, data, n);
    if (how & WITH_KEY && n >= sizeof wire->key) memcpy(own + offset, &wire->key, sizeof wire->key);
    bool is_good = expect((uint8_t *)own + offset, n, &want, &want_sum);
    handed = sum = 0;
    if (how & IN_BUFFER) {
        fake_arrives(own + offset, n, false);
        for (int i = 0; i < 2; i++) ofi_ops.progress(wire);
    } else {
        ofi_packet_arrived(wire, own + offset, n);
    }
    FUZZ_CHECK(handed == want && sum == want_sum);
    FUZZ_CHECK(gw_count.net_dropped == dropped + !is_good);
    free(own);
}

static void text(const uint8_t *data, size_t n)
{
    char *t = malloc(n + 1), again[ONDEMAND_VALUE] = "";
    struct ofi_place p;
    memcpy(t, data, n);
    t[n] = 0;
    if (ofi_place_read(t, &p)) { /* each of its words says what was read */
        snprintf(again, sizeof again, " %016llx", (unsigned long long)p.key);
        FUZZ_CHECK(strlen(t) > strlen(again) && strcmp(t + strlen(t) - strlen(again), again) == 0);
        FUZZ_CHECK(p.key && strlen(p.provider) && strlen(p.provider) < sizeof p.provider);
    }
    free(t);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const struct ways how = {.caps = FI_MSG | FI_MULTI_RECV, .inject = 64};
    struct wire_ep *ep;
    (void)argc, (void)argv;
    gw_settings_load();
    gw_boot = (struct boot_info){.size = 1, .nlocal = 1, .nnodes = 1};
    wire = fake_open(&how, arrived, NULL, &ep);
    wire->may_starve = false; /* by the clock, and here time means nothing */
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > MOST) return 0;
    unsigned how = data[0];
    if (how & TEXT) {
        text(data + 1, size - 1);
        return 0;
    }
    packet(data + 1, size - 1, how);
    if (how & MANY) packet(data + 1, size - 1, how ^ IN_BUFFER ^ WITH_KEY); /* the next one lies where this one ends */
    FUZZ_CHECK(unit_failures == 0);
    return 0;
}
