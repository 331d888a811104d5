/* boot_order.c -- which process of the launcher gets which rank: the methods of MPICH_RANK_REORDER_METHOD, and the file of its
 * method 3.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "boot/boot_deal.h"
#include "base/file.h"
#include "boot/boot_private.h"
#include "boot/order.h"

/* ---- the file: ranks and ranges with commas, lines one behind the other, # to the end of the line ---- */
struct reader {
    const char *path, *at;
    int line, size, n; /* ranks so far */
    int32_t *list;
    int32_t *line_of; /* [size] where a rank was read, 0: not yet */
};

static int refuse(const struct reader *f, const char *fmt, ...) GW_PRINTF(2, 3);
static int refuse(const struct reader *f, const char *fmt, ...)
{
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return gw_fail(GW_EARG, "%s:%d: %s", f->path, f->line, text);
}

static int take(struct reader *f, long rank)
{
    if (rank >= f->size)
        return refuse(f, "there is no rank %ld in a job of %d ranks (0 to %d): make the file anew for this number of ranks", rank,
                      f->size, f->size - 1);
    if (f->line_of[rank]) return refuse(f, "rank %ld is here again: it was in line %d already", rank, f->line_of[rank]);
    f->line_of[rank] = f->line;
    f->list[f->n++] = (int32_t)rank;
    return GW_OK;
}

/* A number without a sign. */
static int number(struct reader *f, long *value_out)
{
    char *end;
    if (*f->at < '0' || *f->at > '9') {
        int c = (unsigned char)*f->at;
        if (c == '\n' || c == '\r' || c == 0 || c == '#') return refuse(f, "the line ends where a rank should be");
        if (c < 32 || c > 126) return refuse(f, "a byte 0x%02x where a rank should be: is this a rank order file?", c);
        return refuse(f, "'%c' where a rank should be: ranks and ranges such as 4-7 stand here, with commas", c);
    }
    errno = 0;
    *value_out = strtol(f->at, &end, 10);
    if (errno) return refuse(f, "%.40s is no rank", f->at);
    f->at = end;
    return GW_OK;
}

static void skip_blanks(struct reader *f) { f->at += strspn(f->at, " \t\r"); }

static int item(struct reader *f)
{
    long from, to;
    int rc = number(f, &from);
    if (rc != GW_OK) return rc;
    to = from;
    skip_blanks(f);
    if (*f->at == '-') {
        f->at++;
        skip_blanks(f);
        rc = number(f, &to);
        skip_blanks(f);
    }
    for (long step = from <= to ? 1 : -1, r = from; rc == GW_OK; r += step) {
        rc = take(f, r);
        if (r == to) break;
    }
    return rc;
}

static int line(struct reader *f)
{
    int rc = GW_OK;
    for (skip_blanks(f); rc == GW_OK && *f->at && *f->at != '\n' && *f->at != '#'; skip_blanks(f)) {
        rc = item(f);
        if (rc != GW_OK || !*f->at || *f->at == '\n' || *f->at == '#') break;
        if (*f->at != ',') return refuse(f, "'%c' where a comma should be", *f->at);
        f->at++;
    }
    f->at += strcspn(f->at, "\n");
    return rc;
}

int boot_order_parse(const char *path, const char *text, int size, int32_t *list_out)
{
    assert(size > 0);
    struct reader f = {.path = path, .at = text, .line = 1, .size = size, .list = list_out};
    f.line_of = gw_xcalloc((size_t)size, sizeof *f.line_of);
    int rc = line(&f);
    while (rc == GW_OK && *f.at) {
        f.at++;
        f.line++;
        rc = line(&f);
    }
    int missing = 0;
    while (rc == GW_OK && missing < size && f.line_of[missing]) missing++;
    if (rc == GW_OK && missing < size)
        rc = gw_fail(GW_EARG,
                     "%s: rank %d is missing: the file has %d of the %d ranks of this job; make it anew for this "
                     "number of ranks",
                     path, missing, f.n, size);
    free(f.line_of);
    return rc;
}

int boot_order_read(const char *path, int size, bool may_be_pipe, int32_t *list_out)
{
    enum { MOST = 64 << 20 }; /* a million ranks, and comments */
    char *text = NULL;
    const char *why = gw_file_read(path, MOST, may_be_pipe, &text);
    if (why)
        return gw_fail(GW_EARG,
                       "%s: it cannot be read (%s): MPICH_RANK_REORDER_METHOD=3 (GODWIT_RANK_ORDER) wants the file "
                       "MPICH_RANK_ORDER in "
                       "the folder where the program starts, or the one that MPICH_RANK_REORDER_FILE "
                       "(GODWIT_RANK_ORDER_FILE) names",
                       path, why);
    int rc = boot_order_parse(path, text, size, list_out);
    free(text);
    return rc;
}

/* ---- the methods ---- */
void boot_order_place(int method, const int32_t *node, int size, const int32_t *list, int32_t *rank_out)
{
    assert(size > 0);
    int32_t *scratch = gw_xmalloc(sizeof *scratch * ((size_t)size * 2 + 2));
    boot_order_deal(method, node, size, list, rank_out, scratch);
    free(scratch);
}

int boot_order_apply(int method, const char *path, int32_t *node, int size, int32_t *rank_out)
{
    assert(size > 0);
    int32_t *list = method == BOOT_ORDER_FILE ? gw_xmalloc(sizeof *list * (size_t)size) : NULL;
    int rc = list ? boot_order_read(path && *path ? path : "MPICH_RANK_ORDER", size, false, list) : GW_OK;
    if (rc == GW_OK) {
        int32_t *old = gw_xmalloc(sizeof *old * (size_t)size);
        memcpy(old, node, sizeof *old * (size_t)size);
        boot_order_place(method, old, size, list, rank_out);
        for (int p = 0; p < size; p++) node[rank_out[p]] = old[p];
        free(old);
    }
    free(list);
    return rc;
}
