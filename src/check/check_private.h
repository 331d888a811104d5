/* check_private.h -- what the files of check/ share.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_CHECK_CHECK_PRIVATE_H
#define GW_CHECK_CHECK_PRIVATE_H

#include "check/check.h"

#include "proto/proto.h"

/* ---- places and calls (check_place.c) ---- */
struct check_site {
    int fn;
    const void *from;
};                                                /* a call, and the address behind it in the program */
extern _Thread_local struct check_site check_now; /* the call that this thread is in, from check_enter() */
enum { CHECK_SITE_TEXT = 320 };
const char *check_site_text(struct check_site s,
                            char *out); /* "MPI_Isend at main+0x2a (heat.c:12)"; out: CHECK_SITE_TEXT bytes */
const char *check_call_name(int fn);

/* ---- findings (check_say.c) ---- */
void check_say(const char *fmt, ...) GW_PRINTF(1, 2) GW_COLD;

/* ---- types (check_type.c) ---- */
void check_type_begin(void);

#endif
