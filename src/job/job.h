/* job.h -- shared by the rooms of mpiexec: the options of a job, and its state while it runs.
 *
 * mpiexec has one thread and runs one job.  Texts in struct launch_options point into argv or into its `held`; struct job owns the arrays
 * that it points to.
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

/* Which variables of mpiexec's environment a program gets, beside those that options set. */
enum env_from { ENV_UNSAID, ENV_ALL, ENV_NONE, ENV_LIST };
struct env_wanted {
    enum env_from from;
    const char *names; /* ENV_LIST: names separated by commas */
};

enum { APP_WORDS = 32 }; /* of a wrapper's line, as `nice -n 5 ./a.out`, that may be programs */
/* One program of the job, as given between two `:` of the command line. */
struct launch_app {
    int n, asked; /* ranks, and how many were asked for: `soft` may make them fewer */
    bool n_given;
    const char *n_said; /* as which option */
    const char *said;   /* the last of its options; NULL: none */
    const char *last;   /* the last option before the program, of the job's too */
    const char *taken;  /* the word behind that, which is its value; NULL: none */
    int c;              /* -c: ranks, or beside -n cores for each of them */
    bool c_given;
    int dropped;      /* programs before it in the command line that get no rank (-n 0), and are not in launch_options.apps */
    const char *soft; /* allowed numbers of ranks (-soft, and the info key of a spawn); NULL: any */
    char **argv;
    struct words env; /* NAME=VALUE */
    struct env_wanted inherits;
    const char *wdir;       /* folder to start in; NULL: that of mpiexec */
    const char *path;       /* folders that are searched for the program before PATH; NULL: none */
    const char *file;       /* file with more options of the program; NULL: none */
    uint8_t mpi[APP_WORDS]; /* 1 + enum program_mpi of these words of argv; 0: not looked at yet (pmi/doors.c) */
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
    int bind_count;       /* units for each rank; 0 is 1 */
    int depth;            /* cores for each rank (-d, --cpus-per-task, PE=N), where the binding leaves that open; 0: not given */
    bool by_node;         /* ranks go round the nodes, not block by block */
    const char *user;     /* BIND_USER: CPUs rank by rank */
    enum unit map;        /* UNIT_CORE: neighbours side by side, the default; else ranks go round these units */
    int ppr;              /* number of ranks on each such unit; 0: not given */
    const char *ppr_said; /* the option that says so, as it was typed */
    enum unit rank_by;    /* ranks are numbered round these units; UNIT_CORE: one unit after the other */
    bool rank_by_given;
    const char *cpu_set; /* only these CPUs are used; NULL: all that mpiexec may use */
    const char *rankfile;
    int rankfile_ranks;  /* number of ranks in that file */
    const char *numa;    /* only the cores of these NUMA nodes are used, a list by the kernel's numbers; NULL: of all */
    int numa_most;       /* only those of so many NUMA nodes; 0: of all */
    const char *membind; /* memory policy; NULL: that of the kernel */
    int reserve;         /* number of cores that no rank runs on, for progress threads */
};

/* What happens with the ranks' output. */
struct output_wanted {
    bool label, timestamp, merged;
    const char *prefix;  /* pattern of the mark of each line; NULL: none */
    const char *file[2]; /* pattern of the names of files for standard output and errors; NULL: they go to mpiexec's */
    bool by_task[2];     /* %t in the pattern is the rank, as in Slurm; else the time, as in Hydra */
    bool copied;         /* output goes to the files and to mpiexec's output */
    int only[2];         /* 0: output of all ranks is printed; STREAM_NONE: of none; else 1 + the rank whose output is */
};
enum { STREAM_NONE = -1 };

enum { STDIN_NONE = -1, STDIN_ALL = -2 };
enum pmix_mode { PMIX_AUTO, PMIX_ON, PMIX_OFF };
/* How options were typed whose values are judged when all are known; NULL: by no option. */
struct launch_said {
    const char *cpu_set, *depth, *no_oversubscribe, *numa, *only[2], *rankfile, *reserve, *stdin_rank, *user;
};
struct launch_wrapper {
    const char *option, *library; /* the library is libgodwit_LIBRARY.so */
    const char *if_idle;          /* what comes of it where no rank calls MPI_Init: the end of a sentence */
};

struct launch_options {
    struct launch_app *apps;
    int n_apps, n_ranks;
    struct words env; /* for all programs */
    struct env_wanted inherits;
    struct place_wanted place;
    struct output_wanted output;
    enum pmix_mode pmix;
    int stdin_rank; /* the rank that gets standard input, or STDIN_NONE, STDIN_ALL */
    bool verbose, quiet, exit_codes;
    const struct launch_wrapper *wrapper; /* the library of wrappers that the ranks get; NULL: none */
    const char *preload;                  /* its file */
    bool oversubscribe, no_oversubscribe; /* ranks may share cores without a note; must not share cores */
    bool show_map, no_launch;
    bool no_cleanup;   /* when a rank fails, the others go on */
    bool stacks;       /* print stacks when the time is up */
    bool crash_stacks; /* trace the ranks, to print the stack of a rank that crashes */
    int order;         /* 1 + enum boot_order; 0: none */
    const char *order_file;
    const char *vnodes;  /* faked nodes, in the format of GODWIT_VNODES; NULL: none */
    const char *reorder; /* --reorder; NULL: not given, "": auto */
    const char *gdb;     /* ranks under gdb: a list, "" for all; NULL: none */
    double timeout;      /* seconds, 0: none */
    long cpu_time;       /* seconds that each rank may compute; 0: mpiexec's own limit */
    struct hosts hosts;  /* hosts of the command line */
    const char *default_hostfile;
    int ppn;              /* ranks per host; 0: not given */
    const char *ppn_said; /* the option that says so, as it was typed */
    const char *nodes;    /* how many hosts get ranks, "MIN" or "MIN-MAX", and these numbers; NULL: not given */
    int nodes_least, nodes_most;
    int usize;          /* universe size (-usize); 0: not given */
    const char *engine; /* engine for jobs on several hosts; NULL: the first that is installed */
    const char *report_pid;
    const char *only_here;     /* an option that no engine has; NULL: none was given */
    struct words mca_unknown;  /* parameters of Open MPI without effect */
    struct words taken, noted; /* other options without effect, with the reason; `noted` is said */
    struct launch_said said;
    struct words held; /* texts that other fields point to */
};
/* Where each rank may run. */
struct bind_map {
    int n_cores; /* that mpiexec may use */
    void **set;  /* [ranks] cpu_set_t of `bytes` bytes; NULL: ranks are not bound */
    size_t bytes;
    char *reserved;     /* CPUs of the reserved cores, as a list; NULL: there are none */
    const char *memory; /* policy of -membind; NULL: the kernel's */
};
/* One stream of one rank. */
struct stream {
    int fd; /* -1: closed */
    int rank;
    struct sink *to, *also; /* where the output is written; NULL: nowhere */
    char *buf;              /* output that was not printed yet */
    size_t len, cap;
    bool is_far;     /* its bytes are brought by an agent; fd is -1 */
    bool mid_line;   /* the beginning of the line in buf has been printed */
    uint64_t since;  /* ns: when the first byte of the partial line came */
    uint64_t looked; /* ns: `since`, or the last look whether the rank continues the line */
    uint64_t turns;  /* number of times the rank had got a core at that look */
};
struct rank {
    pid_t pid;             /* 0: it has ended */
    pid_t was;             /* what pid was */
    int app, status;       /* status: as of waitpid */
    bool is_ended;         /* mpiexec has killed it because it has aborted the job: its status means nothing */
    int pmi_fd;            /* the rank's descriptor of its PMI connection; -1: none */
    _Atomic uint64_t ways; /* by which its programs have come to our servers: pmi/foreign.c */
    uint64_t libraries;    /* that these programs have loaded */
    int n_libraries;       /* how many programs were looked at */
    int in_fd;             /* write end of its standard input; -1: it has none of ours */
    size_t in_done;        /* bytes of the present piece of input that it has got */
    bool in_waits;         /* epoll waits for room in its pipe */
    struct stream out, err;
};
/* A job that a rank has spawned: its mpiexec (spawned.c). */
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
/* What an agent knows of the job whose ranks of this host it has started. */
struct job_part {
    int first, size;       /* its first rank; ranks of the whole job; 0: this process is no agent */
    bool is_met_by_others; /* a rank of another host has called MPI_Init */
    const char *mapping;   /* PMI_process_mapping */
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
    int exit_status;          /* the exit status of mpiexec */
    bool ending;              /* the ranks have been told to end */
    bool ending_all;          /* and also all jobs that they have spawned, connected or not */
    unsigned failed;          /* why the start failed: AFTER_... of doctor.h */
    int failed_app;           /* the program that failed to start */
    int room;                 /* number of ranks that could be started; -1: that was not the reason */
    struct boot_gate control; /* the port for requests of ranks to spawn jobs */
    struct sub *subs;
    int n_subs, spawned; /* spawned jobs that run; all that were spawned */
    int used;            /* ranks of other jobs on the same cores */
    char name[64];       /* of a spawned job, such as 1 or 1.2; "": the job was not spawned, and the fields below are not used */
    int parent_fd;       /* connection to the rank that has spawned this job; -1: closed */
    uint64_t uid;        /* uid of the world, from the mpiexec of the parent; 0: none was given */
    struct boot_port parent; /* where the parent waits for the ranks */
    uint64_t parent_uid;     /* uid of its world */
    double patience;         /* seconds that the parent waits; 0: for ever */
    bool met, bye;           /* the parent has met the ranks; has disconnected from them */
    bool is_alone;           /* the parent has no mpiexec: this one has its environment */
    bool bad_value;          /* the start failed because of the value of an info key */
    bool may_stay;           /* no other hosts were asked for */
    char elsewhere[256];     /* why an engine starts this job; "": mpiexec starts it on this host */
    struct job_part part;    /* of an agent (doc/adr/0038) */
};
/* The rank in the job, and its size: `rank` and n count those that this process has started. */
static inline int job_rank(const struct job *j, int rank) { return j->part.first + rank; }
static inline int job_size(const struct job *j) { return j->part.size ? j->part.size : j->n; }
static inline struct boot_rank *job_slot(const struct job *j, int rank)
{
    return (struct boot_rank *)((char *)j->head + j->head->ranks_offset) + rank;
}

/* LD_PRELOAD=VALUE with the library of wrappers first, and then what `also` says (NULL: nothing): users' tools get their calls from there.
 * The caller frees it. */
char *job_preload(const struct launch_options *o, const char *also);
int job_universe(const struct job *j); /* the universe size: at least the number of ranks */
/* Kills a rank that has aborted the job through a PMI server, and does not exit by itself. */
void job_end_rank(struct job *j, int rank);

#endif
