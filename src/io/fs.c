/* fs.c -- what differs between file systems: stripes of Lustre, locks of NFS, advice to the kernel.
 *
 * Lustre's interface is that of its lustre_user.h (a file's layout is set once, before it has data, and read by ioctl).  Both are tried
 * only where statfs says that it is Lustre.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { LUSTRE = 0x0bd00bd0, NFS = 0x6969, SMB = 0x517b, CIFS = (int)0xff534d42, SMB2 = (int)0xfe534d42 };

/* ---- Lustre ----------------------------------------------------------------------------------------------------------------- */
struct layout { /* Layout of version 1; when it is read, records of the stripes follow. */
    uint32_t magic, pattern;
    uint64_t object[2];
    uint32_t stripe;
    uint16_t stripes, start; /* start: first server; when read, the generation of the layout */
};
_Static_assert(sizeof(struct layout) == 32, "as the kernel has it");
enum { MAGIC_1 = 0x0bd10bd0, MAGIC_3 = 0x0bd30bd0, ROUND_ROBIN = 1, STRIPE_UNIT = 65536, LAYOUT_ROOM = 65536 };
#define SET_LAYOUT    _IOW('f', 154, long)
#define GET_LAYOUT    _IOW('f', 155, long)
#define NO_LAYOUT_YET (O_NOCTTY | FASYNC) /* with O_CREAT: the layout is set afterwards */

static bool is_lustre(const struct statfs *s) { return (uint32_t)s->f_type == LUSTRE; }

static bool folder_is_lustre(const char *name)
{
    struct statfs s;
    char *folder = strdup(name);
    if (!folder) return false;
    char *slash = strrchr(folder, '/');
    if (slash) *(slash == folder ? slash + 1 : slash) = 0;
    bool yes = statfs(slash ? folder : ".", &s) == 0 && is_lustre(&s);
    free(folder);
    return yes;
}

/* If the file system refuses the layout, that is no error: the file has the layout of its folder. */
static void set_layout(int fd, const struct io_hints *h)
{
    struct layout l = {.magic = MAGIC_1, .pattern = ROUND_ROBIN, .start = (uint16_t)h->start};
    l.stripe = (uint32_t)(gw_min64(h->stripe, UINT32_MAX) / STRIPE_UNIT * STRIPE_UNIT);
    l.stripes = (uint16_t)gw_min64(h->stripes, UINT16_MAX);
    ioctl(fd, SET_LAYOUT, &l);
}

static void get_layout(struct gw_file *f)
{
    struct layout *l = gw_xcalloc(1, LAYOUT_ROOM); /* enough for thousands of stripes */
    l->magic = MAGIC_1;
    if (ioctl(f->fd, GET_LAYOUT, l) >= 0 && (l->magic == MAGIC_1 || l->magic == MAGIC_3)) {
        f->hints.stripe = l->stripe;
        f->hints.stripes = l->stripes;
    }
    free(l);
}

/* ---- any -------------------------------------------------------------------------------------------------------------------- */
static int open_again(const char *name, int flags, mode_t permissions)
{
    int fd;
    do fd = open(name, flags, permissions);
    while (fd < 0 && errno == EINTR);
    return fd;
}

int io_fs_open(const char *name, int flags, mode_t permissions, const struct io_hints *h)
{
    bool has_wish = h->stripe > 0 || h->stripes > 0 || h->start >= 0;
    if (!(flags & O_CREAT) || !has_wish || access(name, F_OK) == 0 || !folder_is_lustre(name))
        return open_again(name, flags, permissions);
    int fd = open_again(name, flags | NO_LAYOUT_YET, permissions);
    if (fd >= 0) set_layout(fd, h);
    return fd;
}

/* Opened through the descriptor, because the name may refer to another file by now. */
int io_fs_open_direct(const struct gw_file *f)
{
    assert(f->fd >= 0);
    char path[32];
    int access = fcntl(f->fd, F_GETFL) & O_ACCMODE;
    snprintf(path, sizeof path, "/proc/self/fd/%d", f->fd);
    return open_again(path, access | O_DIRECT | O_CLOEXEC, 0);
}

void io_fs_ask(struct gw_file *f)
{
    assert(f->fd >= 0);
    struct statfs s;
    struct stat st;
    f->block = fstat(f->fd, &st) == 0 ? st.st_blksize : 0;
    if (fstatfs(f->fd, &s) != 0) return;
    uint32_t kind = (uint32_t)s.f_type;
    f->lock_all = kind == NFS || kind == SMB || kind == (uint32_t)CIFS || kind == (uint32_t)SMB2;
    if (is_lustre(&s)) get_layout(f);
}

void io_fs_advise(const struct gw_file *f)
{
    const struct io_hints *h = &f->hints;
    if (h->sequential) posix_fadvise(f->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    if (h->random) posix_fadvise(f->fd, 0, 0, POSIX_FADV_RANDOM);
    if (h->once) posix_fadvise(f->fd, 0, 0, POSIX_FADV_NOREUSE);
}
