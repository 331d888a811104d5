/* ofi_key.c -- tells the job's packets from those of strangers, and drops the latter.
 *
 * Whoever reaches a port of the provider can send to it.  So each lane draws a random key when it opens and publishes it with its
 * address, in the launcher's key-value store or in the reply to a request for its address; every packet begins with the key of its
 * lane.  A packet without it, or one whose lengths do not fit, is dropped and counted.  What has the key is from a member of the
 * job: the rooms above check what it says.  The tags of long messages and the provider's keys of exposed memory are random
 * numbers, too, as these do not carry the key (doc/adr/0020).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_private.h"
#include "base/count.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

static int draw(uint64_t *out)
{
    ssize_t n;
    do {
        *out = 0;
        n = getrandom(out, sizeof *out, 0);
    } while ((n < 0 && errno == EINTR) || (n == (ssize_t)sizeof *out && !*out));
    if (n == (ssize_t)sizeof *out) return GW_OK;
    return gw_fail(GW_EOTHER,
                   "the kernel gives no random numbers, so messages between nodes would be open to everybody: getrandom: %s",
                   n < 0 ? strerror(errno) : "too few bytes");
}

/* How many bits of a tag are free for tickets. */
static int ticket_bits(const struct wire *w)
{
    uint64_t format = w->info->ep_attr->mem_tag_format;
    if (w->is_tagged) return w->layout.sync_shift;
    return format ? 64 - __builtin_clzll(format) : 64;
}

int ofi_key_draw(struct wire *w)
{
    uint64_t ticket;
    int rc = draw(&w->key);
    if (rc == GW_OK) rc = draw(&ticket);
    if (rc == GW_OK)
        w->tickets = ticket >> (64 - ticket_bits(w) + 1); /* the highest bit is 0, so that counting stays within the bits */
    return rc;
}

/* ---- packets of strangers -------------------------------------------------------------------------------------------------- */
static void own_name(const struct wire *w, char *out, size_t cap)
{
    char address[256];
    size_t bytes = sizeof address, room = cap;
    *out = 0;
    if (fi_getname(&w->ep->fid, address, &bytes) == 0) fi_av_straddr(w->av, address, out, &room);
}

void ofi_drop(const struct wire *w, size_t bytes, const char *why)
{
    static atomic_flag is_said = ATOMIC_FLAG_INIT;
    char name[96], size[48] = "";
    gw_counted(&gw_count.net_dropped, 1);
    if (atomic_flag_test_and_set(&is_said)) return;
    own_name(w, name, sizeof name);
    if (bytes) snprintf(size, sizeof size, " of %zu bytes", bytes);
    gw_warn(
        "rank %d (host %s): something%s came over the network to %s (provider %s) that no rank of this job sent: %s. It is dropped, and "
        "so is what else comes like it (MPI_T counts it as net_dropped). Who else reaches this port? GODWIT_NET_IFACE names a network "
        "that only the job's hosts are on",
        gw_boot.rank, gw_boot.host, size, name, ofi_provider_name(w), why);
}

bool ofi_is_ours(const struct ofi_op *op)
{
    ofi_done_fn *const all[] = {ofi_send_done,  ofi_inject_done, ofi_recv_done, ofi_take_done,
                                ofi_catch_done, ofi_chunk_done,  ofi_part_done, ofi_atomic_done};
    for (size_t i = 0; i < GW_ARRAY_LEN(all); i++)
        if (op->fn == all[i]) return true;
    return false;
}

/* ---- keys of exposed memory ------------------------------------------------------------------------------------------------ */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* The provider's key of a region: a keyed permutation of the region numbers, so that no two regions get the same key.  Both ends
 * compute it from the lane's key, which nobody else has. */
uint64_t ofi_region_secret(const struct wire *w, uint64_t key, int number)
{
    enum { ROUNDS = 4, LEAST_BYTES = 4 };
    size_t bytes = w->info->domain_attr->mr_key_size < sizeof key ? w->info->domain_attr->mr_key_size : sizeof key;
    if (bytes < LEAST_BYTES) return (uint64_t)number; /* too few to hide a number in */
    int half = (int)bytes * 4;
    uint64_t mask = (1ull << half) - 1, left = 0, right = (uint64_t)number;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t next = left ^ (mix(key + mix(right << 8 | i)) & mask);
        left = right;
        right = next;
    }
    return left << half | right;
}
