/* size.c -- how large the symmetric heap of a PE is to be: what a variable says, or a part of the machine's memory; and
 * whether there is so much.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "sym/sym_private.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/os.h"
#include "base/settings.h"

/* USUAL: of a PE without a word from the user, where there is so much.  SIZE_MOST: beyond what processors can address. */
#define USUAL     (UINT64_C(64) << 20)
#define SIZE_MOST 0x1p56

/* DIGITS, perhaps with a fraction and with one of kmgt behind, in bytes, rounded up; what follows that letter is
 * nothing.  Below 0: it is none. */
static double size_read(const char *text)
{
    static const char letters[] = "kmgt";
    double value = 0, part = 1;
    int digits = 0;
    text += strspn(text, " \t");
    for (; *text >= '0' && *text <= '9'; text++, digits++) value = value * 10 + (*text - '0');
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++, digits++) value += (*text - '0') * (part /= 10);
    if (digits == 0) return -1;
    if (*text == 0 || *text == ' ') return value;
    const char *letter = strchr(letters, *text | 0x20);
    return letter ? value * (double)(UINT64_C(1) << (10 * (letter - letters + 1))) : -1;
}

/* What the system lets processes have beside what they have, where it counts strictly (vm.overcommit_memory=2): touching more is
 * the end of who does.  UINT64_MAX: it does not count. */
static uint64_t commit_left(void)
{
    char line[128] = "";
    unsigned long long kib, limit = 0, has = 0;
    FILE *f = fopen("/proc/sys/vm/overcommit_memory", "re");
    bool is_strict = f && fgets(line, sizeof line, f) && line[0] == '2';
    if (f) fclose(f);
    f = is_strict ? fopen("/proc/meminfo", "re") : NULL;
    if (!f) return UINT64_MAX;
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "CommitLimit: %llu", &kib) == 1) limit = kib << 10;
        if (sscanf(line, "Committed_AS: %llu", &kib) == 1) has = kib << 10;
    }
    fclose(f);
    return has < limit ? limit - has : 0;
}

/* ---- who reads the limits ---- */
/* 0 where it is not known: then each is in a group of its own. */
static uint64_t group_of(int local_rank)
{
    return atomic_load_explicit(&boot_slot_of(local_rank)->memory_group, memory_order_acquire);
}

int64_t sym_size_note(void)
{
    const uint64_t key = gw_memory_group_key() >> 2;
    atomic_store_explicit(&boot_slot->memory_group, key, memory_order_release);
    return (int64_t)key;
}

bool sym_size_reads(bool *is_one_out)
{
    const uint64_t mine = group_of(gw_boot.local_rank);
    bool is_first = true, is_one = mine != 0;
    for (int i = 0; i < gw_boot.nlocal; i++) {
        const bool is_same = mine != 0 && group_of(i) == mine;
        if (is_same && i < gw_boot.local_rank) is_first = false;
        if (!is_same && i != gw_boot.local_rank) is_one = false;
    }
    *is_one_out = is_one || gw_boot.nlocal == 1;
    return is_first;
}

/* ---- what there is ---- */
/* n parts of a memory that all who run share: pages are had one by one, so what others have now does not count, but more than the whole is
 * the end of somebody. */
static int check_whole(uint64_t bytes, uint64_t n, int64_t whole, const char *whose)
{
    if ((uint64_t)whole / n >= bytes) return GW_OK;
    return gw_fail(GW_ENOMEM,
                   "the symmetric heaps of %llu PEs of this node are to be %.1f MiB each, %.1f MiB together, but %s %.1f MiB; set "
                   "SHMEM_SYMMETRIC_SIZE to at most %lluM, or start fewer PEs on a node",
                   (unsigned long long)n, gw_mib(bytes), gw_mib(bytes) * (double)n, whose, gw_mib((uint64_t)whole),
                   (unsigned long long)((uint64_t)whole / n >> 20));
}

int sym_size_check(uint64_t bytes, int n_group)
{
    const char *limit;
    const uint64_t n = (uint64_t)(gw_boot.nlocal > 0 ? gw_boot.nlocal : 1), left = commit_left();
    int64_t have = gw_memory_available(&limit);
    struct gw_memory_whole whole = gw_memory_whole();
    if (have >= 0 && (uint64_t)have < bytes)
        return gw_fail(GW_ENOMEM, "the symmetric heap of a PE is to be %.1f MiB, but %s leaves %.1f MiB" SYM_SIZE_CURE,
                       gw_mib(bytes), limit, gw_mib((uint64_t)have));
    int rc = check_whole(bytes, n, whole.machine, "the machine has, with its swap,");
    if (rc == GW_OK) rc = check_whole(bytes, (uint64_t)n_group, whole.group, "the limit of their control group is");
    if (rc != GW_OK) return rc;
    if (left / n < bytes)
        return gw_fail(GW_ENOMEM,
                       "the symmetric heap of each of %llu PEs is to be %.1f MiB, but what the system lets processes have "
                       "(vm.overcommit_memory=2) leaves %.1f MiB" SYM_SIZE_CURE,
                       (unsigned long long)n, gw_mib(bytes), gw_mib(left));
    return GW_OK;
}

static uint64_t limit_least(int which, uint64_t so_far, uint64_t part)
{
    struct rlimit r;
    if (getrlimit((__rlimit_resource_t)which, &r) != 0 || r.rlim_cur == RLIM_INFINITY) return so_far;
    return r.rlim_cur / part < so_far ? r.rlim_cur / part : so_far;
}

/* Where the kernel refuses memfd_create the memory is a file in a folder, all of it at once (boot_file_make()). */
static uint64_t of_folder(uint64_t so_far, uint64_t n)
{
    struct statvfs fs;
    int fd = memfd_create("godwit-size", MFD_CLOEXEC);
    if (fd >= 0) {
        close(fd);
        return so_far;
    }
    if (so_far > USUAL) so_far = USUAL;
    if (statvfs("/dev/shm", &fs) != 0) return so_far;
    uint64_t part = (uint64_t)fs.f_bavail * fs.f_frsize / 2 / n;
    return part < so_far ? part : so_far;
}

static uint64_t of_machine(uint64_t n)
{
    const char *limit;
    int64_t have = gw_memory_available(&limit);
    const uint64_t all = have > 0 && have < INT64_MAX ? (uint64_t)have : USUAL * n * 2, left = commit_left() / 2 / n;
    uint64_t bytes = all / 2 / n;
    if (bytes < USUAL && all / n >= USUAL) bytes = USUAL;
    return of_folder(left < bytes ? left : bytes, n);
}

static uint64_t size_usual(bool reads)
{
    const uint64_t n = (uint64_t)(gw_boot.nlocal > 0 ? gw_boot.nlocal : 1);
    uint64_t bytes = reads ? of_machine(n) : (uint64_t)SIZE_MOST;
    bytes = limit_least(RLIMIT_AS, bytes, 4 * n); /* all parts are mapped, the own one twice */
    bytes = limit_least(RLIMIT_FSIZE, bytes, 2 * n);
    uint64_t page = bytes >= GW_HUGE_BYTES ? GW_HUGE_BYTES : gw_page_bytes();
    return bytes >= page ? bytes & ~(page - 1) : page;
}

uint64_t sym_memory_heap_wanted(bool reads)
{
    const char *text = gw_set.symmetric_size;
    if (!text || !*text) return size_usual(reads);
    double bytes = size_read(text);
    if (bytes < 0) {
        gw_fail(GW_EARG, "%s=%s is no size: a number, perhaps with a fraction, and with K, M, G or T behind, such as 512M or 1.5g",
                gw_setting_said("GODWIT_SYMMETRIC_SIZE"), text);
        return 0;
    }
    if (bytes >= SIZE_MOST) {
        gw_fail(GW_ENOMEM, "%s=%s is more than a process can address", gw_setting_said("GODWIT_SYMMETRIC_SIZE"), text);
        return 0;
    }
    uint64_t whole = (uint64_t)bytes;
    whole += (double)whole < bytes;
    return whole ? whole : 1; /* none: a heap of which nothing is promised */
}
