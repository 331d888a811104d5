/* crash_test.c -- the names of core files, from the kernel's pattern.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "verdict/crash.h"

#include "unit.h"

static void expect(const char *pattern, bool uses_pid, const char *want)
{
    char got[64] = "";
    bool is_file = crash_core_glob(pattern, uses_pid, "/here", 42, got, sizeof got);
    CHECK_EQ(is_file, want != NULL);
    if (want && strcmp(got, want) != 0) {
        unit_failures++;
        fprintf(stderr, "%s: %s, not %s\n", pattern, got, want);
    }
}

int main(void)
{
    expect("core", false, "/here/core");
    expect("core", true, "/here/core.42");
    expect("core.%p", true, "/here/core.42");
    expect("/var/cores/%e.%p.%t", false, "/var/cores/*.42.*");
    expect("/c/%%%p%", false, "/c/%42");
    expect("|/usr/lib/systemd/systemd-coredump %P %u", false, NULL);
    expect("", false, NULL);
    expect("/a/very/long/path/that/does/not/fit/into/the/room/that/is/there/%p", false, NULL);
    CHECK(crash_is_one(SIGSEGV) && crash_is_one(SIGABRT) && crash_is_one(SIGFPE) && !crash_is_one(SIGKILL) &&
          !crash_is_one(SIGTERM));
    return unit_end();
}
