/* memory.c -- memory of a window that all its ranks on one machine map.  Small windows of one job lie in the node's shared heap;
 * larger ones, and those whose ranks are of several jobs, have a memfd of their own.
 *
 * The first rank makes the file.  The others open it through /proc/PID/fd, and check that it begins with the nonce that the first
 * rank told them.  /proc does not allow this if the first rank is not dumpable (PR_SET_DUMPABLE), and may not be there: then that rank
 * passes the descriptor over a socket. Every rank then has the kernel allocate the pages of its own part (fallocate), so that they are in memory near
 * this rank, and touching them later cannot fail.  The kernel frees the file with its last mapping.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "rma/rma_private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/os.h"
#include "base/time.h"
#include "boot/world.h"
#include "coll/coll.h"

/* HAND_NS: how long the first rank waits for the others to fetch the descriptor.
 * APART: the window begins in the middle of 4 KiB.  malloc() lets large buffers begin just behind the start of a page.  If source
 * and destination of a copy have nearly the same offset in their pages, the CPU takes loads for loads of bytes just stored, and
 * the copy is slow (4K aliasing; 64 KiB: 1.9 us against 1.3). */
#define HAND_NS UINT64_C(20000000000)
enum { HEAP_MAX = 32768, APART = 2048 };

struct offer {     /* what the first rank broadcasts to the others */
    uint64_t heap; /* offset in the node's heap; 0: not there, but in `file` */
    struct memory_file file;
    int32_t rc;
    int32_t name_bytes; /* length of `name`, the socket that passes the file; 0: open it under /proc */
    char name[16];
};

static double mib(uint64_t bytes) { return (double)bytes / (1 << 20); }

static int check_room(uint64_t bytes)
{
    const char *limit;
    struct rlimit r;
    int64_t have = gw_memory_available(&limit);
    if (have >= 0 && (uint64_t)have < bytes)
        return gw_fail(GW_ENOMEM, "the windows of all ranks need %.1f MiB, but %s leaves %.1f MiB", mib(bytes), limit,
                       mib((uint64_t)have));
    /* Growing a file past this limit would also send SIGXFSZ. */
    if (getrlimit(RLIMIT_FSIZE, &r) == 0 && r.rlim_cur != RLIM_INFINITY && r.rlim_cur < bytes)
        return gw_fail(GW_ENOMEM, "the windows of all ranks need %.1f MiB, but the file size limit (ulimit -f) is %.1f MiB",
                       mib(bytes), mib(r.rlim_cur));
    return GW_OK;
}

/* A memfd of its own, which has the nonce. */
static int plain_file(uint64_t bytes, struct memory_file *o)
{
    o->head = o->page ? o->page : gw_page_bytes();
    o->bytes = gw_align_up(bytes, o->head) + o->head;
    int rc = check_room(o->bytes);
    if (rc != GW_OK) return rc;
    o->fd = boot_file_make("godwit-window", o->bytes);
    if (o->fd < 0) return gw_fail(GW_ENOMEM, "shared memory for the window cannot be made (memfd_create): %s", strerror(errno));
    if (boot_file_size(o->fd, o->bytes) == 0 && pwrite(o->fd, &o->nonce, sizeof o->nonce, 0) == sizeof o->nonce &&
        boot_file_seal(o->fd, false) == 0)
        return GW_OK;
    rc = gw_fail(GW_ENOMEM, "shared memory of %.1f MiB for the window cannot be made: %s", mib(o->bytes), strerror(errno));
    close(o->fd);
    o->fd = -1;
    return rc;
}

int rma_memory_file_make(uint64_t bytes, uint64_t pages, struct memory_file *o)
{
    char why[GW_POOL_WHY];
    *o = (struct memory_file){.fd = -1, .pid = (int32_t)getpid()};
    if (getrandom(&o->nonce, sizeof o->nonce, GRND_NONBLOCK) != sizeof o->nonce) o->nonce = gw_now_ns() ^ (uint64_t)getpid() << 40;
    bool is_pooled = pages && rma_pages_file(bytes, pages, o, why);
    bool is_smaller = o->page < pages; /* of 2 MiB rma_pages_make() says whether they are there */
    int rc = is_pooled || (is_smaller && rma_pages_must()) ? GW_OK : plain_file(bytes, o);
    if (rc == GW_OK && is_smaller) rc = rma_pages_smaller(o->page, why);
    if (rc == GW_OK || o->fd < 0) return rc;
    close(o->fd);
    o->fd = -1;
    return rc;
}

static const char *file_fault(const struct memory_file *o, int fd, uint64_t bytes)
{
    uint64_t nonce = 0, have;
    struct stat st;
    const char *why = boot_file_fault(fd, bytes, &have);
    bool is_it = !why && o->inode && fstat(fd, &st) == 0 && st.st_ino == o->inode && st.st_dev == o->device;
    if (!why && !is_it && (o->inode || pread(fd, &nonce, sizeof nonce, 0) != sizeof nonce || nonce != o->nonce))
        why = "it is something else; are the ranks of the window in different pid namespaces?";
    return why;
}

static int file_refused(const struct memory_file *o, int fd, const char *why)
{
    if (fd >= 0) close(fd);
    return gw_fail(GW_ERMA_SHARED, "the window's memory (descriptor %d of process %d) cannot be used: %s", (int)o->fd, (int)o->pid,
                   why);
}

int rma_memory_file_open(const struct memory_file *o, uint64_t bytes, int *fd_out)
{
    const char *why;
    int fd = boot_file_open(o->pid, o->fd, &why);
    if (fd >= 0) why = file_fault(o, fd, bytes);
    if (why) return file_refused(o, fd, why);
    *fd_out = fd;
    return GW_OK;
}

/* ---- passing the descriptor of a process that is not dumpable (PR_SET_DUMPABLE), or has no /proc ----
 * Other processes cannot open its descriptors there.  The owner passes them over a socket in the abstract namespace, which
 * exists during this call only, to processes of the same user that send the file's nonce. */
/* The listening socket, with its name in *o; -1: not needed, or not possible. */
static int hand_begin(struct offer *o)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    socklen_t bytes = sizeof name;
    if (prctl(PR_GET_DUMPABLE) == 1 && gw_has_proc()) return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    /* An address without a name: the kernel chooses one. */
    bool is_there = bind(fd, (struct sockaddr *)&name, sizeof name.sun_family) == 0 && listen(fd, SOMAXCONN) == 0 &&
        getsockname(fd, (struct sockaddr *)&name, &bytes) == 0 && bytes <= sizeof name.sun_family + sizeof o->name;
    if (is_there) {
        o->name_bytes = (int32_t)(bytes - sizeof name.sun_family);
        memcpy(o->name, name.sun_path, (size_t)o->name_bytes);
        return fd;
    }
    close(fd);
    return -1;
}

union fd_room {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

/* Passes the descriptor over an accepted connection.  False: the other process is not a rank of the window. */
static bool hand_one(int to, const struct memory_file *f)
{
    struct ucred who = {.uid = (uid_t)-1};
    socklen_t n = sizeof who;
    struct timeval second = {1, 0};
    uint64_t nonce = 0;
    if (getsockopt(to, SOL_SOCKET, SO_PEERCRED, &who, &n) != 0 || who.uid != geteuid()) return false;
    if (setsockopt(to, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second) != 0) return false;
    if (recv(to, &nonce, sizeof nonce, MSG_WAITALL) != sizeof nonce || nonce != f->nonce) return false;
    union fd_room room = {0};
    struct iovec v = {&nonce, sizeof nonce};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    *c = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof f->fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(c), &f->fd, sizeof f->fd);
    return sendmsg(to, &m, MSG_NOSIGNAL) == sizeof nonce;
}

static int hand_out(int listener, int others, const struct memory_file *f)
{
    const uint64_t end_ns = gw_now_ns() + HAND_NS;
    while (others > 0 && gw_now_ns() < end_ns) {
        struct pollfd p = {listener, POLLIN, 0};
        int to = poll(&p, 1, 1) > 0 ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (to < 0) {
            req_progress();
            continue;
        }
        others -= hand_one(to, f);
        close(to);
    }
    if (others == 0) return GW_OK;
    return gw_fail(GW_ERMA_SHARED,
                   "%d ranks of the window did not ask this one, which is not dumpable (PR_SET_DUMPABLE), for its memory", others);
}

static int hand_take(const struct offer *o, uint64_t bytes, int *fd_out)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    uint64_t nonce = o->file.nonce;
    union fd_room room = {0};
    struct iovec v = {&nonce, sizeof nonce};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
    int got = -1, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    memcpy(name.sun_path, o->name, (size_t)o->name_bytes);
    bool is_sent = fd >= 0 &&
        connect(fd, (struct sockaddr *)&name, (socklen_t)(sizeof name.sun_family + (size_t)o->name_bytes)) == 0 &&
        send(fd, &nonce, sizeof nonce, MSG_NOSIGNAL) == sizeof nonce;
    for (struct pollfd p = {fd, POLLIN, 0}; is_sent && poll(&p, 1, 1) == 0;) req_progress();
    if (is_sent && recvmsg(fd, &m, MSG_CMSG_CLOEXEC) > 0) {
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof got))
            memcpy(&got, CMSG_DATA(c), sizeof got);
    }
    if (fd >= 0) close(fd);
    const char *why = got < 0 ? "its owner is not dumpable (PR_SET_DUMPABLE), and did not hand it out by a socket"
                              : file_fault(&o->file, got, bytes);
    if (why) return file_refused(&o->file, got, why);
    *fd_out = got;
    return GW_OK;
}

static int reserve(int fd, uint64_t from, uint64_t bytes)
{
    int n;
    do n = bytes ? fallocate(fd, 0, (off_t)from, (off_t)bytes) : 0;
    while (n != 0 && errno == EINTR);
    if (n == 0 || errno == EOPNOTSUPP || errno == ENOSYS || errno == EPERM) return GW_OK; /* a sandbox refuses it */
    return gw_fail(GW_ENOMEM, "%.1f MiB for this rank's part of the window cannot be had: %s", mib(bytes), strerror(errno));
}

int rma_memory_file_map(struct rma_mapping *m, const struct memory_file *f, int fd, uint64_t from, uint64_t own)
{
    int rc = f->page ? GW_OK : reserve(fd, f->head + from, own);
    if (rc != GW_OK) return rc;
    uint64_t align = m->align > (int64_t)f->page ? (uint64_t)m->align : f->page;
    bool is_placed = align > gw_page_bytes(); /* mmap() aligns to pages; the memory in the file to more */
    char *place = is_placed ? gw_place(f->bytes, align, f->head) : NULL, *p = MAP_FAILED;
    if (place || !is_placed) p = mmap(place, f->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (place ? MAP_FIXED : 0), fd, 0);
    if (p == MAP_FAILED && place) munmap(place, f->bytes);
    if (p == MAP_FAILED)
        return gw_fail(GW_ENOMEM, "the window's memory (%.1f MiB) cannot be mapped: %s", mib(f->bytes), strerror(errno));
    m->base = p;
    m->bytes = f->bytes;
    rma_memory_noted(m, 1);
    rc = f->page && !f->inode ? rma_pages_make(m, f, from, own) : GW_OK;
    if (rc == GW_OK) return rc;
    rma_memory_unmap(m);
    m->base = NULL;
    return rc;
}

void rma_memory_noted(const struct rma_mapping *m, int sign)
{
    gw_memory_note(GW_MEMORY_MAPPED, sign * (int64_t)m->bytes);
    if (m->is_made) gw_memory_note(GW_MEMORY_SHARED, sign * (int64_t)m->bytes);
}

static int make_here(struct gw_comm *c, struct rma_mapping *m, uint64_t total, uint64_t from, uint64_t own, char **base_out)
{
    struct offer o = {.file.fd = -1};
    int listener = -1;
    const uint64_t apart = m->align <= APART && !m->is_paged ? APART : 0;
    if (c->rank == 0) {
        bool in_heap = c->one_node && total <= HEAP_MAX && m->align <= GW_CACHELINE && !m->is_paged; /* a heap belongs to one job */
        o.heap = in_heap ? node_heap_alloc(total) : 0;
        if (o.heap)
            memset(node_ptr(o.heap), 0, total);
        else
            o.rc = rma_memory_file_make(total + apart, m->is_paged ? rma_pages_wanted() : 0, &o.file);
        if (!o.heap && o.rc == GW_OK && c->size > 1) listener = hand_begin(&o);
    }
    int fd = -1, rc = coll_bcast(&o, sizeof o, gw_type_byte, 0, c, NULL);
    if (rc == GW_OK && listener >= 0) rc = hand_out(listener, c->size - 1, &o.file);
    if (listener >= 0) close(listener);
    if (rc != GW_OK && listener < 0) return rc;
    m->heap = o.heap;
    if (o.heap) {
        node_heap_join();
        *base_out = node_ptr(o.heap);
        return GW_OK;
    }
    if (o.rc != GW_OK) return rma_agree(c, c->rank == 0 ? o.rc : GW_OK);
    m->is_made = c->rank == 0;
    if (c->rank == 0)
        fd = o.file.fd;
    else
        rc = o.name_bytes > 0 && o.name_bytes <= (int32_t)sizeof o.name ? hand_take(&o, o.file.bytes, &fd)
                                                                        : rma_memory_file_open(&o.file, o.file.bytes, &fd);
    if (rc == GW_OK) rc = rma_memory_file_map(m, &o.file, fd, from + apart, own);
    rc = rma_agree(c, rc); /* all ranks have opened it: it can be closed */
    if (fd >= 0) close(fd);
    if (rc == GW_OK) *base_out = (char *)m->base + o.file.head + apart;
    return rc;
}

int rma_memory_make(struct rma_win *w, struct rma_mapping *m, uint64_t total, uint64_t from, uint64_t own, char **base_out)
{
    int rc = make_here(w->here, m, total, from, own, base_out);
    return w->n_leaders ? rma_agree(w->comm, rc) : rc; /* ranks on other machines may have failed */
}

void rma_memory_unmap(const struct rma_mapping *m)
{
    if (!m->base) return;
    assert(m->bytes > 0);
    munmap(m->base, m->bytes);
    rma_memory_noted(m, -1);
}

/* Unmaps or frees the memory.  No rank may access it any more. */
void rma_memory_drop(struct rma_win *w, struct rma_mapping *m)
{
    rma_memory_unmap(m);
    if (m->heap) node_heap_leave(m->heap, w->here->size);
    *m = (struct rma_mapping){0};
}
