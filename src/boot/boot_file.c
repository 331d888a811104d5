/* boot_file.c -- memory of other processes: what is checked before it is mapped.
 *
 * Whoever can write to a file that we map could also shorten it, and we would die of SIGBUS; so it must be sealed.  What its head says
 * is read once and compared with its size before anything else is believed.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int boot_file_seal(int fd, bool may_grow)
{
    return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | (may_grow ? 0 : F_SEAL_GROW));
}

/* Before it is opened: opening what somebody else offers may do something. */
static const char *kind_fault(const struct stat *st)
{
    if (!S_ISREG(st->st_mode)) return "it is something else";
    return boot_user_is_ours(st->st_uid) ? NULL : "it is another user's";
}

const char *boot_file_fault(int fd, uint64_t least, uint64_t *bytes_out)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return strerror(errno);
    const char *why = kind_fault(&st);
    int seals = why ? -1 : fcntl(fd, F_GET_SEALS);
    if (why) return why;
    if (seals < 0 || !(seals & F_SEAL_SHRINK)) return "it is something else: it could be shortened while it is used";
    if (st.st_size < 0 || (uint64_t)st.st_size < least) return "it is too short";
    *bytes_out = (uint64_t)st.st_size;
    return NULL;
}

int boot_file_open(int pid, int fd, const char **why_out)
{
    char path[64];
    struct stat st;
    *why_out = "it has no name (memfd_create failed, or ulimit -f)";
    if (pid <= 0 || fd < 0) return -1;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    int at = open(path, O_PATH | O_CLOEXEC), opened = -1;
    *why_out = at < 0 || fstat(at, &st) != 0 ? strerror(errno) : kind_fault(&st);
    snprintf(path, sizeof path, "/proc/self/fd/%d", at);
    if (!*why_out && (opened = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)) < 0) *why_out = strerror(errno);
    if (at >= 0) close(at);
    return opened;
}

/* No sum of what is checked here can overflow: each number is compared with what is left before it counts. */
const char *boot_head_fault(const struct boot_head *h, uint64_t bytes)
{
    const uint64_t n = (uint32_t)h->nlocal, size = (uint32_t)h->size;
    if (h->magic != BOOT_MAGIC) return "it is something else";
    if (h->version != GODWIT_SHM_VERSION) return "it is of another version of Godwit";
    bool is_sane = h->nlocal > 0 && h->size >= h->nlocal && h->first_rank >= 0 && h->first_rank <= h->size - 1 && bytes >= sizeof *h &&
                   h->ranks_offset >= sizeof *h && h->ranks_offset % _Alignof(struct boot_rank) == 0 && h->ranks_offset <= bytes &&
                   n <= (bytes - h->ranks_offset) / sizeof(struct boot_rank);
    is_sane = is_sane && h->shm_offset <= bytes && h->shm_offset >= h->ranks_offset + n * sizeof(struct boot_rank) && h->shm_offset % 64 == 0;
    if (is_sane && h->map_offset)
        is_sane = h->map_offset % sizeof(int32_t) == 0 && h->map_offset >= h->ranks_offset && h->map_offset <= bytes &&
                  size <= (bytes - h->map_offset) / sizeof(int32_t);
    return is_sane ? NULL : "it is damaged";
}

const char *boot_head_read(int fd, struct boot_head *head_out, uint64_t *bytes_out)
{
    struct boot_head h;
    uint64_t bytes;
    const char *why = boot_file_fault(fd, sizeof h, &bytes);
    if (!why && pread(fd, &h, sizeof h, 0) != (ssize_t)sizeof h) why = strerror(errno);
    if (!why) why = boot_head_fault(&h, bytes);
    if (why) return why;
    h.jobid[sizeof h.jobid - 1] = h.host[sizeof h.host - 1] = h.vnodes[sizeof h.vnodes - 1] = 0;
    *head_out = h;
    *bytes_out = bytes;
    return NULL;
}
