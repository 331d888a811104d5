/* order.c -- see order.h.  One function names each field once, and writes or reads it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "agent/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

struct pack {
    bool reads, is_bad;
    char *at;
    size_t len, cap; /* read: how far, of how many bytes */
};

static void bytes(struct pack *p, void *data, size_t n)
{
    if (p->reads) {
        if (p->is_bad || p->cap - p->len < n) {
            p->is_bad = true;
            memset(data, 0, n);
            return;
        }
        memcpy(data, p->at + p->len, n);
    } else {
        if (p->cap - p->len < n) p->at = gw_xrealloc(p->at, p->cap = 2 * p->cap + n);
        memcpy(p->at + p->len, data, n);
    }
    p->len += n;
}

static void number(struct pack *p, int *n)
{
    int32_t it = *n;
    bytes(p, &it, sizeof it);
    *n = it;
}

static void yes(struct pack *p, bool *is)
{
    uint8_t it = *is;
    bytes(p, &it, 1);
    *is = it != 0;
}

/* NULL is another text than "". */
static void text(struct pack *p, const char **t)
{
    int n = *t && !p->reads ? (int)strlen(*t) + 1 : 0;
    number(p, &n);
    if (p->reads) {
        *t = NULL;
        if (n <= 0) return;
        if (p->is_bad || p->cap - p->len < (size_t)n || p->at[p->len + (size_t)n - 1])
            p->is_bad = true;
        else
            *t = p->at + p->len;
        p->len += p->is_bad ? 0 : (size_t)n;
    } else if (n) {
        bytes(p, (char *)(uintptr_t)*t, (size_t)n);
    }
}

static void words(struct pack *p, struct words *w)
{
    int n = w->n;
    number(p, &n);
    if (p->reads) *w = (struct words){0};
    for (int i = 0; i < n && !p->is_bad; i++) {
        const char *one = p->reads ? NULL : w->at[i];
        text(p, &one);
        if (p->reads && one) words_add(w, one);
    }
}

#define CHOICE(p, field)                                                                                                           \
    do {                                                                                                                           \
        int choice = (int)(field);                                                                                                 \
        number(p, &choice);                                                                                                        \
        (field) = choice;                                                                                                          \
    } while (0)

static void app(struct pack *p, struct launch_app *a)
{
    struct words argv = {0};
    for (char **w = p->reads ? NULL : a->argv; w && *w; w++) words_add(&argv, *w);
    number(p, &a->n);
    number(p, &a->asked);
    number(p, &a->dropped);
    text(p, &a->soft);
    words(p, &argv);
    words(p, &a->env);
    CHOICE(p, a->inherits.from);
    text(p, &a->inherits.names);
    text(p, &a->wdir);
    text(p, &a->path);
    text(p, &a->file);
    if (p->reads) {
        if (!argv.n) p->is_bad = true;
        a->argv = argv.at;
    } else {
        words_free(&argv);
    }
}

static void place(struct pack *p, struct place_wanted *w)
{
    CHOICE(p, w->bind);
    number(p, &w->bind_count);
    number(p, &w->depth);
    text(p, &w->user);
    CHOICE(p, w->map);
    number(p, &w->ppr);
    text(p, &w->ppr_said);
    CHOICE(p, w->rank_by);
    yes(p, &w->rank_by_given);
    text(p, &w->cpu_set);
    text(p, &w->numa);
    number(p, &w->numa_most);
    text(p, &w->membind);
    number(p, &w->reserve);
}

static void options(struct pack *p, struct launch_options *o)
{
    number(p, &o->n_apps);
    if (p->reads) {
        if (o->n_apps < 1 || o->n_apps > MAX_RANKS) p->is_bad = true;
        if (p->is_bad) o->n_apps = 0;
        if (p->is_bad) return;
        o->apps = gw_xcalloc((size_t)o->n_apps, sizeof *o->apps);
    }
    for (int i = 0; i < o->n_apps && !p->is_bad; i++) app(p, &o->apps[i]); /* what is left is empty */
    number(p, &o->n_ranks);
    words(p, &o->env);
    CHOICE(p, o->inherits.from);
    text(p, &o->inherits.names);
    place(p, &o->place);
    number(p, &o->stdin_rank);
    yes(p, &o->verbose);
    yes(p, &o->quiet);
    yes(p, &o->exit_codes);
    yes(p, &o->oversubscribe);
    yes(p, &o->no_oversubscribe);
    yes(p, &o->show_map);
    yes(p, &o->no_launch);
    yes(p, &o->no_cleanup);
    yes(p, &o->crash_stacks);
    text(p, &o->preload);
    bytes(p, &o->cpu_time, sizeof o->cpu_time);
}

static void order(struct pack *p, struct agent_order *a)
{
    number(p, &a->host);
    number(p, &a->size);
    number(p, &a->universe);
    bytes(p, &a->uid, sizeof a->uid);
    text(p, &a->folder);
    text(p, &a->home);
    words(p, &a->hosts);
    words(p, &a->env);
    options(p, a->o);
}

char *agent_order_pack(struct agent_order *a, size_t *len_out)
{
    struct pack p = {.reads = false};
    order(&p, a);
    *len_out = p.len;
    return p.at;
}

bool agent_order_unpack(struct agent_order *a, const char *data, size_t len)
{
    struct pack p = {.reads = true, .at = (char *)(uintptr_t)data, .cap = len};
    order(&p, a);
    return !p.is_bad && p.len == len && a->host >= 0 && a->host < a->hosts.n && a->folder && a->size == a->o->n_ranks &&
        agent_order_first(a, a->hosts.n) == a->size;
}

void agent_order_free(struct agent_order *a)
{
    words_free(&a->hosts);
    words_free(&a->env);
}

static int count_of(const struct agent_order *a, int host)
{
    const char *colon = strrchr(a->hosts.at[host], ':');
    int n = colon ? atoi(colon + 1) : 0;
    return n > 0 && n <= MAX_RANKS ? n : 0;
}

int agent_order_first(const struct agent_order *a, int host)
{
    int first = 0;
    for (int i = 0; i < host; i++) first += count_of(a, i);
    return first;
}

char *agent_order_mapping(const struct agent_order *a)
{
    char *text = gw_xasprintf("(vector");
    for (int i = 0, end; i < a->hosts.n; i = end) {
        for (end = i + 1; end < a->hosts.n && count_of(a, end) == count_of(a, i);) end++;
        char *longer = gw_xasprintf("%s,(%d,%d,%d)", text, i, end - i, count_of(a, i));
        free(text);
        text = longer;
    }
    char *whole = gw_xasprintf("%s)", text);
    free(text);
    return whole;
}

/* NULL: of an order that is none. */
static void argv_empty(char **argv)
{
    for (char **w = argv; w && *w; w++) free(*w);
    if (argv) *argv = NULL;
}

void agent_order_words_free(struct launch_options *o)
{
    for (int i = 0; i < o->n_apps; i++) argv_empty(o->apps[i].argv);
}

void agent_order_cut(const struct agent_order *a, struct launch_options *o)
{
    int from = agent_order_first(a, a->host), to = agent_order_first(a, a->host + 1), kept = 0, dropped = 0;
    for (int i = 0, first = 0, end; i < o->n_apps; i++, first = end) {
        struct launch_app one = o->apps[i];
        end = first + one.n;
        int low = first > from ? first : from, high = end < to ? end : to;
        if (low >= high) {
            argv_empty(one.argv);
            free(one.argv);
            words_free(&one.env);
            dropped++;
            continue;
        }
        one.n = high - low;
        one.dropped += dropped;
        o->apps[kept++] = one;
    }
    o->n_apps = kept;
    o->n_ranks = to - from;
    if (o->stdin_rank >= 0) o->stdin_rank = o->stdin_rank >= from && o->stdin_rank < to ? o->stdin_rank - from : STDIN_NONE;
}

bool agent_env_is_own(const char *pair)
{
    static const char *const own[] = {
        "_=",    "PWD=",  "OLDPWD=",  "SHLVL=", "HOSTNAME=", "TMPDIR=", "SSH_", "DISPLAY=", "XAUTHORITY=", "XDG_", "DBUS_",
        "HOME=", "USER=", "LOGNAME=", "SHELL=", "MAIL=",     "SLURM",   "PBS_", "LSB_",     "FLUX_",       "PMI_", "HYDI_"};
    for (size_t i = 0; i < GW_ARRAY_LEN(own); i++)
        if (strncmp(pair, own[i], strlen(own[i])) == 0) return true;
    return strncmp(pair, "PMIX_", 5) == 0 && strncmp(pair, "PMIX_MCA_", 9) != 0;
}
