/* ofi_watch.h -- hears from the kernel when memory of this process gets other pages: unmapped, moved, given back.
 *
 * By userfaultfd: nobody's functions are replaced.  A thread of ours reads what the kernel tells.  Whoever unmaps memory that is
 * watched stays in his system call until it has read of it, and may hold any lock meanwhile, malloc's among them.  So, with the
 * watch's lock held: no malloc, no free, nothing else that maps or unmaps memory, and no lock of anybody else's.
 *
 * Only private memory without a file behind it is watched: of a file, or of memory that others share, pages go by other ways too
 * (ftruncate, fallocate), and of those nothing is told.  One way is not told of private memory either: MADV_GUARD_INSTALL.
 *
 * A process that forks: the child's memory is not watched, and the parent keeps its pages (from Linux 5.12 on; no older is taken).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_OFI_OFI_WATCH_H
#define GW_WIRE_OFI_OFI_WATCH_H

#include "base/base.h"

/* These bytes, whole pages, have other pages now, or will when the one who asked for that goes on.  Called with the lock held. */
typedef void (*ofi_gone_fn)(uintptr_t lo, uintptr_t hi);

/* Once for each ofi_watch_close(), the last of which stops the thread; `gone` is always the same. */
int ofi_watch_open(ofi_gone_fn gone);
void ofi_watch_close(void);

void ofi_watch_lock(void);
void ofi_watch_unlock(void);
/* ---- with the lock held; addresses of whole pages ---- */
/* From now on, as long as they are mapped, or the watch is open.  False: these cannot be watched.  What is watched are whole
 * mappings, as the kernel has them: to watch a part would cut it in two, and mremap refuses the two together.  To end the watch of
 * one the kernel visits all its pages, so nobody does. */
bool ofi_watch_begin(uintptr_t lo, uintptr_t hi);
/* This page is watched, and `gone` has been called for all that went until now.  False also while some other memory goes. */
bool ofi_watch_is_calm(uintptr_t page);

#endif
