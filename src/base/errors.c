/* errors.c -- error codes: their sentences, and the reason of the last one per thread.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/plain.h"

static const char *const texts[] = {
#define X(name, mpi_class, text) text,
#include "base/errors.def"
#undef X
};
_Static_assert(GW_ARRAY_LEN(texts) == GW_ELAST_ - GW_EFIRST_ - 1, "one row per error code");

/* In the thread's own storage, so that two threads that fail at once each keep their reason. */
static _Thread_local char fail_text[1024];
static _Thread_local int callback_code; /* of the last GW_ECALLBACK */

int gw_fail(int code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    gw_plain_vformat(fail_text, sizeof fail_text, fmt, args); /* an argument may be gw_fail_text(), to put words before it */
    va_end(args);
    return code;
}

int gw_fail_callback(int mpi_code, const char *fmt, ...)
{
    assert(mpi_code != 0);
    va_list args;
    va_start(args, fmt);
    gw_plain_vformat(fail_text, sizeof fail_text, fmt, args); /* an argument may be gw_fail_text(), to put words before it */
    va_end(args);
    callback_code = mpi_code;
    return GW_ECALLBACK;
}

const char *gw_fail_text(void) { return fail_text; }

void gw_fail_clear(void) { fail_text[0] = 0; }

const char *gw_error_text(int code)
{
    bool is_known = code > GW_EFIRST_ && code < GW_ELAST_;
    return is_known ? texts[code - GW_EFIRST_ - 1] : code >= 0 ? "no error" : "unknown error";
}

int gw_fail_callback_code(void) { return callback_code; }
