/* nic_recorded.h -- reads a machine recorded by hwloc (`lstopo --of xml`) into a struct nic_node, for tests.
 *
 * It knows what hwloc writes, a tag a line or not, and no XML beyond that.  NICs and GPUs are ordered by name.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_NIC_RECORDED_H
#define GW_TEST_NIC_RECORDED_H

#include <stdio.h>
#include <stdlib.h>

#include "net/nic.h"

enum { RECORDED_DEPTH = 32, RECORDED_NETWORK = 2, RECORDED_FABRIC = 3, RECORDED_COPROCESSOR = 5 };
struct recorded_open {
    char type[32], bus[64];
    unsigned long nodes;
}; /* an object that is not closed yet */

static inline bool recorded_attr(const char *tag, const char *name, char *out, size_t cap)
{
    char key[64];
    snprintf(key, sizeof key, " %s=\"", name);
    const char *end = strchr(tag, '>'), *p = strstr(tag, key);
    if (!p || !end || p > end) return false;
    p += strlen(key);
    snprintf(out, cap, "%.*s", (int)strcspn(p, "\""), p);
    return true;
}

static inline int recorded_by_name(const void *a, const void *b)
{
    return strcmp(((const struct nic_device *)a)->name, ((const struct nic_device *)b)->name);
}

static inline void recorded_device(struct nic_node *node, const char *tag, const struct recorded_open *stack, int depth)
{
    char text[32];
    if (!recorded_attr(tag, "osdev_type", text, sizeof text)) return;
    int type = atoi(text);
    bool is_gpu = type == RECORDED_COPROCESSOR;
    if (!is_gpu && type != RECORDED_NETWORK && type != RECORDED_FABRIC) return;
    struct nic_device *d = is_gpu ? &node->gpus[node->n_gpus++] : &node->nics[node->n_nics++];
    *d = (struct nic_device){.numa = NIC_UNKNOWN};
    recorded_attr(tag, "name", d->name, sizeof d->name);
    for (int i = 0; i < depth; i++) {
        if (stack[i].nodes && !(stack[i].nodes & (stack[i].nodes - 1))) d->numa = __builtin_ctzl(stack[i].nodes);
        if (!*stack[i].bus) continue;
        size_t at = strlen(d->path);
        snprintf(d->path + at, sizeof d->path - at, "%s%s", at ? "/" : "", stack[i].bus);
    }
}

static inline void recorded_object(struct nic_node *node, const char *tag, struct recorded_open *stack, int *depth)
{
    char nodes[64] = "0";
    assert(*depth < RECORDED_DEPTH);
    struct recorded_open *o = &stack[*depth];
    memset(o, 0, sizeof *o);
    recorded_attr(tag, "type", o->type, sizeof o->type);
    recorded_attr(tag, "nodeset", nodes, sizeof nodes);
    o->nodes = strtoul(nodes, NULL, 16);
    if (!recorded_attr(tag, "pci_busid", o->bus, sizeof o->bus)) recorded_attr(tag, "bridge_pci", o->bus, sizeof o->bus);
    if (strcmp(o->type, "OSDev") == 0) recorded_device(node, tag, stack, *depth);
    const char *end = strchr(tag, '>');
    if (end && end[-1] != '/') ++*depth;
}

static inline void recorded_distances(struct nic_node *node, const char *text)
{
    int numbers[NIC_NUMA_MOST], n = 0;
    const char *p = strstr(text, "<indexes"), *v = strstr(text, "<u64values");
    char *end;
    if (!p || !v) return;
    for (p = strchr(p, '>') + 1; n < NIC_NUMA_MOST && *p != '<'; p = end + strspn(end, " "))
        numbers[n++] = (int)strtol(p, &end, 10);
    v = strchr(v, '>') + 1;
    for (int i = 0; i < n * n; i++, v = end) node->distance[numbers[i / n]][numbers[i % n]] = (uint8_t)strtol(v, &end, 10);
}

/* False: there is no such file. */
static inline bool recorded_read(struct nic_node *node, const char *path)
{
    struct recorded_open stack[RECORDED_DEPTH];
    int depth = 0;
    FILE *f = fopen(path, "re");
    memset(node, 0, sizeof *node);
    if (!f) return false;
    char *text = calloc(1, 1 << 20);
    bool ok = text && fread(text, 1, (1 << 20) - 1, f) > 0;
    fclose(f);
    for (const char *p = text; ok && (p = strchr(p, '<')); p++) {
        if (strncmp(p, "<object ", 8) == 0) recorded_object(node, p, stack, &depth);
        if (strncmp(p, "</object>", 9) == 0) depth--;
        if (strncmp(p, "<distances2 ", 12) == 0) recorded_distances(node, p);
    }
    free(text);
    qsort(node->nics, (size_t)node->n_nics, sizeof *node->nics, recorded_by_name);
    qsort(node->gpus, (size_t)node->n_gpus, sizeof *node->gpus, recorded_by_name);
    return ok;
}

#endif
