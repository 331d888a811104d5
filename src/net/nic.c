/* nic.c -- see nic.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "net/nic.h"
#include "base/settings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

const char *const nic_policy_names[NIC_POLICIES] = {"BLOCK", "ROUND-ROBIN", "NUMA", "GPU", "USER"};

static void note(char *out, size_t cap, const char *fmt, ...) GW_PRINTF(3, 4);
static void note(char *out, size_t cap, const char *fmt, ...)
{
    va_list ap;
    if (*out) return; /* the first is enough */
    va_start(ap, fmt);
    vsnprintf(out, cap, fmt, ap);
    va_end(ap);
}

/* ---- nearness ----------------------------------------------------------------------------------- */
static int numa_distance(const struct nic_node *node, int a, int b)
{
    if (a < 0 || b < 0 || a >= NIC_NUMA_MOST || b >= NIC_NUMA_MOST) return NIC_FAR;
    if (node->distance[a][b]) return node->distance[a][b];
    return a == b ? 10 : 20; /* ACPI's defaults */
}

/* How many PCI bridges two paths have in common, without the root. */
static int shared_bridges(const char *a, const char *b)
{
    int n = 0;
    while (*a && *b) {
        size_t la = strcspn(a, "/"), lb = strcspn(b, "/");
        if (la != lb || strncmp(a, b, la) != 0) break;
        n++;
        a += la + (a[la] == '/');
        b += lb + (b[lb] == '/');
    }
    return n;
}

/* The distance of a NIC to a rank (or its GPU); less is nearer. */
static int distance_to(const struct nic_node *node, const struct nic_place *p, bool by_gpu, int nic)
{
    assert(nic >= 0 && nic < node->n_nics && (!by_gpu || (p->gpu >= 0 && p->gpu < node->n_gpus)));
    const struct nic_device *d = &node->nics[nic];
    if (!by_gpu) return numa_distance(node, p->numa, d->numa);
    const struct nic_device *gpu = &node->gpus[p->gpu];
    return numa_distance(node, gpu->numa, d->numa) - 256 * shared_bridges(gpu->path, d->path);
}

/* The nearest NIC; among equally near ones that with the fewest ranks so far. */
static int nearest(const struct nic_node *node, const struct nic_place *p, bool by_gpu, const int *load)
{
    int best = 0;
    for (int i = 1; i < node->n_nics; i++) {
        int d = distance_to(node, p, by_gpu, i) - distance_to(node, p, by_gpu, best);
        if (d < 0 || (d == 0 && load[i] < load[best])) best = i;
    }
    return best;
}

/* Ranks whose NUMA node or GPU is known get the nearest NIC; the others then get NICs round-robin. */
static void assign_near(const struct nic_node *node, bool by_gpu, int *nic_out, char *note_out, size_t cap)
{
    int load[NIC_MOST] = {0};
    for (int r = 0; r < node->n_ranks; r++) {
        const struct nic_place *p = &node->ranks[r];
        bool has_gpu = by_gpu && p->gpu >= 0 && p->gpu < node->n_gpus;
        nic_out[r] = -1;
        if (by_gpu && !has_gpu)
            note(note_out, cap,
                 "Unable to use a NIC_POLICY of 'GPU' for all: rank %d of the node has no GPU; it takes the NIC "
                 "nearest to its cores",
                 r);
        if (!has_gpu && p->numa == NIC_SEVERAL) {
            note(note_out, cap,
                 "Unable to use a NIC_POLICY of 'NUMA'. Rank %d is not confined to a single NUMA node; it takes a NIC "
                 "by turns. Bind "
                 "ranks to cores to have the nearest",
                 r);
            continue;
        }
        nic_out[r] = nearest(node, p, has_gpu, load);
        assert(nic_out[r] < NIC_MOST);
        load[nic_out[r]]++;
    }
    for (int r = 0, turn = 0; r < node->n_ranks; r++)
        if (nic_out[r] < 0) nic_out[r] = turn++ % node->n_nics;
}

/* ---- the user's own map ------------------------------------------------------------------------- */
static const char *skip(const char *p)
{
    while (isspace((unsigned char)*p)) p++;
    return p;
}

static bool number(const char **p, int *out)
{
    char *end;
    *p = skip(*p);
    if (!isdigit((unsigned char)**p)) return false;
    long v = strtol(*p, &end, 10);
    if (v > INT32_MAX / 2) return false;
    *out = (int)v;
    *p = skip(end);
    return true;
}

/* Reads "0,2,4-7" and maps these ranks to `nic`.  False: an error (*rc_out, text set), or not a list. */
static bool ranks_read(const char **p, int nic, int n_ranks, int *nic_out, int *rc_out)
{
    assert(nic >= 0 && nic < NIC_MOST);
    do {
        int a, b;
        if (!number(p, &a)) return false;
        b = a;
        if (**p == '-') {
            (*p)++;
            if (!number(p, &b) || b < a) return false;
        }
        for (int r = a; r <= b && r < n_ranks; r++) { /* ranks that do not exist are ignored */
            if (nic_out[r] >= 0 && nic_out[r] != nic) {
                *rc_out = gw_fail(GW_EARG, "%s maps rank %d of the node to NIC %d and to NIC %d",
                                  gw_setting_said("GODWIT_NIC_MAPPING"), r, nic_out[r], nic);
                return true;
            }
            nic_out[r] = nic;
        }
    } while (**p == ',' && (*p)++);
    return true;
}

static int assign_user(const struct nic_node *node, const char *mapping, int *nic_out)
{
    int nic, rc = GW_OK;
    if (!mapping || !*skip(mapping))
        return gw_fail(GW_EARG,
                       "%s=USER needs %s, \"NIC:ranks; NIC:ranks\" by ranks of "
                       "the node, as in \"0:0-3; 1:4-7\"",
                       gw_setting_said("GODWIT_NIC_POLICY"), gw_setting_said("GODWIT_NIC_MAPPING"));
    for (int r = 0; r < node->n_ranks; r++) nic_out[r] = -1;
    for (const char *p = skip(mapping); *p;) {
        const char *word = p;
        if (!number(&p, &nic) || *p++ != ':') goto bad;
        if (nic >= node->n_nics)
            return gw_fail(GW_EARG, "%s names NIC %d, this node has %d, from 0 to %d", gw_setting_said("GODWIT_NIC_MAPPING"), nic,
                           node->n_nics, node->n_nics - 1);
        if (!ranks_read(&p, nic, node->n_ranks, nic_out, &rc) || (*p && *p != ';')) goto bad;
        if (rc != GW_OK) return rc;
        p = skip(p + (*p == ';'));
        continue;
    bad:
        return gw_fail(GW_EARG, "%s is not \"NIC:ranks; NIC:ranks\" from \"%.40s\" on, as in \"0:0-3; 1:4-7\"",
                       gw_setting_said("GODWIT_NIC_MAPPING"), word);
    }
    for (int r = 0; r < node->n_ranks; r++)
        if (nic_out[r] < 0)
            return gw_fail(GW_EARG, "%s gives rank %d of the node no NIC: every local rank needs one",
                           gw_setting_said("GODWIT_NIC_MAPPING"), r);
    return GW_OK;
}

int nic_assign(const struct nic_node *node, enum nic_policy policy, const char *mapping, int *nic_out, char *note_out, size_t cap)
{
    assert(node->n_nics > 0 && node->n_nics <= NIC_MOST && policy < NIC_POLICIES);
    int n = node->n_nics, block = (node->n_ranks + n - 1) / n;
    *note_out = 0;
    if (policy == NIC_USER) return assign_user(node, mapping, nic_out);
    if (policy == NIC_NUMA || policy == NIC_GPU)
        assign_near(node, policy == NIC_GPU, nic_out, note_out, cap);
    else
        for (int r = 0; r < node->n_ranks; r++) nic_out[r] = policy == NIC_BLOCK ? r / block : r % n;
    assert(node->n_ranks == 0 || nic_out[node->n_ranks - 1] < n); /* the last block is not beyond the last card */
    return GW_OK;
}

/* ---- selection of NICs -------------------------------------------------------------------------- */
int nic_select(const char *text, int n, int *list_out, int *n_out)
{
    int count = n, k = 0, index;
    assert(n > 0 && n <= NIC_MOST);
    const char *p = skip(text ? text : "");
    if (*p && !number(&p, &count)) goto bad;
    if (count < 1 || count > n)
        return gw_fail(GW_EARG, "%s=%s: this node has %d NIC%s that can be used", gw_setting_said("GODWIT_NIC_COUNT"), text, n,
                       n == 1 ? "" : "s");
    if (*p == ':') {
        do {
            p++;
            if (!number(&p, &index)) goto bad;
            if (index >= n)
                return gw_fail(GW_EARG, "%s=%s: there is no NIC %d, this node has %d, from 0 to %d",
                               gw_setting_said("GODWIT_NIC_COUNT"), text, index, n, n - 1);
            for (int i = 0; i < k; i++)
                if (list_out[i] == index)
                    return gw_fail(GW_EARG, "%s=%s names NIC %d twice", gw_setting_said("GODWIT_NIC_COUNT"), text, index);
            list_out[k] = index; /* indices differ, so there are at most n */
            k++;
        } while (*p == ',');
        if (*p) goto bad;
        if (k != count)
            return gw_fail(GW_EARG, "%s=%s says %d NICs and names %d", gw_setting_said("GODWIT_NIC_COUNT"), text, count, k);
    } else if (*p) {
        goto bad;
    } else {
        for (; k < count; k++) list_out[k] = k;
    }
    assert(k > 0 && k <= n);
    *n_out = k;
    return GW_OK;
bad:
    return gw_fail(GW_EARG, "%s=%s is neither a number nor \"number:index,index\", as in \"2:0,3\"",
                   gw_setting_said("GODWIT_NIC_COUNT"), text);
}

int nic_check_symmetry(const char *host, int n, int other_pe, int other_n)
{
    if (n == other_n) return GW_OK;
    return gw_fail(GW_EUNSUPPORTED,
                   "%s has %d NIC%s and the host of rank %d has %d: set %s=%d to use as many on each, or "
                   "GODWIT_NIC_SKIP_SYMMETRY_TEST=1 where that is meant",
                   host, n, n == 1 ? "" : "s", other_pe, other_n, gw_setting_said("GODWIT_NIC_COUNT"), n < other_n ? n : other_n);
}

/* ---- texts -------------------------------------------------------------------------------------- */
void nic_text(const char *host, int pe, const struct nic_device *nic, int index, int n, char *out, size_t cap)
{
    snprintf(out, cap, "PE %d: Host %s NIC %d of %d: index=%d, domain_name=%s, numa_node=%d, address=[%s]", pe, host, index + 1, n,
             index, nic->name, nic->numa, nic->address);
}

void nic_rank_text(const char *host, int pe, const struct nic_device *nic, int index, char *out, size_t cap)
{
    snprintf(out, cap, "PE %d: Host %s selected NIC index=%d, domain_name=%s, numa_node=%d, address=[%s]", pe, host, index,
             nic->name, nic->numa, nic->address);
}

void nic_ranks_text(const char *host, int pe, const struct nic_node *node, const int *nic_of, const int *ranks, char *out,
                    size_t cap)
{
    snprintf(out, cap, "PE %d: Host %s", pe, host);
    for (int i = 0; i < node->n_nics; i++) {
        gw_text_add(out, cap, "%s NIC %d (%s) serves", i ? ";" : ":", i, node->nics[i].name);
        const char *before = " ranks ";
        for (int r = 0, to; r < node->n_ranks; r = to + 1) {
            to = r;
            if (nic_of[r] != i) continue;
            while (to + 1 < node->n_ranks && nic_of[to + 1] == i && ranks[to + 1] == ranks[to] + 1) to++;
            gw_text_add(out, cap, to > r ? "%s%d-%d" : "%s%d", before, ranks[r], ranks[to]);
            before = ",";
        }
        if (*before == ' ') gw_text_add(out, cap, " no rank");
    }
}

void nic_load_text(const struct nic_node *node, const int *nic_of, char *out, size_t cap)
{
    int load[NIC_MOST] = {0};
    assert(node->n_nics <= NIC_MOST);
    for (int r = 0; r < node->n_ranks; r++) {
        assert(nic_of[r] >= 0 && nic_of[r] < node->n_nics);
        load[nic_of[r]]++;
    }
    *out = 0;
    for (int i = 0; i < node->n_nics; i++)
        gw_text_add(out, cap, "%sNIC %d (%s): %d rank%s", i ? ", " : "", i, node->nics[i].name, load[i], load[i] == 1 ? "" : "s");
}
