/* share_test.c -- a file that processes share: made, opened by others under /proc and by a port, recognised, refused, mapped at
 * an alignment and in place of something else.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "share/share.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/os.h"
#include "unit_child.h"

enum { BYTES = 300000, OTHERS = 3, MIB = 1 << 20 };
static const struct share_words words = {"godwit-test", "the thing", "the things of all", "; set THING lower"};

static struct share_file file_of(uint64_t bytes, uint64_t page)
{
    struct share_file f = share_new();
    f.page = page;
    CHECK_EQ(share_make(&words, bytes, &f), GW_OK);
    return f;
}

static void mapped(uint64_t page, uint64_t align)
{
    struct share_file f = file_of(BYTES, page);
    char *base = NULL, *again = NULL, *place = gw_place(2 * gw_page_bytes(), gw_page_bytes(), 0);
    int fd = -1;
    CHECK(f.bytes >= BYTES + f.head && f.head >= gw_page_bytes());
    CHECK_EQ(share_map(&words, &f, f.fd, align, &base), GW_OK);
    CHECK(((uintptr_t)base + f.head) % (align > page ? align : page ? page : 1) == 0);
    for (uint64_t i = 0; i < BYTES; i += 1000) CHECK_EQ(base[f.head + i], 0);
    CHECK_EQ(share_reserve(&words, &f, f.fd, gw_page_bytes(), gw_page_bytes()), GW_OK);
    struct stat st;
    CHECK(fstat(f.fd, &st) == 0 && st.st_blocks > 0);
    CHECK_EQ(share_open(&words, &f, f.bytes, &fd), GW_OK);
    CHECK_EQ(share_map(&words, &f, fd, 0, &again), GW_OK);
    CHECK_EQ(share_map_at(&f, fd, gw_page_bytes(), 2 * gw_page_bytes(), place), 0);
    close(fd);
    base[f.head + gw_page_bytes() + 5] = 7;
    CHECK(again[f.head + gw_page_bytes() + 5] == 7 && place[5] == 7);
    place[2 * gw_page_bytes() - 1] = 9;
    CHECK_EQ(base[f.head + 3 * gw_page_bytes() - 1], 9);
    munmap(base, f.bytes);
    munmap(again, f.bytes);
    munmap(place, 2 * gw_page_bytes());
    CHECK(ftruncate(f.fd, 10) != 0 && ftruncate(f.fd, (off_t)f.bytes * 2) != 0); /* sealed */
    close(f.fd);
}

static void other_file(void)
{
    struct share_file f = file_of(BYTES, 0), wrong = f;
    int fd = -1;
    wrong.nonce++;
    CHECK_EQ(share_open(&words, &wrong, f.bytes, &fd), GW_ERMA_SHARED);
    CHECK(strstr(gw_fail_text(), "the thing's memory") && strstr(gw_fail_text(), "something else"));
    CHECK_EQ(share_open(&words, &f, f.bytes + 1, &fd), GW_ERMA_SHARED);
    wrong = f, wrong.inode = 1;
    CHECK_EQ(share_open(&words, &wrong, f.bytes, &fd), GW_ERMA_SHARED);
    wrong = f, wrong.fd = -1;
    CHECK_EQ(share_open(&words, &wrong, f.bytes, &fd), GW_ERMA_SHARED);
    struct stat st;
    CHECK_EQ(fstat(f.fd, &st), 0);
    wrong = f, wrong.inode = st.st_ino, wrong.device = st.st_dev, wrong.nonce++; /* by its number */
    CHECK_EQ(share_open(&words, &wrong, f.bytes, &fd), GW_OK);
    close(fd);
    CHECK_EQ(fd >= 0, 1);
    close(f.fd);
}

static int fetch(const struct share_offer *o)
{
    struct share_fetch s;
    int fd = -1, rc;
    char *base = NULL;
    share_fetch_begin(&s, o);
    while ((rc = share_fetch_step(&s, &words, o, &fd)) == GW_AGAIN) continue;
    if (rc == GW_OK) rc = share_map(&words, &o->file, fd, 0, &base);
    if (rc != GW_OK) return 1;
    base[o->file.head + (uint64_t)getpid() % BYTES] = 1;
    return 0;
}

/* Children fetch what this process shows. */
static void shown(bool is_dumpable)
{
    struct share_offer o = {.file = file_of(BYTES, 0)};
    struct share_show s;
    char *base = NULL;
    pid_t children[OTHERS];
    prctl(PR_SET_DUMPABLE, is_dumpable);
    share_show_begin(&s, OTHERS, &o);
    CHECK_EQ(s.is_open, !is_dumpable || !gw_has_proc());
    CHECK_EQ(o.port.name != 0, s.is_open);
    for (int i = 0; i < OTHERS; i++)
        if ((children[i] = fork()) == 0) {
            close(o.file.fd);
            _exit(fetch(&o));
        }
    int rc;
    while ((rc = share_show_step(&s, &words)) == GW_AGAIN) continue;
    CHECK_EQ(rc, GW_OK);
    share_show_end(&s);
    CHECK_EQ(share_map(&words, &o.file, o.file.fd, 0, &base), GW_OK);
    for (int i = 0; i < OTHERS; i++) {
        int status = -1;
        waitpid(children[i], &status, 0);
        CHECK_EQ(status, 0);
        CHECK_EQ(base[o.file.head + (uint64_t)children[i] % BYTES], 1);
    }
    prctl(PR_SET_DUMPABLE, 1);
    munmap(base, o.file.bytes);
    close(o.file.fd);
}

static int limited(void)
{
    struct rlimit r;
    struct share_file f = share_new();
    getrlimit(RLIMIT_FSIZE, &r);
    r.rlim_cur = MIB;
    setrlimit(RLIMIT_FSIZE, &r);
    CHECK_EQ(share_make(&words, 2 * MIB, &f), GW_ENOMEM);
    CHECK(f.fd == -1 && strstr(gw_fail_text(), "the things of all") && strstr(gw_fail_text(), "ulimit -f") &&
          strstr(gw_fail_text(), "set THING"));
    CHECK_EQ(share_room(&words, 2 * MIB), GW_ENOMEM);
    CHECK_EQ(share_room(&words, (uint64_t)1 << 60), GW_ENOMEM);
    CHECK(strstr(gw_fail_text(), "leaves") && strstr(gw_fail_text(), "set THING"));
    return 0;
}

int main(void)
{
    mapped(0, 0);
    mapped(0, 64 << 10);
    mapped(GW_HUGE_BYTES, 0);
    mapped(GW_HUGE_BYTES, 4 * GW_HUGE_BYTES);
    other_file();
    shown(true);
    shown(false);
    EXPECT_CHILD(limited, 0, "");
    return unit_end();
}
