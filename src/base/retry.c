/* retry.c -- see retry.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/retry.h"

#include <errno.h>

#include "base/time.h"

bool gw_error_may_pass(int err)
{
    return err == EINTR || err == EAGAIN || err == ENOMEM || err == ENOBUFS || err == EMFILE || err == ENFILE ||
        err == EADDRNOTAVAIL;
}

const char *gw_error_advice(int err)
{
    switch (err) {
    case EMFILE: return " (ulimit -n)";
    case ENFILE: return " (fs.file-max)";
    case ENOMEM:
    case ENOBUFS: return "; the kernel has no memory for it";
    case EADDRNOTAVAIL: return " (net.ipv4.ip_local_port_range)";
    case ENOSYS:
    case EPERM:
    case EACCES: return "; a sandbox, container or firewall of this host forbids it";
    default: return "";
    }
}

bool gw_retry_may(struct gw_retry *r, int err)
{
    static const uint64_t patience_ns = 10000000000, gap_ns = 1000000000;
    uint64_t now = gw_now_ns();
    if (!gw_error_may_pass(err)) return false;
    if (!r->since_ns || now - r->last_ns > gap_ns) r->since_ns = now;
    r->last_ns = now;
    return now - r->since_ns < patience_ns;
}
