/* file_test.c -- reports are written whole or not at all, and where others may write no link and no file of theirs is; files that are read
 * have an end.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../test/unit.h"

static char dir[] = "/tmp/gw-file-XXXXXX";

static const char *in_dir(const char *name)
{
    static char path[4][400];
    static int next;
    char *to = path[next++ % 4];
    snprintf(to, sizeof path[0], "%s/%s", dir, name);
    return to;
}

static const char *content(const char *path)
{
    static char text[256];
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) fclose(f);
    text[n] = 0;
    return f ? text : "(not there)";
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static int files(void)
{
    int n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (d) closedir(d);
    return n;
}

static int write_all(const char *path, const char *text)
{
    struct gw_new_file f;
    int rc = gw_file_create(path, &f);
    if (rc) return rc;
    CHECK(fcntl(fileno(f.to), F_GETFD) & FD_CLOEXEC);
    CHECK(fputs(text, f.to) >= 0);
    return gw_file_finish(&f);
}

static void test_whole(void)
{
    struct gw_new_file f;
    struct stat st;
    char longest[256];
    umask(027);
    CHECK_EQ(write_all(in_dir("new"), "one\n"), 0);
    CHECK_STR(content(in_dir("new")), "one\n");
    CHECK(stat(in_dir("new"), &st) == 0 && (st.st_mode & 0777) == 0640);
    CHECK_EQ(gw_file_create(in_dir("new"), &f), 0);
    CHECK(fputs("two\n", f.to) >= 0);
    CHECK_STR(content(in_dir("new")), "one\n"); /* until it is done */
    CHECK_EQ(gw_file_finish(&f), 0);
    CHECK_STR(content(in_dir("new")), "two\n");
    memset(longest, 'x', 255);
    longest[255] = 0;
    CHECK_EQ(write_all(in_dir(longest), "long\n"), 0);
    CHECK_STR(content(in_dir(longest)), "long\n");
    unlink(in_dir(longest));
    CHECK_EQ(files(), 1);
    CHECK_EQ(write_all(in_dir("no/such"), ""), ENOENT);
    CHECK_EQ(write_all(dir, ""), EISDIR);
    FILE *a = gw_file_append(in_dir("new"));
    CHECK(a && fputs("three\n", a) >= 0 && fclose(a) == 0);
    CHECK_STR(content(in_dir("new")), "two\nthree\n");
    CHECK(gw_file_append(in_dir("none")) == NULL && errno == ENOENT);
    CHECK_EQ(chdir(dir), 0);
    CHECK_EQ(write_all("here", "here\n"), 0);
    CHECK_STR(content(in_dir("here")), "here\n");
    unlink(in_dir("here"));
}

/* A link that a stranger has left there, to a file, to nothing, to a folder; a file that has another name, too. */
static void test_links(void)
{
    put(in_dir("mine"), "mine\n");
    CHECK_EQ(symlink(in_dir("mine"), in_dir("link")), 0);
    CHECK_EQ(write_all(in_dir("link"), "bad\n"), ELOOP);
    CHECK(gw_file_append(in_dir("link")) == NULL && errno == ELOOP);
    CHECK_STR(content(in_dir("mine")), "mine\n");
    unlink(in_dir("link"));
    CHECK_EQ(symlink(in_dir("later"), in_dir("link")), 0);
    CHECK_EQ(write_all(in_dir("link"), "bad\n"), ELOOP);
    CHECK_STR(content(in_dir("later")), "(not there)");
    unlink(in_dir("link"));
    CHECK_EQ(link(in_dir("mine"), in_dir("link")), 0);
    CHECK_EQ(write_all(in_dir("link"), "new\n"), 0); /* the other name keeps what it had */
    CHECK_STR(content(in_dir("mine")), "mine\n");
    CHECK_STR(content(in_dir("link")), "new\n");
    unlink(in_dir("link"));
    CHECK_EQ(link(in_dir("mine"), in_dir("link")), 0);
    CHECK(gw_file_append(in_dir("link")) == NULL && errno == EPERM);
    unlink(in_dir("link"));
    unlink(in_dir("mine"));
    CHECK_EQ(files(), 1);
}

/* What cannot be written leaves what was there. */
static void test_full(void)
{
    struct gw_new_file f;
    CHECK_EQ(write_all("/dev/null", "gone\n"), 0);
    CHECK_EQ(write_all("/dev/full", "no room\n"), ENOSPC);
    struct stat st;
    CHECK(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
    CHECK_EQ(gw_file_create(in_dir("new"), &f), 0);
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    CHECK(dup3(full, fileno(f.to), O_CLOEXEC) >= 0); /* the disk is full */
    close(full);
    CHECK(fputs("no room\n", f.to) >= 0);
    CHECK_EQ(gw_file_finish(&f), ENOSPC);
    CHECK_STR(content(in_dir("new")), "two\nthree\n");
    CHECK_EQ(files(), 1);
}

static void test_read(void)
{
    char *text = NULL;
    int p[2];
    char name[64];
    put(in_dir("text"), "a\nb");
    CHECK(gw_file_read(in_dir("text"), 3, false, &text) == NULL);
    CHECK_STR(text ? text : "", "a\nb");
    free(text);
    CHECK_STR(gw_file_read(in_dir("text"), 2, false, &text), "it is too long to be one");
    put(in_dir("text"), "");
    CHECK(gw_file_read(in_dir("text"), 0, false, &text) == NULL && text[0] == 0);
    free(text);
    CHECK_STR(gw_file_read("/dev/zero", 1 << 20, true, &text), "it is no file");
    CHECK_STR(gw_file_read(dir, 1 << 20, true, &text), "it is no file");
    CHECK_STR(gw_file_read(in_dir("none"), 9, true, &text), "No such file or directory");
    CHECK_STR(gw_file_read("/proc/self/cmdline", 1 << 20, false, &text), "it has bytes of 0: it is no text");
    CHECK_EQ(pipe(p), 0);
    CHECK(write(p[1], "piped", 5) == 5 && close(p[1]) == 0);
    snprintf(name, sizeof name, "/proc/self/fd/%d", p[0]);
    CHECK_STR(gw_file_read(name, 9, false, &text), "it is no file");
    CHECK(gw_file_read(name, 9, true, &text) == NULL);
    CHECK_STR(text ? text : "", "piped");
    free(text);
    close(p[0]);
    CHECK_EQ(mkfifo(in_dir("fifo"), 0600), 0);
    CHECK_STR(gw_file_read(in_dir("fifo"), 9, false, &text), "it is no file"); /* and nobody waits for a writer */
    unlink(in_dir("fifo"));
    unlink(in_dir("text"));
}

int main(void)
{
    CHECK(mkdtemp(dir) != NULL);
    test_whole();
    test_links();
    test_full();
    test_read();
    unlink(in_dir("new"));
    CHECK_EQ(rmdir(dir), 0);
    return unit_end();
}
