/* file_open.c -- the one way by which a file that is written is opened (file.h).
 *
 * From the root, or from where the process is, folder by folder, each opened beside the one before without following links: what was looked
 * at is what is entered, whoever renames what meanwhile.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file_private.h"

enum { MOST_LINKS = 40, TURNS = 100, TURN_MS = 50, FOLDER = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

static bool is_ours(const struct stat *st) { return st->st_uid == geteuid() || st->st_uid == 0; }

/* Its links lead where who set up the machine wants.  In a user's own namespace that is nobody's number, as that of all other users. */
static bool is_systems(const struct stat *st)
{
    struct stat root;
    return stat("/", &root) == 0 && st->st_uid == root.st_uid;
}

bool file_is_others(const struct file_folder *in, const struct stat *st) { return in->is_open && !is_ours(st); }

/* The folder becomes this one.  0 or an error; `fd` is taken over. */
static int enter(struct file_folder *in, int fd, bool may_be_theirs)
{
    struct stat st;
    if (fd < 0) return errno;
    int err = fstat(fd, &st) != 0 ? errno : !may_be_theirs && file_is_others(in, &st) ? GW_FILE_FOLDER : 0;
    if (err) {
        close(fd);
        return err;
    }
    if (in->fd >= 0) close(in->fd);
    *in = (struct file_folder){fd, (st.st_mode & S_IWOTH) != 0, (st.st_mode & S_ISVTX) != 0};
    return 0;
}

/* Into the folder `name`; a link: where it leads in *link_out, which the caller frees. */
static int step(struct file_folder *in, const char *name, bool with_folders, char **link_out)
{
    struct stat st;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return enter(in, openat(in->fd, name, FOLDER), true);
    int rc = fstatat(in->fd, name, &st, AT_SYMLINK_NOFOLLOW);
    if (rc != 0 && errno == ENOENT && with_folders && (mkdirat(in->fd, name, 0777) == 0 || errno == EEXIST))
        rc = fstatat(in->fd, name, &st, AT_SYMLINK_NOFOLLOW);
    if (rc != 0) return errno;
    if (!S_ISLNK(st.st_mode)) return enter(in, openat(in->fd, name, FOLDER), false);
    if (!is_ours(&st) && (in->is_open || !is_systems(&st))) return GW_FILE_LINK;
    char *to = calloc(1, PATH_MAX);
    ssize_t n = to ? readlinkat(in->fd, name, to, PATH_MAX - 1) : -1;
    if (n > 0) {
        *link_out = to;
        return 0;
    }
    int err = !to ? ENOMEM : n == 0 ? ENOENT : errno;
    free(to);
    return err;
}

int file_folder_open(const char *path, bool with_folders, struct file_folder *in_out, char name_out[FILE_NAME])
{
    int links = 0, err;
    char *left = strdup(path), *at = left;
    struct file_folder in = {.fd = -1};
    if (!left) return ENOMEM;
    err = *path ? enter(&in, open(*path == '/' ? "/" : ".", FOLDER), true) : ENOENT;
    while (!err) {
        char *link = NULL;
        at += strspn(at, "/");
        size_t n = strcspn(at, "/");
        if (n >= FILE_NAME) err = ENAMETOOLONG;
        if (!err) snprintf(name_out, FILE_NAME, "%.*s", (int)n, at);
        if (err || !at[n]) break;
        err = step(&in, name_out, with_folders, &link);
        at += n;
        if (!link) continue;
        char *joined = NULL;
        if (++links > MOST_LINKS)
            err = ELOOP;
        else if (asprintf(&joined, "%s%s", link, at) < 0)
            joined = NULL, err = ENOMEM;
        else if (*link == '/')
            err = enter(&in, open("/", FOLDER), true);
        free(link);
        free(left);
        at = left = joined;
    }
    free(left);
    if (!err && (!*name_out || strcmp(name_out, ".") == 0 || strcmp(name_out, "..") == 0)) err = EISDIR;
    if (err && in.fd >= 0) close(in.fd);
    if (!err) *in_out = in;
    return err;
}

int file_standard_open(const char *path)
{
    static const char numbers[] = "/dev/fd/";
    int fd = -1;
    if (strcmp(path, "/dev/stdout") == 0) fd = 1;
    if (strcmp(path, "/dev/stderr") == 0) fd = 2;
    if (strncmp(path, numbers, sizeof numbers - 1) == 0) {
        char *end;
        long n = strtol(path + sizeof numbers - 1, &end, 10);
        if (path[sizeof numbers - 1] && !*end && n >= 0 && n < INT_MAX) fd = (int)n;
    }
    return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

/* A pipe that nobody reads yet is waited for where it is ours.  A descriptor; -1: errno. */
static int there_open(const struct file_folder *in, const char *name, int flags, bool is_waiting)
{
    struct stat st;
    for (int turn = 0;; turn++) {
        int fd = openat(in->fd, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | flags);
        if (fd >= 0 || errno != ENXIO) return fd;
        bool is_pipe = fstatat(in->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISFIFO(st.st_mode);
        errno = is_pipe && !is_ours(&st) ? GW_FILE_THEIRS : ENXIO;
        if (!is_pipe || !is_ours(&st) || !is_waiting || turn == TURNS) return -1;
        poll(NULL, 0, TURN_MS);
    }
}

int file_there_open(const struct file_folder *in, const char *name, int flags, unsigned fit)
{
    struct stat st;
    int fd = there_open(in, name, flags, fit & FILE_WAIT);
    if (fd < 0) return -1;
    bool is_known = fstat(fd, &st) == 0, is_file = is_known && S_ISREG(st.st_mode);
    bool is_fit = is_known &&
        (S_ISCHR(st.st_mode) || (S_ISFIFO(st.st_mode) && is_ours(&st)) ||
         (is_file && fit & FILE_REGULAR && is_ours(&st) && st.st_nlink == 1));
    if (is_fit && (!is_file || flags & O_APPEND || ftruncate(fd, 0) == 0) && fcntl(fd, F_SETFL, flags & O_APPEND) == 0) return fd;
    close(fd);
    errno = !is_known || is_fit                         ? EIO
        : is_file && fit & FILE_REGULAR && is_ours(&st) ? EPERM
        : is_ours(&st)                                  ? GW_FILE_KIND
                                                        : GW_FILE_THEIRS;
    return -1;
}

/* Another user's file in a folder to which those have access whom its owner trusts: as a shell writes to it, if it lets us; it stays his. */
static int theirs_open(const struct file_folder *in, const char *name)
{
    struct stat st;
    int fd = openat(in->fd, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK), err = 0;
    if (fd < 0) return -1;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1)
        err = GW_FILE_THEIRS;
    else if (ftruncate(fd, 0) != 0 || fcntl(fd, F_SETFL, 0) != 0)
        err = errno;
    if (!err) return fd;
    close(fd);
    errno = err;
    return -1;
}

/* In a folder that was looked at.  A descriptor; -1: errno. */
static int open_in(const struct file_folder *in, const char *name, unsigned how)
{
    struct stat st;
    for (int turn = 0; turn < 3; turn++) {
        if (fstatat(in->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
            bool is_file = S_ISREG(st.st_mode);
            errno = S_ISLNK(st.st_mode) ? ELOOP : EISDIR;
            if (S_ISLNK(st.st_mode) || S_ISDIR(st.st_mode)) return -1;
            if (how & GW_FILE_FRESH && !is_file) {
                errno = GW_FILE_KIND;
                return -1;
            }
            if (!is_file) return file_there_open(in, name, 0, FILE_WAIT);
            if (!(how & GW_FILE_FRESH) && is_ours(&st) && st.st_nlink == 1) return file_there_open(in, name, 0, FILE_REGULAR);
            if (!is_ours(&st) && !in->is_open && !(how & GW_FILE_FRESH)) return theirs_open(in, name);
            if (!is_ours(&st) && (in->is_sticky || !in->is_open)) {
                errno = GW_FILE_THEIRS;
                return -1;
            }
            if (unlinkat(in->fd, name, 0) != 0 && errno != ENOENT) return -1;
        }
        int fd = openat(in->fd, name, (how & GW_FILE_FRESH ? O_RDWR : O_WRONLY) | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                        how & GW_FILE_FRESH ? 0644 : 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

int gw_file_open(const char *path, unsigned how)
{
    struct file_folder in;
    char name[FILE_NAME];
    int fd = how & GW_FILE_FRESH ? -1 : file_standard_open(path), err;
    if (fd >= 0) return fd;
    if ((err = file_folder_open(path, how & GW_FILE_FOLDERS, &in, name)) == 0) {
        fd = open_in(&in, name, how);
        err = errno;
        if (fd >= 0 && how & GW_FILE_AT_END) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_APPEND);
        close(in.fd);
    }
    errno = err;
    return fd;
}

/* Rights do not tell: nobody can create a file in /proc, root included. */
static int try_file(const struct file_folder *in)
{
    char temp[FILE_NAME];
    int fd = file_temp_open(in, temp);
    if (fd < 0) return errno;
    close(fd);
    unlinkat(in->fd, temp, 0);
    return 0;
}

int gw_file_may(const char *path, unsigned how)
{
    struct file_folder in;
    struct stat st;
    char name[FILE_NAME];
    int fd = how & GW_FILE_FRESH ? -1 : file_standard_open(path);
    if (fd >= 0) {
        close(fd);
        return 0;
    }
    int err = file_folder_open(path, how & GW_FILE_FOLDERS, &in, name);
    if (err) return err;
    bool is_there = fstatat(in.fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (is_there && (S_ISLNK(st.st_mode) || S_ISDIR(st.st_mode)))
        err = S_ISLNK(st.st_mode) ? ELOOP : EISDIR;
    else if (is_there && S_ISREG(st.st_mode) && file_is_others(&in, &st) && in.is_sticky)
        err = GW_FILE_THEIRS;
    else if (how & GW_FILE_FRESH && is_there && !S_ISREG(st.st_mode))
        err = GW_FILE_KIND;
    else if (is_there && S_ISFIFO(st.st_mode) && !is_ours(&st))
        err = GW_FILE_THEIRS;
    else if (!(is_there && faccessat(in.fd, name, W_OK, 0) == 0))
        err = faccessat(in.fd, ".", W_OK, 0) != 0 ? errno : try_file(&in);
    close(in.fd);
    return err;
}

const char *gw_file_why(int err)
{
    assert(err > 0);
    switch (err) {
    case ELOOP: return "it is a link, which is not followed: name the file itself";
    case EFBIG: return "File too large (limit: ulimit -f)";
    case ENXIO: return "nobody reads that pipe, or there is no such device";
    case GW_FILE_THEIRS: return "what is there is another user's: name another file";
    case GW_FILE_FOLDER: return "a folder above it is another user's, in one that others can write to: name another file";
    case GW_FILE_LINK: return "a folder above it is another user's link, which is not followed: name another file";
    case GW_FILE_KIND: return "it is neither a file, nor a terminal or the like, nor a pipe of yours";
    default: return strerror(err);
    }
}
