/* other_test.c -- another world's segment is checked before it is used, and cannot be taken away while it is.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>

#include "node/node_private.h"

#include "../../test/ranks.h"

enum { THERE = 3, BYTES = 1 << 20, AREA = 4096 };

static struct boot_head good(void)
{
    struct boot_head h = {.magic = BOOT_MAGIC, .version = GODWIT_SHM_VERSION, .nlocal = THERE, .size = THERE, .uid = 42};
    h.ranks_offset = BOOT_RANKS_OFFSET;
    h.shm_offset = boot_shm_offset(THERE);
    h.bytes = BYTES;
    h.area_bytes = AREA;
    h.lanes = 2;
    return h;
}

static int file(const struct boot_head *h, bool is_sealed)
{
    int fd = memfd_create("godwit", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK(fd >= 0 && ftruncate(fd, BYTES) == 0 && pwrite(fd, h, sizeof *h, 0) == (ssize_t)sizeof *h);
    if (is_sealed) CHECK_EQ(boot_file_seal(fd, false), 0);
    return fd;
}

static void refused(const struct boot_head *h, bool is_sealed)
{
    struct node_other *o = NULL;
    int fd = file(h, is_sealed);
    CHECK(node_other_join(&(struct boot_home){42, getpid(), fd}, &o) < 0);
    CHECK(!o);
    close(fd);
}

static void fakes(int rank)
{
    static const uint64_t areas[] = {0, UINT64_MAX, UINT64_MAX / THERE + 2, INT64_MAX, BYTES, BYTES / THERE};
    struct boot_head h = good();
    (void)rank;
    CHECK_EQ(node_init(AREA, 1, true, 65536), GW_OK);
    refused(&h, false);
    for (size_t i = 0; i < GW_ARRAY_LEN(areas); i++) {
        h = good(), h.area_bytes = areas[i];
        refused(&h, true);
    }
    static const uint32_t lanes[] = {0, GW_MAX_LANES + 1, UINT32_MAX, BYTES / AREA / THERE};
    for (size_t i = 0; i < GW_ARRAY_LEN(lanes); i++) {
        h = good(), h.lanes = lanes[i];
        refused(&h, true);
    }
    h = good(), h.shm_offset = BYTES; /* no room for the doors */
    refused(&h, true);
    h = good(), h.size = THERE + 1; /* some are elsewhere, but nobody says who */
    refused(&h, true);
    h = good(), h.map_offset = h.shm_offset + AREA, h.node = 1; /* all are on node 0 */
    refused(&h, true);
    h = good(), h.nlocal = h.size = INT32_MAX;
    refused(&h, true);
    node_others_close(NULL);
    node_finalize();
}

/* Whoever made it tries to shorten it, and to change what it said, while we use it. */
static void changed(int rank)
{
    struct boot_head h = good();
    struct node_other *o = NULL;
    (void)rank;
    CHECK_EQ(node_init(AREA, 1, true, 65536), GW_OK);
    int fd = file(&h, true);
    CHECK_EQ(node_other_join(&(struct boot_home){42, getpid(), fd}, &o), GW_OK);
    CHECK(ftruncate(fd, 4096) == -1 && errno == EPERM);
    h.nlocal = h.size = INT32_MAX;
    h.node = 7;
    h.area_bytes = UINT64_MAX;
    h.lanes = 7;
    CHECK_EQ(pwrite(fd, &h, sizeof h, 0), (ssize_t)sizeof h);
    CHECK(o->n == THERE && o->area_bytes == AREA && o->lanes == 2 && o->node == 0 && node_other_number(o, THERE) == -1);
    for (int i = 0; i < THERE; i++) {
        int number = node_other_number(o, i);
        CHECK_EQ(number, gw_boot.size + i);
        CHECK(node_door_of(number) == &o->doors[i] && node_base_of(number) == o->base);
        node_door_of(number)->seq = 5;
        for (int lane = 0; lane < 2; lane++) ((char *)node_other_area(o, i, lane))[AREA - 1] = 1;
    }
    node_other_drop(o);
    node_others_close(NULL);
    node_finalize();
    close(fd);
}

/* A world on other hosts: numbers for all of its ranks, of which those count that have an address. */
static void far(int rank)
{
    struct node_other *o = NULL, *again = NULL;
    (void)rank;
    CHECK_EQ(node_init(AREA, 1, true, 65536), GW_OK);
    CHECK(node_far_join(77, 0, &o) < 0 && node_far_join(77, -3, &o) < 0 && node_far_join(77, NODE_OTHER_RANKS + 1, &o) < 0);
    CHECK(node_far_join(77, NODE_OTHER_RANKS, &o) == GW_OK && o->n == NODE_OTHER_RANKS);
    CHECK(node_far_join(78, 1, &again) < 0); /* no numbers are left */
    node_other_drop(o);
    node_other_sweep(NULL);
    CHECK_EQ(node_far_join(77, 5, &o), GW_OK);
    CHECK(node_far_join(77, 6, &again) < 0); /* it said 5 */
    CHECK(node_far_join(77, 5, &again) == GW_OK && again == o);
    CHECK_EQ(node_far_put(o, 3, "@192.0.2.2:4000#0123456789abcdef"), gw_boot.size + 3);
    CHECK_EQ(node_far_put(o, 3, "@192.0.2.9:4000#0123456789abcdef"), gw_boot.size + 3);
    CHECK_STR(node_far_at(gw_boot.size + 3), "@192.0.2.2:4000#0123456789abcdef");
    CHECK(node_far_put(o, 5, "@") < 0 && node_far_put(o, -1, "@") < 0 && node_far_put(o, 2, "") < 0 &&
          node_far_put(o, 2, "godwit") < 0);
    CHECK(node_other_number(o, 3) == gw_boot.size + 3 && node_other_number(o, 2) == -1 && node_other_number(o, 5) == -1);
    CHECK(node_is_far(gw_boot.size + 3) && !node_is_near(gw_boot.size + 3) && !node_is_far(gw_boot.size + 5) && !node_is_far(0));
    CHECK(node_door_of(gw_boot.size + 3) == NULL && node_near_number(77, 3) == -1 && node_far_first(77) == gw_boot.size);
    CHECK_EQ(node_far_as(gw_boot.size + 3), -1);
    node_far_set_as(gw_boot.size + 3, 12);
    CHECK(node_far_as(gw_boot.size + 3) == 12 && node_far_as(gw_boot.size + 2) == -1);
    struct boot_home home;
    int there;
    node_name_of(gw_boot.size + 3, &home, &there);
    CHECK(home.uid == 77 && home.fd == -1 && there == 3);
    node_other_drop(o);
    CHECK(node_far_is_held(gw_boot.size + 3));
    node_other_drop(again);
    CHECK(!node_far_is_held(gw_boot.size + 3));
    node_other_sweep(NULL);
    CHECK(!node_is_far(gw_boot.size + 3) && node_far_first(77) == -1);
    node_finalize();
}

int main(void)
{
    ranks_run(1, 4, fakes);
    ranks_run(1, 4, changed);
    ranks_run(1, 4, far);
    return unit_end();
}
