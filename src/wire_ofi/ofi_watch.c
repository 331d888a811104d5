/* ofi_watch.c -- watches registered memory by userfaultfd: what is needed of the kernel, the thread, and which memory can be
 * watched.
 *
 * Ranges are registered for write protection, but no page is ever protected.  So no access faults, and only the events of
 * unmapping and remapping are delivered.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_watch.h"
#include "base/lock.h"
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    pthread_t thread;
    ofi_gone_fn gone;
    int users, uffd, stop, maps;
} watch = {.lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP}; /* held for 1 to 2 us */

void ofi_watch_lock(void) { pthread_mutex_lock(&watch.lock); }
void ofi_watch_unlock(void) { pthread_mutex_unlock(&watch.lock); }

/* ---- the thread: it must not allocate or print, and takes no other lock ---------------------------------------------------- */
static void heard(const struct uffd_msg *m)
{
    switch (m->event) {
    case UFFD_EVENT_UNMAP:
    case UFFD_EVENT_REMOVE: watch.gone(m->arg.remove.start, m->arg.remove.end); break;
    case UFFD_EVENT_REMAP: /* at its new address the memory is still watched */
        watch.gone(m->arg.remap.from, m->arg.remap.from + m->arg.remap.len);
        break;
    default: break;
    }
}

static void *listen_on(void *unused)
{
    struct pollfd on[] = {{.fd = watch.uffd, .events = POLLIN}, {.fd = watch.stop, .events = POLLIN}};
    while (!on[1].revents) {
        struct uffd_msg m[16];
        if (poll(on, GW_ARRAY_LEN(on), -1) < 0) continue;
        /* The thread that unmaps waits until the event is read.  The lock is held across read() and marking, so that it cannot
         * find a registration that is not marked yet. */
        ofi_watch_lock();
        ssize_t got = read(watch.uffd, m, sizeof m);
        for (ssize_t i = 0; i < got / (ssize_t)sizeof *m; i++) heard(&m[i]);
        ofi_watch_unlock();
    }
    return unused;
}

static void fds_close(void)
{
    close(watch.uffd); /* releases threads that still wait for an event to be read */
    if (watch.stop >= 0) close(watch.stop);
    if (watch.maps >= 0) close(watch.maps);
}

int ofi_watch_open(ofi_gone_fn gone)
{
    if (watch.users++) return GW_OK;
    int rc = watch.uffd = gw_uffd_open();
    if (rc >= 0) {
        watch.gone = gone;
        watch.stop = eventfd(0, EFD_CLOEXEC);
        watch.maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
        if (watch.stop < 0 || watch.maps < 0)
            rc = gw_fail(GW_EUNSUPPORTED, "/proc/self/maps or an eventfd cannot be opened: %s", strerror(errno));
        else
            rc = gw_thread_start(&watch.thread, listen_on, NULL);
        if (rc != GW_OK) fds_close();
    }
    if (rc != GW_OK) watch.users--;
    return rc;
}

/* ---- which memory ----------------------------------------------------------------------------------------------------------- */
struct mapping {
    uintptr_t lo, hi;
    bool is_private, has_file;
};

/* Linux 6.11; not in older systems' headers. */
struct query {
    uint64_t size, flags, addr, lo, hi, vma_flags, page_size, offset, inode;
    uint32_t major, minor, name_size, build_id_size;
    uint64_t name, build_id;
};
_Static_assert(sizeof(struct query) == 104, "as the kernel has it");
#define MAPS_QUERY _IOWR('f', 17, struct query)
enum { QUERY_SHARED = 8, QUERY_OR_NEXT = 16 };

/* "LO-HI rwxp OFFSET MAJOR:MINOR INODE ..." */
static struct mapping mapping_read(const char *line)
{
    char *at;
    struct mapping m = {.lo = strtoul(line, &at, 16)};
    m.hi = strtoul(at + 1, &at, 16);
    m.is_private = at[4] == 'p';
    for (int spaces = 0; *at && spaces < 4; at++) spaces += *at == ' ';
    m.has_file = strtoul(at, NULL, 10) != 0;
    return m;
}

static bool mapping_find(uintptr_t addr, struct mapping *m)
{
    enum { HEAD = 128 }; /* bytes of a line that have the numbers; a name follows */
    char text[4096], line[HEAD + 1];
    size_t n = 0;
    ssize_t got;
    for (off_t pos = 0; (got = pread(watch.maps, text, sizeof text, pos)) > 0; pos += got)
        for (ssize_t i = 0; i < got; i++) {
            if (text[i] != '\n') {
                if (n < HEAD) line[n++] = text[i];
                continue;
            }
            line[n] = '\0';
            n = 0;
            *m = mapping_read(line);
            if (m->hi > addr) return true;
        }
    return false;
}

/* Finds the mapping that contains an address, or else the next one above; false: there is none. */
static bool mapping_at(uintptr_t addr, struct mapping *m)
{
    struct query q = {.size = sizeof q, .flags = QUERY_OR_NEXT, .addr = addr};
    if (ioctl(watch.maps, MAPS_QUERY, &q) != 0) return errno == ENOENT ? false : mapping_find(addr, m);
    *m = (struct mapping){q.lo, q.hi, !(q.vma_flags & QUERY_SHARED), q.inode != 0};
    return true;
}

static bool is_fit(const struct mapping *m) { return m->is_private && !m->has_file; }

/* False: the range cannot be watched, or another userfaultfd of this process watches it. */
static bool range_register(uintptr_t lo, uintptr_t hi)
{
    struct uffdio_register r = {.range = {lo, hi - lo}, .mode = UFFDIO_REGISTER_MODE_WP};
    return ioctl(watch.uffd, UFFDIO_REGISTER, &r) == 0;
}

bool ofi_watch_begin(uintptr_t lo, uintptr_t hi)
{
    struct mapping m;
    uintptr_t from = lo, to = lo;
    for (; to < hi; to = m.hi) {
        if (!mapping_at(to, &m) || m.lo > to || !is_fit(&m)) return false;
        if (m.lo < from) from = m.lo;
    }
    return range_register(from, to);
}

/* Removes a write protection that does not exist, to see what the kernel answers: ENOENT if the page is not watched, EAGAIN while
 * a thread changes watched memory and its event has not been read. */
static int unprotect(uintptr_t page)
{
    struct uffdio_writeprotect p = {.range = {page, gw_page_bytes()}};
    return ioctl(watch.uffd, UFFDIO_WRITEPROTECT, &p) == 0 ? 0 : errno;
}

/* False while a change of watched memory is under way.  Between the change and its event another thread may already be given the
 * same addresses by mmap(); only this call shows it. */
bool ofi_watch_is_calm(uintptr_t page) { return unprotect(page) == 0; }

/* ---- closing ---------------------------------------------------------------------------------------------------------------- */
/* Unregisters all ranges.  Closing the descriptor is not enough if a forked child has it, too: then a thread that unmaps watched
 * memory would wait for ever. */
static void watch_nothing(void)
{
    struct mapping m;
    for (uintptr_t at = 0; mapping_at(at, &m) && m.hi > at; at = m.hi) {
        struct uffdio_range r = {m.lo, m.hi - m.lo};
        if (!is_fit(&m) || unprotect(m.lo) == ENOENT) continue;
        /* Before Linux 6.15 UNREGISTER also removes a range of another userfaultfd.  Registering succeeds only if the range is
         * ours. */
        if (range_register(m.lo, m.hi)) ioctl(watch.uffd, UFFDIO_UNREGISTER, &r);
    }
}

void ofi_watch_close(void)
{
    uint64_t one = 1;
    if (--watch.users) return;
    ofi_watch_lock();
    watch_nothing();
    ofi_watch_unlock();
    if (write(watch.stop, &one, sizeof one) != sizeof one) gw_die("an eventfd does not take a number: %s", strerror(errno));
    pthread_join(watch.thread, NULL);
    fds_close();
}
