/* ranks.h -- unit tests that need several ranks without MPI: what mpiexec does, in small.
 *
 * ranks_run(n, cores, fn) forks n processes with a segment and GODWIT_BOOT as mpiexec leaves them; each calls boot_init() and
 * fn(rank).  Each failed CHECK of a rank, a rank that dies, and one that hangs for a minute counts as a failure of the caller.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_RANKS_H
#define GW_TEST_RANKS_H

#include "base/base.h"
#include "base/settings.h"
#include "boot/boot.h"
#include "boot/segment.h"
#include "boot/world.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static inline void ranks_boot(void) { CHECK_EQ(boot_init(), GW_OK); }

/* begin: what each calls before fn(rank), after which boot is there and will be ended; NULL: nothing, and fn does both. */
static inline void ranks_start(int n, int cores, void (*begin)(void), void (*fn)(int rank))
{
    struct boot_head h = {.magic = BOOT_MAGIC, .version = GODWIT_SHM_VERSION, .nlocal = n, .size = n, .cores = cores};
    h.ranks_offset = BOOT_RANKS_OFFSET;
    h.shm_offset = h.bytes = boot_shm_offset(n);
    int fd = memfd_create("ranks", MFD_ALLOW_SEALING), before = unit_failures;
    CHECK(fd >= 0 && ftruncate(fd, (off_t)h.bytes) == 0 && pwrite(fd, &h, sizeof h, 0) == (ssize_t)sizeof h);
    CHECK_EQ(boot_file_seal(fd, true), 0);
    pid_t pids[64];
    for (int i = 0; i < n; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            char text[64];
            snprintf(text, sizeof text, "fd=%d,local=%d", fd, i);
            setenv("GODWIT_BOOT", text, 1);
            alarm(300);
            if (begin) begin();
            fn(i);
            if (begin) boot_finalize();
            if (begin) gw_settings_free();
            exit(unit_failures != before); /* exit, so that leaks are looked for */
        }
    }
    close(fd);
    for (int i = 0; i < n; i++) {
        int status = -1;
        CHECK_EQ(waitpid(pids[i], &status, 0), pids[i]);
        if (status != 0) {
            unit_failures++;
            fprintf(stderr, "rank %d of %d ended with status 0x%x\n", i, n, status);
        }
    }
}

static inline void ranks_run(int n, int cores, void (*fn)(int rank)) { ranks_start(n, cores, ranks_boot, fn); }

#endif
