/* retry.h -- system calls that fail: which errors may pass, for how long another try is worth it, and what to tell the user.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_RETRY_H
#define GW_BASE_RETRY_H

#include "base/base.h"

/* A signal came, or the kernel had no memory, descriptor or port for it at this moment: another try may succeed. */
bool gw_error_may_pass(int err) GW_COLD;
/* What helps against it, for the end of a message behind strerror(): " (ulimit -n)"; "": nothing that is known. */
const char *gw_error_advice(int err) GW_COLD;

/* One call, or one kind of it, that is tried again while it fails.  All zero: it works; the owner makes it so when it does. */
struct gw_retry {
    uint64_t since_ns, last_ns;
};
/* After it has failed again, with this errno: may another try help?  Not if such an error does not pass, or has not for ten seconds, in which
 * there was no second without a try. */
bool gw_retry_may(struct gw_retry *r, int err) GW_COLD;

#endif
