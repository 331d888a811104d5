/* file_image.c -- parts of a file (file.h), read when they are asked for: who reads a mapped file that somebody shortens gets SIGBUS.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT = 4096 };

bool gw_image_open(const char *path, struct gw_image *im_out)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false; /* what is no file is not opened: a pipe's other end would notice */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return false;
    *im_out = (struct gw_image){.at = MAP_FAILED, .fd = fd};
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        im_out->bytes = (size_t)st.st_size;
        im_out->at = mmap(NULL, im_out->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (im_out->at != MAP_FAILED) return true;
    close(fd);
    return false;
}

void gw_image_close(struct gw_image *im)
{
    munmap(im->at, im->bytes);
    close(im->fd);
}

const void *gw_image_part(struct gw_image *im, uint64_t offset, uint64_t n)
{
    if (offset > im->bytes || n > im->bytes - offset) return NULL;
    if (offset >= im->from && offset + n <= im->to) return im->at + offset;
    for (uint64_t got = 0; got < n;) {
        ssize_t k = pread(im->fd, im->at + offset + got, n - got, (off_t)(offset + got));
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return NULL;
        got += (uint64_t)k;
    }
    im->from = offset, im->to = offset + n;
    return im->at + offset;
}

const char *gw_image_text(struct gw_image *im, uint64_t offset)
{
    for (uint64_t n = TEXT; offset < im->bytes; n *= 2) {
        bool is_all = n >= im->bytes - offset;
        uint64_t there = offset >= im->from && offset < im->to ? im->to - offset : 0; /* read already */
        if (there && memchr(im->at + offset, 0, there)) return im->at + offset;
        const char *at = gw_image_part(im, offset, is_all ? im->bytes - offset : n);
        if (at && memchr(at, 0, is_all ? im->bytes - offset : n)) return at;
        if (!at || is_all) return NULL;
    }
    return NULL;
}
