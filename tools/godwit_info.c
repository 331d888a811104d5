/* godwit_info.c -- `godwit-info`: what is installed, which settings hold and where each came from.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "base/file.h"
#include "base/foreign.h"
#include "base/os.h"
#include "base/plain.h"
#include "base/processor.h"
#include "base/settings.h"
#include "base/time.h"
#include "info.h"
#include "info_program.h"
#include "net/network.h"
#include "sym/sym.h"
#include "wire_ofi/ofi.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>

struct info_row info_row_get(int i)
{
    struct info_row r;
    gw_settings_get(i, &r.info, r.value, sizeof r.value, &r.origin);
    return r;
}

/* Prints words, broken before column 100; every line after the first is indented. */
static void print_wrapped(const char *text, int indent)
{
    int column = indent;
    for (const char *word = text; *word;) {
        int n = (int)strcspn(word, " ");
        bool first = column == indent;
        if (!first && column + 1 + n > 100) {
            gw_print(stdout, "\n%*s", indent, "");
            column = indent;
            first = true;
        }
        gw_print(stdout, "%s%.*s", first ? "" : " ", n, word);
        column += n + !first;
        word += n;
        word += strspn(word, " ");
    }
    putchar('\n');
}

static bool is_default(const struct info_row *r) { return strcmp(r->origin, "default") == 0; }

static void print_long(const struct info_row *r)
{
    const struct gw_setting_info *s = &r->info;
    gw_print(stdout, "%s = %s", s->env, r->value[0] ? r->value : "(empty)");
    if (!is_default(r)) gw_print(stdout, "   from %s%s%s", r->origin, s->source ? " in " : "", s->source ? s->source : "");
    printf("\n");
    printf("    ");
    print_wrapped(s->help, 4);
    gw_print(stdout, "    type %s, default %s", s->type, s->default_text[0] ? s->default_text : "(empty)");
    if (s->range[0]) gw_print(stdout, ", allowed %s", s->range);
    printf("\n");
    if (s->aliases[0]) gw_print(stdout, "    also read from %s\n", s->aliases);
}

static void print_summary(const struct info_row *r)
{
    int n = (int)strcspn(r->info.help, ".");
    gw_print(stdout, "%-28s %-12s %-10s %.*s\n", r->info.env, r->value[0] ? r->value : "-", is_default(r) ? "" : "(set)", n,
             r->info.help);
}

/* What other libraries have, and no setting reads. */
static void print_foreign(struct gw_foreign f)
{
    static const char *const words[] = {"of no effect: ", "", "read, and "};
    gw_print(stdout, "%s: %s", f.name, words[f.kind]);
    print_wrapped(f.why, 4);
}

static void print_all_foreign(void)
{
    printf("\nOf other MPI libraries, and of no effect here or read by another library:\n");
    for (int i = 0; i < gw_foreign_count(); i++) print_foreign(gw_foreign_at(i));
}

static void print_settings(bool changed_only)
{
    int shown = 0;
    for (int i = 0; i < gw_settings_count(); i++) {
        struct info_row r = info_row_get(i);
        if (changed_only && (is_default(&r) || strcmp(r.info.name, "tune") == 0)) continue; /* that is told already */
        if (changed_only)
            gw_print(stdout, "  %s=%s (from %s%s%s)\n", r.info.env, r.value, r.origin, r.info.source ? " in " : "",
                     r.info.source ? r.info.source : "");
        else
            print_long(&r);
        shown++;
    }
    char tuned[8];
    if (changed_only && !shown)
        printf(gw_tuned_text(tuned, sizeof tuned) ? "  none but the tuning file's\n" : "  none, all are at their defaults\n");
    if (!changed_only) print_all_foreign();
}

/* By the words that rows of tables name it by. */
static void print_processor(void)
{
    struct gw_processor here;
    char text[GW_PROCESSOR_TEXT], model[256];
    if (gw_processor_here(&here))
        gw_print(stdout, "processor %s (%s)\n", gw_processor_text(&here, true, text, sizeof text),
                 gw_processor_model_name(model, sizeof model));
}

static void print_clock(void)
{
    char source[64], costs[128];
    if (!gw_line_read(source, sizeof source, "/sys/devices/system/clocksource/clocksource0/current_clocksource"))
        snprintf(source, sizeof source, "not told by the kernel");
    gw_print(stdout, "clock     %s; %s\n", gw_trimmed(source), gw_costs_text(costs, sizeof costs));
}

static void print_overview(void)
{
    struct utsname u;
    const char *limit;
    char tuned[1024];
    gw_print(stdout, "Godwit %s, MPI 5.0, standard ABI (libmpi_abi.so.1); OpenSHMEM %d.%d (libgodwit_shmem.so)\n", GODWIT_VERSION,
             SYM_MAJOR, SYM_MINOR);
    if (uname(&u) == 0) gw_print(stdout, "host      %s, %s %s, %s\n", u.nodename, u.sysname, u.release, u.machine);
    printf("cores     %d that this process may use\n", gw_cores_allowed());
    print_processor();
    print_clock();
    int64_t memory = gw_memory_available(&limit);
    gw_print(stdout, "memory    %.1f GiB, by %s\n", (double)memory / (1 << 30), limit);
    printf("wires     shared memory of one node; TCP between nodes, or libfabric (`godwit-info --network`)\n");
    printf("launchers mpiexec (Godwit's), PMIx, PMI-1, PMI-2, none\n");
    if (gw_tuned_text(tuned, sizeof tuned)) gw_print(stdout, "tuning    %s\n", tuned);
    printf("settings that are set:\n");
    print_settings(true);
    printf("`godwit-info --settings` lists all %d, `godwit-info NAME` explains one.\n", gw_settings_count());
}

/* One by its name, its variable or an alias; ignores case and '-' for '_'. */
static bool same_name(const char *a, const char *b, size_t nb)
{
    if (strlen(a) != nb) return false;
    for (size_t i = 0; i < nb; i++) {
        int x = a[i] == '-' ? '_' : tolower((unsigned char)a[i]), y = b[i] == '-' ? '_' : tolower((unsigned char)b[i]);
        if (x != y) return false;
    }
    return true;
}

static bool row_named(const struct info_row *r, const char *name)
{
    if (same_name(name, r->info.name, strlen(r->info.name)) || same_name(name, r->info.env, strlen(r->info.env))) return true;
    for (const char *p = r->info.aliases; *p;) {
        size_t n = strcspn(p, " ");
        if (same_name(name, p, n)) return true;
        p += n + strspn(p + n, " ");
    }
    return false;
}

/* All names that something is known of, in capitals, and behind the end of each as it is written; the caller's. */
struct names {
    char **at;
    int n;
};
static void name_add(struct names *all, const char *name, size_t len)
{
    char *copy = gw_xmalloc(2 * (len + 1));
    for (size_t i = 0; i < len; i++) copy[i] = name[i] == '-' ? '_' : (char)toupper((unsigned char)name[i]);
    copy[len] = 0;
    snprintf(copy + len + 1, len + 1, "%s", name);
    all->at = gw_xrealloc(all->at, (size_t)(all->n + 1) * sizeof *all->at);
    all->at[all->n++] = copy;
}

static const char mpichs[] = "MPICH_", twin[] = "MPIR_CVAR_"; /* MPICH reads its variables by both */

static void names_of(const struct info_row *r, struct names *all)
{
    char other[160];
    name_add(all, r->info.name, strlen(r->info.name));
    name_add(all, r->info.env, strlen(r->info.env));
    for (const char *p = r->info.aliases; *p; p += strspn(p, " ")) {
        size_t n = strcspn(p, " ");
        name_add(all, p, n);
        bool has_twin = strncmp(p, mpichs, sizeof mpichs - 1) == 0 &&
            snprintf(other, sizeof other, "%s%.*s", twin, (int)(n - sizeof mpichs + 1), p + sizeof mpichs - 1) < (int)sizeof other;
        if (has_twin && gw_setting_read_by(other) >= 0) name_add(all, other, strlen(other));
        p += n;
    }
}

static void say_none(const char *name, struct names *all)
{
    enum { SHOWN = 3, SHORTEST = 3 };
    struct names asked = {NULL, 0};
    int at[SHOWN];
    for (int i = 0; i < gw_foreign_count(); i++) name_add(all, gw_foreign_at(i).name, strlen(gw_foreign_at(i).name));
    name_add(&asked, name, strlen(name));
    bool is_long = strlen(name) > (strncasecmp(name, "GODWIT_", 7) == 0 ? 7 : SHORTEST);
    int n = is_long ? gw_longer(asked.at[0], (const char *const *)all->at, all->n, at, SHOWN) : 0;
    const char *near = n ? NULL : gw_nearest(asked.at[0], (const char *const *)all->at, all->n);
    if (n) {
        gw_print(stderr, "godwit-info: there is no setting %s; did you mean ", name);
        for (int i = 0; i < n && i < SHOWN; i++)
            gw_print(stderr, "%s%s", i ? ", " : "", all->at[at[i]] + strlen(all->at[at[i]]) + 1);
        if (n > SHOWN) fprintf(stderr, " or another of %d", n);
        fputs("?\n", stderr);
    } else if (near)
        gw_print(stderr, "godwit-info: there is no setting %s; did you mean %s?\n", name, near + strlen(near) + 1);
    else if (gw_foreign_whose(asked.at[0]))
        gw_print(stderr, "godwit-info: %s of %s is of no effect here; `godwit-info --settings` lists what is read\n", name,
                 gw_foreign_whose(asked.at[0]));
    else
        gw_print(stderr, "godwit-info: there is no setting %s; `godwit-info --settings` lists all\n", name);
    free(asked.at[0]);
    free(asked.at);
}

/* MPICH's names have capitals alone, others have small letters, too. */
static void name_written(const char *name, char *to, size_t cap)
{
    snprintf(to, cap, "%s", name);
    for (char *c = to; *c && strncasecmp(name, twin, sizeof twin - 1) == 0; c++) *c = (char)toupper((unsigned char)*c);
}

static int explain(const char *name)
{
    struct names all = {NULL, 0};
    struct gw_foreign f;
    char written[128];
    struct stat st;
    int rc = 0, row = -1;
    name_written(name, written, sizeof written);
    for (int i = 0; i < gw_settings_count() && row < 0; i++) {
        struct info_row r = info_row_get(i);
        if (row_named(&r, name)) row = i;
        names_of(&r, &all);
    }
    if (row >= 0) {
        struct info_row r = info_row_get(row);
        print_long(&r);
    } else if ((row = gw_setting_read_by(written)) >= 0) {
        struct info_row r = info_row_get(row);
        gw_print(stdout, "%s is MPICH's other name of MPICH_%s, which counts before it where both are set:\n", written,
                 written + strlen(twin));
        print_long(&r);
    } else if (gw_foreign_find(written, &f) && f.kind != GW_FOREIGN_NOTED) {
        gw_print(stdout, "%s is %s%s\n", written, f.kind == GW_FOREIGN_NOTHING ? "of no effect: " : "no setting: ", f.why);
    } else if (stat(name, &st) == 0 && S_ISREG(st.st_mode)) {
        rc = info_program(name);
    } else {
        say_none(name, &all);
        rc = 1;
    }
    for (int i = 0; i < all.n; i++) free(all.at[i]);
    free(all.at);
    return rc;
}

static const char usage[] =
    "usage: godwit-info [--settings | --list | --tuning | --network | --json | --version | --help] [NAME | FILE]...\n"
    "  (nothing)    version, host, wires, and the settings that are set\n"
    "  --settings   every setting: value, where it came from, default, meaning; variables of other libraries of no effect\n"
    "  --list       the same, a line each\n"
    "  --tuning     rows of the tuning file that are in force here, and lines that are left out, with the reason\n"
    "  --network    interfaces, providers of libfabric, network cards: what a job on several nodes would take, and why\n"
    "  --json       versions, build, features, host, settings (those of the NAMEs, or all) and rows of tuning, for programs:\n"
    "               PREFIX/share/godwit/schema/info.json says what stands there\n"
    "  NAME         one setting, by its name, its variable or another MPI's name for it\n"
    "  FILE         a program or library, by its path (./NAME where a setting has that name): which MPI library it was built with,\n"
    "               and whether it runs on this one\n";

static int option(const char *word)
{
    static const char *const options[] = {"--settings", "--list", "--tuning", "--network", "--json", "--version", "--help"};
    if (strcmp(word, "--settings") == 0) {
        print_settings(false);
    } else if (strcmp(word, "--list") == 0) {
        for (int i = 0; i < gw_settings_count(); i++) {
            struct info_row r = info_row_get(i);
            print_summary(&r);
        }
    } else if (strcmp(word, "--tuning") == 0) {
        return info_tuning_print();
    } else if (strcmp(word, "--network") == 0) {
        return network_print(stdout, ofi_tags_print) == GW_OK ? 0 : 1;
    } else if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        gw_print(stdout, "Godwit %s\n", GODWIT_VERSION);
    } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        fputs(usage, stdout);
    } else {
        const char *near = gw_nearest(word, options, (int)GW_ARRAY_LEN(options));
        gw_print(stderr, "godwit-info: unknown option %s%s%s%s\n", word, near ? "; did you mean " : "", near ? near : "",
                 near ? "?" : "");
        fputs(usage, stderr);
        return 2;
    }
    return 0;
}

/* ---- --json ---- */
static void want_all_names(const char *name, struct names *all)
{
    for (int i = 0; i < gw_settings_count(); i++) {
        struct info_row r = info_row_get(i);
        names_of(&r, all);
    }
    say_none(name, all);
}

/* The setting of that name is wanted; false: there is none, which is said. */
static bool want(const char *name, bool *wanted)
{
    char written[128];
    struct names all = {NULL, 0};
    name_written(name, written, sizeof written);
    int row = gw_setting_read_by(written);
    for (int i = 0; i < gw_settings_count() && row < 0; i++) {
        struct info_row r = info_row_get(i);
        if (row_named(&r, name)) row = i;
    }
    if (row >= 0) return wanted[row] = true;
    want_all_names(name, &all);
    for (int i = 0; i < all.n; i++) free(all.at[i]);
    free(all.at);
    return false;
}

/* --json stands alone, or with names of settings. */
static int as_json(int argc, char **argv, const char *warnings)
{
    bool *wanted = gw_xcalloc((size_t)gw_settings_count(), sizeof *wanted), any = false;
    int rc = 0;
    for (int i = 1; i < argc && rc == 0; i++) {
        if (strcmp(argv[i], "--json") == 0) continue;
        if (argv[i][0] == '-') {
            gw_print(stderr, "godwit-info: %s has no --json; --json stands alone, or with names of settings\n", argv[i]);
            rc = 2;
        } else {
            any = true;
            if (!want(argv[i], wanted)) rc = 1;
        }
    }
    if (rc == 0 && !info_json(any ? wanted : NULL, warnings)) rc = 1;
    free(wanted);
    return rc;
}

static bool has_word(int argc, char **argv, const char *word)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], word) == 0) return true;
    return false;
}

int main(int argc, char **argv)
{
    gw_tuned_take(); /* as a job on this host would */
    gw_settings_load();
    char *warnings = gw_xasprintf("%s", gw_settings_complaints_text());
    gw_log_identity(0, 1); /* prints what is wrong with the environment */
    int rc = 0;
    bool is_json = has_word(argc, argv, "--json");
    if (argc == 1) print_overview();
    if (is_json) rc = as_json(argc, argv, warnings);
    for (int i = 1; i < argc && !is_json; i++) {
        int r = argv[i][0] == '-' ? option(argv[i]) : strchr(argv[i], '/') ? info_program(argv[i]) : explain(argv[i]);
        if (r > rc) rc = r;
    }
    free(warnings);
    gw_settings_free();
    return fflush(stdout) == 0 ? rc : 1;
}
