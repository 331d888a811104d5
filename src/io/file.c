/* file.c -- opening and closing files, operations on a whole file, errors.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/settings.h"
#include "base/time.h"
#include "boot/where.h"
#include "coll/coll.h"
#include "world/world.h"

struct gw_file io_no_file = {
    .obj = {.kind = GW_KIND_FILE, .predefined = true}, .errhandler = &gw_errors_return, .name = "MPI_FILE_NULL"};

/* ---- errors ---------------------------------------------------------------------------------------------------------- */
static int code_of(int system_error)
{
    switch (system_error) {
    case ENOENT:
    case ESTALE: /* of a network file system: gone meanwhile */ return GW_ENOSUCHFILE;
    case EEXIST: return GW_EFILEEXISTS;
    case EACCES:
    case EPERM: return GW_EACCESSMODE;
    case EROFS: return GW_EREADONLY;
    case ENOSPC: return GW_ENOSPACE;
    case EDQUOT: return GW_EQUOTA;
    case ETXTBSY:
    case EBUSY: return GW_EFILEINUSE;
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG: return GW_EBADFILE;
    case ENOMEM: return GW_ENOMEM;
    default: return GW_EIO;
    }
}

int io_fail(int system_error, const char *doing, const char *name)
{
    assert(system_error > 0);
    return gw_fail(code_of(system_error), "%s %s: %s", doing, name, strerror(system_error));
}

int io_agree(struct gw_file *f, int rc)
{
    io_drain(f);
    int worst = f->comm->size > 1 ? coll_worst(f->comm, rc, "rank") : GW_OK;
    return worst == GW_OK ? rc : worst;
}

/* ---- open ------------------------------------------------------------------------------------------------------------ */
enum {
    ACCESS_MODES = GW_MODE_RDONLY | GW_MODE_WRONLY | GW_MODE_RDWR,
    ALL_MODES = ACCESS_MODES | GW_MODE_CREATE | GW_MODE_EXCL | GW_MODE_DELETE_ON_CLOSE | GW_MODE_UNIQUE_OPEN | GW_MODE_SEQUENTIAL |
        GW_MODE_APPEND
};

static int amode_check(int amode)
{
    int access = amode & ACCESS_MODES;
    if (amode & ~ALL_MODES)
        return gw_fail(GW_EAMODE, "amode is 0x%x, of which 0x%x is no mode of a file", amode, amode & ~ALL_MODES);
    if (access == 0 || (access & (access - 1)))
        return gw_fail(GW_EAMODE, "amode is 0x%x; exactly one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR must be in it",
                       amode);
    if (access == GW_MODE_RDONLY && amode & (GW_MODE_CREATE | GW_MODE_EXCL))
        return gw_fail(GW_EAMODE,
                       "amode is MPI_MODE_RDONLY with MPI_MODE_CREATE or MPI_MODE_EXCL, which need a file that may be written");
    if (access == GW_MODE_RDWR && amode & GW_MODE_SEQUENTIAL)
        return gw_fail(GW_EAMODE, "amode is MPI_MODE_RDWR with MPI_MODE_SEQUENTIAL, which goes one way only");
    return GW_OK;
}

/* Other libraries take the kind of file system before the name. */
static const char *without_prefix(const char *name)
{
    static const char *const prefixes[] = {"ufs:", "nfs:", "lustre:", "gpfs:", "xfs:"};
    for (size_t i = 0; i < GW_ARRAY_LEN(prefixes); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) return name + strlen(prefixes[i]);
    return name;
}

static int open_here(struct gw_file *f, bool may_create)
{
    assert(f->fd < 0);
    int flags = O_CLOEXEC | (f->amode & GW_MODE_RDONLY ? O_RDONLY : f->amode & GW_MODE_WRONLY ? O_WRONLY : O_RDWR);
    if (may_create && f->amode & GW_MODE_CREATE) flags |= O_CREAT;
    if (may_create && f->amode & GW_MODE_EXCL) flags |= f->amode & GW_MODE_CREATE ? O_EXCL : 0;
    /* Data sieving reads what lies between the pieces that it writes. */
    if (f->hints.sieve_write == IO_ENABLE && f->amode & GW_MODE_WRONLY) flags = (flags & ~O_WRONLY) | O_RDWR;
    mode_t permissions = f->hints.permissions >= 0 ? (mode_t)f->hints.permissions : 0666;
    struct stat st;
    f->fd = io_fs_open(f->name, flags, permissions, &f->hints);
    if (f->fd < 0) return io_fail(errno, "opening", f->name);
    if (fstat(f->fd, &st) == 0 && S_ISDIR(st.st_mode)) return gw_fail(GW_EBADFILE, "%s is a directory", f->name);
    io_fs_ask(f);
    if (f->hints.direct) f->direct_fd = io_fs_open_direct(f);
    f->hints.direct = f->direct_fd >= 0; /* MPI_File_get_info reports what is in use */
    return GW_OK;
}

int io_open_late(struct gw_file *f)
{
    gw_lock(&f->range);
    int rc = f->fd < 0 ? open_here(f, false) : GW_OK;
    if (rc == GW_OK) io_fs_advise(f);
    gw_unlock(&f->range);
    return rc;
}

static bool opens_at_once(const struct gw_file *f)
{
    for (int i = 0; i < f->n_aggregators; i++)
        if (f->aggregators[i] == f->comm->rank) return true;
    return !f->hints.collective_only;
}

/* Which file a rank has opened: its name, and its number in the file system. */
struct identity {
    int64_t name, number;
};
static struct identity identity_of(const struct gw_file *f)
{
    struct stat st;
    return (struct identity){(int64_t)gw_hash_text(f->name), fstat(f->fd, &st) == 0 ? (int64_t)st.st_ino : 0};
}

/* Tells the ranks that open the file later what rank 0 found out about the file system, and which file it has. */
static int share_system(struct gw_file *f, struct identity *first_out)
{
    *first_out = identity_of(f);
    int64_t seen[4] = {f->block, f->lock_all, first_out->name, first_out->number};
    int rc = f->comm->size > 1 ? coll_bcast(seen, 4, gw_type_int64, 0, f->comm, NULL) : GW_OK;
    f->block = seen[0];
    f->lock_all = seen[1] != 0;
    *first_out = (struct identity){seen[2], seen[3]};
    return rc;
}

/* Opens the file of rank 0.  Names may differ, as those of folders that ranks are in; files of one name may have other numbers on another node. */
static int open_the_same(struct gw_file *f, const struct identity *first)
{
    int rc = open_here(f, false);
    struct identity mine = identity_of(f);
    if (mine.name == first->name || (rc == GW_OK && mine.number == first->number)) return rc;
    return gw_fail(GW_ENOTSAME,
                   "%s is not the file that rank 0 has opened; all ranks of the communicator must give the same one (with "
                   "MPI_COMM_SELF each opens its own)",
                   f->name);
}

/* Rank 0 opens the file first, and creates it; then the others open it. */
static int open_everywhere(struct gw_file *f)
{
    int rc = GW_OK;
    struct identity first;
    if (f->comm->rank == 0) rc = open_here(f, true);
    rc = io_agree(f, rc);
    if (rc == GW_OK) rc = io_hints_share(f, &f->hints); /* with the stripes that the file has got */
    if (rc == GW_OK) rc = share_system(f, &first);
    if (rc == GW_OK) rc = io_place(f);
    if (rc == GW_OK && f->comm->rank != 0 && opens_at_once(f)) rc = open_the_same(f, &first);
    return io_agree(f, rc);
}

static void file_free(struct gw_file *f)
{
    if (f->fd >= 0) close(f->fd);
    if (f->direct_fd >= 0) close(f->direct_fd);
    if (f->comm) io_shared_free(f);
    io_view_release(&f->view);
    if (f->errhandler) gw_errhandler_release(f->errhandler);
    if (f->comm) world_comm_end(&f->comm);
    io_trace_free(f);
    free(f->aggregators);
    free(f->name);
    free(f);
}

static int open_all(struct gw_file *f, const char *name, int amode, struct gw_info *info)
{
    int rc = amode_check(amode);
    f->name = strdup(without_prefix(name));
    if (!f->name && rc == GW_OK) rc = gw_fail(GW_ENOMEM, "no memory for the name of a file");
    if (rc == GW_OK) rc = io_view_plain(&f->view);
    rc = io_enter_same(f, IO_OPEN, rc, amode, "amode");
    if (rc != GW_OK) return rc;
    f->amode = amode;
    io_hints_default(&f->hints);
    io_hints_read(&f->hints, info);
    io_hints_of_user(&f->hints, f->name);
    if (f->comm->rank == 0) io_hints_look();
    rc = io_hints_share(f, &f->hints);
    if (rc == GW_OK) rc = open_everywhere(f);
    if (rc != GW_OK) return rc;
    io_fs_advise(f);
    if (f->comm->rank == 0 && gw_set.mpiio_hints_display) io_hints_show(f);
    int64_t size = 0;
    if (rc == GW_OK && amode & GW_MODE_APPEND) rc = io_agree(f, io_get_size(f, &size));
    atomic_store(&f->position, size);
    return rc == GW_OK ? io_shared_make(f, size) : rc;
}

/* For reports and errors; of a long name its end, as reports have little room. */
static void comm_mark(struct gw_comm *c, const char *name)
{
    c->is_inner = true;
    enum { ROOM = BOOT_COMM_NAME - (int)sizeof "the file ..." };
    size_t len = strlen(name), skip = len > ROOM + 3 ? len - ROOM : 0;
    snprintf(c->name, sizeof c->name, "the file %s%s", skip ? "..." : "", name + skip);
}

int io_open(struct gw_comm *c, const char *name, int amode, struct gw_info *info, struct gw_file **file_out)
{
    if (c->remote) return gw_fail(GW_ECOMM, "comm is an intercommunicator: a file is opened by an intracommunicator");
    struct gw_file *f = gw_xcalloc(1, sizeof *f);
    f->fd = f->direct_fd = f->split = -1;
    f->end_of[0] = f->end_of[1] = -1;
    uint64_t began = gw_now_ns();
    int rc = world_comm_create(c, c->group, &f->comm);
    if (rc == GW_OK) comm_mark(f->comm, name);
    if (rc == GW_OK) rc = open_all(f, name, amode, info);
    if (rc == GW_OK) rc = io_agree(f, gw_obj_register(&f->obj, GW_KIND_FILE));
    if (rc != GW_OK) {
        if (f->obj.id) gw_obj_unregister(&f->obj);
        file_free(f);
        return rc;
    }
    f->errhandler = gw_errhandler_hold(io_no_file.errhandler);
    io_clock_start(f, began);
    io_trace_begin(f);
    *file_out = f;
    return GW_OK;
}

/* After a failure the handle is still valid, but the file is closed: closing it again frees the handle. */
int io_close(struct gw_file **file)
{
    struct gw_file *f = *file;
    if (f->split >= 0) return gw_fail(GW_EIO, "%s has a split collective that was begun and not ended", f->name);
    f->hints.collective_only = 0; /* no rank opens the file from now on */
    bool must_delete = f->fd >= 0 && f->amode & GW_MODE_DELETE_ON_CLOSE && f->comm->rank == 0;
    io_clock_enter(f, !(f->amode & GW_MODE_RDONLY), IO_T_OPEN);
    int rc = io_enter(f, IO_CLOSE, GW_OK); /* no rank closes or deletes the file while others use it */
    if (rc != GW_OK) return rc;
    if (f->fd >= 0 && close(f->fd) != 0 && errno != EINTR && rc == GW_OK) rc = io_fail(errno, "closing", f->name);
    f->fd = -1;
    if (must_delete && unlink(f->name) != 0 && rc == GW_OK) rc = io_fail(errno, "deleting", f->name);
    rc = io_agree(f, rc);
    if (rc != GW_OK) return rc;
    io_report(f);
    gw_obj_unregister(&f->obj);
    file_free(f);
    *file = NULL;
    return GW_OK;
}

int io_delete(const char *name, struct gw_info *info)
{
    (void)info; /* no hint concerns deletion */
    name = without_prefix(name);
    return unlink(name) == 0 ? GW_OK : io_fail(errno, "deleting", name);
}

/* ---- size ------------------------------------------------------------------------------------------------------------ */
static int may_resize(const struct gw_file *f, int64_t size)
{
    if (f->amode & GW_MODE_SEQUENTIAL)
        return gw_fail(GW_EUNSUPPORTED, "%s was opened with MPI_MODE_SEQUENTIAL: its size is not set", f->name);
    if (size < 0) return gw_fail(GW_EARG, "size is %lld; it must not be negative", (long long)size);
    if (f->amode & GW_MODE_RDONLY) return gw_fail(GW_EREADONLY, "%s was opened with MPI_MODE_RDONLY", f->name);
    return GW_OK;
}

int io_set_size(struct gw_file *f, int64_t size)
{
    int rc = io_enter_same(f, IO_SET_SIZE, may_resize(f, size), size, "size"), failed = 0;
    if (rc != GW_OK) return rc;
    io_clock_enter(f, true, IO_T_OPEN);
    if (f->comm->rank == 0) {
        do failed = ftruncate(f->fd, size) == 0 ? 0 : errno;
        while (failed == EINTR);
    }
    rc = io_agree(f, failed ? io_fail(failed, "setting the size of", f->name) : GW_OK);
    io_clock(f, IO_T_COMPUTE);
    return rc;
}

int io_preallocate(struct gw_file *f, int64_t size)
{
    int rc = io_enter_same(f, IO_PREALLOCATE, may_resize(f, size), size, "size"), failed = 0;
    if (rc != GW_OK) return rc;
    if (f->comm->rank == 0 && size > 0) {
        struct stat st;
        do failed = posix_fallocate(f->fd, 0, size);
        while (failed == EINTR);
        /* A sandbox refuses the call: the file is as long as asked for, which writes fill. */
        if ((failed == ENOSYS || failed == EPERM) && fstat(f->fd, &st) == 0)
            failed = st.st_size >= size || ftruncate(f->fd, size) == 0 ? 0 : errno;
    }
    return io_agree(f, failed ? io_fail(failed, "reserving space for", f->name) : GW_OK);
}

int io_get_size(struct gw_file *f, int64_t *size_out)
{
    struct stat st;
    int rc = io_need_open(f);
    if (rc != GW_OK) return rc;
    if (fstat(f->fd, &st) != 0) return io_fail(errno, "asking the size of", f->name);
    *size_out = st.st_size;
    /* The size of a block device is found by seeking. */
    if (S_ISBLK(st.st_mode)) *size_out = lseek(f->fd, 0, SEEK_END);
    return GW_OK;
}

/* ---- the rest -------------------------------------------------------------------------------------------------------- */
int io_get_group(struct gw_file *f, struct gw_group **group_out) { return comm_group(f->comm, group_out); }

int io_get_amode(struct gw_file *f, int *amode_out)
{
    *amode_out = f->amode;
    return GW_OK;
}

int io_set_atomicity(struct gw_file *f, int flag)
{
    int rc = io_enter_same(f, IO_SET_ATOMICITY, GW_OK, flag != 0, "flag");
    if (rc == GW_OK) f->atomic = flag != 0;
    return rc;
}

int io_get_atomicity(struct gw_file *f, int *flag_out)
{
    *flag_out = f->atomic;
    return GW_OK;
}

/* The descriptor; -1: this rank has not opened the file, so it has written nothing.  Another thread may open it at this moment
 * (io_open_late()). */
static int opened_now(struct gw_file *f)
{
    if (!f->hints.collective_only) return f->fd;
    gw_lock(&f->range);
    int fd = f->fd;
    gw_unlock(&f->range);
    return fd;
}

int io_sync(struct gw_file *f)
{
    int failed = 0, fd = opened_now(f);
    do failed = fd < 0 || fsync(fd) == 0 ? 0 : errno;
    while (failed == EINTR);
    if (failed == EINVAL || failed == EROFS) failed = 0; /* a pipe or a special file, which has nothing to be written back */
    return io_enter(f, IO_SYNC, failed ? io_fail(failed, "synchronizing", f->name) : GW_OK);
}

int io_set_errhandler(struct gw_file *f, struct gw_errhandler *eh)
{
    if (eh->applies_to != GW_KIND_NONE && eh->applies_to != GW_KIND_FILE)
        return gw_fail(GW_EERRHANDLER, "this error handler was not made by MPI_File_create_errhandler");
    struct gw_errhandler *old = f->errhandler;
    f->errhandler = gw_errhandler_hold(eh);
    gw_errhandler_release(old);
    return GW_OK;
}

int io_get_errhandler(struct gw_file *f, struct gw_errhandler **eh_out)
{
    *eh_out = gw_errhandler_hold(f->errhandler);
    return GW_OK;
}

GW_ONCE void io_init(void) { io_started_init(); }

GW_ONCE void io_finalize(void)
{
    io_rep_finalize();
    gw_errhandler_release(io_no_file.errhandler);
    io_no_file.errhandler = &gw_errors_return;
}
