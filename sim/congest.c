/* congest.c -- measures the latency of victim nodes beside aggressor nodes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "congest.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dragonfly.h"
#include "fabric.h"

struct congest_case {
    bool aggressors, managed;
    const char *victims_class; /* traffic class of the victims; aggressors are in the first class of the machine */
};
struct congest_result {
    double mean_us, max_us; /* of the victims' packets */
    double lost;            /* of the victims' packets, the part that did not arrive */
    double taken;           /* mean load of the links to the targets of the aggressors, 0 to 1 */
};
enum { VICTIMS = 5, SIXTEEN = 16, AHEAD = 64, UNRELIABLE_AHEAD = 8 };

static int class_named(const struct machine *m, const char *name)
{
    int c = 0;
    while (c < m->n_classes && strcmp(m->classes[c].name, name) != 0) c++;
    return c;
}

/* Shuffles the nodes, always in the same way. */
static void shuffle(int64_t *nodes, int64_t n)
{
    assert(n >= 0);
    uint64_t seed = 2026;
    for (int64_t i = 0; i < n; i++) nodes[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        int64_t k = (int64_t)(seed >> 33) % (i + 1), kept = nodes[i];
        nodes[i] = nodes[k];
        nodes[k] = kept;
    }
}

static int flows_make(const struct machine *m, const struct congest_case *c, const int64_t *nodes, int64_t n, int tclass,
                      struct fabric_flow *flows)
{
    int64_t victims = n / VICTIMS;
    int made = 0, ahead = tclass < m->n_classes && m->classes[tclass].drop > 0 ? UNRELIABLE_AHEAD : 1;
    for (int64_t i = 0; i < victims; i++)
        flows[made++] =
            (struct fabric_flow){.src = nodes[i], .dst = nodes[(i + 1) % victims], .tclass = tclass, .bytes = 8, .ahead = ahead};
    for (int64_t i = victims; i < n && c->aggressors; i++) {
        int64_t first = victims + (i - victims) / SIXTEEN * SIXTEEN;
        if (i != first) flows[made++] = (struct fabric_flow){.src = nodes[i], .dst = nodes[first], .ahead = AHEAD};
    }
    return made;
}

static void sum_up(const struct machine *m, const struct fabric_flow *flows, int n, int64_t victims, struct congest_result *r)
{
    int64_t packets = 0, lost = 0;
    int targets = 0;
    *r = (struct congest_result){0};
    for (int i = 0; i < n; i++) {
        if (i >= victims) {
            r->taken += fabric_share(m, &flows[i]);
            targets += i == victims || flows[i].dst != flows[i - 1].dst;
            continue;
        }
        packets += flows[i].packets, lost += flows[i].lost;
        r->mean_us += flows[i].mean * (double)flows[i].packets;
        if (flows[i].max > r->max_us) r->max_us = flows[i].max;
    }
    if (packets) r->mean_us /= (double)packets;
    if (packets + lost) r->lost = (double)lost / (double)(packets + lost);
    if (targets) r->taken /= targets;
}

static bool congest_run(const struct machine *m, const struct congest_case *c, const char *what, struct gw_progress *progress,
                        struct congest_result *out, char *error_out, int error_cap)
{
    struct dragonfly d = dragonfly_of(&m->fabric);
    int64_t n = dragonfly_nodes(&d);
    if (n / VICTIMS < 2) return snprintf(error_out, (size_t)error_cap, "a fabric of ten nodes at least is wanted"), false;
    int64_t *nodes = malloc((size_t)n * sizeof *nodes);
    struct fabric_flow *flows = malloc((size_t)n * sizeof *flows);
    if (!nodes || !flows) abort();
    shuffle(nodes, n);
    int made = flows_make(m, c, nodes, n, class_named(m, c->victims_class), flows);
    struct fabric_job job = {.machine = m,
                             .flows = flows,
                             .n_flows = made,
                             .managed = c->managed,
                             .from_us = 200,
                             .to_us = 600,
                             .progress = progress,
                             .what = what};
    bool ok = fabric_run(&job, error_out, error_cap);
    if (ok) sum_up(m, flows, made, n / VICTIMS, out);
    free(nodes);
    free(flows);
    return ok;
}

bool congest_print(const struct machine *m, struct gw_progress *progress, char *error_out, int error_cap)
{
    static const struct congest_case cases[] = {{false, true, NULL}, {true, false, NULL}, {true, true, NULL}};
    struct congest_result r, alone = {0};
    int classes = m->n_classes ? m->n_classes : 1, n = (int)GW_ARRAY_LEN(cases);
    char what[160];
    printf("# 8 bytes between victims on %s, microseconds\n%-12s %-12s %-10s %10s %10s %8s %8s %8s\n", m->name, "class",
           "aggressors", "managed", "mean", "most", "times", "taken", "lost");
    for (int i = 0; i < classes * n; i++) {
        struct congest_case c = cases[i % n];
        c.victims_class = m->n_classes ? m->classes[i / n].name : "-";
        snprintf(what, sizeof what, "congestion on %s, %d of %d, %s%s", m->name, i + 1, classes * n, c.victims_class,
                 !c.aggressors   ? " alone"
                     : c.managed ? " beside managed aggressors"
                                 : " beside aggressors");
        if (!congest_run(m, &c, what, progress, &r, error_out, error_cap)) return false;
        gw_progress_clear(progress);
        if (i == 0) alone = r;
        printf("%-12s %-12s %-10s %10.2f %10.2f %8.2f %8.2f %8.2f\n", c.victims_class, c.aggressors ? "yes" : "no",
               c.managed ? "yes" : "no", r.mean_us, r.max_us, r.mean_us / alone.mean_us, r.taken, r.lost);
        fflush(stdout);
    }
    return true;
}
