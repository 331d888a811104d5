/* launch.h -- mpiexec: starts the ranks of a job on this node, forwards their output and input, ends them together.
 *
 *   main -> options (options_private.h) -> (several hosts: engine) -> bind -> spawn (segment, keeper, ranks)
 *        -> watch: loop over forward (output, input), deaths, signals, time
 *
 * Whatever happens to mpiexec, nothing stays behind: ranks die with it (PR_SET_PDEATHSIG), and a small keeper process, which
 * sees its pipe to mpiexec close, kills the process groups of the ranks, that is, also what they started.  What has left these groups
 * (daemons) becomes mpiexec's child, and ends with the job (job/orphans.c), unless mpiexec is killed by SIGKILL.
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

/* Returns -1 to go on, else the exit status: --help, --version, or a misuse that has been explained on stderr. */
int launch_options_parse(int argc, char **argv, struct launch_options *o);
const char *launch_options_hold(struct launch_options *o, const char *text); /* a copy that lives as long as o */
void launch_options_free(struct launch_options *o);

/* spawn.c */
int launch_spawn_all(struct job *j); /* 0, or an exit status after an explanation */
void launch_spawn_free(struct job *j);
/* mpir.c: the table of processes for debuggers, once all have started. */
void launch_mpir_fill(const struct job *j);
void launch_mpir_free(void);
/* forward.c */
int launch_forward_start(struct job *j); /* returns an epoll descriptor; events carry NULL for standard input, else the stream */
void launch_forward_output(struct job *j, struct stream *s);
void launch_forward_input(struct job *j);      /* our standard input, or a rank's, is ready */
int launch_forward_flush_stale(struct job *j); /* prints partial lines that have waited long; ms until the next is due, -1: none */
void launch_forward_end(struct job *j);        /* the rest of everything */
/* output.c */
int launch_output_open(struct job *j); /* before ranks start: where each stream goes; 0, or an exit status after an explanation */
void launch_output_free(void);
bool launch_output_is_piped(const struct job *j);  /* else a rank writes straight to where mpiexec writes */
bool launch_output_is_marked(const struct job *j); /* lines begin with something */
void launch_output_print(const struct job *j, struct stream *s,
                         size_t len); /* the first bytes of what it holds: whole lines, or the begin of one */
void launch_output_end(const struct job *j, struct stream *s); /* all that it holds */
void launch_output_hurry(void);                                /* we are to end: what nobody takes is dropped */
void launch_output_pipes(void (*before)(int));                 /* what SIGPIPE did before we had it ignored */
void launch_output_closed(int fd);                             /* our own descriptor was closed when we came */
bool launch_output_failed(void); /* something of standard output, or of a file, could not be written */
/* watch.c */
int launch_watch(struct job *j);                    /* until all are gone; the exit status */
void launch_kill_all(const struct job *j, int sig); /* all that live, with what they started */

#endif
