/* record_tcp.c -- a library for LD_PRELOAD: what comes over TCP connections that a process accepts goes to files, a file a connection, each
 * piece as the process reads it.  record_tcp.py builds it, runs programs with it, and makes inputs of fuzz_tcp out of the files.
 *
 * RECORD_TCP names the folder.  A file is a row of pieces: their length in four bytes, and the bytes; it ends after RECORD_MOST.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FDS = 4096, RECORD_MOST = 64 << 10 };

static _Atomic int records[FDS]; /* the file of a descriptor, or 0 */
static _Atomic int written[FDS];
static _Atomic int n_records;

/* A function of the C library's; the copy is how POSIX has it. */
static void real(const char *name, void *fn_out)
{
    void *at = dlsym(RTLD_NEXT, name);
    if (!at) abort();
    memcpy(fn_out, &at, sizeof at);
}

static void forget(int fd)
{
    int (*real_close)(int);
    int file = fd >= 0 && fd < FDS ? atomic_exchange(&records[fd], 0) : 0;
    real("close", &real_close);
    if (file) real_close(file);
}

static void begin(int fd)
{
    char path[4096];
    const char *folder = getenv("RECORD_TCP");
    struct sockaddr_storage at;
    socklen_t n = sizeof at;
    if (!folder || fd < 0 || fd >= FDS || getsockname(fd, (struct sockaddr *)&at, &n) != 0) return;
    if (at.ss_family != AF_INET && at.ss_family != AF_INET6) return;
    int number = atomic_fetch_add(&n_records, 1);
    snprintf(path, sizeof path, "%s/%s-%d-%d", folder, program_invocation_short_name, (int)getpid(), number);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    atomic_store(&written[fd], 0);
    if (file > 0) atomic_store(&records[fd], file);
}

static void put(int file, const void *bytes, size_t n)
{
    if (write(file, bytes, n) != (ssize_t)n) abort();
}

static void came(int fd, const struct iovec *iov, int n, ssize_t got)
{
    int file = fd >= 0 && fd < FDS ? atomic_load(&records[fd]) : 0, err = errno;
    if (!file || got <= 0 || atomic_load(&written[fd]) + got > RECORD_MOST) {
        if (got > 0) forget(fd); /* what follows a gap says nothing */
        errno = err;
        return;
    }
    uint32_t bytes = (uint32_t)got;
    atomic_fetch_add(&written[fd], (int)got);
    put(file, &bytes, sizeof bytes);
    for (int i = 0; i < n && got > 0; i++) {
        size_t here = iov[i].iov_len < (size_t)got ? iov[i].iov_len : (size_t)got;
        put(file, iov[i].iov_base, here);
        got -= (ssize_t)here;
    }
    errno = err;
}

int accept4(int fd, struct sockaddr *restrict at, socklen_t *restrict n, int flags)
{
    int (*real_accept4)(int, struct sockaddr *, socklen_t *, int);
    real("accept4", &real_accept4);
    int got = real_accept4(fd, at, n, flags), err = errno;
    begin(got);
    errno = err;
    return got;
}

ssize_t recv(int fd, void *to, size_t n, int flags)
{
    ssize_t (*real_recv)(int, void *, size_t, int);
    real("recv", &real_recv);
    ssize_t got = real_recv(fd, to, n, flags);
    came(fd, &(struct iovec){to, n}, 1, got);
    return got;
}

ssize_t readv(int fd, const struct iovec *to, int n)
{
    ssize_t (*real_readv)(int, const struct iovec *, int);
    real("readv", &real_readv);
    ssize_t got = real_readv(fd, to, n);
    came(fd, to, n, got);
    return got;
}

int close(int fd)
{
    int (*real_close)(int);
    forget(fd);
    real("close", &real_close);
    return real_close(fd);
}
