/* display.c -- what a job prints at its start if the user asks for it (GODWIT_ENV_DISPLAY, _VERSION_DISPLAY, _CPUMASK_DISPLAY).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/mpi_private.h"
#include "base/plain.h"
#include "base/processor.h"
#include "base/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- settings ---- */
/* The groups in which users of HPE's library look for a variable. */
enum group { GENERAL, RMA, GPU, DPM, SMP, OFI, COLLECTIVE, MPIIO, STATISTICS, THREADS, GROUPS };
static const char *const group_names[GROUPS] = {"general", "RMA",        "GPU",   "Dynamic Process Management", "SMP",
                                                "OFI",     "COLLECTIVE", "MPIIO", "MPIIO statistics",           "Thread Safety"};
/* The first row that fits decides: by the beginning of the documented name, or by the room. */
static const struct {
    const char *name, *room;
    enum group group;
} places[] = {{"MPICH_ALLOC_MEM_", "", GENERAL},
              {"MPICH_RMA_", "", RMA},
              {"MPICH_GPU_", "", GPU},
              {"MPICH_SMP_", "", SMP},
              {"MPICH_SHARED_MEM_", "", SMP},
              {"MPICH_OFI_EAGER", "", SMP},
              {"MPICH_OFI_", "", OFI},
              {"MPICH_GNI_", "", OFI},
              {"MPI_GNI_", "", OFI},
              {"FI_", "", OFI},
              {"MPICH_MPIIO_STATS", "", STATISTICS},
              {"MPICH_MPIIO_TIME", "", STATISTICS},
              {"MPICH_MPIIO_", "", MPIIO},
              {"MPICH_MAX_THREAD", "", THREADS},
              {"MPICH_ASYNC_PROGRESS", "", THREADS},
              {"", "coll", COLLECTIVE},
              {"", "rma", RMA},
              {"", "io", MPIIO},
              {"", "world", DPM},
              {"", "node", SMP},
              {"", "wire_shm", SMP},
              {"GODWIT_NET_", "", OFI},
              {"", "net", OFI},
              {"", "wire_ofi", OFI},
              {"", "peer", OFI},
              {"", "proto", SMP},
              {"", "req", THREADS}};

static enum group group_of(const char *name, const char *room)
{
    for (size_t i = 0; i < GW_ARRAY_LEN(places); i++)
        if (strncmp(name, places[i].name, strlen(places[i].name)) == 0 && (!*places[i].room || strcmp(room, places[i].room) == 0))
            return places[i].group;
    return GENERAL;
}

/* The name that the documents of other libraries have for it, that of HPE's first; its own where there is none. */
static void documented_name(const struct gw_setting_info *s, char *out, size_t cap)
{
    const char *at = strstr(s->aliases, "MPICH_");
    while (at && at > s->aliases && at[-1] != ' ') at = strstr(at + 1, "MPICH_");
    if (!at) at = *s->aliases ? s->aliases : s->env;
    snprintf(out, cap, "%.*s", (int)strcspn(at, " "), at);
}

/* A line: the documented name, the value in force, then all other names, and who has set it. */
static void display_setting(FILE *f, int i, enum group wanted)
{
    struct gw_setting_info s;
    char value[1024], text[GW_PROCESSOR_TEXT], name[64];
    const char *origin;
    gw_settings_get(i, &s, value, sizeof value, &origin);
    documented_name(&s, name, sizeof name);
    if (group_of(name, s.room) != wanted) return;
    bool is_other = mpi_in_force(s.env, value, text, sizeof text), is_default = strcmp(origin, "default") == 0;
    gw_print(f, "PE 0:   %-46s = %s   [", name, is_other ? text : value);
    if (is_other) gw_print(f, "%s; ", value);
    fprintf(f, "%s%s", is_default ? "" : "set by ", origin);
    if (s.source) gw_print(f, " in %s", s.source);
    /* Each name once: those that stand before are left out. */
    const char *between = "; ";
    if (strcmp(s.env, name) != 0 && strcmp(s.env, origin) != 0) {
        fprintf(f, "; %s", s.env);
        between = ", ";
    }
    for (const char *a = s.aliases; *a; a += strspn(a, " ")) {
        size_t n = strcspn(a, " ");
        bool is_named = (n == strlen(name) && strncmp(a, name, n) == 0) || (n == strlen(origin) && strncmp(a, origin, n) == 0);
        if (!is_named) fprintf(f, "%s%.*s", between, (int)n, a);
        if (!is_named) between = ", ";
        a += n;
    }
    fputs("]\n", f);
}

static void display_settings(FILE *f, int required)
{
    char model[256];
    proc_value("/proc/cpuinfo", "model name", model, sizeof model);
    gw_print(f, "PE 0: MPICH processor detected: %s\n", model);
    fprintf(f, "PE 0: Godwit " GODWIT_VERSION ": settings under their documented names (godwit-info NAME tells what one means)\n");
    for (enum group g = 0; g < GROUPS; g++) {
        fprintf(f, "PE 0: MPICH %s environment settings:\n", group_names[g]);
        if (g == GPU) fprintf(f, "PE 0:   (memory of GPUs is not supported)\n");
        for (int i = 0; i < gw_settings_count(); i++) display_setting(f, i, g);
    }
    fprintf(f, "PE 0: thread level: required %s, provided %s\n", mpi_level_name(required), mpi_level_name(life_level(required)));
}

static void display_version(FILE *f)
{
    char text[GW_MAX_LIBRARY_VERSION_STRING];
    int n;
    mpi_get_library_version(text, &n);
    fprintf(f, "PE 0: MPI VERSION    : %s\n", text);
    fprintf(f, "PE 0: MPI BUILD INFO : %s (%s)\n", __DATE__ " " __TIME__, GW_COMPILER);
}

static void display_cpus(FILE *f)
{
    char cpus[512];
    proc_value("/proc/self/status", "Cpus_allowed_list", cpus, sizeof cpus);
    gw_print(f, "PE %d: host %s, CPUs %s\n", gw_boot.rank, gw_boot.host, cpus);
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
