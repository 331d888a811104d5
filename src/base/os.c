/* os.c -- system calls that glibc does not wrap: futex and cross-memory attach; a home for who has none.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"

#include <errno.h>
#include <linux/futex.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(_Atomic uint32_t) == 4, "the kernel reads a plain 32-bit word");

int gw_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns)
{
    struct timespec t, *timeout = NULL;
    if (timeout_ns >= 0) {
        t.tv_sec = timeout_ns / 1000000000;
        t.tv_nsec = timeout_ns % 1000000000;
        timeout = &t;
    }
    long rc = syscall(SYS_futex, (void *)word, FUTEX_WAIT, expected, timeout, NULL, 0);
    return rc == 0 || errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

void gw_futex_wake(_Atomic uint32_t *word, int n)
{
    syscall(SYS_futex, (void *)word, FUTEX_WAKE, n, NULL, NULL, 0);
}

ssize_t gw_cma_read(pid_t pid, const struct iovec *local, int nlocal, const struct iovec *remote, int nremote)
{
    ssize_t n;
    do n = process_vm_readv(pid, local, (unsigned long)nlocal, remote, (unsigned long)nremote, 0);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

ssize_t gw_cma_write(pid_t pid, const struct iovec *local, int nlocal, const struct iovec *remote, int nremote)
{
    ssize_t n;
    do n = process_vm_writev(pid, local, (unsigned long)nlocal, remote, (unsigned long)nremote, 0);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

bool gw_home_lend(void)
{
    return !getenv("HOME") && !getpwuid(geteuid()) && setenv("HOME", "/", 0) == 0;
}
