/* boot_pool.c -- with GODWIT_HUGE_PAGES=pool node's part of the segment, as far as whole pages go, lies in a second file, on pages
 * of the system's pool.
 *
 * Local rank 0 makes that file, or finds that it cannot, and says so in the segment's head; each other rank of the node opens it by
 * /proc, maps it, and agrees.  Once all have, it is mapped over that part of the segment, which nobody has touched before.  Who
 * cannot, whose setting is another one, or who is not to wait for others any longer refuses, and then nobody waits.
 *
 *   UNDECIDED --[offer] rank 0 has it--> OFFERED --[agree] the last of all--> TAKEN
 *       |                                   |
 *       +--------[refuse] anybody-----------+--> NONE, DIFFERS, BLOCKED, LATE
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/os.h"
#include "base/settings.h"
#include "base/time.h"
#include "boot/world.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* PATIENCE_S: of who begins a session, for whom others may wait before they begin theirs. */
enum { PATIENCE_S = 2, LOOK_NS = 1000000000 };
static const char what[] = "the node's segment";
static int pool_fd = -1; /* of this rank, once it is mapped: other worlds open it */

/* In the node's own segment, also where mpiexec's has the slots that are used otherwise. */
static struct boot_rank *slot_in(const struct boot_head *h, char *base, int local_rank)
{
    return (struct boot_rank *)(base + h->ranks_offset) + local_rank;
}

uint64_t boot_pool_bytes(uint64_t node_bytes)
{
    return gw_set.huge_pages == GW_SET_HUGE_PAGES_POOL ? node_bytes & ~(gw_pool_step(node_bytes) - 1) : 0;
}

/* Opens the file of that segment, which a rank holds; -1: it cannot be used, why_out says why. */
static int open_of(const struct boot_head *h, const struct boot_rank *slot, const char **why_out)
{
    struct stat st;
    uint64_t have = 0;
    int fd = boot_file_open(atomic_load_explicit(&slot->pool_pid, memory_order_relaxed),
                            atomic_load_explicit(&slot->pool_fd, memory_order_relaxed), why_out);
    if (fd < 0) return -1;
    *why_out = boot_file_fault(fd, h->pool_bytes, &have);
    if (!*why_out && have != h->pool_bytes) *why_out = "it is too long";
    if (!*why_out && (fstat(fd, &st) != 0 || st.st_ino != h->pool_inode || st.st_dev != h->pool_device))
        *why_out = "it is another one: the process that had it has ended";
    if (!*why_out) return fd;
    close(fd);
    return -1;
}

/* This rank holds it open, or not. */
static void slot_fill(struct boot_head *h)
{
    struct boot_rank *slot = slot_in(h, (char *)h, gw_boot.local_rank);
    atomic_store_explicit(&slot->pool_fd, pool_fd, memory_order_relaxed);
    atomic_store_explicit(&slot->pool_pid, (int32_t)getpid(), memory_order_relaxed);
}

static enum boot_pool_state state_in(uint32_t word) { return word & ((1u << BOOT_POOL_RANK_SHIFT) - 1); }

static bool state_turn(struct boot_head *h, uint32_t from, uint32_t to)
{
    /* [P1] pairs with the acquire in state_wait(): what was written of the file is visible. */
    bool is_turned = atomic_compare_exchange_strong_explicit(&h->pool_state, &from, to, memory_order_release, memory_order_relaxed);
    if (is_turned) gw_futex_wake(&h->pool_state, h->nlocal);
    return is_turned;
}

/* Unless all have agreed, or somebody has refused before. */
static void refuse(struct boot_head *h, enum boot_pool_state why)
{
    assert(why > BOOT_POOL_TAKEN);
    uint32_t word = (uint32_t)why | (uint32_t)gw_boot.local_rank << BOOT_POOL_RANK_SHIFT, now;
    do now = atomic_load_explicit(&h->pool_state, memory_order_relaxed);
    while ((now == BOOT_POOL_UNDECIDED || now == BOOT_POOL_OFFERED) && !state_turn(h, now, word));
}

static void agree(struct boot_head *h)
{
    /* [P2] The last one acquires what the others have written to their slots, and publishes it by [P1]. */
    uint32_t n = atomic_fetch_add_explicit(&h->pool_votes, 1, memory_order_acq_rel) + 1;
    assert(n <= (uint32_t)h->nlocal);
    if (n == (uint32_t)h->nlocal) state_turn(h, BOOT_POOL_OFFERED, BOOT_POOL_TAKEN);
}

/* Returns once the state is another one; refuses at end_ns, or when it looks next. */
static uint32_t state_wait(struct boot_head *h, enum boot_pool_state from, uint64_t end_ns)
{
    uint32_t now;
    while ((now = atomic_load_explicit(&h->pool_state, memory_order_acquire)) == (uint32_t)from) {
        gw_futex_wait(&h->pool_state, now, LOOK_NS);
        boot_launcher_look();
        if (gw_now_ns() >= end_ns) refuse(h, BOOT_POOL_LATE);
    }
    return now;
}

static void offer(struct boot_head *h, uint64_t bytes)
{
    struct stat st;
    if (atomic_load_explicit(&h->pool_state, memory_order_relaxed) != BOOT_POOL_UNDECIDED) return; /* refused before */
    pool_fd = gw_pool_file(what, bytes);
    if (pool_fd < 0 || fstat(pool_fd, &st) != 0) {
        refuse(h, BOOT_POOL_NONE);
        return;
    }
    h->pool_bytes = bytes;
    h->pool_inode = st.st_ino;
    h->pool_device = st.st_dev;
    slot_fill(h);
    if (state_turn(h, BOOT_POOL_UNDECIDED, BOOT_POOL_OFFERED)) agree(h);
}

/* Can this rank use what rank 0 offers? */
static bool can_use(struct boot_head *h, uint64_t bytes)
{
    const char *why = "the ranks have different settings";
    if (h->pool_bytes == bytes) pool_fd = open_of(h, slot_in(h, (char *)h, 0), &why);
    void *p = pool_fd >= 0 ? gw_pool_map(pool_fd, NULL, bytes) : NULL;
    if (pool_fd >= 0 && !p) why = "it cannot be mapped (ulimit -v)";
    if (p) munmap(p, bytes);
    if (!p) GW_EXPLAIN(GW_LOG_BOOT, "the pages of the pool that rank %d has cannot be used here: %s", h->first_rank, why);
    slot_fill(h);
    return p != NULL;
}

/* How it has come out: rank 0 says where the memory lies; why it lies elsewhere the one that refused says, or if that one does not ask for
 * pages, the first that does. */
static void explain(struct boot_head *h, uint32_t word)
{
    enum boot_pool_state state = state_in(word);
    int refuser = (int)(word >> BOOT_POOL_RANK_SHIFT);
    assert(refuser < h->nlocal);
    if (state == BOOT_POOL_TAKEN && gw_boot.local_rank != 0) return;
    if (state > BOOT_POOL_NONE && state != BOOT_POOL_DIFFERS && gw_boot.local_rank != refuser) return;
    if (state == BOOT_POOL_DIFFERS && atomic_exchange_explicit(&h->pool_told, 1, memory_order_relaxed)) return;
    const char *why = state == BOOT_POOL_DIFFERS ? "does not ask for them (GODWIT_HUGE_PAGES)"
        : state == BOOT_POOL_BLOCKED             ? "cannot use those that the first rank of the node has"
                                                 : "begins a session, and has waited long enough for others to begin theirs";
    if (state == BOOT_POOL_TAKEN) gw_pool_explain(what, pool_fd, h->pool_bytes);
    if (state > BOOT_POOL_NONE)
        GW_EXPLAIN(GW_LOG_BOOT, "%s does not lie on pages of the system's pool: rank %d %s", what, gw_boot.local_to_world[refuser],
                   why);
}

bool boot_pool_take(struct boot_head *h, uint64_t node_bytes)
{
    uint64_t bytes = boot_pool_bytes(node_bytes),
             end_ns = gw_boot.meets ? UINT64_MAX : gw_now_ns() + (uint64_t)PATIENCE_S * LOOK_NS;
    assert(h && pool_fd < 0);
    if (!bytes) {
        refuse(h, BOOT_POOL_DIFFERS);
        return false;
    }
    if (gw_boot.local_rank == 0) {
        offer(h, bytes);
    } else if (state_wait(h, BOOT_POOL_UNDECIDED, end_ns) == BOOT_POOL_OFFERED) {
        if (can_use(h, bytes))
            agree(h);
        else
            refuse(h, BOOT_POOL_BLOCKED);
    }
    uint32_t word = state_wait(h, BOOT_POOL_OFFERED, end_ns);
    bool is_taken = word == BOOT_POOL_TAKEN;
    assert(is_taken || state_in(word) > BOOT_POOL_TAKEN);
    explain(h, word);
    if (is_taken && !gw_pool_map(pool_fd, (char *)h + h->shm_offset, bytes))
        gw_die("pages of the system's pool cannot be mapped over the node's segment: %s", strerror(errno));
    if (is_taken) return true;
    boot_pool_close();
    if (gw_boot.local_rank == 0) boot_memory_check(boot_mapped_bytes());
    return false;
}

const char *boot_pool_follow(const struct boot_head *h, char *base, uint64_t room)
{
    const char *why = "its ranks are gone";
    int fd = -1;
    if (atomic_load_explicit(&h->pool_state, memory_order_relaxed) != BOOT_POOL_TAKEN) return NULL;
    if (h->pool_bytes > room - h->shm_offset) return "it is damaged";
    for (int i = 0; i < h->nlocal && fd < 0; i++) fd = open_of(h, slot_in(h, base, i), &why);
    if (fd < 0) return why;
    void *p = gw_pool_map(fd, base + h->shm_offset, h->pool_bytes);
    why = p ? NULL : strerror(errno);
    close(fd);
    return why;
}

void boot_pool_close(void)
{
    if (pool_fd >= 0) close(pool_fd);
    pool_fd = -1;
}
