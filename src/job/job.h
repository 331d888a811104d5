/* job.h -- shared by the rooms of mpiexec: the options of a job, and its state while it runs.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_JOB_JOB_H
#define GW_JOB_JOB_H

#include <stdio.h>
#include <sys/types.h>

#include "boot/boot.h"
#include "boot/port.h"
#include "boot/segment.h"
#include "job/hosts.h"
#include "job/words.h"

enum { MAX_RANKS = 1 << 16, HOST_NAME_MOST = 253, EXIT_USAGE = 2, EXIT_TIMEOUT = 124, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

/* What a program gets of mpiexec's environment, beside what options set. */
enum env_from { ENV_UNSAID, ENV_ALL, ENV_NONE, ENV_LIST };
struct env_wanted {
    enum env_from from;
    const char *names; /* of ENV_LIST, with commas */
};

/* One program of the job: what stands between two `:`. */
struct launch_app {
    int n; /* ranks */
    bool n_given;
    const char *soft; /* numbers of ranks that are allowed; NULL: any */
    char **argv;
    struct words env; /* NAME=VALUE */
    struct env_wanted inherits;
    const char *wdir; /* NULL: where mpiexec stands */
    const char *path; /* folders to look for the program in first; NULL: none */
    const char *file; /* that holds more of its options; NULL: none */
};

/* What a rank is bound to.  SHARE: an equal share of the cores, the default. */
enum bind_to {
    BIND_SHARE,
    BIND_CORE,
    BIND_NUMA,
    BIND_NONE,
    BIND_HWTHREAD,
    BIND_L2,
    BIND_L3,
    BIND_PACKAGE,
    BIND_MACHINE,
    BIND_USER
};
/* Parts of a machine, small to large. */
enum unit { UNIT_CORE, UNIT_L2, UNIT_L3, UNIT_NUMA, UNIT_PACKAGE, UNIT_MACHINE };
struct place_wanted {
    enum bind_to bind;
    int bind_count;    /* units for each rank; 0 is 1 */
    const char *user;  /* BIND_USER: CPUs rank by rank */
    enum unit map;     /* UNIT_CORE: neighbours side by side, the default; else ranks go round these */
    int ppr;           /* so many ranks on each such unit; 0: not said */
    enum unit rank_by; /* places are numbered going round these; UNIT_CORE: one unit after the other */
    bool rank_by_given;
    const char *cpu_set; /* these CPUs alone; NULL: all that we may use */
    const char *rankfile;
    int rankfile_ranks;  /* that it has lines for */
    const char *membind; /* policy, NULL: the kernel's */
    int reserve;         /* cores that no rank runs on: for progress threads */
};

/* What happens with the ranks' output. */
struct output_wanted {
    bool label, timestamp, merged;
    const char *prefix;  /* pattern that lines begin with; NULL: none */
    const char *file[2]; /* pattern of the names of files for standard output and errors; NULL: they go to mpiexec's */
    bool by_task[2];     /* its %t is the rank, as Slurm has it; else seconds, as Hydra has it */
    bool copied;         /* mpiexec's own output gets it, too */
    int only[2];         /* 0: all ranks are printed; STREAM_NONE: nobody is, else 1 + the rank that is */
};
enum { STREAM_NONE = -1 };

enum { STDIN_NONE = -1, STDIN_ALL = -2 };
enum pmix_mode { PMIX_AUTO, PMIX_ON, PMIX_OFF };

struct launch_options {
    struct launch_app *apps;
    int n_apps, n_ranks;
    struct words env; /* for all programs */
    struct env_wanted inherits;
    struct place_wanted place;
    struct output_wanted output;
    enum pmix_mode pmix;
    int stdin_rank; /* or STDIN_NONE, STDIN_ALL */
    bool verbose, quiet, exit_codes, profile;
    const char *wrapper;                  /* the option whose library of wrappers the ranks get; NULL: none */
    bool oversubscribe, no_oversubscribe; /* the user knows that ranks share cores; he does not want it */
    bool show_map, no_launch;
    bool no_cleanup;   /* the others go on when a rank fails */
    bool stacks;       /* print them when the time is up */
    bool crash_stacks; /* trace the ranks, to print the stack of one that crashes */
    int order;         /* 1 + enum boot_order; 0: none */
    const char *order_file;
    const char *vnodes;  /* faked nodes, as GODWIT_VNODES says it; NULL: none */
    const char *reorder; /* --reorder; NULL: it was not there, "": auto */
    const char *gdb;     /* ranks under gdb: a list, "" for all; NULL: none */
    double timeout;      /* seconds, 0: none */
    struct hosts hosts;  /* that the command names */
    const char *default_hostfile;
    int ppn;            /* ranks a host, 0: not said */
    int usize;          /* ranks that the job should count on; 0: not said */
    const char *engine; /* who starts a job of several hosts; NULL: whoever is there */
    const char *report_pid;
    const char *only_here;    /* an option that an engine would not know; NULL: none */
    struct words mca_unknown; /* parameters of Open MPI that are of no effect */
    struct words held;        /* texts that the others point to */
};
/* Where each rank may run. */
struct bind_map {
    int n_cores; /* that we may use */
    void **set;  /* [ranks] cpu_set_t of bind_bytes, NULL: anywhere */
    size_t bytes;
    char *reserved;     /* CPUs of the reserved cores, as a list; NULL: there are none */
    const char *memory; /* policy of -membind; NULL: the kernel's */
};
/* One stream of one rank. */
struct stream {
    int fd; /* -1: closed */
    int rank;
    struct sink *to, *also; /* where it is written; NULL: nowhere */
    char *buf;              /* the line so far */
    size_t len, cap;
    bool mid_line;   /* the begin of this line has been printed */
    uint64_t since;  /* ns: when the oldest byte of the line without an end came */
    uint64_t looked; /* ns: since, or when we looked whether the rank goes on with the line */
    uint64_t turns;  /* how often it had had a core by then */
};
struct rank {
    pid_t pid;       /* 0: gone */
    pid_t was;       /* what pid was */
    int app, status; /* status: as of waitpid */
    bool is_ended;   /* by us, because it has aborted the job: its status says nothing */
    int pmi_fd;      /* its PMI_FD */
    int in_fd;       /* write end of its standard input, -1 */
    size_t in_done;  /* of the piece of input under way */
    bool in_waits;   /* for room in its pipe */
    struct stream out, err;
};
/* A job that a rank asked for, and its mpiexec (spawned.c). */
struct sub {
    pid_t pid;
    uint64_t uid;
    char name[64];
}; /* uid: of its world */
struct sub_end {
    int code;
    bool by_signal;
    uint64_t uid;
    char name[64];
};
struct job {
    struct launch_options o;
    struct rank *ranks;
    int n, alive;
    struct boot_head *head; /* the segment that the ranks share */
    int memfd;
    pid_t keeper;
    int keeper_pipe;
    char host[64];
    struct bind_map bind;
    bool pmix;                /* the ranks are offered PMIx */
    int pmi;                  /* and PMI-1; -1: they are not */
    int exit_status;          /* what mpiexec will return */
    bool ending;              /* the others have been told to end */
    bool ending_all;          /* and also the jobs that they asked for, connected or not */
    unsigned failed;          /* why the start failed: AFTER_... of doctor.h */
    int failed_app;           /* and of which program */
    int room;                 /* so many ranks could be started; -1: that is not why */
    struct boot_gate control; /* where ranks ask for more jobs; closed: nowhere */
    struct sub *subs;
    int n_subs, spawned;     /* that live; that ever were */
    int used;                /* ranks of other jobs that share our cores */
    char name[64];           /* of a spawned job, such as 1 or 1.2; "": it is none, and the rest does not count */
    int parent_fd;           /* the connection of the rank that asked for it, -1: closed */
    uint64_t uid;            /* of our world, given by the mpiexec that started us; 0: none was */
    struct boot_port parent; /* where it waits for us */
    uint64_t parent_uid;     /* its world */
    double patience;         /* seconds until it does not wait any more, 0: for ever */
    bool met, bye;           /* it has met us; it may go without us */
    bool is_alone;           /* it has no mpiexec: we have its environment */
    bool bad_value;          /* why the start failed: the value of an info key */
    bool may_stay;           /* nobody has asked for other hosts */
    char elsewhere[256];     /* why an engine starts this job; "": it runs on this host */
};
static inline struct boot_rank *job_slot(const struct job *j, int rank)
{
    return (struct boot_rank *)((char *)j->head + j->head->ranks_offset) + rank;
}

int job_universe(const struct job *j); /* how many processes the job may count on in all: no fewer than there are */
/* It has aborted the job by a server of ours, and does not exit by itself. */
void job_end_rank(struct job *j, int rank);

#endif
