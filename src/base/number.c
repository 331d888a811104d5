/* number.c -- numbers and sizes as users write them.  Needs no other file: godwit-tune is built with it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/settings.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <strings.h>

bool gw_number_read(const char *text, bool has_unit, int64_t *out)
{
    if (strcasecmp(text, "auto") == 0) {
        *out = -1;
        return true;
    }
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, strncasecmp(text, "0x", 2) == 0 ? 16 : 10);
    if (end == text || errno) return false;
    if (has_unit && *end) {
        static const char units[] = "KMGT";
        const char *u = strchr(units, toupper((unsigned char)*end));
        int shift = u && *u ? 10 * (int)(u - units + 1) : 0;
        if (shift) end++;
        if (shift && strcasecmp(end, "iB") == 0) end += 2;
        if (strcasecmp(end, "B") == 0) end++;
        if (v > (INT64_MAX >> shift) || v < (INT64_MIN >> shift)) return false;
        v *= 1ll << shift;
    }
    if (*end) return false;
    *out = v;
    return true;
}

bool gw_span_read(const char *text, int *low_out, int *high_out)
{
    char *end;
    if (!isdigit((unsigned char)*text)) return false;
    long low = strtol(text, &end, 10), high = INT_MAX;
    if (end[0] != '.' || end[1] != '.') return false;
    if (end[2]) {
        if (!isdigit((unsigned char)end[2])) return false;
        high = strtol(end + 2, &end, 10);
        if (*end) return false;
    }
    if (low < 1 || high < low || high > INT_MAX) return false;
    *low_out = (int)low, *high_out = (int)high;
    return true;
}
