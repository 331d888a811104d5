/* stage.h -- host memory in place of a buffer that the CPU may not touch (mem/mem.h), for calls that have no better way.
 *
 *     if (!gw_data_is_cpu(d)) {
 *         struct type_stage s;
 *         int rc = type_stage_begin(&s, d);                  copies the data in
 *         if (rc == GW_OK) rc = CALL(&s.data, ...);          the same call again, on host memory of the same layout
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
    struct gw_data data; /* what takes the buffer's place; the buffer itself if the CPU may touch it */
    struct gw_data user; /* the buffer */
    void *memory;        /* owned; NULL: the CPU may touch the buffer */
};

/* Copies the data of items from .. from + count - 1 in, or back; not beyond those of the buffer. */
int type_stage_copy(const struct type_stage *s, bool is_back, int64_t from, int64_t count) GW_COLD;
int type_stage_begin(struct type_stage *s, const struct gw_data *user) GW_COLD; /* GW_ENOMEM, GW_ECOUNT */
/* Always after type_stage_begin(), whatever it answered; does nothing for a struct of zeros.  rc: of begin or of the call;
 * returned, or the error of the copy back. */
int type_stage_end(struct type_stage *s, int rc, bool is_written) GW_COLD;

#endif
