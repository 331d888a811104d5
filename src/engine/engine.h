/* engine.h -- jobs on several hosts: mpiexec does not start processes on other hosts itself, it runs a process manager (engine).
 *
 * Slurm's srun or Flux within an allocation of theirs; for a list of hosts agents of mpiexec's own by ssh (own: launch/home.c runs these), or where
 * there is no ssh, and where a batch system names the hosts, PRRTE's prterun, Open MPI's mpirun or MPICH's Hydra, whichever is installed.
 * --engine NAME selects one; `none`: this machine only.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_ENGINE_ENGINE_H
#define GW_ENGINE_ENGINE_H

#include "job/hosts.h"
#include "job/job.h"
#include "job/words.h"

enum engine_kind { ENGINE_NONE, ENGINE_SRUN, ENGINE_FLUX, ENGINE_PRTE, ENGINE_OPENMPI, ENGINE_HYDRA, ENGINE_OWN };
struct engine {
    enum engine_kind kind;
    char path[512], version[64]; /* version: "Slurm 22.05.8" */
    bool has_pmix;               /* srun: --mpi=pmix is there, else pmi2 */
    bool in_step;                /* srun: we are a step ourselves, whose cores are to be shared */
    bool is_root;
    int nodes, cpus; /* of the allocation; 0: not known */
};
/* What identifies a program by what it says of its version; ENGINE_NONE: it is none of them. */
enum engine_kind engine_of_version(const char *text, char *version_out, size_t cap);
/* What a line of srun's says of a task that failed: its exit status; 0: nothing. */
int engine_status_of_line(const char *line);
/* Is the job one for several hosts?  Fills o->hosts from the batch system where the command names none.  why_out: in what way. */
bool engine_is_needed(struct launch_options *o, char *why_out, size_t cap);
/* Its command line, without the path, and what to add to its environment.  `counts`: ranks of each of o->hosts. */
void engine_words(const struct engine *e, const struct launch_options *o, const int *counts, char **env, struct words *argv_out,
                  struct words *env_out);
/* Adds the variables of --profile and the like (o->preload) to o->env, and to programs that have an LD_PRELOAD of their own. */
void engine_words_wrapper(struct launch_options *o);
/* Finds an engine, says which in one line, runs it: the exit status of the job, or of a misuse that has been explained.
 * spawned: the job is one of MPI_Comm_spawn, and the explanations are for who asked for it; -1: it may stay on this host, and there is no
 * engine.  NULL: it is none.  ENGINE_IS_OURS: nothing was started; agents of mpiexec itself are to start o->n_ranks on o->hosts. */
enum { ENGINE_IS_OURS = -2 };
int engine_run(struct launch_options *o, const char *why, struct job *spawned);
/* alive.c: starts failure detection of hosts, until the process ends.  True: started.  from_start: a host that never was reachable
 * from here is silent, too, as the engine may wait for it for ever. */
bool engine_alive_start(const struct hosts *hosts, double patience, bool from_start);
/* A host that has not answered for `patience` seconds; *never_out: nor before.  NULL: none. */
const char *engine_alive_silent(bool *never_out);
/* A host to which there is no way from here, where that ends nothing: told once.  NULL: none. */
const char *engine_alive_unreached(void);
#endif
