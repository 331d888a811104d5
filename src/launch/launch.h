/* launch.h -- mpiexec: starts the ranks of a job on this node, forwards their output and input, and ends the job as a whole.
 *
 *   main -> options (options_private.h) -> (several hosts: engine) -> bind -> spawn (segment, keeper, ranks)
 *        -> watch: loop over forward (output, input), deaths, signals, time
 *
 * Whatever happens to mpiexec, no process stays behind.  The kernel kills the ranks when mpiexec dies (PR_SET_PDEATHSIG).  A small keeper
 * process sees its pipe to mpiexec close and then kills the process groups of the ranks, with all that the ranks have started.  Processes
 * that have left these groups (daemons) become children of mpiexec and end with the job (job/orphans.c), unless SIGKILL ends mpiexec.
 *
 * Threads: mpiexec has one, so nothing here takes a lock.  A process runs one job: `j` is the same in all calls, and the state of these
 * files belongs to that job.  Errors: a function that returns an exit status has explained the error on stderr; 0 is success.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_LAUNCH_LAUNCH_H
#define GW_LAUNCH_LAUNCH_H

#include <stdio.h>

#include "bind/bind.h"
#include "job/child.h"
#include "job/job.h"
#include "job/keeper.h"
#include "job/program.h"
#include "job/say.h"
#include "pmi/foreign.h"
#include "pmi/pmi.h"
#include "pmi/pmix.h"
#include "spawned/elsewhere.h"
#include "spawned/spawned.h"
#include "spawned/connected.h"
#include "verdict/where.h"

/* ---- options.c ---- */
/* Fills `o` from the command line.  Returns -1 to go on, else the exit status: of --help, --version, or a misuse that was explained.  Texts
 * in `o` point into argv, or are held by `o`. */
int launch_options_parse(int argc, char **argv, struct launch_options *o);
const char *launch_options_hold(struct launch_options *o, const char *text); /* a copy that launch_options_free() frees */
void launch_options_free(struct launch_options *o);

/* ---- spawn.c ---- */
/* Makes the shared segment, starts the keeper, the servers for other libraries and all ranks.  Returns 0, or an exit status; then no
 * process of the job is left, and j->failed says how far it came. */
int launch_spawn_all(struct job *j);
void launch_spawn_free(struct job *j); /* what launch_spawn_all() made; also after it has failed */

/* ---- meant.c ---- */
/* A word behind the error of a program that could not be executed (why: errno): what was meant, " (...)"; or "".  Good until the next call. */
const char *launch_meant(const struct job *j, const struct launch_app *a, int why);

/* ---- mpir.c: the table of processes for debuggers ---- */
void launch_mpir_fill(const struct job *j); /* once all ranks have started; its texts are the job's */
void launch_mpir_free(void);

/* ---- forward.c ---- */
/* Returns a new epoll descriptor, open until mpiexec ends.  The data of its events is NULL for standard input (ours is readable, or a
 * rank's is writable), else the struct stream that is readable. */
int launch_forward_start(struct job *j);
void launch_forward_output(struct job *j, struct stream *s); /* reads what is there; closes the stream at its end */
/* The same with what an agent has read; no bytes: the stream has ended. */
void launch_forward_take(const struct job *j, struct stream *s, const char *data, size_t len);
void launch_forward_input(struct job *j);
int launch_forward_input_due(struct job *j); /* does what is due; ms until more is, -1: nothing waits */
/* prints partial lines that have waited long; ms until the next is due, -1: none waits */
int launch_forward_flush_stale(struct job *j);
void launch_forward_end(struct job *j); /* after the last rank: prints the rest of all streams and closes them */

/* ---- terminal.c ---- */
/* Standard input is a terminal: does a rank, or what it has started, wait for it?  False in the background. */
bool launch_terminal_is_wanted(const struct job *j);

/* ---- output.c ---- */
/* Before ranks start: decides where each stream goes and opens the files.  Returns 0, or an exit status. */
int launch_output_open(struct job *j);
void launch_output_free(void);
bool launch_output_is_piped(const struct job *j);  /* false: the rank inherits mpiexec's own descriptors */
bool launch_output_is_marked(const struct job *j); /* lines begin with a label, a time or a prefix */
/* Prints the first `len` bytes of the stream's buffer (whole lines, or the beginning of one) and removes them from it. */
void launch_output_print(const struct job *j, struct stream *s, size_t len);
void launch_output_end(const struct job *j, struct stream *s); /* prints the whole buffer; ends a marked line that has no end */
void launch_output_hurry(void);                                /* mpiexec has to end: output that nobody reads is dropped */
void launch_output_pipes(void (*before)(int));                 /* the handler of SIGPIPE before mpiexec ignored that signal */
void launch_output_closed(int fd);                             /* mpiexec was started with descriptor 1 or 2 closed */
bool launch_output_failed(void);                               /* output to standard output, or to a file, was lost */
void launch_output_lost(int rank, int why);                    /* of a rank whose output cannot be read: said, and a failure */

/* ---- watch.c ---- */
int launch_watch(struct job *j); /* runs until all ranks and spawned jobs have ended; returns the exit status of the job */
/* Sends a signal to the process groups of all living ranks, and to the mpiexecs of spawned jobs (for SIGSTOP these get SIGTSTP, which
 * they pass on). */
void launch_kill_all(const struct job *j, int sig);
/* For an agent: ends the ranks, and with `all` jobs that they have spawned; does what a signal of that number does to mpiexec. */
void launch_end(struct job *j, int sig, int status, bool all);
void launch_signal(struct job *j, int sig);
int launch_signals_open(void); /* blocks the signals that mpiexec handles: a descriptor to read them from; -1: errno says why */

/* ---- home.c ---- */
int launch_home(struct job *j); /* runs a job on several hosts by agents of our own; returns its exit status */

/* ---- agent.c ---- */
int launch_agent_begin(struct job *j); /* fills the job from what mpiexec orders.  -1: go on; else the exit status */
int launch_agent_open(void); /* a descriptor that is readable when launch_agent_serve() has something to do; -1: errno says why */
void launch_agent_serve(struct job *j);
void launch_agent_look(struct job *j); /* after the PMI server has served: what ranks of other hosts must hear of */
int launch_agent_due(struct job *j);   /* does what is due; ms until more is, -1: nothing */
void launch_agent_output(const struct job *j, const struct stream *s, const char *data, size_t len); /* no bytes: it has ended */
void launch_agent_failed(int status);         /* a rank has failed, and those of this host end */
void launch_agent_end(struct job *j, int rc); /* nothing of the job runs here any more */

#endif
