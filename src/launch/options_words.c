/* options_words.c -- what one launcher alone has, in its words: Slurm's masks and numbers of nodes, PRRTE's lists of things to show and to
 * do, Cray's numbers of nodes; and what is said of options without effect.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "launch/options_private.h"

static void append(char **text, const char *more)
{
    char *joined = gw_xasprintf("%s%s", *text ? *text : "", more);
    free(*text);
    *text = joined;
}

/* Is text[n] the word, or a beginning of it? */
static bool begins(const char *text, size_t n, const char *word)
{
    return n > 0 && n <= strlen(word) && strncasecmp(text, word, n) == 0;
}

/* ---- hosts ------------------------------------------------------------------------------------------------------------------- */
/* "A" or "A-B", n characters; false: it is neither. */
static bool range_read(const char *text, size_t n, long *a_out, long *b_out)
{
    enum { DIGITS = 6 };
    size_t first = strspn(text, "0123456789"), rest = first < n && text[first] == '-' ? strspn(text + first + 1, "0123456789") : 0;
    bool one = first == n, two = rest > 0 && first + 1 + rest == n;
    if (first < 1 || first > DIGITS || rest > DIGITS || !(one || two)) return false;
    *a_out = strtol(text, NULL, 10);
    *b_out = two ? strtol(text + first + 1, NULL, 10) : *a_out;
    return *a_out <= *b_out && *b_out - *a_out < MAX_RANKS;
}

/* Numbers and ranges of them with commas, n characters. */
static bool is_ranges(const char *text, size_t n)
{
    long a, b;
    for (const char *p = text, *end = text + n; p <= end;) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        size_t len = (size_t)((comma ? comma : end) - p);
        if (!range_read(p, len, &a, &b)) return false;
        p += len + 1;
    }
    return true;
}

/* "n[1-3,07],m4": are the brackets whole, with ranges in them and nothing behind them? */
static bool are_brackets(const char *list)
{
    for (const char *p = strchr(list, '['); p; p = strchr(p, '[')) {
        size_t n = strcspn(++p, "[]");
        if (p[n] != ']' || !is_ranges(p, n) || (p[n + 1] && p[n + 1] != ',')) return false;
    }
    return true;
}

/* Cray's nodes: number 3 is the host nid00003. */
static void add_numbers(struct hosts *h, const char *list)
{
    long a, b;
    for (const char *p = list; *p; p += *p == ',') {
        size_t n = strcspn(p, ",");
        for (range_read(p, n, &a, &b); a <= b; a++) {
            char name[32];
            snprintf(name, sizeof name, "nid%05ld", a);
            hosts_add(h, name);
        }
        p += n;
    }
}

int launch_set_hosts(struct launch_options *o, const char *name, const char *text)
{
    const char *bare = name + strspn(name, "-");
    bool is_numbers = (strcmp(bare, "L") == 0 || strcmp(bare, "node-list") == 0) && is_ranges(text, strlen(text));
    if (is_numbers)
        add_numbers(&o->hosts, text);
    else if (!strpbrk(text, "[]"))
        hosts_add(&o->hosts, text);
    else if (strchr(text, '[') && are_brackets(text))
        hosts_expand(&o->hosts, text);
    else
        return launch_usage_error("%s %s: brackets hold numbers and ranges, such as n[1-3,07], and behind them stands a comma or "
                                  "nothing (-ppn, and a host file, say how many ranks)",
                                  name, text);
    return o->hosts.bad ? launch_usage_error("%s: \"%s\" %s", name, o->hosts.bad, o->hosts.bad_why) : -1;
}

int launch_set_hostfile(struct launch_options *o, const char *name, const char *file)
{
    const char *why = hosts_read(&o->hosts, file, true);
    if (!why && o->hosts.bad) return launch_usage_error("%s: \"%s\" %s", name, o->hosts.bad, o->hosts.bad_why);
    return why ? launch_usage_error("%s %s: %s", name, file, why) : -1;
}

int launch_set_nodes(struct launch_options *o, const char *name, const char *text)
{
    long least, most;
    if (!range_read(text, strlen(text), &least, &most) || least < 1 || most > MAX_RANKS)
        return launch_usage_error("%s wants a number of hosts or a range of them, such as 2 or 1-4, not '%s'", name, text);
    o->nodes = launch_options_hold(o, text);
    o->nodes_least = (int)least;
    o->nodes_most = (int)most;
    return -1;
}

int launch_nodes_settle(struct launch_options *o, int have)
{
    if (!o->nodes) return -1;
    if (o->hosts.n && o->hosts.n < o->nodes_least)
        return launch_usage_error("--nodes %s: there are only %d hosts", o->nodes, o->hosts.n);
    if (o->hosts.n) hosts_first(&o->hosts, o->nodes_most);
    if (!o->hosts.n && have && have < o->nodes_least)
        return launch_usage_error(
            "--nodes %s: there is one host; name the others: -host n1,n2; --vnodes fakes several nodes on this one", o->nodes);
    return -1;
}

/* ---- CPUs rank by rank in Slurm's words --------------------------------------------------------------------------------------- */
/* Appends the CPUs of a mask of n hexadecimal digits, with + between ranges; false: it is none, or empty. */
static bool mask_read(const char *hex, size_t n, char **out)
{
    bool any = false;
    long first = -1;
    if (n > 2 && hex[0] == '0' && (hex[1] == 'x' || hex[1] == 'X')) hex += 2, n -= 2;
    for (size_t i = 0; i < n; i++)
        if (!isxdigit((unsigned char)hex[i])) return false;
    for (long cpu = 0; cpu <= (long)n * 4; cpu++) {
        int digit = cpu < (long)n * 4 ? tolower((unsigned char)hex[n - 1 - (size_t)cpu / 4]) : '0';
        bool is_in = ((digit >= 'a' ? digit - 'a' + 10 : digit - '0') >> cpu % 4) & 1;
        if (is_in && first < 0) first = cpu;
        if (is_in || first < 0) continue;
        char range[64];
        snprintf(range, sizeof range, "%s%ld-%ld", any ? "+" : "", first, cpu - 1);
        append(out, range);
        any = true;
        first = -1;
    }
    return any;
}

/* Appends one entry, which stands `times` times; false: it is none. */
static bool entry_read(const char *text, size_t n, bool is_mask, char **out)
{
    enum { DIGITS = 2048, MOST = 8192 };
    const char *star = memchr(text, '*', n);
    size_t len = star ? (size_t)(star - text) : n;
    char *one = NULL, *end;
    long times = star ? strtol(star + 1, &end, 10) : 1;
    if (len < 1 || len > DIGITS || (star && (!isdigit((unsigned char)star[1]) || end != text + n)) || times < 1 || times > MOST)
        return false;
    bool good = true;
    if (is_mask) {
        good = mask_read(text, len, &one);
    } else {
        char *word = gw_xasprintf("%.*s", (int)len, text);
        one = strncasecmp(word, "0x", 2) == 0 ? gw_xasprintf("%ld", strtol(word, NULL, 16)) : gw_xasprintf("%s", word);
        free(word);
    }
    for (long i = 0; good && i < times; i++) {
        if (*out) append(out, ",");
        append(out, one);
    }
    free(one);
    return good;
}

int launch_set_slurm_cpus(struct launch_options *o, const char *text)
{
    char *ours = NULL, *said = gw_xasprintf("--cpu-bind %s", text);
    const char *list = strchr(text, ':') + 1;
    bool is_mask = strncmp(text, "mask_cpu", 8) == 0, good = true;
    for (const char *p = list; good;) {
        size_t n = strcspn(p, ",");
        good = entry_read(p, n, is_mask, &ours);
        p += n;
        if (!*p) break;
        p++;
    }
    int rc = good ? launch_set_user(o, said, launch_options_hold(o, ours))
                  : launch_usage_error("%s: wants %s rank by rank with commas, such as %s", said,
                                       is_mask ? "masks of CPUs" : "CPUs", is_mask ? "0x3,0xc" : "0,2");
    free(said);
    free(ours);
    return rc;
}

/* ---- PRRTE: what is shown ------------------------------------------------------------------------------------------------------ */
int launch_set_display(struct launch_options *o, const char *name, const char *text)
{
    size_t words = strcspn(text, ":");
    for (const char *p = text + words; *p;) {
        size_t n = strcspn(++p, ":");
        if (!begins(p, n, "parseable") && !begins(p, n, "parsable"))
            return launch_usage_error("%s: behind the colon may stand PARSEABLE, not '%.*s'", name, (int)n, p);
        p += n;
    }
    for (const char *p = text, *end = text + words; p <= end;) {
        size_t n = strcspn(p, ",:");
        if (begins(p, n, "map") || (n > 4 && begins(p, n, "map-devel")) || begins(p, n, "allocation"))
            o->show_map = true;
        else if (begins(p, n, "bindings"))
            o->verbose = true;
        else if (begins(p, strcspn(p, "=,:"), "topo") || begins(p, strcspn(p, "=,:"), "cpus"))
            return launch_usage_error(
                "%s: mpiexec does not show the parts of a machine; `mpiexec doctor` tells of cores and NUMA nodes", name);
        else
            return launch_usage_error("%s is a list of map, map-devel, allocation and bindings, not '%.*s'", name, (int)n, p);
        p += n + 1;
    }
    return -1;
}

/* ---- PRRTE: what is done --------------------------------------------------------------------------------------------------------- */
enum act { ACT_TAKEN, ACT_NO_LAUNCH, ACT_RECOVER, ACT_STACKS, ACT_TIMEOUT, ACT_REFUSED };
static const struct directive {
    const char *word;
    enum act act;
    const char *why; /* of ACT_REFUSED, and of ACT_TAKEN with a value that is false */
} directives[] = {
    {"error-nonzero-status", ACT_TAKEN,
     "a rank that fails ends the job, or with -disable-auto-cleanup the others go on; its status is told in any case"},
    {"donotlaunch", ACT_NO_LAUNCH, NULL},
    {"donotspawn", ACT_NO_LAUNCH, NULL},
    {"show-progress", ACT_TAKEN, NULL},
    {"notifyerrors", ACT_REFUSED, "ranks get no events of errors; -disable-auto-cleanup lets them go on"},
    {"recoverable", ACT_RECOVER, NULL},
    {"autorestart", ACT_REFUSED, "ranks that failed are not started again"},
    {"continuous", ACT_REFUSED, "ranks that failed are not started again"},
    {"max-restarts", ACT_REFUSED, "ranks that failed are not started again"},
    {"exec-agent", ACT_REFUSED, "name it before the program: mpiexec -n 2 AGENT PROGRAM"},
    {"default-exec-agent", ACT_TAKEN, NULL},
    {"output-proctable", ACT_REFUSED,
     "mpiexec prints no such table; debuggers find it in mpiexec (MPIR_proctable), and -v says where ranks run"},
    {"stop-on-exec", ACT_REFUSED, "--gdb starts ranks under gdb"},
    {"stop-in-init", ACT_REFUSED, "--gdb starts ranks under gdb"},
    {"stop-in-app", ACT_REFUSED, "--gdb starts ranks under gdb"},
    {"timeout", ACT_TIMEOUT, NULL},
    {"spawn-timeout", ACT_REFUSED, "there is one limit, for start and run: --timeout SECONDS"},
    {"report-state-on-timeout", ACT_STACKS, NULL},
    {"get-stack-traces", ACT_STACKS, NULL},
    {"report-child-jobs-separately", ACT_REFUSED, "the exit status is that of the first rank that failed, spawned or not"},
    {"aggregate-help-messages", ACT_TAKEN, NULL},
    {"fwd-environment", ACT_TAKEN, "-genvnone hands on nothing of the environment"},
};

/* The directive of that name, or the only one that begins so; NULL: none, or several. */
static const struct directive *directive_find(const char *text, size_t n)
{
    const struct directive *found = NULL;
    int count = 0;
    for (size_t i = 0; i < GW_ARRAY_LEN(directives); i++) {
        const struct directive *d = &directives[i];
        if (!begins(text, n, d->word)) continue;
        if (strlen(d->word) == n) return d;
        found = d;
        count++;
    }
    return count == 1 ? found : NULL;
}

/* 1, 0; -1: it is no truth value. */
static int truth(const char *text)
{
    static const char *const yes[] = {"1", "t", "y", "true", "yes", "enable"}, *const no[] = {"0",     "f",  "n",
                                                                                              "false", "no", "disable"};
    for (size_t i = 0; i < GW_ARRAY_LEN(yes); i++) {
        if (strcasecmp(text, yes[i]) == 0) return 1;
        if (strcasecmp(text, no[i]) == 0) return 0;
    }
    return -1;
}

/* Seconds, or days, hours, minutes and seconds with colons between them, of which the first may lack. */
static int set_time(struct launch_options *o, const char *said, const char *text)
{
    static const int of_part[] = {60, 60, 24};
    long parts[4] = {0}, seconds = 0, scale = 1;
    int n = 0;
    char *end = NULL;
    if (!strchr(text, ':')) return launch_set_timeout(o, said, text);
    for (const char *p = text; n < 4 && isdigit((unsigned char)*p); p = end + 1) {
        parts[n++] = strtol(p, &end, 10);
        if (*end != ':') break;
    }
    if (!n || *end || strlen(text) > 24) return launch_usage_error("%s wants seconds, or D:H:M:S, not '%s'", said, text);
    for (int i = n - 1; i >= 0; i--) {
        if (parts[i] > 1000000000) return launch_usage_error("%s: '%s' is too long", said, text);
        seconds += parts[i] * scale;
        if (i) scale *= of_part[n - 1 - i];
    }
    char word[32];
    snprintf(word, sizeof word, "%ld", seconds);
    return launch_set_timeout(o, said, word);
}

static int do_directive(struct launch_options *o, const char *name, const struct directive *d, const char *value)
{
    if (d->act == ACT_REFUSED) return launch_usage_error("%s %s: %s", name, d->word, d->why);
    if (d->act == ACT_TIMEOUT) {
        char *said = gw_xasprintf("%s timeout", name);
        int rc = set_time(o, said, value ? value : "");
        free(said);
        return rc;
    }
    int wanted = value ? truth(value) : 1;
    if (wanted < 0) return launch_usage_error("%s %s=%s: that is neither true nor false", name, d->word, value);
    if (d->act == ACT_TAKEN && !wanted && d->why) return launch_usage_error("%s %s=%s: %s", name, d->word, value, d->why);
    if (d->act == ACT_NO_LAUNCH) o->no_launch = wanted;
    if (d->act == ACT_RECOVER) o->no_cleanup = wanted;
    if (d->act == ACT_STACKS) o->stacks = wanted;
    return -1;
}

int launch_set_runtime(struct launch_options *o, const char *name, const char *text)
{
    for (const char *p = text;; p++) {
        size_t n = strcspn(p, ","), word = strcspn(p, "=,");
        const struct directive *d = directive_find(p, word);
        if (!d) {
            char *all = NULL, *bad = gw_xasprintf("%.*s", (int)word, p);
            for (size_t i = 0; i < GW_ARRAY_LEN(directives); i++) {
                if (directives[i].act == ACT_REFUSED) continue;
                if (all) append(&all, ", ");
                append(&all, directives[i].word);
            }
            launch_usage_error("%s is a list of %s, not '%s'", name, all, bad);
            free(bad);
            free(all);
            return EXIT_USAGE;
        }
        char *value = word < n ? gw_xasprintf("%.*s", (int)(n - word - 1), p + word + 1) : NULL;
        int rc = do_directive(o, name, d, value);
        free(value);
        if (rc >= 0) return rc;
        p += n;
        if (!*p) return -1;
    }
}

/* ---- options without effect ------------------------------------------------------------------------------------------------------ */
/* Is the value one of those that stand in the row?  EXIT_USAGE after explaining. */
static int check_value(const struct option_row *row, const char *name, const char *text)
{
    enum { WORDS = 4 };
    const char *list = row->argument + (strncmp(row->argument, "[=", 2) == 0 ? 2 : 0);
    if (strcmp(list, "N") == 0 || strcmp(list, "N]") == 0)
        return launch_parse_number(name, text, 0, INT32_MAX) < 0 ? EXIT_USAGE : -1;
    if (!strchr(list, '|')) return -1;
    const char *words[WORDS];
    int n = 0;
    char *copy = gw_xasprintf("%.*s", (int)strcspn(list, "]"), list), *save = NULL;
    for (char *p = strtok_r(copy, "|", &save); p && n < WORDS; p = strtok_r(NULL, "|", &save)) words[n++] = p;
    int rc = launch_parse_choice(name, text, words, n) < 0 ? EXIT_USAGE : -1;
    free(copy);
    return rc;
}

int launch_without_effect(struct launch_options *o, const struct option_row *row, const char *name, const char *text)
{
    if (text && *row->argument && check_value(row, name, text) >= 0) return EXIT_USAGE;
    char *said = gw_xasprintf("%s (%s)", name, row->help);
    words_add(row->is == O_NOTED ? &o->noted : &o->taken, said);
    free(said);
    return -1;
}

void launch_without_effect_say(const struct launch_options *o)
{
    char *all = NULL;
    for (int i = 0; i < o->noted.n && !o->quiet; i++) {
        if (all) append(&all, ", ");
        append(&all, o->noted.at[i]);
    }
    for (int i = 0; i < o->taken.n && o->verbose; i++) {
        if (all) append(&all, ", ");
        append(&all, o->taken.at[i]);
    }
    if (all) say_line("of no effect here: %s", all);
    free(all);
}
