/* hints.c -- the hints of a file (MPI 4.1 section 14.2.8), named as ROMIO names them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "coll/coll.h"

static const char *const choices[] = {[IO_AUTO] = "automatic", [IO_DISABLE] = "disable", [IO_ENABLE] = "enable"};

enum kind { SIZE, COUNT, CHOICE, OCTAL };
static const struct {
    const char *key;
    enum kind kind;
    size_t at;
} rows[] = {
    {"ind_rd_buffer_size", SIZE, offsetof(struct io_hints, read_buffer)},
    {"ind_wr_buffer_size", SIZE, offsetof(struct io_hints, write_buffer)},
    {"cb_buffer_size", SIZE, offsetof(struct io_hints, collective_buffer)},
    {"cb_nodes", COUNT, offsetof(struct io_hints, aggregators)},
    {"romio_cb_read", CHOICE, offsetof(struct io_hints, buffer_read)},
    {"romio_cb_write", CHOICE, offsetof(struct io_hints, buffer_write)},
    {"romio_ds_read", CHOICE, offsetof(struct io_hints, sieve_read)},
    {"romio_ds_write", CHOICE, offsetof(struct io_hints, sieve_write)},
    {"file_perm", OCTAL, offsetof(struct io_hints, permissions)},
};

void io_hints_default(struct io_hints *h)
{
    *h = (struct io_hints){.read_buffer = 4 << 20, .write_buffer = 512 << 10, .collective_buffer = 16 << 20,
                           .permissions = -1};
}

static bool number(const char *text, int base, int64_t least, int64_t most, int64_t *out)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, base);
    if (errno || end == text || *end || v < least || v > most) return false;
    *out = v;
    return true;
}

static void read_one(struct io_hints *h, enum kind kind, size_t at, const char *text)
{
    void *field = (char *)h + at;
    int64_t v;
    switch (kind) {
    case SIZE:
        if (number(text, 10, 1, (int64_t)1 << 40, &v)) *(int64_t *)field = v;
        return;
    case COUNT:
        if (number(text, 10, 1, INT32_MAX, &v)) *(int32_t *)field = (int32_t)v;
        return;
    case OCTAL:
        if (number(text, 8, 0, 07777, &v)) *(int32_t *)field = (int32_t)v;
        return;
    case CHOICE:
        for (size_t i = 0; i < GW_ARRAY_LEN(choices); i++)
            if (strcmp(text, choices[i]) == 0) *(int32_t *)field = (int32_t)i;
    }
}

void io_hints_read(struct io_hints *h, const struct gw_info *info)
{
    for (size_t i = 0; i < GW_ARRAY_LEN(rows); i++) {
        const char *text = gw_info_find(info, rows[i].key);
        if (text) read_one(h, rows[i].kind, rows[i].at, text);
    }
}

int io_hints_share(struct gw_file *f, struct io_hints *h)
{
    return f->comm->size == 1 ? GW_OK : coll_bcast(h, (int64_t)sizeof *h, gw_type_byte, 0, f->comm, NULL);
}

int io_set_info(struct gw_file *f, struct gw_info *info)
{
    struct io_hints h = f->hints;
    io_hints_read(&h, info);
    int rc = io_hints_share(f, &h);
    if (rc != GW_OK) return rc;
    /* These say how a file is opened, which it is. */
    if (f->amode & GW_MODE_WRONLY) h.sieve_write = f->hints.sieve_write;
    h.permissions = f->hints.permissions;
    f->hints = h;
    return GW_OK;
}

int io_get_info(struct gw_file *f, struct gw_info **info_out)
{
    struct gw_info *info;
    int rc = gw_info_create(&info);
    if (rc != GW_OK) return rc;
    for (size_t i = 0; i < GW_ARRAY_LEN(rows) && rc == GW_OK; i++) {
        const void *field = (const char *)&f->hints + rows[i].at;
        char text[32];
        if (rows[i].kind == COUNT && *(const int32_t *)field == 0) continue; /* not chosen */
        if (rows[i].kind == OCTAL && *(const int32_t *)field < 0) continue;
        if (rows[i].kind == SIZE)
            snprintf(text, sizeof text, "%lld", (long long)*(const int64_t *)field);
        else if (rows[i].kind == COUNT)
            snprintf(text, sizeof text, "%d", *(const int32_t *)field);
        else if (rows[i].kind == OCTAL)
            snprintf(text, sizeof text, "%o", (unsigned)*(const int32_t *)field);
        else
            snprintf(text, sizeof text, "%s", choices[*(const int32_t *)field]);
        rc = gw_info_set(info, rows[i].key, text);
    }
    if (rc == GW_OK)
        *info_out = info;
    else
        gw_info_free(&info);
    return rc;
}
