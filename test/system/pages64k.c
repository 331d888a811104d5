/* pages64k.c -- loaded before a program: the system's pages seem to be of 64 KiB, as on many machines with AArch64.  What such a system
 * refuses is refused: addresses and offsets within a page; and whole pages are mapped, unmapped and changed.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 64 << 10 };
static size_t whole(size_t bytes) { return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1); }
static void *real(void *at, size_t bytes, int prot, int flags, int fd, off_t from)
{
    return (void *)syscall(SYS_mmap, at, bytes, prot, flags, fd, from);
}
static int refused(const char *call, const void *at, size_t bytes, off_t from)
{
    fprintf(stderr, "pages64k: %s(%p, %zu, offset %lld)\n", call, at, bytes, (long long)from);
    errno = EINVAL;
    return -1;
}
static int is_within(const void *at) { return (uintptr_t)at % PAGE != 0; }

long sysconf(int name)
{
    static long (*next)(int);
    if (name == _SC_PAGESIZE) return PAGE;
    if (!next) next = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    return next(name);
}
int getpagesize(void) { return PAGE; }
unsigned long getauxval(unsigned long type)
{
    static unsigned long (*next)(unsigned long);
    if (type == AT_PAGESZ) return PAGE;
    if (!next) next = (unsigned long (*)(unsigned long))dlsym(RTLD_NEXT, "getauxval");
    return next(type);
}

void *mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t from)
{
    const size_t all = whole(bytes);
    if (from % PAGE || (flags & MAP_FIXED && is_within(at))) {
        refused("mmap", at, bytes, from);
        return MAP_FAILED;
    }
    if (flags & MAP_FIXED || !bytes) return real(at, all, prot, flags, fd, from);
    char *room = real(NULL, all + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return room;
    size_t before = -(uintptr_t)room % PAGE;
    void *p = real(room + before, all, prot, flags | MAP_FIXED, fd, from);
    int err = errno;
    syscall(SYS_munmap, room, p == MAP_FAILED ? all + PAGE : before);
    if (p != MAP_FAILED) syscall(SYS_munmap, room + before + all, PAGE - before);
    errno = err;
    return p;
}
void *mmap64(void *, size_t, int, int, int, off_t) __attribute__((alias("mmap")));
int munmap(void *at, size_t bytes)
{
    return is_within(at) ? refused("munmap", at, bytes, 0) : (int)syscall(SYS_munmap, at, whole(bytes));
}
int mprotect(void *at, size_t bytes, int prot)
{
    return is_within(at) ? refused("mprotect", at, bytes, 0) : (int)syscall(SYS_mprotect, at, whole(bytes), prot);
}
int madvise(void *at, size_t bytes, int advice)
{
    return is_within(at) ? refused("madvise", at, bytes, 0) : (int)syscall(SYS_madvise, at, whole(bytes), advice);
}
