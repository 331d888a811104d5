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
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
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
    CHECK_EQ(gw_file_append(in_dir("new"), &f), 0);
    CHECK(fputs("three\n", f.to) >= 0);
    CHECK_EQ(gw_file_finish(&f), 0);
    CHECK_STR(content(in_dir("new")), "two\nthree\n");
    CHECK(gw_file_append(in_dir("none"), &f) == ENOENT && !f.to);
    CHECK_EQ(chdir(dir), 0);
    CHECK_EQ(write_all("here", "here\n"), 0);
    CHECK_STR(content(in_dir("here")), "here\n");
    unlink(in_dir("here"));
}

/* A link that a stranger has left there, to a file, to nothing, to a folder; a file that has another name, too. */
static void test_links(void)
{
    struct gw_new_file f;
    put(in_dir("mine"), "mine\n");
    CHECK_EQ(symlink(in_dir("mine"), in_dir("link")), 0);
    CHECK_EQ(write_all(in_dir("link"), "bad\n"), ELOOP);
    CHECK(gw_file_append(in_dir("link"), &f) == ELOOP);
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
    CHECK(gw_file_append(in_dir("link"), &f) == EPERM);
    unlink(in_dir("link"));
    unlink(in_dir("mine"));
    CHECK_EQ(files(), 1);
}

static int open_put(const char *path, unsigned how, const char *text)
{
    int fd = gw_file_open(path, how), why = errno;
    if (fd < 0) return why;
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    CHECK_EQ((long)write(fd, text, strlen(text)), (long)strlen(text));
    CHECK_EQ(close(fd), 0);
    return 0;
}

/* What is written as it comes. */
static void test_open(void)
{
    struct stat was, is;
    CHECK_EQ(open_put(in_dir("o"), 0, "long line\n"), 0);
    CHECK(stat(in_dir("o"), &was) == 0);
    CHECK_EQ(open_put(in_dir("o"), 0, "short\n"), 0);
    CHECK_STR(content(in_dir("o")), "short\n");
    CHECK(stat(in_dir("o"), &is) == 0 && is.st_ino == was.st_ino);
    int held = open(in_dir("o"), O_RDONLY | O_CLOEXEC);
    umask(0);
    CHECK_EQ(open_put(in_dir("o"), GW_FILE_FRESH, "new\n"), 0); /* who reads or maps the old one keeps it */
    CHECK(fstat(held, &was) == 0 && was.st_size == 6 && stat(in_dir("o"), &is) == 0 && is.st_ino != was.st_ino);
    CHECK_EQ((int)(is.st_mode & 0777), 0644);
    umask(027);
    close(held);
    CHECK_EQ(link(in_dir("o"), in_dir("other")), 0);
    CHECK_EQ(open_put(in_dir("o"), 0, "alone\n"), 0);
    CHECK_STR(content(in_dir("other")), "new\n");
    unlink(in_dir("other"));
    unlink(in_dir("o"));
    CHECK_EQ(open_put(in_dir("a/b/o"), 0, ""), ENOENT);
    CHECK_EQ(open_put(in_dir("a//./b/../b/o"), GW_FILE_FOLDERS, "deep\n"), 0);
    CHECK_STR(content(in_dir("a/b/o")), "deep\n");
    CHECK_EQ(symlink("a/b", in_dir("way")), 0); /* a link of ours to a folder */
    CHECK_EQ(open_put(in_dir("way/o"), 0, "by a link\n"), 0);
    CHECK_STR(content(in_dir("a/b/o")), "by a link\n");
    CHECK_EQ(write_all(in_dir("way/../b/o"), "report\n"), 0);
    CHECK_EQ(symlink("round", in_dir("round")), 0);
    CHECK_EQ(open_put(in_dir("round/o"), 0, ""), ELOOP);
    CHECK_EQ(open_put(in_dir("way"), 0, ""), ELOOP);
    CHECK_EQ(open_put(in_dir("a/b/"), 0, ""), EISDIR);
    CHECK_EQ(open_put("/", 0, ""), EISDIR);
    CHECK_EQ(open_put("..", 0, ""), EISDIR);
    CHECK_EQ(open_put("", 0, ""), ENOENT);
    CHECK_EQ(open_put("/dev/null", 0, "x"), 0);
    CHECK_EQ(open_put("/dev/null", GW_FILE_FRESH, "x"), GW_FILE_KIND);
    CHECK_EQ(gw_file_may(in_dir("way/new"), 0), 0);
    CHECK_EQ(gw_file_may(in_dir("round"), 0), ELOOP);
    CHECK_EQ(gw_file_may(in_dir("none/x"), 0), ENOENT);
    CHECK_EQ(gw_file_may("/proc/x", 0), ENOENT); /* where not even root creates a file */
    CHECK_EQ(gw_file_may("/proc/x/y", GW_FILE_FOLDERS), ENOENT);
    CHECK_EQ(gw_file_may("/dev/stderr", 0), 0);
    CHECK_EQ(gw_file_may("/dev/null", 0), 0);
    CHECK_EQ(gw_file_may("/dev/null", GW_FILE_FRESH), GW_FILE_KIND);
    CHECK(access(in_dir("way/new"), F_OK) != 0);
    unlink(in_dir("round"));
    unlink(in_dir("way"));
    unlink(in_dir("a/b/o"));
    CHECK(rmdir(in_dir("a/b")) == 0 && rmdir(in_dir("a")) == 0);
}

/* A pipe of ours: who reads it may come later; and what this process was given as a descriptor. */
static void test_pipes(void)
{
    int p[2];
    char name[40], text[8] = "";
    CHECK_EQ(mkfifo(in_dir("pipe"), 0600), 0);
    pid_t reader = fork();
    if (reader == 0) {
        usleep(100000);
        int fd = open(in_dir("pipe"), O_RDONLY);
        _exit(read(fd, text, 3) == 3 && memcmp(text, "abc", 3) == 0 ? 0 : 1);
    }
    int status = -1;
    CHECK_EQ(open_put(in_dir("pipe"), 0, "abc"), 0);
    CHECK(waitpid(reader, &status, 0) == reader && status == 0);
    CHECK_EQ(write_all(in_dir("pipe"), ""), ENXIO);
    unlink(in_dir("pipe"));
    CHECK_EQ(pipe(p), 0);
    snprintf(name, sizeof name, "/dev/fd/%d", p[1]);
    CHECK_EQ(open_put(name, 0, "def"), 0);
    CHECK(read(p[0], text, 3) == 3 && memcmp(text, "def", 3) == 0);
    close(p[0]);
    close(p[1]);
}

/* As another user, in a folder that all can write to, sticky or not: what a stranger (root is none, so number 65533) has laid there. */
static void as_another(void)
{
    struct stat st;
    CHECK(setgid(65534) == 0 && setuid(65534) == 0);
    CHECK_EQ(open_put(in_dir("sticky/file"), 0, "x"), GW_FILE_THEIRS);
    CHECK_EQ(open_put(in_dir("sticky/file"), GW_FILE_FRESH, "x"), GW_FILE_THEIRS);
    CHECK_EQ(write_all(in_dir("sticky/file"), "x"), GW_FILE_THEIRS);
    CHECK_EQ(gw_file_may(in_dir("sticky/file"), 0), GW_FILE_THEIRS);
    CHECK_EQ(gw_file_may(in_dir("sticky/pipe"), 0), GW_FILE_THEIRS);
    CHECK_EQ(open_put(in_dir("sticky/pipe"), 0, "x"), GW_FILE_THEIRS);
    CHECK(write_all(in_dir("sticky/pipe"), "x") != 0);
    CHECK_EQ(open_put(in_dir("sticky/folder/x"), GW_FILE_FOLDERS, "x"), GW_FILE_FOLDER);
    CHECK_EQ(open_put(in_dir("sticky/way/x"), GW_FILE_FOLDERS, "x"), GW_FILE_LINK);
    CHECK_EQ(open_put(in_dir("sticky/mine/x"), GW_FILE_FOLDERS, "x"), 0);
    CHECK_EQ(open_put(in_dir("sticky/roots/way/y"), 0, "x"), 0); /* root's link */
    CHECK_STR(content(in_dir("sticky/mine/y")), "x");
    CHECK_EQ(open_put(in_dir("all/file"), 0, "x"), 0); /* replaced */
    CHECK(stat(in_dir("all/file"), &st) == 0 && st.st_uid == 65534);
    CHECK_EQ(open_put(in_dir("all/folder/x"), 0, "x"), GW_FILE_FOLDER);
    CHECK_STR(content(in_dir("sticky/file")), "theirs");
    /* A folder of a group: what another member lets us write is written, and stays his; what he does not, stays. */
    CHECK_EQ(open_put(in_dir("group/file"), 0, "x"), 0);
    CHECK(stat(in_dir("group/file"), &st) == 0 && st.st_uid == 65533 && st.st_size == 1);
    CHECK_EQ(open_put(in_dir("group/kept"), 0, "x"), EACCES);
    CHECK_EQ(open_put(in_dir("group/file"), GW_FILE_FRESH, "x"), GW_FILE_THEIRS);
    CHECK(stat(in_dir("group/kept"), &st) == 0 && st.st_size == 6);
    unlink(in_dir("sticky/mine/x"));
    unlink(in_dir("sticky/mine/y"));
    rmdir(in_dir("sticky/mine"));
    _exit(unit_end());
}

static void theirs(const char *path) { CHECK_EQ(lchown(path, 65533, 65533), 0); }

static void test_strangers(void)
{
    if (geteuid() != 0) return;
    int status = -1;
    umask(0);
    CHECK_EQ(chmod(dir, 0755), 0);
    CHECK(mkdir(in_dir("sticky"), 0777) == 0 && chmod(in_dir("sticky"), 01777) == 0 && mkdir(in_dir("all"), 0777) == 0);
    CHECK(mkdir(in_dir("sticky/folder"), 0777) == 0 && mkdir(in_dir("all/folder"), 0777) == 0 &&
          mkdir(in_dir("sticky/roots"), 0755) == 0);
    put(in_dir("sticky/file"), "theirs");
    put(in_dir("all/file"), "theirs");
    CHECK(mkfifo(in_dir("sticky/pipe"), 0666) == 0 && symlink("/tmp", in_dir("sticky/way")) == 0 &&
          symlink("../mine", in_dir("sticky/roots/way")) == 0);
    CHECK(mkdir(in_dir("group"), 0770) == 0);
    put(in_dir("group/file"), "theirs");
    put(in_dir("group/kept"), "theirs");
    CHECK(chmod(in_dir("group/file"), 0664) == 0 && chmod(in_dir("group/kept"), 0644) == 0);
    static const char *const of_group[] = {"group", "group/file", "group/kept"};
    for (size_t i = 0; i < 3; i++) CHECK_EQ(lchown(in_dir(of_group[i]), 65533, 65534), 0);
    static const char *const all[] = {"sticky/file", "sticky/folder", "sticky/pipe", "sticky/way", "all/file", "all/folder"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) theirs(in_dir(all[i]));
    pid_t child = fork();
    if (child == 0) as_another();
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (unlink(in_dir(all[i])) != 0) CHECK_EQ(rmdir(in_dir(all[i])), 0);
    for (size_t i = 3; i-- > 0;)
        if (unlink(in_dir(of_group[i])) != 0) CHECK_EQ(rmdir(in_dir(of_group[i])), 0);
    unlink(in_dir("sticky/roots/way"));
    CHECK(rmdir(in_dir("sticky/roots")) == 0 && rmdir(in_dir("sticky")) == 0 && rmdir(in_dir("all")) == 0);
    umask(027);
}

/* A file that somebody empties while it is written goes on from its begin, without a hole. */
static void test_at_end(void)
{
    const unsigned hows[] = {0, GW_FILE_AT_END};
    for (int i = 0; i < 4; i++) { /* a new file, then one that is there */
        int fd = gw_file_open(in_dir("log"), hows[i % 2]);
        CHECK(fd >= 0 && write(fd, "one", 3) == 3 && truncate(in_dir("log"), 0) == 0 && write(fd, "two", 3) == 3);
        struct stat st;
        CHECK(fstat(fd, &st) == 0);
        CHECK_EQ(st.st_size, i % 2 ? 3 : 6);
        close(fd);
        if (i == 1) unlink(in_dir("log"));
    }
    unlink(in_dir("log"));
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
    pid_t writer = fork();                                                     /* who comes late, and goes on late */
    if (writer == 0) {
        usleep(100000);
        int fd = open(in_dir("fifo"), O_WRONLY);
        bool is_half = write(fd, "ab", 2) == 2;
        usleep(100000);
        _exit(is_half && write(fd, "c", 1) == 1 ? 0 : 1);
    }
    CHECK(gw_file_read(in_dir("fifo"), 9, true, &text) == NULL);
    CHECK_STR(text, "abc");
    free(text);
    CHECK(waitpid(writer, &p[0], 0) == writer && p[0] == 0);
    unlink(in_dir("fifo"));
    unlink(in_dir("text"));
}

/* Parts of a file that somebody shortens meanwhile: no signal, but nothing. */
static void test_image(void)
{
    struct gw_image im;
    char many[9000];
    memset(many, 'x', sizeof many);
    memcpy(many, "begin", 6);
    many[8000] = 0;
    many[sizeof many - 1] = 0;
    put(in_dir("image"), "");
    CHECK(!gw_image_open(in_dir("image"), &im) && !gw_image_open(in_dir("none"), &im) && !gw_image_open(dir, &im));
    int fd = open(in_dir("image"), O_WRONLY | O_CLOEXEC);
    CHECK(write(fd, many, sizeof many - 1) == sizeof many - 1);
    CHECK(gw_image_open(in_dir("image"), &im));
    CHECK_EQ((long)im.bytes, 8999);
    CHECK_STR(gw_image_text(&im, 0), "begin");
    CHECK_EQ((long)strlen(gw_image_text(&im, 100)), 7900);
    CHECK(gw_image_text(&im, 8500) == NULL && gw_image_text(&im, 9000) == NULL); /* it does not end */
    CHECK(gw_image_part(&im, 8990, 9) != NULL && gw_image_part(&im, 8990, 10) == NULL && gw_image_part(&im, UINT64_MAX, 2) == NULL);
    CHECK_EQ(ftruncate(fd, 100), 0);
    CHECK(gw_image_part(&im, 5000, 100) == NULL && gw_image_part(&im, 0, 100) != NULL && gw_image_text(&im, 6000) == NULL);
    gw_image_close(&im);
    close(fd);
    unlink(in_dir("image"));
}

/* A stored text is read; one byte that is another, a line that is gone, are found, and where. */
static void test_store(void)
{
    static const char stored[] = "# head\nbcast | 4\n\nlast without an end";
    char *text = NULL, *was = NULL;
    CHECK_EQ(gw_file_store(in_dir("s"), stored), 0);
    const char *why = gw_file_read(in_dir("s"), 4096, false, &was);
    CHECK(!why && strstr(was, "\n# head\nbcast | 4\n\nlast without an end\n# Sums"));
    for (size_t i = 0; was && was[i]; i++) {
        int line = 1;
        char want[40];
        for (size_t k = 0; k < i; k++) line += was[k] == '\n';
        if (i < 6 || was[i] == '\n' || (line == 1 && i >= 22)) continue; /* words of a comment; nothing is lost */
        was[i] ^= 1;
        put(in_dir("s"), was);
        why = gw_file_read(in_dir("s"), 4096, false, &text);
        if (line == 1 || line == 6)
            CHECK(why && strncmp(why, "it is damaged: ", 15) == 0);
        else {
            snprintf(want, sizeof want, "it is damaged: line %d is not", line);
            CHECK(why && strncmp(why, want, strlen(want)) == 0);
        }
        was[i] ^= 1;
    }
    char *cut = was ? strstr(was, "\n\nlast") : NULL;
    CHECK(cut != NULL);
    if (cut) cut[1] = 0;
    put(in_dir("s"), was);
    CHECK_STR(gw_file_read(in_dir("s"), 4096, false, &text), "it is damaged: of 5 lines below the first 2 are there");
    put(in_dir("s"), strchr(was, '\n') + 1); /* changed by hand, and said so */
    CHECK(!gw_file_read(in_dir("s"), 4096, false, &text));
    CHECK_STR(text, "# head\nbcast | 4\n");
    free(text);
    free(was);
    CHECK_EQ(gw_file_store(in_dir("s"), ""), 0);
    CHECK(!gw_file_read(in_dir("s"), 4096, false, &text));
    free(text);
    CHECK_EQ(gw_file_store(in_dir("no/s"), ""), ENOENT);
    unlink(in_dir("s"));
}

static const char *why_not(const char *before, const char *text, int n, const char *behind)
{
    char *all, *read = NULL;
    CHECK(asprintf(&all, "%s%.*s%s", before, n, text, behind) >= 0);
    put(in_dir("s"), all);
    const char *why = gw_file_read(in_dir("s"), 8192, false, &read);
    if (!why) free(read);
    free(all);
    return why ? why : "";
}

/* A stored text with something before or behind it, cut at each byte, or twice. */
static void test_store_parts(void)
{
    char *was = NULL;
    CHECK_EQ(gw_file_store(in_dir("s"), "a\nb\n"), 0);
    CHECK(!gw_file_read(in_dir("s"), 4096, false, &was));
    int n = (int)strlen(was), head = (int)strcspn(was, "\n");
    CHECK_STR(why_not("", was, n, ""), "");
    CHECK_STR(why_not("", was, n, "x"), "it is damaged: line 5 is not what was written; after a change by hand, remove line 1");
    CHECK_STR(why_not("", was, n, "x\n"), "it is damaged: line 5 is not what was written; after a change by hand, remove line 1");
    CHECK_STR(why_not("", was, n, "\n"), "it is damaged: line 5 is not what was written; after a change by hand, remove line 1");
    CHECK_STR(why_not("", was, n, was), "it is damaged: line 5 is not what was written; after a change by hand, remove line 1");
    CHECK_STR(why_not("x", was, n, ""),
              "it is damaged: what was written begins in line 1, behind something else; remove that line after a change by hand");
    CHECK_STR(why_not("\nx\n", was, n, ""),
              "it is damaged: what was written begins in line 3, behind something else; remove that line after a change by hand");
    CHECK_STR(why_not(was + head + 1, was, n, ""),
              "it is damaged: what was written begins in line 4, behind something else; remove that line after a change by hand");
    for (int i = 3; i < n; i++) {
        const char *why = why_not("", was, i, "");
        CHECK(strncmp(why, "it is damaged: ", 15) == 0 && strpbrk(why + 15, "0123456789"));
    }
    free(was);
    unlink(in_dir("s"));
}

int main(void)
{
    CHECK(mkdtemp(dir) != NULL);
    test_whole();
    test_links();
    test_open();
    test_pipes();
    test_strangers();
    test_at_end();
    test_full();
    test_read();
    test_store();
    test_store_parts();
    test_image();
    unlink(in_dir("new"));
    CHECK_EQ(rmdir(dir), 0);
    return unit_end();
}
