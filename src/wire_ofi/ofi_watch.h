/* ofi_watch.h -- memory monitor for the registration cache: reports when memory of this process is unmapped, moved or discarded.
 *
 * Uses userfaultfd; no functions of the program are intercepted.  A thread of the library reads the kernel's events.  A thread that unmaps
 * monitored memory blocks in its system call until the event has been read, and may hold any lock meanwhile, malloc's included.
 * LOCK  So, while the monitor's lock is held: no malloc, no free, no other call that maps or unmaps memory, and no other lock.
 *
 * Only private anonymous memory is monitored: pages of files and of shared memory can also disappear in ways that are not reported (ftruncate,
 * fallocate).  MADV_GUARD_INSTALL is not reported for private memory either.
 *
 * After fork() the child's memory is not monitored, and the parent keeps its pages (since Linux 5.12, which is required).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_OFI_OFI_WATCH_H
#define GW_WIRE_OFI_OFI_WATCH_H

#include "base/base.h"

/* Callback: the pages [lo, hi) have been replaced, or will be when the system call returns.  Called with the monitor's lock held. */
typedef void (*ofi_gone_fn)(uintptr_t lo, uintptr_t hi);

/* Reference counted: the last ofi_watch_close() stops the thread.  `gone` must be the same in all calls. */
int ofi_watch_open(ofi_gone_fn gone);
void ofi_watch_close(void);

void ofi_watch_lock(void);
void ofi_watch_unlock(void);
/* ---- with the lock held; addresses of whole pages ---- */
/* Monitors [lo, hi) as long as it is mapped and the monitor is open.  False: it cannot be monitored.  Whole mappings are registered, because a
 * part would split the mapping and mremap() of both parts would fail.  They are never unregistered: the kernel would visit all their pages. */
bool ofi_watch_begin(uintptr_t lo, uintptr_t hi);
/* True: this page is monitored, and all events so far have been passed to `gone`.  False also while other memory is being unmapped. */
bool ofi_watch_is_calm(uintptr_t page);

#endif
