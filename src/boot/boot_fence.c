/* boot_fence.c -- a fence of the launcher during which the caller's messages go on: a thread waits for the launcher meanwhile.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdio.h>

#include "boot/boot_private.h"
#include "base/lock.h"
#include "boot/kvs.h"

static struct {
    pthread_t thread;
    void (*over)(void);
    _Atomic bool is_going, is_over;
    int rc;
    char text[512];
} fence;

static void *wait_for_all(void *unused)
{
    (void)unused;
    fence.rc = boot_fence();
    if (fence.rc != GW_OK) snprintf(fence.text, sizeof fence.text, "%s", gw_fail_text());
    /* Release: a thread that sees it finds the code, and what other ranks did before the fence. */
    atomic_store_explicit(&fence.is_over, true, memory_order_release);
    fence.over();
    return NULL;
}

int boot_fence_begin(void (*over)(void))
{
    assert(!boot_fence_is_going() && over);
    fence.over = over;
    atomic_store_explicit(&fence.is_over, false, memory_order_relaxed);
    gw_lock(&boot_asking);
    atomic_store_explicit(&fence.is_going, true, memory_order_relaxed);
    gw_unlock(&boot_asking);
    int rc = gw_thread_start(&fence.thread, wait_for_all, NULL);
    if (rc != GW_OK) atomic_store_explicit(&fence.is_going, false, memory_order_relaxed);
    return rc;
}

bool boot_fence_is_going(void) { return atomic_load_explicit(&fence.is_going, memory_order_relaxed); }

bool boot_fence_is_over(void) { return atomic_load_explicit(&fence.is_over, memory_order_acquire); }

int boot_fence_end(void)
{
    assert(boot_fence_is_going());
    pthread_join(fence.thread, NULL);
    atomic_store_explicit(&fence.is_going, false, memory_order_relaxed);
    return fence.rc == GW_OK ? GW_OK : gw_fail(fence.rc, "%s", fence.text);
}
