/* ofi_watch_test.c -- a registration is never of pages that the program no longer has, by whichever way they went.
 *
 * users.md row 19
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/ofi_card.h"
#include "base/base.h"
#include "base/count.h"

#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

/* A program that has sent some of a mapping may still do with the whole what it likes. */
static void test_whole(void)
{
    char *p = fresh(), *q = fresh();
    begin();
    send_new(p + PAGE, 1000);
    CHECK(is_watched(p) && is_watched(p + LEN - PAGE));
    count();
    munmap(p + 3 * PAGE, PAGE); /* not what was sent */
    COUNTED(0, 0, 0, 0);
    send_new(p + PAGE, 1000);
    COUNTED(0, 1, 0, 0);
    munmap(p, PAGE);
    send_new(p + PAGE, 1000);
    COUNTED(0, 1, 0, 0);
    CHECK(mremap(p + PAGE, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, q) == q);
    COUNTED(0, 0, 0, 1);
    CHECK(is_filled(q, 0, 1000));
    send_new(q, 1000);
    COUNTED(1, 0, 0, 0);
    char *r = fresh();
    send_new(r + 3 * PAGE, 1000);
    munmap(r + PAGE, PAGE);
    char *s = fresh();
    send_new(s, 1000);
    CHECK(mprotect(s + PAGE, PAGE, PROT_READ) == 0 && is_watched(s + 2 * PAGE));
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sleep(300); /* longer than we may take */
        _exit(0);
    }
    end();
    /* The watch has ended, whoever has its descriptor. */
    CHECK(!is_watched(s) && !is_watched(s + PAGE) && !is_watched(s + 2 * PAGE));
    munmap(s, LEN);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    munmap(q, LEN);
    munmap(r, LEN);
}

/* ---- memory that goes, by every way there is ---- */
static void by_unmap_of_part(char *p) { munmap(p + PAGE, PAGE), fresh_at(p + PAGE, PAGE); }
static void by_unmap_of_end(char *p) { munmap(p + LEN - PAGE, 3 * PAGE), fresh_at(p + LEN - PAGE, PAGE); }
static void by_map_over(char *p)
{
    CHECK(mmap(p, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p);
}
static void by_move_away(char *p)
{
    char *q = mremap(p, LEN, LEN, MREMAP_MAYMOVE | MREMAP_FIXED, fresh());
    CHECK(q != MAP_FAILED);
    fresh_at(p, LEN);
    munmap(q, LEN);
}
static void by_move_of_pages(char *p)
{
    char *q = mremap(p, LEN, LEN, MREMAP_MAYMOVE | 4 /* MREMAP_DONTUNMAP */, NULL);
    CHECK(q != MAP_FAILED);
    munmap(q, LEN);
}
static void by_move_here(char *p)
{
    char *q = fresh();
    memset(q, 'q', LEN);
    CHECK(mremap(q, LEN, LEN, MREMAP_MAYMOVE | MREMAP_FIXED, p) == p);
}
static void by_shrinking(char *p)
{
    CHECK(mremap(p, LEN, PAGE, 0) == p);
    fresh_at(p + PAGE, LEN - PAGE);
}
static void by_dontneed(char *p) { CHECK_EQ(madvise(p + 2 * PAGE, PAGE, MADV_DONTNEED), 0); }
static void by_free(char *p) { CHECK_EQ(madvise(p, LEN, MADV_FREE), 0); }

static void test_gone(void (*way)(char *), const char *name)
{
    int failures = unit_failures;
    uint64_t key;
    begin();
    char *p = mmap(NULL, 2 * LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    send_new(p, LEN);
    get_new(p, LEN);
    send_new(p, LEN);
    int regions = net.n_regions;
    count();
    way(p);
    settle();
    CHECK_EQ(gw_count.registrations_gone - counted.gone, 2);
    ofi_ops.progress(wire); /* they do not pin what was freed until somebody needs their place */
    CHECK_EQ(net.n_regions, regions - 2);
    send_new(p, LEN);
    get_new(p, LEN);
    COUNTED(2, 0, 0, 2);
    CHECK_EQ(ofi_ops.copy.expose(wire, p, LEN, &key), GW_OK);
    ofi_ops.copy.conceal(wire, key);
    way(p);
    count();
    CHECK_EQ(ofi_ops.copy.expose(wire, p, LEN, &key), GW_OK);
    COUNTED(1, 0, 0, 0);
    char *q = fresh();
    fill(p, LEN);
    go(false, q, LEN, p, key);
    CHECK(is_filled(q, 0, LEN));
    ofi_ops.copy.conceal(wire, key);
    end();
    munmap(p, 2 * LEN);
    munmap(q, LEN);
    if (unit_failures > failures) fprintf(stderr, "... where memory goes %s\n", name);
}

/* A file is mapped over the middle: neither the rest nor that stays watched. */
static void test_file_over(void)
{
    int fd = memfd_create("over", MFD_CLOEXEC);
    char *p = fresh();
    begin();
    send_new(p, LEN);
    count();
    CHECK(ftruncate(fd, PAGE) == 0 && mmap(p + PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == p + PAGE);
    COUNTED(0, 0, 0, 1);
    send_new(p, LEN);
    send_new(p, LEN);
    COUNTED(2, 0, 0, 0);
    end();
    munmap(p, LEN);
    close(fd);
}

static void test_fork(void)
{
    begin();
    char *p = fresh();
    send_new(p, LEN);
    int status = -1;
    count();
    pid_t child = fork();
    if (child == 0) {
        alarm(300);
        _exit(munmap(p, LEN) != 0 || is_watched(place));
    }
    send_new(p, LEN); /* on pages of its own, though the child may still look at them */
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    send_new(p, LEN);
    get_new(p, LEN);
    COUNTED(1, 2, 0, 0);
    munmap(p, LEN);
    COUNTED(0, 0, 0, 2);
    end();
}

/* What the kernel does not tell everything of is not kept. */
static void test_unwatched(void)
{
    FILE *f = tmpfile();
    CHECK(f != NULL);
    int memory = memfd_create("regs", MFD_CLOEXEC), file = fileno(f);
    CHECK(ftruncate(memory, LEN) == 0 && ftruncate(file, LEN) == 0);
    char *p[] = {map(MAP_SHARED | MAP_ANONYMOUS, -1), map(MAP_SHARED, memory), map(MAP_PRIVATE, memory), map(MAP_PRIVATE, file)};
    begin();
    int regions = net.n_regions;
    count();
    for (size_t i = 0; i < GW_ARRAY_LEN(p); i++) {
        send_new(p[i], LEN);
        get_new(p[i], LEN);
        send_new(p[i], LEN);
        COUNTED(3, 0, 0, 0);
        CHECK(net.n_regions == regions && !is_watched(p[i]));
    }
    CHECK_EQ(fallocate(memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, LEN), 0);
    send_new(p[1], LEN);
    char *q = fresh(); /* half of it is private */
    CHECK(mmap(q + 2 * PAGE, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory, 0) == q + 2 * PAGE);
    count();
    send_new(q, LEN);
    send_new(q, LEN);
    COUNTED(2, 0, 0, 0);
    send_new(q, 2 * PAGE);
    send_new(q, 2 * PAGE);
    COUNTED(1, 1, 0, 0);
    /* Somebody else watches it. */
    char *r = fresh();
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | 1);
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register mine = {.range = {(uintptr_t)r, LEN}, .mode = UFFDIO_REGISTER_MODE_WP};
    CHECK(fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 && ioctl(fd, UFFDIO_REGISTER, &mine) == 0);
    send_new(r, LEN);
    send_new(r, LEN);
    COUNTED(2, 0, 0, 0);
    CHECK(is_watched(r));
    close(fd);
    end();
    for (size_t i = 0; i < GW_ARRAY_LEN(p); i++) munmap(p[i], LEN);
    munmap(q, LEN);
    munmap(r, LEN);
    close(memory);
    fclose(f);
}

/* ---- threads ---- */
/* One frees what the other has sent from, while that one is given new memory: often at the same address, before the first has come
 * back from munmap. */
enum { ROUNDS = 3000, QUEUE = 4 };
static struct {
    pthread_mutex_t lock;
    pthread_cond_t is_new, is_old;
    char *all[QUEUE];
    int n, passed;
} to_free = {.lock = PTHREAD_MUTEX_INITIALIZER, .is_new = PTHREAD_COND_INITIALIZER, .is_old = PTHREAD_COND_INITIALIZER};

static void *free_all(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&to_free.lock);
        while (!to_free.n) pthread_cond_wait(&to_free.is_new, &to_free.lock);
        char *p = to_free.all[--to_free.n];
        pthread_cond_signal(&to_free.is_old);
        pthread_mutex_unlock(&to_free.lock);
        munmap(p, LEN);
    }
    return unused;
}
static void test_threads(void)
{
    static char *seen[ROUNDS];
    int again = 0, n = 0;
    pthread_t t;
    begin();
    CHECK_EQ(pthread_create(&t, NULL, free_all, NULL), 0);
    count();
    for (int i = 0; i < ROUNDS; i++) {
        char *p = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
        int k = 0;
        while (k < n && seen[k] != p) k++;
        again += k < n;
        if (k == n) seen[n++] = p;
        send_new(p, LEN - (size_t)i % 100);
        if (i % 3 == 0) get_new(p, LEN);
        pthread_mutex_lock(&to_free.lock);
        while (to_free.n == QUEUE) pthread_cond_wait(&to_free.is_old, &to_free.lock);
        to_free.all[to_free.n++] = p;
        pthread_cond_signal(&to_free.is_new);
        pthread_mutex_unlock(&to_free.lock);
    }
    pthread_join(t, NULL);
    CHECK(again > ROUNDS / 4); /* else it tested nothing */
    CHECK_EQ(gw_count.registrations - counted.made, ROUNDS + ROUNDS / 3);
    CHECK(gw_count.registrations_gone - counted.gone >= ROUNDS); /* some are gone before they are used */
    end();
}

/* Where the kernel is too old to be asked for one mapping, all are read. */
static void test_text(void)
{
    test_gone(by_unmap, "by_unmap");
    test_whole();
    test_unwatched();
}

int main(void)
{
    if (!card_begin()) return unit_end();
    test_whole();
#define GONE(way) test_gone(way, #way)
    GONE(by_unmap), GONE(by_unmap_of_part), GONE(by_unmap_of_end), GONE(by_map_over), GONE(by_move_away), GONE(by_move_of_pages);
    GONE(by_move_here), GONE(by_shrinking), GONE(by_dontneed), GONE(by_free);
    test_file_over();
    test_fork();
    test_unwatched();
    test_threads();
    in_child(SYS_ioctl, _IOC(_IOC_READ | _IOC_WRITE, 'f', 17, 104), ENOTTY, test_text,
             "lane 3: registrations of memory are kept, at most 1024");
    return unit_end();
}
