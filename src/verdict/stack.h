/* stack.h -- `mpiexec --stack`: the stacks of all ranks of a running job, merged as a tree.
 *
 *   stack_main -> verdict_jobs_find -> (gdb or eu-stack on each rank) -> stack_parse -> stack_tree
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_VERDICT_STACK_H
#define GW_VERDICT_STACK_H

#include "boot/segment.h"
#include "job/job.h"
#include "job/words.h"

/* stack_tree.c: pure functions */
struct stack {
    int rank;
    struct words frames; /* outermost first: "solve (sum.c:12)" */
};
struct stacks {
    struct stack *at;
    int n;
};

/* Parses output of gdb or eu-stack, and adds the stacks of all threads of a rank.  Unless `whole`, frames outside of main (or of a thread's
 * start function) and inside of the MPI call are dropped.  Returns the number of stacks. */
int stack_parse(struct stacks *s, const char *text, int rank, bool whole);
void stack_free_all(struct stacks *s);
/* Stacks with equal frames share a line:
 *
 *   [0-3] main (a.c:30) / solve (a.c:12)
 *     [0-2] PMPI_Allreduce
 *     [3] PMPI_Recv
 *
 * Ranks of a line that are on none of the lines below it are in its last frame.  "(8 threads)": a rank is there with several threads.  The
 * caller frees the text. */
char *stack_tree(const struct stacks *s);
char *stack_ranks_text(const int *ranks, int n); /* ascending, repeats allowed: "0-2,5"; caller frees */

/* jobs.c: the jobs of this user on this machine, found by the segments that the mpiexecs hold. */
struct running_rank {
    int rank;
    pid_t pid;
};
struct running_job {
    pid_t launcher;
    char id[32];
    char *command;              /* of mpiexec */
    struct running_rank *ranks; /* ascending */
    int n;                      /* ranks that are there */
    int size;                   /* of the job */
};
struct running_jobs {
    struct running_job *at;
    int n;
};
void verdict_jobs_find(bool of_all_users, struct running_jobs *found_out);
void verdict_jobs_free(struct running_jobs *jobs);
/* Of ranks that wait for words of their own memory: verdict_words() of the ranks of the job; NULL: none does.  The caller frees it. */
char *verdict_jobs_words(const struct running_job *j);
/* The segment that a process holds as its launcher, of the same user; -1: it is no mpiexec. */
int verdict_jobs_segment_open(pid_t pid, struct boot_head *head_out);

/* Prints the stacks of one rank to standard error: of the process, or why there are none, or, if core is not NULL, from that core file of
 * `program`.  False: no debugger is installed, or it printed nothing of the core file. */
bool stack_say(int rank, pid_t pid, const char *program, const char *core);

/* `mpiexec --stack ...`, argv[0] is "--stack" or "--stack=JOB"; the exit status. */
int stack_main(int argc, char **argv);
#endif
