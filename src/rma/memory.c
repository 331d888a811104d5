/* memory.c -- memory of a window that all its ranks on one machine map.  Small windows of one job lie in the node's shared heap;
 * larger ones, and those whose ranks are of several jobs, have a memfd of their own.
 *
 * The first rank makes the file.  The others open it through /proc/PID/fd, and check that it begins with the nonce that the first
 * rank told them.  /proc does not allow this if the first rank is not dumpable (PR_SET_DUMPABLE), and may not be there: then that rank
 * passes the descriptor over a socket.  Every rank then has the kernel allocate the pages of its own part (fallocate), so that they are in
 * memory near this rank, and touching them later cannot fail.  The kernel frees the file with its last mapping.
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
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/time.h"
#include "boot/port.h"
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
    struct boot_port port; /* passes the descriptor of the file; no name: open it under /proc */
    int32_t rc;
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
    bool is_smaller =
        o->page < pages && (is_pooled || !o->page || rma_pages_must()); /* of transparent ones rma_pages_make() says it */
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
 * Other processes cannot open its descriptors there.  The owner passes them at a port, which exists during this call only. */
/* The port, in *o; false: not needed, or not possible. */
static bool hand_begin(struct offer *o, struct boot_gate *gate)
{
    if (prctl(PR_GET_DUMPABLE) == 1 && gw_has_proc()) return false;
    if (boot_port_make(&o->port) == GW_OK && boot_gate_open(gate, &o->port) == 0) return true;
    o->port = (struct boot_port){0};
    return false;
}

static int hand_out(struct boot_gate *gate, int others, const struct memory_file *f)
{
    const uint64_t end_ns = gw_now_ns() + HAND_NS;
    while (others > 0 && gw_now_ns() < end_ns) {
        struct pollfd p = {gate->fd, POLLIN, 0};
        int to = poll(&p, 1, 1) > 0 ? boot_gate_accept(gate) : -1;
        if (to < 0) {
            req_progress();
            continue;
        }
        others -= boot_fd_send(to, f->fd) == 0;
        close(to);
    }
    if (others == 0) return GW_OK;
    return gw_fail(GW_ERMA_SHARED,
                   "%d ranks of the window did not ask this one, which is not dumpable (PR_SET_DUMPABLE), for its memory", others);
}

static int hand_take(const struct offer *o, uint64_t bytes, int *fd_out)
{
    int s = boot_port_connect(&o->port, (int)(HAND_NS / 1000000)), got = -1;
    for (struct pollfd p = {s, POLLIN, 0}; s >= 0 && poll(&p, 1, 1) == 0;) req_progress();
    if (s >= 0) {
        got = boot_fd_receive(s);
        close(s);
    }
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
    struct boot_gate gate;
    bool hands = false;
    const uint64_t apart = m->align <= APART && !m->is_paged ? APART : 0;
    if (c->rank == 0) {
        bool in_heap = c->one_node && total <= HEAP_MAX && m->align <= GW_CACHELINE && !m->is_paged; /* a heap belongs to one job */
        o.heap = in_heap ? node_heap_alloc(total) : 0;
        if (o.heap)
            memset(node_ptr(o.heap), 0, total);
        else
            o.rc = rma_memory_file_make(total + apart, m->is_paged ? rma_pages_wanted() : 0, &o.file);
        if (!o.heap && o.rc == GW_OK && c->size > 1) hands = hand_begin(&o, &gate);
    }
    int fd = -1, rc = coll_bcast(&o, sizeof o, gw_type_byte, 0, c, NULL);
    if (rc == GW_OK && hands) rc = hand_out(&gate, c->size - 1, &o.file);
    if (hands) boot_gate_close(&gate);
    if (rc != GW_OK && !hands) return rc;
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
        rc = o.port.name ? hand_take(&o, o.file.bytes, &fd) : rma_memory_file_open(&o.file, o.file.bytes, &fd);
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
