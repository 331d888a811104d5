/* boot_file.c -- memory that processes share: how it is made, and what is checked before another process's is mapped.
 *
 * Whoever can write to a file that we map could also shorten it, and we would die of SIGBUS; so a memfd must be sealed.  Where a sandbox
 * refuses memfd_create the memory is an unlinked file of mode 0600, which cannot be sealed (doc/security.md).  What its head says is read
 * once and compared with its size before anything else is believed.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/os.h"
#include "boot/port.h"
#include "boot/world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Is it a file of unlinked_make()?  A memfd could be sealed, and files that the user keeps have a name. */
static bool is_unlinked(const struct stat *st, int seals)
{
    bool is_sealable = seals >= 0 && !(seals & F_SEAL_SEAL);
    return !is_sealable && S_ISREG(st->st_mode) && st->st_nlink == 0 && (st->st_mode & 07777) == 0600;
}

bool boot_file_is_unsealed(int fd)
{
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);
    return !(seals >= 0 && seals & F_SEAL_SHRINK) && fstat(fd, &st) == 0 && is_unlinked(&st, seals);
}

static int unlinked_make(const char *folder)
{
    char path[4096];
    int fd = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL) &&
        snprintf(path, sizeof path, "%s/godwit-XXXXXX", folder) < (int)sizeof path && (fd = mkostemp(path, O_CLOEXEC)) >= 0)
        unlink(path);
    if (fd >= 0 && fchmod(fd, 0600) != 0) { /* the umask may have removed permissions */
        close(fd);
        fd = -1;
    }
    return fd;
}

int boot_file_make(const char *name, uint64_t room)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING), refused = errno;
    if (fd >= 0 || refused == EMFILE || refused == ENFILE || refused == ENOMEM) return fd;
    const char *tmp = secure_getenv("TMPDIR"), *folders[] = {"/dev/shm", tmp && *tmp ? tmp : "/tmp"};
    for (size_t i = 0; i < GW_ARRAY_LEN(folders); i++) {
        struct statvfs fs;
        int made = unlinked_make(folders[i]);
        if (made < 0) continue;
        bool has_room = fstatvfs(made, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize >= room;
        if (fd < 0 || has_room) { /* the first folder, unless it is too small and the second is not */
            if (fd >= 0) close(fd);
            fd = made;
        } else {
            close(made);
        }
        if (has_room) break;
    }
    if (fd >= 0)
        GW_EXPLAIN(GW_LOG_BOOT, "memfd_create is refused (%s): %s is an unlinked file, which cannot be sealed", strerror(refused),
                   name);
    errno = refused;
    return fd;
}

int boot_file_size(int fd, uint64_t bytes)
{
    struct rlimit r; /* going beyond it fails, and raises SIGXFSZ */
    if (getrlimit(RLIMIT_FSIZE, &r) == 0 && r.rlim_cur != RLIM_INFINITY && r.rlim_cur < bytes) {
        errno = EFBIG;
        return -1;
    }
    int rc = ftruncate(fd, (off_t)bytes);
    if (rc != 0 || !boot_file_is_unsealed(fd)) return rc;
    do rc = bytes ? fallocate(fd, 0, 0, (off_t)bytes) : 0; /* a full file system becomes an error now instead of SIGBUS later */
    while (rc != 0 && errno == EINTR);
    return rc == 0 || errno == EOPNOTSUPP || errno == ENOSYS || errno == EPERM ? 0 : -1; /* a sandbox refuses it */
}

int boot_file_seal(int fd, bool may_grow)
{
    return boot_file_is_unsealed(fd) ? 0 : fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | (may_grow ? 0 : F_SEAL_GROW));
}

/* Checked before the file is opened, because opening a device or a FIFO of another process may have effects. */
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
    if ((seals < 0 || !(seals & F_SEAL_SHRINK)) && !is_unlinked(&st, seals))
        return "it is something else: it could be shortened while it is used";
    if (st.st_size < 0 || (uint64_t)st.st_size < least) return "it is too short";
    *bytes_out = (uint64_t)st.st_size;
    return NULL;
}

/* Where there is no /proc.  Of a process that is not our child this asks for more rights (Yama: who may be traced). */
static int open_by_handle(int pid, int fd, const char **why_out)
{
    struct stat st;
    int handle = (int)syscall(SYS_pidfd_open, pid, 0), got = handle < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, handle, fd, 0);
    *why_out = got < 0 || fstat(got, &st) != 0 ? strerror(errno) : kind_fault(&st);
    if (handle >= 0) close(handle);
    if (*why_out && got >= 0) close(got);
    return *why_out ? -1 : got;
}

int boot_file_open(int pid, int fd, const char **why_out)
{
    char path[64];
    struct stat st;
    *why_out = "it has no name (ulimit -f, or no folder for it)";
    if (pid <= 0 || fd < 0) return -1;
    if (!gw_has_proc()) return open_by_handle(pid, fd, why_out);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    int at = open(path, O_PATH | O_CLOEXEC), opened = -1;
    *why_out = at < 0 || fstat(at, &st) != 0 ? strerror(errno) : kind_fault(&st);
    snprintf(path, sizeof path, "/proc/self/fd/%d", at);
    if (!*why_out && (opened = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)) < 0) *why_out = strerror(errno);
    if (at >= 0) close(at);
    return opened;
}

/* What is wrong with the head of a file of `bytes` bytes; NULL: nothing.  No sum of what is checked here can overflow: each number is
 * compared with what is left before it counts. */
static const char *head_fault(const struct boot_head *h, uint64_t bytes)
{
    const uint64_t n = (uint32_t)h->nlocal, size = (uint32_t)h->size;
    if (h->magic != BOOT_MAGIC) return "it is something else";
    if (h->version != GODWIT_SHM_VERSION) return "it is of another version of Godwit";
    bool is_sane = h->nlocal > 0 && h->size >= h->nlocal && h->first_rank >= 0 && h->first_rank <= h->size - 1 &&
        bytes >= sizeof *h && h->ranks_offset >= sizeof *h && h->ranks_offset % _Alignof(struct boot_rank) == 0 &&
        h->ranks_offset <= bytes && n <= (bytes - h->ranks_offset) / sizeof(struct boot_rank);
    is_sane = is_sane && h->shm_offset <= bytes && h->shm_offset >= h->ranks_offset + n * sizeof(struct boot_rank) &&
        h->shm_offset % 64 == 0;
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
    if (!why) why = head_fault(&h, bytes);
    if (why) return why;
    h.jobid[sizeof h.jobid - 1] = h.host[sizeof h.host - 1] = h.vnodes[sizeof h.vnodes - 1] = 0;
    *head_out = h;
    *bytes_out = bytes;
    return NULL;
}
