/* doors.c -- programs of other ABIs: puts the folder of the doors in front of the library path of the ranks, or takes it out of there.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "job/program.h"
#include "job/words.h"
#include "pmi/foreign.h"

static const char VARIABLE[] = "LD_LIBRARY_PATH=";

/* The folder of the doors in the installation, or their folders in a build folder; the caller frees it.  NULL: there are none. */
static char *folder_find(void)
{
    char *here = gw_own_folder(), *all = NULL;
    for (int i = 0; program_doors[i] && !(i == 1 && all); i++) {
        char *longer = gw_xasprintf("%s%s%s/%s", all ? all : "", all ? ":" : "", here, program_doors[i]);
        bool is_there = access(longer + (all ? strlen(all) + 1 : 0), R_OK) == 0;
        free(is_there ? all : longer);
        all = is_there ? longer : all;
    }
    free(here);
    return all;
}

/* Puts the folder in front of the library path that these words set; false: they set none. */
static bool put_in_front(struct words *w, const char *folder)
{
    bool found = false;
    for (int i = 0; i < w->n; i++) {
        if (strncmp(w->at[i], VARIABLE, sizeof VARIABLE - 1) != 0) continue;
        char *pair = gw_xasprintf("%s%s:%s", VARIABLE, folder, w->at[i] + sizeof VARIABLE - 1);
        free(w->at[i]);
        w->at[i] = pair;
        found = true;
    }
    return found;
}

/* What the variable will be for ranks of this program with `folder` in front: as these words say, else those for all, else our own. */
static void variable_add(const struct job *j, const struct launch_app *a, const char *folder, struct words *out)
{
    const char *now = words_value(&a->env, "LD_LIBRARY_PATH", words_value(&j->o.env, "LD_LIBRARY_PATH", getenv("LD_LIBRARY_PATH")));
    char *pair = gw_xasprintf("%s%s%s%s", VARIABLE, folder, now && *now ? ":" : "", now ? now : "");
    words_add(out, pair);
    free(pair);
}

/* Of word i of its line, with the doors in front, if there are any.  They are looked for where it matters: a program of ours waits for
 * nothing, and arguments are mostly none. */
static enum program_mpi word_look(const struct job *j, const struct launch_app *a, int i)
{
    const char *name = a->argv[i];
    enum program_mpi is = program_mpi(name, a->wdir);
    if (is != PROGRAM_OMPI && (is != PROGRAM_UNKNOWN || i > 0)) return is;
    char *folder = pmi_doors_are_off(j) ? NULL : folder_find();
    if (folder) {
        struct words env = {NULL, 0};
        variable_add(j, a, folder, &env);
        is = program_mpi_by_loader(name, a->wdir, &env);
        words_free(&env);
        free(folder);
    }
    return is;
}

/* The same, looked at once: the loader may have to run. */
static enum program_mpi kind_of(const struct job *j, struct launch_app *a, int i)
{
    assert(i >= 0 && i < APP_WORDS);
    if (!a->mpi[i]) a->mpi[i] = (uint8_t)(1 + word_look(j, a, i));
    return (enum program_mpi)(a->mpi[i] - 1);
}

/* The first argument of these kinds. */
static const char *argument_of(const struct job *j, struct launch_app *a, unsigned kinds)
{
    for (int i = 1; i < APP_WORDS && a->argv[i]; i++) {
        enum program_mpi word = kind_of(j, a, i);
        if (word != PROGRAM_UNKNOWN && kinds & 1u << word) return a->argv[i];
    }
    return NULL;
}

const char *pmi_doors_word(const struct job *j, int app, unsigned kinds)
{
    struct launch_app *a = &j->o.apps[app];
    enum program_mpi is = kind_of(j, a, 0);
    if (kinds & 1u << is) return a->argv[0];
    return is == PROGRAM_UNKNOWN ? argument_of(j, a, kinds) : NULL;
}

enum program_mpi pmi_doors_kind(const struct job *j, int app)
{
    struct launch_app *a = &j->o.apps[app];
    enum program_mpi is = kind_of(j, a, 0);
    return is == PROGRAM_UNKNOWN && argument_of(j, a, 1u << PROGRAM_PMIX) ? PROGRAM_PMIX : is;
}

bool pmi_doors_are_off(const struct job *j)
{
    const char *value =
        words_value(&j->o.env, "GODWIT_DOORS", getenv("GODWIT_DOORS")); /* variables of -genv hold for mpiexec, too */
    return value && strcasecmp(value, "off") == 0;
}

/* ---- scripts that set the path themselves ---- */
/* Programs under which the loader's audit interface does harm: in another file system its library is missing, which each process says;
 * valgrind takes what the loader does for it for errors. */
static const char *const unfit[] = {"valgrind", "apptainer", "singularity", "podman", "docker", "ch-run",  "shifter",
                                    "enroot",   "sarus",     "bwrap",       "chroot", "proot",  "nsenter", "unshare"};

/* What the words behind them are a command of, after options and numbers. */
static const char *const passing[] = {"exec",    "time",    "nice",    "ionice", "env",   "nohup",   "setsid", "command",
                                      "timeout", "taskset", "numactl", "stdbuf", "chrt",  "setarch", "then",   "do",
                                      "else",    "elif",    "if",      "while",  "until", "!",       "{",      "sudo",
                                      "sh",      "bash",    "dash",    "ksh",    "zsh"};
/* Behind such a command and && the next one need not run. */
static const char *const tests[] = {"[", "[[", "test", "command", "which", "type", "hash", "!", "if", "elif"};

static struct {
    char word[64], in[256]; /* what leaves the finder out, and the script that it is a command of, or "its command line" */
} left_out;

static bool is_one_of(const char *word, const char *const *all, size_t n)
{
    bool is = false;
    for (size_t i = 0; i < n && !is; i++) is = strcmp(word, all[i]) == 0;
    return is;
}
#define IS_ONE_OF(word, all) is_one_of(word, all, GW_ARRAY_LEN(all))

static const char *without_folder(const char *word)
{
    const char *slash = strrchr(word, '/');
    return slash ? slash + 1 : word;
}

/* An option, a number, a variable that is set: after it the command is still to come. */
static bool is_before_command(const char *word) { return *word == '-' || (*word >= '0' && *word <= '9') || strchr(word, '='); }

/* A shell's text, read for its commands, as far as one can tell without running it. */
struct reading {
    const char *at;
    int depth;                  /* if, case: what lies in them may not run */
    bool is_command;            /* the next word is one */
    bool is_first;              /* and the first of what && and || join */
    bool after_test, is_joined; /* the first was a test; a command that need not run, by && or || */
};

/* Past quoted text, comments, what ends and joins commands; at the next word then.  False: there is none. */
static bool word_come(struct reading *r)
{
    for (;; r->at++) {
        char c = *r->at;
        if (!c) return false;
        if (c == '#') r->at += strcspn(r->at, "\n"), c = *r->at;
        if (!c) return false;
        if (c == ' ' || c == '\t' || c == '\r') continue;
        if (c == '\\' && r->at[1] == '\n') {
            r->at++;
            continue;
        }
        if (!strchr("\n;&|()", c)) return true;
        bool is_double = r->at[1] == c && (c == '&' || c == '|');
        if (is_double) {
            r->is_joined = r->is_joined || c == '|' || r->after_test;
            r->at++;
        } else if (c != '|') {
            r->after_test = r->is_joined = false;
            r->is_first = true;
        }
        r->is_command = true;
    }
}

/* Takes the word, without its quotes, as far as it has room. */
static void word_take(struct reading *r, char *word_out, size_t cap)
{
    size_t n = 0;
    char quote = 0;
    for (; *r->at && (quote || !strchr(" \t\r\n;&|()", *r->at)); r->at++) {
        char c = *r->at;
        if (quote ? c == quote : c == '"' || c == '\'') {
            quote = quote ? 0 : c;
            continue;
        }
        if (c == '\\' && r->at[1] && quote != '\'') c = *++r->at;
        if (n + 1 < cap) word_out[n++] = c;
    }
    word_out[n] = 0;
}

/* Does a shell that runs this text run one of them, whatever its variables are?  *word_out: which. */
static bool text_is_unfit(const char *text, const char **word_out)
{
    struct reading r = {.at = text, .is_command = true, .is_first = true};
    char word[256];
    while (word_come(&r)) {
        word_take(&r, word, sizeof word);
        if (!r.is_command) continue;
        if (strcmp(word, "if") == 0 || strcmp(word, "case") == 0) r.depth++;
        if ((strcmp(word, "fi") == 0 || strcmp(word, "esac") == 0) && r.depth > 0) r.depth--;
        if (r.is_first) r.after_test = IS_ONE_OF(word, tests);
        r.is_first = false;
        const char *name = without_folder(word);
        for (size_t i = 0; i < GW_ARRAY_LEN(unfit); i++)
            if (strcmp(name, unfit[i]) == 0 && r.depth == 0 && !r.is_joined) {
                *word_out = unfit[i];
                return true;
            }
        r.is_command = IS_ONE_OF(name, passing) || is_before_command(word);
    }
    return false;
}

/* Is it a script of a shell?  *word_out: NULL, or which of them it runs. */
static bool is_shell_script(const char *path, const char **word_out)
{
    char text[1 << 16];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    ssize_t n = fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    *word_out = NULL;
    if (n < 2 || memcmp(text, "#!", 2) != 0) return false;
    text[n] = 0;
    char *end = strchr(text, '\n'), *shell;
    if (!end) return false;
    *end = 0;
    bool is = (shell = strstr(text, "sh")) && (!shell[2] || strchr(" \t\r", shell[2]));
    if (is) text_is_unfit(end + 1, word_out);
    return is;
}

/* Word i of the line is a command: whether it is one of them, or a script that runs one.  *goes_on_out: a script, which may run what follows. */
static bool command_is_unfit(const struct launch_app *a, int i, bool *goes_on_out)
{
    const char *name = without_folder(a->argv[i]), *word = NULL;
    char *file = program_find(a->argv[i], a->wdir);
    *goes_on_out = file && is_shell_script(file, &word);
    free(file);
    bool is = IS_ONE_OF(name, unfit);
    if (!is && !word) return false;
    snprintf(left_out.word, sizeof left_out.word, "%s", is ? name : word);
    snprintf(left_out.in, sizeof left_out.in, "%s", is ? "the command line" : a->argv[i]);
    return true;
}

static bool line_is_unfit(const struct launch_app *a)
{
    bool goes_on = true;
    for (int i = 0; a->argv[i] && goes_on; i++) {
        const char *word = NULL;
        bool is_text =
            i > 0 && a->argv[i - 1][0] == '-' && a->argv[i - 1][1] != '-' && strchr(a->argv[i - 1], 'c') && strchr(a->argv[i], ' ');
        if (is_text && text_is_unfit(a->argv[i], &word)) { /* sh -c */
            snprintf(left_out.word, sizeof left_out.word, "%s", word);
            snprintf(left_out.in, sizeof left_out.in, "the command line");
            return true;
        }
        if (is_text) return false;
        if (IS_ONE_OF(without_folder(a->argv[i]), passing) || is_before_command(a->argv[i])) continue;
        if (command_is_unfit(a, i, &goes_on)) return true;
    }
    return false;
}

const char *pmi_doors_left_out(const char **in_out)
{
    *in_out = left_out.in;
    return left_out.word[0] ? left_out.word : NULL;
}

/* The files of the doors' folders that programs ask for, with colons; the caller frees it. */
static char *door_files(const char *folders)
{
    char *all = gw_xasprintf("%s", "");
    for (const char *f = folders; *f; f += strcspn(f, ":"), f += *f == ':') {
        char *folder = gw_xasprintf("%.*s", (int)strcspn(f, ":"), f);
        DIR *d = opendir(folder);
        for (struct dirent *e; d && (e = readdir(d));) {
            if (strncmp(e->d_name, "libmpi", 6) != 0 || !strstr(e->d_name, ".so.")) continue;
            char *longer = gw_xasprintf("%s%s%s/%s", all, *all ? ":" : "", folder, e->d_name);
            free(all);
            all = longer;
        }
        if (d) closedir(d);
        free(folder);
    }
    return all;
}

/* LD_AUDIT with `file` before what it has; it may have that from an mpiexec around this one.  The caller frees it. */
static char *audit_pair(const char *file, const char *also)
{
    size_t n = strlen(file);
    bool is_there = false;
    for (const char *p = also; p && *p && !is_there; p += strcspn(p, ":"), p += *p == ':')
        is_there = strcspn(p, ":") == n && strncmp(p, file, n) == 0;
    if (is_there || !also || !*also) return gw_xasprintf("LD_AUDIT=%s", is_there ? also : file);
    return gw_xasprintf("LD_AUDIT=%s:%s", file, also);
}

/* For what scripts start after they have set the library path anew: the loader finds the doors by a library of ours (door/finder.c).  Loaders
 * before 2.35 would trace each call for that, and get none. */
static void finder_add(struct job *j, const char *folders)
{
    int major = 0, minor = 0;
    const char *also = words_value(&j->o.env, "LD_AUDIT", getenv("LD_AUDIT"));
    if (sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor) != 2 || major < 2 || (major == 2 && minor < 35)) return;
    for (int i = 0; i < j->o.n_apps; i++)
        if (line_is_unfit(&j->o.apps[i])) return;
    for (const char *f = folders; *f; f += strcspn(f, ":"), f += *f == ':') {
        char *file = gw_xasprintf("%.*s/libgodwit_doors.so", (int)strcspn(f, ":"), f);
        bool is_there = access(file, R_OK) == 0;
        char *files = door_files(folders), *pair = audit_pair(file, also);
        if (is_there) words_add(&j->o.env, pair);
        free(pair);
        pair = gw_xasprintf("GODWIT_DOORS_PATH=%s", files);
        if (is_there) words_add(&j->o.env, pair);
        free(pair);
        free(files);
        free(file);
        if (is_there) return;
    }
}

bool pmi_doors_open(struct job *j, bool by_scripts)
{
    char *folder = pmi_doors_are_off(j) ? NULL : folder_find();
    if (!folder) return false;
    for (int i = 0; i < j->o.n_apps; i++) put_in_front(&j->o.apps[i].env, folder);
    if (!put_in_front(&j->o.env, folder)) {
        const char *now = getenv("LD_LIBRARY_PATH");
        char *pair = gw_xasprintf("%s%s%s%s", VARIABLE, folder, now && *now ? ":" : "", now ? now : "");
        words_add(&j->o.env, pair);
        free(pair);
    }
    if (by_scripts) finder_add(j, folder);
    free(folder);
    return true;
}

/* Is this folder of n characters one of `folders`, or the doors' of another installation of Godwit? */
static bool is_door(const char *folder, size_t n, const char *folders)
{
    static const char end[] = "/godwit/doors";
    if (n >= sizeof end - 1 && strncmp(folder + n - (sizeof end - 1), end, sizeof end - 1) == 0) return true;
    for (const char *f = folders; *f; f += strcspn(f, ":"), f += *f == ':')
        if (n == strcspn(f, ":") && strncmp(folder, f, n) == 0) return true;
    return false;
}

bool pmi_doors_hold(const char *path)
{
    const char *name = strrchr(path, '/');
    if (!name || is_door(path, (size_t)(name - path), "")) return name;
    char *folders = folder_find();
    bool is = folders && is_door(path, (size_t)(name - path), folders);
    free(folders);
    return is;
}

/* Takes the doors' folders out of a library path. */
static void take_out(char *list, const char *folders)
{
    char *to = list;
    bool ends_in_name = *list && list[strlen(list) - 1] != ':';
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, ":"), whole = n + (p[n] == ':');
        if (!is_door(p, n, folders)) {
            memmove(to, p, whole);
            to += whole;
        }
        p += whole;
    }
    *to = 0;
    if (ends_in_name && to > list && to[-1] == ':') to[-1] = 0; /* no empty one at the end: that is the working folder */
}

void pmi_doors_close(struct job *j)
{
    char *folder = folder_find();
    const char *now = getenv("LD_LIBRARY_PATH"), *folders = folder ? folder : "";
    bool is_said = false;
    if (getenv("GODWIT_DOORS_PATH")) words_add(&j->o.env, "GODWIT_DOORS_PATH="); /* the finder stays out */
    for (int i = -1; i < j->o.n_apps; i++) {
        struct words *w = i < 0 ? &j->o.env : &j->o.apps[i].env;
        for (int k = 0; k < w->n; k++) {
            if (strncmp(w->at[k], VARIABLE, sizeof VARIABLE - 1) != 0) continue;
            take_out(w->at[k] + sizeof VARIABLE - 1, folders);
            is_said = is_said || i < 0;
        }
    }
    if (now && !is_said) { /* the ranks inherit it */
        char *pair = gw_xasprintf("%s%s", VARIABLE, now);
        take_out(pair + sizeof VARIABLE - 1, folders);
        if (strcmp(pair + sizeof VARIABLE - 1, now) != 0) words_add(&j->o.env, pair);
        free(pair);
    }
    free(folder);
}
