/* doors_codec.h -- how buffers and statuses change over, in the door and in the library's own entry points for its programs
 * (gen/hot.py).  A client.h includes it last: what goes before are its types and constants (CLIENT_X), and door_status_load() and
 * door_status_fill() of doors_ABI.h.
 *
 * Pure: what is pointed to is the caller's, a program's status or address may be any, and all may be called by any thread.  A status of the
 * program that a call may write is begun or loaded before it, and ended or stored after it, whatever that returned: where the library
 * wrote nothing, the program's stays as it was.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_FACADE_DOORS_CODEC_H
#define GW_FACADE_DOORS_CODEC_H

#include <limits.h>

/* ---- special addresses: each where it may be given, so that elsewhere an address is an address ---- */
static inline void *door_buffer_in(const void *buf) /* of a collective */
{
    return unlikely(buf == CLIENT_IN_PLACE) ? MPI_IN_PLACE : (void *)(uintptr_t)buf;
}
static inline void *door_attached_in(const void *buf) /* of MPI_Buffer_attach and its like */
{
    return buf == CLIENT_BUFFER_AUTOMATIC ? MPI_BUFFER_AUTOMATIC : (void *)(uintptr_t)buf;
}

/* ---- statuses ----
 * The error field is the program's in both directions: only where a call returns MPI_ERR_IN_STATUS has it been written. */
enum { DOOR_UNTOUCHED = INT_MIN }; /* no tag */
static inline void door_status_store(const MPI_Status *from, client_Status *to)
{
    door_status_fill(from, to);
    to->ERROR = from->MPI_ERROR;
}
static inline MPI_Status *door_status_in(const client_Status *from, MPI_Status *to)
{
    if (!from) return NULL;
    door_status_load(from, to);
    return to;
}
static inline MPI_Status *door_status_begin(client_Status *s, MPI_Status *mine)
{
    if (s == CLIENT_STATUS_IGNORE) return MPI_STATUS_IGNORE;
    mine->MPI_TAG = DOOR_UNTOUCHED;
    mine->MPI_ERROR = s->ERROR;
    return mine;
}
static inline void door_status_end(const MPI_Status *mine, client_Status *s)
{
    if (s != CLIENT_STATUS_IGNORE && likely(mine->MPI_TAG != DOOR_UNTOUCHED)) door_status_store(mine, s);
}
static inline bool door_are_statuses(const client_Status *s) { return s && s != CLIENT_STATUSES_IGNORE; }
static inline void door_statuses_load(const client_Status *from, int64_t n, MPI_Status *to)
{
    for (int64_t i = 0; to && i < n; i++) {
        to[i].MPI_TAG = DOOR_UNTOUCHED;
        to[i].MPI_ERROR = from[i].ERROR;
    }
}
static inline void door_statuses_store(const MPI_Status *from, int64_t n, client_Status *to)
{
    for (int64_t i = 0; from && i < n; i++)
        if (likely(from[i].MPI_TAG != DOOR_UNTOUCHED)) door_status_store(&from[i], &to[i]);
}

/* After MPI_ERR_IN_STATUS; code: the program's number of an error code. */
static inline void door_statuses_failed(const MPI_Status *mine, int64_t n, client_Status *s, int (*code)(int))
{
    for (int64_t i = 0; mine && i < n; i++) s[i].ERROR = mine[i].MPI_ERROR == MPI_SUCCESS ? MPI_SUCCESS : code(mine[i].MPI_ERROR);
}

#endif
