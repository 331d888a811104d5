/* boot_env.c -- the environment variables of launchers, and the backend of our own mpiexec.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/settings.h"
#include "boot/world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

int boot_env_int(const char *name, int fallback)
{
    const char *text = getenv(name);
    char *end;
    if (!text || !*text) return fallback;
    errno = 0;
    long v = strtol(text, &end, 10);
    return *end || errno || v < INT32_MIN || v > INT32_MAX ? fallback : (int)v;
}

/* Our mpiexec also sets variables of other launchers, for programs that read them.  True: the variable is such a copy, so it is no sign of
 * another launcher. */
static bool is_copy(const char *name)
{
    static const char *const of[] = {"GODWIT_SIZE", "GODWIT_LOCAL_SIZE", "GODWIT_RANK", "GODWIT_LOCAL_RANK"};
    bool is_rank = strstr(name, "RANKID") || (strstr(name, "RANK") && !strstr(name, "NRANKS"));
    const char *value = getenv(name);
    for (int i = is_rank ? 2 : 0; value && i < (is_rank ? 4 : 2); i++) {
        const char *ours = getenv(of[i]);
        if (ours && strcmp(ours, value) == 0) return true;
    }
    return false;
}

const char *boot_env_several(void)
{
    /* Each is the number of processes by one launcher.  sbatch sets SLURM_NTASKS for its script too, which is one
     * process; within a step srun says the number of the step. */
    static const char *const sizes[] = {"SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",           "MPI_LOCALNRANKS",
                                        "MV2_COMM_WORLD_SIZE",  "FLUX_JOB_SIZE",        "JSM_NAMESPACE_SIZE", "PALS_SIZE",
                                        "PALS_LOCAL_SIZE",      "PMI_LOCAL_SIZE",       "MPIEXEC_SIZE",       "MPIRUN_NPROCS"};
    /* Launchers that tell no number of processes: a rank above 0 shows that there are several. */
    static const char *const ranks[] = {"PALS_RANKID", "PALS_LOCAL_RANKID", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "ALPS_APP_PE"};
    static char text[128];
    const char *name = NULL;
    int n = 0;
    for (size_t i = 0; i < GW_ARRAY_LEN(sizes) && n <= 1; i++) n = is_copy(name = sizes[i]) ? 0 : boot_env_int(name, 0);
    if (n <= 1 && !getenv("SLURM_STEP_NUM_TASKS") && getenv("SLURM_STEP_ID") && getenv("SLURM_PROCID")) {
        n = boot_env_int(name = "SLURM_NTASKS", 0);
        if (n <= 1) n = boot_env_int(name = "SLURM_NPROCS", 0);
    }
    for (size_t i = 0; i < GW_ARRAY_LEN(ranks) && n <= 1; i++) n = is_copy(name = ranks[i]) ? 0 : boot_env_int(name, 0) + 1;
    if (n <= 1) return NULL;
    snprintf(text, sizeof text, "%s=%s", name, getenv(name));
    return text;
}

bool boot_env_speaks(void)
{
    static const char *const local_ranks[] = {"SLURM_LOCALID",     "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                              "PALS_LOCAL_RANKID", "FLUX_TASK_LOCAL_ID",         "PMI_LOCAL_RANK"};
    for (size_t i = 0; i < GW_ARRAY_LEN(local_ranks); i++)
        if (getenv(local_ranks[i])) return boot_env_int(local_ranks[i], 0) == 0;
    return true;
}

/* ---- our own mpiexec: GODWIT_BOOT="fd=N,local=K[,app=A][,crash=1][,universe=U][,pmi=I][,sets=WHAT][,maxprocs=M][,soft=SET][,file=NAME]" and
 * a segment behind the descriptor.  SET has commas, NAME may have anything. ---- */
/* A launcher between mpiexec and us, such as Hydra, may hand down what it was given, beside a socket of its own; pmi=I is that of ours.
 * Others (mpirun, srun) have their variables. */
static bool is_of_other_launcher(const char *text)
{
    struct stat st;
    const char *mark = strstr(text, ",env=");
    if (mark && strlen(mark + 5) >= BOOT_ENV_MARK - 1 && boot_env_other(environ, mark + 5)) return true;
    return boot_pmi_offered() && fstat(boot_env_int("PMI_FD", -1), &st) == 0 &&
        boot_socket_name(st.st_ino) != boot_list_int(text, "pmi", -1);
}

static const char *boot_text(void)
{
    const char *text = getenv("GODWIT_BOOT");
    return text ? text : boot_cleared_text();
}

static bool godwit_offered(void)
{
    const char *text = boot_text();
    return text && !is_of_other_launcher(text);
}

int boot_list_int(const char *list, const char *key, int fallback)
{
    size_t n = strlen(key);
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (strncmp(p, key, n) == 0 && p[n] == '=') return atoi(p + n + 1);
    return fallback;
}

bool boot_env_said(const char *key, char *value_out, size_t cap)
{
    const char *text = boot_text(), *file = text ? strstr(text, ",file=") : NULL;
    char word[16];
    snprintf(word, sizeof word, ",%s=", key);
    const char *at = text ? strstr(text, word) : NULL;
    if (!at || boot_env_int("GODWIT_SINGLETON", 0) > 0 || !godwit_offered() || (file && at > file)) return false;
    at += strlen(word);
    bool is_long = strcmp(key, "soft") == 0 || strcmp(key, "file") == 0;
    size_t n = !is_long ? strcspn(at, ",") : file && file > at ? (size_t)(file - at) : strlen(at);
    snprintf(value_out, cap, "%.*s", (int)n, at);
    return true;
}

/* The faked node of each rank; NULL: there are none. */
static const int32_t *job_map(void)
{
    const struct boot_head *job = boot_board_head();
    return job && job->map_offset ? (const int32_t *)((const char *)job + job->map_offset) : NULL;
}

int boot_env_size(void)
{
    static const char *const sizes[] = {"PMI_SIZE",  "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "FLUX_JOB_SIZE",
                                        "PALS_SIZE", "JSM_NAMESPACE_SIZE",   "MPIEXEC_SIZE",         "MPIRUN_NPROCS"};
    const char *text = boot_text();
    struct boot_head h;
    bool is_new;
    if (boot_env_int("GODWIT_SINGLETON", 0) > 0) return 1;
    if (godwit_offered()) {
        int fd = boot_enter(text, &h, &is_new);
        if (fd >= 0 && is_new) close(fd);
        return fd >= 0 ? h.size : 0;
    }
    for (size_t i = 0; i < GW_ARRAY_LEN(sizes); i++)
        if (boot_env_int(sizes[i], 0) > 0) return boot_env_int(sizes[i], 0);
    return boot_env_several() || boot_backend_pmix.offered() || boot_pmi_offered() ? 0 : 1;
}

static int godwit_join(void)
{
    const char *text = boot_text();
    int local = boot_list_int(text, "local", -1), rc = GW_OK;
    struct boot_head h;
    bool is_new;
    int fd = boot_enter(text, &h, &is_new);
    /* mpiexec's ranks come by this way or by none: who took another one would wait for them for ever. */
    if (fd < 0) return strstr(text, ",job=") ? GW_EOTHER : GW_EUNSUPPORTED;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (gw_set.vnodes && *gw_set.vnodes && strcmp(gw_set.vnodes, h.vnodes) != 0)
        rc = gw_fail(GW_EOTHER,
                     "GODWIT_VNODES=%s is set here, but mpiexec has '%s': use mpiexec --vnodes, or set it for mpiexec, too",
                     gw_set.vnodes, h.vnodes);
    /* Ranks need the board to exchange addresses: on faked nodes, and where shared memory is switched off. */
    else if (h.vnodes[0] || !gw_set_lists(gw_set.wires, "shm"))
        rc = boot_board_open(fd, &h);
    if (rc != GW_OK) {
        if (is_new) close(fd);
        return GW_EOTHER; /* the others may have come in */
    }
    const int32_t *node = job_map();
    int *ranks = gw_xmalloc((size_t)h.nlocal * sizeof *ranks), n = 0;
    for (int i = 0; i < h.nlocal; i++)
        if (!node || node[i] == node[local]) ranks[n++] = h.first_rank + i;
    gw_boot.rank = h.first_rank + local;
    gw_boot.size = h.size;
    gw_boot.shm_fd = fd;
    gw_boot.appnum = boot_list_int(text, "app", 0);
    gw_boot.universe_size = boot_list_int(text, "universe", 0);
    gw_boot.parent = h.parent;
    snprintf(gw_boot.jobid, sizeof gw_boot.jobid, "%.31s", h.jobid);
    boot_set_locals(ranks, n);
    boot_host_nlocal = h.nlocal;
    boot_crash_watcher = boot_list_int(text, "crash", 0) ? h.launcher_pid : 0;
    return GW_OK;
}

static int no_board(const char *key)
{
    return gw_fail(GW_EUNSUPPORTED, "ranks of mpiexec on one node meet in their segment and exchange no keys (\"%s\")", key);
}

static int godwit_put(const char *key, const char *value) { return boot_board_head() ? boot_board_put(key, value) : no_board(key); }

static int godwit_get(int rank, const char *key, char *value_out, size_t cap)
{
    return boot_board_head() ? boot_board_get(rank, key, value_out, cap) : no_board(key);
}

static int godwit_commit(void) { return boot_board_head() ? boot_board_commit() : GW_OK; }

static int godwit_fence(void) { return boot_board_head() ? boot_board_fence() : no_board(""); }

static int godwit_hosts(int32_t *host_out)
{
    size_t bytes = (size_t)gw_boot.size * sizeof *host_out;
    if (job_map())
        memcpy(host_out, job_map(), bytes);
    else
        memset(host_out, 0, bytes);
    return GW_OK;
}

static void godwit_leave(void)
{
    if (gw_boot.shm_fd >= 0) close(gw_boot.shm_fd);
    gw_boot.shm_fd = -1;
}

/* mpiexec reads code and text in the slot when the process has ended. */
static void godwit_abort(int code, const char *text) { (void)code, (void)text; }

const struct boot_backend boot_backend_godwit = {
    godwit_offered, godwit_join,  godwit_put, godwit_commit, godwit_fence, godwit_get, godwit_leave,
    godwit_abort,   godwit_hosts, NULL,       NULL,          NULL,         NULL,
};

bool boot_slurm_is_part(void)
{
    const char *step = getenv("SLURM_STEP_NODELIST"), *all = getenv("SLURM_JOB_NODELIST");
    return step && all && strcmp(step, all) != 0;
}
