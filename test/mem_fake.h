/* mem_fake.h -- a kind of memory whose bytes the CPU may not touch: who does it all the same dies of SIGSEGV.
 *
 * An allocation is a file in memory, mapped twice: without access at the address that the test hands out, and where only the
 * driver's copies reach it.  A started copy is done at the next progress.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_MEM_FAKE_H
#define GW_TEST_MEM_FAKE_H

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mem/mem.h"
#include "unit.h"

enum { FAKE_ALLOCATIONS = 64 };
static struct {
    struct {
        char *shown, *bytes; /* shown: PROT_NONE */
        size_t n;
        uint64_t id;
        int fd;
    } all[FAKE_ALLOCATIONS];
    int n;
    uint64_t copies, last_id;
    struct {
        void *dst;
        const void *src;
        size_t n;
        struct gw_done *done; /* NULL: none is under way */
    } started;
} fake;

/* A mapping of the file; the test's failures end it, as nothing after would mean anything. */
static inline char *fake_map(int fd, size_t n, int access)
{
    void *p = mmap(NULL, n, access, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) abort();
    return p;
}

static inline void *fake_of_file(int fd, size_t n)
{
    if (fd < 0 || fake.n == FAKE_ALLOCATIONS) abort();
    int i = fake.n++;
    fake.all[i].fd = fd, fake.all[i].n = n, fake.all[i].id = ++fake.last_id;
    fake.all[i].shown = fake_map(fd, n, PROT_NONE);
    fake.all[i].bytes = fake_map(fd, n, PROT_READ | PROT_WRITE);
    return fake.all[i].shown;
}

static inline void *fake_alloc(size_t n)
{
    int fd = memfd_create("fake", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)n) != 0) abort();
    return fake_of_file(fd, n);
}

static inline int fake_index(const void *p)
{
    for (int i = 0; i < fake.n; i++)
        if ((const char *)p >= fake.all[i].shown && (const char *)p < fake.all[i].shown + fake.all[i].n) return i;
    return -1;
}

static inline void fake_free(void *p)
{
    int i = fake_index(p);
    munmap(fake.all[i].shown, fake.all[i].n);
    munmap(fake.all[i].bytes, fake.all[i].n);
    close(fake.all[i].fd);
    fake.all[i] = fake.all[--fake.n];
}

/* ---- the driver ---- */
static inline bool fake_query(const void *p, struct mem_attr *a)
{
    int i = fake_index(p);
    if (i >= 0) *a = (struct mem_attr){.device = 3, .base = fake.all[i].shown, .bytes = fake.all[i].n, .id = fake.all[i].id};
    return i >= 0;
}

static inline char *fake_behind(const void *p)
{
    int i = fake_index(p);
    return i < 0 ? (char *)(uintptr_t)p : fake.all[i].bytes + ((const char *)p - fake.all[i].shown);
}

static inline int fake_copy(void *dst, const void *src, size_t n)
{
    fake.copies++;
    memcpy(fake_behind(dst), fake_behind(src), n);
    return GW_OK;
}

static inline int fake_copy_start(void *dst, const void *src, size_t n, struct gw_done *done)
{
    if (fake.started.done) return fake_copy(dst, src, n);
    fake.started.dst = dst, fake.started.src = src, fake.started.n = n, fake.started.done = done;
    return GW_POSTED;
}

static inline void fake_progress(void)
{
    struct gw_done *done = fake.started.done;
    if (!done) return;
    fake.started.done = NULL;
    done->fn(done, fake_copy(fake.started.dst, fake.started.src, fake.started.n));
}

struct fake_token {
    uint64_t n;
    int32_t fd;
};

static inline int fake_share(const void *p, struct mem_token *token_out)
{
    int i = fake_index(p);
    struct fake_token t = {.n = fake.all[i].n, .fd = fake.all[i].fd};
    token_out->len = sizeof t;
    memcpy(token_out->bytes, &t, sizeof t);
    return GW_OK;
}

static inline int fake_open(const struct mem_token *token, void **p_out)
{
    struct fake_token t;
    memcpy(&t, token->bytes, sizeof t);
    *p_out = fake_of_file(dup(t.fd), t.n);
    return GW_OK;
}

static const struct mem_driver fake_driver = {.name = "fake",
                                              .query = fake_query,
                                              .copy = fake_copy,
                                              .copy_start = fake_copy_start,
                                              .progress = fake_progress,
                                              .share = fake_share,
                                              .open = fake_open,
                                              .close = fake_free};

static inline void fake_put(void *at, const void *from, size_t n) { memcpy(fake_behind(at), from, n); }
static inline int fake_compare(const void *at, const void *with, size_t n) { return memcmp(fake_behind(at), with, n); }

#endif
