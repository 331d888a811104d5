/* shm_cma.c -- copies between the memories of two ranks by the kernel (cross-memory attach), probed by a real read.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "wire_shm/shm_private.h"
#include "base/count.h"
#include "base/os.h"
#include "base/settings.h"
#include "base/time.h"
#include "boot/boot.h"

static uint64_t my_nonce; /* other processes read it by CMA, to find out whether that works */

static bool is_off(void) { return gw_set.cma == GW_SET_CMA_OFF || gw_set.cma == GW_SET_CMA_NONE; }

/* Warns that XPMEM, which a setting asks for, is not used. */
static GW_COLD void say_xpmem(void)
{
    bool is_there = access("/dev/xpmem", F_OK) == 0;
    gw_warn("%s=XPMEM: %s; the kernel's process_vm_readv copies instead, where it may (CMA)", gw_setting_said("GODWIT_CMA"),
            is_there ? "/dev/xpmem is there, but this library does not use it" : "this machine has no /dev/xpmem");
}

void shm_cma_publish(struct shm_box *box)
{
    if (unlikely(gw_set.cma == GW_SET_CMA_XPMEM) && gw_boot.rank == 0) say_xpmem();
    if (getrandom(&my_nonce, sizeof my_nonce, GRND_NONBLOCK) != sizeof my_nonce) my_nonce = gw_now_ns() * (uint64_t)getpid();
    /* Where Yama restricts tracing to ancestors (kernel.yama.ptrace_scope = 1), let the other ranks read all the same.  Not only mpiexec and its
     * descendants: connected jobs, mpiexec --stack and debuggers come from elsewhere, and there is one value (doc/security.md). */
    if (!is_off()) prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    box->probe.nonce = my_nonce;
    box->probe.address = (uint64_t)(uintptr_t)&my_nonce;
    /* [C1] pairs with the acquire in shm_cma_try(): nonce and address are there before the pid. */
    atomic_store_explicit(&box->probe.pid, (uint32_t)getpid(), memory_order_release);
}

GW_COLD void shm_cma_try(struct wire_ep *base)
{
    struct shm_ep *ep = shm_ep_of(base);
    struct shm_box *box = ep->other ? node_other_area(ep->other, ep->base.place, 0) : node_area(ep->base.place, 0);
    if (is_off()) {
        ep->base.can_read = WIRE_READ_NO;
        return;
    }
    pid_t pid = (pid_t)atomic_load_explicit(&box->probe.pid, memory_order_acquire);
    if (!pid) return; /* the peer has not started: stays UNKNOWN */
    uint64_t got = 0;
    struct iovec to = {&got, sizeof got}, from = {(void *)(uintptr_t)box->probe.address, sizeof got};
    /* The nonce, and not only a successful read: in other pid namespaces the same number is another process. */
    ssize_t n = gw_cma_read(pid, &to, 1, &from, 1);
    bool ok = n == sizeof got && got == box->probe.nonce;
    ep->pid = pid;
    ep->base.can_read = ok ? WIRE_READ_OK : WIRE_READ_NO;
    if (!ok)
        GW_EXPLAIN(GW_LOG_WIRE, "no direct copies from local rank %d (%s): large messages go through shared buffers",
                   ep->base.place, n < 0 ? strerror((int)-n) : "another process answers to its pid");
}

typedef ssize_t cma_fn(pid_t, const struct iovec *, int, const struct iovec *, int);

/* After EFAULT, which does not tell on which side: only this process's own memory can be checked. */
static GW_COLD int cma_faulted(const struct shm_ep *ep, bool is_read, const struct iovec *local, int n, uint64_t remote,
                               size_t want)
{
    for (int i = 0; i < n; i++) {
        const void *at = gw_memory_fault(local[i].iov_base, (int64_t)local[i].iov_len, is_read);
        if (at) return gw_fail(GW_EBUFFER, "the buffer cannot be %s at %p", is_read ? "written" : "read", at);
    }
    return gw_fail(GW_EPEERBUFFER, "%zu bytes at %#llx of local rank %d (pid %d) cannot be %s", want, (unsigned long long)remote,
                   ep->base.place, (int)ep->pid, is_read ? "read" : "written");
}

/* One call of the kernel: exactly `want` bytes, of the first n ranges. */
static int cma_move_once(struct shm_ep *ep, cma_fn *move, const struct iovec *local, int n, uint64_t remote, size_t want)
{
    struct iovec there = {(void *)(uintptr_t)remote, want};
    ssize_t got = move(ep->pid, local, n, &there, 1);
    if (likely(got == (ssize_t)want)) {
        gw_counted(&gw_count.copies_direct, 1);
        gw_counted(&gw_count.copied_direct, want);
        return GW_OK;
    }
    if (got >= 0 || got == -EFAULT) return cma_faulted(ep, move == gw_cma_read, local, n, remote, want);
    ep->base.can_read = WIRE_READ_NO;
    GW_EXPLAIN(GW_LOG_WIRE, "no direct copies from or to local rank %d any more (%s): large messages go through shared buffers",
               ep->base.place, strerror((int)-got));
    return gw_fail(GW_EOTHER, "copying %zu bytes from or to local rank %d (pid %d): %s", want, ep->base.place, (int)ep->pid,
                   strerror((int)-got));
}

/* Moves all of `local` from or to one remote range, in calls that the kernel does not cut off: it moves less than 2 GiB in one. */
static int cma_move(struct shm_ep *ep, cma_fn *move, const struct iovec *local, int nlocal, uint64_t remote)
{
    enum { RANGES = 1024 };
    const size_t most = (size_t)1 << 30;
    for (int rc, n; nlocal > 0; local += n, nlocal -= n) {
        size_t want = 0;
        for (n = 0; n < nlocal && n < RANGES && local[n].iov_len <= most - want; n++) want += local[n].iov_len;
        if (likely(n > 0)) {
            if ((rc = cma_move_once(ep, move, local, n, remote, want)) < 0) return rc;
            remote += want;
            continue;
        }
        for (n = 1; want < local->iov_len; want += most, remote += most) {
            struct iovec part = {(char *)local->iov_base + want, local->iov_len - want < most ? local->iov_len - want : most};
            if ((rc = cma_move_once(ep, move, &part, 1, remote, part.iov_len)) < 0) return rc;
        }
        remote += local->iov_len - want; /* the last part was shorter than `most` */
    }
    return GW_OK;
}

int shm_get(struct wire_ep *ep, const struct iovec *local, int nlocal, uint64_t remote_addr, uint64_t key, struct gw_done *done)
{
    (void)key, (void)done; /* done on return */
    return cma_move(shm_ep_of(ep), gw_cma_read, local, nlocal, remote_addr);
}

int shm_put(struct wire_ep *ep, const struct iovec *local, int nlocal, uint64_t remote_addr, uint64_t key, struct gw_done *done)
{
    (void)key, (void)done;
    return cma_move(shm_ep_of(ep), gw_cma_write, local, nlocal, remote_addr);
}
