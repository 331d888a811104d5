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
    CHECK_EQ(node_init(AREA, 0, 65536), GW_OK);
    refused(&h, false);
    for (size_t i = 0; i < GW_ARRAY_LEN(areas); i++) {
        h = good(), h.area_bytes = areas[i];
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
    CHECK_EQ(node_init(AREA, 0, 65536), GW_OK);
    int fd = file(&h, true);
    CHECK_EQ(node_other_join(&(struct boot_home){42, getpid(), fd}, &o), GW_OK);
    CHECK(ftruncate(fd, 4096) == -1 && errno == EPERM);
    h.nlocal = h.size = INT32_MAX;
    h.node = 7;
    h.area_bytes = UINT64_MAX;
    CHECK_EQ(pwrite(fd, &h, sizeof h, 0), (ssize_t)sizeof h);
    CHECK(o->n == THERE && o->area_bytes == AREA && o->node == 0 && node_other_number(o, THERE) == -1);
    for (int i = 0; i < THERE; i++) {
        int number = node_other_number(o, i);
        CHECK_EQ(number, gw_boot.size + i);
        CHECK(node_door_of(number) == &o->doors[i] && node_base_of(number) == o->base);
        node_door_of(number)->seq = 5;
        o->areas[(uint64_t)i * AREA + AREA - 1] = 1;
    }
    node_other_drop(o);
    node_others_close(NULL);
    node_finalize();
    close(fd);
}

int main(void)
{
    ranks_run(1, 4, fakes);
    ranks_run(1, 4, changed);
    return unit_end();
}
