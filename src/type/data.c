/* data.c -- what kind of memory a program's data lie in.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "type/type.h"

void gw_data_look(struct gw_data *d)
{
    struct mem_attr a;
    if (d->buf == GW_IN_PLACE || d->type->size <= 0) return;
    mem_query(gw_data_at(d->buf, d->type), &a);
    d->kind = (int16_t)a.kind;
    d->device = (int16_t)(a.kind == MEM_HOST ? 0 : a.device);
}
