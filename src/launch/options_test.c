/* options_test.c -- the table of options: each name once, each row told; finding and guessing names; files of command lines; values.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launch/options_private.h"
#include "unit.h"

static const char *bare(const char *name) { return name + strspn(name, "-"); }

/* Every name, once; the letters alone count. */
static void names(void)
{
    enum { MOST = 1024 };
    static char all[MOST][64];
    int n = 0;
    for (int i = 0; i < launch_option_row_count; i++) {
        const struct option_row *row = &launch_option_rows[i];
        CHECK(row->names[0] == '-');
        for (const char *p = row->names; *p; p += strspn(p, " ")) {
            size_t len = strcspn(p, " ");
            CHECK(n < MOST && len < sizeof all[0] && p[0] == '-' && strspn(p, "-") <= 2);
            CHECK(launch_option_find(p, len) == row);
            snprintf(all[n], sizeof all[n], "%.*s", (int)len, p);
            for (int k = 0; k < n; k++)
                if (strcmp(bare(all[k]), bare(all[n])) == 0) {
                    fprintf(stderr, "%s stands twice\n", all[n]);
                    CHECK(false);
                }
            n++;
            p += len;
        }
    }
    CHECK(n > 150);
}

static void rows(void)
{
    for (int i = 0; i < launch_option_row_count; i++) {
        const struct option_row *row = &launch_option_rows[i];
        size_t len = strlen(row->help);
        CHECK(len > 10 && launch_option_words(row) <= 2);
        CHECK((row->is == O_TAKEN || row->is == O_NOTED) == (row->section == SECTION_TAKEN) &&
              (row->is == O_REFUSED) == (row->section == SECTION_REFUSED));
        if (row->section < SECTION_TAKEN)
            CHECK(isupper((unsigned char)row->help[0]) && row->help[len - 1] == '.');
        else
            CHECK(row->help[len - 1] != '.'); /* part of a sentence */
        for (int k = 0; k < i; k++)
            CHECK(launch_option_rows[k].is != row->is || row->is == O_TAKEN || row->is == O_NOTED || row->is == O_REFUSED);
    }
}

/* Names that are others where mpiexec is called as aprun. */
static void called_as_aprun(void)
{
    static const struct {
        const char *name, *like, *else_like;
    } names[] = {
        {"-t", "--cpu-time-limit", "--time"},
        {"-b", "--bypass-app-transfer", NULL},
        {"-T", "--sync-output", NULL},
        {"-C", "--reconnect", "--partition"},
        {"-p", "--protection-domain", "--account"},
        {"-D", "--debug-level", "-wdir"},
        {"--debug", "--debug-level", "-tv"},
        {"-a", "--architecture", NULL},
        {"-l", "-hostfile", "--label"},
        {"-E", "--exclude-node-list", "-X"},
        {"-R", "--relaunch", NULL},
        {"-n", "-n", "-np"},
        {"-N", "-ppn", "-ppn"},
    };
    char *own = program_invocation_short_name;
    for (size_t i = 0; i < GW_ARRAY_LEN(names); i++) {
        size_t n = strlen(names[i].name), like = strlen(names[i].like);
        program_invocation_short_name = (char *)"aprun";
        CHECK(launch_option_find(names[i].name, n) &&
              launch_option_find(names[i].name, n) == launch_option_find(names[i].like, like));
        program_invocation_short_name = own;
        CHECK(launch_option_find(names[i].name, n) ==
              (names[i].else_like ? launch_option_find(names[i].else_like, strlen(names[i].else_like)) : NULL));
    }
}

/* What --help prints has each name and, of what is done, the argument. */
static void help(void)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    launch_option_help(f);
    fclose(f);
    for (int i = 0; i < launch_option_row_count; i++)
        for (const char *p = launch_option_rows[i].names; *p; p += strspn(p, " ")) {
            char name[64];
            size_t len = strcspn(p, " ");
            snprintf(name, sizeof name, "%.*s", (int)len, p);
            const char *at = text;
            while ((at = strstr(at, name)) && !(at[-1] == ' ' && strchr(" ,\n[", at[len]))) at++;
            if (!at) fprintf(stderr, "--help does not name %s\n", name);
            CHECK(at != NULL);
            p += len;
        }
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) CHECK(strlen(line) <= 130);
    free(text);
}

static void guess(const char *word, const char *want)
{
    char near[64] = "";
    CHECK_STR(launch_option_nearest(word, near, sizeof near) ? near : "nothing", want);
}

static void guesses(void)
{
    guess("--bindto", "--bind-to");
    guess("-timout", "--timeout");
    guess("-wdi", "-wdir");
    guess("--hosfile=x", "-hostfile");
    guess("--timestamp-otput", "--timestamp-output");
    guess("--bind", "--bind-to");
    guess("--runtime", "--runtime-options");
    guess("-z", "nothing");
    guess("-nq", "nothing");
    guess("--", "nothing");
    guess("-abc", "nothing");
    guess("--qqqqqqqqqqqqqq", "nothing");
}

/* The words, or why there are none. */
static void file(const char *text, const char *want)
{
    char path[64], got[512] = "";
    struct words w = {0};
    int fd = memfd_create("options", MFD_CLOEXEC);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const char *why = launch_options_file_read(path, &w);
    if (why) gw_text_add(got, sizeof got, "%s", why);
    for (int i = 0; !why && i < w.n; i++) gw_text_add(got, sizeof got, "%s<%s>", i ? " " : "", w.at[i]);
    CHECK_STR(got, want);
    words_free(&w);
    close(fd);
}

static void files(void)
{
    struct words w = {0};
    file("", "");
    file("# nothing\n\n   \n", "");
    file("-n 2 ./a b", "<-n> <2> <./a> <b>");
    file("-n 1 a\n# two\n\t-n 2 'b c' \"d\\\"e\" f\\ g\n", "<-n> <1> <a> <:> <-n> <2> <b c> <d\"e> <f g>");
    file("-n 1 \\\n a\r\n''\n", "<-n> <1> <a> <:> <>");
    file("a # b\nc#d\n", "<a> <:> <c#d>");
    file("a \\", "<a>");
    file("a \\\nb \\\n", "<a> <b>");
    file("a\n-n 1 'b c\nd'\n", "line 2: the quote ' has no end in this line");
    file("a \"b\\\"", "line 1: the quote \" has no end in this line");
    file("a\n\nb 'c \\\nd\ne", "line 3: the quote ' has no end in this line");
    file("a 'b \\\n c' d\n# it's\ne", "<a> <b  c> <d> <:> <e>");
    CHECK_STR(launch_options_file_read("/gw-no-such-file", &w), "No such file or directory");
    CHECK_STR(launch_options_file_read("/dev/zero", &w), "it is no file");
}

/* -soft: the largest allowed number that is not above n; 0: refused. */
static void soft(const char *list, int n, int want)
{
    struct launch_app a = {.n = n, .soft = list};
    int rc = launch_set_soft(&a);
    CHECK_EQ(rc < 0 ? a.n : 0, want);
}

static void numbers(void)
{
    int out = dup(2), null = memfd_create("null", MFD_CLOEXEC);
    soft("1:100", 7, 7);
    soft("2:100:4", 7, 6);
    soft("8:2:-3", 7, 5);
    soft("8:2:-3", 4, 2);
    soft("3,5,9", 8, 5);
    soft("4", 4, 4);
    soft("-3:3", 8, 3);
    dup2(null, 2);
    int before = unit_failures;
    soft("5:9", 4, 0);
    soft("", 4, 0);
    soft("0", 4, 0);
    soft("1:", 4, 0);
    soft("1:2:0", 4, 0);
    soft("1:2:3:4", 4, 0);
    soft("x", 4, 0);
    soft("9:5", 9, 0);
    soft("99999999999999999999", 9, 0);
    dup2(out, 2);
    CHECK_EQ(unit_failures, before);
    close(out);
    close(null);
}

int main(void)
{
    names();
    rows();
    called_as_aprun();
    help();
    guesses();
    files();
    numbers();
    return unit_end();
}
