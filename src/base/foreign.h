/* foreign.h -- variables of other MPI libraries, and of what they stand on, that no setting reads: what becomes of them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_FOREIGN_H
#define GW_BASE_FOREIGN_H

#include <stdbool.h>

enum gw_foreign_kind {
    GW_FOREIGN_NOTHING, /* of no effect; that is said, but for usual values */
    GW_FOREIGN_OTHERS,  /* another library reads it, and does what it says */
    GW_FOREIGN_NOTED,   /* a setting reads it, but it may not be what the user has in mind */
};
struct gw_foreign {
    const char *name;
    enum gw_foreign_kind kind;
    const char *usual; /* with commas: values that ask for nothing else than what is so */
    const char *why;
};
int gw_foreign_count(void);
struct gw_foreign gw_foreign_at(int i);
bool gw_foreign_find(const char *name, struct gw_foreign *out); /* false: it is not known */

#endif
