/* stack_tree.c -- stacks as gdb and eu-stack print them, cleaned, merged and printed as a tree.  Pure functions.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/plain.h"
#include "job/words.h"
#include "verdict/stack.h"

/* ---- reading -------------------------------------------------------------------------------------------------------------- */
/* The length of a function's name before its arguments: up to the first " (" that is not within < and >. */
static size_t name_length(const char *text)
{
    int depth = 0;
    size_t n = 0;
    for (; text[n]; n++) {
        if (text[n] == '<') depth++;
        if (text[n] == '>' && depth) depth--;
        if (!depth && text[n] == ' ' && text[n + 1] == '(') break;
    }
    return n;
}

static bool is_mpi(const char *name)
{
    static const char *const begin[] = {"MPI_",  "PMPI_",  "MPIX_",   "PMPIX_",  "mpi_",
                                        "pmpi_", "shmem_", "pshmem_", "shmemx_", "godwit_sym_"};
    for (size_t i = 0; i < GW_ARRAY_LEN(begin); i++)
        if (strncmp(name, begin[i], strlen(begin[i])) == 0) return true;
    return false;
}

/* "solve" and "../src/sum.c:12:3" -> "solve (sum.c:12)".  Where the C library and MPI were compiled does not help anybody. */
static char *frame_text(const char *name, size_t n, const char *where)
{
    size_t at = strcspn(name, "@");
    if (at < n) n = at; /* the symbol's version */
    /* The second part of an entry point, reached by a jump (gen/entries.py): named after the call that the program made. */
    if (where && strncmp(name, "rest_", 5) == 0 && strstr(where, "/entry_")) return gw_xasprintf("PMPI_%.*s", (int)n - 5, name + 5);
    bool libc = where && (strstr(where, "sysdeps/") || strstr(where, "/nptl/") || strstr(where, "/csu/"));
    if (!where || libc || is_mpi(name)) return gw_xasprintf("%.*s", (int)n, name);
    size_t end = strlen(where), line = 0;
    const char *file = where;
    for (size_t i = 0; i < end; i++)
        if (where[i] == '/') file = where + i + 1;
    end -= (size_t)(file - where);
    line = strcspn(file, ":");
    if (line < end) line += 1 + strspn(file + line + 1, "0123456789"); /* not the column */
    return gw_xasprintf("%.*s (%.*s)", (int)n, name, (int)(line < end ? line : end), file);
}

/* One line "#3 0x... in solve (x=...) at a.c:12", or eu-stack's "#3 0x... solve" with "    a.c:12:5" on the next. */
static char *frame_read(const char *line, const char *next)
{
    char one[4096], two[4096] = "";
    snprintf(one, sizeof one, "%.*s", (int)strcspn(line, "\n"), line);
    char *name = one + 1 + strspn(one + 1, "0123456789"), *at = NULL;
    name += strspn(name, " ");
    if (strncmp(name, "0x", 2) == 0) {
        name += strcspn(name, " ");
        name += strspn(name, " ");
    }
    if (strncmp(name, "in ", 3) == 0) name += 3;
    if (strncmp(name, "- 1 ", 4) == 0) name += 4; /* eu-stack: a return address */
    if (!*name) return gw_xasprintf("??");
    if (*name == '<') return gw_xasprintf("%s", name); /* <signal handler called> */
    for (char *p = name; (p = strstr(p, " at ")); p += 4) at = p + 4;
    if (!at && next && strncmp(next, "    ", 4) == 0) {
        snprintf(two, sizeof two, "%.*s", (int)strcspn(next, "\n"), next);
        at = two + strspn(two, " ");
    }
    return frame_text(name, name_length(name), at);
}

static bool is_begin(const char *frame)
{
    static const char *const known[] = {
        "_start",  "__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main", "clone", "clone3",
        "__clone", "__clone3",          "__GI___clone3",          "start_thread",           "start"};
    for (size_t i = 0; i < GW_ARRAY_LEN(known); i++)
        if (strcmp(frame, known[i]) == 0) return true;
    return false;
}

static bool is_main(const char *frame) { return strncmp(frame, "main", 4) == 0 && (!frame[4] || frame[4] == ' '); }

/* Selects the frames [first, last] that are printed; frames[0] is the outermost. */
static void frames_cut(char **frames, int n, int *first, int *last)
{
    enum { BEGIN = 4 }; /* what comes before main or a thread's function; some of it may have no name */
    *first = 0;
    *last = n - 1;
    for (int i = 0; i < n - 1 && i < BEGIN; i++)
        if (is_begin(frames[i])) *first = i + 1;
    for (int i = 0; i < n; i++)
        if (is_main(frames[i])) *first = i;
    for (int i = *last; i > *first; i--)
        if (is_mpi(frames[i])) *last = i; /* the outermost MPI call: frames inside of it are the library's */
}

/* Removes the frames of our crash handler and of what it calls, so that the innermost frame is the one at fault. */
static void handler_cut(struct words *inner)
{
    int handler = 0, fault;
    while (handler < inner->n && strncmp(inner->at[handler], "boot_crash_handler", 18) != 0) handler++;
    for (fault = handler; fault < inner->n && inner->at[fault][0] != '<' && strcmp(inner->at[fault], "__restore_rt") != 0;
         fault++) {}
    if (++fault >= inner->n) return;
    for (int i = 0; i < fault; i++) free(inner->at[i]);
    memmove(inner->at, inner->at + fault, sizeof *inner->at * (size_t)(inner->n - fault + 1));
    inner->n -= fault;
}

/* The thread of `mpiexec --profile`, which says nothing of the program (tools/profile/sample.c). */
static bool is_profile(const struct words *inner)
{
    for (int i = 0; i < inner->n; i++)
        if (strncmp(inner->at[i], "prof_sample_look", 16) == 0) return true;
    return false;
}

/* Adds a stack; `inner`: its frames as the tools print them, innermost first. */
static void stack_add(struct stacks *s, struct words *inner, int rank, bool whole)
{
    enum { FEW = 8 }; /* frames that are kept of a function that calls itself */
    handler_cut(inner);
    int first = 0, last = inner->n - 1;
    if (!inner->n) return;
    if (!whole && is_profile(inner)) {
        words_free(inner);
        return;
    }
    for (int i = 0, k = inner->n - 1; i < k; i++, k--) {
        char *t = inner->at[i];
        inner->at[i] = inner->at[k];
        inner->at[k] = t;
    }
    if (!whole) frames_cut(inner->at, inner->n, &first, &last);
    s->at = gw_xrealloc(s->at, sizeof *s->at * (size_t)(s->n + 1));
    struct stack *to = &s->at[s->n++];
    *to = (struct stack){.rank = rank};
    for (int i = first, same; i <= last; i += same) {
        for (same = 1; i + same <= last && strcmp(inner->at[i], inner->at[i + same]) == 0; same++) {}
        char *times = gw_xasprintf("%s [%d times]", inner->at[i], same);
        for (int k = 0; k < (same > FEW ? 1 : same); k++) words_add(&to->frames, same > FEW ? times : inner->at[i]);
        free(times);
    }
    words_free(inner);
}

int stack_parse(struct stacks *s, const char *text, int rank, bool whole)
{
    struct words inner = {0};
    int before = s->n;
    for (const char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) next++;
        if (line[0] == '#' && isdigit((unsigned char)line[1])) {
            if (line[1] == '0' && line[2] == ' ') stack_add(s, &inner, rank, whole); /* the next thread */
            char *frame = frame_read(line, next);
            words_add(&inner, frame);
            free(frame);
        }
    }
    stack_add(s, &inner, rank, whole);
    return s->n - before;
}

void stack_free_all(struct stacks *s)
{
    for (int i = 0; i < s->n; i++) words_free(&s->at[i].frames);
    free(s->at);
    *s = (struct stacks){0};
}

/* ---- printing -------------------------------------------------------------------------------------------------------------- */
char *stack_ranks_text(const int *ranks, int n)
{
    assert(n >= 0);
    char *text = gw_xasprintf("%s", "");
    for (int i = 0; i < n;) {
        int last = ranks[i], k = i;
        while (k < n && ranks[k] <= last + 1) last = ranks[k++];
        char *more = last > ranks[i]
            ? gw_xasprintf("%s%s%d%s%d", text, i ? "," : "", ranks[i], last > ranks[i] + 1 ? "-" : ",", last)
            : gw_xasprintf("%s%s%d", text, i ? "," : "", ranks[i]);
        free(text);
        text = more;
        i = k;
    }
    return text;
}

/* Stacks [begin, end) of a sorted list are equal in their first `depth` frames: one line, and below it those that go on. */
struct tree {
    struct stack **at;
    FILE *to;
};

static const char *frame_of(const struct stack *s, int depth) { return depth < s->frames.n ? s->frames.at[depth] : NULL; }

static int by_rank(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void print_ranks(const struct tree *t, int begin, int end)
{
    assert(begin >= 0 && begin < end);
    int n = end - begin, distinct = 0, *ranks = gw_xmalloc(sizeof *ranks * (size_t)n);
    for (int i = 0; i < n; i++) ranks[i] = t->at[begin + i]->rank;
    qsort(ranks, (size_t)n, sizeof *ranks, by_rank);
    for (int i = 0; i < n; i++) distinct += i == 0 || ranks[i] != ranks[i - 1];
    char *text = stack_ranks_text(ranks, n);
    fprintf(t->to, "[%s]", text);
    if (n > distinct) fprintf(t->to, " (%d threads)", n);
    free(text);
    free(ranks);
}

/* Do all stacks [begin, end) have the same frame at `depth`? */
static bool together(const struct tree *t, int begin, int end, int depth)
{
    assert(begin < end && depth >= 0);
    const char *frame = frame_of(t->at[begin], depth);
    for (int i = begin; i < end; i++) {
        const char *other = frame_of(t->at[i], depth);
        if (!frame || !other || strcmp(frame, other) != 0) return false;
    }
    return true;
}

/* Moves stacks with the same frame at `depth` as the first to the front, and keeps the order otherwise; returns where the others begin. */
static int gather(struct tree *t, int begin, int end, int depth)
{
    assert(begin < end && depth >= 0);
    const char *frame = frame_of(t->at[begin], depth);
    int n = begin, rest = 0;
    struct stack **others = gw_xmalloc(sizeof *others * (size_t)(end - begin));
    for (int i = begin; i < end; i++) {
        const char *f = frame_of(t->at[i], depth);
        if (frame ? f && strcmp(f, frame) == 0 : !f)
            t->at[n++] = t->at[i];
        else
            others[rest++] = t->at[i];
    }
    memcpy(t->at + n, others, sizeof *others * (size_t)rest);
    free(others);
    return n;
}

static void print_branch(struct tree *t, int begin, int end, int depth, int indent)
{
    assert(begin < end && depth >= 0 && indent >= 0);
    fprintf(t->to, "%*s", 2 * indent, "");
    print_ranks(t, begin, end);
    for (bool first = true; together(t, begin, end, depth); depth++, first = false)
        gw_print(t->to, "%s %s", first ? "" : " /", frame_of(t->at[begin], depth));
    fputs("\n", t->to);
    for (int i = begin, next; i < end; i = next) {
        next = gather(t, i, end, depth);
        if (frame_of(t->at[i], depth)) print_branch(t, i, next, depth, indent + 1);
    }
}

static int by_stack_rank(const void *a, const void *b)
{
    const struct stack *x = *(struct stack *const *)a, *y = *(struct stack *const *)b;
    return x->rank != y->rank ? x->rank - y->rank : (x > y) - (x < y);
}

char *stack_tree(const struct stacks *s)
{
    char *text = NULL;
    size_t bytes;
    struct tree t = {gw_xmalloc(sizeof *t.at * (size_t)(s->n + 1)), open_memstream(&text, &bytes)};
    if (!t.to) gw_die("mpiexec: no memory");
    for (int i = 0; i < s->n; i++) t.at[i] = &s->at[i];
    qsort(t.at, (size_t)s->n, sizeof *t.at, by_stack_rank);
    for (int i = 0, next; i < s->n; i = next) {
        next = gather(&t, i, s->n, 0);
        if (frame_of(t.at[i], 0)) print_branch(&t, i, next, 0, 0);
    }
    fclose(t.to);
    free(t.at);
    return text;
}
