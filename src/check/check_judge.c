/* check_judge.c -- do the members of a communicator call the same?  Pure.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_call.h"

#include <stdio.h>

/* ---- data ------------------------------------------------------------------------------------------------------------------ */
static int sig_differ(const struct check_sig *a, const struct check_sig *b)
{
    if (a->bytes < 0 || b->bytes < 0) return JUDGE_FINE;
    if (a->bytes != b->bytes) return JUDGE_WRONG;
    return a->is_any || b->is_any || (a->hash == b->hash && a->n == b->n) ? JUDGE_FINE : JUDGE_TYPES;
}

static const struct check_sig *s_for(const struct check_call *k, int peer)
{
    return k->n_s == 0 ? NULL : &call_s(k)[k->n_s == 1 ? 0 : peer];
}
static const struct check_sig *r_for(const struct check_call *k, int peer)
{
    return k->n_r == 0 ? NULL : &call_r(k)[k->n_r == 1 ? 0 : peer];
}

static int worse(int so_far, const struct check_sig *a, const struct check_sig *b)
{
    int d = a && b ? sig_differ(a, b) : JUDGE_FINE;
    return d > so_far ? d : so_far;
}

/* Everything is one number for all peers: comparing with one member is enough. */
static bool all_single(const struct check_call *const *calls, int n)
{
    for (int i = 0; i < n; i++)
        if (calls[i] && (calls[i]->n_s > 1 || calls[i]->n_r > 1)) return false;
    return true;
}

static int judge_data(const struct check_call *const *calls, int n, int first)
{
    const struct check_call *one = calls[first], *root = one->root >= 0 && one->root < n ? calls[one->root] : NULL;
    int shape = one->shape, d = JUDGE_FINE;
    bool single = all_single(calls, n);
    for (int i = 0; i < n && shape != SHAPE_NONE; i++) {
        const struct check_call *k = calls[i];
        if (!k) continue;
        if (shape == SHAPE_SAME) {
            if (k->n_s != one->n_s) return JUDGE_WRONG;
            for (int e = 0; e < k->n_s; e++) d = worse(d, &call_s(k)[e], &call_s(one)[e]);
        } else if (shape == SHAPE_TO_ROOT) {
            d = root ? worse(d, s_for(k, 0), r_for(root, i)) : d;
        } else if (shape == SHAPE_FROM_ROOT) {
            d = root ? worse(d, s_for(root, i), r_for(k, 0)) : d;
        } else {
            for (int p = 0; p < (single ? 1 : n); p++) {
                const struct check_call *other = single ? one : calls[p];
                if (other) d = worse(d, s_for(k, p), r_for(other, i));
            }
            if (single) d = worse(d, s_for(one, i), r_for(k, first));
        }
    }
    return d;
}

/* ---- roots ----------------------------------------------------------------------------------------------------------------- */
/* Of a group of an intercommunicator: one says MPI_ROOT and the others MPI_PROC_NULL, or all the same rank. */
static bool roots_agree(const struct check_call *const *calls, int n, int first)
{
    int roots = 0, nulls = 0, others = 0, present = 0;
    for (int i = 0; i < n; i++) {
        if (!calls[i]) continue;
        present++;
        roots += calls[i]->root == GW_ROOT;
        nulls += calls[i]->root == GW_PROC_NULL;
        others += calls[i]->root == calls[first]->root;
    }
    return others == present || (roots <= 1 && roots + nulls == present);
}

/* Who only looks on, in the root's group of an intercommunicator, need not say one. */
static bool ops_agree(const struct check_call *const *calls, int n)
{
    const struct check_call *one = NULL;
    for (int i = 0; i < n; i++) {
        if (!calls[i] || calls[i]->root == GW_PROC_NULL) continue;
        if (one && one->op != calls[i]->op) return false;
        one = calls[i];
    }
    return true;
}

int judge(const struct check_call *const *calls, int n, const char **what_out, int *error_out)
{
    int first = 0;
    while (first < n && !calls[first]) first++;
    if (first == n) return JUDGE_FINE;
    *error_out = GW_EOTHER;
    for (int i = first; i < n; i++)
        if (calls[i] && calls[i]->fn != calls[first]->fn) {
            *what_out = "they must call the same collective operations in the same order";
            return JUDGE_WRONG;
        }
    if (!roots_agree(calls, n, first)) {
        *what_out = "they must say the same root";
        *error_out = GW_EROOT;
        return JUDGE_WRONG;
    }
    if (!ops_agree(calls, n)) {
        *what_out = "they must say the same operation";
        *error_out = GW_EOP;
        return JUDGE_WRONG;
    }
    int d = judge_data(calls, n, first);
    *what_out = d == JUDGE_WRONG ? "as much data must be received as is sent" : "the data must have the same sequence of basic types on both sides";
    *error_out = GW_ECOUNT;
    return d;
}

/* ---- words ------------------------------------------------------------------------------------------------------------------ */
static void add(char **at, char *end, const char *fmt, ...) GW_PRINTF(3, 4);
static void add(char **at, char *end, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(*at, (size_t)(end - *at), fmt, args);
    va_end(args);
    *at += n < end - *at ? n : end - *at - 1;
}

static void add_data(char **at, char *end, const char *word, int64_t count, const char *type, int n)
{
    if (count >= 0)
        add(at, end, ", %s%lld x %.*s", word, (long long)count, (int)sizeof((struct check_call *)0)->s_type, type);
    else if (n > 1)
        add(at, end, ", %sblocks of different sizes", word);
}

/* "MPI_Bcast at main+0x33, 4 x MPI_INT, root 0" */
static void call_text(const struct check_call *k, char *out, size_t cap)
{
    char *at = out, *end = out + cap, site[CHECK_SITE_TEXT];
    bool same = k->shape == SHAPE_SAME;
    add(&at, end, "%s", check_site_text(check_site_unpack(k->fn, k->place, k->module), site));
    add_data(&at, end, same ? "" : "sends ", k->s_count, k->s_type, k->n_s);
    add_data(&at, end, same ? "" : "receives ", k->r_count, k->r_type, k->n_r);
    if (k->op >= CHECK_OP_USER) add(&at, end, ", an operation of its own that does%s commute", k->op == CHECK_OP_USER ? " not" : "");
    if (k->op > 0 && k->op < CHECK_OP_USER) {
        struct gw_op *op = (struct gw_op *)gw_obj_lookup((uint64_t)k->op, GW_KIND_OP);
        add(&at, end, ", %s", op ? op_name(op) : "an operation");
    }
    if (k->root == GW_ROOT)
        add(&at, end, ", root MPI_ROOT");
    else if (k->root == GW_PROC_NULL)
        add(&at, end, ", root MPI_PROC_NULL");
    else if (k->root != GW_UNDEFINED)
        add(&at, end, ", root %d", k->root);
}

/* As the text would be: the place counts, the rank does not. */
static bool alike(const struct check_call *a, const struct check_call *b)
{
    if (!a || !b) return a == b;
    return a->fn == b->fn && a->root == b->root && a->op == b->op && a->s_count == b->s_count && a->r_count == b->r_count &&
           a->place == b->place && (a->n_s > 1) == (b->n_s > 1) && (a->n_r > 1) == (b->n_r > 1) &&
           strncmp(a->s_type, b->s_type, sizeof a->s_type) == 0 && strncmp(a->r_type, b->r_type, sizeof a->r_type) == 0;
}

/* "ranks 0, 3-5" of those that are like the first one. */
static void ranks_text(const struct check_call *const *calls, int n, int first, char **at, char *end)
{
    bool several = false;
    for (int i = first + 1; i < n; i++) several = several || alike(calls[i], calls[first]);
    add(at, end, several ? "ranks " : "rank ");
    for (int i = first, shown = 0; i < n; i++) {
        if (!alike(calls[i], calls[first])) continue;
        int last = i;
        while (last + 1 < n && alike(calls[last + 1], calls[first])) last++;
        if (shown == 16) {
            add(at, end, " and more");
            return;
        }
        add(at, end, last == i ? "%s%d" : last == i + 1 ? "%s%d, %d" : "%s%d-%d", shown++ ? ", " : "", i, last);
        i = last;
    }
}

void judge_text(const struct check_call *const *calls, int n, char *out, size_t cap)
{
    enum { GROUPS = 8 };
    char *at = out, *end = out + cap, text[CHECK_SITE_TEXT + 256];
    int groups = 0;
    *at = 0;
    for (int i = 0; i < n; i++) {
        bool is_new = true;
        for (int k = 0; k < i && is_new; k++) is_new = !alike(calls[i], calls[k]);
        if (!is_new) continue;
        if (groups == GROUPS) {
            add(&at, end, "; and others");
            return;
        }
        if (groups++) add(&at, end, "; ");
        ranks_text(calls, n, i, &at, end);
        if (calls[i])
            call_text(calls[i], text, sizeof text), add(&at, end, " called %s", text);
        else
            add(&at, end, " called nothing yet");
    }
}
