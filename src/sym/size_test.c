/* size_test.c -- the size of the symmetric heap: the variables by which it is told, what they may say, and what is taken without
 * them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "sym/sym_private.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/os.h"
#include "base/settings.h"
#include "unit.h"

static const char *const variables[] = {"SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE", "SHMEM_SYMMETRIC_HEAP_SIZE",
                                        "XT_SYMMETRIC_HEAP_SIZE"};

static uint64_t wanted(const char *name, const char *value)
{
    gw_settings_free();
    setenv(name, value, 1);
    gw_settings_load();
    uint64_t bytes = sym_memory_heap_wanted(true);
    unsetenv(name);
    return bytes;
}

/* The kernel counts strictly what processes have. */
static bool is_strict;
FILE *fopen(const char *path, const char *mode)
{
    static char word[] = "2\n",
                info[] = "MemTotal: 999999 kB\nCommitLimit:     500000 kB\nCommitted_AS:    397600 kB\n"; /* 100 MiB */
    if (is_strict && strcmp(path, "/proc/sys/vm/overcommit_memory") == 0) return fmemopen(word, sizeof word - 1, "r");
    if (is_strict && strcmp(path, "/proc/meminfo") == 0) return fmemopen(info, sizeof info - 1, "r");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? NULL : fdopen(fd, mode);
}

static void strict(void)
{
    gw_boot.nlocal = 1;
    CHECK_EQ(sym_size_check(101 << 20, 1), GW_OK);
    is_strict = true;
    CHECK_EQ(sym_size_check(100 << 20, 1), GW_OK);
    CHECK_EQ(sym_size_check(101 << 20, 1), GW_ENOMEM);
    CHECK(strstr(gw_fail_text(), "101.0 MiB") && strstr(gw_fail_text(), "leaves 100.0 MiB; set SHMEM_SYMMETRIC_SIZE lower"));
    CHECK_EQ(sym_memory_heap_wanted(true), 50 << 20);
    gw_boot.nlocal = 5;
    CHECK_EQ(sym_memory_heap_wanted(true), 10 << 20);
    CHECK_EQ(sym_size_check(30 << 20, 5), GW_ENOMEM);
    is_strict = false;
}

/* All heaps together may be as large as the memory, whatever of it others have now, and not larger. */
static void together(void)
{
    enum { N = 64 };
    struct gw_memory_whole whole = gw_memory_whole();
    const uint64_t all = (uint64_t)gw_min64(whole.machine, whole.group), part = all / N;
    CHECK(whole.machine > 0 && whole.group > 0 && (whole.group_id == 0) == (whole.group == INT64_MAX));
    gw_boot.nlocal = N;
    CHECK_EQ(sym_size_check(part, N), GW_OK);
    gw_fail_clear();
    CHECK_EQ(sym_size_check(part + 1, N), GW_ENOMEM);
    char cure[64];
    snprintf(cure, sizeof cure, "to at most %lluM, or start fewer", (unsigned long long)(part >> 20));
    CHECK(strstr(gw_fail_text(), "heaps of 64 PEs") && strstr(gw_fail_text(), cure));
    if (whole.group < whole.machine / N) CHECK_EQ(sym_size_check(part + 1, 1), GW_OK); /* each has such a group of its own */
    gw_boot.nlocal = 1;
}

int main(void)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } sizes[] = {{"1000000", 1000000}, {"512M", 512 << 20},       {"64k", 64 << 10},          {"64K", 64 << 10}, {"20kk", 20 << 10},
                 {"20MB", 20 << 20},   {".5m", 512 << 10},        {"1.5g", 3 << 29},          {"2.k", 2 << 10},  {"0.001", 1},
                 {"1.0001k", 1025},    {"1t", UINT64_C(1) << 40}, {"3.T", UINT64_C(3) << 40}, {"0", 1},          {"7", 7},
                 {"0012", 12},         {" 5k", 5 << 10}};
    static const char *const wrong[] = {"M",    "-1",  "-1k",      "abc",  ".",         ".k", "1e3",
                                        "0x10", "20x", "infinity", "1,5m", "99999999t", "+"};
    for (size_t i = 0; i < GW_ARRAY_LEN(variables); i++) unsetenv(variables[i]);
    unsetenv("GODWIT_SYMMETRIC_SIZE");
    for (size_t v = 0; v < GW_ARRAY_LEN(variables); v++)
        for (size_t i = 0; i < GW_ARRAY_LEN(sizes); i++) CHECK_EQ(wanted(variables[v], sizes[i].text), sizes[i].bytes);
    for (size_t v = 0; v < GW_ARRAY_LEN(variables); v++)
        for (size_t i = 0; i < GW_ARRAY_LEN(wrong); i++) {
            gw_fail_clear();
            CHECK_EQ(wanted(variables[v], wrong[i]), 0);
            CHECK(strstr(gw_fail_text(), wrong[i]) && strstr(gw_fail_text(), variables[v]));
        }
    for (size_t v = 1; v < GW_ARRAY_LEN(variables); v++) { /* those before it win */
        setenv(variables[v], "7m", 1);
        CHECK_EQ(wanted(variables[v - 1], "3m"), 3 << 20);
        unsetenv(variables[v]);
    }
    CHECK_EQ(wanted("GODWIT_SYMMETRIC_SIZE", "9m"), 9 << 20);
    const char *limit;
    uint64_t have = (uint64_t)gw_memory_available(&limit), usual = wanted("GODWIT_SYMMETRIC_SIZE", "");
    CHECK(usual % (2 << 20) == 0 && usual > have / 4 && usual < have);
    gw_boot.nlocal = 8;
    CHECK(sym_memory_heap_wanted(true) >= 64 << 20 ? sym_memory_heap_wanted(true) <= have / 8 : have / 8 < 64 << 20);
    gw_boot.nlocal = 1 << 20;
    CHECK(sym_memory_heap_wanted(true) > 0 && sym_memory_heap_wanted(true) < 64 << 20);
    together();
    strict();
    gw_settings_free();
    return unit_end();
}
