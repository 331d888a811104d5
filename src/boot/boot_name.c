/* boot_name.c -- service names: a published name is an abstract unix socket whose name says the port.
 *
 * Two sockets each: one whose name is the service, so that nobody else takes it, and one whose name goes on with the port; the
 * kernel lists them in /proc/net/unix.  They go with the process that published.  That a port is of the same user is found out by who
 * connects there.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { KEY_BYTES = 64, NAME_BYTES = 107 };

static uint64_t mix(const char *text, uint64_t seed)
{
    uint64_t h = gw_hash(GW_HASH_SEED ^ seed, text, strlen(text));
    return h ^ h >> 29;
}

static void key_of(const char *service, char out[KEY_BYTES])
{
    snprintf(out, KEY_BYTES, "godwit-name-%u-%016llx%016llx", (unsigned)geteuid(), (unsigned long long)mix(service, 0),
             (unsigned long long)mix(service, 0x9e3779b97f4a7c15u));
}

bool boot_name_fits(const char *port)
{
    for (const char *p = port; *p; p++)
        if (*p <= ' ' || *p > '~') return false;
    return *port && strlen(port) < NAME_BYTES - KEY_BYTES;
}

int boot_name_publish(const char *service, const char *port, int fds_out[2])
{
    char key[KEY_BYTES], full[NAME_BYTES + 1];
    key_of(service, key);
    snprintf(full, sizeof full, "%s=%s", key, port);
    fds_out[0] = boot_named_listen(key, 64);
    if (fds_out[0] < 0) return -1;
    fds_out[1] = boot_named_listen(full, 64);
    if (fds_out[1] >= 0) return 0;
    close(fds_out[0]);
    return -1;
}

bool boot_name_lookup(const char *service, char *port_out, size_t cap)
{
    char key[KEY_BYTES], *line = NULL;
    size_t room = 0;
    bool found = false;
    key_of(service, key);
    FILE *f = fopen("/proc/net/unix", "re");
    while (f && !found && getline(&line, &room, f) > 0) {
        char *at = strstr(line, key), *port = at ? at + strlen(key) : NULL;
        if (!port || at[-1] != '@' || *port != '=') continue;
        port[strcspn(port, "\n")] = 0;
        snprintf(port_out, cap, "%s", port + 1);
        found = true;
    }
    free(line);
    if (f) fclose(f);
    return found;
}
