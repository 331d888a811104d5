/* pages_test.c -- memory that is read often enough goes on huge pages, once, whole, while others read it; nothing else does.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "node/node.h"
#include "base/count.h"
#include "base/os.h"
#include "base/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../test/unit.h"

enum { MIB = 1 << 20, PIECE = 2 * MIB };

/* What the file under test calls.  On a busy machine the kernel may find a page held for a moment, and may take long: the first is not what is
 * tested, and the time that it takes is what the test says. */
enum { BUSY = 77 };
static bool was_refused;
static uint64_t clock_ns, call_takes_ns = 1000000;
int clock_gettime(clockid_t clock, struct timespec *t)
{
    (void)clock;
    clock_ns += 1000;
    *t = (struct timespec){(time_t)(clock_ns / 1000000000), (long)(clock_ns % 1000000000)};
    return 0;
}
int madvise(void *at, size_t bytes, int advice)
{
    long rc = -1;
    for (int i = 0; i < 20 && rc; i++) {
        if (i) usleep(1000);
        rc = syscall(SYS_madvise, at, bytes, advice);
        if (rc && errno != EAGAIN && errno != EBUSY) break;
    }
    was_refused = was_refused || (rc && (errno == EAGAIN || errno == EBUSY || errno == ENOMEM));
    clock_ns += call_takes_ns;
    return (int)rc;
}

/* However busy the machine is. */
static int cores = 1 << 20;
int get_nprocs(void) { return cores; }

static unsigned char byte_at(size_t i) { return (unsigned char)(i * 7 + (i >> 12)); }

/* A mapping of its own that begins at a multiple of 2 MiB, with no page in use yet. */
static char *region(size_t bytes)
{
    char *p = mmap(NULL, bytes + PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED);
    uintptr_t begin = ((uintptr_t)p + PIECE - 1) & ~(uintptr_t)(PIECE - 1);
    munmap(p, begin - (uintptr_t)p);
    munmap((char *)begin + bytes, (uintptr_t)p + PIECE - begin);
    return (char *)begin;
}
static char *filled(size_t bytes)
{
    char *p = region(bytes);
    for (size_t i = 0; i < bytes; i++) p[i] = (char)byte_at(i);
    return p;
}
static void is_whole(const char *p, size_t bytes)
{
    size_t i = 0;
    while (i < bytes && p[i] == (char)byte_at(i)) i++;
    CHECK_EQ(i, bytes);
}

/* KiB of the mapping that begins here that lie on huge pages. */
static long huge_kib(const char *p)
{
    char line[256], begin[32];
    long kib = 0;
    bool is_ours = false;
    FILE *f = fopen("/proc/self/smaps", "re");
    CHECK(f != NULL);
    snprintf(begin, sizeof begin, "%lx-", (unsigned long)(uintptr_t)p);
    while (f && fgets(line, sizeof line, f)) {
        if (strchr(line, '-') && strchr(line, '-') < strchr(line, ' ')) is_ours = !strncmp(line, begin, strlen(begin));
        if (is_ours) sscanf(line, "AnonHugePages: %ld kB", &kib);
    }
    if (f) fclose(f);
    return kib;
}

static uint64_t moved(void) { return atomic_load(&gw_count.pages_moved); }

/* Can this kernel do it, and may we? */
static bool is_possible(void)
{
    char text[64] = "";
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
    if (f && !fgets(text, sizeof text, f)) *text = 0;
    if (f) fclose(f);
    if (!f || strstr(text, "[never]")) return false;
    char *p = filled(PIECE);
    bool works = madvise(p, PIECE, 25) == 0;
    munmap(p, PIECE);
    return works;
}

/* 16 MiB of a piece must have been read before it is moved, and then 256 MiB more before the kernel is asked again. */
static void when(void)
{
    char *p = filled(8 * MIB);
    for (int i = 0; i < 7; i++) node_read_by_others(p, 4 * MIB);
    CHECK_EQ(moved(), 0);
    CHECK_EQ(huge_kib(p), 0);
    node_read_by_others(p, 2 * MIB + 100);
    CHECK_EQ(moved(), 1);
    CHECK_EQ(huge_kib(p), 2048);
    node_read_by_others(p, 4 * MIB);
    CHECK_EQ(moved(), 2);
    CHECK_EQ(huge_kib(p), 4096);
    is_whole(p, 8 * MIB);
    for (int i = 0; i < 126; i++) node_read_by_others(p, 4 * MIB);
    CHECK_EQ(moved(), 2);
    for (int i = 0; i < 2; i++) node_read_by_others(p, 4 * MIB);
    CHECK_EQ(moved(), 4);
    CHECK_EQ(huge_kib(p), 4096);
    for (int i = 0; i < 16; i++) node_read_by_others(p + 4 * MIB + 512, MIB); /* parts of a piece count as such */
    CHECK_EQ(moved(), 5);
    node_read_by_others(p, 0);
    is_whole(p, 8 * MIB);
    munmap(p, 8 * MIB);
}

/* Nothing is moved while more want to run than there are cores for; it is looked at again after as many bytes. */
static void crowded(void)
{
    char *p = filled(2 * MIB);
    cores = 0; /* this process wants to run */
    for (int i = 0; i < 32; i++) node_read_by_others(p, 2 * MIB);
    CHECK_EQ(moved(), 0);
    CHECK_EQ(huge_kib(p), 0);
    cores = 1 << 20;
    for (int i = 0; i < 7; i++) CHECK(!node_read_by_others(p, 2 * MIB));
    CHECK_EQ(moved(), 0);
    CHECK(node_read_by_others(p, 2 * MIB));
    CHECK_EQ(moved(), 1);
    CHECK_EQ(huge_kib(p), 2048);
    is_whole(p, 2 * MIB);
    munmap(p, 2 * MIB);
}

/* Few at a time; the others in the next turns. */
static void large(void)
{
    char *p = filled(32 * MIB);
    for (int i = 0; i < 7; i++) node_read_by_others(p, 32 * MIB);
    CHECK_EQ(moved(), 0);
    for (int i = 1; i <= 4; i++) {
        node_read_by_others(p, 32 * MIB);
        CHECK_EQ(moved(), 4 * i);
    }
    CHECK_EQ(huge_kib(p), 32 << 10);
    is_whole(p, 32 * MIB);
    munmap(p, 32 * MIB);
}

/* Once the kernel has taken long, no more is moved. */
static void slow(void)
{
    char *p = filled(8 * MIB);
    call_takes_ns = 100000000;
    for (int i = 0; i < 20; i++) node_read_by_others(p, 2 * MIB);
    CHECK_EQ(moved(), 1);
    for (int i = 0; i < 100; i++) node_read_by_others(p, 8 * MIB);
    CHECK_EQ(moved(), 1);
    CHECK_EQ(huge_kib(p), 2048);
    is_whole(p, 8 * MIB);
    munmap(p, 8 * MIB);
}

/* What is not 2 MiB of one mapping stays as it is. */
static void edges(void)
{
    char *p = filled(3 * MIB);
    CHECK_EQ(munmap(p, MIB), 0);
    for (int i = 0; i < 40; i++) node_read_by_others(p + MIB, 2 * MIB);
    CHECK_EQ(moved(), 0);
    CHECK_EQ(huge_kib(p + MIB), 0);
    for (size_t i = MIB; i < 3 * MIB; i += 999) CHECK_EQ((unsigned char)p[i], byte_at(i));
    munmap(p + MIB, 2 * MIB);
}

/* Another process reads all the time. */
static void meanwhile(void)
{
    enum { BYTES = 8 * MIB };
    char *p = filled(BYTES);
    prctl(PR_SET_DUMPABLE, 1);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    pid_t owner = getpid(), reader = fork();
    if (reader == 0) {
        char *got = malloc(BYTES);
        struct iovec here = {got, BYTES}, there = {p, BYTES};
        bool may = true;
        alarm(300);
        munmap(p, BYTES); /* else the pages would be shared with us by copy-on-write */
        for (int i = 0; i < 60 && may; i++) {
            ssize_t n = gw_cma_read(owner, &here, 1, &there, 1);
            may = n != -EPERM && n != -ENOSYS;
            if (may) CHECK_EQ(n, BYTES);
            if (may) is_whole(got, BYTES);
        }
        free(got);
        _exit(unit_failures != 0);
    }
    int status = -1;
    while (waitpid(reader, &status, WNOHANG) == 0) node_read_by_others(p, BYTES);
    CHECK_EQ(status, 0);
    is_whole(p, BYTES);
    for (int i = 0; i < 200; i++) node_read_by_others(p, BYTES); /* nobody reads any more: now at the latest */
    CHECK_EQ(huge_kib(p), BYTES >> 10);
    is_whole(p, BYTES);
    munmap(p, BYTES);
}

static void off(void)
{
    char *p = filled(4 * MIB);
    for (int i = 0; i < 50; i++) node_read_by_others(p, 4 * MIB);
    CHECK_EQ(moved(), 0);
    CHECK_EQ(huge_kib(p), 0);
    munmap(p, 4 * MIB);
}

/* A case is a process: counts begin anew. */
static void run_turns(const char *setting, void (*fn)(void), int turns)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        setenv("GODWIT_HUGE_PAGES", setting, 1);
        gw_settings_load();
        alarm(300);
        fn();
        gw_settings_free();
        exit(was_refused ? BUSY : unit_failures != 0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == BUSY && turns > 1) {
        usleep(200000);
        run_turns(setting, fn, turns - 1);
    } else {
        CHECK_EQ(status, 0);
    }
}

static void run(const char *setting, void (*fn)(void)) { run_turns(setting, fn, 40); }

int main(void)
{
    run("off", off);
    run("auto", edges);
    if (!is_possible()) {
        printf("pages_test: the rest is not checked: this kernel does not move memory onto huge pages\n");
        return unit_end();
    }
    run("auto", when);
    run("auto", crowded);
    run("auto", large);
    run("auto", slow);
    run("auto", meanwhile);
    return unit_end();
}
