/* match.c -- what matching costs: nanoseconds a message for n posted receives, and for n unexpected messages, answered in order
 * and in reverse order, and with a wildcard posted; beside it a list that is walked.  One process, no MPI: links with the match room alone.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "base/time.h"
#include "match/match.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 9, MOST = 1 << 20 };

static struct match_recv *recvs;
static struct {
    struct match_msg m GW_ALIGNED(64);
} * msgs; /* the first one is not used */

static void post(struct match_queue *q, int i)
{
    recvs[i].ctx = 4;
    recvs[i].src = 1;
    recvs[i].tag = i;
    if (match_post(q, &recvs[i])) abort();
}

static double posted_ns(int n, bool reverse, bool wild)
{
    struct match_queue *q = match_new();
    struct match_recv any = {.ctx = 8, .src = GW_ANY_SOURCE, .tag = 0};
    double best = 1e30;
    if (wild) match_post(q, &any);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < n; i++) post(q, i);
        uint64_t t0 = gw_now_ns();
        for (int i = 0; i < n; i++)
            if (!match_arrive(q, 4, 1, reverse ? n - 1 - i : i)) abort();
        double t = (double)(gw_now_ns() - t0) / n;
        if (t < best) best = t;
    }
    match_free(q);
    return best;
}

static double unexpected_ns(int n, bool reverse, bool wild)
{
    struct match_queue *q = match_new();
    double best = 1e30;
    match_msgs_behind(q, msgs);
    if (wild) match_probe(q, 8, GW_ANY_SOURCE, 0, false);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t t0 = gw_now_ns();
        for (int i = 0; i < n; i++) {
            struct match_msg *m = &msgs[i + 1].m;
            m->ctx = 4;
            m->src = 1;
            m->tag = i;
            if (match_arrive(q, 4, 1, i)) abort();
            match_add(q, m);
        }
        for (int i = 0; i < n; i++)
            if (!match_probe(q, 4, 1, reverse ? n - 1 - i : i, true)) abort();
        double t = (double)(gw_now_ns() - t0) / n;
        if (t < best) best = t;
    }
    match_free(q);
    return best;
}

/* For comparison: the receives in one list, oldest first, which is walked. */
struct listed {
    struct listed *next;
    uint32_t ctx;
    int src, tag;
};
static double list_ns(int n, bool reverse)
{
    struct listed *all = calloc((size_t)n, sizeof *all);
    double best = 1e30;
    for (int round = 0; all && round < ROUNDS; round++) {
        struct listed *first = NULL, **last = &first;
        for (int i = 0; i < n; i++) {
            all[i] = (struct listed){NULL, 4, 1, i};
            *last = &all[i];
            last = &all[i].next;
        }
        uint64_t t0 = gw_now_ns();
        for (int i = 0; i < n; i++) {
            int tag = reverse ? n - 1 - i : i;
            struct listed **at = &first;
            while ((*at)->ctx != 4 || (*at)->src != 1 || (*at)->tag != tag) at = &(*at)->next;
            *at = (*at)->next;
        }
        double t = (double)(gw_now_ns() - t0) / n;
        if (t < best) best = t;
    }
    free(all);
    return best;
}

/* `match [MOST]`: up to so many, where a million is not wanted. */
int main(int argc, char **argv)
{
    int most = argc > 1 ? atoi(argv[1]) : MOST;
    static const int all[] = {1, 8, 64, 512, 8192, 65536, MOST};
    recvs = calloc(MOST, sizeof *recvs);
    msgs = aligned_alloc(64, (MOST + 1) * sizeof *msgs);
    if (!recvs || !msgs) return 1;
    printf("ns a message       | posted: in order  reverse  wildcard | unexpected: in order  reverse  wildcard\n");
    for (size_t i = 0; i < GW_ARRAY_LEN(all) && all[i] <= most; i++) {
        int n = all[i];
        printf("%18d | %16.1f %8.1f %9.1f | %20.1f %8.1f %9.1f\n", n, posted_ns(n, false, false), posted_ns(n, true, false),
               posted_ns(n, true, true), unexpected_ns(n, false, false), unexpected_ns(n, true, false),
               unexpected_ns(n, true, true));
    }
    printf("ns a message in a list that is walked, reverse order:");
    for (int n = 8; n <= 8192; n *= 8) printf(" %d: %.1f", n, list_ns(n, true));
    printf("\n");
    free(recvs);
    free(msgs);
    return 0;
}
