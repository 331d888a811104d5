/* names.c -- descriptions of groups for processes of other worlds.
 *
 * Words: number of homes; of each uid in two words, pid, descriptor, host in two words, size of its world; number of members; whether
 * addresses follow; of each member its home's place in the list, where there are several, and its rank in that world; then of each its
 * address.  A world has a home for each of its nodes.  Who is on the host of a home maps the segment there, others take the address.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "base/base.h"
#include "boot/boot.h"
#include "node/node.h"
#include "world/world_private.h"

enum { HOME_WORDS = 7, AT_WORDS = PEER_AT / sizeof(int32_t), HOMES_MOST = 1 << 20 };
_Static_assert(PEER_AT % sizeof(int32_t) == 0, "an address is words");

struct entry {             /* of the list of homes */
    struct boot_home home; /* fd -1: its ranks cannot be met by shared memory */
    uint64_t host;         /* 0: not known */
    int32_t size;
};

static void entry_put(int32_t *w, const struct entry *e)
{
    memcpy(w, &e->home.uid, sizeof e->home.uid);
    w[2] = e->home.pid;
    w[3] = e->home.fd;
    memcpy(w + 4, &e->host, sizeof e->host);
    w[6] = e->size;
}
static struct entry entry_get(const int32_t *w)
{
    struct entry e = {.home = {.pid = w[2], .fd = w[3]}, .size = w[6]};
    memcpy(&e.home.uid, w, sizeof e.home.uid);
    memcpy(&e.host, w + 4, sizeof e.host);
    return e;
}
static const int32_t *entry_at(const int32_t *words, int i)
{
    assert(i >= 0);
    return words + 1 + (size_t)i * HOME_WORDS;
}
static const int32_t *behind_homes(const int32_t *words) { return entry_at(words, words[0]); }

/* The index of the home of process `number` in the list; appends it if it is new. */
static int home_place(int32_t *list, int *n, int number, const struct contact *contact, int *rank_out)
{
    int32_t w[HOME_WORDS];
    struct entry e = {.host = boot_host_id(), .size = gw_boot.size};
    node_name_of(number, &e.home, rank_out);
    if (contact) {
        e = (struct entry){contact->home, contact->host, contact->size};
    } else if (e.home.fd < 0) { /* on another host: processes that have met it know it by its rank */
        e.home.pid = -1;
        e.host = 0;
    }
    const struct node_other *o = node_other_find(number);
    if (!contact && o) e.size = o->size;
    entry_put(w, &e);
    for (int i = 0; i < *n; i++)
        if (memcmp(list + (size_t)i * HOME_WORDS, w, sizeof w) == 0) return i;
    memcpy(list + (size_t)*n * HOME_WORDS, w, sizeof w);
    return (*n)++;
}

int world_names_of(struct gw_group *g, const struct contact *contacts, int32_t **words_out, int *n_out)
{
    size_t members = (size_t)g->size;
    int32_t *list = malloc(sizeof *list * (members * HOME_WORDS + 1)),
            *w = malloc(sizeof *w * (3 + members * (HOME_WORDS + 2 + (contacts ? AT_WORDS : 0))));
    int *place = malloc(sizeof *place * 2 * (members + 1)), n = 0;
    if (!list || !w || !place) {
        free(list);
        free(w);
        free(place);
        return gw_fail(GW_ENOMEM, "no memory for a list of %d members", g->size);
    }
    for (int i = 0; i < g->size; i++)
        place[2 * i] = home_place(list, &n, group_world(g, i), contacts ? &contacts[i] : NULL, &place[2 * i + 1]);
    int at = 0;
    w[at++] = n;
    memcpy(w + at, list, sizeof *list * (size_t)(n * HOME_WORDS));
    at += n * HOME_WORDS;
    w[at++] = g->size;
    w[at++] = contacts != NULL;
    for (int i = 0; i < g->size; i++) {
        if (n > 1) w[at++] = place[2 * i];
        w[at++] = place[2 * i + 1];
    }
    for (int i = 0; contacts && i < g->size; i++, at += AT_WORDS) memcpy(w + at, contacts[i].at, PEER_AT);
    free(list);
    free(place);
    assert(world_names_are_whole(w, at)); /* as those who get it check */
    *words_out = w;
    *n_out = at;
    return GW_OK;
}

int world_names_of_nobody(int32_t **words_out, int *n_out)
{
    *n_out = 3;
    *words_out = calloc(3, sizeof **words_out);
    return *words_out ? GW_OK : gw_fail(GW_ENOMEM, "no memory for an empty list");
}

/* ---- the other way ---- */
static bool is_near(const struct entry *e) { return e->home.fd >= 0 && e->host == boot_host_id(); }

/* Takes references to all worlds of the list, until the group holds them; that of our own world is NULL. */
static int homes_meet(const int32_t *words, struct node_other **met)
{
    uint64_t me = boot_own_home().uid;
    int rc = GW_OK;
    for (int i = 0; i < words[0] && rc == GW_OK; i++) {
        struct entry e = entry_get(entry_at(words, i));
        if (e.home.uid == me) continue;
        if (is_near(&e))
            rc = peer_meet(&e.home, &met[i]);
        else if (e.size > 0)
            rc = peer_meet_far(e.home.uid, e.size, &met[i]);
    }
    return rc;
}

/* The number by which this process knows a member; -1: it is none; an error: it cannot be reached. */
static int number_of(const struct entry *e, struct node_other *o, int rank, const int32_t *at_words)
{
    char at[PEER_AT] = "";
    if (e->home.uid == boot_own_home().uid) return rank >= 0 && rank < gw_boot.size ? rank : -1;
    if (o && o->base) return node_other_number(o, rank);
    int near = node_near_number(e->home.uid, rank);
    if (near >= 0 || !o) return near;
    if (at_words) memcpy(at, at_words, sizeof at);
    at[sizeof at - 1] = 0;
    return node_far_put(o, rank, at);
}

/* Makes the group; fails if a member comes twice, because functions of groups rely on that. */
static int group_of(const int32_t *words, struct node_other *const *met, struct gw_group **group_out)
{
    int n_homes = words[0], members = behind_homes(words)[0], each = n_homes > 1 ? 2 : 1;
    const int32_t *w = behind_homes(words) + 2, *ats = behind_homes(words)[1] ? w + (size_t)members * (size_t)each : NULL;
    int32_t *map = malloc(sizeof *map * ((size_t)members + 1));
    bool *is_in = calloc((size_t)node_numbers_max(), sizeof *is_in);
    int rc = map && is_in ? GW_OK : gw_fail(GW_ENOMEM, "no memory for a group of %d", members);
    for (int i = 0; i < members && rc == GW_OK; i++) {
        int home = n_homes > 1 ? *w++ : 0, rank = *w++;
        map[i] = -1;
        if (home >= 0 && home < n_homes) {
            struct entry e = entry_get(entry_at(words, home));
            map[i] = number_of(&e, met[home], rank, ats ? ats + (size_t)i * AT_WORDS : NULL);
        }
        if (map[i] < -1)
            rc = map[i];
        else if (map[i] == -1)
            rc = gw_fail(GW_EOTHER, "the other side named a process that its job does not have");
        else if (is_in[map[i]])
            rc = gw_fail(GW_EOTHER, "the other side named a process twice");
        else
            is_in[map[i]] = true;
    }
    if (rc == GW_OK) rc = group_from_map(members, map, group_out);
    free(is_in);
    free(map);
    return rc;
}

/* Checks words from another process: they are as many as their counts say. */
bool world_names_are_whole(const int32_t *words, int n)
{
    if (n < 3 || words[0] < 0 || words[0] > HOMES_MOST || (int64_t)n < (int64_t)words[0] * HOME_WORDS + 3) return false;
    const int32_t *w = behind_homes(words);
    int64_t each = (words[0] > 1 ? 2 : 1) + (w[1] ? (int64_t)AT_WORDS : 0);
    return w[0] >= 0 && (w[1] == 0 || w[1] == 1) && n == (int64_t)words[0] * HOME_WORDS + 3 + w[0] * each;
}

int world_names_group(const int32_t *words, int n, struct gw_group **group_out)
{
    if (!world_names_are_whole(words, n)) return gw_fail(GW_EOTHER, "the other group's description is damaged");
    struct node_other **met = calloc((size_t)words[0] + 1, sizeof *met);
    if (!met) return gw_fail(GW_ENOMEM, "no memory for %d worlds", words[0]);
    int rc = homes_meet(words, met);
    if (rc == GW_OK) rc = group_of(words, met, group_out);
    for (int i = 0; i < words[0]; i++)
        if (met[i]) node_other_drop(met[i]);
    free(met);
    return rc;
}

int world_names_homes(const int32_t *words) { return words[0]; }

void world_names_firsts(const int32_t *words, int32_t *firsts_out)
{
    for (int i = 0; i < words[0]; i++) {
        struct entry e = entry_get(entry_at(words, i));
        firsts_out[i] = is_near(&e) ? -1 : node_far_first(e.home.uid);
    }
}

int world_names_home_of(const int32_t *words, int member)
{
    assert(member >= 0 && member < behind_homes(words)[0]);
    return words[0] > 1 ? behind_homes(words)[2 + 2 * member] : 0;
}

bool world_names_differ(const int32_t *a, const int32_t *b)
{
    const int32_t *of[2] = {a, b};
    const int32_t *first = entry_at(a[0] ? a : b, 0);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < of[k][0]; i++)
            if (entry_get(entry_at(of[k], i)).home.uid != entry_get(first).home.uid) return true;
    return false;
}

int world_names_order(struct gw_group *a, struct gw_group *b)
{
    struct boot_home ha, hb;
    int ra, rb;
    node_name_of(group_world(a, 0), &ha, &ra);
    node_name_of(group_world(b, 0), &hb, &rb);
    if (ha.uid != hb.uid) return ha.uid < hb.uid ? -1 : 1;
    return ra < rb ? -1 : ra > rb;
}
