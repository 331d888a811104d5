/* pmi2.c -- a client of Slurm's libpmi2 alone: who am I, keys round a ring, attributes of job and node; a line each rank.
 * pmi2 topology: whether hwloc's file of the machine can be read.
 * pmi2 abort: rank 1 ends the job with a text.  pmi2 spawn: says what MPI_Comm_spawn would get.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <slurm/pmi2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void must(int rc, const char *what)
{
    if (rc == PMI2_SUCCESS) return;
    printf("%s: %d\n", what, rc);
    exit(3);
}

/* hwloc's description of the machine, as this process reads it. */
static void topology(void)
{
    char path[PMI2_MAX_VALLEN] = "", text[4096];
    int found = 0;
    must(PMI2_Info_GetJobAttr("PMI_hwloc_xmlfile", path, sizeof path, &found), "topology");
    FILE *f = found ? fopen(path, "r") : NULL;
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    printf("topology %s\n", !found ? "none" : strstr(text, "<object type=\"Machine\"") ? "read" : "cannot be read");
    if (f) fclose(f);
}

static void ring(int rank, int size, const char *job)
{
    char key[64], value[PMI2_MAX_VALLEN], wanted[PMI2_MAX_VALLEN];
    int bytes;
    memset(value, 'a' + rank % 26, sizeof value);
    value[1000] = 0;
    snprintf(key, sizeof key, "of-%d", rank);
    must(PMI2_KVS_Put(key, value), "put");
    must(PMI2_KVS_Fence(), "fence");
    int next = (rank + 1) % size;
    memset(wanted, 'a' + next % 26, sizeof wanted);
    wanted[1000] = 0;
    snprintf(key, sizeof key, "of-%d", next);
    must(PMI2_KVS_Get(job, PMI2_ID_NULL, key, value, sizeof value, &bytes), "get");
    must(strcmp(value, wanted), "the value");
}

/* Rank 0 tells the node something later, and the others wait for it. */
static void of_node(int rank)
{
    char value[PMI2_MAX_VALLEN] = "";
    int found = 0;
    if (rank == 0) {
        usleep(50000);
        must(PMI2_Info_PutNodeAttr("segment", "/some/name"), "put for the node");
    }
    must(PMI2_Info_GetNodeAttr("segment", value, sizeof value, &found, 1), "get of the node");
    must(!found || strcmp(value, "/some/name"), "the node's value");
}

int main(int argc, char **argv)
{
    int spawned, size, rank, app, found = 0;
    char job[256], map[PMI2_MAX_VALLEN] = "", universe[64] = "";
    const char *what = argc > 1 ? argv[1] : "";
    must(PMI2_Init(&spawned, &size, &rank, &app), "init");
    must(PMI2_Job_GetId(job, sizeof job), "job");
    must(PMI2_Info_GetJobAttr("PMI_process_mapping", map, sizeof map, &found), "mapping");
    if (strcmp(what, "abort") == 0) {
        if (rank == 1) PMI2_Abort(1, "no way on");
        must(PMI2_KVS_Fence(), "fence");
    }
    if (strcmp(what, "spawn") == 0) {
        char id[256] = "";
        const char *cmd[] = {"./pmi2"}, **argvs[] = {NULL};
        int argcs[] = {0}, procs[] = {1}, sizes[] = {0}, codes[1];
        printf("spawn %s\n",
               PMI2_Job_Spawn(1, cmd, argcs, argvs, procs, sizes, NULL, 0, NULL, id, sizeof id, codes) ? "fails" : "works");
    }
    ring(rank, size, job);
    of_node(rank);
    must(PMI2_Info_GetJobAttr("universeSize", universe, sizeof universe, &found), "universe");
    printf("%d/%d app %d %s\n", rank, size, app, map);
    if (what[0] == 'u') printf("universe %s\n", found ? universe : "-");
    if (strcmp(what, "topology") == 0) topology();
    fflush(stdout);
    must(PMI2_Finalize(), "finalize");
    return 0;
}
