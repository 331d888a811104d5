/* errors.c -- error codes: their sentences and MPI classes, and the reason of the last one per thread.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"

#include <stdio.h>

struct error_row {
    const char *text;
    int class;
};

static const struct error_row rows[] = {
#define X(name, mpi_class, text) {text, mpi_class},
#include "base/errors.def"
#undef X
};
_Static_assert(GW_ARRAY_LEN(rows) == GW_ELAST_ - GW_EFIRST_ - 1, "one row per error code");

/* In the thread's own storage, so that two threads that fail at once each keep their reason. */
static _Thread_local char fail_text[1024];
static _Thread_local int callback_code; /* of the last GW_ECALLBACK */

static const struct error_row *error_find(int code)
{
    if (code <= GW_EFIRST_ || code >= GW_ELAST_) return NULL;
    return &rows[code - GW_EFIRST_ - 1];
}

static GW_COLD void text_set(const char *fmt, va_list args)
{
    /* Through a local copy: a caller may pass gw_fail_text() as an argument to put words before it. */
    char text[sizeof fail_text];
    vsnprintf(text, sizeof text, fmt, args);
    memcpy(fail_text, text, strlen(text) + 1);
}

int gw_fail(int code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    text_set(fmt, args);
    va_end(args);
    return code;
}

int gw_fail_callback(int mpi_code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    text_set(fmt, args);
    va_end(args);
    callback_code = mpi_code;
    return GW_ECALLBACK;
}

const char *gw_fail_text(void) { return fail_text; }

void gw_fail_clear(void) { fail_text[0] = 0; }

const char *gw_error_text(int code)
{
    const struct error_row *row = error_find(code);
    return row ? row->text : code >= 0 ? "no error" : "unknown error";
}

int gw_error_class(int code)
{
    const struct error_row *row = error_find(code);
    if (code == GW_ECALLBACK && callback_code) return callback_code;
    return row ? row->class : code >= 0 ? 0 : GW_ERR_UNKNOWN;
}
