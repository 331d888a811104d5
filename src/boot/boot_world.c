/* boot_world.c -- the segments of other worlds on this machine.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct boot_home boot_own_home(void)
{
    const struct boot_head *h = boot_head_mapped();
    return (struct boot_home){h->uid, h->home_pid, h->home_fd};
}

bool boot_is_on_one_host(void) { return boot_host_nlocal == gw_boot.size; }

/* The first rank of each node has told where its segment is (boot_segment.c). */
struct boot_home boot_home_of(int world_rank)
{
    struct boot_home home = boot_own_home();
    char where[64];
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
    return gw_fail(
        GW_EOTHER,
        "the shared memory of another job (descriptor %d of process %d) cannot be used: %s; do the two run as the "
        "same user, on one machine and in one container?",
        home->fd, home->pid, why);
}

int boot_other_map(const struct boot_home *home, struct boot_head **head_out, uint64_t *bytes_out)
{
    char path[64];
    struct stat st;
    if (home->fd < 0) return not_found(home, "it has no name (memfd_create failed, or ulimit -f)");
    snprintf(path, sizeof path, "/proc/%d/fd/%d", home->pid, home->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return not_found(home, strerror(errno));
    struct boot_head h, *mapped = MAP_FAILED;
    bool is_segment = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h &&
                      h.magic == BOOT_MAGIC;
    bool is_it =
        is_segment && h.version == GODWIT_SHM_VERSION && h.uid == home->uid && h.shm_offset <= (uint64_t)st.st_size;
    if (is_it) mapped = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int why = errno;
    close(fd);
    if (!is_it)
        return not_found(home, is_segment ? "it is of another version, or of another job" : "it is something else");
    if (mapped == MAP_FAILED) return not_found(home, strerror(why));
    *head_out = mapped;
    *bytes_out = (uint64_t)st.st_size;
    gw_memory_note(GW_MEMORY_MAPPED, st.st_size);
    return GW_OK;
}

void boot_tie(const struct boot_home *home, bool on)
{
    uint64_t free_or_it = on ? 0 : home->uid;
    for (int i = 0; i < BOOT_TIES; i++) {
        struct boot_tie *t = &boot_slot->ties[i];
        if (atomic_load_explicit(&t->uid, memory_order_relaxed) != free_or_it) continue;
        atomic_store_explicit(&t->pid, home->pid, memory_order_relaxed);
        atomic_store_explicit(&t->fd, home->fd, memory_order_relaxed);
        /* Release: who reads the number (the launcher) reads the home. */
        atomic_store_explicit(&t->uid, on ? home->uid : 0, memory_order_release);
        return;
    }
    atomic_fetch_add_explicit(&boot_slot->ties_more, on ? 1u : -1u, memory_order_relaxed);
}

void boot_other_unmap(struct boot_head *h, uint64_t bytes)
{
    munmap(h, bytes);
    gw_memory_note(GW_MEMORY_MAPPED, -(int64_t)bytes);
}
