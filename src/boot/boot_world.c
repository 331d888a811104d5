/* boot_world.c -- the segments of other worlds on this machine.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/os.h"
#include "boot/kvs.h"
#include "boot/world.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

struct boot_home boot_own_home(void)
{
    const struct boot_head *h = boot_head_mapped();
    return (struct boot_home){h->uid, h->home_pid, h->home_fd};
}

bool boot_is_on_one_host(void) { return boot_host_nlocal == gw_boot.size; }

/* The first rank of each node has published where its segment is (boot_segment.c). */
struct boot_home boot_home_of(int world_rank)
{
    struct boot_home home = boot_own_home();
    char where[128];
    int first = 0;
    if (boot_local_rank(world_rank) >= 0) return home;
    while (boot_node_of(first) != boot_node_of(world_rank)) first++;
    home.fd = -1;
    if (boot_is_on_one_host() && boot_get(first, "gw.segment", where, sizeof where) == GW_OK &&
        sscanf(where, "%d:%d:", &home.pid, &home.fd) != 2)
        home.fd = -1;
    return home;
}

static int not_found(const struct boot_home *home, const char *why)
{
    return gw_fail(GW_EOTHER,
                   "the shared memory of another job (descriptor %d of process %d) cannot be used: %s; do the two run as the "
                   "same user, on one machine and in one container?",
                   home->fd, home->pid, why);
}

int boot_other_look(const struct boot_home *home, struct boot_head *head_out, uint64_t *bytes_out)
{
    const char *why;
    int fd = boot_file_open(home->pid, home->fd, &why);
    if (fd >= 0) why = boot_head_read(fd, head_out, bytes_out);
    if (!why && head_out->uid != home->uid) why = "it is of another job";
    if (!why) return fd;
    if (fd >= 0) close(fd);
    return not_found(home, why);
}

int boot_other_map(const struct boot_home *home, struct boot_head *head_out, char **base_out, uint64_t *bytes_out)
{
    int fd = boot_other_look(home, head_out, bytes_out);
    if (fd < 0) return fd;
    bool is_pooled = atomic_load_explicit(&head_out->pool_state, memory_order_relaxed) == BOOT_POOL_TAKEN;
    void *place = is_pooled ? gw_place(*bytes_out, gw_pool_step(*bytes_out), head_out->shm_offset) : NULL;
    char *mapped = mmap(place, *bytes_out, PROT_READ | PROT_WRITE, MAP_SHARED | (place ? MAP_FIXED : 0), fd, 0);
    int failed = errno;
    if (mapped == MAP_FAILED && place) munmap(place, *bytes_out);
    close(fd);
    const char *why = mapped == MAP_FAILED ? strerror(failed) : boot_pool_follow(head_out, mapped, *bytes_out);
    if (why && mapped != MAP_FAILED) munmap(mapped, *bytes_out);
    if (why) return not_found(home, why);
    *base_out = mapped;
    gw_memory_note(GW_MEMORY_MAPPED, (int64_t)*bytes_out);
    return GW_OK;
}

void boot_connection(const struct boot_home *home, bool on)
{
    uint64_t free_or_it = on ? 0 : home->uid;
    for (int i = 0; i < BOOT_CONNECTIONS; i++) {
        struct boot_connection *t = &boot_slot->connections[i];
        if (atomic_load_explicit(&t->uid, memory_order_relaxed) != free_or_it) continue;
        atomic_store_explicit(&t->pid, home->pid, memory_order_relaxed);
        atomic_store_explicit(&t->fd, home->fd, memory_order_relaxed);
        /* Release: the launcher, which reads the uid, also reads the home. */
        atomic_store_explicit(&t->uid, on ? home->uid : 0, memory_order_release);
        return;
    }
    atomic_fetch_add_explicit(&boot_slot->connections_more, on ? 1u : -1u, memory_order_relaxed);
}

void boot_other_unmap(char *base, uint64_t bytes)
{
    munmap(base, bytes);
    gw_memory_note(GW_MEMORY_MAPPED, -(int64_t)bytes);
}
