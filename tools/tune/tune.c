/* tune.c -- command line of godwit-tune, its jobs, and the file.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tune.h"
#include "base/file.h"
#include "base/plain.h"
#include "base/processor.h"
#include "base/progress.h"
#include "coll/coll_private.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "usage: godwit-tune [-o FILE] [-q] [--quick | --check] [OPTIONS OF MPIEXEC]\n"
    "  Measures this machine with jobs of that shape (-n 4, --vnodes 2, ..) and writes which algorithms of collectives and which\n"
    "  thresholds of messages are better than those that are built in.  Jobs read the file where GODWIT_TUNE names it, and mpiexec takes\n"
    "  ~/.config/godwit/HOST.tune by itself, which is where it is written; rows are for jobs of that shape, thresholds for all jobs.\n"
    "  -o FILE   another file\n"
    "  -q        does not say how far it is\n"
    "  --quick   fewer sizes\n"
    "  All is measured at least twice, and until the rows are the same twice running, six times at most.  Each row tells how far its\n"
    "  times lie apart (spread); what wins by less than that is left out.\n"
    "  --check   measures what jobs choose now, says which guidelines do not hold (such as: allreduce takes no longer than reduce\n"
    "            and bcast), measures other algorithms for those collectives, and writes rows where one is quicker; status 3: some\n"
    "            guidelines still do not hold\n";
enum { STATUS_LEFT = 3, MOST_WORDS = 64 };

static struct {
    const char *file;
    char *own_file; /* its default */
    bool is_quick, is_check, is_silent;
    char *shape[MOST_WORDS]; /* options of mpiexec */
    int n_shape;
    char self[PATH_MAX], mpiexec[PATH_MAX + 16];
    struct gw_processor here; /* vendor "": not known */
} o;
static struct gw_progress progress;
static char doing[64]; /* what is being measured */

/* ---- jobs ------------------------------------------------------------------------------------------------------------------------ */
/* Runs one with these settings and words (each ended by NULL), and forwards each line of its output.  False: it failed. */
static bool run(char *const set[], char *const words[], void (*line_is)(void *about, const char *line), void *about)
{
    char *argv[MOST_WORDS + 16], text[512];
    int n = 0, ends[2], status = -1;
    argv[n++] = o.mpiexec;
    argv[n++] = "--quiet";
    for (int i = 0; i < o.n_shape; i++) argv[n++] = o.shape[i];
    argv[n++] = o.self;
    for (int i = 0; words[i]; i++) argv[n++] = words[i];
    argv[n] = NULL;
    if (pipe(ends) != 0) return false;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; set[i]; i++) putenv(set[i]);
        dup2(ends[1], 1);
        close(ends[0]), close(ends[1]);
        execv(o.mpiexec, argv);
        gw_print(stderr, "godwit-tune: cannot start %s: %s\n", o.mpiexec, strerror(errno));
        _exit(127);
    }
    close(ends[1]);
    FILE *f = fdopen(ends[0], "r");
    while (f && fgets(text, sizeof text, f)) line_is(about, text);
    if (f) fclose(f);
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

struct taking {
    struct tune_results *r;
    bool forced;
};
static void take(void *about, const char *line)
{
    char kind[32], name[32];
    long bytes;
    if (sscanf(line, "time %31s %ld %31s", kind, &bytes, name) == 3)
        gw_progress_at(&progress, "godwit-tune: %s: %s of %ld bytes (%s)", doing, kind, bytes, name);
    tune_take_line(((struct taking *)about)->r, line, ((struct taking *)about)->forced);
}

static void results_begin(struct tune_results *r)
{
    char text[GW_PROCESSOR_TEXT - 4];
    memset(r, 0, sizeof *r);
    if (o.here.vendor[0])
        snprintf(r->processor, sizeof r->processor, "%s | ", gw_processor_text(&o.here, false, text, sizeof text));
    r->sizes = o.is_quick ? &tune_sizes_quick : &tune_sizes;
    for (int k = 0; k < TUNE_KINDS; k++)
        for (int i = 0; i < TUNE_SIZES; i++) r->points[k][i].chosen = -1;
}

static void kinds_text(unsigned kinds, char *to, size_t cap)
{
    size_t at = 0;
    *to = 0;
    for (int k = 0; k < TUNE_KINDS; k++)
        if (kinds >> k & 1 && at < cap) at += (size_t)snprintf(to + at, cap - at, "%s%s", at ? "," : "", tune_kind_names[k]);
}

/* Algorithm number a of each of these collectives; a < 0: what is chosen.  False: a job failed. */
static bool measure(struct tune_results *r, unsigned kinds, int a)
{
    char list[256], set[1024] = "GODWIT_COLL=";
    size_t at = strlen(set);
    unsigned wanted = a < 0 ? kinds : 0;
    for (int k = 0; k < TUNE_KINDS && a >= 0; k++) {
        if (!(kinds >> k & 1) || !r->names[k][a][0]) continue;
        at += (size_t)snprintf(set + at, sizeof set - at, "%s%s=%s", wanted ? "," : "", tune_kind_names[k], r->names[k][a]);
        wanted |= 1u << k;
    }
    if (!wanted) return true;
    kinds_text(wanted, list, sizeof list);
    return run((char *[]){a < 0 ? NULL : set, NULL}, (char *[]){"--measure", list, o.is_quick ? "quick" : "full", NULL}, take,
               &(struct taking){r, a >= 0});
}

/* The most algorithms that one of these collectives has, as far as is known yet. */
static int most_algorithms(const struct tune_results *r, unsigned kinds)
{
    int most = 0;
    for (int k = 0; k < TUNE_KINDS; k++)
        for (int a = 0; kinds >> k & 1 && a < TUNE_ALGORITHMS && r->names[k][a][0]; a++) most = a + 1 > most ? a + 1 : most;
    return most;
}

/* In turns, at least two, until one has changed no row; *turns_out: how many.  False: a job failed. */
static bool measure_all(struct tune_results *r, unsigned kinds, int *turns_out)
{
    unsigned last = 0;
    for (int turn = 0; turn < TUNE_TURNS; turn++) {
        for (int a = -1; a < TUNE_ALGORITHMS; a++) {
            int most = most_algorithms(r, kinds);
            if (a < 0)
                snprintf(doing, sizeof doing, "turn %d, what is built in", turn + 1);
            else
                snprintf(doing, sizeof doing, "turn %d, algorithm %d of %d", turn + 1, a + 1, most);
            if (!measure(r, kinds, a)) return false;
        }
        unsigned now = tune_rows_hash(r);
        *turns_out = turn + 1;
        if (turn > 0 && now == last) break;
        last = now;
    }
    return true;
}

/* Others use this machine: their load makes times that do not come again. */
static void say_load(void)
{
    double load;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (getloadavg(&load, 1) == 1 && load > 0.5 * (double)cores)
        printf("Others use this machine (a load of %.1f on %ld cores): times will lie apart, and what wins by less is left out\n",
               load, cores);
}
static void say_turns(int turns)
{
    if (turns >= TUNE_TURNS)
        printf("After %d turns the rows still change: what does not win by more than its times lie apart is left out\n", turns);
}

/* ---- thresholds: of some values the one whose messages of these sizes are quickest -------------------------------------------------- */
struct threshold {
    const char *name, *sizes;
    const char *values[6]; /* the built-in one first */
    bool is_net;
};
static const struct threshold thresholds[] = {
    {"GODWIT_EAGER_MAX", "3000,6000,10000,14000,20000,28000,40000", {"12K", "4K", "8K", "16K", "32K"}, false},
    {"GODWIT_CMA_MIN", "14000,20000,40000,60000,100000", {"16K", "12K", "32K", "64K", "128K"}, false},
    {"GODWIT_NET_EAGER_MAX", "6000,20000,50000,100000", {"128K", "8K", "16K", "64K"}, true},
};
struct trips {
    double us[16];
    int n;
};

static void take_trip(void *about, const char *line)
{
    struct trips *t = about;
    double us;
    int bytes;
    if (sscanf(line, "pingpong %d %lf", &bytes, &us) == 2 && t->n < 16 && us > 0) t->us[t->n++] = us;
}

/* The mean of a's times as parts of b's. */
static double beside(const struct trips *a, const struct trips *b)
{
    double sum = 0;
    for (int i = 0; i < a->n; i++) sum += a->us[i] / b->us[i];
    return a->n ? sum / a->n : 1;
}

/* How far the times of these turns lie apart: the mean over the sizes; -1: not known. */
static double apart(const struct tune_times *of, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (tune_spread(&of[i]) < 0) return -1;
        sum += tune_spread(&of[i]);
    }
    return n ? sum / n : -1;
}

enum { VALUES = 6, TRIPS = 16 };
struct tried { /* of a threshold, each value */
    struct trips best[VALUES];
    struct tune_times times[VALUES][TRIPS];
    int n;
};
static bool try_values(const struct threshold *t, struct tried *y)
{
    for (int turn = 0; turn < (o.is_quick ? 2 : 3); turn++)
        for (int v = 0; v < y->n; v++) {
            char set[64];
            struct trips now = {{0}, 0};
            snprintf(set, sizeof set, "%s=%s", t->name, t->values[v]);
            gw_progress_at(&progress, "godwit-tune: turn %d, messages with %s", turn + 1, set);
            if (!run((char *[]){set, "GODWIT_TUNE=", NULL}, (char *[]){"--pingpong", (char *)(size_t)t->sizes, NULL}, take_trip,
                     &now))
                return false;
            for (int i = 0; i < now.n; i++) {
                if (turn == 0 || now.us[i] < y->best[v].us[i]) y->best[v].us[i] = now.us[i];
                tune_times_add(&y->times[v][i], now.us[i]);
            }
            y->best[v].n = now.n;
        }
    return true;
}

static bool try_threshold(const struct threshold *t, const char *processor, FILE *f)
{
    static const double gain = 0.93;
    struct tried y = {.n = 0};
    int choice = 0;
    while (y.n < VALUES && t->values[y.n]) y.n++;
    if (!try_values(t, &y)) return false;
    for (int v = 1; v < y.n; v++)
        if (beside(&y.best[v], &y.best[0]) < gain && beside(&y.best[v], &y.best[choice]) < 1) choice = v;
    double part = beside(&y.best[choice], &y.best[0]), spread = apart(y.times[choice], y.best[choice].n),
           other = apart(y.times[0], y.best[0].n);
    if (choice && spread >= 0 && other >= 0 && 1 - part > spread && 1 - part > other) {
        fprintf(f, "%s%s=%s  # %.0f %% quicker, spread %.0f %%\n", processor, t->name, t->values[choice], 100 * (1 - part),
                100 * spread);
        gw_progress_clear(&progress);
        printf("  %s=%s: messages of %s bytes take %.0f %% of the time\n", t->name, t->values[choice], t->sizes, 100 * part);
    }
    return true;
}

/* ---- the file ---------------------------------------------------------------------------------------------------------------------- */
/* *text_out: the file as it is; NULL: there is none.  The caller frees it.  False, after a message: it cannot be read. */
static bool file_read(char **text_out)
{
    enum { MOST = 1 << 20 };
    struct stat st;
    *text_out = NULL;
    const char *why = stat(o.file, &st) == 0 && S_ISREG(st.st_mode) ? gw_file_read(o.file, MOST, false, text_out) : NULL;
    if (why) gw_print(stderr, "godwit-tune: cannot read %s: %s\n", o.file, why);
    return !why;
}

/* Hands each line on, as a text of its own. */
static void each_line(const char *text, void (*line_is)(void *about, const char *line), void *about)
{
    for (const char *at = text; at && *at; at += strcspn(at, "\n"), at += *at == '\n') {
        char *line = strndup(at, strcspn(at, "\n"));
        if (line) line_is(about, line);
        free(line);
    }
}

/* As jobs read it: false: it is no row, or one for another processor. */
static bool row_of(const char *line, struct coll_rule *r_out, bool *has_nodes_out)
{
    char *copy = strdup(line);
    bool is_row = copy && !coll_tuned_line(copy, r_out, has_nodes_out) && r_out->kind != COLL_KINDS;
    free(copy);
    r_out->name = NULL;
    return is_row && (!r_out->processor.vendor[0] || gw_processor_fits(&r_out->processor, &o.here));
}

/* Is the line a row of one of these collectives that jobs of this shape take?  Its kind; TUNE_KINDS: it is not.  exact_out: and no others. */
static int row_for(const char *line, const struct tune_results *r, unsigned kinds, bool *exact_out)
{
    struct coll_rule row;
    bool has_nodes;
    if (!row_of(line, &row, &has_nodes) || has_nodes != (r->nodes > 1)) return TUNE_KINDS;
    int k = tune_kind_named(coll_kind_names[row.kind]);
    if (k == TUNE_KINDS || !(kinds >> k & 1)) return TUNE_KINDS;
    if (row.min_ranks > r->ranks || row.max_ranks < r->ranks) return TUNE_KINDS;
    if (has_nodes && (row.min_nodes > r->nodes || row.max_nodes < r->nodes)) return TUNE_KINDS;
    *exact_out = row.min_ranks == row.max_ranks && (!has_nodes || row.min_nodes == row.max_nodes);
    return k;
}

/* What of the file is replaced: rows of these collectives for jobs of this shape alone, and thresholds that have been measured. */
struct replaced {
    const struct tune_results *r;
    unsigned kinds;
    bool thresholds;
    FILE *to; /* what is kept */
};
static bool is_measured_now(const struct threshold *t, const struct tune_results *r)
{
    return r->ranks > 1 && t->is_net == (r->nodes > 1);
}
static bool is_replaced(const char *line, const struct replaced *by)
{
    bool is_exact;
    if (row_for(line, by->r, by->kinds, &is_exact) != TUNE_KINDS) return is_exact;
    char *rest = (char *)(uintptr_t)line;
    struct gw_processor named;
    if (gw_processor_column(&rest, &named) == GW_PROCESSOR_COLUMN && !gw_processor_fits(&named, &o.here)) return false;
    line = rest + strspn(rest, " \t");
    for (size_t i = 0; by->thresholds && i < sizeof thresholds / sizeof thresholds[0]; i++) {
        size_t n = strlen(thresholds[i].name);
        if (is_measured_now(&thresholds[i], by->r) && strncmp(line, thresholds[i].name, n) == 0 && line[n] == '=') return true;
    }
    return false;
}
static void keep_line(void *about, const char *line)
{
    const struct replaced *by = about;
    if (line[strspn(line, " \t\r")] != '#' && !is_replaced(line, by)) fprintf(by->to, "%s\n", line);
}

/* The collectives of which it has rows for other shapes, too: what is built in needs a row before those, even where it is best. */
struct wider {
    const struct tune_results *r;
    unsigned kinds;
};
static void note_wider(void *about, const char *line)
{
    struct wider *w = about;
    bool is_exact;
    int k = row_for(line, w->r, ~0u, &is_exact);
    if (k != TUNE_KINDS && !is_exact) w->kinds |= 1u << k;
}

/* Jobs take so many rows of a collective and no more; those of other shapes come last. */
struct writing {
    FILE *to;
    int rows[COLL_KINDS][2]; /* so far: without nodes, with */
};
static void write_line(void *about, const char *line)
{
    struct writing *w = about;
    struct coll_rule row;
    bool has_nodes;
    if (row_of(line, &row, &has_nodes) && ++w->rows[row.kind][has_nodes] > COLL_TUNED_ROWS)
        gw_print(stdout, "  %s has more than %d rows; this one is left out: %s\n", coll_kind_names[row.kind], COLL_TUNED_ROWS,
                 line);
    else
        fprintf(w->to, "%s\n", line);
}

/* Before jobs measure for minutes: can it be written?  Makes the folders of the default file. */
static bool file_may(void)
{
    int err = gw_file_may(o.file, o.own_file ? GW_FILE_FOLDERS : 0);
    if (err) gw_print(stderr, "godwit-tune: cannot write %s: %s\n", o.file, gw_file_why(err));
    return !err;
}

/* "HOST (MODEL, PROCESSOR)" */
static const char *machine_text(char *to, size_t cap)
{
    char host[128] = "", model[128], processor[GW_PROCESSOR_TEXT] = "";
    if (gethostname(host, sizeof host - 1) < 0) host[0] = 0;
    gw_processor_model_name(model, sizeof model);
    if (o.here.vendor[0]) gw_processor_text(&o.here, true, processor, sizeof processor);
    bool has_both = model[0] && processor[0], has_one = model[0] || processor[0];
    snprintf(to, cap, "%s%s%s%s%s%s", host[0] ? host : "a host without a name", has_one ? " (" : "", model, has_both ? ", " : "",
             processor, has_one ? ")" : "");
    return to;
}

/* These lines below a head.  0, or 1 after a message. */
static int file_write(const char *lines)
{
    char date[32], machine[512], *text = NULL;
    size_t bytes;
    struct writing w = {.to = open_memstream(&text, &bytes)};
    time_t now = time(NULL);
    int err = w.to ? 0 : ENOMEM;
    if (!err) {
        strftime(date, sizeof date, "%Y-%m-%d", localtime(&now));
        fprintf(
            w.to,
            "# Measured by godwit-tune, %s, on %s.  Columns: [processor |] collective | ranks | [nodes |] up to bytes | algorithm | "
            "chunk\n",
            date, machine_text(machine, sizeof machine));
        each_line(lines, write_line, &w);
        err = fclose(w.to) != 0 ? ENOMEM : gw_file_store(o.file, text);
    }
    free(text);
    if (err) gw_print(stderr, "godwit-tune: cannot write %s: %s\n", o.file, gw_file_why(err));
    return err ? 1 : 0;
}

/* ---- what it does ------------------------------------------------------------------------------------------------------------------ */
static bool may_tune(const struct tune_results *r)
{
    if (r->ranks < 2) {
        printf("There is one rank, which has nothing to choose: no rows are written; -n 2 or more measures.\n");
        return false;
    }
    if (r->nodes <= 1 || r->is_even) return true;
    printf("Some nodes have one rank: rows for such jobs could not be told from those of one node, and none are written.\n");
    return false;
}

static void say_gains(const struct tune_results *r, int kind)
{
    for (int i = 0; i < tune_sizes_of(r, kind) && tune_seen(r, kind, i) > 0; i++) {
        const struct tune_point *p = &r->points[kind][i];
        int best = tune_best(r, kind, i);
        if (best == p->chosen) continue;
        gw_progress_clear(&progress);
        printf("  %s of %ld bytes: %s, %.1f us, in place of %s, %.1f us\n", tune_kind_names[kind], r->sizes->at[i],
               r->names[kind][best], p->us[best], r->names[kind][p->chosen], p->us[p->chosen]);
    }
}

static int measuring_failed(void)
{
    fprintf(stderr, "godwit-tune: a job that measures failed; nothing is written\n");
    return 1;
}

/* The rows, and behind them what the file had, as the first row that fits counts; then the thresholds. */
static bool tune_lines(struct tune_results *r, const char *old, FILE *to)
{
    unsigned every = (1u << TUNE_KINDS) - 1;
    struct wider w = {r, 0};
    each_line(old, note_wider, &w);
    bool may = may_tune(r);
    for (int k = 0; may && k < TUNE_KINDS; k++)
        if (tune_write_rows(r, k, w.kinds >> k & 1, to)) say_gains(r, k);
    each_line(old, keep_line, &(struct replaced){r, may ? every : 0, true, to});
    for (size_t i = 0; i < sizeof thresholds / sizeof thresholds[0]; i++)
        if (is_measured_now(&thresholds[i], r) && !try_threshold(&thresholds[i], r->processor, to)) return false;
    return true;
}

static void say_result(const struct tune_results *r, const char *lines)
{
    int rows = 0;
    for (const char *p = lines; *p; p += strcspn(p, "\n"), p += *p != 0) rows += *p != '#' && *p != '\n';
    gw_print(stdout, "%d rank%s on %d node%s: %s%s\n", r->ranks, r->ranks == 1 ? "" : "s", r->nodes, r->nodes == 1 ? "" : "s",
             o.file, rows ? "" : ", which changes nothing: what is built in is best here, or times lie too far apart");
}

static int tune_all(void)
{
    static struct tune_results r;
    char *old, *lines = NULL;
    size_t n;
    if (!file_may() || !file_read(&old)) return 1;
    setenv("GODWIT_TUNE", "", 1); /* beside what is built in */
    results_begin(&r);
    FILE *f = open_memstream(&lines, &n);
    int turns = 0;
    say_load();
    gw_progress_begin(&progress, o.is_silent);
    bool is_done = f && measure_all(&r, (1u << TUNE_KINDS) - 1, &turns) && tune_lines(&r, old, f);
    gw_progress_end(&progress);
    if (f) fclose(f);
    say_turns(turns);
    bool is_empty = is_done && r.ranks == 0;
    if (is_empty)
        fprintf(stderr,
                "godwit-tune: its job has measured nothing, and nothing is written: options of mpiexec (-n, -host) are taken, "
                "but no program\n");
    int rc = is_empty ? 1 : is_done ? file_write(lines) : measuring_failed();
    if (!rc) say_result(&r, lines);
    free(lines);
    free(old);
    return rc;
}

struct check {
    bool is_quiet;
    int n;
};
static void tell(void *about, int kind, const char *text)
{
    struct check *c = about;
    (void)kind;
    c->n++;
    if (!c->is_quiet) gw_print(stdout, "  %s\n", text);
}

/* What a job chooses now, with this file; a second look lets a slow moment go. */
static bool look(struct tune_results *r, struct check *c, unsigned *slow_out)
{
    unsigned every = (1u << TUNE_KINDS) - 1;
    struct check quiet = {true, 0};
    results_begin(r);
    if (!measure(r, every, -1)) return false;
    for (int again = 0; again < 2 && tune_guidelines(r, tell, &quiet); again++)
        if (!measure(r, every, -1)) return false;
    *slow_out = tune_guidelines(r, tell, c);
    return true;
}

/* The collectives of these for which some size has a quicker algorithm. */
static unsigned better_of(const struct tune_results *r, unsigned kinds)
{
    unsigned better = 0;
    for (int k = 0; k < TUNE_KINDS; k++)
        for (int i = 0; kinds >> k & 1 && i < tune_sizes_of(r, k) && tune_seen(r, k, i) > 0; i++)
            if (tune_best(r, k, i) != r->points[k][i].chosen) better |= 1u << k;
    return better;
}

/* Rows that were good stay: those of a collective go only where others come.  0, or 1 after a message. */
static int put_right(const struct tune_results *r, unsigned better)
{
    char *old, *lines = NULL;
    size_t n;
    if (!file_read(&old)) return 1;
    FILE *f = open_memstream(&lines, &n);
    if (!f) fprintf(stderr, "godwit-tune: no memory\n");
    for (int k = 0; f && k < TUNE_KINDS; k++)
        if (better >> k & 1 && tune_write_rows(r, k, false, f)) say_gains(r, k);
    if (f) each_line(old, keep_line, &(struct replaced){r, better, false, f});
    if (f) fclose(f);
    int rc = f ? file_write(lines) : 1;
    free(lines);
    free(old);
    return rc;
}

static int check_all(void)
{
    static struct tune_results r;
    struct check before = {false, 0}, after = {false, 0};
    unsigned slow, left = 0;
    setenv("GODWIT_TUNE", access(o.file, R_OK) == 0 ? o.file : "", 1);
    if (!look(&r, &before, &slow)) return measuring_failed();
    printf("%d guideline%s not hold for %d rank%s on %d node%s\n", before.n, before.n == 1 ? " does" : "s do", r.ranks,
           r.ranks == 1 ? "" : "s", r.nodes, r.nodes == 1 ? "" : "s");
    if (!slow || !may_tune(&r)) return slow ? STATUS_LEFT : 0;
    if (!file_may()) return 1;
    int turns;
    gw_progress_begin(&progress, o.is_silent);
    bool is_measured = measure_all(&r, slow, &turns);
    gw_progress_end(&progress);
    if (!is_measured) return measuring_failed();
    say_turns(turns);
    unsigned better = better_of(&r, slow);
    if (!better) {
        printf("No other algorithm is quicker: nothing is changed.\n");
        return STATUS_LEFT;
    }
    if (put_right(&r, better)) return 1;
    gw_print(stdout, "Put right in %s\n", o.file);
    setenv("GODWIT_TUNE", o.file, 1);
    if (!look(&r, &after, &left)) return 1;
    printf("With it, %d guidelines do not hold\n", after.n);
    return left & slow ? STATUS_LEFT : 0;
}

static bool parse(int argc, char **argv)
{
    ssize_t n = readlink("/proc/self/exe", o.self, sizeof o.self - 1);
    if (n < 0) return false;
    snprintf(o.mpiexec, sizeof o.mpiexec, "%.*s/mpiexec", (int)(strrchr(o.self, '/') - o.self), o.self);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-o") == 0 && i + 1 == argc) {
            fprintf(stderr, "godwit-tune: -o wants a file behind it\n");
            return false;
        }
        if (strcmp(argv[i], "--quick") == 0)
            o.is_quick = true;
        else if (strcmp(argv[i], "-q") == 0)
            o.is_silent = true;
        else if (strcmp(argv[i], "--check") == 0)
            o.is_check = true;
        else if (strcmp(argv[i], "-o") == 0)
            o.file = argv[++i];
        else if (o.n_shape < MOST_WORDS)
            o.shape[o.n_shape++] = argv[i];
        else {
            gw_print(stderr, "godwit-tune: more than %d words for mpiexec, from '%s' on\n", MOST_WORDS, argv[i]);
            return false;
        }
    }
    if (!tune_shape_is_good(o.shape, o.n_shape)) return false;
    if (!o.file) o.file = o.own_file = gw_file_tuned();
    if (!o.file) fprintf(stderr, "godwit-tune: neither HOME nor XDG_CONFIG_HOME says where the file is to be: name one by -o\n");
    return o.file;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--measure") == 0) return tune_measure_main(argv[2], strcmp(argv[3], "quick") == 0);
    if (argc == 3 && strcmp(argv[1], "--pingpong") == 0) return tune_pingpong_main(argv[2]);
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return fputs(usage, stdout) == EOF;
    if (argc == 2 && strcmp(argv[1], "--version") == 0) return printf("godwit-tune (Godwit) %s\n", GODWIT_VERSION) < 0;
    if (!parse(argc, argv)) {
        fprintf(stderr, "`godwit-tune --help` says more\n");
        return 2;
    }
    gw_processor_here(&o.here);
    return o.is_check ? check_all() : tune_all();
}
