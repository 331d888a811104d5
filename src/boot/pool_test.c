/* pool_test.c -- node's part of the segment on pages of the system's pool: all ranks have it there, or none, whoever refuses, and
 * nobody waits for ever.  The pool of this machine may be empty: the kernel's part is played here, with ordinary pages.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "boot/boot_private.h"
#include "base/os.h"

#include "../../test/ranks.h"
#include "../../test/unit_child.h"

enum { HUGETLB = 4, BYTES = 5 << 20, MOST = 4 };
static const uint64_t FAR_TOO_MUCH = 1ull << 44;

static struct {
    bool is_empty;       /* the pool */
    int other, differs;  /* the rank with this setting; -1: none */
    int late;            /* comes when all others have returned; -1: nobody */
    bool meets, is_slow; /* rank 0 comes later than a session waits */
    uint32_t state;      /* what comes of it, and the rank that refuses */
    int refuser;         /* -1: any */
} asked;
static struct seen {
    _Atomic int returned, written;
} * seen; /* of all ranks */

int memfd_create(const char *name, unsigned flags)
{
    if (flags & HUGETLB && asked.is_empty) {
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(SYS_memfd_create, name, flags & HUGETLB ? MFD_ALLOW_SEALING | MFD_CLOEXEC : flags);
}
int fallocate(int fd, int mode, off_t from, off_t bytes)
{
    (void)fd;
    CHECK(mode == 0 && from == 0 && bytes > 0);
    return 0;
}

static bool has_sizes(void)
{
    DIR *d = opendir("/sys/kernel/mm/hugepages");
    if (d) closedir(d);
    return d != NULL;
}

/* Is there a mapping of that file from this address on? */
static bool is_of_pool(const char *at)
{
    char line[512];
    unsigned long from, to;
    bool is = false;
    FILE *f = fopen("/proc/self/maps", "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2 && from == (uintptr_t)at)
            is = strstr(line, "godwit-pool: the node's segment") != NULL && to == from + (4 << 20);
    if (f) fclose(f);
    return is;
}

static void wait_for(_Atomic int *n, int least)
{
    while (atomic_load(n) < least) usleep(1000);
}

/* Another job maps both files, and only those. */
static void follow(const struct boot_head *h, uint64_t bytes)
{
    struct boot_head other = *h;
    const struct {
        uint64_t bytes, inode, device;
        const char *why;
    } rows[] = {
        {0, 0, 0, NULL}, {0, 1, 0, "another one"}, {0, 0, 1, "another one"}, {4096, 0, 0, "too short"}, {BYTES, 0, 0, "damaged"}};
    for (size_t i = 0; i < GW_ARRAY_LEN(rows); i++) {
        char *p = gw_place(bytes, GW_HUGE_BYTES, h->shm_offset);
        int *mine = (int *)((char *)h + h->shm_offset), *its = (int *)(p + h->shm_offset);
        CHECK(p && mmap(p, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p);
        memcpy(p, h, h->shm_offset);
        other.pool_bytes = h->pool_bytes + rows[i].bytes;
        other.pool_inode = h->pool_inode + rows[i].inode;
        other.pool_device = h->pool_device + rows[i].device;
        const char *why = boot_pool_follow(&other, p, bytes);
        CHECK(rows[i].why ? why && strstr(why, rows[i].why) : !why);
        CHECK_EQ(*its, rows[i].why ? 0 : *mine);
        munmap(p, bytes);
    }
}

static void rank_of(int rank)
{
    gw_set.huge_pages = rank == asked.other ? asked.differs : GW_SET_HUGE_PAGES_POOL;
    gw_boot.meets = asked.meets;
    struct boot_head *h = boot_map_segment(BYTES, 0);
    if (rank == asked.late) wait_for(&seen->returned, gw_boot.nlocal - 1);
    if (asked.is_slow && rank == 0) usleep(2500000);
    bool is_taken = boot_pool_take(h, BYTES);
    atomic_fetch_add(&seen->returned, 1);
    uint32_t word = atomic_load(&h->pool_state);
    CHECK_EQ(is_taken, asked.state == BOOT_POOL_TAKEN);
    CHECK_EQ(word & 0xff, asked.state);
    if (asked.refuser >= 0) CHECK_EQ(word >> BOOT_POOL_RANK_SHIFT, asked.refuser);
    CHECK_EQ(is_of_pool((char *)h + h->shm_offset), is_taken);
    /* In both cases the ranks share it, to its end, and it was zero. */
    _Atomic int *first = (_Atomic int *)((char *)h + h->shm_offset), *last = (_Atomic int *)((char *)first + BYTES) - 1;
    atomic_fetch_add(first, rank + 1);
    atomic_fetch_add(last, rank + 1);
    atomic_fetch_add(&seen->written, 1);
    wait_for(&seen->written, gw_boot.nlocal);
    int sum = gw_boot.nlocal * (gw_boot.nlocal + 1) / 2;
    CHECK(atomic_load(first) == sum && atomic_load(last) == sum);
    atomic_fetch_add(&seen->written, 1);
    wait_for(&seen->written, 2 * gw_boot.nlocal);
    if (is_taken && rank == gw_boot.nlocal - 1) follow(h, boot_mapped_bytes());
    atomic_fetch_add(&seen->written, 1);
    wait_for(&seen->written, 3 * gw_boot.nlocal);
}

static void run(int n)
{
    atomic_store(&seen->returned, 0);
    atomic_store(&seen->written, 0);
    ranks_run(n, 2, rank_of);
}

static void nobody_refuses(void)
{
    for (int n = 1; n <= MOST; n++) {
        asked.state = BOOT_POOL_TAKEN;
        asked.meets = n % 2;
        asked.is_empty = false;
        run(n);
        asked.state = BOOT_POOL_NONE;
        asked.is_empty = true;
        run(n);
        asked.is_empty = false;
    }
}

/* Whoever it is, and whatever rank 0 has. */
static void one_differs(void)
{
    asked.state = BOOT_POOL_DIFFERS;
    asked.meets = true;
    for (int n = 2; n <= MOST; n++)
        for (int rank = 0; rank < n; rank++) {
            asked.other = asked.refuser = rank;
            asked.differs = rank % 2 ? GW_SET_HUGE_PAGES_AUTO : GW_SET_HUGE_PAGES_ALL;
            run(n);
        }
    asked.other = asked.refuser = -1;
}

/* Sessions: others may wait before they begin theirs.  MPI_Init waits for all in any case. */
static void one_is_late(void)
{
    asked.meets = false;
    asked.state = BOOT_POOL_LATE;
    for (asked.late = 0; asked.late < 3; asked.late += 2) run(3);
    asked.late = -1;
    asked.meets = asked.is_slow = true;
    asked.state = BOOT_POOL_TAKEN;
    run(3);
    asked.is_slow = false;
}

/* What lies in the pool needs no memory besides; what was to lie there, and does not, does. */
static int far_too_much(void)
{
    setenv("GODWIT_HUGE_PAGES", "pool", 1);
    boot_init();
    struct boot_head *h = boot_map_segment(FAR_TOO_MUCH, 0);
    bool is_taken = boot_pool_take(h, FAR_TOO_MUCH);
    boot_finalize();
    gw_settings_free();
    return is_taken ? 0 : 2;
}

int main(void)
{
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(seen != MAP_FAILED);
    asked.other = asked.late = asked.refuser = -1;
    asked.is_empty = true;
    EXPECT_CHILD(far_too_much, 1, "leaves");
    if (has_sizes()) {
        asked.is_empty = false;
        EXPECT_CHILD(far_too_much, 0, "");
        nobody_refuses();
        one_differs();
        one_is_late();
    } else {
        printf("this system has no such pages: what is done with them was not looked at\n");
    }
    munmap(seen, sizeof *seen);
    return unit_end();
}
