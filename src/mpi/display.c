/* display.c -- what a job prints at its start if the user asks for it (GODWIT_ENV_DISPLAY, _VERSION_DISPLAY, _CPUMASK_DISPLAY).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/mpi_private.h"
#include "base/settings.h"

#include <stdio.h>
#include <stdlib.h>

/* Copies the value of `key` from a file of lines "key : value" in /proc. */
static void proc_value(const char *path, const char *key, char *out, size_t cap)
{
    char *line = NULL;
    size_t size = 0;
    FILE *f = fopen(path, "re");
    snprintf(out, cap, "unknown");
    while (f && getline(&line, &size, f) >= 0) {
        size_t n = strlen(key);
        if (strncmp(line, key, n) != 0) continue;
        char *value = line + n + strspn(line + n, " \t:");
        snprintf(out, cap, "%.*s", (int)strcspn(value, "\n"), value);
        break;
    }
    free(line);
    if (f) fclose(f);
}

/* Prints all settings, room by room, each with its name in MPICH. */
static void display_settings(FILE *f, int required)
{
    char value[1024], model[256];
    const char *room = "", *origin;
    struct gw_setting_info s;
    proc_value("/proc/cpuinfo", "model name", model, sizeof model);
    fprintf(f, "PE 0: Godwit settings (godwit-info --settings tells what they mean)\n");
    for (int i = 0; i < gw_settings_count(); i++) {
        gw_settings_get(i, &s, value, sizeof value, &origin);
        if (strcmp(room, s.room) != 0) fprintf(f, "PE 0: --- %s\n", s.room);
        room = s.room;
        const char *name = strstr(s.aliases, "MPICH_");
        fprintf(f, "PE 0:   %-36s = %s%s%s%.*s%s\n", s.env, value, strcmp(origin, "default") == 0 ? "" : "   (set)",
                name ? "   [" : "", name ? (int)strcspn(name, " ") : 0, name ? name : "", name ? "]" : "");
    }
    fprintf(f, "PE 0: processor: %s\n", model);
    fprintf(f, "PE 0: thread level: required %s, provided %s\n", mpi_level_name(required), mpi_level_name(mpi_level(required)));
}

static void display_version(FILE *f)
{
    char text[GW_MAX_LIBRARY_VERSION_STRING];
    int n;
    mpi_get_library_version(text, &n);
    fprintf(f, "PE 0: %s\n", text);
}

static void display_cpus(FILE *f)
{
    char cpus[512];
    proc_value("/proc/self/status", "Cpus_allowed_list", cpus, sizeof cpus);
    fprintf(f, "PE %d: host %s, CPUs %s\n", gw_boot.rank, gw_boot.host, cpus);
}

GW_ONCE void mpi_display(int required)
{
    char *text = NULL;
    size_t n;
    bool is_first = gw_boot.rank == 0;
    if (!gw_set.cpumask_display && !(is_first && (gw_set.version_display || gw_set.env_display))) return;
    FILE *f = open_memstream(&text, &n); /* one write, so that lines of several ranks do not mix */
    if (!f) return;
    if (is_first && gw_set.version_display) display_version(f);
    if (is_first && gw_set.env_display) display_settings(f, required);
    if (gw_set.cpumask_display) display_cpus(f);
    if (fclose(f) == 0) fputs(text, stderr);
    free(text);
}
