/* settings.c -- the settings of every room, read once from the environment by the generated table.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/settings_table.h"
#include "base/base_private.h"
#include "base/file.h"
#include "base/os.h"
#include "base/plain.h"
#include "base/processor.h"
#include "base/settings.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

/* Variables with our prefix that are no settings: the launcher's own, the compiler wrappers', the tests'. */
static const char *const reserved[] = {
    "GODWIT_BOOT",         "GODWIT_RANK",         "GODWIT_SIZE",       "GODWIT_LOCAL_RANK",  "GODWIT_LOCAL_SIZE",
    "GODWIT_JOBID",        "GODWIT_CC",           "GODWIT_CXX",        "GODWIT_SINGLETON",   "GODWIT_FC",
    "GODWIT_LAUNCHER",     "GODWIT_PREFIX",       "GODWIT_PROFILE",    "GODWIT_PROFILE_HOW", "GODWIT_PROFILE_TRAFFIC",
    "GODWIT_SITE",         "GODWIT_RECORD",       "GODWIT_REPLAY",     "GODWIT_QUIET",       "GODWIT_PARENT",
    "GODWIT_FREE_SLOTS",   "GODWIT_WRAPPER",      "GODWIT_DOORS_PATH", "GODWIT_MCA_TOLD",    "GODWIT_PROFILE_REPORT",
    "GODWIT_PROFILE_JSON", "GODWIT_PROFILE_TRACE"};

enum { SETTINGS_MAX = 512 };
static struct {
    atomic_bool is_loaded; /* release by the thread that has loaded them, acquire by others */
    bool is_help_said;
    char refused[512];                 /* what gw_settings_refused() says */
    bool is_raised;                    /* only the site's files set something */
    int n_ignored;                     /* variables that therefore do not count, */
    char ignored[64];                  /* and the first of them */
    const char *origins[SETTINGS_MAX]; /* by row: the variable that set it, a word of the table, or from_mpi_t; NULL: the default */
    char *sources[SETTINGS_MAX];       /* the line of a file that set that variable, or NULL */
    char complaints[16 << 10];         /* lines for gw_settings_report(), once the rank is known */
} state;
static const char from_mpi_t[] = "MPI_T", from_tune[] = "GODWIT_TUNE";
/* While the environment is read, by row: the value of the name that counts most. */
struct found {
    const char *value; /* NULL: none of its names is set */
    const struct setting_name *name;
    int tuned; /* the line of GODWIT_TUNE's file that says so, or 0 */
    enum gw_site_word site;
};

/* In the order of the bits of gw_log_mask. */
static const struct {
    const char *name, *about;
} categories[] = {
    {"wire", "shared memory and networks: which is used, which card, and why not another"},
    {"proto", "messages: how they travel by size, direct copies, how many of each kind there were"},
    {"coll", "collectives: which algorithm was taken for which ranks and bytes, and by which rule"},
    {"boot", "the start: how ranks found each other, nodes, and what the launcher was asked"},
    {"topo", "topologies: where reordered ranks were put"},
    {"wait", "waiting: whether another program was seen to run on this rank's core, and what is done then"},
};

static void complain(const char *fmt, ...) GW_PRINTF(1, 2);
static void complain(const char *fmt, ...)
{
    size_t n = strlen(state.complaints);
    va_list args;
    va_start(args, fmt);
    n += gw_plain_vformat(state.complaints + n, sizeof state.complaints - n, fmt, args);
    va_end(args);
    if (n + 1 < sizeof state.complaints) memcpy(state.complaints + n, "\n", 2);
}

/* Prints, once, what GODWIT_EXPLAIN can be set to, if it is "help". */
static void explain_help(void)
{
    if (state.is_help_said || !gw_set.explain || !gw_set_lists(gw_set.explain, "help")) return;
    state.is_help_said = true;
    gw_note("GODWIT_EXPLAIN is a list with commas of");
    for (size_t i = 0; i < GW_ARRAY_LEN(categories); i++) gw_note("  %-6s %s", categories[i].name, categories[i].about);
    gw_note("  help   this list");
    gw_note("`godwit-info --settings` has all other settings, `mpiexec -v` says where ranks run");
}

void gw_settings_report(void)
{
    int rank;
    if (!gw_log_rank_known(&rank)) rank = 0;
    if (rank == 0 && state.is_loaded) explain_help();
    for (char *line = state.complaints; rank == 0 && *line;) {
        char *end = strchrnul(line, '\n'), *next = *end ? end + 1 : end;
        *end = 0;
        gw_warn("%s", line);
        line = next;
    }
    state.complaints[0] = 0;
}

const char *gw_settings_complaints_text(void) { return state.complaints; }

int gw_settings_complaints(char *first_out, size_t cap)
{
    int n = 0;
    for (const char *p = state.complaints; *p; p++) n += *p == '\n';
    snprintf(first_out, cap, "%.*s", (int)strcspn(state.complaints, "\n"), state.complaints);
    return n;
}

/* ---- parsing: each answers false and leaves *out when the text is not one ---- */
bool gw_set_bool(const char *text, bool *out)
{
    static const char *const yes[] = {"1", "true", "yes", "on"}, *const no[] = {"0", "false", "no", "off"};
    for (size_t i = 0; i < GW_ARRAY_LEN(yes); i++) {
        if (strcasecmp(text, yes[i]) != 0 && strcasecmp(text, no[i]) != 0) continue;
        *out = strcasecmp(text, yes[i]) == 0;
        return true;
    }
    return false;
}

/* "lo..hi", either end may be missing. */
static bool in_range(const char *range, int64_t v)
{
    const char *dots = strstr(range, "..");
    if (!dots) return true;
    char lo_text[32];
    snprintf(lo_text, sizeof lo_text, "%.*s", (int)(dots - range), range);
    int64_t lo, hi;
    return (!lo_text[0] || !gw_number_read(lo_text, true, &lo) || v >= lo) &&
        (!dots[2] || !gw_number_read(dots + 2, true, &hi) || v <= hi);
}

int gw_word_index(const char *list, const char *word, size_t len)
{
    int i = 0;
    for (const char *p = list; *p; i++) {
        size_t n = strcspn(p, ",");
        if (n == len && strncasecmp(p, word, len) == 0) return i;
        p += n + (p[n] == ',');
    }
    return -1;
}

bool gw_set_lists(const char *list, const char *word) { return gw_word_index(list, word, strlen(word)) >= 0; }

static bool list_allowed(const char *allowed, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, ",");
        if (n && allowed[0] && gw_word_index(allowed, text, n) < 0) return false;
        text += n + (text[n] == ',');
    }
    return true;
}

static void *field(const struct setting_row *row) { return (char *)&gw_set + row->offset; }

/* A text that has to be a processor's. */
static bool is_processor_row(const struct setting_row *row) { return row->offset == offsetof(struct gw_settings, processor); }

/* Without what it asks for, messages would go unprotected: its default is no way out. */
static bool is_protection_row(const struct setting_row *row)
{
    return row->offset == offsetof(struct gw_settings, net_tls) || row->offset == offsetof(struct gw_settings, net_auth);
}

/* to NULL: only looks whether the text is one. */
static bool setting_parse(const struct setting_row *row, const char *text, bool is_default, void *to)
{
    struct gw_processor p;
    int64_t v;
    bool is_on;
    switch (row->kind) {
    case SETTING_BOOL: return gw_set_bool(text, to ? to : &is_on);
    case SETTING_INT:
    case SETTING_SIZE:
        if (!gw_number_read(text, row->kind == SETTING_SIZE, &v)) return false;
        /* A default may lie outside ("auto"); so may a value that says the same. */
        if (!is_default && strcasecmp(text, setting_text(row->default_text)) != 0 && !in_range(setting_text(row->range), v))
            return false;
        if (to) *(int64_t *)to = v;
        return true;
    case SETTING_ENUM: {
        int i = gw_word_index(setting_text(row->choices), text, strlen(text));
        if (i >= 0 && to) *(int *)to = i;
        return i >= 0;
    }
    case SETTING_LIST:
        if (!list_allowed(setting_text(row->range), text)) return false;
        break;
    case SETTING_STRING:
        if (is_processor_row(row) && !gw_processor_of(text, &p)) return false;
        break;
    }
    if (!to) return true;
    /* A copy, since the program may change its environment. */
    const char **slot = to;
    size_t bytes = strlen(text) + 1;
    free((void *)*slot);
    *slot = memcpy(gw_xmalloc(bytes), text, bytes);
    return true;
}

static const char *const kind_words[] = {"a switch (1 or 0)", "a number", "a size (with K, M or G)", "a text", "a list", "a word"};

/* ---- the environment: each variable is looked for among all names, since there are fewer of them ---- */
static int name_compare(int i, const char *name, size_t len)
{
    const char *known = setting_text(gw_setting_names[i].name);
    int c = strncmp(known, name, len);
    return c ? c : known[len] != 0;
}

int gw_setting_name_find(const char *name, size_t len)
{
    int lo = 0, hi = gw_setting_letters >> (*name & 63) & 1 ? gw_setting_name_count : 0;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (name_compare(mid, name, len) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < gw_setting_name_count && name_compare(lo, name, len) == 0
        ? lo
        : -1; /* lo is 0 for a letter with which no name begins: then the comparison fails */
}

const char *gw_setting_name(const char *env, int k)
{
    int at = gw_setting_name_find(env, strlen(env));
    assert(at >= 0 && gw_setting_names[at].order == 0);
    for (int i = 0; i < gw_setting_name_count; i++)
        if (gw_setting_names[i].row == gw_setting_names[at].row && gw_setting_names[i].order == k)
            return setting_text(gw_setting_names[i].name);
    return NULL;
}

int gw_setting_read_by(const char *variable)
{
    int at = gw_setting_name_find(variable, strlen(variable));
    return at < 0 ? -1 : gw_setting_names[at].row;
}

const char *gw_setting_said(const char *env)
{
    int row = gw_setting_read_by(env);
    assert(row >= 0);
    const char *origin = state.origins[row];
    return origin && origin != from_mpi_t && origin != from_tune ? origin : env;
}

/* "NAME=VALUE is not a number in 1..64" */
static void say_wrong(const struct setting_row *row, const char *variable, const char *value, char *to, size_t cap)
{
    if (is_processor_row(row)) {
        snprintf(to, cap, "%s=%s is not VENDOR/FAMILY/MODEL, such as intel/6/207, auto or none", variable, value);
        return;
    }
    const char *allowed = setting_text(row->kind == SETTING_ENUM ? row->choices : row->range);
    snprintf(to, cap, "%s=%s is not %s%s%s", variable, value, kind_words[row->kind],
             allowed[0] ? row->kind == SETTING_ENUM || row->kind == SETTING_LIST ? " of " : " in " : "", allowed);
}

bool gw_setting_fits(int i, const char *variable, const char *text, char *why_out, size_t cap)
{
    bool fits = setting_parse(&gw_setting_rows[i], text, false, NULL);
    if (!fits) say_wrong(&gw_setting_rows[i], variable, text, why_out, cap);
    return fits;
}

/* "FILE, line N: " where a file of the site set the variable, else ""; for one complaint. */
static const char *before(const char *variable)
{
    static char text[600];
    const char *line = gw_site_source(variable);
    snprintf(text, sizeof text, "%s%s", line ? line : "", line ? ": " : "");
    return text;
}

static void setting_load(int i, const struct found *found)
{
    const struct setting_row *row = &gw_setting_rows[i];
    const char *default_text = setting_text(row->default_text), *line;
    char why[512];
    setting_parse(row, default_text, true, field(row));
    if (!found->value) return;
    const char *variable = setting_text(found->name->name);
    if (!setting_parse(row, found->value, false, field(row))) {
        say_wrong(row, variable, found->value, why, sizeof why);
        if (is_protection_row(row)) {
            snprintf(state.refused, sizeof state.refused, "%.300s%.200s", before(variable), why);
            return;
        }
        complain("%s%s; using the default, %s", before(variable), why, default_text[0] ? default_text : "none");
        return;
    }
    state.origins[i] = found->tuned ? from_tune : variable;
    if (found->tuned)
        state.sources[i] = gw_xasprintf("%s, line %d", getenv("GODWIT_TUNE"), found->tuned);
    else if ((line = gw_site_source(variable)) != NULL)
        state.sources[i] = gw_xasprintf("%s", line);
}

/* Of two names of a setting one counts: that which a site's file forces, then the user's, then the site's; of these the first in the table.  Who
 * has set another value by the other name is told, but for the site, whose word is a default. */
static void take_better(const struct setting_row *row, struct found *was, struct found is)
{
    if (was->value && was->name == is.name) return;
    bool wins = !was->value || is.site < was->site || (is.site == was->site && is.name->order < was->name->order);
    struct found other = wins ? *was : is;
    if (wins) *was = is;
    if (!other.value || other.site == GW_SITE_DEFAULT || strcasecmp(other.value, was->value) == 0) return;
    complain("%s=%.80s does not count for %s: %s=%.80s does", setting_text(other.name->name), other.value, setting_text(row->env),
             setting_text(was->name->name), was->value);
}

/* One variable, for all settings that read it; of two entries with the same name the first counts, as for getenv(). */
static void take_variable(const char *entry, struct found found[SETTINGS_MAX])
{
    size_t len = strcspn(entry, "=");
    int at = entry[len] ? gw_setting_name_find(entry, len) : -1;
    for (int i = at; i >= 0 && i < gw_setting_name_count && gw_setting_names[i].name == gw_setting_names[at].name; i++) {
        const struct setting_name *n = &gw_setting_names[i];
        if (n->row < 0) continue;
        struct found f = {entry + len + 1, n, 0, gw_site_word(setting_text(n->name))};
        take_better(&gw_setting_rows[n->row], &found[n->row], f);
    }
}

/* A line of GODWIT_TUNE's file, which counts where no variable sets that setting. */
static void take_tuned(const char *path, int number, char *line, const struct gw_processor *here, struct found *found)
{
    char *value, why[512];
    int at = gw_tuned_setting(line, here, &value, why, sizeof why), row = at < 0 ? -1 : gw_setting_names[at].row;
    if (at == GW_TUNED_WRONG)
        complain("GODWIT_TUNE=%s, line %d: %s; the line is left out", path, number, why);
    else if (row >= 0 && found[row].tuned)
        complain("GODWIT_TUNE=%s, line %d: line %d sets %s already; the line is left out", path, number, found[row].tuned, line);
    else if (row >= 0 && !found[row].value)
        found[row] = (struct found){value, &gw_setting_names[at], number, GW_SITE_NOTHING};
}

/* What GODWIT_PROCESSOR says; NULL: nothing. */
static const char *processor_found(const struct found *found)
{
    static const char name[] = "GODWIT_PROCESSOR";
    int at = gw_setting_name_find(name, sizeof name - 1);
    return found[gw_setting_names[at].row].value;
}

/* The text lives as long as `found`. */
static char *tuned_load(struct found *found)
{
    enum { MOST = 1 << 20 };
    static const char name[] = "GODWIT_TUNE";
    const char *path = !state.is_raised || gw_site_sets(name, sizeof name - 1) ? getenv(name) : NULL;
    char *text = NULL;
    const char *why = path && *path ? gw_file_read(path, MOST, false, &text) : NULL;
    if (text && !*text) why = "it is empty";
    if (why) complain("GODWIT_TUNE=%s cannot be read (%s): what is built in decides", path, why);
    struct gw_lines lines = {text, 0};
    struct gw_processor here = {.features = 0};
    if (text && !gw_processor_of(processor_found(found), &here)) gw_processor_here(&here); /* setting_load() says that it is none */
    for (char *line; (line = gw_line_next(&lines));) take_tuned(path, lines.number, line, &here, found);
    return text;
}

/* Variables of a program with raised rights: one that the site's files do not set is counted, for a warning. */
static bool counts(const char *entry)
{
    size_t len = strcspn(entry, "=");
    if (!state.is_raised || gw_site_sets(entry, len)) return true;
    if (gw_setting_name_find(entry, len) < 0) return false;
    if (state.n_ignored++ == 0) snprintf(state.ignored, sizeof state.ignored, "%.*s", (int)len, entry);
    return false;
}

static void environment_load(void)
{
    struct found found[SETTINGS_MAX] = {{0}};
    for (char **e = environ; e && *e; e++)
        if (counts(*e)) take_variable(*e, found);
    char *tuned = tuned_load(found);
    for (int i = 0; i < gw_setting_row_count; i++) setting_load(i, &found[i]);
    free(tuned);
}

bool gw_setting_is_reserved(const char *name)
{
    for (size_t i = 0; i < GW_ARRAY_LEN(reserved); i++)
        if (strcmp(reserved[i], name) == 0) return true;
    return strncmp(name, "GODWIT_TEST_", 12) == 0;
}

/* What is asked about: settings whose names go on where this one ends, or the one that is spelled most like it; "": none. */
static void near_text(const char *name, char *out, size_t cap)
{
    enum { SHOWN = 3, BEGIN = 7 }; /* GODWIT_ */
    const char *words[SETTINGS_MAX];
    int at[SHOWN];
    for (int i = 0; i < gw_setting_row_count; i++) words[i] = setting_text(gw_setting_rows[i].env);
    int n = strlen(name) > BEGIN ? gw_longer(name, words, gw_setting_row_count, at, SHOWN) : 0;
    for (int i = 0; i < gw_setting_row_count && n == 0; i++) words[i] += BEGIN; /* what is alike in all makes none nearer */
    const char *near = n ? NULL : gw_nearest(name + BEGIN, words, gw_setting_row_count);
    snprintf(out, cap, "%s", near ? near - BEGIN : "");
    for (int i = 0; i < n && i < SHOWN; i++) gw_text_add(out, cap, "%s%s", i ? ", " : "", words[at[i]]);
    if (n > SHOWN) gw_text_add(out, cap, " or another of %d", n);
}

static void say_unknown(const char *name)
{
    char near[256];
    near_text(name, near, sizeof near);
    if (*near)
        complain("%s%s is not a setting; did you mean %s?", before(name), name, near);
    else
        complain("%s%s is not a setting; `godwit-info --settings` lists them", before(name), name);
}

static void check_unknown(void)
{
    for (char **e = environ; e && *e; e++) {
        if (strncmp(*e, "GODWIT_", 7) != 0) continue;
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*e, "="), *e);
        if (gw_setting_name_find(name, strlen(name)) < 0 && !gw_setting_is_reserved(name)) say_unknown(name);
    }
}

/* Before the variables are read.  The second file is the one that HPE's library reads. */
static void site_load(void)
{
    const char *path = secure_getenv("GODWIT_SITE");
    if (!path) gw_site_read("/etc/godwit.conf", false, state.is_raised, complain);
    if (!path)
        gw_site_read("/etc/cray-mpich.conf", false, state.is_raised, complain);
    else if (*path)
        gw_site_read(path, true, false, complain);
}

static void explain_mask(void)
{
    gw_log_mask = 0;
    for (unsigned i = 0; i < GW_ARRAY_LEN(categories); i++)
        if (gw_set_lists(gw_set.explain, categories[i].name)) gw_log_mask |= 1u << i;
    if (gw_set.explain_wire) gw_log_mask |= GW_LOG_WIRE;
}

bool gw_settings_set(int i, const char *text)
{
    if (!setting_parse(&gw_setting_rows[i], text, false, field(&gw_setting_rows[i]))) return false;
    state.origins[i] = from_mpi_t;
    free(state.sources[i]);
    state.sources[i] = NULL;
    explain_mask();
    return true;
}

const void *gw_settings_field(int i) { return field(&gw_setting_rows[i]); }

static void load(void)
{
    assert(gw_setting_row_count <= SETTINGS_MAX);
    state.is_raised = gw_is_raised();
    site_load();
    environment_load();
    if (state.n_ignored > 0)
        complain(
            "this program has raised rights (set-user-ID, set-group-ID or file capabilities), so settings of the environment do not "
            "count: %s%s",
            state.ignored, state.n_ignored > 1 ? " and others" : "");
    check_unknown();
    gw_foreign_check(complain);
    explain_mask();
}

/* The first sessions may begin in several threads at once. */
void gw_settings_load(void)
{
    static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
    static _Thread_local bool is_within; /* what it calls may ask for a setting */
    int rank;
    if (is_within || atomic_load_explicit(&state.is_loaded, memory_order_acquire)) return;
    pthread_mutex_lock(&loading);
    is_within = true;
    bool is_first = !atomic_load_explicit(&state.is_loaded, memory_order_relaxed);
    if (is_first) load();
    atomic_store_explicit(&state.is_loaded, true, memory_order_release);
    if (is_first && gw_log_rank_known(&rank)) gw_settings_report();
    is_within = false;
    pthread_mutex_unlock(&loading);
}

void gw_settings_free(void)
{
    for (int i = 0; i < gw_setting_row_count; i++) {
        const struct setting_row *row = &gw_setting_rows[i];
        state.origins[i] = NULL;
        free(state.sources[i]);
        state.sources[i] = NULL;
        if (row->kind != SETTING_STRING && row->kind != SETTING_LIST) continue;
        const char **slot = field(row);
        free((void *)*slot);
        *slot = NULL;
    }
    state.is_loaded = false;
    state.n_ignored = 0;
    state.refused[0] = 0;
    gw_site_free();
}

const char *gw_settings_refused(void) { return state.refused[0] ? state.refused : NULL; }

int gw_settings_count(void) { return gw_setting_row_count; }

static void format_size(int64_t v, char *out, size_t cap)
{
    static const char *const units[] = {"", "K", "M", "G", "T"};
    unsigned u = 0;
    while (v > 0 && v % 1024 == 0 && u + 1 < GW_ARRAY_LEN(units)) v /= 1024, u++;
    snprintf(out, cap, "%lld%s", (long long)v, units[u]);
}

static void setting_format(const struct setting_row *row, char *out, size_t cap)
{
    const char *text;
    int n;
    switch (row->kind) {
    case SETTING_BOOL: snprintf(out, cap, "%s", *(bool *)field(row) ? "true" : "false"); break;
    case SETTING_INT:
    case SETTING_SIZE:
        if (*(int64_t *)field(row) == -1 && strcmp(setting_text(row->default_text), "auto") == 0)
            snprintf(out, cap, "auto");
        else if (row->kind == SETTING_SIZE)
            format_size(*(int64_t *)field(row), out, cap);
        else
            snprintf(out, cap, "%lld", (long long)*(int64_t *)field(row));
        break;
    case SETTING_ENUM:
        text = setting_text(row->choices);
        for (n = *(int *)field(row); n > 0; n--) text += strcspn(text, ",") + 1;
        snprintf(out, cap, "%.*s", (int)strcspn(text, ","), text);
        break;
    case SETTING_STRING:
    case SETTING_LIST:
        text = *(const char **)field(row);
        snprintf(out, cap, "%s", text ? text : "");
        break;
    }
}

int gw_settings_next_set(int from)
{
    assert(from >= 0);
    while (from < gw_setting_row_count && !state.origins[from]) from++;
    return from;
}

void gw_settings_get(int i, struct gw_setting_info *info_out, char *value_out, size_t cap, const char **origin_out)
{
    static const char *const types[] = {"bool", "int", "size", "string", "list", "enum"};
    assert(i >= 0 && i < gw_setting_row_count);
    const struct setting_row *row = &gw_setting_rows[i];
    *info_out = (struct gw_setting_info){
        .name = setting_text(row->name),
        .room = setting_text(row->room),
        .env = setting_text(row->env),
        .type = types[row->kind],
        .default_text = setting_text(row->default_text),
        .range = setting_text(row->kind == SETTING_ENUM ? row->choices : row->range),
        .aliases = setting_text(row->aliases),
        .help = setting_text(row->help),
        .source = state.sources[i],
    };
    setting_format(row, value_out, cap);
    *origin_out = state.origins[i] ? state.origins[i] : "default";
}
