/* boot_pool.c -- with GODWIT_HUGE_PAGES=pool the part of the segment that is node's, as far as whole pages go, lies in a second file, on pages of the system's pool.
 *
 * Local rank 0 makes that file, or finds that it cannot, and says so in the segment's head; each other rank of the node opens it by /proc,
 * maps it, and votes.  Only if all could, it is mapped over that part of the segment, which nobody has touched before.
 *
 *   UNDECIDED --[offer] rank 0 has none--> NONE
 *       `--[offer] rank 0 has it--> OFFERED --[vote] the last of all, none against--> TAKEN
 *                                       `--[vote] the last of all, one against--> NONE
 *
 * A rank whose setting is another one votes against it at once, and does not wait.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/os.h"
#include "base/settings.h"
#include "boot/world.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LOOK_NS = 1000000000 };
static int pool_fd = -1; /* of this rank, once it is mapped: other worlds open it */

/* In the node's own segment, also where mpiexec's has the slots that are used otherwise. */
static struct boot_rank *slot_in(const struct boot_head *h, char *base, int local_rank)
{
    return (struct boot_rank *)(base + h->ranks_offset) + local_rank;
}

/* Opens the file of a rank of that segment; -1: it cannot be used, why_out says why. */
static int open_of(const struct boot_rank *slot, uint64_t bytes, const char **why_out)
{
    uint64_t have = 0;
    int fd = boot_file_open(atomic_load_explicit(&slot->pool_pid, memory_order_relaxed),
                            atomic_load_explicit(&slot->pool_fd, memory_order_relaxed), why_out);
    if (fd < 0) return -1;
    *why_out = boot_file_fault(fd, bytes, &have);
    if (!*why_out && have == bytes) return fd;
    if (!*why_out) *why_out = "it is too long";
    close(fd);
    return -1;
}

static void state_set(struct boot_head *h, enum boot_pool_state state)
{
    /* [P1] pairs with the acquire in state_wait(): what was written of the file is visible. */
    atomic_store_explicit(&h->pool_state, state, memory_order_release);
    gw_futex_wake(&h->pool_state, h->nlocal);
}

/* Returns once the state is another one. */
static enum boot_pool_state state_wait(struct boot_head *h, enum boot_pool_state from)
{
    uint32_t now;
    while ((now = atomic_load_explicit(&h->pool_state, memory_order_acquire)) == (uint32_t)from) {
        gw_futex_wait(&h->pool_state, now, LOOK_NS);
        boot_launcher_look();
    }
    return (enum boot_pool_state)now;
}

/* The last vote decides. */
static void vote(struct boot_head *h, bool is_against)
{
    if (is_against) atomic_store_explicit(&h->pool_refused, 1, memory_order_relaxed);
    /* [P2] Each vote acquires those before it: the last one sees whether any was against. */
    uint32_t n = atomic_fetch_add_explicit(&h->pool_votes, 1, memory_order_acq_rel) + 1;
    assert(n <= (uint32_t)h->nlocal);
    if (n == (uint32_t)h->nlocal)
        state_set(h, atomic_load_explicit(&h->pool_refused, memory_order_relaxed) ? BOOT_POOL_NONE : BOOT_POOL_TAKEN);
}

static void offer(struct boot_head *h, uint64_t bytes)
{
    struct boot_rank *slot = slot_in(h, (char *)h, 0);
    pool_fd = bytes ? gw_pool_file("the node's segment", bytes) : -1;
    h->pool_bytes = bytes;
    atomic_store_explicit(&slot->pool_fd, pool_fd, memory_order_relaxed);
    atomic_store_explicit(&slot->pool_pid, (int32_t)getpid(), memory_order_relaxed);
    state_set(h, pool_fd >= 0 ? BOOT_POOL_OFFERED : BOOT_POOL_NONE);
    if (pool_fd >= 0) vote(h, false);
}

/* Can this rank use what rank 0 offers? */
static bool can_use(struct boot_head *h, uint64_t bytes)
{
    const char *why = "the ranks have different settings";
    struct boot_rank *slot = slot_in(h, (char *)h, gw_boot.local_rank);
    if (h->pool_bytes == bytes) pool_fd = open_of(slot_in(h, (char *)h, 0), bytes, &why);
    void *p = pool_fd >= 0 ? gw_pool_map(pool_fd, NULL, bytes) : NULL;
    if (pool_fd >= 0 && !p) why = "it cannot be mapped (ulimit -v)";
    if (p) munmap(p, bytes);
    if (!p) GW_EXPLAIN(GW_LOG_BOOT, "the pages of the pool that rank %d has cannot be used here: %s", h->first_rank, why);
    atomic_store_explicit(&slot->pool_fd, pool_fd, memory_order_relaxed);
    atomic_store_explicit(&slot->pool_pid, (int32_t)getpid(), memory_order_relaxed);
    return p != NULL;
}

bool boot_pool_take(struct boot_head *h, uint64_t node_bytes)
{
    uint64_t bytes = node_bytes & ~(gw_pool_step(node_bytes) - 1);
    bool is_asked = gw_set.huge_pages == GW_SET_HUGE_PAGES_POOL && bytes > 0;
    enum boot_pool_state state;
    assert(h && pool_fd < 0);
    if (gw_boot.local_rank == 0) {
        offer(h, is_asked ? bytes : 0);
    } else if (!is_asked) {
        vote(h, true);
        return false;
    } else if (state_wait(h, BOOT_POOL_UNDECIDED) == BOOT_POOL_OFFERED) {
        vote(h, !can_use(h, bytes));
    }
    state = state_wait(h, BOOT_POOL_OFFERED);
    assert(state == BOOT_POOL_NONE || state == BOOT_POOL_TAKEN);
    if (state == BOOT_POOL_TAKEN && gw_pool_map(pool_fd, (char *)h + h->shm_offset, bytes)) return true;
    if (state == BOOT_POOL_TAKEN)
        gw_die("pages of the system's pool cannot be mapped over the node's segment: %s", strerror(errno));
    boot_pool_close();
    return false;
}

const char *boot_pool_follow(const struct boot_head *h, char *base, uint64_t room)
{
    const char *why = "its ranks are gone";
    int fd = -1;
    if (atomic_load_explicit(&h->pool_state, memory_order_relaxed) != BOOT_POOL_TAKEN) return NULL;
    if (h->pool_bytes > room - h->shm_offset) return "it is damaged";
    for (int i = 0; i < h->nlocal && fd < 0; i++) fd = open_of(slot_in(h, base, i), h->pool_bytes, &why);
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
