/* ofi_card.h -- the invented provider (ofi_fake.h) with a card, for tests of registrations: data go between the pages that it saw
 * when memory was registered, whatever is mapped there now.
 *
 * The pages are pinned as io_uring's fixed buffers, and read and written through them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_OFI_CARD_H
#define GW_TEST_OFI_CARD_H

#include "ofi_fake.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/count.h"
#include "base/os.h"
#include "base/settings.h"
#include "boot/boot.h"
#include "wire_ofi/ofi_watch.h"

enum { PAGE = 4096, LEN = 4 * PAGE };

/* ---- a card: pages as they were when they were registered ---- */
static struct {
    int ring, file;
    char *rings;
    struct io_uring_sqe *sqes;
    struct io_uring_params p;
} card = {.ring = -1};

static void card_set(unsigned slot, void *at, size_t len)
{
    struct iovec v = {at, len};
    uint64_t tag = 0;
    struct io_uring_rsrc_update2 u = {.offset = slot, .data = (uintptr_t)&v, .tags = (uintptr_t)&tag, .nr = 1};
    long rc = syscall(SYS_io_uring_register, card.ring, IORING_REGISTER_BUFFERS_UPDATE, &u, sizeof u);
    if (rc != 1) fprintf(stderr, "memory at %p cannot be pinned: %s\n", at, strerror(errno));
    CHECK_EQ(rc, 1);
}

/* False: this kernel has no such buffers for us. */
static bool card_open(void)
{
    struct io_uring_rsrc_register r = {.nr = REGIONS, .flags = IORING_RSRC_REGISTER_SPARSE};
    card.ring = (int)syscall(SYS_io_uring_setup, 4, &card.p);
    if (card.ring < 0 || syscall(SYS_io_uring_register, card.ring, IORING_REGISTER_BUFFERS2, &r, sizeof r) != 0) return false;
    const struct io_uring_params *p = &card.p;
    size_t bytes = p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe);
    bytes += p->sq_off.array + p->sq_entries * sizeof(unsigned);
    card.rings = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, card.ring, IORING_OFF_SQ_RING);
    card.sqes = mmap(NULL, p->sq_entries * sizeof *card.sqes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, card.ring,
                     IORING_OFF_SQES);
    card.file = memfd_create("between", MFD_CLOEXEC);
    return card.rings != MAP_FAILED && card.sqes != MAP_FAILED && card.file >= 0 && p->features & IORING_FEAT_SINGLE_MMAP;
}

static void card_move(unsigned slot, const void *at, size_t len, bool is_out)
{
    _Atomic unsigned *tail = (_Atomic unsigned *)(card.rings + card.p.sq_off.tail);
    _Atomic unsigned *done = (_Atomic unsigned *)(card.rings + card.p.cq_off.head);
    const _Atomic unsigned *ended = (const _Atomic unsigned *)(card.rings + card.p.cq_off.tail);
    unsigned t = *tail, mask = card.p.sq_entries - 1, head = *done;
    card.sqes[t & mask] = (struct io_uring_sqe){.opcode = is_out ? IORING_OP_WRITE_FIXED : IORING_OP_READ_FIXED,
                                                .fd = card.file,
                                                .addr = (uintptr_t)at,
                                                .len = (unsigned)len,
                                                .buf_index = (uint16_t)slot};
    ((unsigned *)(card.rings + card.p.sq_off.array))[t & mask] = t & mask;
    *tail = t + 1;
    CHECK_EQ(syscall(SYS_io_uring_enter, card.ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0), 1);
    while (*ended == head) syscall(SYS_io_uring_enter, card.ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0); /* a stop ends the wait */
    const struct io_uring_cqe *c = (const struct io_uring_cqe *)(card.rings + card.p.cq_off.cqes);
    c += head & (card.p.cq_entries - 1);
    CHECK_EQ(c->res, len);
    *done = head + 1;
}

static unsigned slot_of(const struct fid_mr *mr) { return (unsigned)(container_of(mr, struct region, mr) - net.regions); }

/* ---- which the invented provider gets ---- */
static int card_reg(struct fid *fid, const void *buf, size_t len, uint64_t access, uint64_t offset, uint64_t wanted_key,
                    uint64_t flags, struct fid_mr **mr, void *context)
{
    int rc = fake_mr_reg(fid, buf, len, access, offset, wanted_key, flags, mr, context);
    if (rc == 0) (*mr)->mem_desc = *mr;
    if (rc == 0 && !(access & (FI_SEND | FI_RECV))) card_set(slot_of(*mr), (void *)(uintptr_t)buf, len);
    return rc;
}
static int card_close(struct fid *fid)
{
    if (fid->fclass == FI_CLASS_MR) card_set(slot_of(container_of(fid, struct fid_mr, fid)), NULL, 0);
    return fake_close(fid);
}
static ssize_t card_copy(const struct fi_msg_rma *m, bool is_put)
{
    const struct one_sided o = {.there = *m->rma_iov};
    char *far = there(&o, is_put ? FI_REMOTE_WRITE : FI_REMOTE_READ);
    unsigned far_slot = 0;
    while (net.regions[far_slot].key != o.there.key || !net.regions[far_slot].is_used) far_slot++;
    CHECK_EQ(m->iov_count, 1);
    char *near = m->msg_iov->iov_base;
    unsigned near_slot = slot_of(m->desc[0]);
    const struct region *r = &net.regions[near_slot];
    size_t len = m->msg_iov->iov_len;
    CHECK(near >= r->base && near + len <= r->base + r->bytes && r->access & (is_put ? FI_WRITE : FI_READ));
    card_move(is_put ? near_slot : far_slot, is_put ? near : far, len, true);
    card_move(is_put ? far_slot : near_slot, is_put ? far : near, len, false);
    complete(m->context, is_put ? FI_WRITE : FI_READ, NULL, 0);
    return 0;
}
static ssize_t card_readmsg(struct fid_ep *ep, const struct fi_msg_rma *m, uint64_t flags)
{
    (void)ep, (void)flags;
    return card_copy(m, false);
}
static ssize_t card_writemsg(struct fid_ep *ep, const struct fi_msg_rma *m, uint64_t flags)
{
    (void)ep, (void)flags;
    return card_copy(m, true);
}

/* ---- a lane on it, and a place that others may write to ---- */
static struct wire *wire;
static struct wire_ep *to_me;
static char *place;
static uint64_t place_key;

static void nothing(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    (void)ctx, (void)lane, (void)kind, (void)hdr, (void)payload, (void)len;
}

static inline char *map(int flags, int fd)
{
    char *p = mmap(NULL, LEN, PROT_READ | PROT_WRITE, flags, fd, 0);
    CHECK(p != MAP_FAILED);
    return p;
}
/* A mapping of its own, which the kernel joins with no other. */
static char *fresh(void)
{
    char *p = mmap(NULL, LEN + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED && mprotect(p + PAGE, LEN, PROT_READ | PROT_WRITE) == 0);
    return p + PAGE;
}
/* Where a hole was just made.  Another thread (a sanitizer's begins with memory of its own) may have come before: in a child the test
 * begins anew. */
enum { HOLE_TAKEN = 78, HOLE_TRIES = 50 };
static bool is_child;
static inline char *fresh_at(char *at, size_t len)
{
    char *p = mmap(at, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (is_child && p == MAP_FAILED && errno == EEXIST) _exit(HOLE_TAKEN);
    CHECK(p == at);
    return p;
}

static void by_unmap(char *p) /* the same address, other pages */
{
    munmap(p, LEN);
    fresh_at(p, LEN);
}

static void begin_with(int mr_mode)
{
    const struct ways ways_of_card = {.caps = FI_MSG | FI_RMA | FI_MULTI_RECV, .inject = 64, .mr_mode = mr_mode};
    wire = fake_open(&ways_of_card, nothing, NULL, &to_me);
    place = fresh();
    CHECK_EQ(ofi_ops.copy.expose(wire, place, LEN, &place_key), GW_OK);
}
static void begin(void) { begin_with(FI_MR_LOCAL); }
static void end(void)
{
    ofi_ops.copy.conceal(wire, place_key);
    close_wire(wire);
    munmap(place, LEN);
}

/* What the kernel has reported by now is marked: a thread that unmaps goes on a moment earlier. */
static inline void settle(void)
{
    ofi_watch_lock();
    ofi_watch_unlock();
}
static struct {
    uint64_t made, found, evicted, gone;
} counted;
static void count(void)
{
    settle();
    counted.made = gw_count.registrations;
    counted.found = gw_count.registrations_found;
    counted.evicted = gw_count.registrations_evicted;
    counted.gone = gw_count.registrations_gone;
}
/* Since count() or the last of these. */
#define COUNTED(m, f, e, g)                                                                                                        \
    do {                                                                                                                           \
        settle();                                                                                                                  \
        CHECK_EQ(gw_count.registrations - counted.made, m);                                                                        \
        CHECK_EQ(gw_count.registrations_found - counted.found, f);                                                                 \
        CHECK_EQ(gw_count.registrations_evicted - counted.evicted, e);                                                             \
        CHECK_EQ(gw_count.registrations_gone - counted.gone, g);                                                                   \
        count();                                                                                                                   \
    } while (0)

static void go(bool is_put, char *near, size_t len, const char *far, uint64_t key)
{
    struct ending a = {.done.fn = ended};
    struct iovec v = {near, len};
    CHECK_EQ((is_put ? ofi_ops.put : ofi_ops.get)(to_me, &v, 1, (uintptr_t)far, key, &a.done), GW_POSTED);
    for (int i = 0; i < 100 && !a.n; i++) ofi_ops.progress(wire);
    CHECK(a.n == 1 && a.err == GW_OK);
}

static unsigned seed;
static void fill(char *p, size_t len)
{
    seed++;
    for (size_t i = 0; i < len; i++) p[i] = (char)(seed * 31 + i + (i >> 8) * 7);
}
static bool is_filled(const char *p, size_t from, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (p[i] != (char)(seed * 31 + (from + i) + ((from + i) >> 8) * 7)) return false;
    return true;
}
/* New bytes go out from here, and are what arrives. */
static void send_new(char *p, size_t len)
{
    fill(p, len);
    go(true, p, len, place, place_key);
    CHECK(is_filled(place, 0, len));
}
/* New bytes that somebody has arrive here. */
static inline void get_new(char *p, size_t len)
{
    fill(place, len);
    go(false, p, len, place, place_key);
    CHECK(is_filled(p, 0, len));
}

/* As the kernel has it. */
static inline bool is_watched(const void *p)
{
    FILE *f = fopen("/proc/self/smaps", "r");
    char line[1024];
    bool is_here = false, is = false;
    while (f && fgets(line, sizeof line, f)) {
        unsigned long lo, hi;
        if (sscanf(line, "%lx-%lx ", &lo, &hi) == 2) is_here = (uintptr_t)p >= lo && (uintptr_t)p < hi;
        if (is_here && !strncmp(line, "VmFlags:", 8)) is = strstr(line, " uw") != NULL;
    }
    fclose(f);
    return is;
}
/* A child in which one system call, or one ioctl, has this error, and what it writes to stderr. */
static bool forbid(unsigned call, uint32_t command, int err)
{
    struct sock_filter f[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, command ? 3 : 1),
        command ? (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1]))
                : (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)err),
        command ? (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, command, 0, 1)
                : (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)err),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = {GW_ARRAY_LEN(f), f};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0;
}
static void in_child(unsigned call, uint32_t command, int err, void (*test)(void), const char *says)
{
    static int tries;
    int to[2], status = -1;
    char text[4096] = "";
    CHECK_EQ(pipe(to), 0);
    pid_t child = fork();
    if (child == 0) {
        is_child = true;
        dup2(to[1], STDERR_FILENO);
        alarm(300);
        if (!forbid(call, command, err)) _exit(77);
        gw_log_mask |= GW_LOG_WIRE;
        unit_failures = 0;
        test();
        _exit(unit_failures != 0);
    }
    close(to[1]);
    for (ssize_t n, at = 0; (n = read(to[0], text + at, sizeof text - 1 - (size_t)at)) > 0;) at += n;
    close(to[0]);
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == HOLE_TAKEN && tries++ < HOLE_TRIES) {
        in_child(call, command, err, test, says);
        return;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        fprintf(stderr, "not tested: what happens where %s (the kernel takes no filter of ours)\n", says);
        return;
    }
    bool is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0 && strstr(text, says);
    CHECK(is_good);
    if (!is_good) fprintf(stderr, "%s", text);
}

/* False: there is nothing to be tested, and it was said why. */
static bool card_begin(void)
{
    alarm(340); /* a thread that unmaps watched memory waits for this one */
    gw_settings_load();
    gw_boot = (struct boot_info){.size = 1, .nlocal = 1, .nnodes = 1};
    if (!card_open()) {
        printf("not tested: registrations; io_uring's fixed buffers are not to be had here (%s)\n", strerror(errno));
        return false;
    }
    mr_ops.reg = card_reg;
    fid_ops.close = card_close;
    rma_ops.readmsg = card_readmsg;
    rma_ops.writemsg = card_writemsg;
    if (gw_uffd_may() == GW_OK) return true;
    printf("not tested: registrations that are kept; %s\n", gw_fail_text());
    return false;
}

#endif
