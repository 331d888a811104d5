/* base_test.c -- errors, text, time, locks, memory, CMA and limits of the base room.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "base/count.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/plain.h"
#include "base/settings.h"
#include "base/time.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../test/unit.h"

static void *other_thread_text(void *arg)
{
    (void)arg;
    CHECK_STR(gw_fail_text(), "");
    gw_fail(GW_EARG, "of the other");
    return NULL;
}

static void test_errors(void)
{
    CHECK_EQ(gw_fail(GW_ETRUNCATE, "%d bytes into %d", 16, 4), GW_ETRUNCATE);
    CHECK_STR(gw_fail_text(), "16 bytes into 4");
    gw_fail(GW_EARG, "first: %s", gw_fail_text());
    CHECK_STR(gw_fail_text(), "first: 16 bytes into 4");
    pthread_t t;
    CHECK_EQ(pthread_create(&t, NULL, other_thread_text, NULL), 0);
    pthread_join(t, NULL);
    CHECK_STR(gw_fail_text(), "first: 16 bytes into 4");
    gw_fail_clear();
    CHECK_STR(gw_fail_text(), "");
    CHECK_STR(gw_error_text(GW_ECOUNT), "invalid count");
    CHECK_STR(gw_error_text(GW_EFIRST_), "unknown error");
}

static void test_text(void)
{
    CHECK_EQ(gw_edits("kitten", "sitting"), 3);
    CHECK_EQ(gw_edits("", "abc"), 3);
    CHECK_EQ(gw_edits("wiat", "wait"), 1);
    CHECK_EQ(gw_edits("ABC", "abc"), 0);
    static const char *const words[] = {"GODWIT_EXPLAIN", "GODWIT_CHECK_ARGS"};
    CHECK_STR(gw_nearest("GODWIT_EXPLIAN", words, 2), "GODWIT_EXPLAIN");
    CHECK_STR(gw_nearest("GODWIT_CHECKARGS", words, 2), "GODWIT_CHECK_ARGS");
    CHECK(gw_nearest("SOMETHING_ELSE", words, 2) == NULL);
    CHECK(gw_nearest("x", words, 0) == NULL);
}

/* Both clocks at one moment: not one of them before, and one after, others had the core. */
static void read_clocks(uint64_t *ns, uint64_t *ticks)
{
    uint64_t before;
    do {
        before = gw_now_ns();
        *ticks = gw_ticks();
        *ns = gw_now_ns();
    } while (*ns - before > 200000);
}

static const char *plain(const char *text, unsigned how)
{
    static char out[128];
    return gw_plain(out, sizeof out, text, how);
}

static const char *quoted(const char *text)
{
    static char out[128];
    char *q = gw_shell_quoted(text);
    snprintf(out, sizeof out, "%s", q);
    free(q);
    return out;
}

static char *format(const char *fmt, ...) GW_PRINTF(1, 2);
static char *format(const char *fmt, ...)
{
    static char out[256];
    va_list args;
    va_start(args, fmt);
    CHECK_EQ(gw_plain_vformat(out, sizeof out, fmt, args), strlen(out));
    va_end(args);
    return out;
}

/* Lines are the format's, whatever stands in arguments. */
static void test_plain_format(void)
{
    char all[32], small[8], *text;
    size_t n;
    for (int i = 0; i < 31; i++) all[i] = (char)(i + 1);
    all[31] = 0;
    CHECK_STR(format("a\t%s\nb %d\n", "x\ny\tz\001", 7), "a\tx\\x0ay\\x09z\\x01\nb 7\n");
    CHECK_STR(format("%s\n%.2s|%*d\n", "\002\003", "\n\n\n", 3, 5), "\\x02\\x03\n\\x0a\\x0a|  5\n");
    CHECK_STR(format("%c\xc3\xa4\n", '\n'), "\\x0a\xc3\xa4\n");
    text = format("\n%s\n", all); /* no byte is left to mark the format's own with: one line, and nothing acts */
    CHECK(!strpbrk(text, all) && strstr(text, "\\x0a\\x0b"));
    CHECK_EQ(gw_plain_format(small, sizeof small, "ab\n%s", "\n\n"), 7);
    CHECK_STR(small, "ab\n\\x0a");
    CHECK_EQ(gw_fail(GW_EARG, "a\nb %s", "c\nd"), GW_EARG);
    CHECK_EQ(gw_fail(GW_EARG, "%s: %s", "e\033", gw_fail_text()), GW_EARG);
    CHECK_STR(gw_fail_text(), "e\\x1b: a\\x0ab c\\x0ad");
    FILE *f = open_memstream(&text, &n);
    char *big = gw_xcalloc(1, 20001);
    memset(big, '\r', 20000);
    CHECK(gw_print(f, "%s\n", big) >= 0 && gw_print(f, "%d\n", 3) >= 0);
    fclose(f);
    CHECK(n == 80000 + 3 && strcmp(text + 79996, "\\x0d\n3\n") == 0);
    free(big);
    free(text);
}

/* What others have written, on a terminal and in a command. */
static void test_plain(void)
{
    char small[6];
    CHECK_STR(plain("a b-\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\xa6\\", 0),
              "a b-\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\xa6\\"); /* letters stay */
    CHECK_STR(plain("\x1b[2J\r\x7f", 0), "\\x1b[2J\\x0d\\x7f");
    CHECK_STR(plain("a\nb\tc", 0), "a\\x0ab\\x09c");
    CHECK_STR(plain("\xc2\x9b", 0), "\\xc2\\x9b");                            /* a terminal's CSI in one character */
    CHECK_STR(plain("\xe2\x80\xae", 0), "\\xe2\\x80\\xae");                   /* turns the direction */
    CHECK_STR(plain("\xc0\x9b\xff\xe2\x82", 0), "\\xc0\\x9b\\xff\\xe2\\x82"); /* no UTF-8 */
    CHECK_STR(plain("\xed\xa0\x80\xf4\x90\x80\x80\xe0\x80\x80", 0), "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\\xe0\\x80\\x80");
    CHECK_STR(plain("\xc3\xa4\\", GW_PLAIN_WORD), "\\xc3\\xa4\\x5c");
    CHECK_STR(gw_plain(small, sizeof small, "ab\x1b", 0), "ab");
    CHECK_STR(gw_plain(small, sizeof small, "abcdefgh", 0), "abcde");
    test_plain_format();
    CHECK(gw_is_shell_word("/a/b-c.d") && !gw_is_shell_word("-rf") && !gw_is_shell_word("") && !gw_is_shell_word("a b") &&
          !gw_is_shell_word("$x") && !gw_is_shell_word("a\n"));
    CHECK_STR(quoted("--a=b"), "--a=b");
    CHECK_STR(quoted("-n"), "-n");
    CHECK_STR(quoted("it's"), "'it'\\''s'");
    CHECK_STR(quoted("a\\b"), "'a\\b'");
    CHECK_STR(quoted("'\\\n"), "$'\\'\\\\\\x0a'");
    CHECK_STR(quoted(""), "''");
}

static void test_time(void)
{
    uint64_t ns, ticks, later_ns, later_ticks;
    read_clocks(&ns, &ticks);
    double s = gw_wtime();
    CHECK(ns / 1000000000u <= (uint64_t)s + 1);
    usleep(20000);
    read_clocks(&later_ns, &later_ticks);
    uint64_t us = (later_ns - ns) / 1000, by_ticks = (later_ticks - ticks) / gw_ticks_per_us();
    CHECK(us >= 20000);
    CHECK(by_ticks > us * 9 / 10 && by_ticks < us * 11 / 10);
    CHECK(gw_wtime() - s >= 0.02 && gw_wtime() - s < 60);
}

static struct gw_lock lock;
static long counter;

static void *count_up(void *arg)
{
    for (long i = 0; i < *(long *)arg; i++) {
        gw_lock(&lock);
        counter++;
        if (i % 64 == 0) sched_yield(); /* so that others really sleep on it */
        gw_unlock(&lock);
    }
    return NULL;
}

/* Takes the lock, which is held, and gives it back. */
static void *wait_once(void *arg)
{
    (void)arg;
    gw_lock(&lock);
    gw_unlock(&lock);
    return NULL;
}

/* Each that finds a lock held is counted, once; who finds it free is not. */
static void test_locks_waited(void)
{
    pthread_t t;
    uint64_t before = atomic_load(&gw_count.locks_waited);
    gw_threads = true;
    gw_lock(&lock);
    gw_unlock(&lock);
    CHECK_EQ(atomic_load(&gw_count.locks_waited), before);
    gw_lock(&lock);
    CHECK_EQ(pthread_create(&t, NULL, wait_once, NULL), 0);
    while (atomic_load(&gw_count.locks_waited) == before) sched_yield();
    gw_unlock(&lock);
    pthread_join(t, NULL);
    CHECK_EQ(atomic_load(&gw_count.locks_waited), before + 1);
    gw_threads = false;
}

static void test_locks(void)
{
    long each = 20000;
    pthread_t t[8];
    gw_lock(&lock); /* without threads a lock costs nothing and excludes nobody */
    CHECK_EQ(lock.word, 0);
    CHECK(gw_lock_try(&lock));
    gw_threads = true;
    for (int i = 0; i < 8; i++) CHECK_EQ(pthread_create(&t[i], NULL, count_up, &each), 0);
    for (int i = 0; i < 8; i++) pthread_join(t[i], NULL);
    CHECK_EQ(counter, 8 * each);
    CHECK_EQ(lock.word, 0);
    CHECK(gw_lock_try(&lock));
    CHECK(!gw_lock_try(&lock));
    gw_unlock(&lock);
    gw_threads = false;
}

static void test_futex(void)
{
    _Atomic uint32_t *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK_EQ(gw_futex_wait(word, 1, -1), 0); /* differs: returns at once */
    uint64_t before = gw_now_ns();
    CHECK_EQ(gw_futex_wait(word, 0, 10000000), -ETIMEDOUT);
    CHECK(gw_now_ns() - before >= 10000000);
    pid_t child = fork();
    if (child == 0) {
        usleep(5000);
        atomic_store(word, 7);
        gw_futex_wake(word, 1);
        _exit(0);
    }
    while (atomic_load(word) == 0) CHECK_EQ(gw_futex_wait(word, 0, -1), 0);
    waitpid(child, NULL, 0);
    munmap(word, 4096);
}

static void test_cma(void)
{
    char from[64], to[64] = "";
    for (int i = 0; i < 64; i++) from[i] = (char)(i + 1);
    struct iovec local[2] = {{to, 40}, {to + 40, 24}}, remote[3] = {{from, 10}, {from + 10, 20}, {from + 30, 34}};
    ssize_t n = gw_cma_read(getpid(), local, 2, remote, 3);
    if (n == -EPERM || n == -ENOSYS) return; /* this kernel refuses */
    CHECK_EQ(n, 64);
    CHECK(memcmp(from, to, 64) == 0);
    memset(from, 0, sizeof from);
    CHECK_EQ(gw_cma_write(getpid(), local, 2, remote, 3), 64);
    CHECK(memcmp(from, to, 64) == 0);
    remote[2].iov_base = (void *)8;
    CHECK_EQ(gw_cma_read(getpid(), local, 2, remote, 3), 30); /* short: the third piece is not memory */
    remote[0].iov_base = (void *)8;
    CHECK_EQ(gw_cma_read(getpid(), local, 2, remote, 1), -EFAULT);
}

static void test_memory_and_limits(void)
{
    char *p = gw_xmalloc(0);
    CHECK(p != NULL);
    p = gw_xrealloc(p, 100);
    memset(p, 1, 100);
    free(p);
    p = gw_xcalloc(10, 10);
    CHECK(p[0] == 0 && p[99] == 0);
    free(p);
    p = gw_xasprintf("%d-%s", 3, "x");
    CHECK_STR(p, "3-x");
    free(p);
    char text[8] = "";
    gw_text_add(text, sizeof text, "%d", 1234);
    gw_text_add(text, sizeof text, "%s", "abcdef");
    CHECK_STR(text, "1234abc");
    gw_text_add(text, sizeof text, "%s", "x"); /* there is no room */
    CHECK_STR(text, "1234abc");

    cpu_set_t all, one;
    CHECK_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    int cores = gw_cores_allowed();
    CHECK(cores >= 1 && cores <= CPU_COUNT(&all));
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &all)) continue;
        CPU_SET(i, &one);
        break;
    }
    CHECK_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    CHECK_EQ(gw_cores_allowed(), 1);
    CHECK_EQ(sched_setaffinity(0, sizeof all, &all), 0);

    const char *limit = NULL;
    CHECK(gw_memory_available(&limit) > 1 << 20);
    CHECK(limit && limit[0]);
}

/* Lines of the kernel's files, and where this program is. */
static void test_lines_and_folder(void)
{
    char text[32] = "kept", few[4], self[PATH_MAX];
    CHECK_EQ(prctl(PR_SET_NAME, "godwit-line"), 0);
    CHECK(gw_line_read(text, sizeof text, "/proc/%s/comm", "thread-self"));
    CHECK_STR(text, "godwit-line\n");
    CHECK(gw_line_read(few, sizeof few, "/proc/thread-self/comm"));
    CHECK_STR(few, "god");
    CHECK(!gw_line_read(text, sizeof text, "/proc/self/none-of-%d", 3) && !gw_line_read(text, sizeof text, "/dev/null"));
    CHECK_STR(text, "godwit-line\n");
    char *folder = gw_own_folder(), *program = gw_xasprintf("%s/%s", folder, program_invocation_short_name);
    CHECK(realpath("/proc/self/exe", self) && folder[0] == '/');
    CHECK_STR(program, self);
    free(program);
    free(folder);
}

/* A thread of our own gets no signals, and is known as one while it runs. */
static void *own_thread(void *tid)
{
    sigset_t blocked;
    *(pid_t *)tid = (pid_t)syscall(SYS_gettid);
    CHECK(gw_thread_is_own(*(pid_t *)tid));
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, NULL, &blocked), 0);
    CHECK(sigismember(&blocked, SIGTERM) == 1 && sigismember(&blocked, SIGALRM) == 1);
    return NULL;
}

static void test_own_threads(void)
{
    for (int i = 0; i < 40; i++) { /* their places are given back */
        pthread_t t;
        pid_t tid = 0;
        sigset_t blocked;
        CHECK_EQ(gw_thread_start(&t, own_thread, &tid), GW_OK);
        CHECK_EQ(pthread_join(t, NULL), 0);
        CHECK(tid > 0 && tid != getpid() && !gw_thread_is_own(tid));
        CHECK(!gw_thread_is_own(getpid()));
        CHECK_EQ(pthread_sigmask(SIG_BLOCK, NULL, &blocked), 0);
        CHECK_EQ(sigismember(&blocked, SIGTERM), 0);
    }
}

/* gw_die() ends a child with status 1 and says who died, after what the child printed. */
static void test_die(void)
{
    int out[2];
    CHECK_EQ(pipe(out), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(out[1], 1);
        dup2(out[1], 2);
        gw_log_identity(3, 4);
        printf("before ");
        gw_die("no %s", "way");
    }
    close(out[1]);
    char text[512];
    size_t n = 0;
    ssize_t r;
    while ((r = read(out[0], text + n, sizeof text - 1 - n)) > 0) n += (size_t)r;
    text[n] = 0;
    close(out[0]);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    CHECK(strstr(text, "godwit: rank 3 (") != NULL && strstr(text, "): no way\n") != NULL);
    CHECK(strstr(text, "before ") != NULL);
}

int main(void)
{
    test_own_threads();
    test_die();
    test_errors();
    test_text();
    test_plain();
    test_time();
    test_locks_waited();
    test_locks();
    test_futex();
    test_cma();
    test_memory_and_limits();
    test_lines_and_folder();
    return unit_end();
}
