/* door.c -- the special variables of a door's ABI: where they lie, once the program is loaded.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fort.h"

struct fort_range fort_ranges[2];

/* The ranges end at the widest gap. */
static __attribute__((constructor)) void look_where(void)
{
    uintptr_t at[FORT_SPECIALS] = {0};
    int n = 0, cut = 1;
    for (const struct fort_special *s = fort_specials; s->what != FORT_NOTHING; s++, n++) {
        int i = n;
        for (; i > 0 && at[i - 1] > (uintptr_t)s->at; i--) at[i] = at[i - 1];
        at[i] = (uintptr_t)s->at;
    }
    assert(n >= 2 && n <= FORT_SPECIALS);
    for (int i = 2; i < n; i++)
        if (at[i] - at[i - 1] > at[cut] - at[cut - 1]) cut = i;
    fort_ranges[0] = (struct fort_range){at[0], at[cut - 1] - at[0] + 1};
    fort_ranges[1] = (struct fort_range){at[cut], at[n - 1] - at[cut] + 1};
}

enum fort_what fort_special_find(const void *p)
{
    const struct fort_special *s = fort_specials;
    while (s->what != FORT_NOTHING && s->at != p) s++;
    return s->what;
}

void fort_started(void) { fort_describe_types(); }
