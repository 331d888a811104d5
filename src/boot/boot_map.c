/* boot_map.c -- which rank is on which node.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/hash.h"
#include "boot/order.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- faked nodes: "4" or "3,1,2" ---- */
/* The next number of a list; 0 at its end, -1 if the text is no number above 0. */
static int size_next(const char **text)
{
    char *end;
    if (!**text) return 0;
    errno = 0;
    long v = strtol(*text, &end, 10);
    if (errno || end == *text || v < 1 || v > INT32_MAX || (*end && *end != ',') || (*end == ',' && !end[1])) return -1;
    *text = *end ? end + 1 : end;
    return (int)v;
}

int boot_vnodes_check(const char *text)
{
    for (const char *p = text; *p;)
        if (size_next(&p) < 0)
            return gw_fail(GW_EARG,
                           "'%s' is neither a number of faked nodes, such as 2, nor a list of how many ranks each has, "
                           "such as 3,1,2",
                           text);
    return GW_OK;
}

int boot_vnodes_block(const char *text, int n, int k, int *first_out, int *count_out)
{
    assert(n > 0 && k >= 0 && k < n);
    int first = 0, block = 0, count = n;
    if (!*text) {
        *first_out = 0;
        *count_out = n;
        return 0;
    }
    bool is_number = !strchr(text, ',');
    const char *p = text;
    int nodes = is_number ? size_next(&p) : 0;
    if (nodes > n) nodes = n;
    for (;; block++, first += count) {
        if (!is_number && !*p) p = text;
        count = is_number ? n / nodes + (block < n % nodes) : size_next(&p);
        if (count > n - first) count = n - first;
        if (k < first + count) break;
    }
    *first_out = first;
    *count_out = count;
    return block;
}

/* ---- numbers ---- */
/* Replaces values by numbers from 0 in the order in which they first appear, equal ones by the same.  Returns how many there are. */
static int number(int32_t *value, int n)
{
    assert(n > 0);
    uint64_t cap = 16;
    int count = 0;
    while (cap < 2 * (uint64_t)n) cap *= 2;
    struct entry {
        int32_t value, number_plus_1;
    } *table = gw_xcalloc(cap, sizeof *table);
    for (int i = 0; i < n; i++) {
        uint64_t at = (uint32_t)value[i] * 0x9e3779b97f4a7c15ull >> 20 & (cap - 1);
        while (table[at].number_plus_1 && table[at].value != value[i]) at = (at + 1) & (cap - 1);
        if (!table[at].number_plus_1) table[at] = (struct entry){value[i], ++count};
        value[i] = table[at].number_plus_1 - 1;
    }
    free(table);
    return count;
}

/* node[]: in, the host of each rank, numbered from 0; out, a number that is different for each faked node. */
static void split(const char *vnodes, int32_t *node, int size, int n_hosts)
{
    struct host {
        int ranks, seen; /* of its ranks */
        int first_id;    /* of its nodes */
        int block, until;
    } *host = gw_xcalloc((size_t)n_hosts, sizeof *host);
    int first, count, next_id = 0;
    for (int r = 0; r < size; r++) host[node[r]].ranks++;
    for (int h = 0; h < n_hosts; h++) {
        host[h].first_id = next_id;
        next_id += boot_vnodes_block(vnodes, host[h].ranks, host[h].ranks - 1, &first, &count) + 1;
    }
    for (int r = 0; r < size; r++) {
        struct host *h = &host[node[r]];
        if (h->seen == h->until) {
            h->block = boot_vnodes_block(vnodes, h->ranks, h->seen, &first, &count);
            h->until = first + count;
        }
        h->seen++;
        node[r] = h->first_id + h->block;
    }
    free(host);
}

int boot_map_nodes(const char *vnodes, int32_t *node, int size)
{
    assert(size > 0);
    int n = number(node, size);
    if (!*vnodes) return n;
    split(vnodes, node, size, n);
    return number(node, size);
}

/* ---- names ---- */
struct boot_name_seen {
    uint64_t hash; /* 64 bits tell hosts apart */
    int number_plus_1;
};

struct boot_names boot_names_begin(int most)
{
    assert(most > 0);
    struct boot_names n = {.cap = 16};
    while (n.cap < 2 * (uint64_t)most) n.cap *= 2;
    n.table = gw_xcalloc(n.cap, sizeof *n.table);
    return n;
}

int boot_names_number(struct boot_names *n, const char *name)
{
    uint64_t hash = gw_hash_text(name), at = hash & (n->cap - 1);
    while (n->table[at].number_plus_1 && n->table[at].hash != hash) at = (at + 1) & (n->cap - 1);
    if (!n->table[at].number_plus_1) n->table[at] = (struct boot_name_seen){hash, ++n->count};
    return n->table[at].number_plus_1 - 1;
}

/* ---- PMI_process_mapping ---- */
/* "(vector,(first node,nodes,ranks per node),...)": blocks give consecutive ranks to consecutive nodes; the list starts
 * again when it ends before the ranks do. */
bool boot_mapping_read(const char *mapping, int size, int32_t *node_out)
{
    static const char prefix[] = "(vector";
    if (strncmp(mapping, prefix, sizeof prefix - 1) != 0) return false;
    const char *p = mapping + sizeof prefix - 1;
    bool sane = true;
    int at = 0;
    while (at < size && sane) {
        int first, nodes, per_node, len = 0, before = at;
        for (const char *q = p; sscanf(q, " , (%d,%d,%d)%n", &first, &nodes, &per_node, &len) == 3 && len && sane;
             q += len, len = 0) {
            sane = first >= 0 && nodes > 0 && per_node > 0 && nodes <= INT32_MAX - first;
            for (int i = 0; sane && i < nodes && at < size; i++)
                for (int j = 0; j < per_node && at < size; j++) node_out[at++] = first + i;
        }
        sane = sane && at > before;
    }
    return sane;
}

int *boot_mapping_locals(const char *mapping, int size, int rank, int *n_out)
{
    assert(rank >= 0 && rank < size);
    int32_t *node = gw_xmalloc((size_t)size * sizeof *node);
    int n = 0;
    if (!boot_mapping_read(mapping, size, node)) {
        free(node);
        return NULL;
    }
    int32_t mine = node[rank];
    for (int r = 0; r < size; r++)
        if (node[r] == mine) node[n++] = r; /* n <= r: nothing unread is overwritten */
    *n_out = n;
    return node;
}
