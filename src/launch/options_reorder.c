/* options_reorder.c -- `mpiexec --reorder`: the order of ranks by its name, from a file, or from a profile of the program.
 *
 * The files of a profile (tools/profile/observe.c) say in comments for which program and how many ranks they are, and what they gain.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "launch/options_private.h"
#include "base/file.h"
#include "boot/order.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 64 << 20 };

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Copies what follows "# NAME:" in the comments of a file; false: there is no such comment. */
static bool comment(const char *text, const char *name, char *to, size_t cap)
{
    for (const char *at = text; *at == '#'; at += strcspn(at, "\n"), at += *at == '\n') {
        const char *word = at + 1 + strspn(at + 1, " ");
        size_t n = strlen(name);
        if (strncmp(word, name, n) != 0 || word[n] != ':') continue;
        word += n + 1;
        word += strspn(word, " ");
        snprintf(to, cap, "%.*s", (int)strcspn(word, "\n"), word);
        return true;
    }
    return false;
}

/* Takes a file of a profile; false, with the reason in `why`: it is not for this job. */
static bool take(struct launch_options *o, const char *path, char *why, size_t cap)
{
    char *text = NULL, ranks[64] = "", program[PATH_MAX] = "", gain[256] = "";
    const char *mine = last_part(o->apps[0].argv[0]), *error = gw_file_read(path, MOST, false, &text);
    int32_t *list = gw_xmalloc(sizeof *list * (size_t)o->n_ranks);
    bool good = false;
    if (error) {
        snprintf(why, cap, "%s cannot be read: %s", path, error);
    } else if (!comment(text, "Number PEs", ranks, sizeof ranks) || !comment(text, "Program", program, sizeof program)) {
        snprintf(why, cap, "%s is not a profile's", path);
    } else if (strtol(ranks, NULL, 10) != o->n_ranks || strcmp(last_part(program), mine) != 0) {
        snprintf(why, cap, "%s is for %s ranks of %s", path, ranks, last_part(program));
    } else if (boot_order_parse(path, text, o->n_ranks, list) != GW_OK) {
        snprintf(why, cap, "%s", gw_fail_text());
    } else {
        char whole[PATH_MAX];
        good = true;
        launch_add_pair(&o->env, "GODWIT_RANK_ORDER", "3");
        launch_add_pair(&o->env, "GODWIT_RANK_ORDER_FILE", realpath(path, whole) ? whole : path);
        comment(text, "Gain", gain, sizeof gain);
        if (!o->quiet) say_line("--reorder=auto: %s: %s", path, gain[0] ? gain : "it does not say what it gains");
    }
    free(list);
    free(text);
    return good;
}

static int reorder_auto(struct launch_options *o)
{
    static const char *const files[] = {"MPICH_RANK_ORDER.Grid", "MPICH_RANK_ORDER.Graph", "MPICH_RANK_ORDER.USER_Time_hybrid",
                                        "MPICH_RANK_ORDER.USER_Time"};
    char why[512] = "", first[512] = "";
    for (size_t i = 0; i < GW_ARRAY_LEN(files); i++) {
        if (access(files[i], F_OK) != 0) continue;
        if (take(o, files[i], why, sizeof why)) return -1;
        if (!first[0]) snprintf(first, sizeof first, "%s", why);
    }
    if (!o->quiet)
        say_line("--reorder=auto: %s: ranks keep their order; mpiexec --profile makes a file where another one helps",
                 first[0] ? first : "no profile has left an order of ranks in this folder");
    return -1;
}

int launch_reorder_choose(struct launch_options *o)
{
    static const char *const words[] = {"roundrobin", "smp", "fold"};
    const char *text = o->reorder;
    if (!text) return -1;
    if (!*text || strcasecmp(text, "auto") == 0) return reorder_auto(o);
    for (int i = 0; i < 3; i++)
        if (strcasecmp(text, words[i]) == 0)
            return launch_add_pair(&o->env, "GODWIT_RANK_ORDER", (const char *[]){"0", "1", "2"}[i]), -1;
    char whole[PATH_MAX];
    struct stat st;
    bool is_there = stat(text, &st) == 0;
    if (!is_there || !S_ISREG(st.st_mode) || !realpath(text, whole)) /* the job reads it several times: no pipe */
        return launch_usage_error("--reorder is auto, smp, roundrobin, fold or a file of ranks, and there is no file '%s' (%s)",
                                  text, is_there ? "it is none" : strerror(errno));
    launch_add_pair(&o->env, "GODWIT_RANK_ORDER", "3");
    launch_add_pair(&o->env, "GODWIT_RANK_ORDER_FILE", whole);
    return -1;
}
