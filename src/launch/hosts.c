/* hosts.c -- lists of hosts on the command line: those that name this machine only are as good as none.
 *
 * Names are compared, never looked up: on one machine there is no DNS.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "launch/launch.h"

/* "node7" and "node7.cluster.example" are taken for one. */
static bool same_host(const char *name, size_t n, const char *host)
{
    size_t m = strlen(host), less = n < m ? n : m;
    if (n == 0 || m == 0 || strncasecmp(name, host, less) != 0) return false;
    return n == m || (n < m ? host[n] == '.' : name[m] == '.');
}

static bool is_here(const char *name, size_t n)
{
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) < 0) host[0] = 0;
    return same_host(name, n, "localhost") || same_host(name, n, host) || (n == 9 && strncmp(name, "127.0.0.1", n) == 0) ||
           (n == 3 && strncmp(name, "::1", n) == 0);
}

static bool words_are_here(const char *list, const char *between, char *foreign_out, size_t cap)
{
    for (const char *p = list + strspn(list, between); *p; p += strspn(p, between)) {
        size_t n = strcspn(p, between), name = strncmp(p, "::1", 3) == 0 ? 3 : strcspn(p, ":");
        if (name > n) name = n;
        if (!is_here(p, name)) {
            snprintf(foreign_out, cap, "%.*s", (int)name, p);
            return false;
        }
        p += n;
    }
    return true;
}

bool hosts_are_here(const char *list, char *foreign_out, size_t cap) { return words_are_here(list, ", ", foreign_out, cap); }

/* A host a line, what follows it ("slots=4", ":4") and comments do not matter. */
int hosts_file_is_here(const char *path, char *foreign_out, size_t cap)
{
    FILE *f = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    int rc = 0;
    if (!f) return errno;
    while (rc == 0 && getline(&line, &room, f) >= 0) {
        char *name = line + strspn(line, " \t\r\n");
        name[strcspn(name, "# \t\r\n")] = 0;
        if (*name && !words_are_here(name, " ", foreign_out, cap)) rc = -1;
    }
    if (rc == 0 && ferror(f)) rc = EIO;
    free(line);
    fclose(f);
    return rc;
}
