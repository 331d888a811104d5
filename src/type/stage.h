/* stage.h -- host memory in place of a buffer that the CPU may not touch (mem/mem.h), for calls that have no better way.
 *
 *     if (type_must_stage(buf, t)) {
 *         struct type_stage s;
 *         int rc = type_stage_begin(&s, buf, count, t);      copies the data in
 *         if (rc == GW_OK) rc = CALL(s.buf, ...);            the same call again, on host memory of the same layout
 *         return type_stage_end(&s, rc, is_written);         copies them back
 *     }
 *
 * A call with two buffers does both for each of them; one that the CPU may touch stays what it is.
 *
 * The layout is kept, gaps and all, so the call sees the same count and datatype; gaps are neither read nor written in the buffer.
 * What of a received buffer no message fills is written back as it was.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TYPE_STAGE_H
#define GW_TYPE_STAGE_H

#include "mem/mem.h"
#include "type/type.h"

struct type_stage {
    void *buf;                /* what takes the buffer's place; the buffer itself if the CPU may touch it */
    struct type_cursor whose; /* the buffer */
    ptrdiff_t shift;          /* from an address in the buffer to that in its place */
    void *memory;             /* owned; NULL: the CPU may touch the buffer */
};

/* Goes by where the data of the first item begin.  False for MPI_IN_PLACE, and where there is no data type. */
bool type_must_stage_among(const void *buf, const struct gw_type *t) GW_COLD;
static inline bool type_must_stage(const void *buf, const struct gw_type *t)
{
    return unlikely(mem_has_drivers) && type_must_stage_among(buf, t);
}
int type_stage_begin(struct type_stage *s, const void *buf, int64_t count, struct gw_type *t) GW_COLD; /* GW_ENOMEM, GW_ECOUNT */
/* Always after type_stage_begin(), whatever it answered; does nothing for a struct of zeros.  rc: of begin or of the call;
 * returned, or the error of the copy back. */
int type_stage_end(struct type_stage *s, int rc, bool is_written) GW_COLD;

#endif
