/* os.c -- system calls that glibc does not wrap (futex, cross-memory attach), and information from the kernel.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/uio.h>
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

void gw_futex_wake(_Atomic uint32_t *word, int n) { syscall(SYS_futex, (void *)word, FUTEX_WAKE, n, NULL, NULL, 0); }

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

bool gw_line_read(char *text_out, size_t cap, const char *fmt, ...)
{
    char path[PATH_MAX];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(path, sizeof path, fmt, ap);
    va_end(ap);
    FILE *f = n < (int)sizeof path ? fopen(path, "re") : NULL;
    bool ok = f && fgets(text_out, (int)cap, f);
    if (f) fclose(f);
    return ok;
}

bool gw_has_proc(void)
{
    char self[24], mine[24];
    ssize_t n = readlink("/proc/self", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    snprintf(mine, sizeof mine, "%d", (int)getpid());
    return strcmp(self, mine) == 0 && access("/proc/self/fd", X_OK) == 0;
}

bool gw_own_program(char path_out[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", path_out, PATH_MAX - 1);
    path_out[n > 0 ? n : 0] = 0;
    if (n > 0) return true;
    const char *started = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    return started && realpath(started, path_out);
}

char *gw_own_folder(void)
{
    char path[PATH_MAX];
    if (!gw_own_program(path)) path[0] = 0;
    char *slash = strrchr(path, '/');
    if (slash) *slash = 0;
    return gw_xasprintf("%s", path);
}

/* How many of the bytes the kernel could copy from them, and with is_write back again.  It goes as the processor does there: memory of
 * devices, which other processes cannot copy, is no fault. */
static int bytes_touch(const struct iovec *each, int n, bool is_write)
{
    char copy[256];
    struct iovec all = {copy, (size_t)n};
    assert(n <= (int)sizeof copy);
    ssize_t got = gw_cma_write(getpid(), each, n, &all, 1);
    if (got == n && is_write) got = gw_cma_read(getpid(), each, n, &all, 1);
    return got == -EFAULT ? 0 : got < 0 ? n : (int)got;
}

const void *gw_memory_fault(const void *at, int64_t bytes, bool is_write)
{
    enum { PAGE = 4096, BATCH = 256 };
    struct iovec each[BATCH];
    uintptr_t p = (uintptr_t)at, end = p + (uintptr_t)bytes;
    if (end < p) return at;
    while (p < end) {
        int n = 0, got;
        for (; n < BATCH && p < end; n++, p = (p / PAGE + 1) * PAGE) each[n] = (struct iovec){(void *)p, 1};
        got = bytes_touch(each, n, is_write);
        /* 0: the first, or the kernel did not begin because one of them is no address at all */
        for (int i = 0; got == 0 && i < n; i++)
            if (bytes_touch(&each[i], 1, is_write) == 0) return each[i].iov_base;
        if (got > 0 && got < n) return each[got].iov_base;
    }
    return NULL;
}

void gw_streams_keep(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC) < 0) return;
}

bool gw_is_raised(void) { return getauxval(AT_SECURE) != 0; }
bool gw_home_lend(void) { return !getenv("HOME") && !getpwuid(geteuid()) && setenv("HOME", "/", 0) == 0; }
