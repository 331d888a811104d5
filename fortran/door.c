/* door.c -- the special variables of a door's ABI: where they lie, once the program is loaded.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fort.h"

uintptr_t fort_first, fort_span;

static __attribute__((constructor)) void look_where(void)
{
    uintptr_t first = UINTPTR_MAX, last = 0;
    for (const struct fort_special *s = fort_specials; s->what != FORT_NOTHING; s++) {
        uintptr_t at = (uintptr_t)s->at;
        first = at < first ? at : first;
        last = at > last ? at : last;
    }
    fort_first = first;
    fort_span = last - first + 1;
}

enum fort_what fort_special_find(const void *p)
{
    const struct fort_special *s = fort_specials;
    while (s->what != FORT_NOTHING && s->at != p) s++;
    return s->what;
}

void fort_started(void) { fort_describe_types(); }
