/* launch.h -- mpiexec: starts the ranks of a job on this node, forwards their output and input, ends them together.
 *
 *   main -> options (options_private.h) -> (several hosts: engine) -> bind (place.h) -> spawn (segment, keeper, ranks)
 *        -> watch: loop over forward (output, input), deaths, signals, time
 *
 * Whatever happens to mpiexec, nothing stays behind: ranks die with it (PR_SET_PDEATHSIG), and a small keeper process, which
 * sees its pipe to mpiexec close, kills the process groups of the ranks, that is, also what they started.  What has left these groups
 * (daemons) becomes mpiexec's child, and ends with the job (orphans.c), unless mpiexec is killed by SIGKILL.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_LAUNCH_LAUNCH_H
#define GW_LAUNCH_LAUNCH_H

#include <stdio.h>
#include <sys/types.h>

#include "boot/boot.h"

enum { MAX_RANKS = 1 << 16, HOST_NAME_MOST = 253, EXIT_USAGE = 2, EXIT_TIMEOUT = 124, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

/* Which words a list of strings holds; grows. */
struct words {
    char **at;
    int n;
};
void words_add(struct words *w, const char *text);
void words_free(struct words *w);

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

struct host {
    char *name;
    int slots;
}; /* slots 0: not said */
struct hosts {
    struct host *at;
    int n;
    char *bad;
}; /* bad: the first word that names no host, to be shown; NULL: there is none */

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
    bool oversubscribe, no_oversubscribe; /* the user knows that ranks share cores; he does not want it */
    bool show_map, no_launch;
    bool no_cleanup;   /* the others go on when a rank fails */
    bool stacks;       /* print them when the time is up */
    bool crash_stacks; /* trace the ranks, to print the stack of one that crashes */
    int order;         /* 1 + enum boot_order; 0: none */
    const char *order_file;
    const char *vnodes; /* faked nodes, as GODWIT_VNODES says it; NULL: none */
    const char *gdb;    /* ranks under gdb: a list, "" for all; NULL: none */
    double timeout;     /* seconds, 0: none */
    struct hosts hosts; /* that the command names */
    const char *default_hostfile;
    int ppn;            /* ranks a host, 0: not said */
    int usize;          /* ranks that the job should count on; 0: not said */
    const char *engine; /* who starts a job of several hosts; NULL: whoever is there */
    const char *report_pid;
    const char *only_here;    /* an option that an engine would not know; NULL: none */
    struct words mca_unknown; /* parameters of Open MPI that are of no effect */
    struct words held;        /* texts that the others point to */
};
/* Returns -1 to go on, else the exit status: --help, --version, or a misuse that has been explained on stderr. */
int options_parse(int argc, char **argv, struct launch_options *o);
const char *options_hold(struct launch_options *o, const char *text); /* a copy that lives as long as o */
void options_free(struct launch_options *o);

/* hosts.c */
void hosts_add(struct hosts *h, const char *list);         /* "n1,n2:4" */
const char *hosts_read(struct hosts *h, const char *path); /* NULL, or why not, in words */
bool host_is_name(const char *name, size_t n);             /* what an engine may be given: lists keep nothing else */
void hosts_expand(struct hosts *h, const char *list);      /* Slurm's "n[1-3,07],m4" */
bool host_is_here(const char *name);
const char *hosts_foreign(const struct hosts *h);                     /* the first that is another machine, or NULL */
bool hosts_are_here(const char *list, char *foreign_out, size_t cap); /* else foreign_out gets that one */
int hosts_slots(const struct hosts *h, int ppn);                      /* of all; one for each host of which nothing is said */
bool hosts_say_slots(const struct hosts *h);                          /* of each of them */
void hosts_place(const struct hosts *h, int n_ranks, int ppn, int *counts_out);
void hosts_free(struct hosts *h);

/* Where each rank may run. */
struct bind_map {
    int n_cores; /* that we may use */
    void **set;  /* [ranks] cpu_set_t of bind_bytes, NULL: anywhere */
    size_t bytes;
    char *reserved;     /* CPUs of the reserved cores, as a list; NULL: there are none */
    const char *memory; /* policy of -membind; NULL: the kernel's */
};
int bind_check(struct launch_options *o); /* names cores that are not here: the exit status, after an explanation; else -1 */
void bind_make(const struct launch_options *o, struct bind_map *m_out);
void bind_free(struct bind_map *m, int n_ranks);
void bind_print(const struct bind_map *m, int n_ranks);
void bind_show(const struct launch_options *o, const struct bind_map *m, const char *host); /* on standard output: --display-map */
int bind_memory(const struct bind_map *m, int rank); /* this process's memory policy; 0 or errno */
int bind_cores(
    const struct launch_options
        *o); /* cores (not hardware threads) that may be used, at most what a CPU quota leaves; NULL: no option limits them */
int bind_units(const struct launch_options *o, enum unit unit); /* so many of them there are */

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

/* spawn.c */
int job_universe(const struct job *j); /* how many processes the job may count on in all: no fewer than there are */
int spawn_all(struct job *j);          /* 0, or an exit status after an explanation */
void spawn_free(struct job *j);
/* program.c: by the libraries that the file names.  NONE: no MPI library, and it neither starts programs nor opens libraries (hostname);
 * UNKNOWN: it may (a script, a shell, nice, what is linked statically). */
enum program_mpi { PROGRAM_UNKNOWN, PROGRAM_NONE, PROGRAM_OURS, PROGRAM_PMIX, PROGRAM_MPICH };
enum program_mpi program_mpi(const char *name, const char *wdir); /* wdir: NULL, or where it will start */
enum program_mpi program_mpi_of_library(const char *name);        /* such as libmpi.so.40 */
char *program_find(const char *name,
                   const char *wdir); /* its path, by PATH where it has no slash; NULL: not there.  Caller frees. */
enum program_is { PROGRAM_OTHER, PROGRAM_TEXT, PROGRAM_SCRIPT, PROGRAM_ELF }; /* TEXT: no #!, but sh may know what to do */
struct program_file {
    enum program_is is;
    bool other_machine; /* compiled for another kind of processor */
    char loader[256];   /* who runs it: the interpreter of a script, the dynamic loader; "": nobody */
};
void program_read(const char *path, struct program_file *f_out);
bool program_holds(const char *path, const char *word); /* whether the file can be read and has these bytes */
/* foreign.c: what is done for programs of other MPI libraries. */
int foreign_start(struct job *j); /* starts the servers that they may ask: 0, or an exit status after an explanation */
/* A server has learnt how far a rank of another library is, which does not write to its slot itself.  Any thread. */
void foreign_phase(struct job *j, int rank, enum boot_phase phase);
int foreign_look(const struct job *j); /* has a process loaded one while no rank has asked?  ms until the next look, -1: never */
void foreign_say(const struct job *j); /* at the end: it was so */
/* pmi_server.c: PMI-1 for the ranks; all in mpiexec's one thread. */
int pmi_start(struct job *j);                 /* 0 or errno; j->pmi becomes readable where pmi_serve() has something to do */
int pmi_offer(const struct job *j, int rank); /* the rank's end of a new connection, which the caller closes; -1: errno says why */
void pmi_serve(struct job *j);
void pmi_stop(struct job *j);
/* pmix_server.c: PMIx for the ranks. */
int pmix_start(struct job *j,
               bool is_wanted); /* 0, or an exit status after an explanation; not wanted: without one, nothing is left */
void pmix_env(const struct job *j, int rank, struct words *own); /* adds what the rank needs to find the server */
const char *pmix_name(void);                                     /* of the namespace of our ranks, "": no server was started */
void pmix_stop(void);
/* mpir.c: the table of processes for debuggers, once all have started. */
void mpir_fill(const struct job *j);
void mpir_free(void);

/* child.c.  RULE: a pid is our child's until it is reaped, and may be anybody's from then on.  So all of launch looks first at who has ended
 * (child_ended leaves it there, as a zombie), kills what it left behind, forgets its pid wherever it is noted, and reaps it last.
 * Only pids that are noted, and so are not reaped, are signalled; a group by its leader's pid under the same condition. */
pid_t child_ended(pid_t pid,
                  int *status_out);        /* that one (-1: any): its pid, and how, as of waitpid; 0: not yet; -1: there is none */
enum { CHILD_STOPPED = -2 };               /* a traced one (crash.c) has stopped, and is to be looked at before the others */
void child_reap(pid_t pid);                /* waits for it if it has not ended */
void child_kill(pid_t pid, int sig);       /* of a child that is not reaped; 0: nobody */
void child_group_kill(pid_t pid, int sig); /* and what it started */
/* For who is not the parent (the keeper): the group that this process leads or led, known by when it started (process_start() then). */
void stranger_group_kill(pid_t pid, uint64_t start, int sig);
uint64_t process_start(pid_t pid);             /* in the kernel's ticks; 0: it is gone, or nobody says */
pid_t process_parent(pid_t pid);               /* 0: it is gone, or nobody says */
bool child_wait(pid_t pid, uint64_t until_ns); /* until it has ended, and is to be reaped; false: it has not, at that time */

/* orphans.c: what ranks have started and left behind becomes our child. */
void orphans_adopt(void); /* from now on */
/* Ends and reaps all children that are left: SIGTERM, and SIGKILL after a second (at_once: now).  No pid may be noted any more, and the
 * keeper must have been stopped.  Takes 2 s at most. */
void orphans_end(bool at_once);

/* keeper.c: pids live in memory shared with the keeper. */
int keeper_start(struct job *j);       /* 0 or errno */
void keeper_note(int rank, pid_t pid); /* which runs; 0: it is gone, and about to be reaped */
void keeper_folder(const char *path);  /* to be removed at the end, with all that is in it; "": none */
void keeper_gone(struct job *j);       /* somebody killed it: another takes its place */
void keeper_stop(struct job *j);
/* forward.c */
int forward_start(struct job *j); /* returns an epoll descriptor; events carry NULL for standard input, else the stream */
void forward_output(struct job *j, struct stream *s);
void forward_input(struct job *j);      /* our standard input, or a rank's, is ready */
int forward_flush_stale(struct job *j); /* prints partial lines that have waited long; ms until the next is due, -1: none */
void forward_end(struct job *j);        /* the rest of everything */
/* output.c */
int output_open(struct job *j); /* before ranks start: where each stream goes; 0, or an exit status after an explanation */
void output_free(void);
bool output_is_piped(const struct job *j);  /* else a rank writes straight to where mpiexec writes */
bool output_is_marked(const struct job *j); /* lines begin with something */
void output_print(const struct job *j, struct stream *s,
                  size_t len);                          /* the first bytes of what it holds: whole lines, or the begin of one */
void output_end(const struct job *j, struct stream *s); /* all that it holds */
void output_hurry(void);                                /* we are to end: what nobody takes is dropped */
void output_pipes(void (*before)(int));                 /* what SIGPIPE did before we had it ignored */
void output_closed(int fd);                             /* our own descriptor was closed when we came */
bool output_failed(void);                               /* something of standard output, or of a file, could not be written */
void say(const char *fmt, ...) GW_PRINTF(1, 2);         /* "mpiexec: ..." on stderr */
void say_as(const char *job);                           /* for a spawned job */
void say_keep(bool on);                                 /* on: what is said is kept, not printed */
const char *say_kept(void);
/* spawned.c */
void control_open(struct job *j);
void control_accept(struct job *j);
void subs_signal(const struct job *j, int sig);
bool sub_gone(struct job *j, pid_t pid, int status, struct sub_end *end_out); /* true: that was one */
int spawned_begin(const char *facts, struct job *j);                          /* -1: go on; else the exit status */
bool spawned_started(struct job *j, int rc);                                  /* false: it did not start, which has been answered */
bool spawned_hear(struct job *j); /* the asker's connection has something; false: it went without a word */
void spawned_free(void);
int spawned_watch(struct job *j, bool *give_up_out); /* ms until it must be called again, -1: never */
int spawned_end(struct job *j, int rc);              /* the exit status of all */
bool spawned_elsewhere(struct job *j);               /* looks at the asker now and then; false: the job is to end */
void spawned_ended(const char *engine, int status);  /* the engine's: the reason where the asker has met nobody */
/* elsewhere.c: a spawned job's other hosts */
#define ELSEWHERE_FREE "GODWIT_FREE_SLOTS"
void elsewhere_list(struct job *j, int app, const char *list); /* the info keys host and hostfile of a program */
void elsewhere_file(struct job *j, int app, const char *path);
/* Is an engine to start it (j->elsewhere, and j->o.hosts with the ranks of each)?  parent: where it finds those who spawn it; is_reached:
 * also from other hosts. */
void elsewhere_choose(struct job *j, const char *parent, bool is_reached);
void elsewhere_stay(struct job *j); /* nobody can start it there: on this host */
void elsewhere_environment(void);   /* what another engine has told us by variables is not for the one that is started now */
void elsewhere_tell(const struct hosts *h,
                    const int *counts); /* an engine starts so many on each: what is free, for their children */
void elsewhere_free(void);
/* ties.c */
int ties_signal(void);                                                /* other mpiexecs send it */
void ties_open(void);                                                 /* from now on it waits until somebody reads it */
void ties_tell(const struct job *j, int status);                      /* the job failed: those connected with it end, too */
bool ties_has(const struct job *j, uint64_t uid);                     /* is it connected with that world? */
bool ties_heard(const struct job *j, uint64_t word, int *status_out); /* what the signal carried: does it concern us? */
/* where.c */
void where_say(const struct job *j); /* where the ranks are, and why they do not go on */
void where_resumed(void);            /* the job was stopped: its ranks get some time before they are looked at again */
/* Warns once when the job hangs.  ms until it must be called again, -1: never.  *ends_out: ranks wait for others that call other
 * collectives, which has been said; the job is to end. */
int where_watch(const struct job *j, bool *ends_out);
/* watch.c */
int watch(struct job *j);                          /* until all are gone; the exit status */
void watch_kill_all(const struct job *j, int sig); /* all that live, with what they started */
void watch_end_rank(struct job *j, int rank);      /* it has aborted the job by a server of ours, and does not exit by itself */
#endif
