/* options_value.c -- values of options: numbers, words of a list, variables, files for output.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "launch/options_private.h"
#include "base/file.h"
#include "base/os.h"
#include "base/plain.h"
#include "base/settings.h"

extern char **environ;

int launch_usage_error(const char *fmt, ...)
{
    va_list ap;
    fputs("mpiexec: ", stderr);
    va_start(ap, fmt);
    gw_vprint(stderr, fmt, ap);
    va_end(ap);
    fputs("\n", stderr);
    return EXIT_USAGE;
}

long launch_parse_number(const char *option, const char *text, long low, long high)
{
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (!errno && end != text && !*end && v >= low && v <= high) return v;
    launch_usage_error("%s wants a number from %ld to %ld, not '%s'", option, low, high, text);
    return -1;
}

int launch_parse_choice(const char *option, const char *text, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (strcasecmp(words[i], text) == 0) return i;
    char known[256] = "";
    for (int i = 0; i < n; i++) gw_text_add(known, sizeof known, "%s%s", i == 0 ? "" : i == n - 1 ? " or " : ", ", words[i]);
    const char *near = gw_nearest(text, words, n);
    launch_usage_error("%s is %s, not '%s'%s%s%s", option, known, text, near ? "; did you mean " : "", near ? near : "",
                       near ? "?" : "");
    return -1;
}

void launch_add_pair(struct words *w, const char *name, const char *value)
{
    char *pair = gw_xasprintf("%s=%s", name, value);
    words_add(w, pair);
    free(pair);
}

const char *launch_options_hold(struct launch_options *o, const char *text)
{
    words_add(&o->held, text);
    return o->held.at[o->held.n - 1];
}

/* ---- environment -------------------------------------------------------------------------------------------------------- */
int launch_set_x(struct launch_app *a, const char *name, const char *text)
{
    const char *value = strchr(text, '=');
    if (value == text) return launch_usage_error("%s %s: a variable needs a name", name, text);
    if (value) {
        words_add(&a->env, text);
        return -1;
    }
    value = getenv(text);
    if (!value)
        return launch_usage_error("%s %s: there is no such environment variable here; %s %s=VALUE sets it", name, text, name, text);
    launch_add_pair(&a->env, text, value); /* the program gets it also with -envnone */
    return -1;
}

/* A list of ALL, NONE, NAME=VALUE and NAME.  If it has NAMEs and not ALL, the program gets only these variables. */
int launch_set_export(struct launch_app *a, struct launch_options *o, const char *text)
{
    char *list = strdup(text), *save = NULL, *names = NULL;
    if (!list) gw_die("mpiexec: no memory");
    bool all = false;
    for (char *p = strtok_r(list, ",", &save); p; p = strtok_r(NULL, ",", &save)) {
        if (strcmp(p, "ALL") == 0) {
            all = true;
        } else if (strchr(p, '=')) {
            words_add(&a->env, p);
        } else if (strcmp(p, "NONE") != 0) {
            char *more = gw_xasprintf("%s%s%s", names ? names : "", names ? "," : "", p);
            free(names);
            names = more;
        }
    }
    free(list);
    a->inherits = (struct env_wanted){all ? ENV_ALL : names ? ENV_LIST : ENV_NONE, NULL};
    if (names) a->inherits.names = launch_options_hold(o, names);
    free(names);
    return -1;
}

/* Puts a library of wrappers in front of the ranks' libraries; it lies in the folders of the installation, or beside mpiexec in a build
 * folder.  Only one option can do so, because they wrap the same calls. */
static int preload(struct launch_options *o, const struct launch_wrapper *wrapper)
{
    const char *option = wrapper->option, *name = wrapper->library;
    char lib[PATH_MAX + 64], *here = gw_own_folder();
    if (o->wrapper && o->wrapper != wrapper) {
        free(here);
        return launch_usage_error("%s and %s wrap the same calls of MPI: take one of them", o->wrapper->option, option);
    }
    snprintf(lib, sizeof lib, "%s/../%s/libgodwit_%s.so", here, GODWIT_LIBDIR, name);
    if (access(lib, R_OK) != 0) snprintf(lib, sizeof lib, "%s/tools/%s/libgodwit_%s.so", here, name, name);
    int rc = access(lib, R_OK) == 0
        ? -1
        : launch_usage_error("%s: there is no %s/../%s/libgodwit_%s.so; install Godwit again", option, here, GODWIT_LIBDIR, name);
    free(here);
    if (rc != -1) return rc;
    o->preload =
        launch_options_hold(o, lib); /* spawn.c sets the variable, behind which the program may have libraries of its own */
    o->wrapper = wrapper;
    return -1;
}

static int check_folder(const char *option, const char *folder, const char *advice)
{
    struct stat st;
    if (stat(folder, &st) != 0)
        return launch_usage_error("%s: there is no folder %s (%s)%s", option, folder, strerror(errno), advice);
    return S_ISDIR(st.st_mode) ? -1 : launch_usage_error("%s: %s is no folder%s", option, folder, advice);
}

/* The file is written when the job is over: a folder that is not there is said before. */
static int check_folder_of(const char *option, const char *file)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    char folder[PATH_MAX];
    if (!slash || slash == file) return -1;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - file), file);
    return check_folder(option, folder, "");
}

/* Takes a word before the file, with a comma between them, and steps behind it; false: it is not there. */
static bool takes_word(const char **file, const char *word)
{
    size_t n = strlen(word);
    if (!*file || strncmp(*file, word, n) != 0 || !strchr(",", (*file)[n])) return false;
    *file += n + ((*file)[n] != 0);
    return true;
}

/* The variables that name its files, and those that the profile names by itself.  The page's is always there. */
static const struct {
    const char *variable, *ending;
} profile_files[] = {{"GODWIT_PROFILE", "html"}, {"GODWIT_PROFILE_JSON", "json"}, {"GODWIT_PROFILE_TRACE", "trace.json"}};

int launch_set_profile(struct launch_options *o, const char *file)
{
    static const struct launch_wrapper profile = {"--profile", "profile", "there is nothing to tell of it"};
    static const char sample[] = "sample";
    int rc = preload(o, &profile);
    if (rc != -1) return rc;
    bool samples = takes_word(&file, sample), is_json = takes_word(&file, "json"),
         is_trace = !is_json && takes_word(&file, "trace");
    if (samples && is_trace)
        return launch_usage_error("--profile: sample and trace: a trace has each call's times, which sampling does not take");
    rc = check_folder_of("--profile", file);
    if (rc != -1) return rc;
    const char *variable = profile_files[is_json ? 1 : is_trace ? 2 : 0].variable;
    if (!words_value(&o->env, profile_files[0].variable, NULL)) launch_add_pair(&o->env, profile_files[0].variable, "1");
    launch_add_pair(&o->env, variable, file && *file ? file : "1");
    launch_add_pair(&o->env, "GODWIT_PROFILE_HOW", samples ? sample : "trace");
    return -1;
}

int launch_set_record(struct launch_options *o, bool repeats, const char *folder)
{
    static const struct launch_wrapper record = {"--record", "replay", "nothing is recorded"},
                                       replay = {"--replay", "replay", "nothing is repeated"};
    char path[2 * PATH_MAX], here[PATH_MAX];
    int rc = preload(o, repeats ? &replay : &record);
    if (rc != -1) return rc;
    if (!folder || !*folder) folder = "godwit-record";
    if (*folder != '/' && getcwd(here, sizeof here)) { /* the ranks may start elsewhere */
        snprintf(path, sizeof path, "%s/%s", here, folder);
        folder = path;
    }
    launch_add_pair(&o->env, repeats ? "GODWIT_REPLAY" : "GODWIT_RECORD", folder);
    return -1;
}

/* "--replay r1 ./a", where r1 is a folder, not a program. */
static int check_replay(const struct launch_options *o)
{
    const char *folder = words_value(&o->env, "GODWIT_REPLAY", NULL), *word = o->apps[0].argv[0];
    struct stat st;
    if (!folder || !o->wrapper) return -1;
    if (stat(word, &st) == 0 && S_ISDIR(st.st_mode) && o->apps[0].argv[1])
        return launch_usage_error("--replay: %s is a folder, not a program: was --replay=%s meant, in one word?", word, word);
    return check_folder("--replay", folder, "; mpiexec --record=FOLDER makes one");
}

/* A pipe, or a device but /dev/null and terminals: a page that is written at the end would not be there. */
static bool keeps_no_page(const char *path)
{
    static const char *const may[] = {"/dev/std", "/dev/fd/", "/proc/self/fd/", "/dev/null", "/dev/tty", "/dev/pts/"};
    struct stat st;
    for (size_t i = 0; i < GW_ARRAY_LEN(may); i++)
        if (strncmp(path, may[i], strlen(may[i])) == 0) return false;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* A file that is named by itself: the profile goes to standard error all the same. */
static void default_file_check(const struct launch_options *o, const char *in, const char *ending)
{
    char *path = gw_xasprintf("%s/godwit-profile.%d.%s", in, (int)getpid(), ending);
    int err = access(in, F_OK) == 0 ? gw_file_may(path, 0) : 0;
    bool is_page = strcmp(ending, "html") == 0;
    free(path);
    if (err && !o->quiet)
        say_line("note: --profile: there will be no %s, which cannot be written into %s: %s; --profile=%sFILE names another",
                 is_page ? "page" : ending, strcmp(in, ".") == 0 ? "this folder" : in, gw_file_why(err),
                 is_page                           ? ""
                     : strcmp(ending, "json") == 0 ? "json,"
                                                   : "trace,");
}

/* Are all programs there?  Where one is not, nothing will be written. */
static bool are_programs_there(const struct launch_options *o)
{
    bool are = true;
    for (int i = 0; i < o->n_apps; i++) {
        char *file = program_find(o->apps[i].argv[0], o->apps[i].wdir);
        are &= file && access(file, X_OK) == 0;
        free(file);
    }
    return are;
}

/* Could the file of --profile, or that of rank 0 of --record, be written?  -1, or the exit status. */
static int write_check(const char *name, const char *in, bool is_record)
{
    if (!name || (*name != '/' && access(in, F_OK) != 0)) return -1; /* that there is no such folder is said at the start */
    char *path = gw_xasprintf("%s%s%s%s", *name == '/' ? "" : in, *name == '/' ? "" : "/", name, is_record ? "/rank.0" : "");
    int err = !is_record && keeps_no_page(path) ? GW_FILE_KIND : gw_file_may(path, is_record ? GW_FILE_FOLDERS | GW_FILE_FRESH : 0);
    free(path);
    if (!err) return -1;
    return launch_usage_error("%s: cannot write %s: %s", is_record ? "--record" : "--profile", name,
                              err == GW_FILE_KIND && !is_record ? "it is no file, but a pipe or a device" : gw_file_why(err));
}

/* Each file of --profile: "1": it is named by itself, the page only where no other file is asked for. */
static int profile_check(const struct launch_options *o, const char *in)
{
    bool has_others = false;
    for (size_t k = GW_ARRAY_LEN(profile_files); k-- > 0;) { /* the page is the last */
        const char *name = words_value(&o->env, profile_files[k].variable, NULL);
        if (!name) continue;
        bool is_default = strcmp(name, "1") == 0;
        if (is_default && (k > 0 || !has_others)) default_file_check(o, in, profile_files[k].ending);
        int rc = is_default ? -1 : write_check(name, in, false);
        if (rc != -1) return rc;
        has_others = true;
    }
    return -1;
}

int launch_writes_check(const struct launch_options *o)
{
    const char *record = words_value(&o->env, "GODWIT_RECORD", NULL), *in = o->apps[0].wdir ? o->apps[0].wdir : ".";
    int rc = check_replay(o);
    if (rc == -1 && o->wrapper) rc = profile_check(o, in);
    if (rc != -1) return rc;
    return record && are_programs_there(o) ? write_check(record, in, true) : -1; /* else its folder would be made, and be empty */
}

/* ---- numbers of ranks ---------------------------------------------------------------------------------------------------- */
/* The largest number of "A", "A:B" or "A:B:STEP" that is not above `most`; -1: there is none, -2: the text is no triplet. */
static long triplet_largest(const char *text, size_t n, long most)
{
    enum { FAR = 1000000000 };
    long v[3] = {0, 0, 1};
    int parts = 0;
    for (const char *p = text, *end = text + n; parts < 3; p++) {
        char *after;
        if (p >= end || !(isdigit((unsigned char)*p) || (*p == '-' && isdigit((unsigned char)p[1])))) return -2;
        v[parts] = strtol(p, &after, 10);
        if (v[parts] > FAR || v[parts] < -FAR) return -2;
        parts++;
        p = after;
        if (p == end) break;
        if (*p != ':' || parts == 3) return -2;
    }
    if (v[2] == 0) return -2;
    if (parts == 1) v[1] = v[0];
    bool down = v[2] < 0;
    long step = down ? -v[2] : v[2], high = down ? v[0] : v[1], low = v[0];
    if (down && v[0] >= v[1]) low = v[0] - (v[0] - v[1]) / step * step;
    if (low > high || low > most || (down && v[0] < v[1])) return -1;
    return low + ((high < most ? high : most) - low) / step * step;
}

int launch_set_soft(struct launch_app *a)
{
    long best = 0;
    for (const char *p = a->soft; *p;) {
        size_t n = strcspn(p, ",");
        long v = triplet_largest(p, n, a->n);
        if (v == -2) return launch_usage_error("-soft wants numbers A, A:B or A:B:STEP with commas, not '%s'", a->soft);
        if (v > best) best = v;
        p += n + (p[n] == ',');
    }
    if (best < 1) return launch_usage_error("-soft %s: no number of ranks in it is from 1 to %d (-n)", a->soft, a->n);
    a->n = (int)best;
    return -1;
}

int launch_set_usize(struct launch_options *o, const char *text)
{
    if (strcasecmp(text, "SYSTEM") == 0) {
        o->usize = 0;
    } else if (strcasecmp(text, "INFINITE") == 0) {
        o->usize = MAX_RANKS;
    } else {
        long v = launch_parse_number("-usize", text, 1, MAX_RANKS);
        if (v < 0) return EXIT_USAGE;
        o->usize = (int)v;
    }
    return -1;
}

/* ---- others -------------------------------------------------------------------------------------------------------------- */
int launch_set_stdin(struct launch_options *o, const char *name, const char *text)
{
    o->said.stdin_rank = name;
    if (strcmp(text, "all") == 0) {
        o->stdin_rank = STDIN_ALL;
    } else if (strcmp(text, "none") == 0) {
        o->stdin_rank = STDIN_NONE;
    } else if (isdigit((unsigned char)*text)) {
        long v = launch_parse_number(name, text, 0, MAX_RANKS);
        if (v < 0) return EXIT_USAGE;
        o->stdin_rank = (int)v;
    } else {
        return launch_usage_error("%s is a rank, all or none, not '%s'", name, text);
    }
    return -1;
}

int launch_set_timeout(struct launch_options *o, const char *name, const char *text)
{
    char *end;
    o->timeout = strtod(text, &end);
    if (o->timeout > 1e9) o->timeout = 1e9; /* 30 years, which fit in ns */
    return end != text && !*end && o->timeout > 0 ? -1 : launch_usage_error("%s wants seconds above 0, not '%s'", name, text);
}

int launch_set_cpu_time(struct launch_options *o, const char *name, const char *text)
{
    enum { MOST = 1000000000 };
    long v = launch_parse_number(name, text, 1, MOST);
    o->cpu_time = v;
    return v < 0 ? EXIT_USAGE : -1;
}

int launch_set_arch(const char *text)
{
    static const char *const same[][2] = {{"amd64", "x86_64"}, {"x86-64", "x86_64"}, {"arm64", "aarch64"}};
    struct utsname u;
    if (uname(&u) < 0) return -1;
    for (size_t i = 0; i < GW_ARRAY_LEN(same); i++)
        if (strcasecmp(text, same[i][0]) == 0) text = same[i][1];
    return strcasecmp(text, u.machine) == 0
        ? -1
        : launch_usage_error("-arch %s: this machine is %s; name others by -host", text, u.machine);
}

/* ---- files for output ----------------------------------------------------------------------------------------------------- */
/* Hydra's patterns: %r rank, %h host, %p node, %g job, %t seconds. */
int launch_set_pattern(struct launch_options *o, const char *name, const char **slot, const char *text)
{
    if (!*text) return launch_usage_error("%s wants a pattern", name);
    for (const char *p = text; *p; p++)
        if (*p == '%' && (!*++p || !strchr("rhpgt%", *p)))
            return launch_usage_error("%s '%s': there are %%r (rank), %%h (host), %%p (node), %%g (job), %%t (seconds) and %%%%",
                                      name, text);
    *slot = launch_options_hold(o, text);
    return -1;
}

/* Slurm's: %t rank, %n node, %N host, %j job, %s step, %u user, with a width. */
static int task_pattern(struct launch_options *o, const char *name, int stream, const char *text)
{
    for (const char *p = text; *p; p++) {
        if (*p != '%') continue;
        p += 1 + strspn(p + 1, "0123456789");
        if (!*p || !strchr("tnNjJsu%", *p))
            return launch_usage_error("%s '%s': there are %%t (task), %%n (node), %%N (host), %%j (job), %%u (user) and %%%%", name,
                                      text);
    }
    o->output.file[stream] = launch_options_hold(o, text);
    o->output.by_task[stream] = true;
    return -1;
}

int launch_set_output_filename(struct launch_options *o, const char *name, const char *text)
{
    size_t n = strcspn(text, ":");
    const char *more = text[n] ? text + n + 1 : "";
    if (!n) return launch_usage_error("%s wants the name of a folder, not '%s'", name, text);
    bool with_job = true;
    o->output.copied = true;
    while (*more) {
        size_t len = strcspn(more, ",:");
        if (len == 7 && strncasecmp(more, "nojobid", len) == 0)
            with_job = false;
        else if (len == 6 && strncasecmp(more, "nocopy", len) == 0)
            o->output.copied = false;
        else
            return launch_usage_error("%s '%s': behind the colon may stand nojobid and nocopy", name, text);
        more += len + (more[len] != 0);
    }
    static const char *const names[] = {"stdout", "stderr"};
    for (int k = 0; k < 2; k++) {
        char *doubled = gw_xcalloc(2, n + 1), *to = doubled; /* in a pattern a percent sign is written %% */
        for (size_t i = 0; i < n; i++) {
            if (text[i] == '%') *to++ = '%';
            *to++ = text[i];
        }
        char *pattern = gw_xasprintf("%s%s/rank.%%R/%s", doubled, with_job ? "/1" : "", names[k]);
        o->output.file[k] = launch_options_hold(o, pattern);
        o->output.by_task[k] = false;
        free(pattern);
        free(doubled);
    }
    return -1;
}

/* PRRTE's --output: words with commas, such as tag,timestamp,dir=NAME.  false: it is Slurm's. */
static bool is_directives(const char *text)
{
    static const char *const words[] = {"tag",       "tag-detailed", "tag-fullname",          "rank",
                                        "timestamp", "merge",        "merge-stderr-to-stdout"};
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, ",");
        bool known = strncasecmp(p, "dir=", 4) == 0 || strncasecmp(p, "file=", 5) == 0;
        for (size_t i = 0; i < GW_ARRAY_LEN(words); i++) known |= strlen(words[i]) == n && strncasecmp(p, words[i], n) == 0;
        if (!known) return false;
        p += n + (p[n] == ',');
    }
    return true;
}

/* file=NAME makes NAME.R for rank R, with both streams in it. */
static int set_output_file(struct launch_options *o, const char *option, const char *name)
{
    if (!*name || strchr(name, '%')) return launch_usage_error("%s file=%s: a name without %% is wanted", option, name);
    char *pattern = gw_xasprintf("%s.%%R", name);
    for (int k = 0; k < 2; k++) o->output.file[k] = launch_options_hold(o, pattern);
    free(pattern);
    o->output.copied = true;
    return -1;
}

static int set_directives(struct launch_options *o, const char *name, const char *text)
{
    for (const char *p = text; *p;) {
        int n = (int)strcspn(p, ","), rc = -1;
        char *word = gw_xasprintf("%.*s", n, p);
        if (strncasecmp(word, "dir=", 4) == 0)
            rc = launch_set_output_filename(o, name, word + 4);
        else if (strncasecmp(word, "file=", 5) == 0)
            rc = set_output_file(o, name, word + 5);
        else if (strncasecmp(word, "timestamp", 9) == 0)
            o->output.timestamp = true;
        else if (strncasecmp(word, "merge", 5) == 0)
            o->output.merged = true;
        else
            o->output.label = true;
        free(word);
        if (rc >= 0) return rc;
        p += n + (p[n] == ',');
    }
    return -1;
}

int launch_set_output(struct launch_options *o, const char *name, int stream, const char *text)
{
    if (!*text) return launch_usage_error("%s wants the name of a file", name);
    if (strcmp(name, "-e") == 0 && launch_is_aprun())
        return launch_usage_error("-e of aprun sets a variable, and wants NAME=VALUE, not '%s'", text);
    o->output.only[stream] = 0;
    o->output.file[stream] = NULL;
    if (strcmp(text, "all") == 0) return -1;
    if (strcmp(text, "none") == 0) {
        o->output.only[stream] = STREAM_NONE;
        return -1;
    }
    if (strspn(text, "0123456789") == strlen(text)) {
        long v = launch_parse_number(name, text, 0, MAX_RANKS);
        if (v < 0) return EXIT_USAGE;
        o->output.only[stream] = (int)v + 1;
        o->said.only[stream] = name;
        return -1;
    }
    if (stream == 0 && strlen(name) > 2 && is_directives(text)) return set_directives(o, name, text); /* -o is Slurm's alone */
    return task_pattern(o, name, stream, text);
}
