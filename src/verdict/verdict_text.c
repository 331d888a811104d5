/* verdict_text.c -- words for ranks, calls, communicators and places.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/plain.h"
#include "boot/call.h"
#include "verdict/verdict.h"
#include "obj/consts_gen.h"

void verdict_text_add(struct text *t, const char *fmt, ...)
{
    va_list ap;
    for (;;) {
        size_t room = t->cap - t->len;
        va_start(ap, fmt);
        int n = vsnprintf(t->at ? t->at + t->len : NULL, room, fmt, ap);
        va_end(ap);
        if (n >= 0 && (size_t)n < room) {
            t->len += (size_t)n;
            return;
        }
        t->cap = t->cap * 2 + (size_t)(n < 0 ? 0 : n) + 256;
        t->at = gw_xrealloc(t->at, t->cap);
    }
}

/* ---- ranks --------------------------------------------------------------------------------------------------------------------- */
void verdict_text_ranks(struct text *t, const struct verdict_job *j, const int *index, int n)
{
    assert(n > 0 && index[0] >= 0 && index[n - 1] < j->n);
    enum { RUNS = 8 }; /* the most that are listed */
    verdict_text_add(t, n == 1 ? "rank" : "ranks");
    for (int i = 0, run = 0; i < n; run++) {
        int last = i;
        while (last + 1 < n && j->ranks[index[last + 1]].world == j->ranks[index[last]].world + 1) last++;
        if (run == RUNS) {
            verdict_text_add(t, " and %d more", n - i);
            return;
        }
        verdict_text_add(t, last > i ? "%s %d-%d" : "%s %d", run ? "," : "", j->ranks[index[i]].world, j->ranks[index[last]].world);
        i = last + 1;
    }
}

void verdict_text_rank(struct text *t, const struct verdict_job *j, int i) { verdict_text_ranks(t, j, &i, 1); }

enum verdict_rank_is verdict_rank_is(const struct verdict_rank *r)
{
    if (r->is_gone) return RANK_GONE;
    if (r->phase == BOOT_FINALIZED || r->phase == BOOT_ABORTED) return RANK_LEFT;
    if (r->os == 'T' || r->os == 't') return RANK_STOPPED;
    if (r->phase == BOOT_NEW) return RANK_NEW;
    uint32_t state = atomic_load_explicit(&r->where.state, memory_order_relaxed);
    return state == BOOT_BLOCKED ? RANK_BLOCKED : state == BOOT_POLLING ? RANK_POLLING : RANK_BUSY;
}

/* ---- calls ---------------------------------------------------------------------------------------------------------------------- */
const char *verdict_call_name(const struct verdict_job *j, uint32_t call)
{
    static char name[64];
    const char *full = j->call_name(call);
    size_t len = full ? strlen(full) : 0;
    if (!full) return "";
    if (len < 2 || strcmp(full + len - 2, "_c") != 0) return full;
    snprintf(name, sizeof name, "%.*s", (int)len - 2, full); /* the same call with large counts */
    return name;
}

bool verdict_call_is_rooted(const char *name)
{
    static const char *const rooted[] = {"bcast", "gather", "gatherv", "scatter", "scatterv", "reduce"};
    char word[32];
    if (strncmp(name, "shmem_broadcast", 15) == 0) return true;
    if (strncmp(name, "MPI_", 4) != 0) return false;
    name += 4;
    if (name[0] == 'I' && islower((unsigned char)name[1])) name++;
    size_t n = strcspn(name, "_");
    if (name[n] && strcmp(name + n, "_init") != 0) return false;
    snprintf(word, sizeof word, "%.*s", (int)n, name);
    word[0] = (char)tolower((unsigned char)word[0]);
    for (size_t i = 0; i < GW_ARRAY_LEN(rooted); i++)
        if (strcmp(word, rooted[i]) == 0) return true;
    return false;
}

/* ---- communicators and messages ------------------------------------------------------------------------------------------------- */
static const char *name_in(const struct boot_pending *p, uint32_t ctx) { return p->ctx == ctx && p->comm[0] ? p->comm : NULL; }

/* The name of the communicator, from any rank that has noted it. */
static const char *comm_name(const struct verdict_job *j, uint32_t ctx)
{
    if (ctx <= 1) return ctx ? "MPI_COMM_SELF" : "MPI_COMM_WORLD";
    const char *name = NULL;
    for (int i = 0; i < j->n && !name; i++) {
        const struct verdict_rank *r = &j->ranks[i];
        if (!rank_waits(r)) continue;
        if (r->where.has_coll) name = name_in(&r->where.coll, ctx);
        for (int k = 0; k < listed(r) && !name; k++) name = name_in(&r->where.pending[k], ctx);
        for (int k = 0; k < BOOT_PENDING && k < r->where.n_unexpected && !name; k++) name = name_in(&r->where.unexpected[k], ctx);
    }
    return name;
}

void verdict_text_comm(struct text *t, const struct verdict_job *j, uint32_t ctx)
{
    const char *name = comm_name(j, ctx);
    char shown[4 * BOOT_COMM_NAME];
    if (name)
        verdict_text_add(t, "%s", gw_plain(shown, sizeof shown, name, 0)); /* the name is a text of the user */
    else
        verdict_text_add(t, "communicator %u (without a name)", ctx);
}

void verdict_text_pending(struct text *t, const struct verdict_job *j, const struct boot_pending *p)
{
    if (p->about == BOOT_OUTSIDE) {
        verdict_text_add(t, "something that no message brings");
        return;
    }
    verdict_text_add(t, p->about == BOOT_SEND ? "to " : p->about == BOOT_PREADY ? "its own MPI_Pready of a send to " : "from ");
    if (p->peer >= 0)
        verdict_text_add(t, "%d", p->peer);
    else
        verdict_text_add(t, p->world == GW_ANY_SOURCE ? "any source" : "a rank");
    if (p->tag == GW_ANY_TAG)
        verdict_text_add(t, ", any tag,");
    else
        verdict_text_add(t, " tag %d", p->tag);
    verdict_text_add(t, " on ");
    verdict_text_comm(t, j, p->ctx);
    if (p->world >= 0 && p->world != p->peer) verdict_text_add(t, " (world rank %d)", p->world);
}

/* ---- places --------------------------------------------------------------------------------------------------------------------- */
static bool is_word(const char *name, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, words[i]) == 0) return true;
    return false;
}

/* Does the call complete with its only message? */
static bool is_message_call(const char *name)
{
    static const char *const words[] = {"MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Bsend",
                                        "MPI_Recv", "MPI_Mrecv", "MPI_Probe", "MPI_Mprobe"};
    return is_word(name, words, GW_ARRAY_LEN(words));
}

static bool is_polling_call(const char *name)
{
    return strncmp(name, "MPI_Test", 8) == 0 || strcmp(name, "MPI_Iprobe") == 0 || strcmp(name, "MPI_Improbe") == 0 ||
        strncmp(name, "MPI_Request_get_status", 22) == 0 || strncmp(name, "shmem_test", 10) == 0;
}

/* The call that the rank waits in: of MPI, or of another library. */
static const char *name_of_wait(const struct verdict_job *j, const struct boot_where *w, uint32_t call)
{
    static char shown[4 * BOOT_CALL_AS];
    return w->as[0] ? gw_plain(shown, sizeof shown, w->as, 0) : verdict_call_name(j, call);
}

static void text_coll(struct text *t, const struct verdict_job *j, const struct boot_where *w)
{
    const char *name = name_of_wait(j, w, w->coll_call);
    verdict_text_add(t, "%s", name[0] ? name : "a collective");
    if (strcmp(name, "MPI_Init") == 0 || strcmp(name, "MPI_Init_thread") == 0 || strcmp(name, "MPI_Finalize") == 0) return;
    if (w->coll_number > w->coll_hidden) verdict_text_add(t, " #%llu", (unsigned long long)(w->coll_number - w->coll_hidden));
    if (verdict_call_is_rooted(name) && w->coll.peer >= 0) verdict_text_add(t, " (root %d)", w->coll.peer);
    verdict_text_add(t, " on ");
    verdict_text_comm(t, j, w->coll.ctx);
}

static void text_blocked(struct text *t, const struct verdict_job *j, const struct verdict_rank *r)
{
    const struct boot_where *w = &r->where;
    const char *name = name_of_wait(j, w, w->call);
    verdict_text_add(t, verdict_rank_is(r) == RANK_POLLING ? "polling with " : "in ");
    if (w->note[0]) {
        char shown[4 * BOOT_NOTE];
        verdict_text_add(t, "%s %s", name, gw_plain(shown, sizeof shown, w->note, 0));
        return;
    }
    if (w->has_coll) {
        if (w->coll_call != w->call && !w->as[0]) verdict_text_add(t, "%s for ", name);
        text_coll(t, j, w);
        return;
    }
    verdict_text_add(t, "%s", name[0] ? name : "MPI");
    bool plain = w->n_pending == 1 && is_message_call(name);
    if (w->n_pending > 1) verdict_text_add(t, " for %s%d requests", w->is_any ? "one of " : "", w->n_pending);
    for (int k = 0; k < listed(r) && k < 3; k++) {
        const struct boot_pending *p = &w->pending[k];
        if (plain)
            verdict_text_add(t, " ");
        else
            verdict_text_add(t, "%s%s",
                             w->n_pending == 1 ? " for "
                                 : k           ? "; "
                                               : ": ",
                             p->about == BOOT_SEND        ? "a send "
                                 : p->about == BOOT_RECV  ? "a receive "
                                 : p->about == BOOT_PROBE ? "a message "
                                                          : "");
        verdict_text_pending(t, j, p);
    }
    if (w->n_pending > 3) verdict_text_add(t, "; ...");
}

/* Have ranks begun by OpenSHMEM? */
static bool is_shmem(const struct verdict_job *j)
{
    for (int i = 0; i < j->n; i++)
        if (strncmp(verdict_call_name(j, j->ranks[i].call), "shmem", 5) == 0) return true;
    return false;
}

void verdict_text_place(struct text *t, const struct verdict_job *j, int i)
{
    assert(i >= 0 && i < j->n);
    const struct verdict_rank *r = &j->ranks[i];
    const char *last = verdict_call_name(j, r->call);
    switch (verdict_rank_is(r)) {
    case RANK_BLOCKED:
    case RANK_POLLING: text_blocked(t, j, r); return;
    case RANK_STOPPED: verdict_text_add(t, "stopped (by SIGSTOP or a debugger)"); break;
    case RANK_NEW:
        verdict_text_add(
            t, is_shmem(j) ? "not in OpenSHMEM yet: shmem_init was not called" : "not in MPI yet: MPI_Init was not called");
        return;
    case RANK_LEFT: verdict_text_add(t, "out of MPI: MPI_Finalize is over"); return;
    case RANK_GONE: verdict_text_add(t, "gone: its process has ended"); return;
    case RANK_BUSY:
        if (is_polling_call(last)) {
            verdict_text_add(t, "polling with %s", last);
            return;
        }
        verdict_text_add(t, "computing, in no %s call%s", boot_call_is_shmem(r->call) ? "OpenSHMEM" : "MPI",
                         r->os == 'S'       ? " (asleep: input, a lock?)"
                             : r->os == 'D' ? " (waiting for a disk or file system)"
                                            : "");
        break;
    }
    if (last[0]) verdict_text_add(t, "; the last one%s was %s", boot_call_is_shmem(r->call) ? " that could wait" : "", last);
}

void verdict_text_rank_is(struct text *t, const struct verdict_job *j, int i)
{
    verdict_text_rank(t, j, i);
    verdict_text_add(t, " is ");
    verdict_text_place(t, j, i);
}

/* Where a rank is.  Places are compared by bytes up to `rank`, so the struct is zeroed before it is filled. */
struct place {
    uint32_t is, call, coll_call, os, ctx, number, about, n_pending, root;
    int32_t tag, rank;
};

static struct place place_of(const struct verdict_job *j, int i)
{
    assert(i >= 0 && i < j->n);
    const struct verdict_rank *r = &j->ranks[i];
    const struct boot_where *w = &r->where;
    struct place p;
    memset(&p, 0, sizeof p);
    p.is = verdict_rank_is(r);
    p.rank = i;
    if (rank_waits(r) && w->has_coll) {
        p.call = w->call, p.ctx = w->coll.ctx, p.number = (uint32_t)w->coll_number, p.root = (uint32_t)w->coll.peer;
        p.coll_call = w->coll_call, p.about = BOOT_MEMBER;
    } else if (rank_waits(r)) {
        p.call = w->call, p.n_pending = (uint32_t)w->n_pending;
        p.number = (uint32_t)gw_hash(gw_hash(GW_HASH_SEED, w->as, strlen(w->as)), w->note, strlen(w->note));
        if (p.n_pending) p.ctx = w->pending[0].ctx, p.tag = w->pending[0].tag, p.about = w->pending[0].about;
    } else if (p.is == RANK_BUSY || p.is == RANK_STOPPED) {
        p.call = r->call, p.os = (uint32_t)r->os;
    }
    return p;
}

static int place_order(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int d = memcmp(x, y, offsetof(struct place, rank));
    return d ? d : x->rank - y->rank;
}

static int first_rank_order(const void *a, const void *b)
{
    return (*(const struct place *const *)a)->rank - (*(const struct place *const *)b)->rank;
}

static void text_since(struct text *t, const struct verdict_job *j, const struct place *p, int n)
{
    uint64_t since = j->now_ns;
    for (int i = 0; i < n; i++)
        if (j->ranks[p[i].rank].where.since_ns < since) since = j->ranks[p[i].rank].where.since_ns;
    double s = (double)(j->now_ns - since) / 1e9;
    verdict_text_add(t, s < 10 ? " since %.1f s" : " since %.0f s", s);
}

/* Prints the n ranks at one place.  If their messages have different peers, that of the first rank is printed as an example. */
static void text_group(struct text *t, const struct verdict_job *j, const struct place *p, int n)
{
    assert(n > 0);
    int *index = gw_xmalloc((size_t)n * sizeof *index);
    bool differ = false;
    const struct boot_pending *first = &j->ranks[p->rank].where.pending[0];
    for (int i = 0; i < n; i++) {
        index[i] = p[i].rank;
        differ = differ || j->ranks[p[i].rank].where.pending[0].world != first->world;
    }
    verdict_text_add(t, "  ");
    verdict_text_ranks(t, j, index, n);
    verdict_text_add(t, " ");
    verdict_text_place(t, j, p->rank);
    bool waits = rank_waits(&j->ranks[p->rank]);
    if (n > 1 && waits && p->about != BOOT_MEMBER && p->n_pending && differ)
        verdict_text_add(t, " (so rank %d; the others have other peers)", j->ranks[p->rank].world);
    const struct boot_where *w = &j->ranks[p->rank].where;
    if (n == 1 && waits && w->n_unexpected > 0)
        verdict_text_add(t, ", %lld unexpected message%s held,", (long long)w->n_unexpected, w->n_unexpected > 1 ? "s" : "");
    if (waits) text_since(t, j, p, n);
    verdict_text_add(t, "\n");
    free(index);
}

/* In a wait for a word of its own memory, which others store to. */
static bool waits_for_word(const struct verdict_rank *r) { return rank_waits(r) && strncmp(r->where.note, "until ", 6) == 0; }

/* Any other PE can store to it; those who wait themselves will not. */
static void text_writers(struct text *t, const struct verdict_job *j)
{
    int *index = gw_xmalloc((size_t)j->n * sizeof *index), n = 0, n_words = 0;
    for (int i = 0; i < j->n; i++) {
        enum verdict_rank_is is = verdict_rank_is(&j->ranks[i]);
        n_words += waits_for_word(&j->ranks[i]);
        if (is == RANK_BUSY || is == RANK_NEW || is == RANK_STOPPED) index[n++] = i;
    }
    const char *what = n_words == 1 ? "that word" : "those words";
    if (n_words && n) {
        verdict_text_add(t, "  %s could be written by ", what);
        verdict_text_ranks(t, j, index, n);
        verdict_text_add(t, "%s\n", j->size > j->n ? ", or on another node" : "; all others wait, or have ended");
    } else if (n_words) {
        verdict_text_add(t,
                         j->size > j->n ? "  nobody on this node could write %s: all ranks here wait, or have ended\n"
                                        : "  nobody is left who could write %s: all ranks wait, or have ended\n",
                         what);
    }
    free(index);
}

static void text_places(struct text *t, const struct verdict_job *j, bool only_words)
{
    enum { LINES = 8 };
    struct place *p = gw_xmalloc((size_t)j->n * sizeof *p);
    const struct place **group = gw_xmalloc((size_t)(j->n + 1) * sizeof *group);
    int n_groups = 0, more = 0;
    for (int i = 0; i < j->n; i++) p[i] = place_of(j, i);
    qsort(p, (size_t)j->n, sizeof *p, place_order);
    for (int i = 0; i < j->n; i++)
        if (i == 0 || memcmp(&p[i], &p[i - 1], offsetof(struct place, rank)) != 0) group[n_groups++] = &p[i];
    qsort(group, (size_t)n_groups, sizeof *group, first_rank_order);
    for (int g = 0; g < n_groups; g++) {
        int n = 1;
        if (only_words && !waits_for_word(&j->ranks[group[g]->rank])) continue;
        while (group[g] + n < p + j->n && memcmp(group[g], group[g] + n, offsetof(struct place, rank)) == 0) n++;
        if (g < LINES)
            text_group(t, j, group[g], n);
        else
            more += n;
    }
    if (more) verdict_text_add(t, "  %d more ranks in %d other places\n", more, n_groups - LINES);
    text_writers(t, j);
    free(group);
    free(p);
}

void verdict_text_places(struct text *t, const struct verdict_job *j) { text_places(t, j, false); }

char *verdict_words(const struct verdict_job *j)
{
    struct text t = {0};
    text_places(&t, j, true);
    return t.at;
}
