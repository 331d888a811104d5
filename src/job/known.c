/* known.c -- are the hosts of a job known by their names?
 *
 * The engines that go to hosts by ssh leave names to it: a name may have an address here, or be an alias of ssh's configuration with
 * another name, or with a way of its own (a proxy), behind which this host need not know anything.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "job/hosts.h"
#include "base/base.h"
#include "job/child.h"

/* 0, or an error of getaddrinfo(). */
static int address_fault(const char *name)
{
    struct addrinfo *found = NULL, hints = {.ai_socktype = SOCK_STREAM};
    int rc = getaddrinfo(name, NULL, &hints, &found);
    if (found) freeaddrinfo(found);
    return rc;
}

/* Copies the value of a line "NAME VALUE" of what `ssh -G` says; false: there is none. */
static bool said(const char *text, const char *name, char *to, size_t cap)
{
    size_t n = strlen(name);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncasecmp(line, name, n) != 0 || line[n] != ' ') continue;
        snprintf(to, cap, "%.*s", (int)strcspn(line + n + 1, "\r\n"), line + n + 1);
        return *to && strcmp(to, "none") != 0;
    }
    return false;
}

/* Does ssh get there by another name, or by a way of its own? */
static bool ssh_knows(const char *name, const char *bare)
{
    char text[16384], value[512];
    child_output("ssh", (const char *const[]){"ssh", "-G", "--", name, NULL}, text, sizeof text);
    if (said(text, "proxycommand", value, sizeof value) || said(text, "proxyjump", value, sizeof value)) return true;
    return said(text, "hostname", value, sizeof value) && strcasecmp(value, bare) != 0 && address_fault(value) == 0;
}

const char *hosts_unknown(const struct hosts *h, const char **why_out)
{
    for (int i = 0; i < h->n; i++) {
        const char *name = h->at[i].name, *user = strrchr(name, '@'), *bare = user ? user + 1 : name;
        int rc = *name == '+' || hosts_is_local(bare) ? 0 : address_fault(bare);
        if (!rc || ssh_knows(name, bare)) continue;
        *why_out = gai_strerror(rc);
        return name;
    }
    return NULL;
}
