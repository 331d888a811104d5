/* names.c -- groups in words that processes of other worlds understand.
 *
 * Words: number of homes; of each uid in two words, pid, descriptor; number of members; of each its home's place in the list, where
 * there are several, and its rank in that world.  A world with faked nodes has several homes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "node/node.h"
#include "world/world_private.h"

enum { HOME_WORDS = 4 };

static void home_put(int32_t *w, const struct boot_home *h)
{
    memcpy(w, &h->uid, sizeof h->uid);
    w[2] = h->pid;
    w[3] = h->fd;
}
static struct boot_home home_get(const int32_t *w)
{
    struct boot_home h = {.pid = w[2], .fd = w[3]};
    memcpy(&h.uid, w, sizeof h.uid);
    return h;
}

/* The place of the home of `number` in the list, which grows. */
static int home_place(int32_t *list, int *n, int number, int *rank_out)
{
    struct boot_home h;
    node_name_of(number, &h, rank_out);
    for (int i = 0; i < *n; i++)
        if (memcmp(list + i * HOME_WORDS, &h, sizeof h) == 0) return i;
    home_put(list + *n * HOME_WORDS, &h);
    return (*n)++;
}

int names_of(struct gw_group *g, int32_t **words_out, int *n_out)
{
    size_t members = (size_t)g->size;
    int32_t *list = malloc(sizeof *list * (members * HOME_WORDS + 1)),
            *w = malloc(sizeof *w * (2 + members * (HOME_WORDS + 2)));
    int *place = malloc(sizeof *place * 2 * (members + 1)), n = 0;
    if (!list || !w || !place) {
        free(list);
        free(w);
        free(place);
        return gw_fail(GW_ENOMEM, "no memory for a list of %d members", g->size);
    }
    for (int i = 0; i < g->size; i++) place[2 * i] = home_place(list, &n, group_world(g, i), &place[2 * i + 1]);
    int at = 0;
    w[at++] = n;
    memcpy(w + at, list, sizeof *list * (size_t)(n * HOME_WORDS));
    at += n * HOME_WORDS;
    w[at++] = g->size;
    for (int i = 0; i < g->size; i++) {
        if (n > 1) w[at++] = place[2 * i];
        w[at++] = place[2 * i + 1];
    }
    free(list);
    free(place);
    *words_out = w;
    *n_out = at;
    return GW_OK;
}

/* References to all the worlds of the list, for as long as the group is not there to hold them; our own stays NULL. */
static int homes_meet(const int32_t *list, int n, struct node_other **met)
{
    uint64_t me = boot_own_home().uid;
    int rc = GW_OK;
    for (int i = 0; i < n && rc == GW_OK; i++) {
        struct boot_home h = home_get(list + i * HOME_WORDS);
        if (h.uid != me) rc = peer_meet(&h, &met[i]);
    }
    return rc;
}

static int group_of(const int32_t *w, int n_homes, int members, struct node_other *const *met, struct gw_group **group_out)
{
    int32_t *map = malloc(sizeof *map * ((size_t)members + 1));
    int rc = map ? GW_OK : gw_fail(GW_ENOMEM, "no memory for a group of %d", members);
    for (int i = 0; i < members && rc == GW_OK; i++) {
        int home = n_homes > 1 ? *w++ : 0, rank = *w++;
        const struct node_other *o = home >= 0 && home < n_homes ? met[home] : NULL;
        map[i] = o ? node_other_number(o, rank) : rank < gw_boot.size ? rank : -1;
        if (home < 0 || home >= n_homes || map[i] < 0)
            rc = gw_fail(GW_EINTERN, "the other side named a process that its job does not have");
    }
    if (rc == GW_OK) rc = group_from_map(members, map, group_out);
    free(map);
    return rc;
}

int names_group(const int32_t *words, int n, struct gw_group **group_out)
{
    int n_homes = words[0], members = n > n_homes * HOME_WORDS + 1 ? words[1 + n_homes * HOME_WORDS] : -1;
    const int32_t *list = words + 1, *w = list + n_homes * HOME_WORDS + 1;
    if (members < 0 || n != n_homes * HOME_WORDS + 2 + members * (n_homes > 1 ? 2 : 1))
        return gw_fail(GW_EINTERN, "the other group's description is damaged");
    struct node_other **met = calloc((size_t)n_homes + 1, sizeof *met);
    if (!met) return gw_fail(GW_ENOMEM, "no memory for %d worlds", n_homes);
    int rc = homes_meet(list, n_homes, met);
    if (rc == GW_OK) rc = group_of(w, n_homes, members, met, group_out);
    for (int i = 0; i < n_homes; i++)
        if (met[i]) node_other_drop(met[i]);
    free(met);
    return rc;
}

bool names_differ(const int32_t *a, const int32_t *b)
{
    const int32_t *of[2] = {a, b};
    const int32_t *first = a[0] ? a + 1 : b + 1;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < of[k][0]; i++)
            if (home_get(of[k] + 1 + i * HOME_WORDS).uid != home_get(first).uid) return true;
    return false;
}

int names_order(struct gw_group *a, struct gw_group *b)
{
    struct boot_home ha, hb;
    int ra, rb;
    node_name_of(group_world(a, 0), &ha, &ra);
    node_name_of(group_world(b, 0), &hb, &rb);
    if (ha.uid != hb.uid) return ha.uid < hb.uid ? -1 : 1;
    return ra < rb ? -1 : ra > rb;
}
