/* foreign.h -- environment variables of other MPI libraries and their networks that are no aliases of settings: their effect here.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_FOREIGN_H
#define GW_BASE_FOREIGN_H

#include <stdbool.h>

enum gw_foreign_kind {
    GW_FOREIGN_NOTHING, /* no effect; the user is told so, except for the values in `usual` */
    GW_FOREIGN_OTHERS,  /* a library below this one (libfabric) reads and obeys it */
    GW_FOREIGN_NOTED,   /* a setting reads it, but with another meaning than the user may expect */
};
struct gw_foreign {
    const char *name;
    enum gw_foreign_kind kind;
    const char *usual; /* comma-separated values that ask for what happens here anyway */
    const char *why;
};
int gw_foreign_count(void);
struct gw_foreign gw_foreign_at(int i);
bool gw_foreign_find(const char *name, struct gw_foreign *out); /* false: it is not known */
/* Whose the variables are that begin as this one, for those of which no more is known ("MPICH" of MPIR_CVAR_X); NULL: that is not known. */
const char *gw_foreign_whose(const char *name);

#endif
