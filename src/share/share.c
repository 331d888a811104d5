/* share.c -- the file: made, opened, checked, mapped.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "share/share.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/time.h"
#include "boot/world.h"
#include "share/share_private.h"

static int file_limit(const struct share_words *w, uint64_t bytes)
{
    struct rlimit r; /* Growing a file past this limit would also send SIGXFSZ. */
    if (getrlimit(RLIMIT_FSIZE, &r) == 0 && r.rlim_cur != RLIM_INFINITY && r.rlim_cur < bytes)
        return gw_fail(GW_ENOMEM, "%s need %.1f MiB, but the file size limit (ulimit -f) is %.1f MiB%s", w->all, gw_mib(bytes),
                       gw_mib(r.rlim_cur), w->cure);
    return GW_OK;
}

int share_room(const struct share_words *w, uint64_t bytes)
{
    const char *limit;
    int64_t have = gw_memory_available(&limit);
    if (have >= 0 && (uint64_t)have < bytes)
        return gw_fail(GW_ENOMEM, "%s need %.1f MiB, but %s leaves %.1f MiB%s", w->all, gw_mib(bytes), limit,
                       gw_mib((uint64_t)have), w->cure);
    return file_limit(w, bytes);
}

struct share_file share_new(void)
{
    struct share_file f = {.fd = -1, .pid = (int32_t)getpid()};
    if (getrandom(&f.nonce, sizeof f.nonce, GRND_NONBLOCK) != sizeof f.nonce) f.nonce = gw_now_ns() ^ (uint64_t)getpid() << 40;
    return f;
}

int share_make(const struct share_words *w, uint64_t bytes, struct share_file *f)
{
    f->head = f->page ? f->page : gw_page_bytes();
    f->bytes = gw_align_up(bytes, f->head) + f->head;
    int rc = file_limit(w, f->bytes);
    if (rc != GW_OK) return rc;
    f->fd = boot_file_make(w->file, f->bytes);
    if (f->fd < 0) return gw_fail(GW_ENOMEM, "shared memory for %s cannot be made (memfd_create): %s", w->one, strerror(errno));
    if (boot_file_size(f->fd, f->bytes) == 0 && pwrite(f->fd, &f->nonce, sizeof f->nonce, 0) == sizeof f->nonce &&
        boot_file_seal(f->fd, false) == 0)
        return GW_OK;
    rc = gw_fail(GW_ENOMEM, "shared memory of %.1f MiB for %s cannot be made: %s%s", gw_mib(f->bytes), w->one, strerror(errno),
                 w->cure);
    close(f->fd);
    f->fd = -1;
    return rc;
}

const char *share_fault(const struct share_file *f, int fd, uint64_t bytes)
{
    uint64_t nonce = 0, have;
    struct stat st;
    const char *why = boot_file_fault(fd, bytes, &have);
    bool is_it = !why && f->inode && fstat(fd, &st) == 0 && st.st_ino == f->inode && st.st_dev == f->device;
    if (!why && !is_it && (f->inode || pread(fd, &nonce, sizeof nonce, 0) != sizeof nonce || nonce != f->nonce))
        why = "it is something else; are its processes in different pid namespaces?";
    return why;
}

int share_refused(const struct share_words *w, const struct share_file *f, int fd, const char *why)
{
    if (fd >= 0) close(fd);
    return gw_fail(GW_ERMA_SHARED, "%s's memory (descriptor %d of process %d) cannot be used: %s", w->one, (int)f->fd, (int)f->pid,
                   why);
}

int share_open(const struct share_words *w, const struct share_file *f, uint64_t bytes, int *fd_out)
{
    const char *why;
    int fd = boot_file_open(f->pid, f->fd, &why);
    if (fd >= 0) why = share_fault(f, fd, bytes);
    if (why) return share_refused(w, f, fd, why);
    *fd_out = fd;
    return GW_OK;
}

int share_reserve(const struct share_words *w, const struct share_file *f, int fd, uint64_t from, uint64_t bytes)
{
    int n;
    do n = bytes ? fallocate(fd, 0, (off_t)(f->head + from), (off_t)bytes) : 0;
    while (n != 0 && errno == EINTR);
    if (n == 0 || errno == EOPNOTSUPP || errno == ENOSYS || errno == EPERM) return GW_OK; /* a sandbox refuses it */
    return gw_fail(GW_ENOMEM, "%.1f MiB for this rank's part of %s cannot be had: %s%s", gw_mib(bytes), w->one, strerror(errno),
                   w->cure);
}

int share_map(const struct share_words *w, const struct share_file *f, int fd, uint64_t align, char **base_out)
{
    align = align > f->page ? align : f->page;
    bool is_placed = align > gw_page_bytes(); /* mmap() aligns to pages; the memory in the file to more */
    char *place = is_placed ? gw_place(f->bytes, align, f->head) : NULL, *p = MAP_FAILED;
    if (place || !is_placed) p = mmap(place, f->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (place ? MAP_FIXED : 0), fd, 0);
    int error = errno;
    struct rlimit r;
    if (p == MAP_FAILED && place) munmap(place, f->bytes);
    if (p == MAP_FAILED && getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur != RLIM_INFINITY)
        return gw_fail(GW_ENOMEM, "%s's memory (%.1f MiB) cannot be mapped: %s; the limit of addresses (ulimit -v) is %.1f MiB%s",
                       w->one, gw_mib(f->bytes), strerror(error), gw_mib(r.rlim_cur), w->cure);
    if (p == MAP_FAILED)
        return gw_fail(GW_ENOMEM, "%s's memory (%.1f MiB) cannot be mapped: %s%s", w->one, gw_mib(f->bytes), strerror(error),
                       w->cure);
    *base_out = p;
    return GW_OK;
}

int share_map_at(const struct share_file *f, int fd, uint64_t from, uint64_t bytes, void *at)
{
    return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)(f->head + from)) == at ? 0 : -1;
}
