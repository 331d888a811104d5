/* hosts.c -- lists of hosts: from the command line, from a file, or from a batch system.  A list that names
 * only this machine has no effect; others need an engine (engine.h).
 *
 * Names are compared as text and never looked up, because a single machine may have no DNS.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "job/hosts.h"
#include "base/base.h"
#include "base/file.h"
#include "base/plain.h"
#include "boot/alive.h"
#include "job/job.h"

/* Are the names equal, or is one the other with a domain ("node7", "node7.cluster.example")? */
static bool same_host(const char *name, size_t n, const char *host)
{
    size_t m = strlen(host), less = n < m ? n : m;
    if (n == 0 || m == 0 || strncasecmp(name, host, less) != 0) return false;
    return n == m || (n < m ? host[n] == '.' : name[m] == '.');
}

/* "me@n1" is this user's name before that of the host; another user's is no word for this machine. */
static const char *without_own_user(const char *name)
{
    const char *at = strrchr(name, '@');
    const struct passwd *own = at ? getpwuid(geteuid()) : NULL;
    bool is_own = own && strlen(own->pw_name) == (size_t)(at - name) && strncmp(own->pw_name, name, (size_t)(at - name)) == 0;
    return is_own ? at + 1 : name;
}

bool hosts_is_local(const char *name)
{
    char host[256] = "";
    name = without_own_user(name);
    size_t n = strlen(name);
    if (gethostname(host, sizeof host - 1) < 0) host[0] = 0;
    return same_host(name, n, "localhost") || same_host(name, n, host) || strcmp(name, "127.0.0.1") == 0 ||
        strcmp(name, "::1") == 0;
}

/* Names and addresses, with a user before them and a relative "+n1" as Open MPI has it: nothing that an engine or a shell reads as an option
 * or a word of its own. */
bool hosts_is_name(const char *name, size_t n)
{
    static const char may_begin[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_:+", may_follow[] = "-.@%";
    if (n == 0 || n > HOST_NAME_MOST) return false;
    for (size_t i = 0; i < n; i++)
        if (!name[i] || !(strchr(may_begin, name[i]) || (i > 0 && strchr(may_follow, name[i])))) return false;
    return true;
}

static const char no_word[] = "is no word of a line of a host file; \"n1 slots=4\" and \"n1:4\" are such lines";
static const char no_host[] = "is no name of a host", no_slots[] = "is no number of slots: they are from 1 to 65536";
_Static_assert(MAX_RANKS == 65536, "the text says so");

/* Keeps the first invalid word for an error message, with control characters escaped. */
static void add_bad(struct hosts *h, const char *name, size_t n, const char *why)
{
    enum { SHOWN = 60 };
    if (h->bad) return;
    char text[SHOWN + 1];
    snprintf(text, sizeof text, "%.*s", (int)n, name);
    h->bad = gw_xcalloc(1, 4 * (size_t)SHOWN + 4);
    gw_plain(h->bad, 4 * (size_t)SHOWN + 1, text, GW_PLAIN_WORD);
    if (n > SHOWN) strcat(h->bad, "...");
    h->bad_why = why;
}

/* Adds a host; if it is in the list, adds its slots.  An invalid name is noted in h->bad. */
static void add(struct hosts *h, const char *name, size_t n, int slots)
{
    assert(slots >= 0);
    if (!hosts_is_name(name, n)) {
        add_bad(h, name, n, no_host);
        return;
    }
    for (int i = 0; i < h->n; i++)
        if (strlen(h->at[i].name) == n && strncasecmp(h->at[i].name, name, n) == 0) {
            h->at[i].slots = (h->at[i].slots ? h->at[i].slots : 1) + (slots ? slots : 1);
            return;
        }
    h->at = realloc(h->at, sizeof *h->at * (size_t)(h->n + 1));
    if (!h->at) gw_die("mpiexec: no memory");
    h->at[h->n++] = (struct host){gw_xasprintf("%.*s", (int)n, name), slots};
}

/* The number of slots in the text[n]; 0: it is none, which is noted. */
static int slots_of(struct hosts *h, const char *text, size_t n)
{
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    bool is_number = n > 0 && text[0] >= '0' && text[0] <= '9' && end == text + n && errno == 0;
    if (is_number && v > 0 && v <= MAX_RANKS) return (int)v;
    if (n != 1 || *text != '*') add_bad(h, text, n, no_slots); /* "n1:*" is Open MPI's for: not given */
    return 0;
}

static void add_words(struct hosts *h, const char *list, const char *between)
{
    for (const char *p = list + strspn(list, between); *p; p += strspn(p, between)) {
        size_t n = strcspn(p, between), name = strncmp(p, "::1", 3) == 0 ? 3 : strcspn(p, ":");
        if (name > n) name = n;
        add(h, p, name, name < n ? slots_of(h, p + name + 1, n - name - 1) : 0);
        p += n;
    }
}

void hosts_add(struct hosts *h, const char *list)
{
    int before = h->n;
    add_words(h, list, ", ");
    if (before == 0 && h->n == 0) add_bad(h, list, strlen(list), no_host);
}

/* The most slots of a host, which are looked at and kept to by nobody: more ranks need no permission. */
static bool is_most_slots(const char *word, size_t n)
{
    return (n == 9 && (strncasecmp(word, "max_slots", n) == 0 || strncasecmp(word, "max-slots", n) == 0)) ||
        (n == 8 && strncasecmp(word, "maxslots", n) == 0);
}

/* Words behind a host in the files of other launchers that change nothing here. */
static bool is_known_word(const char *word, size_t n)
{
    static const char *const known[] = {"username", "user-name", "user_name", "user",      "port",   "binding", "bindmap",
                                        "map",      "mapping",   "iface",     "interface", "boards", "sockets"};
    for (size_t i = 0; i < GW_ARRAY_LEN(known); i++)
        if (strlen(known[i]) == n && strncasecmp(word, known[i], n) == 0) return true;
    return false;
}

/* Takes the words "name=value" behind a host, with or without blanks around the sign; the slots, or 0. */
static int words_take(struct hosts *h, const char *p)
{
    static const char blanks[] = " \t";
    int slots = 0;
    for (p += strspn(p, blanks); *p; p += strspn(p, blanks)) {
        const char *word = p;
        size_t n = strcspn(word, " \t="), bytes = 0;
        p += n + strspn(p + n, blanks);
        bool has_value = *p == '=', is_slots = has_value && n == 5 && strncasecmp(word, "slots", n) == 0;
        if (has_value) p += 1 + strspn(p + 1, blanks), bytes = strcspn(p, blanks);
        if (is_slots) slots = slots_of(h, p, bytes);
        if (is_most_slots(word, n))
            slots_of(h, p, bytes);
        else if (!is_slots && !is_known_word(word, n))
            add_bad(h, word, n, no_word);
        p += bytes;
    }
    return slots;
}

/* Reads a line of a host file: a host, with ":4" or "slots=4" or neither. */
static void line_take(struct hosts *h, char *line)
{
    char *more = line + strcspn(line, " \t");
    int slots = words_take(h, more);
    *more = 0;
    if (slots)
        add(h, line, strcspn(line, ":"), slots);
    else
        add_words(h, line, " ");
}

const char *hosts_read(struct hosts *h, const char *path, bool may_be_pipe)
{
    enum { MOST = 16 << 20 };
    char *text = NULL;
    const char *why = gw_file_read(path, MOST, may_be_pipe, &text);
    struct gw_lines lines = {text, 0};
    for (char *line; (line = gw_line_next(&lines));) line_take(h, line);
    free(text);
    return why;
}

static bool expand_one(void *to, const char *name, size_t n)
{
    struct hosts *h = to;
    add(h, name, n, 0);
    return h->n < MAX_RANKS;
}

void hosts_expand(struct hosts *h, const char *list) { boot_hosts_expand(list, expand_one, h); }

const char *hosts_foreign(const struct hosts *h)
{
    for (int i = 0; i < h->n; i++)
        if (!hosts_is_local(h->at[i].name)) return h->at[i].name;
    return NULL;
}

bool hosts_are_here(const char *list, char *foreign_out, size_t cap)
{
    struct hosts h = {0};
    hosts_add(&h, list);
    const char *foreign = hosts_foreign(&h);
    if (foreign || h.bad) snprintf(foreign_out, cap, "%s", h.bad ? h.bad : foreign);
    bool are_here = !foreign && !h.bad;
    hosts_free(&h);
    return are_here;
}

void hosts_first(struct hosts *h, int most)
{
    assert(most > 0);
    while (h->n > most) free(h->at[--h->n].name);
}

void hosts_free(struct hosts *h)
{
    for (int i = 0; i < h->n; i++) free(h->at[i].name);
    free(h->at);
    free(h->bad);
    *h = (struct hosts){0};
}

/* The number of ranks that a host takes before the next host is used. */
static int room_of(const struct hosts *h, int i, int ppn) { return ppn ? ppn : h->at[i].slots ? h->at[i].slots : 1; }

bool hosts_say_slots(const struct hosts *h)
{
    for (int i = 0; i < h->n; i++)
        if (!h->at[i].slots) return false;
    return true;
}

int hosts_slots(const struct hosts *h, int ppn)
{
    assert(ppn >= 0);
    int n = 0;
    for (int i = 0; i < h->n && n <= MAX_RANKS; i++) n += room_of(h, i, ppn);
    return n;
}

/* Places ranks in blocks, because neighbouring ranks communicate most.  Without slots the blocks are equal; else slots are filled, and
 * further ranks are placed in the same proportion. */
void hosts_place(const struct hosts *h, int n_ranks, int ppn, int *counts_out)
{
    assert(ppn >= 0);
    bool told = ppn > 0;
    for (int i = 0; i < h->n; i++) {
        told |= h->at[i].slots > 0;
        counts_out[i] = 0;
    }
    if (!told) {
        for (int i = 0; i < h->n; i++) counts_out[i] = n_ranks / h->n + (i < n_ranks % h->n);
        return;
    }
    for (int left = h->n ? n_ranks : 0; left > 0;)
        for (int i = 0; i < h->n && left > 0; i++) {
            int room = room_of(h, i, ppn), now = room < left ? room : left;
            counts_out[i] += now;
            left -= now;
        }
}
