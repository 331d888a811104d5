/* heap.c -- what the heap's calls give, on all PEs alike, and when they give nothing (OpenSHMEM 1.6 section 9.3).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A block is the same one on all PEs: what is put there arrives in the block of the next PE, at the same place of it. */
static void alike(long *block, size_t n)
{
    int next = (me + 1) % pes, last = (me + pes - 1) % pes;
    shmem_barrier_all();
    shmem_long_p(&block[0], 10 + me, next);
    shmem_long_p(&block[n - 1], 10 + me, next);
    shmem_barrier_all();
    CHECK(block[0] == 10 + last && block[n - 1] == 10 + last);
}

static void nothing(void)
{
    CHECK(shmem_malloc(0) == NULL);
    CHECK(shmem_calloc(0, 8) == NULL && shmem_calloc(8, 0) == NULL);
    CHECK(shmem_malloc_with_hints(0, SHMEM_MALLOC_ATOMICS_REMOTE) == NULL);
    CHECK(shmem_align(64, 0) == NULL);
    CHECK(shmem_realloc(NULL, 0) == NULL);
    shmem_free(NULL);
}

/* What cannot be is NULL on all PEs, and spoils nothing: the next block is alike. */
static void too_much(void)
{
    volatile size_t half = SIZE_MAX / 2 + 2, all = SIZE_MAX - 100;
    long *kept = shmem_malloc(64 * sizeof *kept);
    CHECK(kept != NULL);
    for (int i = 0; i < 64; i++) kept[i] = 1000 * me + i;
    CHECK(shmem_calloc(half, 2) == NULL && shmem_calloc(2, half) == NULL); /* the product wraps to 4 and less */
    CHECK(shmem_malloc(all) == NULL);
    CHECK(shmem_align(4096, all) == NULL);
    CHECK(shmem_realloc(kept, all) == NULL); /* the block stays */
    for (int i = 0; i < 64; i++) CHECK(kept[i] == 1000 * me + i);
    alike(kept, 64);
    shmem_free(kept);
}

static void grown(void)
{
    long *p = shmem_realloc(NULL, 100 * sizeof *p), *behind = shmem_malloc(64);
    CHECK(p && behind);
    for (int i = 0; i < 100; i++) p[i] = 100 * me + i;
    p = shmem_realloc(p, 5000 * sizeof *p); /* it has to move */
    CHECK(p != NULL);
    for (int i = 0; i < 100; i++) CHECK(p[i] == 100 * me + i);
    alike(p, 5000);
    p = shmem_realloc(p, 10 * sizeof *p);
    CHECK(p != NULL);
    for (int i = 1; i < 10; i++) CHECK(p[i] == 100 * me + i);
    alike(p, 10);
    CHECK(shmem_realloc(p, 0) == NULL); /* as free */
    shmem_free(behind);
}

static void aligned(void)
{
    for (size_t a = sizeof(void *); a <= 65536; a *= 2) {
        long *p = shmem_align(a, 24), *q = shmem_malloc(1);
        CHECK(p && q && (uintptr_t)p % a == 0 && (uintptr_t)q % _Alignof(max_align_t) == 0);
        alike(p, 3);
        shmem_free(q);
        shmem_free(p);
    }
}

/* calloc clears memory that was in use. */
static void cleared(void)
{
    for (size_t n = 1; n < 1 << 19; n *= 7) {
        char *p = shmem_malloc(n);
        CHECK(p != NULL);
        memset(p, 0x5a, n);
        shmem_free(p);
        p = shmem_calloc(n, 1);
        CHECK(p != NULL);
        for (size_t i = 0; i < n; i++) CHECK(p[i] == 0);
        shmem_free(p);
    }
}

/* A load and a store through shmem_ptr's pointer, between barriers (9.3.5); its own PE gets the address itself (section 11). */
static void by_ptr(void)
{
    long *p = shmem_calloc(2, sizeof *p), *there, local = 0;
    int next = (me + 1) % pes, last = (me + pes - 1) % pes;
    CHECK(p && shmem_ptr(p, me) == p);
    CHECK(shmem_ptr(&local, me) == NULL);
    if ((there = shmem_ptr(p, next))) there[0] = 5 + me;
    if (there) shmem_fence(), there[1] = 6 + me;
    shmem_barrier_all();
    if (shmem_ptr(p, last)) CHECK(p[0] == 5 + last && p[1] == 6 + last);
    shmem_free(p);
}

int main(void)
{
    begin();
    nothing();
    too_much();
    grown();
    aligned();
    cleared();
    by_ptr();
    shmem_finalize();
    return 0;
}
