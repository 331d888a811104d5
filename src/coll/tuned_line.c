/* tuned_line.c -- a line of the file that GODWIT_TUNE names.  Needs base/number.c and base/processor.c alone: godwit-tune is built with both, and reads its
 * files as jobs do.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/coll_private.h"
#include "base/file.h"
#include "base/settings.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

const char *const coll_kind_names[COLL_KINDS] = {
    "barrier", "bcast",    "gather", "scatter",   "allgather",      "alltoall", "alltoallv",
    "gatherv", "scatterv", "reduce", "allreduce", "reduce_scatter", "scan",     "exscan",
};

int coll_kind_named(const char *name, size_t len)
{
    static const struct {
        const char *name;
        enum coll_kind kind;
    } more[] = {{"allgatherv", COLL_ALLGATHER}, {"alltoallw", COLL_ALLTOALLV}, {"reduce_scatter_block", COLL_REDUCE_SCATTER}};
    if (len > 4 && strncasecmp(name, "MPI_", 4) == 0) name += 4, len -= 4;
    for (int i = 0; i < 2; i++) {
        for (int kind = 0; kind < COLL_KINDS; kind++)
            if (coll_is_word(name, len, coll_kind_names[kind])) return kind;
        for (size_t k = 0; k < GW_ARRAY_LEN(more); k++)
            if (coll_is_word(name, len, more[k].name)) return more[k].kind;
        if (len == 0 || (*name != 'i' && *name != 'I')) break;
        name++, len--; /* accepts the name of the non-blocking call */
    }
    return COLL_KINDS;
}

enum { COLUMNS = 6, MOST_CHUNK = 1 << 30 };

/* "16K"; "-": none. */
static bool size_of(const char *text, int64_t none, int64_t most, int64_t *out)
{
    int64_t v;
    if (strcmp(text, "-") == 0) return *out = none, true;
    if (!isdigit((unsigned char)*text) || !gw_number_read(text, true, &v) || v > most) return false;
    *out = v;
    return true;
}

const char *coll_tuned_line(char *line, struct coll_rule *r_out, bool *has_nodes_out)
{
    char *cell[COLUMNS + 1];
    int n = 0;
    line[strcspn(line, "#")] = 0;
    line = gw_trimmed(line);
    *r_out = (struct coll_rule){.kind = COLL_KINDS, .min_nodes = 1, .max_nodes = INT_MAX, .is_tuned = true};
    enum gw_processor_column column = gw_processor_column(&line, &r_out->processor);
    if (!*line || (strchr(line, '=') && !strchr(line, '|'))) return NULL; /* base/ reads settings */
    if (column == GW_PROCESSOR_BAD_COLUMN) return "its first column is no processor such as intel/6/207";
    for (char *at = line; at && n <= COLUMNS; n++) {
        cell[n] = at;
        at = strchr(at, '|');
        if (at) *at++ = 0;
        cell[n] = gw_trimmed(cell[n]);
    }
    if (n != 5 && n != 6) return "it has not 5 columns, or 6 with nodes, behind that of a processor";
    char **rest = cell + (n == 6 ? 3 : 2);
    int kind = coll_kind_named(cell[0], strlen(cell[0]));
    if (kind == COLL_KINDS) return column ? "its second column is no collective" : "its first column is no collective";
    if (!gw_span_read(cell[1], &r_out->min_ranks, &r_out->max_ranks)) return "its ranks are not LOW..HIGH";
    if (n == 6 && !gw_span_read(cell[2], &r_out->min_nodes, &r_out->max_nodes)) return "its nodes are not LOW..HIGH";
    if (!size_of(rest[0], INT64_MAX, INT64_MAX, &r_out->max_bytes)) return "its bytes are no size such as 512, 16K or -";
    if (!size_of(rest[2], 0, MOST_CHUNK, &r_out->piece_bytes)) return "its chunk is no size up to 1G, or -";
    r_out->kind = (uint8_t)kind;
    r_out->name = rest[1];
    *has_nodes_out = n == 6;
    return NULL;
}
