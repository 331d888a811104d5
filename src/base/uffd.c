/* uffd.c -- userfaultfd: what it needs of the kernel.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef UFFD_USER_MODE_ONLY /* Linux 5.11 */
#define UFFD_USER_MODE_ONLY 1
#endif

int gw_uffd_open(void)
{
    static const uint64_t events =
        UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE | UFFD_FEATURE_PAGEFAULT_FLAG_WP;
    /* Of Linux 5.13.  Before 5.12 a parent that forks could lose pages that a card uses to its child, and nothing tells of that. */
    static const uint64_t young = UFFD_FEATURE_MINOR_HUGETLBFS;
    struct uffdio_api api = {.api = UFFD_API, .features = events};
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
    if (fd < 0) return gw_fail(GW_EUNSUPPORTED, "the kernel refuses userfaultfd: %s", strerror(errno));
    if (ioctl(fd, UFFDIO_API, &api) == 0 && (api.features & young) == young) return fd;
    close(fd);
    return gw_fail(GW_EUNSUPPORTED, "the kernel's userfaultfd does not tell all that is needed: that takes Linux 5.13");
}

int gw_uffd_may(void)
{
    int fd = gw_uffd_open();
    if (fd < 0) return fd;
    close(fd);
    return GW_OK;
}
