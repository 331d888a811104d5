/* info.c -- keys of info objects, as far as a program of the door can hold them: its own MPI_MAX_INFO_KEY and MPI_MAX_INFO_VAL say how long the
 * variables are into which it reads.  A key that would be cut is none that it could ask for, so it does not see it; nor one whose value is longer.
 * The library keeps both, and hands them on where such an object is given to it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "door.h"

#include <string.h>

DOOR_CORE(Info_get_nkeys);
DOOR_CORE(Info_get_nthkey);
DOOR_CORE(Info_get_valuelen);

/* Key number n of the library's, which the object has: can the program hold it and its value?  key_out: MPI_MAX_INFO_KEY characters. */
static int look(MPI_Info info, int n, char *key_out, bool *is_shown_out)
{
    int bytes = 0, flag = 0, rc = core_Info_get_nthkey(info, n, key_out);
    if (rc == MPI_SUCCESS) rc = core_Info_get_valuelen(info, key_out, &bytes, &flag);
    *is_shown_out = strnlen(key_out, MPI_MAX_INFO_KEY) < CLIENT_MAX_INFO_KEY && bytes < CLIENT_MAX_INFO_VAL;
    return rc;
}

/* How many keys are shown, and which of the library's is number `nth` of them: -1, as many are not shown. */
static int count_shown(MPI_Info info, int nth, int *n_out, int *found_out)
{
    int all = 0, rc = core_Info_get_nkeys(info, &all);
    char key[MPI_MAX_INFO_KEY];
    bool is_shown;
    *n_out = 0;
    *found_out = -1;
    for (int i = 0; rc == MPI_SUCCESS && i < all; i++) {
        rc = look(info, i, key, &is_shown);
        if (rc != MPI_SUCCESS || !is_shown) continue;
        if (*n_out == nth) *found_out = i;
        ++*n_out;
    }
    return rc;
}

DOOR_OWN(int, Info_get_nkeys, (client_Info info, int *nkeys))
{
    int n, found, rc = nkeys ? count_shown(door_Info_in(info), -1, &n, &found) : core_Info_get_nkeys(door_Info_in(info), NULL);
    if (rc != MPI_SUCCESS) return door_code(rc);
    *nkeys = n;
    return MPI_SUCCESS;
}

DOOR_OWN(int, Info_get_nthkey, (client_Info info, int n, char *key))
{
    char wide[MPI_MAX_INFO_KEY];
    int shown, found, rc = count_shown(door_Info_in(info), n, &shown, &found);
    /* A number that is none: the library refuses it in its own words, as one that its object does not have, either. */
    if (rc == MPI_SUCCESS)
        rc = core_Info_get_nthkey(door_Info_in(info), found < 0 && n >= 0 ? INT_MAX : found < 0 ? n : found, key ? wide : NULL);
    if (rc != MPI_SUCCESS) return door_code(rc);
    door_string_out(wide, key, CLIENT_MAX_INFO_KEY, NULL);
    return MPI_SUCCESS;
}

DOOR_OWN(int, Info_get_valuelen, (client_Info info, const char *key, int *valuelen, int *flag))
{
    int bytes = 0, is_there = 0;
    int rc = core_Info_get_valuelen(door_Info_in(info), key, valuelen ? &bytes : NULL, flag ? &is_there : NULL);
    if (rc != MPI_SUCCESS) return door_code(rc);
    *flag = is_there && bytes < CLIENT_MAX_INFO_VAL;
    if (*flag) *valuelen = bytes;
    return MPI_SUCCESS;
}
