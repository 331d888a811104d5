/* name_file.c -- published names in a folder that several hosts see (GODWIT_NAMES_DIR).
 *
 * A file a service: its name says user and hash of the service, its first line the port, the rest the service.  Nobody else may read it,
 * as the port has a secret; it appears whole, by link(), so of two that publish at once one fails.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "world/world_private.h"
#include "base/base.h"
#include "base/hash.h"
#include "base/settings.h"
#include "boot/name.h"
#include "boot/port.h"

static char *file_of(const char *service)
{
    return gw_xasprintf("%s/godwit-name-%u-%016llx", gw_set.names_dir, (unsigned)geteuid(),
                        (unsigned long long)gw_hash_text(service));
}

bool world_name_file_wanted(void) { return gw_set.names_dir && gw_set.names_dir[0]; }

/* The port in the file of a service, which the caller frees.  NULL: there is no such file, or *why_out says what is wrong with it. */
static char *file_port(const char *file, const char *service, const char **why_out)
{
    enum { MOST = 1 << 17, OTHERS = 077 };
    struct stat st;
    char *text = NULL;
    *why_out = NULL;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        *why_out = errno == ENOENT ? NULL : strerror(errno);
        return NULL;
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & OTHERS)
        *why_out = "it is not a file that this user alone can use";
    else if (st.st_size < 3 || st.st_size > MOST)
        *why_out = "it is damaged";
    if (!*why_out) text = gw_xcalloc((size_t)st.st_size + 1, 1);
    bool is_read = text && read(fd, text, (size_t)st.st_size) == (ssize_t)st.st_size;
    close(fd);
    char *end = is_read ? strchr(text, '\n') : NULL;
    if (text && (!end || strcmp(end + 1, service) != 0)) {
        *why_out = end ? "it is of another service with the same hash" : "it is damaged";
        free(text);
        return NULL;
    }
    if (text) *end = 0;
    return text;
}

/* Is there a file of another user by that name, which has our number in it? */
static bool is_others(const char *file)
{
    struct stat st;
    return lstat(file, &st) == 0 && st.st_uid != geteuid();
}

/* The complete file gets its name.  What another user has put there is taken away where the folder lets us.  0, or errno. */
static int name_give(const char *new, const char *file)
{
    int err = 0;
    for (int turn = 0; turn < 2; turn++) {
        err = link(new, file) == 0 ? 0 : errno;
        if (err != EEXIST || !is_others(file) || unlink(file) != 0) break;
    }
    return err;
}

int world_name_file_publish(const char *service, const char *port)
{
    char *file = file_of(service), *new = gw_xasprintf("%s.%d.%016llx", file, (int)getpid(), (unsigned long long)boot_random());
    int fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600), rc = GW_OK;
    bool is_written = fd >= 0 && dprintf(fd, "%s\n%s", port, service) > 0 && fsync(fd) == 0;
    int why = is_written ? name_give(new, file) : errno;
    if (is_written && why == EEXIST && is_others(file))
        rc = gw_fail(GW_ESERVICE,
                     "service_name is \"%.64s\": another user has put %.200s there, and only he or the folder's owner can remove "
                     "it: let GODWIT_NAMES_DIR name a folder that only you can write to",
                     service, file);
    else if (is_written && why == EEXIST)
        rc = gw_fail(GW_ESERVICE,
                     "service_name is \"%.64s\": it is published already; if the job that did that was killed, remove %.200s",
                     service, file);
    else if (!is_written || why)
        rc = gw_fail(GW_ESERVICE, "service_name is \"%.64s\": it cannot be published in GODWIT_NAMES_DIR=%.200s: %s", service,
                     gw_set.names_dir, strerror(why));
    if (fd >= 0) {
        close(fd);
        unlink(new);
    }
    free(new);
    free(file);
    return rc;
}

void world_name_file_remove(const char *service, const char *port)
{
    const char *why;
    char *file = file_of(service), *there = file_port(file, service, &why);
    if (there && strcmp(there, port) == 0) unlink(file); /* unless another process has published the service since */
    free(there);
    free(file);
}

int world_name_file_lookup(const char *service, char *port_out)
{
    const char *why;
    char *file = file_of(service), *port = file_port(file, service, &why);
    int rc = GW_OK;
    if (port && boot_name_fits(port))
        snprintf(port_out, GW_MAX_PORT_NAME, "%s", port);
    else
        rc = gw_fail(GW_ENAME, "service_name is \"%.64s\": no job of this user has published it in GODWIT_NAMES_DIR=%.200s%s%s",
                     service, gw_set.names_dir, why ? "; there is a file, but " : "", why ? why : "");
    free(port);
    free(file);
    return rc;
}
